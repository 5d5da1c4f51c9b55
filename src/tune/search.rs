//! From layouts to stages to whole steps.
//!
//! 1. Every layout takes whole steps with the namelist's own ways, interleaved. A layout whose step
//!    without any movement (its *floor*) is slower than the fastest whole step is out.
//! 2. Every stage of the layouts that are left is moved alone, all its ways interleaved; a way that is
//!    slower beyond noise drops out. The best of them are tried with windows and handshakes. A layout
//!    whose floor and fastest way together are slower than the fastest whole step is out.
//! 3. Layouts with the best ways of their stages take whole steps, interleaved; likewise.
//! 4. Finalists, the layouts that are left with the few best ways of each stage and the best of every
//!    kind, and the namelist's own choice, take whole steps, interleaved: the ranking.

mod finals;
mod stages;

use super::bench::Bench;
use super::layout::Layout;
use super::race::{FEWEST, Race};
use super::ways::{self, Wanted, Way};
use crate::measure::Movement;
use crate::pencil::choice::AlgorithmChoice;
use crate::pencil::{Movements, PencilError};
use crate::problem::definition::{Problem, TimeStepping};
use crate::report::tune::{CostRecord, FailedRecord, LayoutRecord, TuneResults};
use crate::solver::moment::Moment;
use crate::solver::{Model, SolverError};
use crate::transform::kernels::Family;
use crate::transport::{Transport, TransportError};

/// Most rounds of each kind of race.
const ROUNDS: [usize; 4] = [10, 16, 20, 80];

/// The last kind.
const FINAL: usize = 3;

/// Rounds where every candidate is kept.
const ALL_ROUNDS: usize = 40;

/// Shares of the budget after which each kind of race ends.
const SHARES: [f64; 4] = [0.2, 0.6, 0.75, 1.0];

/// Ways of a stage that go to the final.
const FINAL_WAYS: usize = 3;

/// Layouts that go to the final.
const FINAL_LAYOUTS: usize = 3;

/// What to search for.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The problem.
    pub problem: Problem,
    /// Its time stepping.
    pub time: TimeStepping,
    /// Machine code.
    pub family: Family,
    /// The namelist's own choice.
    pub base: AlgorithmChoice,
    /// Its layout.
    pub base_layout: Layout,
    /// Layouts to look at.
    pub layouts: Vec<Layout>,
    /// Ways to look at.
    pub wanted: Wanted,
    /// Seconds for all.
    pub budget: f64,
    /// Seed of the order of samples.
    pub seed: u64,
    /// How to go about it.
    pub mode: Mode,
    /// Candidates that are left out because they failed before, by name, and why.
    pub skipped: Vec<(String, String)>,
}

impl Plan {
    /// Combinations of layouts and ways.
    pub fn combinations(&self) -> usize {
        let of = |layout: &Layout| {
            let count = |stage| ways::ways(stage, ranks_of(stage, layout), &self.wanted).len();
            layout.stages().into_iter().map(count).product::<usize>()
        };
        self.layouts.iter().map(of).sum()
    }
}

/// How candidates are found.
#[derive(Clone, Debug, PartialEq)]
pub enum Mode {
    /// By stages.
    Search,
    /// Every combination takes whole steps.
    Exhaustive,
    /// These, and no others.
    Given(Vec<(Layout, AlgorithmChoice)>),
}

/// What the search tells while it runs, on every rank.
#[derive(Clone, Debug, PartialEq)]
pub enum News<'a> {
    /// A race begins: what it is about, and how many take part.
    Race(&'a str, usize),
    /// It is over, after so many rounds.
    Over(usize),
    /// A candidate's first exchange begins; ends.
    Under(&'a str, bool),
}

/// One layout with its model.
struct Entry<T: Transport> {
    layout: Layout,
    model: Model<T>,
    record: LayoutRecord,
    /// The stages, with the best ways found.
    stages: Vec<(Movement, Vec<Way>)>,
    /// Before and after a step with the namelist's own ways: every candidate must come there.
    check: [Moment; 2],
}

/// A whole choice that takes steps.
struct Candidate<T: Transport> {
    /// Which layout.
    entry: usize,
    choice: AlgorithmChoice,
    default: bool,
    movements: Movements<T>,
}

/// Looks for the fastest. Every rank of `comm` calls it, and gets the same result.
///
/// # Errors
/// A failed step or exchange; no layout that can be had.
pub fn run<T: Transport>(
    comm: T,
    plan: &Plan,
    tell: &mut dyn FnMut(News<'_>),
) -> Result<TuneResults, SolverError> {
    let mut search = Search {
        bench: Bench::new(comm)?,
        plan,
        tell,
        rng: fastrand::Rng::with_seed(plan.seed),
        cost: CostRecord {
            budget_seconds: plan.budget,
            ..CostRecord::default()
        },
        failed: Vec::new(),
        wrong: Vec::new(),
        notes: Vec::new(),
        fastest: f64::INFINITY,
        grid: Vec::new(),
    };
    search.run()
}

struct Search<'a, T: Transport> {
    bench: Bench<T>,
    plan: &'a Plan,
    tell: &'a mut dyn FnMut(News<'_>),
    rng: fastrand::Rng,
    cost: CostRecord,
    failed: Vec<FailedRecord>,
    /// Candidates whose step came elsewhere.
    wrong: Vec<String>,
    notes: Vec<String>,
    /// Median of the fastest step with the namelist's own ways, s.
    fastest: f64,
    grid: Vec<f64>,
}

impl<T: Transport> Search<'_, T> {
    fn run(&mut self) -> Result<TuneResults, SolverError> {
        let mut entries = self.models()?;
        let combinations = finals::combinations::<T>;
        let same_ways = finals::same_ways::<T>;
        let mut stages = Vec::new();
        let mut chosen: Vec<(usize, AlgorithmChoice)> = Vec::new();
        match &self.plan.mode {
            Mode::Search => {
                self.floors(&mut entries)?;
                stages = self.stages(&mut entries)?;
                let left = self.best_layouts(&mut entries)?;
                for &entry in &left {
                    let (entry_of, base) = (&entries[entry], &self.plan.base);
                    let choices = combinations(entry_of, base, FINAL_WAYS)
                        .into_iter()
                        .chain(finals::variants(entry_of, base));
                    chosen.extend(choices.map(|choice| (entry, choice)));
                }
            }
            Mode::Exhaustive => {
                for (index, entry) in entries.iter_mut().enumerate() {
                    for (stage, ways) in &mut entry.stages {
                        let ranks = ranks_of(*stage, &entry.layout);
                        *ways = ways::ways(*stage, ranks, &self.plan.wanted);
                    }
                    let all = combinations(entry, &self.plan.base, usize::MAX);
                    chosen.extend(all.into_iter().map(|choice| (index, choice)));
                }
            }
            Mode::Given(given) => {
                for (layout, choice) in given {
                    let index = entries.iter().position(|entry| entry.layout == *layout);
                    chosen.extend(index.map(|index| (index, *choice)));
                }
            }
        }
        if !matches!(self.plan.mode, Mode::Given(_)) {
            let own = entries
                .iter()
                .position(|entry| entry.layout == self.plan.base_layout);
            let choice = self.plan.base;
            if let Some(own) = own
                && !chosen
                    .iter()
                    .any(|(entry, other)| *entry == own && same_ways(&entries[own], other, &choice))
            {
                chosen.push((own, choice));
            }
        }
        let ranking = self.final_race(&mut entries, &chosen)?;
        self.cost.seconds = self.bench.elapsed()?;
        let default = ranking.iter().find(|one| one.default).map(|one| one.ratio);
        Ok(TuneResults {
            definitions: Vec::new(),
            mode: match self.plan.mode {
                Mode::Search => "search",
                Mode::Exhaustive => "exhaustive",
                Mode::Given(_) => "given",
            }
            .to_owned(),
            cost: self.cost,
            layouts: entries.into_iter().map(|entry| entry.record).collect(),
            stages,
            fragment: ranking
                .first()
                .map_or(String::new(), |first| first.fragment.clone()),
            ranking,
            default,
            failed: std::mem::take(&mut self.failed),
            wrong: std::mem::take(&mut self.wrong),
            notes: std::mem::take(&mut self.notes),
            settings: Vec::new(),
            unavailable: Vec::new(),
        })
    }

    /// A model for every layout. Those that cannot be had are listed.
    fn models(&mut self) -> Result<Vec<Entry<T>>, SolverError> {
        let begin = self.bench.elapsed()?;
        let plan = self.plan;
        let mut entries = Vec::new();
        for &layout in &plan.layouts {
            let mut choice = plan.base;
            layout.put(&mut choice);
            let world = self.bench.comm().split(0, self.bench.comm().rank())?;
            let model = Model::new(
                world,
                plan.problem.clone(),
                plan.time,
                layout.mesh,
                &choice,
                plan.family,
            );
            let name = layout.to_string();
            let Some(mut model) = self.had(model, &name)? else {
                continue;
            };
            // The first steps of a leapfrog are others; they warm up.
            self.bench.steps(&mut model, None, 2)?;
            let before = model.moment();
            model.step()?;
            let check = [before, model.moment()];
            self.cost.steps += 3;
            let stages = layout.stages();
            entries.push(Entry {
                record: LayoutRecord {
                    layout: name,
                    mesh: [layout.mesh.px, layout.mesh.py],
                    rank_order: match layout.mesh.order {
                        crate::decomp::mesh::RankOrder::Row => "row",
                        crate::decomp::mesh::RankOrder::Column => "column",
                    }
                    .to_owned(),
                    fft: layout.fft.name().to_owned(),
                    legendre: layout.legendre.name().to_owned(),
                    step_seconds: None,
                    floor_seconds: None,
                    messages: 0,
                    bytes: 0,
                    dropped: None,
                },
                stages: stages
                    .into_iter()
                    .map(|stage| (stage, vec![Way::of(stage, &choice)]))
                    .collect(),
                layout,
                model,
                check,
            });
        }
        self.cost.preparing_seconds += self.bench.elapsed()? - begin;
        if entries.is_empty() {
            return Err(SolverError::Start(
                "none of the layouts can be had; see what failed".to_owned(),
            ));
        }
        Ok(entries)
    }

    /// What was made, unless it failed on some rank, which is then listed.
    fn had<V, E: Into<SolverError>>(
        &mut self,
        made: Result<V, E>,
        name: &str,
    ) -> Result<Option<V>, SolverError> {
        let (made, reason) = match made.map_err(Into::into) {
            Ok(made) => (Some(made), None),
            Err(error) if is_soft(&error) => (None, Some(error.to_string())),
            Err(error) => return Err(error),
        };
        let failed = self.bench.agree(f64::from(u8::from(made.is_none())))?;
        if failed == 0.0 {
            return Ok(made);
        }
        self.failed.push(FailedRecord {
            candidate: name.to_owned(),
            reason: reason.unwrap_or_else(|| "failed on another rank".to_owned()),
        });
        Ok(None)
    }

    /// Whether the time of a kind of race is over. Every rank calls it.
    fn is_late(&self, kind: usize) -> Result<bool, SolverError> {
        Ok(self.bench.elapsed()? > SHARES[kind] * self.plan.budget)
    }

    /// Whether twice the budget is spent. Every rank calls it.
    fn is_far_too_late(&self) -> Result<bool, SolverError> {
        Ok(self.bench.elapsed()? > 2.0 * self.plan.budget)
    }

    /// Rounds until the race is decided, has had enough of them, or its time is over. `sample`
    /// times one candidate on this rank: values of which the largest over ranks counts, the first
    /// being the time that decides; they go to `seen`.
    fn race(
        &mut self,
        about: &str,
        race: &mut Race,
        kind: usize,
        drops: bool,
        mut sample: impl FnMut(&mut Self, usize) -> Result<[f64; 2], SolverError>,
        mut seen: impl FnMut(usize, [f64; 2]),
    ) -> Result<(), SolverError> {
        (self.tell)(News::Race(about, race.alive().len()));
        let mut rounds = 0;
        loop {
            let mut turn = race.alive();
            self.rng.shuffle(&mut turn);
            self.bench.new_round()?;
            let mut values = Vec::with_capacity(2 * turn.len());
            for &candidate in &turn {
                values.extend(sample(self, candidate)?);
            }
            self.bench.share(&mut values)?;
            let round: Vec<(usize, f64)> = turn
                .iter()
                .zip(values.chunks_exact(2))
                .map(|(&candidate, values)| (candidate, values[0]))
                .collect();
            for (&candidate, values) in turn.iter().zip(values.chunks_exact(2)) {
                seen(candidate, [values[0], values[1]]);
            }
            race.push(&round);
            rounds += 1;
            if drops {
                race.drop_slower();
            }
            // Without an interval the ranking says nothing: the final may go on for as long again.
            let few = kind == FINAL && rounds < FEWEST && !self.is_far_too_late()?;
            let late = !few && self.is_late(kind)?;
            let most = if drops || kind == 0 {
                ROUNDS[kind]
            } else {
                ALL_ROUNDS
            };
            if late && rounds < most && !race.is_decided() {
                self.notes.push(format!(
                    "{about}: the budget ended it in round {rounds} of {most}"
                ));
            }
            if late || rounds >= most || (drops && race.is_decided()) {
                (self.tell)(News::Over(rounds));
                return Ok(());
            }
        }
    }

    /// Step 1: whole steps of every layout; those whose floor is too high are out.
    fn floors(&mut self, entries: &mut [Entry<T>]) -> Result<(), SolverError> {
        let begin = self.bench.elapsed()?;
        let mut race = Race::new(entries.len());
        let mut floors: Vec<Vec<f64>> = vec![Vec::new(); entries.len()];
        let steps = self.first_steps(entries)?;
        let mut taken = 0;
        self.race(
            "layouts",
            &mut race,
            0,
            false,
            |search, index| {
                let entry = &mut entries[index];
                // Every sample is of the same steps.
                entry.model.return_to(&entry.check[0]);
                let sample = search.bench.steps(&mut entry.model, None, steps[index])?;
                taken += steps[index] as u64;
                Ok([sample.step, sample.floor])
            },
            |index, values| floors[index].push(values[1]),
        )?;
        self.cost.steps += taken;
        let best = race.best().and_then(|best| race.time(best));
        let best = best.map_or(f64::INFINITY, |time| time.median);
        self.fastest = best;
        for (index, entry) in entries.iter_mut().enumerate() {
            let floor = crate::measure::Summary::of(&floors[index]).map(|floor| floor.median);
            entry.record.step_seconds = race.time(index);
            entry.record.floor_seconds = floor;
            if floor.is_some_and(|floor| floor > best) {
                entry.record.dropped =
                    Some("slower than the fastest even if nothing were moved".to_owned());
            }
        }
        self.cost.candidates += entries.len();
        self.cost.layouts_seconds += self.bench.elapsed()? - begin;
        Ok(())
    }

    /// A step of every layout, which tells its traffic; how many steps make a sample.
    fn first_steps(&mut self, entries: &mut [Entry<T>]) -> Result<Vec<usize>, SolverError> {
        let mut steps = Vec::new();
        for entry in entries {
            let sample = self.bench.steps(&mut entry.model, None, 1)?;
            let sums = self.bench.sum([sample.messages, sample.bytes])?;
            entry.record.messages = sums[0] as u64;
            entry.record.bytes = sums[1] as u64;
            self.cost.steps += 1;
            let step = self.bench.agree(sample.step)?;
            steps.push(Bench::<T>::repetitions(step));
        }
        Ok(steps)
    }

    /// Whether a candidate hung before; lists it.
    fn is_skipped(&mut self, name: &str) -> bool {
        let skipped = self.plan.skipped.iter().find(|skipped| skipped.0 == name);
        if let Some((_, reason)) = skipped {
            self.failed.push(FailedRecord {
                candidate: name.to_owned(),
                reason: reason.clone(),
            });
        }
        skipped.is_some()
    }
}

/// Errors of one candidate, after which the others can go on: found before anything is sent.
fn is_soft(error: &SolverError) -> bool {
    matches!(
        error,
        SolverError::Pencil(
            PencilError::Plan(_)
                | PencilError::Mesh(_)
                | PencilError::Transport(TransportError::NoEngine { .. })
        ) | SolverError::Transport(TransportError::NoEngine { .. })
    )
}

/// Ranks that exchange in a stage.
fn ranks_of(stage: Movement, layout: &Layout) -> usize {
    match stage {
        Movement::FftTranspose | Movement::FftButterfly => layout.mesh.px,
        Movement::LegendreTranspose | Movement::LegendreSum => layout.mesh.py,
        Movement::Gather => layout.mesh.ranks(),
    }
}

/// The namelist's table of a stage.
fn stage_name(stage: Movement) -> &'static str {
    match stage {
        Movement::FftTranspose => "fft-transpose",
        Movement::FftButterfly => "fft-butterfly",
        Movement::LegendreTranspose => "legendre-transpose",
        Movement::LegendreSum => "legendre-sum",
        Movement::Gather => "gather",
    }
}
