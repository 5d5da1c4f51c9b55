//! What plans say, of all ranks together.

use super::*;
use crate::swap::call::{Call, Leg};
use crate::swap::order::Order;
use crate::swap::protocol::Protocol;
use crate::transport::{SendMode, Tag};
use std::collections::BTreeMap;

fn block(from: usize, to: usize) -> usize {
    (from * to + from + 2 * to) % 4
}

/// The plans of all ranks.
fn plans(size: usize, choice: &ExchangeChoice) -> Vec<Plan> {
    let plan = |rank| Plan::new(rank, size, block, choice).unwrap();
    (0..size).map(plan).collect()
}

/// The calls of a plan, in order.
fn calls(plan: &Plan) -> impl Iterator<Item = &Call> {
    plan.schedules.iter().flat_map(|schedule| &schedule.calls)
}

fn choices() -> Vec<ExchangeChoice> {
    let mut all = Vec::new();
    for transpose in TransposeAlgorithm::ALL {
        for order in Order::ALL {
            for protocol in Protocol::all().filter(|p| p.legal_with(order)) {
                for variant in 0..8 {
                    all.push(ExchangeChoice {
                        transpose,
                        engine: None,
                        order,
                        protocol,
                        handshake: variant % 2 == 1,
                        overlap: variant >= 2,
                        max_requests: [0, 0, 1, 6][variant / 2],
                        barrier: false,
                    });
                }
            }
        }
    }
    all
}

/// Messages and signals by (from, to, tag), with the length of the message.
type Ends = BTreeMap<(usize, usize, Tag, bool), Vec<usize>>;

#[test]
fn what_one_rank_sends_another_receives() {
    for choice in choices() {
        for size in [1, 2, 3, 6, 8] {
            let (mut sent, mut received) = (Ends::new(), Ends::new());
            for plan in plans(size, &choice) {
                let me = plan.rank;
                let mut out = |leg: &Leg| {
                    let key = (me, leg.peer, leg.tag, true);
                    sent.entry(key).or_default().push(leg.len);
                };
                let mut into = |leg: &Leg| {
                    let key = (leg.peer, me, leg.tag, true);
                    received.entry(key).or_default().push(leg.len);
                };
                for call in calls(&plan) {
                    match call {
                        Call::Send { leg, .. } | Call::PostSend { leg, .. } => out(leg),
                        Call::PostReceive { leg, .. } | Call::Receive { leg } => into(leg),
                        Call::SendReceive { send, recv } => {
                            out(send);
                            into(recv);
                        }
                        _ => {}
                    }
                }
                for call in calls(&plan) {
                    match *call {
                        Call::Signal { to, tag } => {
                            sent.entry((me, to, tag, false)).or_default().push(0);
                        }
                        Call::AwaitSignal { from, tag } => {
                            received.entry((from, me, tag, false)).or_default().push(0);
                        }
                        _ => {}
                    }
                }
            }
            assert_eq!(sent, received, "{choice:?}");
        }
    }
}

#[test]
fn a_ready_send_follows_a_signal_or_an_answer() {
    for (choice, size) in choices().into_iter().flat_map(|c| [(c, 7), (c, 8)]) {
        // The two partners of a step are one rank.
        let swaps = match choice.transpose {
            TransposeAlgorithm::Swap => true,
            TransposeAlgorithm::SendRecv => false,
            TransposeAlgorithm::Logarithmic => size == 8,
        };
        for plan in plans(size, &choice) {
            let mut told = Vec::new();
            for call in calls(&plan) {
                match *call {
                    Call::AwaitSignal { from, tag } => told.push((from, tag)),
                    Call::WaitReceive { leg, .. } if choice.order == Order::Ordered && swaps => {
                        told.push((leg.peer, leg.tag));
                    }
                    Call::Send { mode, leg } | Call::PostSend { mode, leg, .. }
                        if mode == SendMode::Ready =>
                    {
                        assert!(told.contains(&(leg.peer, leg.tag)), "{plan}");
                    }
                    _ => {}
                }
            }
        }
    }
}

#[test]
fn requests_are_waited_for_and_stay_below_the_cap() {
    for choice in choices() {
        for plan in plans(7, &choice) {
            let (mut open, mut most) = (0_usize, 0);
            for call in calls(&plan) {
                match call {
                    Call::PostReceive { .. } | Call::PostSend { .. } => open += 1,
                    Call::WaitReceive { .. } | Call::WaitSend { .. } => open -= 1,
                    _ => {}
                }
                most = most.max(open);
            }
            assert_eq!(open, 0, "{plan}");
            let alone = 2;
            match (choice.overlap, choice.max_requests) {
                (true, 0) => {}
                (false, _) => assert!(most <= alone, "{plan}"),
                (true, cap) => assert!(most <= cap.max(alone), "{most} open: {plan}"),
            }
        }
    }
}

#[test]
fn a_plan_prints_what_it_does() {
    let len = |from: usize, to: usize| [[0, 2, 5], [2, 3, 0], [4, 1, 0]][from][to];
    let plan = Plan::new(1, 3, len, &ExchangeChoice::default()).unwrap();
    let text = "rank 1 of 3: swap ordered/nonblocking-recv, messages: 1, bytes: 16\n\
                copy         2..5 to 2..5\n\
                irecv        from 0 tag 1 0..2\n\
                wait recv    from 0 tag 1 0..2\n\
                send         to 0 tag 1 0..2\n\
                irecv        from 2 tag 3 5..6\n\
                wait recv    from 2 tag 3 5..6\n";
    assert_eq!(plan.to_string(), text);
}

#[test]
fn a_plan_of_rounds_prints_what_its_messages_are_made_of() {
    let choice = ExchangeChoice {
        transpose: TransposeAlgorithm::Logarithmic,
        ..ExchangeChoice::default()
    };
    // Rank 1 passes the block from 0 to 3 on.
    let plan = Plan::new(1, 4, |_, to| to, &choice).unwrap();
    let text = "rank 1 of 4: logarithmic ordered/nonblocking-recv, messages: 2, bytes: 64\n\
                copy         0..1 to 1..2\n\
                pack         buffer 1..3, message 0..2\n\
                irecv        from 0 tag 1 0..4\n\
                wait recv    from 0 tag 1 0..4\n\
                send         to 0 tag 1 0..2\n\
                unpack       buffer 0..1, message 0..1\n\
                unpack       slots 0..3, message 1..4\n\
                pack         buffer 3..6, message 0..3\n\
                pack         slots 0..3, message 3..6\n\
                irecv        from 3 tag 2 0..2\n\
                send         to 3 tag 2 0..6\n\
                wait recv    from 3 tag 2 0..2\n\
                unpack       buffer 3..4, message 0..1\n\
                unpack       buffer 2..3, message 1..2\n";
    assert_eq!(plan.to_string(), text);
}
