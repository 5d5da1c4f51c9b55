//! One swap of two buffers with a partner, during which the caller may work.

use crate::swap::call::Leg;
use crate::swap::error::PlanError;
use crate::swap::method::Method;
use crate::swap::run::{Requests, execute_calls};
use crate::swap::schedule::Schedule;
use crate::swap::step::{Kind, Role, Stage, Step};
use crate::transport::{COLLECTIVE_TAGS, Scope, Tag, Transport, TransportError};

/// A swap, ready to be executed again and again.
#[derive(Debug)]
pub struct PairSwap {
    schedule: Schedule,
    /// Where the finish stage begins.
    finish: usize,
    requests: Requests,
    /// Messages sent: one, or none when there is nothing to send.
    pub messages: u64,
    /// Bytes sent.
    pub bytes: u64,
}

impl PairSwap {
    /// The swap in which `rank` sends `send` elements to `partner` and receives `receive` from it,
    /// in step `step` of whatever it belongs to. Nothing is sent where there is nothing to send.
    ///
    /// # Errors
    /// An order and protocol that need buffering.
    pub fn new(
        (rank, partner): (usize, usize),
        step: usize,
        (send, receive): (usize, usize),
        method: &Method,
    ) -> Result<Self, PlanError> {
        let leg = |len: usize| {
            (len > 0).then_some(Leg {
                peer: partner,
                tag: step as Tag % COLLECTIVE_TAGS,
                start: 0,
                len,
            })
        };
        let step = Step {
            kind: Kind::Swap,
            role: if rank < partner {
                Role::First
            } else {
                Role::Second
            },
            send: leg(send),
            recv: leg(receive),
        };
        let (schedule, stages) = Schedule::one_by_one(method, &[step])?;
        let exchange = |stages: &[std::ops::Range<usize>; 3]| stages[Stage::Exchange as usize].end;
        Ok(Self {
            finish: stages.first().map_or(0, exchange),
            requests: Requests::for_schedule(&schedule),
            schedule,
            messages: u64::from(send > 0),
            bytes: (send * size_of::<f64>()) as u64,
        })
    }

    /// Swaps; `work` is done between the exchange and the finish stage, while in order `delayed`
    /// the messages travel.
    ///
    /// # Errors
    /// Those of the transport.
    pub fn execute<T: Transport>(
        &mut self,
        comm: &T,
        send: &[f64],
        recv: &mut [f64],
        work: impl FnOnce(),
    ) -> Result<(), TransportError> {
        let Self {
            schedule, requests, ..
        } = self;
        let (before, after) = schedule.calls.split_at(self.finish);
        comm.over(send, recv, |scope| {
            scope.label(schedule.label);
            execute_calls(before, scope, requests)?;
            work();
            execute_calls(after, scope, requests)
        })
    }
}
