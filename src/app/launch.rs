//! Which ranks there are: a launcher whose ranks would each believe they are alone is refused.

#[cfg(feature = "mpi")]
use std::io::Write;

#[cfg(feature = "mpi")]
use super::session::Program;
use crate::error::{Error, Result};
#[cfg(feature = "mpi")]
use crate::transport::mpi::{self, MpiJob, MpiTransport};
use crate::transport::threads::ThreadTransport;
use crate::transport::{EngineKind, Transport};

/// Launchers tell the number of ranks of the step in these variables. `SLURM_NTASKS` is not among
/// them: it is also set in a job script that starts one process.
const LAUNCHERS: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"),
    ("PMI_SIZE", "MPICH's mpiexec (or another PMI launcher)"),
    ("SLURM_STEP_NUM_TASKS", "srun"),
];

/// The ranks of this start of the program.
pub enum Job {
    /// Threads of this process.
    Threads,
    /// Processes under MPI.
    #[cfg(feature = "mpi")]
    Mpi(MpiJob),
}

impl Job {
    /// Finds out how the program was started, and starts MPI where it is wanted.
    ///
    /// # Errors
    /// A transport or a launcher that this build cannot serve.
    pub fn start(transport: Option<&str>) -> Result<Self> {
        let launched = launched(|name| std::env::var(name).ok());
        Self::of(transport, launched)
    }

    #[cfg(not(feature = "mpi"))]
    fn of(transport: Option<&str>, launched: Option<(u64, &str)>) -> Result<Self> {
        if transport == Some("mpi") {
            return Err(Error::Input(
                "--transport mpi: this build has no MPI; build with --features mpi, or use \
                 --ranks N (ranks as threads)"
                    .to_owned(),
            ));
        }
        match launched {
            Some((ranks, launcher)) => Err(Error::Input(format!(
                "started by {launcher} with {ranks} ranks, but this build has no MPI, so each of \
                 them would run the whole problem alone; build with --features mpi, or start it \
                 without the launcher as pstswm ... --ranks {ranks}"
            ))),
            None => Ok(Self::Threads),
        }
    }

    #[cfg(feature = "mpi")]
    fn of(transport: Option<&str>, launched: Option<(u64, &str)>) -> Result<Self> {
        match (transport, launched) {
            (Some("threads"), Some((ranks, launcher))) => Err(Error::Input(format!(
                "--transport threads: started by {launcher} with {ranks} ranks, each of which \
                 would run the whole problem; start it without the launcher"
            ))),
            (Some("threads") | None, None) => Ok(Self::Threads),
            (_, launched) => {
                let job = MpiJob::start()
                    .ok_or_else(|| Error::Failed("MPI could not be started".to_owned()))?;
                let (rank, size) = job.rank_and_size();
                if let Some((ranks, launcher)) = launched
                    && ranks != size as u64
                {
                    return Err(Error::Input(format!(
                        "started by {launcher} with {ranks} ranks, but the MPI of this build ({}) \
                         sees {size}: use the launcher of that library, or build with this one's \
                         compiler (MPICC=... cargo build --features mpi, own target folder)",
                        mpi::library()
                    )));
                }
                std::panic::set_hook(Box::new(move |panic| {
                    let _ = writeln!(std::io::stderr(), "pstswm: rank {rank} panicked: {panic}");
                    mpi::abort_job(1);
                }));
                Ok(Self::Mpi(job))
            }
        }
    }

    /// Whether rank 0 is in this process.
    pub fn is_root(&self) -> bool {
        match self {
            Self::Threads => true,
            #[cfg(feature = "mpi")]
            Self::Mpi(job) => job.rank_and_size().0 == 0,
        }
    }

    /// The number of ranks, given what `--ranks` asks for.
    ///
    /// # Errors
    /// Another number than that of the launcher.
    pub fn ranks(&self, asked: Option<u32>) -> Result<usize> {
        match self {
            Self::Threads => Ok(asked.unwrap_or(1) as usize),
            #[cfg(feature = "mpi")]
            Self::Mpi(job) => {
                let size = job.rank_and_size().1;
                match asked {
                    Some(asked) if asked as usize != size => Err(Error::Input(format!(
                        "--ranks {asked}: the launcher started {size} ranks; leave --ranks out"
                    ))),
                    _ => Ok(size),
                }
            }
        }
    }

    /// Why an engine cannot be had on these ranks; `None`: it can.
    pub fn lacks(&self, engine: EngineKind) -> Option<String> {
        match self {
            Self::Threads => ThreadTransport::lacks(engine),
            #[cfg(feature = "mpi")]
            Self::Mpi(_) => MpiTransport::lacks(engine),
        }
    }

    /// Ends the other processes of the job after an error of rank 0, which they may wait for.
    pub fn end_all(&self, code: u8) {
        match self {
            Self::Threads => {
                let _ = code;
            }
            #[cfg(feature = "mpi")]
            Self::Mpi(_) => mpi::abort_job(i32::from(code)),
        }
    }
}

/// The MPI library that this build uses, in its own words, and the version of the standard it
/// implements; `None`: built without MPI. MPI need not have been started.
pub(super) fn mpi_built_with() -> Option<(String, (i32, i32))> {
    #[cfg(feature = "mpi")]
    return Some((mpi::library(), mpi::standard()));
    #[cfg(not(feature = "mpi"))]
    None
}

/// Why an engine cannot be had over MPI; `None`: it can.
pub(super) fn lacks_over_mpi(engine: EngineKind) -> Option<String> {
    #[cfg(feature = "mpi")]
    return MpiTransport::lacks(engine);
    #[cfg(not(feature = "mpi"))]
    {
        let _ = engine;
        Some("this build has no MPI; build with --features mpi".to_owned())
    }
}

/// Runs a program on this process's rank. A failure is told by the rank that has it, and ends the
/// job: the other ranks may wait for it for ever.
#[cfg(feature = "mpi")]
pub(super) fn run_on_mpi<P: Program>(job: &MpiJob, program: &P) -> Result<P::Output> {
    let result = job
        .world()
        .map_err(Error::from)
        .and_then(|comm| program.run(comm));
    if let Err(error) = &result {
        let rank = job.rank_and_size().0;
        if rank != 0 {
            let _ = writeln!(std::io::stderr(), "pstswm: rank {rank}: {error}");
            mpi::abort_job(i32::from(error.exit_code()));
        }
    }
    result
}

/// The number of ranks that a launcher started, when more than one, and which launcher.
fn launched(variable: impl Fn(&str) -> Option<String>) -> Option<(u64, &'static str)> {
    LAUNCHERS.into_iter().find_map(|(name, launcher)| {
        let ranks: u64 = variable(name)?.trim().parse().ok()?;
        (ranks > 1).then_some((ranks, launcher))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_launchers_of_several_ranks_count() {
        let with = |key: &'static str, value: &'static str| {
            launched(move |name| (name == key).then(|| value.to_owned()))
        };
        assert_eq!(
            with("OMPI_COMM_WORLD_SIZE", "4"),
            Some((4, "Open MPI's mpirun"))
        );
        assert!(with("PMI_SIZE", "2").is_some());
        assert!(with("SLURM_STEP_NUM_TASKS", "8").is_some());
        assert_eq!(with("SLURM_STEP_NUM_TASKS", "1"), None);
        assert_eq!(with("SLURM_NTASKS", "8"), None);
        assert_eq!(with("PMI_SIZE", "many"), None);
    }
}
