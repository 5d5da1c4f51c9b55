//! `run`: integrates the case of a namelist.

use ndarray::Array2;

use super::cli::RunOptions;
use super::launch::Job;
use super::session::{Program, Session};
use super::{print, result_files, session};
use crate::decomp::algorithm::{FftAlgorithm, LegendreAlgorithm};
use crate::error::{Error, Result};
use crate::exchange::choice::ExchangeChoice;
use crate::exchange::collective;
use crate::exchange::sum::SumAlgorithm;
use crate::measure::{Phase, Phases, phases_over_ranks};
use crate::pencil::choice::AlgorithmChoice;
use crate::pencil::{FORWARD_FIELDS, INVERSE_FIELDS};
use crate::problem::planet::DAY;
use crate::report::netcdf::{
    CheckpointData, CheckpointWriter, HistoryPlan, HistoryWriter, LevelFields, Sample,
    check_target, last_history_time, next_history_number, read_checkpoint,
};
use crate::report::progress::Progress;
use crate::report::provenance::Provenance;
use crate::report::record::{Kind, Record, Verdict};
use crate::report::run::{
    AlgorithmRecord, ButterflyRecord, Courant, DiagnosticsRecord, ExchangeRecord, MemoryRecord,
    MeshRecord, PhaseRecord, PointRecord, RunRecord, RunResults, Setup, StepTimes, SumRecord,
    TransformCount,
};
use crate::report::{csv, json, text};
use crate::solver::model::FLOPS_FORMULA;
use crate::solver::{Model, SolverError, checksum};
use crate::transform::kernels::Family;
use crate::transport::{EngineKind, Transport};

/// Integrates the case of a namelist; prints diagnostics and timing, writes history files,
/// checkpoints and the result.
///
/// # Errors
/// Bad input, a failed run, an INVALID result.
pub fn run(options: &RunOptions, job: &Job) -> Result<()> {
    let ranks = job.ranks(options.ranks)?;
    let session = Session::load(&options.file, &options.sets(), ranks)?;
    session.check_memory()?;
    session.check_engines(job)?;
    // Rank 0 reads and writes: it alone looks at files.
    let restart = if job.is_root() {
        check_files(options, &session)?
    } else {
        None
    };
    let restarts = options.restart.is_some();
    let Some(record) = integrate_on(&session, job, restart.as_ref(), restarts)? else {
        return Ok(());
    };
    if let Some(path) = &options.json {
        json::write(path, &record)?;
    }
    if let Some(path) = &options.csv {
        json::write_atomically(path, csv::run(&record.results).as_bytes())?;
    }
    if record.verdict.is_valid() {
        Ok(())
    } else {
        Err(Error::Invalid(format!(
            "the run ended, but its result is INVALID: {}",
            record.verdict.reasons.join("; ")
        )))
    }
}

/// What must be so of every file before anything runs; the checkpoint to go on from.
fn check_files(options: &RunOptions, session: &Session) -> Result<Option<CheckpointData>> {
    let output = &session.namelist.output;
    result_files::check(options, session)?;
    let restart = options
        .restart
        .as_deref()
        .map(read_checkpoint)
        .transpose()?;
    if let Some(checkpoint) = &restart
        && checkpoint.step >= session.namelist.problem.steps
    {
        return Err(Error::Input(format!(
            "--restart: the checkpoint is at step {}, and the run ends at step {}; raise {}",
            checkpoint.step,
            session.namelist.problem.steps,
            session.namelist.at("problem.days"),
        )));
    }
    if output.samples_per_file > 0 || output.checkpoint_steps > 0 {
        check_target(&output.directory, restart.is_some())?;
    }
    Ok(restart)
}

/// Integrates on ranks that are threads of this process; `speak`: print while running.
///
/// # Errors
/// A failed run.
pub fn integrate(
    session: &Session,
    restart: Option<&CheckpointData>,
    speak: bool,
) -> Result<RunRecord> {
    let (record, _) = integrate_keeping(session, restart, speak, false)?;
    Ok(record)
}

/// Integrates on the ranks of a job; the record on the process of rank 0.
fn integrate_on(
    session: &Session,
    job: &Job,
    restart: Option<&CheckpointData>,
    restarts: bool,
) -> Result<Option<RunRecord>> {
    let integration = Integration {
        session,
        restart,
        restarts,
        speak: true,
        keep: false,
    };
    let results = session.on_ranks(job, &integration)?;
    Ok(results
        .into_iter()
        .flatten()
        .next()
        .map(|(record, _)| record))
}

/// The state at an output time, whole and in memory.
pub struct Kept {
    /// Simulated days.
    pub day: f64,
    /// Level 0 on the grid.
    pub fields: LevelFields,
    /// The surface there, m.
    pub surface: Array2<f64>,
    /// The coefficients.
    pub state: CheckpointData,
}

/// Like [`integrate`]; `keep`: the states of all output times are returned, too.
///
/// # Errors
/// A failed run.
pub fn integrate_keeping(
    session: &Session,
    restart: Option<&CheckpointData>,
    speak: bool,
    keep: bool,
) -> Result<(RunRecord, Vec<Kept>)> {
    let integration = Integration {
        session,
        restart,
        restarts: restart.is_some(),
        speak,
        keep,
    };
    let results = session.on_ranks(&Job::Threads, &integration)?;
    results
        .into_iter()
        .flatten()
        .next()
        .ok_or_else(|| Error::Failed("rank 0 returned no result".to_owned()))
}

/// The integration, as every rank runs it.
struct Integration<'a> {
    session: &'a Session,
    /// The checkpoint, where rank 0 is.
    restart: Option<&'a CheckpointData>,
    restarts: bool,
    speak: bool,
    keep: bool,
}

impl Program for Integration<'_> {
    type Output = Option<(RunRecord, Vec<Kept>)>;

    fn run<T: Transport>(&self, comm: T) -> Result<Self::Output> {
        let mut rank = Rank::new(self, comm)?;
        rank.kept = self.keep.then(Vec::new);
        rank.integrate()
    }
}

/// One rank of a run.
struct Rank<'a, T: Transport> {
    session: &'a Session,
    model: Model<T>,
    /// Rank 0 speaks.
    speaks: bool,
    /// Rank 0 writes.
    history: Option<HistoryWriter>,
    /// Model time of the last sample that whole files of an earlier part of the run hold, s.
    already: Option<f64>,
    checkpoints: Option<CheckpointWriter>,
    provenance: Option<Provenance>,
    setup: Option<Setup>,
    /// What the ranks compute with, on rank 0.
    kernel: String,
    diagnostics: Vec<DiagnosticsRecord>,
    points: Vec<PointRecord>,
    /// Steps at the start that were not timed.
    warmup: u64,
    /// The states of output times, where they are wanted.
    kept: Option<Vec<Kept>>,
}

/// Steps between the collective look at the wind that the progress line shows.
const PROGRESS_STEPS: u64 = 50;

impl<'a, T: Transport> Rank<'a, T> {
    fn new(integration: &Integration<'a>, comm: T) -> Result<Self> {
        let (session, speak) = (integration.session, integration.speak);
        let list = &session.namelist;
        let root = comm.rank() == 0;
        let provenance = session::provenance(&comm, list.measure.seed)?;
        let mut model = session.model(comm)?;
        if integration.restarts {
            model
                .restore(integration.restart.filter(|_| root))
                .map_err(|error| session.explain(error))?;
        }
        let own = [model.bytes() as f64, session.family.index() as f64];
        let all = collective::gather(model.world(), 0, &own)?;
        let kernel = all.as_ref().map(|all| {
            let indices: Vec<usize> = all.iter().map(|own| own[1] as usize).collect();
            Family::of_ranks(&indices)
        });
        let setup = all.map(|all| {
            let bytes = all.iter().map(|own| own[0] as u64).collect();
            setup(session, &model, MemoryRecord::of(bytes))
        });
        Ok(Self {
            session,
            model,
            speaks: speak && root,
            history: None,
            already: None,
            checkpoints: None,
            provenance,
            setup,
            kernel: kernel.unwrap_or_default(),
            diagnostics: Vec::new(),
            points: Vec::new(),
            warmup: 0,
            kept: None,
        })
    }

    fn say(&self, text: &str) -> Result<()> {
        if self.speaks { print(text) } else { Ok(()) }
    }

    fn integrate(mut self) -> Result<Option<(RunRecord, Vec<Kept>)>> {
        let result = self.advance();
        // Samples that are whole are kept, also when the run failed.
        let written = self.history.take().map(HistoryWriter::finish).transpose();
        let times = result?;
        written?;
        self.conclude(times)
    }

    /// All steps and outputs; the seconds of every timed step of this rank.
    fn advance(&mut self) -> Result<Vec<f64>> {
        let list = &self.session.namelist;
        let (steps, output) = (list.problem.steps, &list.output);
        if let (Some(setup), Some(provenance)) = (&self.setup, &self.provenance) {
            self.say(&format!("{}\n", text::header(setup, provenance)))?;
        }
        self.open_files()?;
        let first = self.model.steps_done();
        self.output()?;
        let warmup = list.measure.warmup.min((steps - first).saturating_sub(1));
        self.warmup = warmup;
        let mut times = Vec::with_capacity((steps - first - warmup) as usize);
        let rank = if self.speaks { 0 } else { 1 };
        let mut progress = Progress::new(rank, first, steps, list.time.dt);
        let mut wind = None;
        for step in first + 1..=steps {
            let seconds = self
                .model
                .step()
                .map_err(|error| self.session.explain(error))?;
            if step - first <= warmup {
                self.model.phases.reset();
            } else {
                times.push(seconds);
            }
            if step % PROGRESS_STEPS == 0 {
                wind = Some(
                    self.model
                        .max_wind()
                        .map_err(|error| self.session.explain(error))?,
                );
            }
            progress.update(step, wind);
            let due = |every: u64| every > 0 && step % every == 0;
            if due(output.every_steps) || step == steps {
                progress.suspend(|| self.output())?;
            }
            if due(output.checkpoint_steps) {
                self.checkpoint()?;
            }
        }
        progress.finish();
        Ok(times)
    }

    /// Makes the writers of rank 0.
    fn open_files(&mut self) -> Result<()> {
        let (session, list) = (self.session, &self.session.namelist);
        let output = &list.output;
        let surface = self
            .model
            .gather_surface()
            .map_err(|error| session.explain(error))?;
        let (Some(surface), Some(provenance)) = (surface, &self.provenance) else {
            return Ok(());
        };
        if output.checkpoint_steps > 0 {
            self.checkpoints = Some(CheckpointWriter::new(&output.directory));
        }
        if output.samples_per_file > 0 {
            let problem = &list.problem;
            let nlon = problem.nlon;
            self.already = last_history_time(&output.directory)?;
            self.history = Some(HistoryWriter::new(HistoryPlan {
                directory: output.directory.clone(),
                first_number: next_history_number(&output.directory),
                samples_per_file: output.samples_per_file,
                format: output.format,
                latitudes: self.model.latitudes(),
                longitudes: (0..nlon).map(|i| 360.0 * i as f64 / nlon as f64).collect(),
                levels: problem.levels,
                surface,
                title: format!("{} at {}", problem.case.name(), problem.truncation),
                source: format!("pstswm {}", env!("CARGO_PKG_VERSION")),
                history: format!(
                    "{}: {}",
                    provenance.started,
                    std::env::args().collect::<Vec<_>>().join(" ")
                ),
                namelist: list.resolved.clone(),
            })?);
        }
        Ok(())
    }

    /// Diagnostics, points and a history sample of the newest state.
    fn output(&mut self) -> Result<()> {
        let (session, list) = (self.session, &self.session.namelist);
        let explain = |error: SolverError| session.explain(error);
        let last = self.model.steps_done() == list.problem.steps;
        let entry = self.model.diagnose(last).map_err(explain)?;
        // A reference may be there at some times only: then its columns are, too.
        let columns = text::Columns::of(&entry);
        if self
            .diagnostics
            .last()
            .is_none_or(|before| text::Columns::of(before) != columns)
        {
            self.say(&text::table_header(columns))?;
        }
        self.say(&text::table_line(columns, &entry))?;
        self.diagnostics.push(entry);
        if !list.output.points.is_empty() {
            self.points
                .extend(self.model.at_points(&list.output.points).map_err(explain)?);
        }
        if self.kept.is_some() {
            self.keep()?;
        }
        if list.output.samples_per_file > 0 {
            let sum = checksum_of(&self.model)?;
            let levels = self.model.gather_fields().map_err(explain)?;
            let seconds = self.model.seconds();
            let held = self.already.is_some_and(|last| seconds <= last);
            if let (Some(history), Some(levels), false) = (&mut self.history, levels, held) {
                let start = self.model.phases.start();
                history.push(Sample {
                    time: seconds,
                    levels,
                    checksum: sum,
                })?;
                self.model.phases.stop(Phase::Output, start);
            }
        }
        Ok(())
    }

    /// Keeps the newest state on rank 0.
    fn keep(&mut self) -> Result<()> {
        let session = self.session;
        let explain = |error: SolverError| session.explain(error);
        let levels = self.model.gather_fields().map_err(explain)?;
        let state = self
            .model
            .to_checkpoint(&session.namelist.resolved)
            .map_err(explain)?;
        let surface = self.model.gather_surface().map_err(explain)?;
        let whole = levels
            .and_then(|levels| levels.into_iter().next())
            .zip(surface)
            .zip(state);
        if let (Some(kept), Some(((fields, surface), state))) = (&mut self.kept, whole) {
            kept.push(Kept {
                day: self.model.seconds() / DAY,
                fields,
                surface,
                state,
            });
        }
        Ok(())
    }

    fn checkpoint(&mut self) -> Result<()> {
        let session = self.session;
        let data = self
            .model
            .to_checkpoint(&session.namelist.resolved)
            .map_err(|error| session.explain(error))?;
        if let (Some(writer), Some(data)) = (&mut self.checkpoints, data) {
            let start = self.model.phases.start();
            // The samples before a checkpoint are not made again by a run that starts there.
            if let Some(history) = &mut self.history {
                history.flush()?;
            }
            writer.write(&data)?;
            self.model.phases.stop(Phase::Output, start);
        }
        Ok(())
    }

    /// Collects what the ranks measured, checks the result, and prints the end of the report.
    fn conclude(mut self, times: Vec<f64>) -> Result<Option<(RunRecord, Vec<Kept>)>> {
        let session = self.session;
        let phases = self.model.phases.clone();
        let checks = self.model.check().map_err(|error| session.explain(error))?;
        let sum = checksum_of(&self.model)?;
        let world = self.model.world();
        let mut slowest = times;
        collective::allreduce(world, &mut slowest, |slowest, own| {
            for (slowest, own) in slowest.iter_mut().zip(own) {
                *slowest = slowest.max(*own);
            }
        })?;
        let flat: Vec<f64> = phases.flatten();
        let gathered = collective::gather(world, 0, &flat)?;
        let (Some(gathered), Some(setup), Some(sum), Some(mut provenance)) =
            (gathered, self.setup, sum, self.provenance)
        else {
            return Ok(None);
        };
        let per_rank: Vec<&[f64]> = gathered
            .iter()
            .map(|flat| &flat[..Phases::FLAT_LENGTH])
            .collect();
        let list = &session.namelist;
        let evaluations = self.model.evaluations_per_step();
        let mut results = RunResults {
            setup,
            steps: list.problem.steps,
            warmup_steps: self.warmup,
            seconds_per_step: StepTimes::of(slowest),
            simulated_days_per_day: f64::NAN,
            transforms_per_step: TransformCount {
                inverse: evaluations * INVERSE_FIELDS as u32,
                forward: evaluations * FORWARD_FIELDS as u32,
            },
            flops_per_step: self.model.flops_per_step(),
            flops_formula: FLOPS_FORMULA.to_owned(),
            gflops: f64::NAN,
            phases: phases_over_ranks(&per_rank)
                .iter()
                .map(PhaseRecord::from)
                .collect(),
            diagnostics: self.diagnostics,
            checksum: format!("{sum:016x}"),
            kernel: self.kernel,
            points: self.points,
        };
        results.set_rates();
        provenance.finish();
        let verdict = Verdict::from_reasons(checks);
        if self.speaks {
            print(&text::summary(&results, &verdict))?;
        }
        let input = toml::from_str(&list.resolved)
            .map_err(|error| Error::Failed(format!("the resolved namelist is no TOML: {error}")))?;
        Ok(Some((
            Record::new(Kind::Run, verdict, provenance, input, results),
            self.kept.unwrap_or_default(),
        )))
    }
}

/// The checksum of the newest state over all ranks, on rank 0.
fn checksum_of<T: Transport>(model: &Model<T>) -> Result<Option<u64>> {
    let share = checksum::share(model.pencil().layout(), model.state());
    let shares = collective::gather(model.world(), 0, &[f64::from_bits(share)])?;
    Ok(shares.map(|shares| checksum::total(shares.iter().flatten().map(|bits| bits.to_bits()))))
}

fn setup<T: Transport>(session: &Session, model: &Model<T>, memory: MemoryRecord) -> Setup {
    let list = &session.namelist;
    let problem = &list.problem;
    Setup {
        case: problem.case.name().to_owned(),
        truncation: problem.truncation.mnk(),
        nlat: problem.nlat,
        nlon: problem.nlon,
        levels: problem.levels,
        dt: list.time.dt,
        steps: problem.steps,
        days: problem.steps as f64 * list.time.dt / DAY,
        scheme: list.time.scheme.name().to_owned(),
        courant: Courant::of(
            model.initial_max_wind(),
            model.phibar(),
            list.time.dt,
            problem.truncation.k_max(),
            problem.planet.radius,
        ),
        ranks: session.ranks,
        mesh: MeshRecord {
            px: session.mesh.px,
            py: session.mesh.py,
            rank_order: match session.mesh.order {
                crate::decomp::mesh::RankOrder::Row => "row".to_owned(),
                crate::decomp::mesh::RankOrder::Column => "column".to_owned(),
            },
        },
        algorithm: algorithm(&list.algorithm),
        memory_bytes: memory,
        wind_bound: model.wind_bound(),
    }
}

fn algorithm(choice: &AlgorithmChoice) -> AlgorithmRecord {
    let pairwise = |choice: &ExchangeChoice| Some(*choice).filter(|c| c.engine.is_none());
    let exchange = |choice: &ExchangeChoice| ExchangeRecord {
        transpose: match choice.engine {
            Some(_) => "collective".to_owned(),
            None => choice.transpose.name().to_owned(),
        },
        engine: choice
            .engine
            .map_or("pairwise", EngineKind::name)
            .to_owned(),
        order: pairwise(choice).map(|choice| choice.order.name().to_owned()),
        protocol: pairwise(choice).map(|choice| choice.protocol.name().to_owned()),
        handshake: pairwise(choice).map(|choice| choice.handshake),
        max_requests: pairwise(choice).map(|choice| choice.max_requests),
        overlap: pairwise(choice).map(|choice| choice.overlap),
    };
    let distributed_fft = choice.fft == FftAlgorithm::Distributed;
    let distributed_legendre = choice.legendre == LegendreAlgorithm::Distributed;
    AlgorithmRecord {
        fft: choice.fft.name().to_owned(),
        legendre: choice.legendre.name().to_owned(),
        fft_transpose: (!distributed_fft).then(|| exchange(&choice.fft_transpose)),
        fft_butterfly: distributed_fft.then(|| {
            let method = &choice.fft_butterfly.method;
            ButterflyRecord {
                order: method.order.name().to_owned(),
                protocol: method.protocol.name().to_owned(),
                handshake: method.handshake,
                overlap: method.overlap,
            }
        }),
        legendre_transpose: (!distributed_legendre).then(|| exchange(&choice.legendre_transpose)),
        legendre_sum: distributed_legendre.then(|| {
            let sum = &choice.legendre_sum;
            let swapped = sum.algorithm != SumAlgorithm::Native;
            SumRecord {
                sum: sum.algorithm.name().to_owned(),
                order: swapped.then(|| sum.order.name().to_owned()),
                protocol: swapped.then(|| sum.protocol.name().to_owned()),
                handshake: swapped.then_some(sum.handshake),
            }
        }),
    }
}
