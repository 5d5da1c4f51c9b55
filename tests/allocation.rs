//! A time step allocates nothing: not its transforms, not its movements, on any transport algorithm
//! of the threads.

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

/// Allocations of ten steps after the first three, the most of all ranks.
fn of_steps(sets: &[&str], ranks: usize) -> usize {
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
            let mut step = || model.step().map_err(|error| session.explain(error));
            for _ in 0..3 {
                step()?;
            }
            let before = COUNT.with(Cell::get);
            for _ in 0..10 {
                step()?;
            }
            Ok(COUNT.with(Cell::get) - before)
        })
        .unwrap();
    counts.into_iter().max().unwrap()
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
        assert_eq!(of_steps(sets, ranks), 0, "{sets:?} on {ranks}");
    }
}
