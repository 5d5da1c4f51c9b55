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

/// What a rank does between its calls.
pub trait Local<S: Scope> {
    /// Comes before every call that waits for a message.
    ///
    /// # Errors
    /// Those of the transport.
    fn before_wait(&mut self, scope: &S) -> Result<(), TransportError>;

    /// A message has arrived.
    fn arrived(&mut self, leg: &Leg);
}

/// Nothing between the calls.
struct Idle;

impl<S: Scope> Local<S> for Idle {
    #[inline]
    fn before_wait(&mut self, _: &S) -> Result<(), TransportError> {
        Ok(())
    }

    #[inline]
    fn arrived(&mut self, _: &Leg) {}
}

/// Makes the calls of a schedule, one after the other.
///
/// # Errors
/// Those of the transport; a message shorter than the schedule says.
#[inline]
pub fn execute<S: Scope>(
    schedule: &Schedule,
    scope: &mut S,
    requests: &mut Requests,
) -> Result<(), TransportError> {
    execute_with(schedule, scope, requests, &mut Idle)
}

/// As [`execute`], with work between the calls.
///
/// # Errors
/// As [`execute`]; those of the work.
#[inline]
pub fn execute_with<S: Scope>(
    schedule: &Schedule,
    scope: &mut S,
    requests: &mut Requests,
    local: &mut impl Local<S>,
) -> Result<(), TransportError> {
    scope.label(schedule.label);
    make(&schedule.calls, scope, requests, local)
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
    scope: &mut S,
    requests: &mut Requests,
) -> Result<(), TransportError> {
    make(calls, scope, requests, &mut Idle)
}

#[inline]
fn make<S: Scope>(
    calls: &[Call],
    scope: &mut S,
    requests: &mut Requests,
    local: &mut impl Local<S>,
) -> Result<(), TransportError> {
    let Requests { receives, sends } = requests;
    for call in calls {
        match *call {
            Call::PostReceive { leg, step } => {
                receives[step] = Some(scope.irecv(leg.peer, leg.tag, leg.range())?);
            }
            Call::Receive { leg } => {
                local.before_wait(scope)?;
                let count = scope.recv(leg.peer, leg.tag, leg.range())?;
                check(scope, &leg, count)?;
                local.arrived(&leg);
            }
            Call::WaitReceive { leg, step } => {
                let Some(request) = receives[step].take() else {
                    return Err(unknown(scope));
                };
                local.before_wait(scope)?;
                let count = scope.wait(request)?;
                check(scope, &leg, count)?;
                local.arrived(&leg);
            }
            Call::Send { mode, leg } => scope.send(mode, leg.peer, leg.tag, leg.range())?,
            Call::PostSend { mode, leg, step } => {
                sends[step] = Some(scope.isend(mode, leg.peer, leg.tag, leg.range())?);
            }
            Call::WaitSend { step, .. } => {
                let Some(request) = sends[step].take() else {
                    return Err(unknown(scope));
                };
                scope.wait(request)?;
            }
            Call::SendReceive { send, recv } => {
                local.before_wait(scope)?;
                let to = (send.peer, send.tag, send.range());
                let count = scope.sendrecv(to, (recv.peer, recv.tag, recv.range()))?;
                check(scope, &recv, count)?;
                local.arrived(&recv);
            }
            Call::Signal { to, tag } => scope.signal(to, tag)?,
            Call::AwaitSignal { from, tag } => scope.await_signal(from, tag)?,
        }
    }
    Ok(())
}

#[inline]
fn check<S: Scope>(scope: &S, leg: &Leg, count: usize) -> Result<(), TransportError> {
    if count == leg.len {
        return Ok(());
    }
    Err(TransportError::Short {
        rank: scope.job_rank(None),
        from: scope.job_rank(Some(leg.peer)),
        tag: leg.tag,
        message: count,
        expected: leg.len,
    })
}

#[cold]
fn unknown<S: Scope>(scope: &S) -> TransportError {
    TransportError::NoSuchRequest {
        rank: scope.job_rank(None),
    }
}
