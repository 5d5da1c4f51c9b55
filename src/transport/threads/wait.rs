//! How a rank waits, and every reason to stop waiting.

use std::time::Instant;

use super::ThreadTransport;
use super::graph::Watch;
use super::scope::ThreadScope;
use crate::transport::{Label, Tag, TransportError, Waiting};

/// Looks at the awaited thing before the first yield.
const SPINS: u32 = 100;
/// Seconds of yielding before a wait sleeps.
const YIELD_SECONDS: f64 = 1e-3;

/// What a rank waits for while it splits a communicator; the partner is any other rank.
const IN_SPLIT: &str = "for the ranks that split a communicator with";

/// What a rank waits for; ranks are those of the communicator.
#[derive(Clone, Copy)]
pub(super) struct Awaited {
    /// Words before the partner.
    pub(super) waiting: &'static str,
    pub(super) partner: usize,
    pub(super) tag: Tag,
    pub(super) elements: usize,
    pub(super) label: Option<&'static Label>,
}

impl Awaited {
    /// For a rank of the communicator, in ranks of the job.
    fn of(&self, comm: &ThreadTransport) -> Waiting {
        Waiting {
            rank: comm.job_rank(),
            waiting: self.waiting,
            partner: comm.group.members[self.partner],
            label: self.label,
            tag: self.tag,
            elements: self.elements,
        }
    }
}

/// One wait: spin, yield, sleep.
pub(super) struct Backoff {
    spins: u32,
    began: Option<Instant>,
    partner_ended: bool,
    /// Once the wait sleeps, others see it.
    watch: Option<Watch>,
}

impl Backoff {
    pub(super) fn new() -> Self {
        Self {
            spins: 0,
            began: None,
            partner_ended: false,
            watch: None,
        }
    }

    /// Lets time pass; returns the seconds since the first yield once it is time to sleep.
    fn pause(&mut self, comm: &ThreadTransport) -> Result<Option<f64>, TransportError> {
        if self.spins < SPINS {
            self.spins += 1;
            std::hint::spin_loop();
            return Ok(None);
        }
        if let Some(failed) = comm.world.failed() {
            let rank = comm.job_rank();
            return Err(TransportError::Aborted { rank, failed });
        }
        std::thread::yield_now();
        let waited = self.began.get_or_insert_with(Instant::now).elapsed();
        let waited = waited.as_secs_f64();
        Ok((waited > YIELD_SECONDS).then_some(waited))
    }

    /// Waits a little for a slot.
    pub(super) fn wait(
        &mut self,
        scope: &ThreadScope<'_>,
        index: u32,
    ) -> Result<(), TransportError> {
        let awaited = scope.waiting(index);
        let comm = scope.comm;
        let mailbox = &comm.group.mailboxes[comm.rank];
        self.partner(comm, &awaited, || {
            mailbox.has_deliveries() || scope.outcome(index).is_some()
        })
    }

    /// Waits a little for a partner, unless what is waited for is there.
    pub(super) fn partner(
        &mut self,
        comm: &ThreadTransport,
        awaited: &Awaited,
        ready: impl Fn() -> bool,
    ) -> Result<(), TransportError> {
        let Some(seconds) = self.pause(comm)? else {
            return Ok(());
        };
        let world = &comm.world;
        let waiting = awaited.of(comm);
        if self.partner_ended {
            return Err(TransportError::PartnerEnded { waiting });
        }
        let limit = world.options.watchdog_seconds;
        if limit > 0.0 && seconds > limit {
            return Err(TransportError::Timeout {
                waiting,
                seconds: limit,
            });
        }
        let (rank, partner) = (waiting.rank, waiting.partner);
        let watch = self
            .watch
            .get_or_insert_with(|| Watch::publish(world, waiting));
        if let Some(ring) = watch.look() {
            return Err(TransportError::Deadlock { ring });
        }
        // One more look after the partner was seen to have ended: its last message counts.
        self.partner_ended = partner != rank && world.ended(partner);
        if !self.partner_ended {
            world.sleep(rank, ready);
        }
        Ok(())
    }

    /// Waits a little for the other ranks of a split.
    pub(super) fn split(&mut self, comm: &ThreadTransport) -> Result<(), TransportError> {
        let Some(seconds) = self.pause(comm)? else {
            return Ok(());
        };
        let world = &comm.world;
        let rank = comm.job_rank();
        // A rank that takes part cannot end before all have asked.
        let ended = comm.group.members.iter().find(|&&r| world.ended(r));
        let waiting = Waiting {
            rank,
            waiting: IN_SPLIT,
            partner: ended.copied().unwrap_or(rank),
            label: None,
            tag: 0,
            elements: 0,
        };
        if ended.is_some() && self.partner_ended {
            return Err(TransportError::PartnerEnded { waiting });
        }
        self.partner_ended = ended.is_some();
        let limit = world.options.watchdog_seconds;
        if limit > 0.0 && seconds > limit {
            return Err(TransportError::Timeout {
                waiting,
                seconds: limit,
            });
        }
        world.sleep(rank, || false);
        Ok(())
    }
}
