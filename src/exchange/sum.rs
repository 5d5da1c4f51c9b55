//! Vector sums: every rank has a vector of the same length, and every rank gets the sum of all, with
//! the same bits on every rank (but for the payloads of NaNs).
//!
//! An element is added up in an order that follows from the algorithm, the number of ranks and the
//! segment the element is in; neither protocol, timing nor transport changes it. With x_r the value
//! of rank r of P:
//!
//! - `exchange`, `halving`: with 2^k the largest power of two that is not above P, first
//!   y_r = x_r + x_(r + 2^k) where there is such a rank, otherwise y_r = x_r; then neighbours in
//!   pairs, neighbouring pairs, ...: ((y_0 + y_1) + (y_2 + y_3)) + ((y_4 + y_5) + (y_6 + y_7)).
//!   The two give the same bits.
//! - `ring`, `pipelined-ring`: a chain round the ring to the rank of the segment; in segment s
//!   ((x_(s+1) + x_(s+2)) + ... + x_(s-1)) + x_s, indices modulo P. The two give the same bits.
//! - `native`: whatever the library does. Between threads the binomial tree of
//!   [`reduce`](super::collective::reduce), whatever P: ((x_0 + x_1) + (x_2 + x_3)) + (x_4 + x_5).
//!
//! Two numbers add up to the same bits in either order, so it is of no importance which of the two
//! is a rank's own.

pub mod choice;
pub mod plan;
pub mod steps;

use std::ops::Range;

pub use choice::{SumAlgorithm, SumChoice};
pub use plan::SumPlan;

use super::Movement;
use super::collective;
use crate::swap::call::Leg;
use crate::swap::run::{Requests, execute_calls};
use crate::swap::step::Stage;
use crate::transport::{Scope, Transport, TransportError};
use steps::Arrival;

/// A plan with what executes it on a communicator; executing allocates nothing.
pub struct VectorSum {
    plan: SumPlan,
    requests: Requests,
    /// Partial sums that arrive; the local values of a native sum.
    room: Vec<f64>,
    disagreements: u64,
}

impl VectorSum {
    /// Makes a plan ready for a communicator.
    ///
    /// # Errors
    /// A communicator that is not the plan's.
    pub fn new<T: Transport>(comm: &T, plan: SumPlan) -> Result<Self, TransportError> {
        same_communicator(comm, &plan)?;
        Ok(Self {
            requests: Requests::for_schedule(&plan.schedule),
            room: vec![0.0; plan.room()],
            plan,
            disagreements: 0,
        })
    }

    /// The plan.
    pub fn plan(&self) -> &SumPlan {
        &self.plan
    }

    /// Native sums after which the ranks did not have the same bits, so that rank 0 gave its own to
    /// all. The same on every rank.
    pub fn disagreements(&self) -> u64 {
        self.disagreements
    }

    /// Adds up; every rank of the communicator calls it. Afterwards `total`, as long as the vector,
    /// holds the sum over all ranks. Returns the seconds spent in `local`.
    ///
    /// `local(s, values)` stores this rank's values of segment s, all of them: what `values` held
    /// before is unspecified. It is called once for each segment, also for those without elements:
    /// in order and before anything moves, but with `pipelined-ring` from the segment below this
    /// rank's downwards, each but the first during the step that brings its partial sum.
    ///
    /// Adds the cost to `movement`: messages, additions included, but without the time in `local`.
    ///
    /// # Errors
    /// A vector or a communicator that are not those of the plan; those of the transport.
    pub fn execute<T: Transport>(
        &mut self,
        comm: &T,
        mut local: impl FnMut(usize, &mut [f64]),
        total: &mut [f64],
        movement: &mut Movement,
    ) -> Result<f64, TransportError> {
        same_communicator(comm, &self.plan)?;
        self.check(total.len())?;
        let mut begin = comm.now();
        let native = self.plan.is_native();
        let values = if native { &mut self.room } else { &mut *total };
        for segment in self.plan.first.clone() {
            local(segment, &mut values[self.plan.segment(segment)]);
        }
        let mut end = comm.now();
        let mut computing = end - begin;
        begin = end;
        if self.plan.choice.barrier {
            collective::barrier(comm)?;
            end = comm.now();
            movement.wait += end - begin;
            begin = end;
        }
        let mut meanwhile = 0.0;
        if native {
            self.native(comm, total)?;
        } else {
            meanwhile = self.steps(comm, &mut local, total)?;
        }
        movement.moving += comm.now() - begin - meanwhile;
        movement.messages += self.plan.messages;
        movement.bytes += self.plan.bytes;
        computing += meanwhile;
        Ok(computing)
    }

    /// Makes the steps; returns the seconds spent in `local`.
    fn steps<T: Transport>(
        &mut self,
        comm: &T,
        local: &mut impl FnMut(usize, &mut [f64]),
        total: &mut [f64],
    ) -> Result<f64, TransportError> {
        let (plan, requests) = (&self.plan, &mut self.requests);
        let label = plan.schedule.label;
        let after = plan.local_after();
        let mut computing = 0.0;
        for (step, stages) in plan.steps.iter().zip(&plan.stages) {
            let elements = |leg: Option<Leg>| leg.map_or(0..0, |leg| leg.range());
            let (given, taken) = (elements(step.send), elements(step.recv));
            let own = step.local.map_or(0..0, |segment| plan.segment(segment));
            let (send, recv, values) = match step.arrival {
                Arrival::Placed => {
                    let (send, placed) = apart(total, given, taken.clone());
                    (send, placed, &mut [][..])
                }
                Arrival::Added => {
                    let (send, values) = apart(total, given, own);
                    (send, &mut self.room[..taken.len()], values)
                }
            };
            let mut compute = || {
                if let Some(segment) = step.local {
                    let begin = comm.now();
                    local(segment, values);
                    computing += comm.now() - begin;
                }
            };
            let [start, exchange, finish] = stages.clone();
            let split = if after == Stage::Start {
                start.end
            } else {
                exchange.end
            };
            let calls = &plan.schedule.calls;
            if start.start == finish.end {
                compute();
                continue;
            }
            comm.over(send, recv, |scope| {
                scope.label(label);
                execute_calls(&calls[start.start..split], scope, requests)?;
                compute();
                execute_calls(&calls[split..finish.end], scope, requests)
            })?;
            if step.arrival == Arrival::Added {
                add(&mut total[taken.clone()], &self.room[..taken.len()]);
            }
        }
        Ok(computing)
    }

    /// Adds up the local values in `room` by the library, between threads by a tree.
    fn native<T: Transport>(&mut self, comm: &T, total: &mut [f64]) -> Result<(), TransportError> {
        match comm.allreduce_sum(&self.room, total) {
            Some(same) => {
                if !same? {
                    self.disagreements += 1;
                    collective::broadcast(comm, 0, total)?;
                }
                Ok(())
            }
            None => {
                total.copy_from_slice(&self.room);
                collective::allreduce_with(comm, total, &mut self.room, add)
            }
        }
    }

    fn check(&self, found: usize) -> Result<(), TransportError> {
        if found == self.plan.len() {
            return Ok(());
        }
        Err(TransportError::BufferLength {
            rank: self.plan.rank,
            buffer: "total",
            expected: self.plan.len(),
            found,
        })
    }
}

fn add(total: &mut [f64], part: &[f64]) {
    for (total, part) in total.iter_mut().zip(part) {
        *total += part;
    }
}

/// Two ranges that do not overlap, one to read and one to write; either may be empty.
fn apart(values: &mut [f64], read: Range<usize>, write: Range<usize>) -> (&[f64], &mut [f64]) {
    if read.is_empty() {
        return (&[], &mut values[write]);
    }
    if write.is_empty() {
        return (&values[read], &mut []);
    }
    if read.end <= write.start {
        let (low, high) = values.split_at_mut(write.start);
        (&low[read], &mut high[..write.len()])
    } else {
        let (low, high) = values.split_at_mut(read.start);
        (&high[..read.len()], &mut low[write])
    }
}

fn same_communicator<T: Transport>(comm: &T, plan: &SumPlan) -> Result<(), TransportError> {
    if (comm.rank(), comm.size()) == (plan.rank, plan.size) {
        return Ok(());
    }
    Err(TransportError::WrongCommunicator {
        plan_rank: plan.rank,
        plan_size: plan.size,
        rank: comm.rank(),
        size: comm.size(),
    })
}
