//! What produced a result: program, build, machine, launcher, times. Unknown things are null.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::machine::{self, Cpu};
use super::placement;

/// Everything needed to know where numbers come from.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Provenance {
    /// Program and compiler.
    pub build: Build,
    /// `threads` or `mpi`.
    pub transport: String,
    /// What the transport's library says it is.
    pub transport_library: Option<String>,
    /// What started the ranks; null: nothing recognised.
    pub launcher: Option<String>,
    /// Ranks.
    pub ranks: usize,
    /// Hosts in order of their first rank.
    pub hosts: Vec<Host>,
    /// Processors each rank may run on, in rank order.
    pub binding: Vec<Option<String>>,
    /// Processor of rank 0's host.
    pub cpu: Cpu,
    /// Memory of rank 0's host.
    pub memory_bytes: Option<u64>,
    /// Operating system and kernel release.
    pub kernel: Option<String>,
    /// Load average over one minute when the program started.
    pub load_average: Option<f64>,
    /// Variables that steer the libraries, by allow-list.
    pub environment: BTreeMap<String, String>,
    /// Start, RFC 3339 in UTC.
    pub started: String,
    /// End; null until [`Provenance::finish`].
    pub ended: Option<String>,
    /// Command line, as words.
    pub command: Vec<String>,
    /// Seed of everything random.
    pub seed: u64,
    /// What may spoil the timings, each with its remedy.
    pub warnings: Vec<String>,
}

/// The program and how it was built.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Build {
    /// Version of the program.
    pub version: String,
    /// Commit of the sources; null outside a repository.
    pub git: Option<String>,
    /// Whether the sources differed from the commit.
    pub git_dirty: Option<bool>,
    /// Compiler.
    pub rustc: Option<String>,
    /// Cargo profile: `release` or `debug` (the family the profile inherits from).
    pub profile: Option<String>,
    /// Optimisation level.
    pub opt_level: Option<String>,
    /// Target triple.
    pub target: Option<String>,
    /// Processor features the compiler assumed.
    pub target_features: Vec<String>,
    /// Features of the program.
    pub features: Vec<String>,
}

impl Build {
    /// This program.
    pub fn this() -> Self {
        let some = |text: &str| Some(text.to_owned()).filter(|t| !t.is_empty());
        let list = |text: &str| -> Vec<String> {
            let parts = text.split(',').filter(|part| !part.is_empty());
            parts.map(str::to_owned).collect()
        };
        Self {
            version: env!("CARGO_PKG_VERSION").to_owned(),
            git: some(env!("PSTSWM_BUILD_GIT_COMMIT")),
            git_dirty: env!("PSTSWM_BUILD_GIT_DIRTY").parse().ok(),
            rustc: some(env!("PSTSWM_BUILD_RUSTC")),
            profile: some(env!("PSTSWM_BUILD_PROFILE")),
            opt_level: some(env!("PSTSWM_BUILD_OPT_LEVEL")),
            target: some(env!("PSTSWM_BUILD_TARGET")),
            target_features: list(env!("PSTSWM_BUILD_TARGET_FEATURES")),
            features: list(env!("PSTSWM_BUILD_FEATURES")),
        }
    }
}

/// A host and the ranks on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Host {
    /// Its name.
    pub name: Option<String>,
    /// Number of ranks on it.
    pub ranks: usize,
}

/// Where one rank runs; each rank finds its own, rank 0 gathers them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Place {
    /// Name of the host.
    pub host: Option<String>,
    /// Processors the rank may run on, as the kernel lists them.
    pub cpus: Option<String>,
}

impl Place {
    /// Of the calling thread.
    pub fn here() -> Self {
        Self {
            host: machine::host(),
            cpus: machine::allowed_cpus(),
        }
    }
}

/// What only the caller knows.
#[derive(Clone, Debug)]
pub struct Context {
    /// `threads` or `mpi`.
    pub transport: String,
    /// What the transport's library says it is.
    pub transport_library: Option<String>,
    /// Where each rank runs, in rank order.
    pub places: Vec<Place>,
    /// Seed.
    pub seed: u64,
}

impl Provenance {
    /// Asks the system, at the start of the measurement.
    pub fn collect(context: Context) -> Self {
        let places = context.places.clone();
        let mut result = Self {
            build: Build::this(),
            transport: context.transport,
            transport_library: context.transport_library,
            launcher: launcher(|name| std::env::var_os(name).is_some()),
            ranks: context.places.len(),
            hosts: hosts(&context.places),
            binding: context.places.into_iter().map(|place| place.cpus).collect(),
            cpu: Cpu::detect(),
            memory_bytes: machine::memory_bytes(),
            kernel: machine::kernel(),
            load_average: machine::load_average(),
            environment: environment(),
            started: now(),
            ended: None,
            command: std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            seed: context.seed,
            warnings: Vec::new(),
        };
        result.warnings = result.judge();
        let library = result.transport_library.as_deref();
        let placed = placement::warnings(&places, result.usable(), library);
        result.warnings.extend(placed);
        result
    }

    /// Notes the end.
    pub fn finish(&mut self) {
        self.ended = Some(now());
    }

    /// Processors that the ranks of a host may share.
    fn usable(&self) -> Option<usize> {
        // Ranks of other processes have masks of their own, so their host counts as a whole.
        match self.transport.as_str() {
            "threads" => self.cpu.available,
            _ => self.cpu.logical,
        }
    }

    /// What may spoil the timings, with the remedy.
    fn judge(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.build.opt_level.as_deref() == Some("0")
            || self.build.profile.as_deref() == Some("debug")
        {
            warnings.push(
                "this is a debug build, timings mean little; build with cargo build --release"
                    .to_owned(),
            );
        }
        let usable = self.usable();
        let busiest = self.hosts.iter().map(|host| host.ranks).max().unwrap_or(0);
        if let Some(usable) = usable.filter(|&n| busiest > n) {
            warnings.push(format!(
                "{busiest} ranks share {usable} processors, ranks wait for a processor more than \
                 for each other; {}",
                placement::fewer_ranks(usable, self.transport_library.as_deref())
            ));
        }
        if let (Some(true), Some(cores)) = (self.cpu.smt, self.cpu.cores)
            && (cores + 1..=usable.unwrap_or(0)).contains(&busiest)
        {
            warnings.push(format!(
                "{busiest} ranks on {cores} cores: two threads of one core (SMT) share its \
                 arithmetic and caches; use at most {cores} ranks, one bound to each core"
            ));
        }
        if let Some(governor) = self.cpu.governor.as_deref().filter(|&g| g != "performance") {
            warnings.push(format!(
                "the frequency governor is {governor}, the clock may change during the run; \
                 cpupower frequency-set -g performance"
            ));
        }
        if let Some(load) = self.load_average.filter(|&load| load > 1.0) {
            warnings.push(format!(
                "the load average was {load:.2} at the start, other programs are running; \
                 time on an idle machine"
            ));
        }
        warnings
    }
}

/// The time now, RFC 3339 in UTC, whole seconds.
pub fn now() -> String {
    let now = jiff::Timestamp::now();
    let second = jiff::Timestamp::from_second(now.as_second()).unwrap_or(now);
    second.to_string()
}

/// Groups ranks by host, in order of the first rank.
fn hosts(places: &[Place]) -> Vec<Host> {
    let mut hosts: Vec<Host> = Vec::new();
    let mut index: BTreeMap<Option<&str>, usize> = BTreeMap::new();
    for place in places {
        let at = *index.entry(place.host.as_deref()).or_insert_with(|| {
            hosts.push(Host {
                name: place.host.clone(),
                ranks: 0,
            });
            hosts.len() - 1
        });
        hosts[at].ranks += 1;
    }
    hosts
}

/// The launcher, by variables only it sets in the processes it starts.
fn launcher(is_set: impl Fn(&str) -> bool) -> Option<String> {
    const MARKS: [(&str, &str); 5] = [
        ("OMPI_COMM_WORLD_SIZE", "Open MPI mpirun"),
        ("MPI_LOCALNRANKS", "Hydra mpiexec"),
        ("PALS_RANKID", "PALS mpiexec"),
        ("SLURM_STEP_NUM_TASKS", "srun"),
        ("PMI_SIZE", "a PMI launcher"),
    ];
    let mark = MARKS.iter().find(|(name, _)| is_set(name));
    mark.map(|(_, launcher)| (*launcher).to_owned())
}

/// Whether a variable may appear in a result: it steers a library or describes the job, and
/// holds no address or key.
fn is_recorded(name: &str) -> bool {
    const PREFIXES: [&str; 12] = [
        "OMPI_MCA_btl",
        "OMPI_MCA_pml",
        "OMPI_MCA_mtl",
        "OMPI_MCA_coll",
        "OMPI_MCA_osc",
        "OMPI_MCA_rmaps",
        "OMPI_MCA_hwloc",
        "MPICH_",
        "MPIR_CVAR_",
        "UCX_",
        "FI_",
        "I_MPI_",
    ];
    const NAMES: [&str; 10] = [
        "OMP_NUM_THREADS",
        "OMP_PROC_BIND",
        "OMP_PLACES",
        "SLURM_JOB_ID",
        "SLURM_JOB_NUM_NODES",
        "SLURM_STEP_NUM_TASKS",
        "SLURM_NTASKS_PER_NODE",
        "SLURM_CPUS_PER_TASK",
        "SLURM_CPU_BIND_TYPE",
        "SLURM_DISTRIBUTION",
    ];
    const SECRET: [&str; 4] = ["KEY", "TOKEN", "SECRET", "PASSWORD"];
    let upper = name.to_ascii_uppercase();
    (NAMES.contains(&name) || PREFIXES.iter().any(|prefix| name.starts_with(prefix)))
        && !SECRET.iter().any(|word| upper.contains(word))
}

/// The recorded variables that are set.
fn environment() -> BTreeMap<String, String> {
    std::env::vars_os()
        .filter_map(|(name, value)| Some((name.into_string().ok()?, value)))
        .filter(|(name, _)| is_recorded(name))
        .map(|(name, value)| (name, value.to_string_lossy().into_owned()))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place(host: &str) -> Place {
        Place {
            host: Some(host.to_owned()),
            cpus: Some("0-3".to_owned()),
        }
    }

    fn sample(ranks: usize) -> Provenance {
        Provenance::collect(Context {
            transport: "threads".to_owned(),
            transport_library: None,
            places: vec![place("a"); ranks],
            seed: 7,
        })
    }

    #[test]
    fn the_build_knows_itself() {
        let build = Build::this();
        assert!(build.rustc.unwrap().starts_with("rustc "));
        assert!(build.target.is_some() && build.opt_level.is_some());
        assert_eq!(build.git.is_some(), build.git_dirty.is_some());
        if let Some(git) = build.git {
            assert!(!git.is_empty() && !git.ends_with("-dirty"), "{git}");
        }
    }

    #[test]
    fn times_are_rfc_3339_in_utc() {
        let mut provenance = sample(1);
        assert_eq!(provenance.ended, None);
        provenance.finish();
        let ended = provenance.ended.unwrap();
        assert!(ended >= provenance.started, "{ended}");
        assert_eq!(ended.len(), "2026-01-01T00:00:00Z".len());
        assert!(ended.ends_with('Z'));
    }

    #[test]
    fn hosts_keep_the_order_of_ranks() {
        let grouped = hosts(&[place("b"), place("a"), place("b")]);
        let pairs: Vec<_> = grouped
            .iter()
            .map(|h| (h.name.as_deref(), h.ranks))
            .collect();
        assert_eq!(pairs, [(Some("b"), 2), (Some("a"), 1)]);
    }

    #[test]
    fn every_warning_has_its_cause() {
        let mut p = sample(4);
        p.build.opt_level = Some("3".to_owned());
        p.build.profile = Some("release".to_owned());
        p.cpu = Cpu {
            available: Some(4),
            governor: Some("performance".to_owned()),
            ..Cpu::default()
        };
        p.load_average = Some(0.1);
        assert_eq!(p.judge(), Vec::<String>::new());
        p.build.profile = Some("debug".to_owned());
        p.cpu.available = Some(2);
        p.cpu.governor = Some("powersave".to_owned());
        p.load_average = Some(3.0);
        let warnings = p.judge();
        for (warning, word) in
            warnings
                .iter()
                .zip(["--release", "at most 2 ranks", "powersave", "idle machine"])
        {
            assert!(warning.contains(word), "{warning}");
        }
        assert_eq!(warnings.len(), 4);
        (p.cpu.available, p.cpu.cores, p.cpu.smt) = (Some(4), Some(2), Some(true));
        assert!(p.judge()[1].contains("at most 2 ranks, one bound to each core"));
        (p.cpu, p.build.profile, p.load_average) = (Cpu::default(), None, None);
        assert_eq!(p.judge(), Vec::<String>::new());
    }

    #[test]
    fn launchers_are_recognised_by_what_they_alone_set() {
        let with = |names: &'static [&'static str]| launcher(|name| names.contains(&name));
        assert_eq!(with(&[]), None);
        assert_eq!(with(&["SLURM_NTASKS"]), None);
        assert_eq!(with(&["SLURM_STEP_NUM_TASKS"]).as_deref(), Some("srun"));
        let inside_a_job = with(&["SLURM_STEP_NUM_TASKS", "OMPI_COMM_WORLD_SIZE"]);
        assert_eq!(inside_a_job.as_deref(), Some("Open MPI mpirun"));
    }

    #[test]
    fn no_key_or_address_is_recorded() {
        for name in ["UCX_TLS", "OMPI_MCA_btl", "SLURM_JOB_ID", "OMP_NUM_THREADS"] {
            assert!(is_recorded(name), "{name}");
        }
        for name in [
            "HOME",
            "SLURM_JWT",
            "PMIX_SECURITY_MODE",
            "FI_AUTH_KEY",
            "MPICH_TOKEN",
        ] {
            assert!(!is_recorded(name), "{name}");
        }
    }
}
