//! `tune --for`: settings of production models in their own terms, from patterns like theirs.

mod settings;

use super::TuneOptions;
use crate::app::launch::Job;
use crate::app::session::{self, Program, Session};
use crate::app::swap::cache_bytes;
use crate::app::swap::results::{Joint, joint};
use crate::bench::case::{Case, Request, Way};
use crate::bench::pattern::Pattern;
use crate::bench::sweep::{self, Sweep};
use crate::error::{Error, Result};
use crate::measure::linear_model::Sensitivity;
use crate::report::provenance::Provenance;
use crate::report::swap::Unavailable;
use crate::report::tune::{CostRecord, StageRecord, TuneResults, WayRecord};
use crate::swap::order::Order;
use crate::swap::protocol::Protocol;
use crate::transport::{EngineKind, Transport};
use crate::tune::race::Race;

/// Rounds of samples.
const ROUNDS: usize = 40;

/// Caps on requests that are tried where they cap something.
const CAPS: [usize; 3] = [4, 32, 128];

/// A production model, or a library of one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Target {
    /// CAM, the atmosphere of CESM.
    Cam,
    /// EAM, the atmosphere of E3SM.
    Eam,
    /// PIO and SCORPIO, parallel I/O.
    Pio,
    /// MCT, the coupling toolkit.
    Mct,
}

impl Target {
    /// Its name.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Cam => "cam",
            Self::Eam => "eam",
            Self::Pio => "pio",
            Self::Mct => "mct",
        }
    }
}

/// A pattern as it was measured.
struct Measured {
    request: Request,
    ways: Vec<(Case, WayRecord)>,
}

impl Measured {
    /// The fastest way of those wanted.
    fn best(&self, wanted: impl Fn(&Case) -> bool) -> Option<&(Case, WayRecord)> {
        self.ways.iter().find(|(case, _)| wanted(case))
    }

    fn name(&self) -> String {
        let pattern = self.request.pattern.map(|pattern| pattern.to_string());
        format!(
            "{}, {} bytes a rank",
            pattern.unwrap_or_default(),
            self.request.volumes[0]
        )
    }
}

/// Measures the patterns of a model, and translates.
///
/// # Errors
/// Bad options, a failed exchange.
pub(super) fn run(
    target: Target,
    options: &TuneOptions,
    session: &Session,
    job: &Job,
) -> Result<Option<(TuneResults, Provenance)>> {
    let requests = requests(target, options, session, job)?;
    let program = Patterns {
        requests: &requests,
        seed: options.seed,
    };
    let found = session.on_ranks(job, &program)?;
    let Some((sweeps, provenance, seconds)) = found.into_iter().flatten().next() else {
        return Ok(None);
    };
    let mut wrong = Vec::new();
    let mut unavailable = lacking(job);
    let mut measured = Vec::new();
    for (request, sweep) in requests.into_iter().zip(sweeps) {
        wrong.extend(sweep.wrong.iter().cloned());
        for (engine, reason) in &sweep.refused {
            if !unavailable.iter().any(|none| none.engine == engine.name()) {
                unavailable.push(Unavailable {
                    engine: engine.name().to_owned(),
                    reason: reason.clone(),
                });
            }
        }
        measured.push(Measured {
            ways: standings(&sweep),
            request,
        });
    }
    let stages: Vec<StageRecord> = measured.iter().map(stage).collect();
    let settings = settings::of(target, &measured);
    let results = TuneResults {
        definitions: Vec::new(),
        mode: format!("for {}", target.name()),
        cost: CostRecord {
            budget_seconds: options.budget,
            seconds,
            stages_seconds: seconds,
            ways: stages.iter().map(|stage| stage.ways.len()).sum(),
            ..CostRecord::default()
        },
        layouts: Vec::new(),
        stages,
        ranking: Vec::new(),
        default: None,
        settings: settings.0,
        failed: Vec::new(),
        wrong,
        notes: settings.1,
        unavailable,
        fragment: String::new(),
    };
    Ok(Some((results, provenance)))
}

/// Engines of these models that cannot be had here.
fn lacking(job: &Job) -> Vec<Unavailable> {
    let engines = [
        EngineKind::Alltoallv,
        EngineKind::Alltoallw,
        EngineKind::PutFence,
    ];
    let lacks = |engine: EngineKind| {
        Some(Unavailable {
            engine: engine.name().to_owned(),
            reason: job.lacks(engine)?,
        })
    };
    engines.into_iter().filter_map(lacks).collect()
}

/// What is measured for a model.
fn requests(
    target: Target,
    options: &TuneOptions,
    session: &Session,
    job: &Job,
) -> Result<Vec<Request>> {
    let ranks = session.ranks;
    if ranks < 2 {
        return Err(Error::Input(format!(
            "--for {}: needs two ranks at least, there is {ranks}",
            target.name()
        )));
    }
    let io = match options.io_ranks {
        None => (ranks / 4).max(1),
        Some(io) if (1..=ranks).contains(&io) => io,
        Some(io) => {
            return Err(Error::Input(format!(
                "--io-ranks {io}: must be from 1 to {ranks}, the number of ranks"
            )));
        }
    };
    let problem = &session.namelist.problem;
    let levels = problem.levels * size_of::<f64>();
    // A field on the grid; five fields in Fourier space.
    let field = levels * problem.nlat * problem.nlon / ranks;
    let fourier = 5 * 2 * levels * problem.nlat * (problem.truncation.m_max() + 1) / ranks;
    let simple = |numbers: &[i64]| -> Vec<Way> {
        let protocols = numbers.iter().filter_map(|&n| Protocol::from_number(n));
        protocols.map(|p| Way::Pairwise(Order::Simple, p)).collect()
    };
    let with = |mut ways: Vec<Way>, engines: &[EngineKind]| {
        let there = engines
            .iter()
            .filter(|engine| job.lacks(**engine).is_none());
        ways.extend(there.map(|engine| Way::Engine(*engine)));
        ways
    };
    let request = |pattern: Pattern, bytes: usize, ways: Vec<Way>, handshakes: &[bool]| {
        let unit = pattern.parts(ranks) * size_of::<f64>();
        // Requests of the rank that has most: a receive for every other rank, and a send where both
        // are posted.
        let posts_sends = ways.iter().any(|way| match way {
            Way::Pairwise(_, protocol) => protocol.row().immediate_send,
            Way::Engine(_) => false,
        });
        let most = (1 + usize::from(posts_sends)) * (ranks - 1);
        let caps = CAPS.into_iter().filter(|&cap| cap < most);
        Request {
            ways,
            overlaps: vec![false, true],
            volumes: vec![(bytes / unit).max(1) * unit],
            messages: vec![1],
            iterations: vec![1],
            handshakes: handshakes.to_vec(),
            max_requests: std::iter::once(0).chain(caps).collect(),
            cold: false,
            ranks,
            pattern: Some(pattern),
            pairs: vec![(0, ranks - 1)],
            samples: ROUNDS,
            warmup: 2,
            max_seconds: 0.0,
            seed: options.seed,
            all_ways: false,
        }
    };
    let all = Pattern::AllToAll;
    let mut requests = match target {
        Target::Cam | Target::Eam => vec![
            request(
                all,
                fourier,
                with(
                    simple(&[2, 3, 4, 5]),
                    &[EngineKind::Alltoallv, EngineKind::PutFence],
                ),
                &[false],
            ),
            request(Pattern::Gather(1), field, simple(&[2]), &[true]),
        ],
        Target::Pio => {
            let ways = || with(simple(&[2, 3]), &[EngineKind::Alltoallw]);
            let both = [false, true];
            vec![
                request(Pattern::Gather(io), field, ways(), &both),
                request(Pattern::Scatter(io), field, ways(), &both),
            ]
        }
        Target::Mct => vec![request(
            all,
            field,
            with(simple(&[3]), &[EngineKind::Alltoallv]),
            &[false],
        )],
    };
    let budget = options.budget()?;
    let curves: usize = requests.iter().map(|r| r.cases(r.volumes[0]).len()).sum();
    for request in &mut requests {
        request.max_seconds = budget / curves as f64;
    }
    Ok(requests)
}

/// The ways of a sweep, the fastest first.
fn standings(sweep: &Sweep) -> Vec<(Case, WayRecord)> {
    let joints: Vec<Joint> = sweep.points.iter().filter_map(joint).collect();
    let mut race = Race::new(joints.len());
    let rounds = joints.iter().flat_map(|joint| joint.rounds.keys().copied());
    for round in 0..=rounds.max().unwrap_or(0) {
        // Rounds that all have, so that ratios are of the same moments.
        let times = joints.iter().map(|joint| joint.rounds.get(&round).copied());
        if let Some(times) = times.collect::<Option<Vec<f64>>>() {
            race.push(&times.into_iter().enumerate().collect::<Vec<_>>());
        }
    }
    let best = race.best().unwrap_or(0);
    let standings = race.standings().into_iter();
    let record = |index: usize| {
        let record = WayRecord {
            way: joints[index].candidate.name(),
            seconds: race.time(index)?,
            ratio: race.ratio(index, best),
            dropped: false,
        };
        Some((joints[index].candidate, record))
    };
    standings.filter_map(record).collect()
}

fn stage(measured: &Measured) -> StageRecord {
    let ways: Vec<WayRecord> = measured.ways.iter().map(|(_, way)| way.clone()).collect();
    let medians: Vec<f64> = ways.iter().map(|way| way.seconds.median).collect();
    let sensitivity = Sensitivity::of(&medians);
    StageRecord {
        stage: measured.name(),
        layouts: Vec::new(),
        ranks: measured.request.ranks,
        ways,
        typical: sensitivity.as_ref().map(|s| s.typical),
        worst: sensitivity.as_ref().map(|s| s.worst),
        grade: sensitivity.as_ref().map(|s| s.grade().to_owned()),
    }
}

/// What every rank runs.
struct Patterns<'a> {
    requests: &'a [Request],
    seed: u64,
}

impl Program for Patterns<'_> {
    type Output = Option<(Vec<Sweep>, Provenance, f64)>;

    fn run<T: Transport>(&self, comm: T) -> Result<Self::Output> {
        let provenance = session::provenance(&comm, self.seed)?;
        let begin = comm.now();
        let mut sweeps = Vec::new();
        for request in self.requests {
            if provenance.is_some() {
                let pattern = request.pattern.map(|p| p.to_string()).unwrap_or_default();
                super::say(&format!("pattern {pattern}"));
            }
            sweeps.extend(sweep::run(&comm, request, cache_bytes(), |_| {})?);
        }
        let seconds = comm.now() - begin;
        Ok(provenance.map(|provenance| (sweeps, provenance, seconds)))
    }
}
