//! Every legal transpose and vector sum ends when nothing is buffered: schedules are checked without
//! ranks.

#![allow(clippy::unwrap_used)]

use pstswm::exchange::choice::{ExchangeChoice, TransposeAlgorithm};
use pstswm::exchange::sum::{SumAlgorithm, SumChoice};
use pstswm::exchange::{Plan, SumPlan};
use pstswm::swap::check::{Need, Outcome, check, needed_eager_limit};
use pstswm::swap::order::Order;
use pstswm::swap::protocol::Protocol;
use pstswm::swap::schedule::Schedule;

/// Block lengths, some of them empty, as a function of sender and receiver.
type Shape = fn(usize, usize) -> usize;
const SHAPES: [Shape; 4] = [
    |_, _| 100,
    |from, to| 1 + (3 * from + 5 * to) % 7,
    |from, to| (from * to + from + 2 * to) % 3,
    |from, to| if from < to { 4 } else { 0 },
];

/// The schedules of all ranks. Rounds follow one another without waiting for other ranks, so those
/// of a rank are one schedule.
fn schedules(size: usize, choice: &ExchangeChoice, shape: Shape) -> Vec<Schedule> {
    let schedule = |rank| {
        let plan = Plan::new(rank, size, shape, choice).unwrap();
        let calls = plan.schedules.iter().flat_map(|schedule| &schedule.calls);
        Schedule {
            calls: calls.copied().collect(),
            steps: plan.schedules.iter().map(|schedule| schedule.steps).sum(),
            label: choice.method().label(),
        }
    };
    (0..size).map(schedule).collect()
}

/// Every transpose, order and legal protocol, with and without handshake, overlap and windows.
fn choices() -> Vec<ExchangeChoice> {
    let mut all = Vec::new();
    for transpose in TransposeAlgorithm::ALL {
        for order in Order::ALL {
            for protocol in Protocol::all().filter(|p| p.legal_with(order)) {
                for variant in 0..10 {
                    all.push(ExchangeChoice {
                        transpose,
                        order,
                        protocol,
                        handshake: variant % 2 == 1,
                        overlap: variant >= 2,
                        max_requests: [0, 0, 1, 4, 6][variant / 2],
                        ..ExchangeChoice::default()
                    });
                }
            }
        }
    }
    all
}

#[test]
fn every_legal_transpose_ends_when_nothing_is_buffered() {
    for size in [1, 2, 3, 5, 7, 8, 12, 16] {
        for choice in choices() {
            for shape in SHAPES {
                let schedules = schedules(size, &choice, shape);
                let outcome = check(&schedules, 0);
                assert!(
                    outcome == Outcome::Ends,
                    "{choice:?}, {size} ranks:\n{outcome}"
                );
            }
        }
    }
}

#[test]
fn buffering_does_no_harm() {
    for choice in choices() {
        let schedules = schedules(7, &choice, SHAPES[1]);
        for limit in [1, 24, usize::MAX] {
            assert_eq!(check(&schedules, limit), Outcome::Ends, "{choice:?}");
        }
        assert_eq!(needed_eager_limit(&schedules), Need::Nothing);
    }
}

#[test]
fn many_ranks_are_checked_as_well() {
    for choice in choices().into_iter().step_by(7) {
        let outcome = check(&schedules(64, &choice, SHAPES[1]), 0);
        assert!(outcome == Outcome::Ends, "{choice:?}:\n{outcome}");
    }
}

/// Messages and bytes of a rank against the closed forms, for blocks of equal length.
#[test]
fn messages_and_bytes_are_the_closed_forms() {
    const LEN: usize = 3;
    for size in 1_usize..=64 {
        for transpose in TransposeAlgorithm::ALL {
            let choice = ExchangeChoice {
                transpose,
                ..ExchangeChoice::default()
            };
            let elements = LEN * size;
            let rounds = (0..7).take_while(|i| 1 << i < size);
            let (messages, sent) = match transpose {
                TransposeAlgorithm::Swap | TransposeAlgorithm::SendRecv => {
                    (size - 1, elements * (size - 1) / size)
                }
                TransposeAlgorithm::Logarithmic if size.is_power_of_two() => {
                    let log2 = size.ilog2() as usize;
                    (log2, elements / 2 * log2)
                }
                TransposeAlgorithm::Logarithmic => {
                    let moved = |i: usize| (0..size).filter(|b| b >> i & 1 == 1).count();
                    (
                        rounds.clone().count(),
                        rounds.map(moved).sum::<usize>() * LEN,
                    )
                }
            };
            for rank in 0..size {
                let plan = Plan::new(rank, size, |_, _| LEN, &choice).unwrap();
                let found = (plan.messages, plan.bytes);
                let expected = (messages as u64, 8 * sent as u64);
                assert_eq!(found, expected, "{transpose:?}, rank {rank} of {size}");
            }
        }
    }
}

#[test]
fn every_legal_vector_sum_ends_when_nothing_is_buffered() {
    let lengths: [fn(usize) -> usize; 4] = [|_| 5, |s| (5 * s + 1) % 4, |s| s % 2, |_| 0];
    for size in [1, 2, 3, 4, 5, 7, 8, 12, 16] {
        for (choice, length) in choices()
            .iter()
            .filter(|choice| !choice.overlap)
            .flat_map(|choice| lengths.map(|length| (choice, length)))
        {
            let segments: Vec<_> = (0..size).map(length).collect();
            for algorithm in SumAlgorithm::ALL {
                let choice = SumChoice {
                    algorithm,
                    order: choice.order,
                    protocol: choice.protocol,
                    handshake: choice.handshake,
                    barrier: false,
                };
                let plan = |rank| SumPlan::new(rank, size, &segments, &choice).unwrap();
                let schedules: Vec<_> = (0..size).map(|rank| plan(rank).schedule).collect();
                let outcome = check(&schedules, 0);
                assert!(
                    outcome == Outcome::Ends,
                    "{choice:?}, {segments:?}:\n{outcome}"
                );
            }
        }
    }
}

/// A transpose that loses its last signal is found, whoever waits for it.
#[test]
fn a_lost_signal_is_found() {
    use pstswm::swap::call::Call;
    let choice = ExchangeChoice {
        protocol: Protocol::from_name("ready").unwrap(),
        order: Order::Simple,
        overlap: true,
        ..ExchangeChoice::default()
    };
    let whole = schedules(8, &choice, SHAPES[0]);
    for rank in 0..8 {
        let mut schedules = whole.clone();
        let calls = &mut schedules[rank].calls;
        let signal = |call: &Call| matches!(call, Call::Signal { .. });
        calls.remove(calls.iter().rposition(signal).unwrap());
        let Outcome::Faults(faults) = check(&schedules, 0) else {
            panic!("a signal of rank {rank} is missing");
        };
        let text: Vec<String> = faults.iter().map(ToString::to_string).collect();
        let said = format!("await signal from {rank}");
        assert!(text.iter().any(|line| line.contains(&said)), "{text:?}");
    }
}
