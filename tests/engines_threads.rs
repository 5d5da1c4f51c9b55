//! Every engine between threads: the data that arrives, and how disagreement and failure end.

use std::sync::atomic::{AtomicBool, Ordering};

use pstswm::transport::threads::{RankFailure, ThreadOptions, ThreadTransport, run};
use pstswm::transport::{Block, EngineKind, Exchange, Pattern, Transport, TransportError};

const RANKS: [usize; 7] = [1, 2, 3, 5, 7, 8, 12];

fn options() -> ThreadOptions {
    ThreadOptions {
        eager_limit: 0,
        watchdog_seconds: 30.0,
        ..ThreadOptions::default()
    }
}

/// Elements that one rank sends another, in each of four messages.
type Shape = fn(usize, usize) -> usize;
const SHAPES: [Shape; 4] = [
    |from, to| 1 + (3 * from + 5 * to) % 7,
    |from, to| (from * to + from + 2 * to) % 3,
    |from, to| if from < to { 4 } else { 0 },
    |from, to| {
        if (from + to).is_multiple_of(3) {
            900 + from
        } else {
            2
        }
    },
];

/// Names sender, receiver, place and round.
fn element(from: usize, to: usize, place: usize, round: usize) -> f64 {
    (((round * 64 + from) * 64 + to) * 100_000 + place + 1) as f64
}

/// Blocks one after the other, in the order of ranks, without the empty ones.
fn blocks(lens: impl Iterator<Item = usize>) -> (Vec<Block>, usize) {
    let mut start = 0;
    let mut blocks = Vec::new();
    for (peer, len) in lens.enumerate() {
        if len > 0 {
            blocks.push(Block::contiguous(peer, start..start + len));
        }
        start += len;
    }
    (blocks, start)
}

fn arrives(
    comm: &ThreadTransport,
    kind: EngineKind,
    shape: Shape,
    (messages, together): (usize, bool),
) -> Result<(), TransportError> {
    let (me, size) = (comm.rank(), comm.size());
    let len = |from, to| 4 * shape(from, to);
    let (send_blocks, send_len) = blocks((0..size).map(|to| len(me, to)));
    let (recv_blocks, recv_len) = blocks((0..size).map(|from| len(from, me)));
    let pattern = Pattern {
        send: send_blocks,
        recv: recv_blocks,
        messages,
        together,
    };
    let mut engine = comm.engine(kind, &pattern)?;
    for round in 0..3 {
        let fill = |from, to| (0..len(from, to)).map(move |at| element(from, to, at, round));
        let send: Vec<f64> = (0..size).flat_map(|to| fill(me, to)).collect();
        let expected: Vec<f64> = (0..size).flat_map(|from| fill(from, me)).collect();
        assert_eq!((send.len(), expected.len()), (send_len, recv_len));
        let mut recv = vec![-1.0; recv_len];
        engine.execute(&send, &mut recv)?;
        assert!(
            recv == expected,
            "{} rank {me} of {size}, messages {messages}, together {together}, round {round}",
            kind.name()
        );
    }
    Ok(())
}

#[test]
fn every_engine_moves_every_block() {
    for ranks in RANKS {
        run(ranks, options(), |comm| {
            for kind in EngineKind::ALL {
                assert_eq!(ThreadTransport::lacks(kind), None);
                for shape in SHAPES {
                    for how in [(1, false), (1, true), (4, false), (4, true)] {
                        arrives(&comm, kind, shape, how)?;
                    }
                }
            }
            Ok::<_, TransportError>(())
        })
        .unwrap();
    }
}

#[test]
fn elements_that_are_apart_need_no_packing() {
    // A transposition of a matrix: columns go out, rows of every third place come in.
    for ranks in [1, 2, 3, 5] {
        run(ranks, options(), |comm| {
            let (me, size) = (comm.rank(), comm.size());
            let column = |peer: usize| Block {
                peer,
                runs: (0..6)
                    .map(|row| row * size + peer..row * size + peer + 1)
                    .collect(),
            };
            let spread = |peer: usize| Block {
                peer,
                runs: (0..3)
                    .map(|two| {
                        let start = peer * 9 + two * 3;
                        start..start + 2
                    })
                    .collect(),
            };
            let pattern = Pattern {
                send: (0..size).map(column).collect(),
                recv: (0..size).map(spread).collect(),
                messages: 1,
                together: false,
            };
            let mut engine = comm.engine(EngineKind::Alltoallw, &pattern)?;
            let send: Vec<f64> = (0..6 * size).map(|at| (me * 1000 + at) as f64).collect();
            let mut recv = vec![-1.0; 9 * size];
            engine.execute(&send, &mut recv)?;
            for from in 0..size {
                for two in 0..3 {
                    let got = &recv[from * 9 + two * 3..][..3];
                    let row = |row: usize| (from * 1000 + row * size + me) as f64;
                    assert_eq!(got, [row(2 * two), row(2 * two + 1), -1.0]);
                }
            }
            for kind in EngineKind::ALL
                .into_iter()
                .filter(|&k| k != EngineKind::Alltoallw)
            {
                let refused = comm.engine(kind, &pattern);
                assert!(
                    matches!(refused, Err(TransportError::NoEngine { .. })),
                    "{kind:?}"
                );
            }
            Ok::<_, TransportError>(())
        })
        .unwrap();
    }
}

/// A pattern of two ranks in which this one sends and gets so many elements.
fn pattern(me: usize, sends: usize, gets: usize) -> Pattern {
    Pattern {
        send: vec![Block::contiguous(1 - me, 0..sends)],
        recv: vec![Block::contiguous(1 - me, 0..gets)],
        messages: 1,
        together: false,
    }
}

#[test]
fn ranks_that_do_not_agree_are_told() {
    for kind in EngineKind::ALL {
        let failure = run(2, options(), |comm| {
            let me = comm.rank();
            let gets = if me == 0 { 4 } else { 3 };
            comm.engine(kind, &pattern(me, 4, gets)).map(|_| ())
        });
        let Err(RankFailure::Error { error, .. }) = failure else {
            panic!("{kind:?}: {failure:?}");
        };
        assert!(error.to_string().contains("4 elements"), "{error}");
    }
    let failure = run(2, options(), |comm| {
        let me = comm.rank();
        comm.engine(EngineKind::ALL[me], &pattern(me, 4, 4))
            .map(|_| ())
    });
    let error = failure.unwrap_err().to_string();
    assert!(
        error.contains("alltoallv") && error.contains("do not agree"),
        "{error}"
    );
}

#[test]
fn buffers_that_are_too_short_are_refused() {
    let failure = run(2, options(), |comm| {
        let me = comm.rank();
        let mut engine = comm.engine(EngineKind::Persistent, &pattern(me, 4, 4))?;
        engine.execute(&[1.0; 3], &mut [0.0; 4])
    });
    let Err(RankFailure::Error { error, .. }) = failure else {
        panic!("{failure:?}");
    };
    let expected = |error| {
        matches!(
            error,
            TransportError::BufferLength {
                expected: 4,
                found: 3,
                ..
            }
        )
    };
    assert!(expected(error));
}

#[test]
fn a_rank_that_fails_ends_the_others() {
    for kind in EngineKind::ALL {
        let failure = run(3, options(), |comm| {
            let (me, size) = (comm.rank(), comm.size());
            let (blocks, len) = blocks((0..size).map(|_| 1000));
            let pattern = Pattern {
                send: blocks.clone(),
                recv: blocks,
                messages: 1,
                together: false,
            };
            let mut engine = comm.engine(kind, &pattern)?;
            let send = vec![1.0; len];
            let mut recv = vec![0.0; len];
            for round in 0..10 {
                if me == 2 && round == 5 {
                    return Err(TransportError::NoSuchRequest { rank: 2 });
                }
                engine.execute(&send, &mut recv)?;
            }
            Ok(())
        });
        let Err(RankFailure::Error { rank, error }) = failure else {
            panic!("{kind:?}: {failure:?}");
        };
        assert_eq!(
            (rank, error),
            (2, TransportError::NoSuchRequest { rank: 2 }),
            "{kind:?}"
        );
    }
}

#[test]
fn buffers_may_be_others_every_time() {
    // A window, a persistent channel, a published address: none may hold on to old memory.
    for kind in EngineKind::ALL {
        run(2, options(), |comm| {
            let me = comm.rank();
            let mut engine = comm.engine(kind, &pattern(me, 512, 512))?;
            for round in 0..50 {
                let send = vec![(round * 2 + me) as f64; 512];
                let mut recv = vec![-1.0; 512];
                engine.execute(&send, &mut recv)?;
                assert_eq!(recv, vec![(round * 2 + 1 - me) as f64; 512], "{kind:?}");
            }
            Ok::<_, TransportError>(())
        })
        .unwrap();
    }
}

#[test]
fn a_pattern_that_breaks_its_own_rules_is_refused() {
    let apart = |peer| Block {
        peer,
        runs: vec![0..2, 3..5],
    };
    let of = |send: Vec<Block>, recv: Vec<Block>, messages| Pattern {
        send,
        recv,
        messages,
        together: false,
    };
    let one = |peer, len| vec![Block::contiguous(peer, 0..len)];
    for kind in EngineKind::ALL {
        run(2, options(), |comm| {
            let other = 1 - comm.rank();
            let twice = [one(other, 4), one(other, 4)].concat();
            let broken = [
                ("no message", of(one(other, 4), one(other, 4), 0)),
                ("not a multiple", of(one(other, 5), one(other, 5), 2)),
                ("cut but apart", of(one(other, 4), vec![apart(other)], 2)),
                ("twice the same rank", of(twice.clone(), twice, 1)),
                ("empty", of(one(other, 0), one(other, 0), 1)),
            ];
            for (what, pattern) in broken {
                let refused = comm.engine(kind, &pattern);
                assert!(
                    matches!(refused, Err(TransportError::NoEngine { .. })),
                    "{kind:?}: {what}"
                );
            }
            Ok::<_, TransportError>(())
        })
        .unwrap();
    }
}

#[test]
fn a_rank_that_ends_without_taking_part_is_named() {
    for kind in EngineKind::ALL {
        let failure = run(4, options(), |comm| {
            let (blocks, len) = blocks((0..4).map(|_| 1000));
            let pattern = Pattern {
                send: blocks.clone(),
                recv: blocks,
                messages: 1,
                together: false,
            };
            let mut engine = comm.engine(kind, &pattern)?;
            let send = vec![1.0; len];
            let mut recv = vec![0.0; len];
            engine.execute(&send, &mut recv)?;
            match comm.rank() {
                2 => Ok(()),
                // A segment holds one exchange: its sender notices at the next.
                _ => (0..2).try_for_each(|_| engine.execute(&send, &mut recv)),
            }
        });
        let Err(RankFailure::Error { error, .. }) = failure else {
            panic!("{kind:?}: {failure:?}");
        };
        let TransportError::PartnerEnded { waiting } = &error else {
            panic!("{kind:?}: {error}");
        };
        assert_eq!(waiting.partner, 2, "{kind:?}: {error}");
    }
}

#[test]
fn an_exchange_that_failed_stays_failed() {
    // Its ranks no longer agree on how far they are; a second try could meet the first of another.
    for kind in EngineKind::ALL {
        let options = ThreadOptions {
            watchdog_seconds: 0.05,
            ..options()
        };
        let given_up = AtomicBool::new(false);
        run(2, options, |comm| {
            let me = comm.rank();
            let mut engine = comm.engine(kind, &pattern(me, 64, 64))?;
            let (send, mut recv) = ([1.0; 64], [0.0; 64]);
            if me == 0 {
                let first = engine.execute(&send, &mut recv);
                given_up.store(true, Ordering::Release);
                assert!(
                    matches!(first, Err(TransportError::Timeout { .. })),
                    "{kind:?}: {first:?}"
                );
                assert_eq!(engine.execute(&send, &mut recv), first, "{kind:?}");
            } else {
                while !given_up.load(Ordering::Acquire) {
                    std::thread::yield_now();
                }
            }
            Ok::<_, TransportError>(())
        })
        .unwrap();
    }
}
