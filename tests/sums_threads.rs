//! Vector sums on threads: exact sums, and the order of additions that is documented, bit for bit.

#![allow(clippy::unwrap_used)]

#[path = "common/sums.rs"]
mod sums;

use std::time::Duration;

use pstswm::exchange::sum::{SumAlgorithm, SumChoice};
use pstswm::exchange::{Movement, PlanError, SumPlan, VectorSum, collective};
use pstswm::swap::order::Order;
use pstswm::swap::protocol::Protocol;
use pstswm::transport::threads::{ThreadOptions, ThreadTransport, run};
use pstswm::transport::{EngineKind, Pattern, Transport, TransportError};
use sums::{SHAPES, add_up, bits, choices, exact, fraction, integer, segments, serial};

const RANKS: [usize; 8] = [1, 2, 3, 4, 5, 7, 8, 12];

/// Nothing is buffered, and a stuck sum is an error rather than a stuck test.
fn strict() -> ThreadOptions {
    ThreadOptions {
        eager_limit: 0,
        watchdog_seconds: 20.0,
        ..ThreadOptions::default()
    }
}

#[test]
fn every_sum_is_exact_and_has_the_documented_bits() {
    for size in RANKS {
        let expected = |shape| {
            let segments = segments(size, shape);
            let rounded = SumAlgorithm::ALL.map(|algorithm| serial(algorithm, size, &segments));
            let exact = exact(size, &segments);
            (segments, exact, rounded)
        };
        let expected: Vec<_> = SHAPES.into_iter().map(expected).collect();
        run(size, strict(), |comm| {
            for choice in choices() {
                for (segments, exact, rounded) in &expected {
                    let plan = SumPlan::new(comm.rank(), size, segments, &choice).unwrap();
                    let (messages, bytes) = (plan.messages, plan.bytes);
                    let mut sum = VectorSum::new(&comm, plan)?;
                    let mut movement = Movement::default();
                    let total = add_up(&comm, &mut sum, integer, &mut movement)?;
                    assert_eq!(&total, exact, "{choice} of {size}");
                    let total = add_up(&comm, &mut sum, fraction, &mut movement)?;
                    let documented = &rounded[choice.algorithm as usize];
                    assert_eq!(bits(&total), bits(documented), "{choice} of {size}");
                    assert_eq!(movement.messages, 2 * messages);
                    assert_eq!(movement.bytes, 2 * bytes);
                    assert_eq!((movement.wait, sum.disagreements()), (0.0, 0));
                }
            }
            Ok::<_, TransportError>(())
        })
        .unwrap();
    }
}

/// Otherwise the test above could not tell one order from another.
#[test]
fn orders_of_additions_differ() {
    let of = |algorithm| bits(&serial(algorithm, 7, &[3; 7]));
    let [exchange, halving, ring, pipelined, native] = SumAlgorithm::ALL.map(of);
    assert_eq!(exchange, halving);
    assert_eq!(ring, pipelined);
    assert!(exchange != ring && ring != native && native != exchange);
    let start = serial(SumAlgorithm::Ring, 7, &[21, 0, 0, 0, 0, 0, 0]);
    assert_ne!(
        ring,
        bits(&start),
        "the chain does not depend on the segment"
    );
}

#[test]
fn time_is_computing_moving_or_waiting() {
    const PAUSE: Duration = Duration::from_millis(3);
    for size in [1, 3] {
        for algorithm in SumAlgorithm::ALL {
            let choice = SumChoice {
                algorithm,
                barrier: true,
                ..SumChoice::default()
            };
            run(size, strict(), |comm| {
                let plan = SumPlan::new(comm.rank(), size, &vec![2; size], &choice).unwrap();
                let mut sum = VectorSum::new(&comm, plan)?;
                let (mut total, mut movement) = (vec![0.0; 2 * size], Movement::default());
                let local = |_: usize, values: &mut [f64]| {
                    std::thread::sleep(PAUSE);
                    values.fill(1.0);
                };
                let begin = comm.now();
                let computing = sum.execute(&comm, local, &mut total, &mut movement)?;
                let elapsed = comm.now() - begin;
                assert_eq!(total, vec![size as f64; 2 * size]);
                let least = size as f64 * PAUSE.as_secs_f64();
                assert!(computing >= least, "{choice}: {computing} s");
                assert!(movement.moving > 0.0 && movement.wait > 0.0, "{choice}");
                let parts = computing + movement.moving + movement.wait;
                assert!(parts <= elapsed + 1e-9, "{choice}: {parts} of {elapsed} s");
                Ok::<_, TransportError>(())
            })
            .unwrap();
        }
    }
}

/// Threads with a library whose sum is another on rank 2, every other time.
struct Crooked(ThreadTransport, std::cell::Cell<bool>);

impl Transport for Crooked {
    type Scope<'a> = <ThreadTransport as Transport>::Scope<'a>;
    type Engine = <ThreadTransport as Transport>::Engine;

    const NAME: &'static str = "crooked";

    fn library(&self) -> Option<String> {
        self.0.library()
    }

    fn rank(&self) -> usize {
        self.0.rank()
    }

    fn size(&self) -> usize {
        self.0.size()
    }

    fn now(&self) -> f64 {
        self.0.now()
    }

    fn split(&self, color: usize, key: usize) -> Result<Self, TransportError> {
        Ok(Self(self.0.split(color, key)?, self.1.clone()))
    }

    fn lacks(engine: EngineKind) -> Option<String> {
        ThreadTransport::lacks(engine)
    }

    fn engine(
        &self,
        engine: EngineKind,
        pattern: &Pattern,
    ) -> Result<Self::Engine, TransportError> {
        self.0.engine(engine, pattern)
    }

    fn allreduce_sum(
        &self,
        values: &[f64],
        total: &mut [f64],
    ) -> Option<Result<bool, TransportError>> {
        total.copy_from_slice(values);
        let same = self.1.get();
        self.1.set(!same);
        let result = collective::allreduce(&self.0, total, |total, part| {
            for (total, part) in total.iter_mut().zip(part) {
                *total += part;
            }
        });
        if !same && self.rank() == 2 {
            total[1] = -total[1];
        }
        Some(result.map(|()| same))
    }

    fn over<R>(
        &self,
        send: &[f64],
        recv: &mut [f64],
        body: impl FnOnce(&mut Self::Scope<'_>) -> Result<R, TransportError>,
    ) -> Result<R, TransportError> {
        self.0.over(send, recv, body)
    }
}

#[test]
fn a_library_that_disagrees_is_overruled_and_counted() {
    let choice = SumChoice {
        algorithm: SumAlgorithm::Native,
        ..SumChoice::default()
    };
    let sums = run(5, strict(), |comm| {
        let comm = Crooked(comm, std::cell::Cell::new(false));
        let plan = SumPlan::new(comm.rank(), 5, &[1, 0, 2, 0, 0], &choice).unwrap();
        let mut sum = VectorSum::new(&comm, plan)?;
        let mut all = Vec::new();
        for _ in 0..3 {
            let total = add_up(&comm, &mut sum, fraction, &mut Movement::default())?;
            all.push(bits(&total));
        }
        Ok::<_, TransportError>((all, sum.disagreements()))
    })
    .unwrap();
    let expected = bits(&serial(SumAlgorithm::Native, 5, &[1, 0, 2, 0, 0]));
    for (all, disagreements) in sums {
        assert_eq!(all, vec![expected.clone(); 3]);
        assert_eq!(disagreements, 2);
    }
}

#[test]
fn what_does_not_fit_is_refused() {
    let choice = SumChoice::default();
    let error = SumPlan::new(0, 3, &[1, 2], &choice).unwrap_err();
    let said = "segments of a vector: 2 given, 3 needed, one for each rank";
    assert_eq!(error.to_string(), said);
    let error = SumPlan::new(3, 3, &[1, 2, 3], &choice).unwrap_err();
    assert_eq!(error, PlanError::Rank { rank: 3, size: 3 });
    for algorithm in SumAlgorithm::ALL {
        let illegal = SumChoice {
            algorithm,
            order: Order::Simple,
            protocol: Protocol::from_name("blocking").unwrap(),
            ..choice
        };
        let error = SumPlan::new(0, 3, &[1, 2, 3], &illegal).unwrap_err();
        assert!(matches!(error, PlanError::Illegal { .. }));
    }
    run(2, strict(), |comm| {
        let plan = |rank, size| SumPlan::new(rank, size, &vec![2; size], &choice).unwrap();
        let other = VectorSum::new(&comm, plan(comm.rank(), 3)).err().unwrap();
        assert!(matches!(other, TransportError::WrongCommunicator { .. }));
        let mut sum = VectorSum::new(&comm, plan(comm.rank(), 2))?;
        let mut movement = Movement::default();
        let local = |_: usize, _: &mut [f64]| panic!("nothing is computed");
        let error = sum.execute(&comm, local, &mut [0.0; 3], &mut movement);
        let error = error.unwrap_err().to_string();
        assert!(error.contains("the total buffer has 3 elements"), "{error}");
        assert_eq!(movement, Movement::default());
        Ok::<_, TransportError>(())
    })
    .unwrap();
}
