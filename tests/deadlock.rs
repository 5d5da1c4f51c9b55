//! Deadlocks between ranks as threads are told at once, and only deadlocks are.

mod common;

use std::time::{Duration, Instant};

use common::Random;
use pstswm::exchange::choice::{ExchangeChoice, TransposeAlgorithm};
use pstswm::exchange::{Movement, Plan, Transpose};
use pstswm::swap::call::Leg;
use pstswm::swap::method::Method;
use pstswm::swap::order::Order;
use pstswm::swap::protocol::Protocol;
use pstswm::swap::run::{Requests, execute};
use pstswm::swap::schedule::Schedule;
use pstswm::swap::step::{Kind, Role, Step};
use pstswm::transport::threads::{RankFailure, ThreadOptions, ThreadTransport, run};
use pstswm::transport::{
    Block, EngineKind, Exchange, Pattern, Scope, SendMode, Transport, TransportError, Waiting,
};

fn options() -> ThreadOptions {
    ThreadOptions {
        eager_limit: 0,
        watchdog_seconds: 30.0,
        ..ThreadOptions::default()
    }
}

/// The ring that a body of ranks comes to, long before the watchdog.
fn ring(
    ranks: usize,
    body: impl Fn(&ThreadTransport) -> Result<(), TransportError> + Sync,
) -> Vec<Waiting> {
    let begin = Instant::now();
    let failure = run(ranks, options(), |comm| body(&comm));
    assert!(
        begin.elapsed() < Duration::from_secs(20),
        "that was the watchdog"
    );
    match failure {
        Err(RankFailure::Error {
            error: TransportError::Deadlock { ring },
            ..
        }) => ring,
        other => panic!("{other:?}"),
    }
}

/// The ranks of a ring, from the lowest.
fn ranks(ring: &[Waiting]) -> Vec<usize> {
    let mut ranks: Vec<usize> = ring.iter().map(|wait| wait.rank).collect();
    for pair in ring.windows(2) {
        assert_eq!(pair[0].partner, pair[1].rank);
    }
    ranks.sort_unstable();
    ranks
}

fn method(order: Order, protocol: i64) -> Method {
    Method {
        order,
        protocol: Protocol::from_number(protocol).unwrap(),
        handshake: false,
        max_requests: 0,
        overlap: false,
    }
}

/// Step 3 of an exchange: everyone to the next rank, from the one before.
fn shift(comm: &ThreadTransport, method: &Method, len: usize) -> Result<(), TransportError> {
    let (me, size) = (comm.rank(), comm.size());
    let leg = |peer| {
        Some(Leg {
            peer,
            tag: 3,
            start: 0,
            len,
        })
    };
    let step = Step {
        kind: Kind::Shift,
        role: if me % 2 == 0 {
            Role::First
        } else {
            Role::Second
        },
        send: leg((me + 1) % size),
        recv: leg((me + size - 1) % size),
    };
    let schedule = Schedule::unchecked(method, &[step]);
    let mut requests = Requests::for_schedule(&schedule);
    let (data, mut room) = (vec![1.0; len], vec![0.0; len]);
    comm.over(&data, &mut room, |scope| {
        execute(&schedule, scope, &mut requests)
    })
}

#[test]
fn all_that_send_before_they_receive() {
    for size in [2, 3, 5] {
        for protocol in [0, 10] {
            let found = ring(size, |comm| {
                shift(comm, &method(Order::Simple, protocol), 128)
            });
            assert_eq!(ranks(&found), (0..size).collect::<Vec<_>>());
            for wait in &found {
                assert_eq!(wait.waiting, "to send to");
                let text = wait.to_string();
                let name = method(Order::Simple, protocol).label().0.clone();
                assert!(
                    text.contains(&format!("({name}, step 3, 1024 bytes)")),
                    "{text}"
                );
            }
        }
    }
}

#[test]
fn ranks_outside_the_ring_do_not_hide_it() {
    // Rank 2 waits for rank 0, which waits for rank 1, which waits for rank 0.
    let found = ring(3, |comm| {
        let partner = [1, 0, 0][comm.rank()];
        let mut room = [0.0];
        comm.over(&[], &mut room, |scope| scope.recv(partner, 1, 0..1))?;
        Ok(())
    });
    assert_eq!(ranks(&found), [0, 1]);
}

#[test]
fn a_rank_that_waits_for_itself() {
    let found = ring(2, |comm| {
        if comm.rank() == 1 {
            return Ok(());
        }
        comm.over(&[1.0], &mut [], |scope| {
            scope.send(SendMode::Synchronous, 0, 7, 0..1)
        })
    });
    assert_eq!(ranks(&found), [0]);
}

#[test]
fn tags_that_differ() {
    let found = ring(2, |comm| {
        let me = comm.rank();
        let mut room = [0.0];
        comm.over(&[1.0], &mut room, |scope| {
            let tag = me as u32;
            let receive = scope.irecv(1 - me, tag, 0..1)?;
            scope.send(SendMode::Synchronous, 1 - me, tag, 0..1)?;
            scope.wait(receive).map(|_| ())
        })
    });
    assert_eq!(ranks(&found), [0, 1]);
}

#[test]
fn one_rank_in_an_engine_the_other_in_a_message() {
    let found = ring(2, |comm| {
        let me = comm.rank();
        let block = vec![Block::contiguous(1 - me, 0..8)];
        let pattern = Pattern {
            send: block.clone(),
            recv: block,
            messages: 1,
            together: false,
        };
        let mut engine = comm.engine(EngineKind::PutFence, &pattern)?;
        let mut room = [0.0; 8];
        if me == 0 {
            return engine.execute(&[1.0; 8], &mut room);
        }
        comm.over(&[], &mut room, |scope| scope.recv(0, 1, 0..8).map(|_| ()))
    });
    assert_eq!(ranks(&found), [0, 1]);
    let text = TransportError::Deadlock { ring: found }.to_string();
    assert!(text.contains("engine put-fence"), "{text}");
}

/// Legal exchanges never are one, however late and however many the ranks.
#[test]
fn legal_exchanges_are_no_deadlock() {
    let legal: Vec<(Order, Protocol)> = Order::ALL
        .into_iter()
        .flat_map(|order| Protocol::all().map(move |protocol| (order, protocol)))
        .filter(|(order, protocol)| protocol.legal_with(*order))
        .collect();
    for (seed, eager_limit) in [(1, 0), (2, 4096)] {
        let options = ThreadOptions {
            eager_limit,
            ..options()
        };
        run(8, options, |comm| {
            // What all must agree on, and what is a rank's own.
            let mut common = Random(seed);
            let mut own = Random(seed * 1000 + comm.rank() as u64);
            let begin = Instant::now();
            for _ in 0..150 {
                let (order, protocol) = legal[common.below(legal.len())];
                let choice = ExchangeChoice {
                    order,
                    protocol,
                    transpose: TransposeAlgorithm::ALL[common.below(3)],
                    overlap: common.below(2) == 1,
                    handshake: common.below(4) == 0,
                    engine: (common.below(3) == 0)
                        .then(|| EngineKind::ALL[common.below(EngineKind::ALL.len())]),
                    ..ExchangeChoice::default()
                };
                let block = 1 + common.below(1000);
                let plan = Plan::new(comm.rank(), 8, |_, _| block, &choice).unwrap();
                let mut transpose = Transpose::new(&comm, plan)?;
                if own.below(4) == 0 && begin.elapsed() < Duration::from_secs(5) {
                    std::thread::sleep(Duration::from_micros(own.below(5000) as u64));
                }
                let len = 8 * block;
                let (send, mut recv) = (vec![1.0; len], vec![0.0; len]);
                transpose.execute(&comm, &send, &mut recv, &mut Movement::default())?;
                assert_eq!(recv, send);
            }
            Ok::<_, TransportError>(())
        })
        .unwrap();
    }
}
