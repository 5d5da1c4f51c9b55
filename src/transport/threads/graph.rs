//! Who waits for whom: long waits are published, and a ring of them is a deadlock.
//!
//! Nothing is published before a wait begins to sleep, so messages pay nothing. A rank that waits
//! may still serve others, by copying what they lent; a ring that is seen once proves nothing.
//! Every rank of it must have looked in vain again, as a whole look that began after the ring was
//! seen, and that [`ROUNDS`] times in turn: then nothing is left that could end any of the waits.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use super::world::World;
use crate::transport::Waiting;

/// Times that all ranks of a ring must look in vain, one time after the other.
const ROUNDS: u32 = 3;

/// Looks of a rank that hold at least one that began after the first was counted.
const WHOLE_LOOK: u64 = 2;

/// The published wait of one rank.
#[derive(Default)]
pub(super) struct Published {
    /// Odd while a wait is published; another number for every wait.
    version: AtomicU64,
    /// Looks in vain since then.
    looks: AtomicU64,
    waiting: Mutex<Option<Waiting>>,
}

impl Published {
    fn waiting(&self) -> Option<Waiting> {
        let waiting = self.waiting.lock();
        waiting.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn set(&self, waiting: Option<Waiting>) {
        *self.waiting.lock().unwrap_or_else(PoisonError::into_inner) = waiting;
        self.looks.store(0, Ordering::Relaxed);
        self.version.fetch_add(1, Ordering::AcqRel);
    }
}

/// A wait that others can see, until it is dropped.
pub(super) struct Watch {
    world: Arc<World>,
    rank: usize,
    suspect: Option<Suspect>,
}

/// A ring that was seen, and how often it was seen again.
struct Suspect {
    /// Rank, version of its wait, its looks when the present round began.
    ring: Vec<(usize, u64, u64)>,
    rounds: u32,
}

impl Watch {
    /// Publishes what a rank of the job waits for.
    pub(super) fn publish(world: &Arc<World>, waiting: Waiting) -> Self {
        let rank = waiting.rank;
        world.published(rank).set(Some(waiting));
        Self {
            world: Arc::clone(world),
            rank,
            suspect: None,
        }
    }

    /// Counts a look in vain; the ring of waits through this rank, once it is certain.
    pub(super) fn look(&mut self) -> Option<Vec<Waiting>> {
        let own = self.world.published(self.rank);
        own.looks.fetch_add(1, Ordering::AcqRel);
        let Some(ring) = self.ring() else {
            self.suspect = None;
            return None;
        };
        let same = |suspect: &Suspect| {
            let pairs = suspect
                .ring
                .iter()
                .map(|&(rank, version, _)| (rank, version));
            pairs.eq(ring.iter().map(|&(rank, version, _)| (rank, version)))
        };
        match self.suspect.as_mut().filter(|suspect| same(suspect)) {
            None => self.suspect = Some(Suspect { ring, rounds: 0 }),
            Some(suspect) => {
                let looks = suspect.ring.iter().zip(&ring);
                if looks
                    .into_iter()
                    .all(|(then, now)| now.2 >= then.2 + WHOLE_LOOK)
                {
                    *suspect = Suspect {
                        ring,
                        rounds: suspect.rounds + 1,
                    };
                }
            }
        }
        let certain = self
            .suspect
            .as_ref()
            .filter(|suspect| suspect.rounds >= ROUNDS)?;
        let waits = certain.ring.iter().map(|&(rank, version, _)| {
            let published = self.world.published(rank);
            let waiting = published.waiting();
            waiting.filter(|_| published.version.load(Ordering::Acquire) == version)
        });
        waits.collect()
    }

    /// Follows the waits from this rank; a ring that comes back to it.
    fn ring(&self) -> Option<Vec<(usize, u64, u64)>> {
        let mut ring = Vec::new();
        let mut rank = self.rank;
        loop {
            let published = self.world.published(rank);
            let version = published.version.load(Ordering::Acquire);
            let looks = published.looks.load(Ordering::Acquire);
            let waiting = published.waiting()?;
            ring.push((rank, version, looks));
            rank = waiting.partner;
            if rank == self.rank {
                return Some(ring);
            }
            if ring.iter().any(|&(seen, ..)| seen == rank) {
                // The ring is further on; its own ranks find it.
                return None;
            }
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.world.published(self.rank).set(None);
    }
}
