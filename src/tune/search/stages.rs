//! The ways of every stage, alone.

use std::collections::BTreeMap;

use super::{Entry, FINAL_WAYS, News, ROUNDS, SHARES, Search, ranks_of, stage_name};
use crate::measure::linear_model::Sensitivity;
use crate::measure::{Movement, Phases};
use crate::pencil::{FORWARD_FIELDS, Movements};
use crate::report::tune::{StageRecord, WayRecord};
use crate::solver::SolverError;
use crate::transport::Transport;
use crate::tune::bench::Bench;
use crate::tune::race::{FEWEST, Race};
use crate::tune::ways::{self, Way};

/// Ways of a stage that are tried with windows and handshakes.
const REFINED: usize = 3;

/// How much slower than the fastest, alone, the fastest of a kind may be to go to the final.
const KINDS_WITHIN: f64 = 2.0;

/// Bytes of a rank for the buffers of ways that are in a race together.
const ROOM: usize = 1 << 30;

impl<T: Transport> Search<'_, T> {
    /// Step 2: the ways of every stage, alone. Stages of layouts that exchange the same are measured
    /// once.
    pub(super) fn stages(
        &mut self,
        entries: &mut [Entry<T>],
    ) -> Result<Vec<StageRecord>, SolverError> {
        let begin = self.bench.elapsed()?;
        let mut records: Vec<StageRecord> = Vec::new();
        let mut known: BTreeMap<String, (usize, Vec<Way>)> = BTreeMap::new();
        let mut jobs = Vec::new();
        for (index, entry) in entries.iter().enumerate() {
            if entry.record.dropped.is_none() {
                jobs.extend((0..entry.stages.len()).map(|stage| (index, stage)));
            }
        }
        let all = jobs.len();
        for (number, (index, stage)) in jobs.into_iter().enumerate() {
            let movement = entries[index].stages[stage].0;
            let key = self.key(&mut entries[index], movement)?;
            if let Some((record, ways)) = known.get(&key) {
                entries[index].stages[stage].1.clone_from(ways);
                let layout = entries[index].record.layout.clone();
                records[*record].layouts.push(layout);
                continue;
            }
            // What is left of the time for stages is shared among those to come.
            let now = self.bench.elapsed()?;
            let share = (SHARES[1] * self.plan.budget - now) / (all - number) as f64;
            if entries[index].record.dropped.is_some() {
                continue;
            }
            let Some((record, ways)) = self.stage(&mut entries[index], movement, now + share)?
            else {
                continue;
            };
            known.insert(key, (records.len(), ways.clone()));
            entries[index].stages[stage].1 = ways;
            records.push(record);
        }
        self.cost.stages_seconds += self.bench.elapsed()? - begin;
        Ok(records)
    }

    /// What a stage exchanges: the same key, the same exchange.
    fn key(&mut self, entry: &mut Entry<T>, stage: Movement) -> Result<String, SolverError> {
        let mut phases = Phases::new();
        let pencil = entry.model.pencil_mut();
        self.grid.resize(pencil.grid().len(FORWARD_FIELDS), 1.0);
        pencil.move_alone(stage, &mut self.grid, &mut phases)?;
        let sent = phases.total(stage.movement());
        let sums = self
            .bench
            .sum([sent.messages as f64, sent.bytes_sent as f64])?;
        let most = self.bench.agree(sent.bytes_sent as f64)?;
        let mesh = entry.layout.mesh;
        Ok(format!(
            "{stage:?} {}x{} {:?} {} {} {most}",
            mesh.px, mesh.py, mesh.order, sums[0], sums[1]
        ))
    }

    /// The ways of one stage: a race, and another of the best with windows and handshakes.
    fn stage(
        &mut self,
        entry: &mut Entry<T>,
        stage: Movement,
        until: f64,
    ) -> Result<Option<(StageRecord, Vec<Way>)>, SolverError> {
        let ranks = ranks_of(stage, &entry.layout);
        let mut ways = ways::ways(stage, ranks, &self.plan.wanted);
        let own = Way::of(stage, &self.plan.base);
        if !ways.contains(&own) {
            ways.push(own);
        }
        let about = format!("{} of {}", stage_name(stage), entry.record.layout);
        let first = self.stage_race(entry, stage, &about, ways, until)?;
        if entry.record.dropped.is_some() {
            return Ok(None);
        }
        let mut more = Vec::new();
        for (way, _) in first.iter().take(REFINED) {
            for refined in ways::refinements(*way, ranks) {
                if !more.contains(&refined) && !first.iter().any(|(way, _)| *way == refined) {
                    more.push(refined);
                }
            }
        }
        let mut standings = first;
        if !more.is_empty() {
            let again = standings.iter().take(REFINED).map(|(way, _)| *way);
            more.splice(0..0, again);
            let about = format!("{about}, windows and handshakes");
            let second = self.stage_race(entry, stage, &about, more, until)?;
            // Times of two races are not compared: the second's ranking leads, and ways that only
            // the first had follow.
            let rest: Vec<_> = standings
                .into_iter()
                .filter(|(way, _)| !second.iter().any(|(other, _)| other == way))
                .collect();
            standings = second;
            standings.extend(rest);
        }
        let mut best: Vec<Way> = standings
            .iter()
            .filter(|(_, record)| !record.dropped)
            .map(|(way, _)| *way)
            .take(FINAL_WAYS)
            .collect();
        // In a step caches hold other things than alone, which some kinds of ways mind more than
        // others: the fastest of every kind goes to the final, too.
        for (way, record) in &standings {
            let known = best.iter().any(|other| other.kind() == way.kind());
            if !known && record.ratio.median <= KINDS_WITHIN {
                best.push(*way);
            }
        }
        let medians: Vec<f64> = standings.iter().map(|(_, r)| r.seconds.median).collect();
        let sensitivity = Sensitivity::of(&medians);
        let record = StageRecord {
            stage: stage_name(stage).to_owned(),
            layouts: vec![entry.record.layout.clone()],
            ranks,
            typical: sensitivity.as_ref().map(|s| s.typical),
            worst: sensitivity.as_ref().map(|s| s.worst),
            grade: sensitivity.as_ref().map(|s| s.grade().to_owned()),
            ways: standings.into_iter().map(|(_, record)| record).collect(),
        };
        Ok(Some((record, best)))
    }

    /// Races ways of a stage; those that were timed, the fastest first.
    fn stage_race(
        &mut self,
        entry: &mut Entry<T>,
        stage: Movement,
        about: &str,
        mut ways: Vec<Way>,
        until: f64,
    ) -> Result<Vec<(Way, WayRecord)>, SolverError> {
        let mut standings: Vec<(Way, WayRecord)> = Vec::new();
        // As many at once as there is room for; the best of a heat are in the next.
        while !ways.is_empty() {
            let champions: Vec<Way> = standings
                .iter()
                .take(REFINED)
                .map(|(way, _)| *way)
                .collect();
            let mut heat: Vec<(Way, Movements<T>, usize)> = Vec::new();
            let (mut bytes, mut shortest) = (0, f64::INFINITY);
            let mut waiting = champions.clone();
            waiting.append(&mut ways);
            let begin = self.bench.elapsed()?;
            while !waiting.is_empty() && (bytes < ROOM || heat.len() <= champions.len()) {
                let way = waiting.remove(0);
                if let Some((movements, time)) = self.prepared(entry, stage, way)? {
                    bytes += self.bench.agree(movements.bytes() as f64)? as usize;
                    shortest = shortest.min(time);
                    heat.push((way, movements, Bench::<T>::repetitions(time)));
                }
            }
            self.cost.preparing_seconds += self.bench.elapsed()? - begin;
            ways = waiting;
            let floor = entry.record.floor_seconds.unwrap_or(0.0);
            if ways.is_empty() && standings.is_empty() && floor + shortest > self.fastest {
                entry.record.dropped = Some(format!(
                    "slower than the fastest even with the fastest way of its {}",
                    stage_name(stage)
                ));
                return Ok(standings);
            }
            if heat.is_empty() {
                break;
            }
            let mut race = Race::new(heat.len());
            let mut grid = std::mem::take(&mut self.grid);
            let model = &mut entry.model;
            self.timed_race(about, &mut race, until, |search, index| {
                let (_, movements, repetitions) = &mut heat[index];
                search
                    .bench
                    .stage(model, movements, stage, *repetitions, &mut grid)
            })?;
            self.grid = grid;
            self.cost.ways += heat.len() - champions.len().min(heat.len());
            let best = race.best().unwrap_or(0);
            let found = race.standings().into_iter().filter_map(|index| {
                let way = heat[index].0;
                Some((
                    way,
                    WayRecord {
                        way: way.name(),
                        seconds: race.time(index)?,
                        ratio: race.ratio(index, best),
                        dropped: !race.is_alive(index),
                    },
                ))
            });
            let found: Vec<(Way, WayRecord)> = found.collect();
            standings.retain(|(way, _)| !found.iter().any(|(other, _)| other == way));
            let mut all = found;
            all.append(&mut standings);
            standings = all;
        }
        Ok(standings)
    }

    /// A race of a kind that ends at a time of its own.
    fn timed_race(
        &mut self,
        about: &str,
        race: &mut Race,
        until: f64,
        mut sample: impl FnMut(&mut Self, usize) -> Result<f64, SolverError>,
    ) -> Result<(), SolverError> {
        (self.tell)(News::Race(about, race.alive().len()));
        let mut rounds = 0;
        loop {
            let mut turn = race.alive();
            self.rng.shuffle(&mut turn);
            self.bench.new_round()?;
            let mut values = Vec::with_capacity(turn.len());
            for &candidate in &turn {
                values.push(sample(self, candidate)?);
            }
            self.bench.share(&mut values)?;
            let round: Vec<(usize, f64)> = turn.into_iter().zip(values).collect();
            race.push(&round);
            race.drop_slower();
            rounds += 1;
            let late = self.bench.elapsed()? > until;
            if late && rounds < FEWEST {
                self.notes
                    .push(format!("{about}: the budget ended it in round {rounds}"));
            }
            if late || rounds >= ROUNDS[1] || race.is_decided() {
                (self.tell)(News::Over(rounds));
                return Ok(());
            }
        }
    }

    /// Movements of a stage's way that have moved twice, and the shorter time of these.
    fn prepared(
        &mut self,
        entry: &mut Entry<T>,
        stage: Movement,
        way: Way,
    ) -> Result<Option<(Movements<T>, f64)>, SolverError> {
        let name = format!(
            "{} of {}: {}",
            stage_name(stage),
            entry.record.layout,
            way.name()
        );
        if self.is_skipped(&name) {
            return Ok(None);
        }
        let mut choice = self.plan.base;
        entry.layout.put(&mut choice);
        way.put(stage, &mut choice);
        (self.tell)(News::Under(&name, true));
        let made = entry.model.pencil().movements(&choice);
        let Some(mut movements) = self.had(made.map_err(SolverError::from), &name)? else {
            (self.tell)(News::Under(&name, false));
            return Ok(None);
        };
        let mut grid = std::mem::take(&mut self.grid);
        let mut shortest = f64::INFINITY;
        for _ in 0..2 {
            let model = &mut entry.model;
            let moved = self
                .bench
                .stage(model, &mut movements, stage, 1, &mut grid)?;
            shortest = shortest.min(self.bench.agree(moved)?);
        }
        self.grid = grid;
        (self.tell)(News::Under(&name, false));
        Ok(Some((movements, shortest)))
    }
}
