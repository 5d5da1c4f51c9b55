//! A transpose: every rank sends every other a block of its own length.

use super::collective;
use super::plan::Plan;
use super::scratch::Scratch;
use super::unpacking::Unpacking;
use crate::swap::run::{Requests, execute, execute_with};
use crate::swap::schedule::Schedule;
use crate::transport::{Exchange, Transport, TransportError};

/// What transposes cost one rank; accumulates.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Movement {
    /// Seconds in the barriers before the movement.
    pub wait: f64,
    /// Seconds of movement.
    pub moving: f64,
    /// Seconds, not part of these, in which blocks that had come were put in place.
    pub unpacking: f64,
    /// Messages sent to other ranks.
    pub messages: u64,
    /// Bytes sent to other ranks.
    pub bytes: u64,
}

/// A plan with what executes it on a communicator; executing allocates nothing.
pub struct Transpose<T: Transport> {
    plan: Plan,
    requests: Requests,
    scratch: Scratch,
    engine: Option<T::Engine>,
}

impl<T: Transport> Transpose<T> {
    /// Makes a plan ready for a communicator; every rank of it calls this.
    ///
    /// # Errors
    /// A communicator that is not the plan's; an engine that cannot be had here.
    pub fn new(comm: &T, plan: Plan) -> Result<Self, TransportError> {
        same_communicator(comm, &plan)?;
        let prepare = |engine| comm.engine(engine, &plan.pattern());
        Ok(Self {
            // Rounds have one step each.
            requests: plan
                .schedules
                .first()
                .map(Requests::for_schedule)
                .unwrap_or_default(),
            scratch: Scratch::new(&plan.rounds),
            engine: plan.choice.engine.map(prepare).transpose()?,
            plan,
        })
    }

    /// The plan.
    pub fn plan(&self) -> &Plan {
        &self.plan
    }

    /// Whether elements that lie apart are moved as they are.
    pub fn moves_apart(&self) -> bool {
        self.plan.choice.moves_apart()
    }

    /// Bytes of the buffers for blocks that travel through other ranks.
    pub fn bytes(&self) -> usize {
        self.scratch.bytes()
    }

    /// Moves the data; every rank of the communicator calls it. Adds its cost to `movement`.
    ///
    /// # Errors
    /// Buffers or a communicator that are not those of the plan; those of the transport.
    pub fn execute(
        &mut self,
        comm: &T,
        send: &[f64],
        recv: &mut [f64],
        movement: &mut Movement,
    ) -> Result<(), TransportError> {
        same_communicator(comm, &self.plan)?;
        self.check(send.len(), recv.len())?;
        let begin = self.wait_for_all(comm, movement)?;
        let plan = &self.plan;
        if let Some(engine) = &mut self.engine {
            engine.execute(send, recv)?;
        } else {
            let (from, to) = plan.own.clone();
            recv[to].copy_from_slice(&send[from]);
            let (requests, scratch) = (&mut self.requests, &mut self.scratch);
            let mut exchange = |schedule: &Schedule, send: &[f64], recv: &mut [f64]| {
                if schedule.calls.is_empty() {
                    return Ok(());
                }
                comm.over(send, recv, |scope| execute(schedule, scope, requests))
            };
            if plan.choice.passes_on() {
                for (round, schedule) in plan.rounds.rounds.iter().zip(&plan.schedules) {
                    scratch.pack(&round.pack, send);
                    exchange(schedule, &scratch.outgoing, &mut scratch.incoming)?;
                    scratch.unpack(&round.unpack, recv);
                }
            } else {
                for schedule in &plan.schedules {
                    exchange(schedule, send, recv)?;
                }
            }
        }
        movement.moving += comm.now() - begin;
        movement.messages += plan.messages;
        movement.bytes += plan.bytes;
        Ok(())
    }

    /// Whether blocks can be put in place one by one, while others are on their way.
    pub fn unpacks_on_arrival(&self) -> bool {
        let choice = &self.plan.choice;
        choice.engine.is_none() && !choice.passes_on() && choice.overlap
    }

    /// As [`execute`](Self::execute), and puts every block in place as soon as it has come:
    /// `unpack(rank, block)` is called once for every block with elements, the own one first, which
    /// is read where it is sent from. Only where [`unpacks_on_arrival`](Self::unpacks_on_arrival).
    ///
    /// # Errors
    /// As [`execute`](Self::execute).
    pub fn execute_unpacking(
        &mut self,
        comm: &T,
        send: &[f64],
        recv: &mut [f64],
        movement: &mut Movement,
        unpack: impl FnMut(usize, &[f64]),
    ) -> Result<(), TransportError> {
        debug_assert!(self.unpacks_on_arrival());
        same_communicator(comm, &self.plan)?;
        self.check(send.len(), recv.len())?;
        let begin = self.wait_for_all(comm, movement)?;
        let (plan, requests) = (&self.plan, &mut self.requests);
        let mut unpacking = Unpacking::new(comm, &send[plan.own.0.clone()], unpack);
        comm.over(send, recv, |scope| {
            for schedule in &plan.schedules {
                execute_with(schedule, scope, requests, &mut unpacking)?;
            }
            unpacking.finish(scope)
        })?;
        movement.unpacking += unpacking.seconds;
        movement.moving += comm.now() - begin - unpacking.seconds;
        movement.messages += plan.messages;
        movement.bytes += plan.bytes;
        Ok(())
    }

    /// The barrier before the movement, where one is asked for; when the movement begins.
    fn wait_for_all(&self, comm: &T, movement: &mut Movement) -> Result<f64, TransportError> {
        let begin = comm.now();
        if !self.plan.choice.barrier {
            return Ok(begin);
        }
        collective::barrier(comm)?;
        let end = comm.now();
        movement.wait += end - begin;
        Ok(end)
    }

    fn check(&self, send: usize, recv: usize) -> Result<(), TransportError> {
        let lengths = [
            ("send", self.plan.send_len, send),
            ("receive", self.plan.recv_len, recv),
        ];
        for (buffer, expected, found) in lengths {
            if expected != found {
                return Err(TransportError::BufferLength {
                    rank: self.plan.rank,
                    buffer,
                    expected,
                    found,
                });
            }
        }
        Ok(())
    }
}

fn same_communicator<T: Transport>(comm: &T, plan: &Plan) -> Result<(), TransportError> {
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
