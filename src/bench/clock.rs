//! A common clock, so that ranks start together without a barrier.
//!
//! A barrier lets its ranks go at different times, and a timing that begins there contains the
//! difference. Here rank 0 names a time a little ahead, each rank converts it to its own clock and
//! starts when that time has come. Offsets are those of Cristian (1989, Distributed Computing 3,
//! 146-158): of many round trips to rank 0 the shortest counts, and half of it bounds the error.

use crate::exchange::collective;
use crate::transport::{COLLECTIVE_TAGS, Scope, SendMode, Tag, Transport, TransportError};

const CLOCK: Tag = COLLECTIVE_TAGS + 16;
const READY: Tag = COLLECTIVE_TAGS + 17;

/// Round trips of which the shortest counts.
const TRIPS: usize = 20;

/// Shortest and longest time, s, between the naming of a start and the start.
const MARGINS: (f64, f64) = (5e-6, 2e-3);

/// One rank's clock against that of rank 0.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CommonClock {
    /// This rank's clock minus rank 0's, s.
    pub offset: f64,
    /// Half of the shortest round trip to rank 0, s: the offset is right to this.
    pub uncertainty: f64,
    /// By how much the offset moved since the clocks were compared before, s.
    pub drift: f64,
    /// Time between the naming of a start and the start; rank 0's counts.
    margin: f64,
}

/// How a rank came to a start.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Start {
    /// Seconds by which this rank missed the common time; 0: it was there.
    pub late: f64,
}

impl CommonClock {
    /// Compares the clocks. Every rank calls it.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn measure<T: Transport>(comm: &T) -> Result<Self, TransportError> {
        let mut own = Self {
            offset: 0.0,
            uncertainty: 0.0,
            drift: 0.0,
            margin: MARGINS.0,
        };
        let mut longest: f64 = 0.0;
        for rank in 1..comm.size() {
            if comm.rank() == 0 {
                longest = longest.max(compare(comm, rank)?);
            } else if comm.rank() == rank {
                (own.offset, own.uncertainty) = answer(comm)?;
            }
        }
        let hops = comm.size().next_power_of_two().trailing_zeros();
        own.margin = (2.0 * longest * f64::from(hops)).clamp(MARGINS.0, MARGINS.1);
        Ok(own)
    }

    /// Compares the clocks again, since they drift; the margin stays at least what it was.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn resynchronise<T: Transport>(&mut self, comm: &T) -> Result<(), TransportError> {
        let before = *self;
        *self = Self::measure(comm)?;
        self.margin = self.margin.max(before.margin);
        self.drift = (self.offset - before.offset).abs();
        Ok(())
    }

    /// Bound of the offset's error since the comparison before, s.
    pub fn bound(&self) -> f64 {
        self.uncertainty + self.drift
    }

    /// Returns at one time on all ranks, up to the uncertainty. Every rank calls it.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn meet<T: Transport>(&mut self, comm: &T) -> Result<Start, TransportError> {
        all_here(comm)?;
        let mut start = [comm.now() + self.margin];
        collective::broadcast(comm, 0, &mut start)?;
        let start = start[0] + self.offset;
        let arrived = comm.now();
        if arrived > start {
            return Ok(Start {
                late: arrived - start,
            });
        }
        while comm.now() < start {
            std::hint::spin_loop();
        }
        Ok(Start { late: 0.0 })
    }

    /// Gives slower ranks more time from now on; rank 0's value counts.
    pub fn widen(&mut self) {
        self.margin = (2.0 * self.margin).min(MARGINS.1);
    }
}

/// Rank 0 knows, when this returns there, that every rank is here. A binomial tree of signals.
fn all_here<T: Transport>(comm: &T) -> Result<(), TransportError> {
    let (rank, size) = (comm.rank(), comm.size());
    comm.over(&[], &mut [], |scope| {
        let mut distance = 1;
        while distance < size {
            if rank & distance != 0 {
                return scope.signal(rank - distance, READY);
            }
            if rank + distance < size {
                scope.await_signal(rank + distance, READY)?;
            }
            distance *= 2;
        }
        Ok(())
    })
}

/// Rank 0 asks a rank for its time; returns the shortest round trip.
fn compare<T: Transport>(comm: &T, rank: usize) -> Result<f64, TransportError> {
    let (mut best, mut offset) = (f64::INFINITY, 0.0);
    let mut theirs = [0.0];
    for _ in 0..TRIPS {
        let asked = comm.now();
        comm.over(&[1.0], &mut theirs, |scope| {
            scope.send(SendMode::Standard, rank, CLOCK, 0..1)?;
            scope.recv(rank, CLOCK, 0..1)
        })?;
        let answered = comm.now();
        if answered - asked < best {
            best = answered - asked;
            offset = theirs[0] - 0.5 * (asked + answered);
        }
    }
    comm.over(&[offset, best], &mut [], |scope| {
        scope.send(SendMode::Standard, rank, CLOCK, 0..2)
    })?;
    Ok(best)
}

/// A rank tells rank 0 its time; returns offset and uncertainty.
fn answer<T: Transport>(comm: &T) -> Result<(f64, f64), TransportError> {
    let mut asked = [0.0];
    for _ in 0..TRIPS {
        comm.over(&[], &mut asked, |scope| scope.recv(0, CLOCK, 0..1))?;
        let now = [comm.now()];
        comm.over(&now, &mut [], |scope| {
            scope.send(SendMode::Standard, 0, CLOCK, 0..1)
        })?;
    }
    let mut result = [0.0; 2];
    comm.over(&[], &mut result, |scope| scope.recv(0, CLOCK, 0..2))?;
    Ok((result[0], 0.5 * result[1]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::transport::threads::{ThreadOptions, run};

    #[test]
    fn threads_share_a_clock_and_leave_a_meeting_together() {
        let ends = run(3, ThreadOptions::default(), |comm| {
            let mut clock = CommonClock::measure(&comm)?;
            let mut left = Vec::new();
            for _ in 0..50 {
                let start = clock.meet(&comm)?;
                left.push((comm.now(), start.late > 0.0));
            }
            Ok::<_, TransportError>((clock, left))
        })
        .unwrap();
        for (clock, _) in &ends {
            // Threads have one clock: what is found is the error, and its bound holds.
            assert!(clock.offset.abs() <= clock.uncertainty + 1e-9, "{clock:?}");
        }
        for meeting in 0..50 {
            let on_time = || ends.iter().map(|end| end.1[meeting]).filter(|left| !left.1);
            let latest = on_time()
                .map(|left| left.0)
                .fold(f64::NEG_INFINITY, f64::max);
            for before in
                (0..meeting).filter_map(|m| ends.iter().map(|end| end.1[m].0).reduce(f64::max))
            {
                assert!(
                    on_time().count() == 0 || latest > before,
                    "meetings are in order"
                );
            }
        }
    }
}
