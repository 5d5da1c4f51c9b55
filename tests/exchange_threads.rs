//! Every exchange on threads: the data that arrives, and how each kind of failure ends.

use pstswm::exchange::choice::{ExchangeChoice, TransposeAlgorithm};
use pstswm::exchange::{Movement, Plan, PlanError, Transpose, collective};
use pstswm::swap::order::Order;
use pstswm::swap::protocol::Protocol;
use pstswm::transport::threads::{RankFailure, ThreadOptions, ThreadTransport, run};
use pstswm::transport::{Scope, SendMode, Transport, TransportError};

const RANKS: [usize; 7] = [1, 2, 3, 5, 7, 8, 12];

/// Nothing is buffered, and a stuck exchange is an error rather than a stuck test.
fn strict() -> ThreadOptions {
    ThreadOptions {
        eager_limit: 0,
        watchdog_seconds: 20.0,
        ..ThreadOptions::default()
    }
}

fn eager() -> ThreadOptions {
    ThreadOptions {
        watchdog_seconds: 20.0,
        ..ThreadOptions::default()
    }
}

/// Block lengths, some of them empty, as a function of sender and receiver.
type Shape = fn(usize, usize) -> usize;
const SHAPES: [Shape; 4] = [
    |from, to| 1 + (3 * from + 5 * to) % 7,
    |from, to| (from * to + from + 2 * to) % 3,
    |from, to| if from < to { 4 } else { 0 },
    |from, to| {
        if (from + to).is_multiple_of(3) {
            3000 + from
        } else {
            2
        }
    },
];

/// An element that names its sender, its receiver and its place in the block.
fn address(from: usize, to: usize, index: usize) -> f64 {
    ((from * 64 + to) * 1_000_000 + index + 1) as f64
}

fn describe(value: f64) -> String {
    let whole = value as usize;
    if value < 1.0 {
        return "nothing".to_owned();
    }
    let (pair, index) = (whole / 1_000_000, whole % 1_000_000 - 1);
    format!("{} -> {} [{index}]", pair / 64, pair % 64)
}

fn transpose(comm: &ThreadTransport, choice: &ExchangeChoice, shape: Shape) -> Result<(), String> {
    let (rank, size) = (comm.rank(), comm.size());
    let block = |from, to| (0..shape(from, to)).map(move |index| address(from, to, index));
    let send: Vec<_> = (0..size).flat_map(|to| block(rank, to)).collect();
    let expected: Vec<_> = (0..size).flat_map(|from| block(from, rank)).collect();
    let plan = Plan::new(rank, size, shape, choice).map_err(|error| error.to_string())?;
    let mut plan = Transpose::new(comm, plan).map_err(|error| error.to_string())?;
    let mut movement = Movement::default();
    for round in 0..2 {
        let mut recv = vec![0.0; plan.plan().recv_len];
        plan.execute(comm, &send, &mut recv, &mut movement)
            .map_err(|error| format!("{choice:?}: {error}"))?;
        for (index, (got, want)) in recv.iter().zip(&expected).enumerate() {
            if got != want {
                return Err(format!(
                    "{choice:?} rank {rank} of {size} round {round} element {index}: {} instead of {}",
                    describe(*got),
                    describe(*want)
                ));
            }
        }
    }
    let (messages, elements) = sent(rank, size, choice.transpose, shape);
    assert_eq!(movement.messages, 2 * messages as u64);
    assert_eq!(movement.bytes, 2 * 8 * elements as u64);
    Ok(())
}

/// Messages and elements that a rank sends, its own block not among them.
fn sent(rank: usize, size: usize, algorithm: TransposeAlgorithm, shape: Shape) -> (usize, usize) {
    // One message with each of these lengths, where it is not 0.
    let lengths: Vec<usize> = match algorithm {
        TransposeAlgorithm::Swap | TransposeAlgorithm::SendRecv => {
            let others = (0..size).filter(|&to| to != rank);
            others.map(|to| shape(rank, to)).collect()
        }
        // In round i, of every distance with bit i: the block that has gone its lower bits.
        TransposeAlgorithm::Logarithmic => (0..8)
            .map(|i| {
                let moving = (1..size).filter(|distance| distance >> i & 1 == 1);
                let block = |distance: usize| {
                    let gone = distance % (1 << i);
                    if size.is_power_of_two() {
                        shape(rank ^ gone, rank ^ gone ^ distance)
                    } else {
                        let from = (rank + size - gone) % size;
                        shape(from, (from + distance) % size)
                    }
                };
                moving.map(block).sum()
            })
            .collect(),
    };
    let messages = lengths.iter().filter(|&&length| length > 0).count();
    (messages, lengths.iter().sum())
}

fn choices() -> impl Iterator<Item = ExchangeChoice> {
    TransposeAlgorithm::ALL.into_iter().flat_map(|transpose| {
        Order::ALL.into_iter().flat_map(move |order| {
            let legal = Protocol::all().filter(move |protocol| protocol.legal_with(order));
            legal.map(move |protocol| ExchangeChoice {
                transpose,
                order,
                protocol,
                ..ExchangeChoice::default()
            })
        })
    })
}

fn all_arrive(options: ThreadOptions, vary: impl Fn(ExchangeChoice) -> Vec<ExchangeChoice> + Sync) {
    for ranks in RANKS {
        run(ranks, options, |comm| {
            for choice in choices().flat_map(&vary) {
                for shape in SHAPES {
                    transpose(&comm, &choice, shape)?;
                }
            }
            Ok::<_, String>(())
        })
        .unwrap();
    }
}

#[test]
fn every_legal_pair_moves_every_block_when_nothing_is_buffered() {
    all_arrive(strict(), |choice| vec![choice]);
}

#[test]
fn every_legal_pair_moves_every_block_with_buffering() {
    all_arrive(eager(), |choice| vec![choice]);
}

#[test]
fn handshake_overlap_and_windows_move_every_block() {
    all_arrive(strict(), |choice| {
        let with = |handshake, overlap, max_requests| ExchangeChoice {
            handshake,
            overlap,
            max_requests,
            barrier: overlap,
            ..choice
        };
        if choice.transpose == TransposeAlgorithm::Logarithmic {
            // Rounds do not overlap, whatever is asked for.
            return vec![with(true, true, 4)];
        }
        vec![
            with(true, false, 0),
            with(false, true, 0),
            with(true, true, 0),
            with(false, true, 1),
            with(true, true, 4),
        ]
    });
}

fn failure<T: std::fmt::Debug + Send>(
    ranks: usize,
    options: ThreadOptions,
    body: impl Fn(&ThreadTransport) -> Result<T, TransportError> + Sync,
) -> TransportError {
    match run(ranks, options, |comm| body(&comm)) {
        Err(RankFailure::Error { error, .. }) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_ready_send_without_a_receive_names_the_message() {
    for options in [strict(), eager()] {
        let error = failure(2, options, |comm| {
            let data = [1.0; 5];
            let mut into = [0.0; 5];
            comm.over(&data, &mut into, |scope| {
                if comm.rank() == 0 {
                    scope.send(SendMode::Ready, 1, 7, 0..5)
                } else {
                    scope.await_signal(0, 1)?;
                    scope.recv(0, 7, 0..5).map(|_| ())
                }
            })
        });
        let expected = TransportError::NotPosted {
            rank: 0,
            to: 1,
            tag: 7,
            elements: 5,
        };
        assert_eq!(error, expected);
    }
}

#[test]
fn a_message_that_does_not_fit_names_both_lengths() {
    for options in [strict(), eager()] {
        let error = failure(3, options, |comm| {
            let data = [1.0; 5];
            let mut into = [0.0; 5];
            comm.over(&data, &mut into, |scope| match comm.rank() {
                0 => scope.send(SendMode::Standard, 2, 9, 0..5).map(|()| 0),
                1 => scope.recv(2, 0, 0..1),
                _ => scope.recv(0, 9, 0..4),
            })
        });
        let expected = TransportError::Truncated {
            rank: 2,
            from: 0,
            tag: 9,
            message: 5,
            room: 4,
        };
        assert_eq!(error, expected);
    }
}

#[test]
fn a_rank_that_fails_ends_the_waits_of_the_others() {
    let began = std::time::Instant::now();
    let result = run(5, ThreadOptions::default(), |comm| {
        if comm.rank() == 3 {
            std::thread::sleep(std::time::Duration::from_millis(20));
            return Err("out of luck".to_owned());
        }
        let end = collective::barrier(&comm);
        let expected = TransportError::Aborted {
            rank: comm.rank(),
            failed: 3,
        };
        assert_eq!(end, Err(expected.clone()));
        Err::<(), _>(expected.to_string())
    });
    match result {
        Err(RankFailure::Error { rank: 3, error }) => assert_eq!(error, "out of luck"),
        other => panic!("{other:?}"),
    }
    assert!(began.elapsed().as_secs_f64() < 2.0);
}

#[test]
fn a_rank_that_panics_ends_the_waits_of_the_others() {
    let result = run(4, ThreadOptions::default(), |comm| {
        let data = [1.0; 4000];
        comm.over(&data, &mut [], |scope| {
            if comm.rank() == 2 {
                let _unfinished = scope.isend(SendMode::Standard, 0, 1, 0..4000)?;
                std::panic::panic_any("no such sphere");
            }
            scope.send(SendMode::Standard, 2, 1, 0..4000)
        })
    });
    match result {
        Err(RankFailure::Panic { rank: 2, message }) => assert_eq!(message, "no such sphere"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn the_watchdog_names_what_a_rank_waits_for() {
    let options = ThreadOptions {
        watchdog_seconds: 0.1,
        ..ThreadOptions::default()
    };
    let error = failure(2, options, |comm| {
        if comm.rank() == 1 {
            std::thread::sleep(std::time::Duration::from_millis(500));
            return Ok(0);
        }
        let mut into = [0.0; 5];
        comm.over(&[], &mut into, |scope| scope.recv(1, 4, 1..4))
    });
    let TransportError::Timeout { waiting, seconds } = error else {
        panic!("{error}");
    };
    assert_eq!(seconds, 0.1);
    let expected = "rank 0 waits to receive from rank 1 (tag 4, 24 bytes)";
    assert_eq!(waiting.to_string(), expected);
}

#[test]
fn sends_that_need_buffering_are_found_stuck() {
    let options = ThreadOptions {
        eager_limit: 64,
        watchdog_seconds: 20.0,
        ..ThreadOptions::default()
    };
    let swap = |comm: &ThreadTransport, len: usize| {
        let (data, mut into) = ([1.0; 9], [0.0; 9]);
        comm.over(&data, &mut into, |scope| {
            scope.send(SendMode::Standard, 1 - comm.rank(), 0, 0..len)?;
            scope.recv(1 - comm.rank(), 0, 0..len)
        })
    };
    assert!(run(2, options, |comm| swap(&comm, 8)).is_ok());
    let error = failure(2, options, |comm| swap(comm, 9));
    let TransportError::Deadlock { ring } = error else {
        panic!("{error}");
    };
    assert_eq!(ring.len(), 2);
    assert!(
        ring.iter()
            .all(|wait| wait.waiting == "to send to" && wait.elements == 9)
    );
}

#[test]
fn a_partner_that_has_ended_is_not_waited_for() {
    let error = failure(2, ThreadOptions::default(), |comm| {
        if comm.rank() == 0 {
            return Ok(0);
        }
        let mut into = [0.0; 2];
        comm.over(&[], &mut into, |scope| scope.recv(0, 4, 0..2))
    });
    let TransportError::PartnerEnded { waiting } = error else {
        panic!("{error}");
    };
    let found = (waiting.rank, waiting.partner, waiting.tag, waiting.elements);
    assert_eq!(found, (1, 0, 4, 2));
}

#[test]
fn a_split_that_not_all_ranks_call_is_an_error() {
    let error = failure(3, ThreadOptions::default(), |comm| {
        if comm.rank() < 2 {
            comm.split(0, 0)?;
        }
        Ok(())
    });
    let TransportError::PartnerEnded { waiting } = error else {
        panic!("{error}");
    };
    assert_eq!(waiting.partner, 2);
}

#[test]
fn misuse_is_an_error() {
    failure(1, strict(), |comm| {
        comm.over(&[], &mut [], |scope| {
            scope.send(SendMode::Standard, 1, 0, 0..0)
        })
    });
    failure(1, strict(), |comm| {
        comm.over(&[1.0], &mut [], |scope| {
            scope.send(SendMode::Standard, 0, 0, 0..2)
        })
    });
    failure(1, strict(), |comm| {
        comm.over(&[1.0], &mut [], |_| comm.over(&[], &mut [], |_| Ok(())))
    });
    failure(1, eager(), |comm| {
        comm.over(&[1.0], &mut [0.0], |scope| {
            let send = scope.isend(SendMode::Standard, 0, 0, 0..1)?;
            scope.recv(0, 0, 0..1)?;
            scope.wait(send)?;
            scope.wait(send)
        })
    });
}

#[test]
fn what_a_scope_leaves_is_completed() {
    run(2, strict(), |comm| {
        let data = [7.0, 8.0];
        let mut into = [0.0; 2];
        comm.over(&data, &mut into, |scope| {
            scope.irecv(1 - comm.rank(), 0, 0..2)?;
            scope.isend(SendMode::Standard, 1 - comm.rank(), 0, 0..2)
        })?;
        assert_eq!(into, data);
        Ok::<_, TransportError>(())
    })
    .unwrap();
}

#[test]
fn illegal_pairs_are_refused_with_the_reason() {
    let choice = ExchangeChoice {
        order: Order::Simple,
        protocol: Protocol::from_name("blocking").unwrap(),
        ..ExchangeChoice::default()
    };
    let error = Plan::new(0, 2, |_, _| 1, &choice).unwrap_err();
    assert!(matches!(error, PlanError::Illegal { .. }));
    assert!(error.to_string().contains("buffered"), "{error}");
    assert!(Plan::new(2, 2, |_, _| 1, &ExchangeChoice::default()).is_err());
}

#[test]
fn rows_and_columns_of_a_mesh_are_communicators() {
    run(12, strict(), |comm| {
        let (x, y) = (comm.rank() % 4, comm.rank() / 4);
        // Keys in reverse turn the order around.
        let row = comm.split(y, x).map_err(|e| e.to_string())?;
        let column = comm.split(x, 3 - y).map_err(|e| e.to_string())?;
        assert_eq!((row.rank(), row.size()), (x, 4));
        assert_eq!((column.rank(), column.size()), (2 - y, 3));
        for choice in choices().step_by(5) {
            transpose(&row, &choice, SHAPES[0])?;
            transpose(&column, &choice, SHAPES[1])?;
        }
        let mut sum = [comm.rank() as f64];
        collective::allreduce(&row, &mut sum, |a, b| a[0] += b[0]).map_err(|e| e.to_string())?;
        assert_eq!(sum[0], (16 * y + 6) as f64);
        Ok::<_, String>(())
    })
    .unwrap();
}

#[test]
fn collectives_for_every_number_of_ranks() {
    for (size, options) in (1..=13).flat_map(|size| [(size, strict()), (size, eager())]) {
        run(size, options, |comm| {
            let rank = comm.rank();
            for root in [0, size / 2, size - 1] {
                collective::barrier(&comm)?;
                let strange = f64::from_bits(0x7ff0_dead_beef_0001);
                let mut data = if rank == root {
                    [1.5, strange]
                } else {
                    [0.0; 2]
                };
                collective::broadcast(&comm, root, &mut data)?;
                assert_eq!(data[0], 1.5);
                assert_eq!(data[1].to_bits(), strange.to_bits());

                let block = |rank: usize| vec![rank as f64; (rank * 2) % 5];
                let blocks = collective::gather(&comm, root, &block(rank))?;
                let expected = (rank == root).then(|| (0..size).map(block).collect::<Vec<_>>());
                let blocks = blocks.map(|all| all.iter().map(<[f64]>::to_vec).collect::<Vec<_>>());
                assert_eq!(blocks, expected);

                // Joining intervals notices a wrong order: only neighbours join.
                let join = |a: &mut [f64], b: &[f64]| {
                    assert_eq!(a[1], b[0]);
                    a[1] = b[1];
                };
                let interval = [rank as f64, (rank + 1) as f64];
                let mut all = interval;
                collective::reduce(&comm, root, &mut all, join)?;
                if rank == root {
                    assert_eq!(all, [0.0, size as f64]);
                }
                let mut all = interval;
                collective::allreduce(&comm, &mut all, join)?;
                assert_eq!(all, [0.0, size as f64]);
            }
            Ok::<_, TransportError>(())
        })
        .unwrap();
    }
}

#[test]
fn a_message_shorter_than_the_plan_is_an_error() {
    // The two ranks' plans do not agree.
    let error = failure(2, strict(), |comm| {
        let rank = comm.rank();
        let len = |from, to| if from == to { 0 } else { 3 + rank };
        let plan = Plan::new(rank, 2, len, &ExchangeChoice::default()).unwrap();
        let mut plan = Transpose::new(comm, plan)?;
        let (send, mut recv) = (vec![1.0; 3 + rank], vec![0.0; 3 + rank]);
        plan.execute(comm, &send, &mut recv, &mut Movement::default())
    });
    let expected = TransportError::Short {
        rank: 1,
        from: 0,
        tag: 1,
        message: 3,
        expected: 4,
    };
    assert_eq!(error, expected);
}

#[test]
fn buffers_and_communicators_of_another_plan_are_refused() {
    let error = failure(2, strict(), |comm| {
        let choice = ExchangeChoice::default();
        let plan = Plan::new(comm.rank(), 2, |_, _| 1, &choice).unwrap();
        let mut plan = Transpose::new(comm, plan)?;
        let mut movement = Movement::default();
        let alone = comm.split(comm.rank(), 0)?;
        let refused = plan.execute(&alone, &[0.0; 2], &mut [0.0; 2], &mut movement);
        assert!(matches!(
            refused,
            Err(TransportError::WrongCommunicator { .. })
        ));
        plan.execute(comm, &[0.0; 2], &mut [0.0; 3], &mut movement)
    });
    assert!(matches!(
        error,
        TransportError::BufferLength {
            buffer: "receive",
            expected: 2,
            found: 3,
            ..
        }
    ));
}

#[test]
fn a_cancelled_send_is_never_read_again() {
    // The sender leaves its exchange by an error while the receiver may be copying, then writes
    // into the buffer at once: the receiver must see all of the old data or none.
    const LEN: usize = 1_000_000;
    run(2, strict(), |comm| {
        for round in 0..40 {
            if comm.rank() == 0 {
                let mut data = vec![1.0; LEN];
                let left: Result<(), _> = comm.over(&data, &mut [], |scope| {
                    scope.isend(SendMode::Standard, 1, 0, 0..LEN)?;
                    // Long enough for the receiver to begin, short enough to catch it at it.
                    std::thread::sleep(std::time::Duration::from_micros(round * 20));
                    Err(TransportError::NoSuchRequest { rank: 0 })
                });
                assert!(left.is_err());
                // From the end, ahead of a receiver that would still be copying.
                data.iter_mut().rev().for_each(|x| *x = 2.0);
                // In case the first was taken back.
                comm.over(&data, &mut [], |scope| {
                    scope.send(SendMode::Buffered, 1, 0, 0..LEN)
                })?;
            } else {
                let mut into = vec![0.0; LEN];
                comm.over(&[], &mut into, |scope| scope.recv(0, 0, 0..LEN))?;
                assert!(into.iter().all(|&x| x == into[0]) && into[0] > 0.0);
                if into[0] == 1.0 {
                    comm.over(&[], &mut into, |scope| scope.recv(0, 0, 0..LEN))?;
                    assert!(into.iter().all(|&x| x == 2.0));
                }
            }
            collective::barrier(&comm)?;
        }
        Ok::<_, TransportError>(())
    })
    .unwrap();
}
