//! A time step allocates nothing: not its transforms, not its movements. Between ranks the mailboxes
//! of the threads transport grow to the most messages that ever waited in them, which a late rank may
//! raise once more: of several rounds of steps one at least must be free of allocations.

#![allow(clippy::unwrap_used, unsafe_code)] // a global allocator

mod common;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use common::session;

thread_local! {
    /// Allocations of this thread.
    static COUNT: Cell<usize> = const { Cell::new(0) };
}

/// The system's allocator, which counts.
struct Counting;

// SAFETY: every call goes to the system's allocator as it came; the counter is a plain cell of the
// thread, which allocates nothing itself.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        COUNT.with(|count| count.set(count.get() + 1));
        // SAFETY: as the caller promised.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        // SAFETY: as the caller promised.
        unsafe { System.dealloc(memory, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Rounds of steps.
const ROUNDS: usize = 5;

/// Allocations of rounds of ten steps, after the first three steps, the most of all ranks.
fn of_rounds(sets: &[&str], ranks: usize) -> [usize; ROUNDS] {
    let problem = [
        "problem.case=\"williamson-5\"",
        "problem.truncation=21",
        "problem.days=2",
    ];
    let sets: Vec<&str> = problem.iter().chain(sets).copied().collect();
    let session = session(&sets, ranks);
    let counts = session
        .on_threads(|comm| {
            let mut model = session.model(comm)?;
            let mut steps = |count: usize| {
                (0..count).try_for_each(|_| {
                    let step = model.step().map_err(|error| session.explain(error));
                    step.map(|_| ())
                })
            };
            steps(3)?;
            let mut counts = [0; ROUNDS];
            for count in &mut counts {
                let before = COUNT.with(Cell::get);
                steps(10)?;
                *count = COUNT.with(Cell::get) - before;
            }
            Ok(counts)
        })
        .unwrap();
    std::array::from_fn(|round| counts.iter().map(|counts| counts[round]).max().unwrap())
}

#[test]
fn the_counter_counts() {
    let before = COUNT.with(Cell::get);
    drop(std::hint::black_box(vec![1.0; 100]));
    assert_eq!(COUNT.with(Cell::get), before + 1);
}

#[test]
fn a_step_allocates_nothing() {
    let cases: [(&[&str], usize); 9] = [
        (&[], 1),
        (&["problem.levels=3"], 1),
        (&["time.scheme=\"rk4\"", "time.dt=100"], 1),
        (&["time.asselin=0.01", "time.diffusion=1e15"], 1),
        (&[], 2),
        (&["algorithm.mesh=[2, 2]"], 4),
        (&["algorithm.mesh=[2, 2]", "algorithm.overlap=true"], 4),
        (
            &[
                "algorithm.mesh=[2, 2]",
                "algorithm.transpose=\"logarithmic\"",
            ],
            4,
        ),
        (
            &[
                "algorithm.mesh=[2, 2]",
                "algorithm.fft=\"distributed\"",
                "algorithm.legendre=\"distributed\"",
            ],
            4,
        ),
    ];
    for (sets, ranks) in cases {
        let rounds = of_rounds(sets, ranks);
        if ranks == 1 {
            assert_eq!(rounds, [0; ROUNDS], "{sets:?}");
        } else {
            assert!(rounds.contains(&0), "{sets:?} on {ranks}: {rounds:?}");
        }
    }
}
