//! Exchanges of two and three ranks, right ones and broken ones.

use super::*;
use crate::swap::call::Leg;
use crate::swap::method::Method;
use crate::swap::order::Order;
use crate::swap::protocol::Protocol;
use crate::swap::step::{Kind, Role, Step};
use crate::transport::{SendMode, Tag};

fn method(order: Order, protocol: Protocol) -> Method {
    Method {
        order,
        protocol,
        handshake: false,
        max_requests: 0,
        overlap: false,
    }
}

fn leg(peer: usize, tag: Tag, len: usize) -> Leg {
    Leg {
        peer,
        tag,
        start: 0,
        len,
    }
}

/// Both ranks' schedules of a swap of messages of these lengths, by any method.
fn swaps(method: &Method, lengths: &[usize]) -> [Schedule; 2] {
    [(Role::First, 1), (Role::Second, 0)].map(|(role, peer)| {
        let step = |(tag, len): (Tag, &usize)| Step {
            kind: Kind::Swap,
            role,
            send: Some(leg(peer, tag, *len)),
            recv: Some(leg(peer, tag, *len)),
        };
        let steps: Vec<Step> = (0..).zip(lengths).map(step).collect();
        Schedule::unchecked(method, &steps)
    })
}

fn pair(order: Order, protocol: &str, lengths: &[usize]) -> [Schedule; 2] {
    swaps(
        &method(order, Protocol::from_name(protocol).unwrap()),
        lengths,
    )
}

/// Schedules of any calls.
fn of(calls: &[&[Call]]) -> Vec<Schedule> {
    let [any, _] = pair(Order::Ordered, "blocking", &[]);
    let schedule = |calls: &&[Call]| Schedule {
        calls: calls.to_vec(),
        ..any.clone()
    };
    calls.iter().map(schedule).collect()
}

fn send(mode: SendMode, to: usize, tag: Tag, len: usize) -> Call {
    Call::Send {
        mode,
        leg: leg(to, tag, len),
    }
}

fn recv(from: usize, tag: Tag, len: usize) -> Call {
    Call::Receive {
        leg: leg(from, tag, len),
    }
}

fn post(from: usize, tag: Tag, len: usize, step: usize) -> [Call; 2] {
    let leg = leg(from, tag, len);
    [
        Call::PostReceive { leg, step },
        Call::WaitReceive { leg, step },
    ]
}

fn faults(schedules: &[Schedule]) -> Vec<Fault> {
    match check(schedules, usize::MAX) {
        Outcome::Faults(faults) => faults,
        other => panic!("{other}"),
    }
}

const STANDARD: SendMode = SendMode::Standard;

#[test]
fn a_swap_ends_without_buffers_exactly_when_it_is_legal() {
    for order in Order::ALL {
        for protocol in Protocol::all() {
            for overlap in [false, true] {
                let method = Method {
                    overlap,
                    ..method(order, protocol)
                };
                let schedules = swaps(&method, &[5, 1, 8]);
                let ends = check(&schedules, 0) == Outcome::Ends;
                let name = method.label();
                assert_eq!(ends, protocol.legal_with(order), "{name:?}");
                assert_eq!(needed_eager_limit(&schedules) == Need::Nothing, ends);
            }
        }
    }
}

#[test]
fn a_blocking_swap_needs_its_longest_message_buffered() {
    for order in [Order::Simple, Order::Delayed] {
        let schedules = pair(order, "blocking", &[5, 256, 8]);
        let need = Need::Buffered { bytes: 8 * 256 };
        assert_eq!(needed_eager_limit(&schedules), need);
        assert_eq!(check(&schedules, 8 * 256), Outcome::Ends);
        let Outcome::Deadlock(deadlock) = check(&schedules, 8 * 256 - 1) else {
            panic!("it ends");
        };
        assert_eq!(deadlock.cycle.len(), 2);
        // The first message is through; the second is the one that waits.
        let said = "rank 0 call 2: send to 1 tag 1 0..256 waits for \
                    rank 1 call 3: recv from 0 tag 1 0..256\n";
        assert!(deadlock.to_string().contains(said), "{deadlock}");
    }
}

#[test]
fn messages_that_need_no_buffer_do_not_count() {
    // A long message that is received at once, a short one that both send first.
    let [short_0, short_1] = pair(Order::Simple, "blocking", &[2]);
    let [long_0, long_1] = pair(Order::Ordered, "nonblocking-recv", &[900]);
    let join = |a: Schedule, b: Schedule| [a.calls, b.calls].concat();
    let (zero, one) = (join(short_0, long_0), join(short_1, long_1));
    let need = needed_eager_limit(&of(&[&zero, &one]));
    assert_eq!(need, Need::Buffered { bytes: 16 });
}

#[test]
fn a_blocking_synchronous_swap_never_ends() {
    for order in [Order::Simple, Order::Delayed] {
        let schedules = pair(order, "blocking-synchronous", &[1]);
        assert_eq!(needed_eager_limit(&schedules), Need::Never);
        assert!(matches!(
            check(&schedules, usize::MAX),
            Outcome::Deadlock(_)
        ));
    }
}

#[test]
fn the_cycle_is_told_from_those_who_wait_for_it() {
    // 2 waits for 0, which waits for 1, which waits for 0.
    let schedules = of(&[
        &[
            recv(1, 0, 1),
            send(STANDARD, 1, 0, 1),
            send(STANDARD, 2, 0, 1),
        ],
        &[recv(0, 0, 1), send(STANDARD, 0, 0, 1)],
        &[recv(0, 0, 1)],
    ]);
    let Outcome::Deadlock(mut deadlock) = check(&schedules, 0) else {
        panic!("it ends");
    };
    assert_eq!(deadlock.waits.len(), 3);
    deadlock.cycle.sort_unstable();
    assert_eq!(deadlock.cycle, [0, 1]);
    assert_eq!(deadlock.waits[2].until.rank, 0);
    assert_eq!(deadlock.waits[2].until.index, 2);
    assert_eq!(needed_eager_limit(&schedules), Need::Never);
}

#[test]
fn swapped_tags_are_a_message_without_receive() {
    let mut schedules = pair(Order::Ordered, "blocking", &[4, 4]);
    let Call::Receive { leg } = &mut schedules[1].calls[0] else {
        panic!("{}", schedules[1]);
    };
    leg.tag = 9;
    let found = faults(&schedules);
    assert_eq!(found.len(), 2, "{found:?}");
    assert!(matches!(found[0], Fault::NoReceive(site) if (site.rank, site.index) == (0, 0)));
    assert!(matches!(found[1], Fault::NoSend(site) if (site.rank, site.index) == (1, 0)));
    assert_eq!(needed_eager_limit(&schedules), Need::Never);
}

#[test]
fn lengths_that_differ_name_both_ends() {
    let schedules = of(&[&[send(STANDARD, 1, 3, 5)], &[recv(0, 3, 4)]]);
    let said = "rank 0 call 0: send to 1 tag 3 0..5: 5 elements, but the receive has 4 \
                (rank 1 call 0: recv from 0 tag 3 0..4)";
    assert_eq!(faults(&schedules)[0].to_string(), said);
}

#[test]
fn signals_have_tags_of_their_own() {
    let signal = Call::Signal { to: 1, tag: 0 };
    let awaits = Call::AwaitSignal { from: 0, tag: 0 };
    let crossed = of(&[&[signal, send(STANDARD, 1, 0, 1)], &[recv(0, 0, 1), awaits]]);
    assert_eq!(check(&crossed, 0), Outcome::Ends);
    let unheard = of(&[&[signal], &[]]);
    assert!(matches!(faults(&unheard)[..], [Fault::NoReceive(_)]));
    let untold = of(&[&[], &[awaits]]);
    assert!(matches!(faults(&untold)[..], [Fault::NoSend(_)]));
    let signal_for_message = of(&[&[signal], &[recv(0, 0, 1)]]);
    assert_eq!(faults(&signal_for_message).len(), 2);
}

#[test]
fn requests_and_their_waits_belong_together() {
    let [start, wait] = post(0, 0, 1, 0);
    let sends = [send(STANDARD, 1, 0, 1)];
    assert_eq!(check(&of(&[&sends, &[start, wait]]), 0), Outcome::Ends);
    assert!(matches!(
        faults(&of(&[&sends, &[start]]))[..],
        [Fault::NoWait(_)]
    ));
    let twice = faults(&of(&[&sends, &[start, wait, wait]]));
    assert!(matches!(twice[..], [Fault::NoRequest(_)]), "{twice:?}");
}

#[test]
fn a_ready_send_must_be_told() {
    let legal = pair(Order::Simple, "ready", &[3, 3]);
    assert_eq!(check(&legal, 0), Outcome::Ends);
    // Rank 0 no longer waits for the signal of the second message.
    let mut broken = legal.clone();
    let is_signal = |call: &Call| matches!(call, Call::AwaitSignal { tag: 1, .. });
    broken[0].calls.retain(|call| !is_signal(call));
    broken[1]
        .calls
        .retain(|call| !matches!(call, Call::Signal { tag: 1, .. }));
    let [Fault::TooEarly { send, receive }] = faults(&broken)[..] else {
        panic!("{:?}", faults(&broken));
    };
    assert_eq!((send.rank, send.call.name()), (0, "rsend"));
    assert_eq!((receive.rank, receive.call.name()), (1, "irecv"));
}

#[test]
fn signals_before_the_receive_is_posted_tell_nothing() {
    let [start, wait] = post(0, 0, 1, 0);
    let signal = Call::Signal { to: 0, tag: 0 };
    let ready = [
        Call::AwaitSignal { from: 1, tag: 0 },
        send(SendMode::Ready, 1, 0, 1),
    ];
    assert_eq!(
        check(&of(&[&ready, &[start, signal, wait]]), 0),
        Outcome::Ends
    );
    let found = faults(&of(&[&ready, &[signal, start, wait]]));
    assert!(matches!(found[..], [Fault::TooEarly { .. }]), "{found:?}");
}

#[test]
fn a_third_rank_can_tell() {
    // 1 posts, tells 2, which tells 0.
    let [start, wait] = post(0, 0, 1, 0);
    let signal = |to| Call::Signal { to, tag: 7 };
    let awaits = |from| Call::AwaitSignal { from, tag: 7 };
    let ready = send(SendMode::Ready, 1, 0, 1);
    let told = of(&[
        &[awaits(2), ready],
        &[start, signal(2), wait],
        &[awaits(1), signal(0)],
    ]);
    assert_eq!(check(&told, 0), Outcome::Ends);
    let guessed = of(&[
        &[awaits(2), ready],
        &[start, signal(2), wait],
        &[signal(0), awaits(1)],
    ]);
    assert!(matches!(faults(&guessed)[..], [Fault::TooEarly { .. }]));
}

#[test]
fn a_send_that_may_be_buffered_tells_nothing() {
    // 1 posts the ready receive before it receives the message sent first.
    let [start, wait] = post(0, 0, 1, 0);
    let after = |mode| {
        of(&[
            &[send(mode, 1, 5, 1), send(SendMode::Ready, 1, 0, 1)],
            &[start, recv(0, 5, 1), wait],
        ])
    };
    assert_eq!(check(&after(SendMode::Synchronous), 0), Outcome::Ends);
    for mode in [STANDARD, SendMode::Buffered] {
        let found = faults(&after(mode));
        assert!(matches!(found[..], [Fault::TooEarly { .. }]), "{found:?}");
    }
}

#[test]
fn combined_calls_need_no_buffer_in_a_ring() {
    let both = |to, from| Call::SendReceive {
        send: leg(to, 0, 4),
        recv: leg(from, 0, 4),
    };
    let ring = of(&[&[both(1, 2)], &[both(2, 0)], &[both(0, 1)]]);
    assert_eq!(check(&ring, 0), Outcome::Ends);
    let sends = |to, from| [send(STANDARD, to, 0, 4), recv(from, 0, 4)];
    let ring = of(&[&sends(1, 2), &sends(2, 0), &sends(0, 1)]);
    let Outcome::Deadlock(deadlock) = check(&ring, 0) else {
        panic!("it ends");
    };
    assert_eq!(deadlock.cycle.len(), 3);
    assert_eq!(needed_eager_limit(&ring), Need::Buffered { bytes: 32 });
}

#[test]
fn buffered_sends_and_messages_to_oneself() {
    let own = |mode| of(&[&[send(mode, 0, 0, 2), recv(0, 0, 2)]]);
    assert_eq!(check(&own(SendMode::Buffered), 0), Outcome::Ends);
    assert_eq!(
        needed_eager_limit(&own(STANDARD)),
        Need::Buffered { bytes: 16 }
    );
    let Outcome::Deadlock(deadlock) = check(&own(SendMode::Synchronous), 99) else {
        panic!("it ends");
    };
    assert_eq!(deadlock.cycle, [0]);
    assert_eq!(check::<Schedule>(&[], 0), Outcome::Ends);
}
