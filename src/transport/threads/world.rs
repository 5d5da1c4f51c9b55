//! What the ranks of one job share: who failed, who ended, who sleeps, and the communicators.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex, OnceLock};
use std::thread::Thread;
use std::time::Instant;

use super::ThreadOptions;
use super::engine::board::{Board, Offer};
use super::graph::Published;
use super::mailbox::Mailbox;

/// No rank.
const NONE: usize = usize::MAX;

/// The job.
pub(super) struct World {
    pub(super) options: ThreadOptions,
    pub(super) epoch: Instant,
    ranks: Vec<RankState>,
    failed: AtomicUsize,
}

#[derive(Default)]
#[repr(align(128))]
struct RankState {
    thread: OnceLock<Thread>,
    asleep: AtomicBool,
    ended: AtomicBool,
    published: Published,
}

impl World {
    /// A job of `ranks`.
    pub(super) fn new(ranks: usize, options: ThreadOptions) -> Self {
        Self {
            options,
            epoch: Instant::now(),
            ranks: (0..ranks).map(|_| RankState::default()).collect(),
            failed: AtomicUsize::new(NONE),
        }
    }

    /// Notes that the calling thread is this rank.
    pub(super) fn enter(&self, rank: usize) {
        // A rank enters once; a second thread would only sleep to its time-out.
        let _ = self.ranks[rank].thread.set(std::thread::current());
    }

    /// Notes that a rank failed; true when it is the first.
    pub(super) fn fail(&self, rank: usize) -> bool {
        let first = self
            .failed
            .compare_exchange(NONE, rank, Ordering::SeqCst, Ordering::SeqCst)
            .is_ok();
        for state in &self.ranks {
            if let Some(thread) = state.thread.get() {
                thread.unpark();
            }
        }
        first
    }

    /// The first rank that failed.
    pub(super) fn failed(&self) -> Option<usize> {
        let rank = self.failed.load(Ordering::Acquire);
        (rank != NONE).then_some(rank)
    }

    /// Notes that a rank ended well.
    pub(super) fn end(&self, rank: usize) {
        self.ranks[rank].ended.store(true, Ordering::Release);
    }

    /// Whether a rank ended well; all it sent is in the mailboxes then.
    pub(super) fn ended(&self, rank: usize) -> bool {
        self.ranks[rank].ended.load(Ordering::Acquire)
    }

    /// What others see of a rank's wait.
    pub(super) fn published(&self, rank: usize) -> &Published {
        &self.ranks[rank].published
    }

    /// Wakes a rank if it sleeps. Called after what it waits for was made visible.
    pub(super) fn wake(&self, rank: usize) {
        let state = &self.ranks[rank];
        fence(Ordering::SeqCst);
        if state.asleep.load(Ordering::Relaxed)
            && let Some(thread) = state.thread.get()
        {
            thread.unpark();
        }
    }

    /// Sleeps until woken, for a millisecond at most, unless `awaited` is true already.
    pub(super) fn sleep(&self, rank: usize, awaited: impl FnOnce() -> bool) {
        let state = &self.ranks[rank];
        state.asleep.store(true, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if !awaited() && self.failed().is_none() {
            std::thread::park_timeout(std::time::Duration::from_millis(1));
        }
        state.asleep.store(false, Ordering::Relaxed);
    }
}

/// A communicator.
pub(super) struct Group {
    /// Rank in the job of every rank of the communicator.
    pub(super) members: Vec<usize>,
    /// A mailbox for every rank of the communicator.
    pub(super) mailboxes: Vec<Mailbox>,
    /// Splits under way, by their number.
    pub(super) splits: Mutex<BTreeMap<u64, Split>>,
    /// Exchanges being prepared, by their number.
    pub(super) boards: Mutex<BTreeMap<u64, Gathering>>,
}

impl Group {
    /// The communicator of these ranks.
    pub(super) fn new(members: Vec<usize>) -> Self {
        Self {
            mailboxes: members.iter().map(|_| Mailbox::default()).collect(),
            members,
            splits: Mutex::new(BTreeMap::new()),
            boards: Mutex::new(BTreeMap::new()),
        }
    }
}

/// A split: what the ranks asked for, then what each gets.
#[derive(Default)]
pub(super) struct Split {
    asked: Vec<(usize, usize, usize)>,
    given: BTreeMap<usize, (Arc<Group>, usize)>,
}

impl Split {
    /// One rank's wish; the last one decides for all.
    pub(super) fn ask(&mut self, group: &Group, rank: usize, color: usize, key: usize) {
        self.asked.push((color, key, rank));
        if self.asked.len() < group.members.len() {
            return;
        }
        self.asked.sort_unstable();
        for same in self.asked.chunk_by(|a, b| a.0 == b.0) {
            let members = same.iter().map(|asked| group.members[asked.2]).collect();
            let part = Arc::new(Group::new(members));
            for (new_rank, asked) in same.iter().enumerate() {
                self.given.insert(asked.2, (Arc::clone(&part), new_rank));
            }
        }
    }

    /// What a rank gets, once all have asked.
    pub(super) fn take(&mut self, rank: usize) -> Option<(Arc<Group>, usize)> {
        self.given.remove(&rank)
    }

    /// Whether every rank has taken.
    pub(super) fn is_over(&self, size: usize) -> bool {
        self.asked.len() == size && self.given.is_empty()
    }
}

/// An exchange being prepared: what each rank brought, then what all get.
#[derive(Default)]
pub(super) struct Gathering {
    offers: Vec<Option<Offer>>,
    board: Option<Arc<Board>>,
    taken: usize,
}

impl Gathering {
    /// One rank's part.
    pub(super) fn bring(&mut self, rank: usize, size: usize, offer: Offer) {
        self.offers.resize_with(size, || None);
        self.offers[rank] = Some(offer);
        if self.offers.iter().all(Option::is_some) {
            let offers = std::mem::take(&mut self.offers);
            self.board = Some(Arc::new(Board::new(offers.into_iter().flatten().collect())));
        }
    }

    /// The whole, once all have brought their parts; else the first rank that has not.
    pub(super) fn take(&mut self) -> Result<Arc<Board>, usize> {
        if let Some(board) = &self.board {
            self.taken += 1;
            return Ok(Arc::clone(board));
        }
        let missing = self.offers.iter().position(Option::is_none);
        Err(missing.unwrap_or(0))
    }

    /// Whether every rank has taken it.
    pub(super) fn is_over(&self, size: usize) -> bool {
        self.taken == size
    }
}
