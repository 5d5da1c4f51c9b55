//! Which ranks there are: a launcher whose ranks would each believe they are alone is refused.

use crate::error::{Error, Result};

/// Launchers tell the number of ranks of the step in these variables. `SLURM_NTASKS` is not among
/// them: it is also set in a job script that starts one process.
const LAUNCHERS: [(&str, &str); 3] = [
    ("OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun"),
    ("PMI_SIZE", "MPICH's mpiexec (or another PMI launcher)"),
    ("SLURM_STEP_NUM_TASKS", "srun"),
];

/// Refuses a transport or a launcher that this build cannot serve.
///
/// # Errors
/// `--transport mpi`, or a launcher of several ranks: this build has no MPI.
pub fn check(transport: Option<&str>) -> Result<()> {
    if transport == Some("mpi") {
        return Err(Error::Input(
            "--transport mpi: this build has no MPI; use --ranks N (ranks as threads)".to_owned(),
        ));
    }
    match launched(|name| std::env::var(name).ok()) {
        Some((ranks, launcher)) => Err(Error::Input(format!(
            "started by {launcher} with {ranks} ranks, but this build has no MPI, so each of them \
             would run the whole problem alone; start it without the launcher as \
             pstswm ... --ranks {ranks}"
        ))),
        None => Ok(()),
    }
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
