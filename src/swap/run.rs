//! The interpreter: executes calls on any transport.

use super::call::{Call, Leg};
use super::schedule::Schedule;
use crate::transport::{Request, Scope, TransportError};

/// The requests of an exchange, by step; kept between exchanges so that none allocates.
#[derive(Clone, Debug, Default)]
pub struct Requests {
    receives: Vec<Option<Request>>,
    sends: Vec<Option<Request>>,
}

impl Requests {
    /// Room for the requests of a schedule.
    pub fn for_schedule(schedule: &Schedule) -> Self {
        Self {
            receives: vec![None; schedule.steps],
            sends: vec![None; schedule.steps],
        }
    }
}

/// Makes the calls of a schedule, one after the other. `rank` is this rank, for errors.
///
/// # Errors
/// Those of the transport; a message shorter than the schedule says.
#[inline]
pub fn execute<S: Scope>(
    schedule: &Schedule,
    rank: usize,
    scope: &mut S,
    requests: &mut Requests,
) -> Result<(), TransportError> {
    scope.label(schedule.label);
    execute_calls(&schedule.calls, rank, scope, requests)
}

/// Makes some calls of a schedule, so that other work can be put between its stages. Each call of
/// the schedule is made once, in order, and those of a step inside one
/// [`over`](crate::transport::Transport::over).
///
/// # Errors
/// As [`execute`].
#[inline]
pub fn execute_calls<S: Scope>(
    calls: &[Call],
    rank: usize,
    scope: &mut S,
    requests: &mut Requests,
) -> Result<(), TransportError> {
    let Requests { receives, sends } = requests;
    for call in calls {
        match *call {
            Call::PostReceive { leg, step } => {
                receives[step] = Some(scope.irecv(leg.peer, leg.tag, leg.range())?);
            }
            Call::Receive { leg } => {
                let count = scope.recv(leg.peer, leg.tag, leg.range())?;
                check(rank, &leg, count)?;
            }
            Call::WaitReceive { leg, step } => {
                let Some(request) = receives[step].take() else {
                    return Err(TransportError::NoSuchRequest { rank });
                };
                check(rank, &leg, scope.wait(request)?)?;
            }
            Call::Send { mode, leg } => scope.send(mode, leg.peer, leg.tag, leg.range())?,
            Call::PostSend { mode, leg, step } => {
                sends[step] = Some(scope.isend(mode, leg.peer, leg.tag, leg.range())?);
            }
            Call::WaitSend { step, .. } => {
                let Some(request) = sends[step].take() else {
                    return Err(TransportError::NoSuchRequest { rank });
                };
                scope.wait(request)?;
            }
            Call::SendReceive { send, recv } => {
                let to = (send.peer, send.tag, send.range());
                let count = scope.sendrecv(to, (recv.peer, recv.tag, recv.range()))?;
                check(rank, &recv, count)?;
            }
            Call::Signal { to, tag } => scope.signal(to, tag)?,
            Call::AwaitSignal { from, tag } => scope.await_signal(from, tag)?,
        }
    }
    Ok(())
}

#[inline]
fn check(rank: usize, leg: &Leg, count: usize) -> Result<(), TransportError> {
    if count == leg.len {
        return Ok(());
    }
    Err(TransportError::Short {
        rank,
        from: leg.peer,
        tag: leg.tag,
        message: count,
        expected: leg.len,
    })
}
