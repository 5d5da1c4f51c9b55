//! Ranks as MPI processes. The only file that names the crate `mpi`.
//!
//! The crate starts and ends MPI; messages go through its raw bindings, because its safe calls drop
//! return codes. Every return code is checked: the communicators return errors instead of aborting.
//! Signals travel on a duplicate communicator, which is their own space of tags, and engines on
//! another. Messages longer than an MPI count are refused.

#![allow(unsafe_code)]

mod engine;
mod handles;
mod scope;
mod sum;
mod watch;

use std::cell::{OnceCell, RefCell};
use std::ffi::c_int;
use std::rc::Rc;
use std::time::Duration;

use mpi::datatype::Equivalence;
use mpi::environment::{Threading, Universe};
use mpi::ffi;
use mpi::raw::AsRaw;
use mpi::topology::Communicator;

use super::{EngineKind, Pattern, Transport, TransportError};
pub use engine::MpiEngine;
use handles::Comm;
pub use scope::MpiScope;
use scope::Slots;

/// MPI, from its start to the end of the program.
pub struct MpiJob {
    universe: Universe,
}

impl MpiJob {
    /// Starts MPI; `None` if it was started before.
    pub fn start() -> Option<Self> {
        // As MPI_Init does, and the models whose messages these are. The watchdog's thread makes no
        // MPI call; with the next level Open MPI locks in every call, 0.1 us a swap.
        let (universe, _) = mpi::initialize_with_threading(Threading::Single)?;
        Some(Self { universe })
    }

    /// This rank of the job and their number.
    pub fn rank_and_size(&self) -> (usize, usize) {
        let world = self.universe.world();
        (world.rank() as usize, world.size() as usize)
    }

    /// A transport over all ranks. Every rank calls it.
    ///
    /// # Errors
    /// The library refused to make a communicator.
    pub fn world(&self) -> Result<MpiTransport, TransportError> {
        MpiTransport::over_communicator(&self.universe.world())
    }

    /// Ends the job when one call of this rank waits for more than `seconds`; 0: never.
    ///
    /// The rank writes what it waits for as one line to standard error and, a second later, ends
    /// itself with code 1: by then the other ranks have written theirs, so that the lines together
    /// tell who waits for whom. The waits are those of scopes and of engines. The end of MPI is
    /// none: ranks that have nothing more to do may wait there for the others as long as it takes.
    pub fn watch(&self, seconds: f64) {
        watch::watch(self.rank_and_size().0, seconds);
    }
}

/// What the library says it is, in one line. May be asked before MPI starts.
pub fn library() -> String {
    let version = mpi::environment::library_version().unwrap_or_default();
    let line = version.lines().next().unwrap_or_default();
    line.trim_matches(char::from(0)).trim().to_owned()
}

/// The version of the MPI standard that the library implements; may be asked before MPI starts.
pub fn standard() -> (i32, i32) {
    mpi::environment::version()
}

/// Ends the whole job at once: MPI would otherwise wait for ever for a rank that failed.
pub fn abort_job(code: i32) {
    // Launchers drop what they have not read yet when a job is aborted.
    std::thread::sleep(Duration::from_millis(100));
    // SAFETY: MPI_Abort may be called at any time between start and end of MPI.
    unsafe {
        ffi::MPI_Abort(ffi::RSMPI_COMM_WORLD, code);
    }
}

/// Ends the job because of messages under way into buffers that are about to be given back: MPI
/// cannot cancel sends reliably. Says why, since nobody else will be able to.
fn end_job(rank: usize, cause: Option<&TransportError>) {
    use std::io::Write;
    let line = match cause {
        Some(error) => format!("pstswm: {error}\n"),
        None => format!("pstswm: rank {rank}: failed in the middle of an exchange\n"),
    };
    // Standard error may be closed; the job ends all the same.
    let _ = std::io::stderr().write_all(line.as_bytes());
    abort_job(1);
}

/// One rank's end of an MPI communicator.
pub struct MpiTransport {
    rank: usize,
    /// Every rank of the communicator as a rank of the job.
    members: Rc<[usize]>,
    data: Comm,
    signals: Comm,
    /// Made with the first engine.
    engines: OnceCell<Rc<Comm>>,
    slots: RefCell<Slots>,
}

impl MpiTransport {
    /// A transport over the ranks of any communicator of the crate `mpi`, for library users. Every
    /// rank of it calls this. It is duplicated: messages of the two never mix.
    ///
    /// # Errors
    /// The library refused to duplicate it.
    pub fn over_communicator(comm: &impl Communicator) -> Result<Self, TransportError> {
        Self::over_raw(comm.as_raw())
    }

    fn over_raw(comm: ffi::MPI_Comm) -> Result<Self, TransportError> {
        let data = Comm::duplicate(comm)?;
        let signals = Comm::duplicate(comm)?;
        Ok(Self {
            rank: data.rank()?,
            members: data.members()?,
            data,
            signals,
            engines: OnceCell::new(),
            slots: RefCell::default(),
        })
    }

    /// This rank in the whole job.
    fn job_rank(&self) -> usize {
        self.members[self.rank]
    }

    /// The communicator of the engines. Every rank asks for it at the same point.
    fn engines(&self) -> Result<Rc<Comm>, TransportError> {
        if let Some(comm) = self.engines.get() {
            return Ok(Rc::clone(comm));
        }
        let comm = Rc::new(Comm::duplicate(self.data.raw())?);
        Ok(Rc::clone(self.engines.get_or_init(|| comm)))
    }
}

impl Transport for MpiTransport {
    type Scope<'a> = MpiScope<'a>;
    type Engine = MpiEngine;

    const NAME: &'static str = "mpi";

    fn library(&self) -> Option<String> {
        Some(library())
    }

    fn rank(&self) -> usize {
        self.rank
    }

    fn size(&self) -> usize {
        self.members.len()
    }

    fn now(&self) -> f64 {
        mpi::time()
    }

    fn split(&self, color: usize, key: usize) -> Result<Self, TransportError> {
        let value = |value: usize| {
            c_int::try_from(value).map_err(|_| TransportError::Library {
                rank: self.job_rank(),
                call: "MPI_Comm_split",
                message: format!("colour or key {value} is above {}", c_int::MAX),
            })
        };
        let part = self.data.split(value(color)?, value(key)?)?;
        Self::over_raw(part.raw())
    }

    fn lacks(engine: EngineKind) -> Option<String> {
        engine::lacks(engine)
    }

    fn engine(&self, engine: EngineKind, pattern: &Pattern) -> Result<MpiEngine, TransportError> {
        MpiEngine::new(self, engine, pattern)
    }

    fn allreduce_sum(
        &self,
        values: &[f64],
        total: &mut [f64],
    ) -> Option<Result<bool, TransportError>> {
        Some(sum::allreduce(self, values, total))
    }

    #[inline]
    fn over<R>(
        &self,
        send: &[f64],
        recv: &mut [f64],
        body: impl FnOnce(&mut Self::Scope<'_>) -> Result<R, TransportError>,
    ) -> Result<R, TransportError> {
        let slots = self
            .slots
            .try_borrow_mut()
            .map_err(|_| TransportError::Nested {
                rank: self.job_rank(),
            })?;
        let mut scope = MpiScope::new(self, send, recv, slots);
        scope.run(body)
    }
}

#[inline]
fn f64_type() -> ffi::MPI_Datatype {
    f64::equivalent_datatype().as_raw()
}

fn i64_type() -> ffi::MPI_Datatype {
    i64::equivalent_datatype().as_raw()
}

fn u64_type() -> ffi::MPI_Datatype {
    u64::equivalent_datatype().as_raw()
}

/// An error unless the call succeeded.
#[inline]
fn checked(code: c_int, call: &'static str, rank: usize) -> Result<(), TransportError> {
    if code == ffi::MPI_SUCCESS as c_int {
        return Ok(());
    }
    Err(refused(code, call, rank))
}

#[cold]
fn refused(code: c_int, call: &'static str, rank: usize) -> TransportError {
    let mut text = [0u8; ffi::MPI_MAX_ERROR_STRING as usize + 1];
    let mut length = 0;
    // SAFETY: the buffer has the size that MPI asks for.
    unsafe {
        ffi::MPI_Error_string(code, text.as_mut_ptr().cast(), &mut length);
    }
    let length = (length.max(0) as usize).min(text.len());
    let message = String::from_utf8_lossy(&text[..length]).trim().to_owned();
    TransportError::Library {
        rank,
        call,
        message,
    }
}

fn error_class(code: c_int) -> c_int {
    let mut class = 0;
    // SAFETY: any code may be asked about.
    unsafe {
        ffi::MPI_Error_class(code, &mut class);
    }
    class
}

fn is_truncated(code: c_int) -> bool {
    code != ffi::MPI_SUCCESS as c_int && error_class(code) == ffi::MPI_ERR_TRUNCATE as c_int
}

/// A number of elements as MPI counts them.
fn count(elements: usize, rank: usize) -> Result<c_int, TransportError> {
    c_int::try_from(elements).map_err(|_| TransportError::CountTooLarge { rank, elements })
}
