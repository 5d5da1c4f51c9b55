//! Whole choices as whole steps.

use super::{Candidate, Entry, FINAL_LAYOUTS, FINAL_WAYS, Mode, News, Search, stage_name};
use crate::pencil::choice::AlgorithmChoice;
use crate::report::tune::{FinalistRecord, StageWayRecord};
use crate::solver::SolverError;
use crate::transport::Transport;
use crate::tune::bench::Bench;
use crate::tune::race::Race;
use crate::tune::ways::Way;

/// Largest distance of a candidate's step from the same step with the namelist's ways: sums in
/// another order round differently, everything else is the same bits.
const DISTANCE: f64 = 1e-11;

/// How much slower than the fastest a layout may be with the ways that are best alone: in the final
/// it has others, too.
const LAYOUTS_WITHIN: f64 = 0.15;

impl<T: Transport> Search<'_, T> {
    /// Step 3: layouts with their best ways; those that go to the final.
    pub(super) fn best_layouts(
        &mut self,
        entries: &mut [Entry<T>],
    ) -> Result<Vec<usize>, SolverError> {
        let begin = self.bench.elapsed()?;
        let mut chosen = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            if entry.record.dropped.is_none() {
                chosen.extend(
                    combinations(entry, &self.plan.base, 1)
                        .into_iter()
                        .map(|choice| (index, choice)),
                );
            }
        }
        let mut candidates = self.candidates(entries, &chosen)?;
        let mut race = Race::new(candidates.len()).tolerating(LAYOUTS_WITHIN);
        self.step_race(
            "layouts with the best ways",
            &mut race,
            2,
            entries,
            &mut candidates,
        )?;
        let standings = race.standings();
        let left: Vec<usize> = standings
            .iter()
            .filter(|&&index| race.is_alive(index))
            .take(FINAL_LAYOUTS)
            .map(|&index| candidates[index].entry)
            .collect();
        for index in standings {
            let entry = &mut entries[candidates[index].entry];
            if !left.contains(&candidates[index].entry) {
                entry.record.dropped = Some("slower as whole steps with its best ways".to_owned());
            }
        }
        self.cost.layouts_seconds += self.bench.elapsed()? - begin;
        Ok(left)
    }

    /// Step 4.
    pub(super) fn final_race(
        &mut self,
        entries: &mut [Entry<T>],
        chosen: &[(usize, AlgorithmChoice)],
    ) -> Result<Vec<FinalistRecord>, SolverError> {
        let begin = self.bench.elapsed()?;
        let mut candidates = self.candidates(entries, chosen)?;
        let mut race = Race::new(candidates.len());
        let searches = self.plan.mode == Mode::Search;
        for (index, candidate) in candidates.iter().enumerate() {
            if candidate.default || !searches {
                race.keep(index);
            }
        }
        self.step_race("finalists", &mut race, 3, entries, &mut candidates)?;
        self.cost.finalists_seconds += self.bench.elapsed()? - begin;
        let best = race.best().unwrap_or(0);
        let standings = race.standings();
        let records = standings.into_iter().filter_map(|index| {
            let candidate = &candidates[index];
            let entry = &entries[candidate.entry];
            let ways = entry.stages.iter().map(|(stage, _)| StageWayRecord {
                stage: stage_name(*stage).to_owned(),
                way: Way::of(*stage, &candidate.choice).name(),
            });
            Some(FinalistRecord {
                layout: entry.record.layout.clone(),
                ways: ways.collect(),
                default: candidate.default,
                step_seconds: race.time(index)?,
                ratio: race.ratio(index, best),
                dropped: !race.is_alive(index),
                fragment: fragment(entry, &candidate.choice),
            })
        });
        Ok(records.collect())
    }

    /// Makes whole choices ready to take steps.
    fn candidates(
        &mut self,
        entries: &mut [Entry<T>],
        chosen: &[(usize, AlgorithmChoice)],
    ) -> Result<Vec<Candidate<T>>, SolverError> {
        let begin = self.bench.elapsed()?;
        let mut candidates = Vec::new();
        for &(index, choice) in chosen {
            let entry = &mut entries[index];
            let name = candidate_name(entry, &choice);
            if self.is_skipped(&name) {
                continue;
            }
            (self.tell)(News::Under(&name, true));
            let made = entry.model.pencil().movements(&choice);
            let made = self.had(made.map_err(SolverError::from), &name)?;
            if let Some(mut movements) = made {
                let [before, after] = &entry.check;
                entry.model.return_to(before);
                self.bench
                    .steps(&mut entry.model, Some(&mut movements), 1)?;
                self.cost.steps += 1;
                let distance = entry.model.distance(after)?;
                if distance.is_nan() || distance > DISTANCE {
                    self.wrong.push(format!("{name}: off by {distance:.1e}"));
                }
                candidates.push(Candidate {
                    entry: index,
                    default: entry.layout == self.plan.base_layout
                        && same_ways(entry, &choice, &self.plan.base),
                    choice,
                    movements,
                });
            }
            (self.tell)(News::Under(&name, false));
        }
        self.cost.candidates += candidates.len();
        self.cost.preparing_seconds += self.bench.elapsed()? - begin;
        Ok(candidates)
    }

    /// Whole steps of candidates, interleaved.
    fn step_race(
        &mut self,
        about: &str,
        race: &mut Race,
        kind: usize,
        entries: &mut [Entry<T>],
        candidates: &mut [Candidate<T>],
    ) -> Result<(), SolverError> {
        let mut steps = Vec::new();
        for candidate in candidates.iter_mut() {
            let model = &mut entries[candidate.entry].model;
            let movements = Some(&mut candidate.movements);
            let sample = self.bench.steps(model, movements, 1)?;
            let step = self.bench.agree(sample.step)?;
            steps.push(Bench::<T>::repetitions(step));
        }
        let mut taken = candidates.len() as u64;
        self.race(
            about,
            race,
            kind,
            self.plan.mode == Mode::Search,
            |search, index| {
                let candidate = &mut candidates[index];
                let entry = &mut entries[candidate.entry];
                // Every sample is of the same steps.
                entry.model.return_to(&entry.check[0]);
                let movements = Some(&mut candidate.movements);
                taken += steps[index] as u64;
                let sample = search
                    .bench
                    .steps(&mut entry.model, movements, steps[index])?;
                Ok([sample.step, sample.floor])
            },
            |_, _| {},
        )?;
        self.cost.steps += taken;
        Ok(())
    }
}

/// Every combination of the best `most` ways of a layout's stages.
pub(super) fn combinations<T: Transport>(
    entry: &Entry<T>,
    base: &AlgorithmChoice,
    most: usize,
) -> Vec<AlgorithmChoice> {
    let mut choice = *base;
    entry.layout.put(&mut choice);
    let mut choices = vec![choice];
    for (stage, ways) in &entry.stages {
        let with = |choice: &AlgorithmChoice, way: &Way| {
            let mut choice = *choice;
            way.put(*stage, &mut choice);
            choice
        };
        choices = choices
            .iter()
            .flat_map(|choice| ways.iter().take(most).map(|way| with(choice, way)))
            .collect();
    }
    choices
}

/// The best ways of a layout's stages, with one of them exchanged for one beyond the best few.
pub(super) fn variants<T: Transport>(
    entry: &Entry<T>,
    base: &AlgorithmChoice,
) -> Vec<AlgorithmChoice> {
    let best = combinations(entry, base, 1);
    let mut choices = Vec::new();
    for (stage, ways) in &entry.stages {
        for way in ways.iter().skip(FINAL_WAYS) {
            for mut choice in best.iter().copied() {
                way.put(*stage, &mut choice);
                choices.push(choice);
            }
        }
    }
    choices
}

/// Whether two choices move the stages of a layout alike.
pub(super) fn same_ways<T: Transport>(
    entry: &Entry<T>,
    a: &AlgorithmChoice,
    b: &AlgorithmChoice,
) -> bool {
    let stages = entry.stages.iter();
    stages
        .map(|(stage, _)| *stage)
        .all(|stage| Way::of(stage, a) == Way::of(stage, b))
}

fn candidate_name<T: Transport>(entry: &Entry<T>, choice: &AlgorithmChoice) -> String {
    let ways = entry
        .stages
        .iter()
        .map(|(stage, _)| format!("{} {}", stage_name(*stage), Way::of(*stage, choice).name()));
    let ways: Vec<String> = ways.collect();
    format!("{}: {}", entry.record.layout, ways.join(", "))
}

/// The `[algorithm]` tables of a choice.
fn fragment<T: Transport>(entry: &Entry<T>, choice: &AlgorithmChoice) -> String {
    let record = &entry.record;
    let [px, py] = record.mesh;
    let mut lines = vec![
        "[algorithm]".to_owned(),
        format!("mesh = [{px}, {py}]"),
        format!("rank-order = \"{}\"", record.rank_order),
        format!("fft = \"{}\"", record.fft),
        format!("legendre = \"{}\"", record.legendre),
    ];
    for (stage, _) in &entry.stages {
        lines.push(format!("[algorithm.{}]", stage_name(*stage)));
        lines.extend(Way::of(*stage, choice).keys());
    }
    lines.push(String::new());
    lines.join("\n")
}
