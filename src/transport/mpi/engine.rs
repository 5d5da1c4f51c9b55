//! Engines over MPI: a pattern is agreed upon by the ranks, prepared once, and moved as a whole.
//!
//! All messages of engines travel on one duplicate of the communicator, apart from those of scopes.
//! What the library refuses in the middle of an exchange ends the job with a word, because data may
//! be under way between the caller's buffers.

mod collective;
mod partitioned;
mod persistent;
mod plan;
mod put;
mod shared;
mod typed;

use std::rc::Rc;
use std::sync::LazyLock;

use super::handles::Comm;
use super::watch;
use super::{MpiTransport, end_job, library, standard};
use crate::transport::{EngineKind, Exchange, Label, Pattern, TransportError};
use collective::Collective;
use partitioned::Partitioned;
use persistent::PersistentMessages;
use plan::Plan;
use put::Put;
use shared::SharedWindow;
use typed::Typed;

/// An exchange prepared by an engine.
pub struct MpiEngine {
    moves: Moves,
    plan: Plan,
    kind: EngineKind,
    /// Goes last: windows and graphs are made from it.
    _comm: Rc<Comm>,
}

/// What moves it.
enum Moves {
    Collective(Collective),
    Typed(Typed),
    Persistent(PersistentMessages),
    Put(Put),
    Shared(SharedWindow),
    Partitioned(Partitioned),
}

/// The two buffers of an exchange, as long as the plan needs; they do not overlap.
#[derive(Clone, Copy)]
struct Buffers {
    send: *const f64,
    recv: *mut f64,
}

/// Why the library cannot do it. May be asked before MPI starts.
pub(super) fn lacks(kind: EngineKind) -> Option<String> {
    if kind != EngineKind::Partitioned || partitioned::Calls::find().is_some() {
        return None;
    }
    let library = library();
    let name = library.split(',').next().unwrap_or_default();
    let (version, subversion) = standard();
    Some(format!(
        "{name} implements MPI {version}.{subversion}; partitioned messages need MPI 4"
    ))
}

/// What exchanges by an engine are called in reports.
fn label(kind: EngineKind) -> &'static Label {
    static LABELS: LazyLock<[Label; EngineKind::ALL.len()]> =
        LazyLock::new(|| EngineKind::ALL.map(|kind| Label(format!("engine {}", kind.name()))));
    &LABELS[kind as usize]
}

impl MpiEngine {
    /// Prepares an exchange. Every rank of the communicator calls it.
    pub(super) fn new(
        transport: &MpiTransport,
        kind: EngineKind,
        pattern: &Pattern,
    ) -> Result<Self, TransportError> {
        if let Some(reason) = lacks(kind) {
            return Err(TransportError::NoEngine {
                engine: kind.name(),
                reason,
            });
        }
        watch::label(Some(label(kind)));
        let comm = transport.engines()?;
        let plan = Plan::agree(&comm, &transport.members, kind, pattern)?;
        let moves = match kind {
            EngineKind::Alltoallv | EngineKind::Ialltoallv | EngineKind::Neighbour => {
                Moves::Collective(Collective::new(&comm, kind, &plan)?)
            }
            EngineKind::Alltoallw => Moves::Typed(Typed::new(&comm, pattern)?),
            EngineKind::Persistent => Moves::Persistent(PersistentMessages::new(&comm, &plan)),
            EngineKind::PutFence => Moves::Put(Put::fence(&comm, &plan)?),
            EngineKind::PutPscw => Moves::Put(Put::pscw(&comm, &plan)?),
            EngineKind::SharedWindow => Moves::Shared(SharedWindow::new(&comm, &plan)?),
            EngineKind::Partitioned => Moves::Partitioned(Partitioned::new(&comm, &plan)?),
        };
        Ok(Self {
            moves,
            plan,
            kind,
            _comm: comm,
        })
    }
}

impl Exchange for MpiEngine {
    fn execute(&mut self, send: &[f64], recv: &mut [f64]) -> Result<(), TransportError> {
        let plan = &self.plan;
        for (buffer, len, needed) in [
            ("send", send.len(), plan.send_len),
            ("receive", recv.len(), plan.recv_len),
        ] {
            if len < needed {
                return Err(TransportError::OutOfRange {
                    rank: plan.job_rank(),
                    buffer,
                    start: 0,
                    end: needed,
                    len,
                });
            }
        }
        let buffers = Buffers {
            send: send.as_ptr(),
            recv: recv.as_mut_ptr(),
        };
        watch::label(Some(label(self.kind)));
        // SAFETY: the buffers are as long as the plan needs, borrowed until the exchange is over,
        // and what fails in the middle ends the job.
        let result = unsafe {
            match &mut self.moves {
                Moves::Collective(moves) => moves.execute(plan, buffers),
                Moves::Typed(moves) => moves.execute(plan, buffers),
                Moves::Persistent(moves) => moves.execute(plan, buffers),
                Moves::Put(moves) => moves.execute(plan, buffers),
                Moves::Shared(moves) => moves.execute(plan, buffers),
                Moves::Partitioned(moves) => moves.execute(plan, buffers),
            }
        };
        if let Err(error) = &result {
            end_job(plan.job_rank(), Some(error));
        }
        result
    }
}
