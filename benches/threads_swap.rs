//! A swap between threads against the least it can cost: two threads that copy at once, each from
//! the other's send buffer into its own receive buffer.
//!
//! ```text
//! cargo bench --bench threads_swap
//! ```
//!
//! Same threads, same buffers, one after the other in turn (copy, swap, swap, copy), so that a
//! drift of the machine meets both. A time is the larger of the two threads' from a common start.
//! The ratio is the median of the ratios of a round, with its 95 % interval.

#![allow(clippy::print_stdout)]

use std::sync::atomic::{AtomicUsize, Ordering};

use pstswm::measure::Summary;
use pstswm::swap::call::Leg;
use pstswm::swap::method::Method;
use pstswm::swap::order::Order;
use pstswm::swap::protocol::Protocol;
use pstswm::swap::run::{Requests, execute};
use pstswm::swap::schedule::Schedule;
use pstswm::swap::step::{Kind, Role, Step};
use pstswm::transport::threads::{RankFailure, ThreadOptions, run};
use pstswm::transport::{Transport, TransportError};

const VOLUMES: [usize; 4] = [8 << 10, 128 << 10, 2 << 20, 16 << 20];
const ROUNDS: usize = 60;
/// Seconds that the swaps of one timing should take: what a clock and a start add is small then.
const TIMING: f64 = 1e-3;

fn main() -> Result<(), RankFailure<TransportError>> {
    println!(
        "{:>9} {:>13} {:>13} {:>11} {:>11} {:>7}  95 % interval",
        "bytes", "copy us", "swap us", "min copy", "min swap", "ratio"
    );
    for volume in VOLUMES {
        let rounds = measure(volume)?;
        let pick = |of: fn(&Round) -> f64| rounds.iter().map(of).collect::<Vec<f64>>();
        let summary = |values: &[f64]| Summary::of(values).map(|s| (s.min, s.median, s.ci95));
        let copies = summary(&pick(|round| round.copy));
        let swaps = summary(&pick(|round| round.swap));
        let ratios = summary(&pick(|round| round.swap / round.copy));
        if let (Some(copy), Some(swap), Some(ratio)) = (copies, swaps, ratios) {
            let (low, high) = ratio.2.unwrap_or((f64::NAN, f64::NAN));
            println!(
                "{volume:>9} {:>13.3} {:>13.3} {:>11.3} {:>11.3} {:>7.3}  [{low:.3} {high:.3}]",
                copy.1 * 1e6,
                swap.1 * 1e6,
                copy.0 * 1e6,
                swap.0 * 1e6,
                ratio.1
            );
        }
    }
    Ok(())
}

/// Seconds of one copy and of one swap.
struct Round {
    copy: f64,
    swap: f64,
}

fn measure(volume: usize) -> Result<Vec<Round>, RankFailure<TransportError>> {
    let len = volume / size_of::<f64>();
    // Non-zero: pages of zeros could be one shared page.
    let send: [Vec<f64>; 2] =
        [1, 2].map(|rank| (0..len).map(|i| (rank * len + i) as f64).collect());
    let gate = Gate::default();
    let ends = run(2, ThreadOptions::default(), |comm| {
        let me = comm.rank();
        let mut recv = vec![-1.0; len];
        let schedule = schedule(me, len);
        let mut requests = Requests::for_schedule(&schedule);
        let mut copy = |recv: &mut [f64]| {
            recv.copy_from_slice(&send[1 - me]);
            std::hint::black_box(recv);
            Ok(())
        };
        let mut swap = |recv: &mut [f64]| {
            comm.over(&send[me], recv, |scope| {
                execute(&schedule, scope, &mut requests)
            })
        };
        for _ in 0..3 {
            timed(&comm, &gate, &mut recv, 1, &mut swap)?;
        }
        let once = timed(&comm, &gate, &mut recv, 1, &mut swap)?;
        // Both threads must do the same number.
        let mut count = [(TIMING / once).clamp(1.0, 1000.0).round()];
        pstswm::exchange::collective::broadcast(&comm, 0, &mut count)?;
        let count = count[0] as usize;
        let mut times = Vec::new();
        for _ in 0..ROUNDS {
            let first = timed(&comm, &gate, &mut recv, count, &mut copy)?;
            let swaps = timed(&comm, &gate, &mut recv, count, &mut swap)?
                + timed(&comm, &gate, &mut recv, count, &mut swap)?;
            let copies = first + timed(&comm, &gate, &mut recv, count, &mut copy)?;
            times.push((0.5 * copies, 0.5 * swaps));
        }
        assert_eq!(recv, send[1 - me], "what arrived");
        Ok::<_, TransportError>(times)
    })?;
    let rounds = ends[0].iter().zip(&ends[1]);
    let slower = rounds.map(|(a, b)| Round {
        copy: a.0.max(b.0),
        swap: a.1.max(b.1),
    });
    Ok(slower.collect())
}

/// Seconds per call of `count` calls.
fn timed<T: Transport>(
    comm: &T,
    gate: &Gate,
    recv: &mut [f64],
    count: usize,
    work: &mut impl FnMut(&mut [f64]) -> Result<(), TransportError>,
) -> Result<f64, TransportError> {
    gate.pass();
    let begin = comm.now();
    for _ in 0..count {
        work(recv)?;
    }
    Ok((comm.now() - begin) / count as f64)
}

/// One message each way by simple/nonblocking.
fn schedule(me: usize, len: usize) -> Schedule {
    let leg = Some(Leg {
        peer: 1 - me,
        tag: 1,
        start: 0,
        len,
    });
    let step = Step {
        kind: Kind::Swap,
        role: if me == 0 { Role::First } else { Role::Second },
        send: leg,
        recv: leg,
    };
    let method = Method {
        order: Order::Simple,
        protocol: Protocol::from_number(3).unwrap_or(Protocol::NONBLOCKING_RECV),
        handshake: false,
        max_requests: 0,
        overlap: false,
    };
    Schedule::unchecked(&method, &[step])
}

/// Lets two threads go together.
#[derive(Default)]
struct Gate {
    arrived: AtomicUsize,
}

impl Gate {
    fn pass(&self) {
        let turn = self.arrived.fetch_add(1, Ordering::AcqRel) / 2;
        while self.arrived.load(Ordering::Acquire) < 2 * (turn + 1) {
            std::hint::spin_loop();
        }
    }
}
