//! Ranks as threads of one process, with MPI's semantics.
//!
//! A standard send up to the eager limit is copied and returns; above it, and in synchronous mode,
//! it ends when the receiver has taken the data, with one copy from buffer to buffer. The receiver
//! copies, in whatever call it waits in, so two ranks that swap copy at the same time. A ready send
//! without a posted receive is an error. Waits spin, then yield, then sleep.

#![allow(unsafe_code)]

mod engine;
mod graph;
mod loan;
mod mailbox;
mod run;
mod scope;
mod wait;
mod world;

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::{Arc, PoisonError};

use super::{EngineKind, Pattern, Transport, TransportError};
pub use engine::ThreadEngine;
use engine::board::{Board, Offer};
pub use run::{RankFailure, run};
use scope::RankLocal;
pub use scope::ThreadScope;
use wait::{Awaited, Backoff};
use world::{Group, World};

/// How the ranks of one process behave.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ThreadOptions {
    /// Largest message, in bytes, that a standard send copies; 0: nothing is buffered.
    pub eager_limit: usize,
    /// A wait of this many seconds is an error; 0: never.
    pub watchdog_seconds: f64,
    /// Stack of every rank, in bytes.
    pub stack_bytes: usize,
}

impl Default for ThreadOptions {
    fn default() -> Self {
        Self {
            eager_limit: 4096,
            watchdog_seconds: 0.0,
            stack_bytes: 16 << 20,
        }
    }
}

/// One rank's end of a communicator between threads. It stays in its thread.
pub struct ThreadTransport {
    world: Arc<World>,
    group: Arc<Group>,
    rank: usize,
    local: Rc<RefCell<RankLocal>>,
    splits: Cell<u64>,
    boards: Cell<u64>,
}

impl ThreadTransport {
    fn new(
        world: Arc<World>,
        group: Arc<Group>,
        rank: usize,
        local: Rc<RefCell<RankLocal>>,
    ) -> Self {
        Self {
            world,
            group,
            rank,
            local,
            splits: Cell::new(0),
            boards: Cell::new(0),
        }
    }

    /// Brings this rank's part of a prepared exchange; returns the whole once all have.
    fn board(&self, offer: Offer) -> Result<Arc<Board>, TransportError> {
        let number = self.boards.get();
        self.boards.set(number + 1);
        let boards = || {
            let boards = &self.group.boards;
            boards.lock().unwrap_or_else(PoisonError::into_inner)
        };
        let size = self.group.members.len();
        boards()
            .entry(number)
            .or_default()
            .bring(self.rank, size, offer);
        let mut backoff = Backoff::new();
        loop {
            let mut all = boards();
            let Some(gathering) = all.get_mut(&number) else {
                unreachable!("a gathering stays until every rank has taken its board")
            };
            let missing = match gathering.take() {
                Ok(board) => {
                    if gathering.is_over(size) {
                        all.remove(&number);
                    }
                    return Ok(board);
                }
                Err(missing) => missing,
            };
            drop(all);
            let awaited = Awaited {
                waiting: "to prepare an exchange with",
                partner: missing,
                tag: 0,
                elements: 0,
                label: None,
            };
            backoff.partner(self, &awaited, || false)?;
        }
    }

    /// This rank in the whole job.
    fn job_rank(&self) -> usize {
        self.group.members[self.rank]
    }
}

impl Transport for ThreadTransport {
    type Scope<'a> = ThreadScope<'a>;
    type Engine = ThreadEngine;

    const NAME: &'static str = "threads";

    fn library(&self) -> Option<String> {
        None
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.group.members.len()
    }

    fn now(&self) -> f64 {
        self.world.epoch.elapsed().as_secs_f64()
    }

    fn split(&self, color: usize, key: usize) -> Result<Self, TransportError> {
        let number = self.splits.get();
        self.splits.set(number + 1);
        let splits = || {
            let splits = &self.group.splits;
            splits.lock().unwrap_or_else(PoisonError::into_inner)
        };
        splits()
            .entry(number)
            .or_default()
            .ask(&self.group, self.rank, color, key);
        let mut backoff = Backoff::new();
        loop {
            let mut all = splits();
            if let Some(split) = all.get_mut(&number)
                && let Some((group, rank)) = split.take(self.rank)
            {
                if split.is_over(self.size()) {
                    all.remove(&number);
                }
                let (world, local) = (Arc::clone(&self.world), Rc::clone(&self.local));
                return Ok(Self::new(world, group, rank, local));
            }
            drop(all);
            backoff.split(self)?;
        }
    }

    fn lacks(engine: EngineKind) -> Option<String> {
        ThreadEngine::lacks(engine)
    }

    fn engine(
        &self,
        engine: EngineKind,
        pattern: &Pattern,
    ) -> Result<ThreadEngine, TransportError> {
        ThreadEngine::new(self, engine, pattern)
    }

    fn allreduce_sum(&self, _: &[f64], _: &mut [f64]) -> Option<Result<bool, TransportError>> {
        None
    }

    fn over<R>(
        &self,
        send: &[f64],
        recv: &mut [f64],
        body: impl FnOnce(&mut Self::Scope<'_>) -> Result<R, TransportError>,
    ) -> Result<R, TransportError> {
        let mut local = self
            .local
            .try_borrow_mut()
            .map_err(|_| TransportError::Nested {
                rank: self.job_rank(),
            })?;
        // SAFETY: the scope lives in this frame and `body` sees it only by reference, so it is
        // dropped before `send` is released, on success, error and panic alike.
        let mut scope = unsafe { ThreadScope::new(self, send, recv, &mut local) };
        let result = body(&mut scope)?;
        scope.finish()?;
        Ok(result)
    }
}
