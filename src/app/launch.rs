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

/// Variables by which launchers tell their ranks, the most telling first: a launcher may itself be
/// started by another, whose variables it hands on. `SLURM_NTASKS` is not among them: it is also
/// set in a job script that starts one process.
const LAUNCHERS: [(&str, Tells, &str); 11] = [
    ("OMPI_COMM_WORLD_SIZE", Tells::Ranks, "Open MPI's mpirun"),
    ("MV2_COMM_WORLD_SIZE", Tells::Ranks, "MVAPICH's mpirun_rsh"),
    (
        "PMI_SIZE",
        Tells::Ranks,
        "MPICH's mpiexec (or another PMI launcher)",
    ),
    ("JSM_NAMESPACE_SIZE", Tells::Ranks, "jsrun"),
    ("FLUX_JOB_SIZE", Tells::Ranks, "flux run"),
    ("SLURM_STEP_NUM_TASKS", Tells::Ranks, SRUN),
    ("MPI_LOCALNRANKS", Tells::AtLeast, "Intel MPI's mpiexec"),
    ("PALS_RANKID", Tells::Rank, "PALS's mpiexec"),
    ("PMIX_RANK", Tells::Rank, "a PMIx launcher"),
    ("PMI_RANK", Tells::Rank, "a PMI launcher"),
    ("ALPS_APP_PE", Tells::Rank, "aprun"),
];

const SRUN: &str = "srun";

/// What the number in a launcher's variable is.
#[derive(Clone, Copy, PartialEq)]
enum Tells {
    /// The ranks of the job.
    Ranks,
    /// Ranks of this node: the job has as many, or more.
    AtLeast,
    /// This rank: the job has one more, or more.
    Rank,
}

/// What a launcher started: more than one rank.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Launched {
    ranks: u64,
    /// Whether there may be more.
    at_least: bool,
    launcher: &'static str,
}

impl std::fmt::Display for Launched {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let more = if self.at_least { "at least " } else { "" };
        write!(
            f,
            "started by {} with {more}{} ranks",
            self.launcher, self.ranks
        )
    }
}

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
    fn of(transport: Option<&str>, launched: Option<Launched>) -> Result<Self> {
        if transport == Some("mpi") {
            return Err(Error::Input(
                "--transport mpi: this build has no MPI; build with --features mpi, or use \
                 --ranks N (ranks as threads)"
                    .to_owned(),
            ));
        }
        match launched {
            Some(launched) => Err(Error::Input(format!(
                "{launched}, but this build has no MPI, so each of them would run the whole \
                 problem alone; build with --features mpi, or start it without the launcher as \
                 pstswm ... --ranks {}",
                launched.ranks
            ))),
            None => Ok(Self::Threads),
        }
    }

    #[cfg(feature = "mpi")]
    fn of(transport: Option<&str>, launched: Option<Launched>) -> Result<Self> {
        match (transport, launched) {
            (Some("threads"), Some(launched)) => Err(Error::Input(format!(
                "--transport threads: {launched}, each of which would run the whole problem; \
                 start it without the launcher"
            ))),
            (Some("threads") | None, None) => Ok(Self::Threads),
            (_, launched) => {
                let job = MpiJob::start()
                    .ok_or_else(|| Error::Failed("MPI could not be started".to_owned()))?;
                let (rank, size) = job.rank_and_size();
                if let Some(launched) = launched
                    && !launched.fits(size as u64)
                {
                    return Err(Error::Input(format!(
                        "{launched}, but the MPI of this build ({}) sees {size}: {}use the \
                         launcher of that library, or build with this one's compiler \
                         (MPICC=... cargo build --features mpi, own target folder)",
                        mpi::library(),
                        if launched.launcher == SRUN {
                            "try srun --mpi=pmix or --mpi=pmi2 (srun --mpi=list shows them), "
                        } else {
                            ""
                        }
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
                    // Started without a launcher, by --transport mpi.
                    Some(asked) if asked > 1 && size == 1 => Err(Error::Input(format!(
                        "--ranks {asked}: MPI sees one rank; start as many with the launcher \
                         (mpirun -n {asked} pstswm ...), or leave --transport mpi out for ranks as \
                         threads"
                    ))),
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
            if matches!(error, Error::Input(_)) {
                // Rank 0 has the same input: it speaks, and ends the job meanwhile.
                std::thread::sleep(std::time::Duration::from_secs(2));
            }
            let _ = writeln!(std::io::stderr(), "pstswm: rank {rank}: {error}");
            mpi::abort_job(i32::from(error.exit_code()));
        }
    }
    result
}

impl Launched {
    /// Whether MPI sees what the launcher started.
    #[cfg(any(test, feature = "mpi"))]
    fn fits(&self, size: u64) -> bool {
        self.ranks == size || self.at_least && self.ranks < size
    }
}

/// What a launcher started, when more than one rank. The first variable that says something
/// decides: the others may be those of an outer launcher, or of the steps in which an inner one
/// starts its helpers, a rank a node.
fn launched(variable: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    let (number, tells, launcher) = LAUNCHERS.into_iter().find_map(|(name, tells, launcher)| {
        let number: u64 = variable(name)?.trim().parse().ok()?;
        Some((number, tells, launcher))
    })?;
    let ranks = match tells {
        Tells::Ranks | Tells::AtLeast => number,
        Tells::Rank => number.saturating_add(1),
    };
    (ranks > 1).then_some(Launched {
        ranks,
        at_least: tells != Tells::Ranks,
        launcher,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is found in an environment of these variables.
    fn with(variables: &[(&str, &str)]) -> Option<Launched> {
        launched(|name| {
            let found = variables.iter().find(|(known, _)| *known == name);
            found.map(|(_, value)| (*value).to_owned())
        })
    }

    fn ranks(variables: &[(&str, &str)]) -> Option<(u64, bool)> {
        with(variables).map(|launched| (launched.ranks, launched.at_least))
    }

    #[test]
    fn only_launchers_of_several_ranks_count() {
        for (name, launcher) in [
            ("OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"),
            ("PMI_SIZE", "MPICH's mpiexec (or another PMI launcher)"),
            ("SLURM_STEP_NUM_TASKS", "srun"),
            ("FLUX_JOB_SIZE", "flux run"),
            ("JSM_NAMESPACE_SIZE", "jsrun"),
        ] {
            let found = with(&[(name, " 8 ")]).unwrap();
            assert_eq!(
                (found.ranks, found.at_least, found.launcher),
                (8, false, launcher)
            );
            assert_eq!(with(&[(name, "1")]), None);
            assert_eq!(with(&[(name, "many")]), None);
        }
        assert_eq!(with(&[]), None);
    }

    #[test]
    fn srun_is_told_by_the_step_not_by_the_job() {
        // A job script of 8 tasks that starts the program once.
        let script = [
            ("SLURM_JOB_ID", "7"),
            ("SLURM_NTASKS", "8"),
            ("SLURM_NPROCS", "8"),
        ];
        assert_eq!(with(&script), None);
        // srun -n 4 in it; with and without PMIx.
        let step = [
            ("SLURM_NTASKS", "8"),
            ("SLURM_STEP_NUM_TASKS", "4"),
            ("SLURM_PROCID", "3"),
        ];
        assert_eq!(ranks(&step), Some((4, false)));
        let pmix = [("SLURM_STEP_NUM_TASKS", "4"), ("PMIX_RANK", "0")];
        assert_eq!(ranks(&pmix), Some((4, false)));
        let pmi2 = [
            ("SLURM_STEP_NUM_TASKS", "4"),
            ("PMI_SIZE", "4"),
            ("PMI_RANK", "1"),
        ];
        assert_eq!(ranks(&pmi2), Some((4, false)));
    }

    #[test]
    fn the_inner_launcher_decides() {
        // mpiexec starts its helpers by srun, one on each of two nodes.
        assert_eq!(
            with(&[("SLURM_STEP_NUM_TASKS", "2"), ("PMI_SIZE", "1")]),
            None
        );
        let four = [
            ("SLURM_STEP_NUM_TASKS", "2"),
            ("PMI_SIZE", "4"),
            ("MPI_LOCALNRANKS", "2"),
        ];
        assert_eq!(ranks(&four), Some((4, false)));
        let ompi = [("SLURM_STEP_NUM_TASKS", "2"), ("OMPI_COMM_WORLD_SIZE", "1")];
        assert_eq!(with(&ompi), None);
    }

    #[test]
    fn a_rank_without_a_number_of_ranks_is_a_lower_bound() {
        assert_eq!(ranks(&[("PMIX_RANK", "3")]), Some((4, true)));
        assert_eq!(ranks(&[("PALS_RANKID", "1")]), Some((2, true)));
        assert_eq!(ranks(&[("MPI_LOCALNRANKS", "2")]), Some((2, true)));
        // Rank 0 cannot know.
        assert_eq!(with(&[("PMIX_RANK", "0")]), None);
        let found = with(&[("PMIX_RANK", "1")]).unwrap();
        assert!(found.fits(2) && found.fits(9) && !found.fits(1));
        assert!(found.to_string().contains("at least 2 ranks"), "{found}");
        let exact = with(&[("PMI_SIZE", "2")]).unwrap();
        assert!(exact.fits(2) && !exact.fits(1) && !exact.fits(3));
    }
}
