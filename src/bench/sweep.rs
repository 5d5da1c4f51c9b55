//! The samples of the swap test. Every round takes one sample of every point, in an order drawn
//! anew, so that a drift of the machine favours no protocol.

use super::case::{Case, Request, Way};
use super::clock::CommonClock;
use super::data::Eviction;
use super::mover::Mover;
use crate::exchange::collective;
use crate::transport::{Block, EngineKind, Pattern, Transport, TransportError};

/// Samples that a point should have at least: enough for an interval of the median.
pub const FEWEST: usize = 6;

/// Samples taken to learn what they cost besides their swaps.
const TRIALS: usize = 5;

/// Share of late starts above which ranks get more time to come.
const MANY_LATE: f64 = 0.1;

/// One point of one curve: a number of messages, and what came of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Point {
    /// The curve.
    pub case: Case,
    /// Messages each way.
    pub messages: usize,
    /// Seconds of the shortest of the swaps that warm up, which are not kept: the larger of all
    /// ranks. Infinite where the cap left no room for them.
    pub first: f64,
    /// Samples to take; 0: the cap leaves no room for it.
    pub quota: usize,
    /// For every pair of ranks, in order, its samples.
    pub samples: Vec<Vec<Sample>>,
    /// For every pair, whether every checked swap was right.
    pub verified: Vec<bool>,
}

impl Point {
    /// Seconds of the swaps of one sample.
    fn swaps(&self) -> f64 {
        self.first * self.case.iterations as f64
    }

    /// Whether it was swapped and checked at all.
    pub fn ran(&self) -> bool {
        self.first.is_finite()
    }
}

/// One timing of one pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Seconds per swap, the larger of the two ranks.
    pub seconds: f64,
    /// Round in which it was taken.
    pub round: usize,
    /// Whether a rank came after the common start.
    pub late: bool,
}

/// What the sweep tells while it runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum News {
    /// The first swaps begin.
    Checking {
        /// Points.
        points: usize,
    },
    /// The timings begin.
    Timing {
        /// Seconds that they should take, with all that goes with them.
        seconds: f64,
        /// Points that the cap leaves out.
        left_out: usize,
    },
    /// A round is over.
    Round {
        /// Rounds done.
        done: usize,
        /// Rounds in all.
        all: usize,
    },
}

/// What came of a sweep.
#[derive(Clone, Debug, PartialEq)]
pub struct Sweep {
    /// Every point.
    pub points: Vec<Point>,
    /// Engines that cannot be had between these ranks, and why.
    pub refused: Vec<(EngineKind, String)>,
    /// What arrived wrong, the first case of each rank.
    pub wrong: Vec<String>,
    /// Largest uncertainty of the common clock, s.
    pub clock_uncertainty: f64,
}

/// Takes the samples; every rank of `comm` calls it, the result is on rank 0.
///
/// # Errors
/// Those of the transport.
pub fn run<T: Transport>(
    comm: &T,
    request: &Request,
    cache: usize,
    mut tell: impl FnMut(News),
) -> Result<Option<Sweep>, TransportError> {
    let me = comm.rank();
    let own = request.pair_of(me);
    // Rank 0 leads, whether it swaps or not.
    let takes_part = own.is_some() || me == 0;
    let group = comm.split(usize::from(!takes_part), me)?;
    let pair = group.split(own.unwrap_or(request.pairs.len() + me), me)?;
    if !takes_part {
        return Ok(None);
    }
    let refused = refusals(&group, own.map(|_| &pair), &request.ways)?;
    if request.all_ways && !refused.is_empty() {
        return Ok(Some(Sweep {
            points: Vec::new(),
            refused,
            wrong: Vec::new(),
            clock_uncertainty: 0.0,
        }));
    }
    let request = &Request {
        ways: request
            .ways
            .iter()
            .copied()
            .filter(|way| {
                !refused
                    .iter()
                    .any(|(engine, _)| *way == Way::Engine(*engine))
            })
            .collect(),
        ..request.clone()
    };
    let mut rank = Rank {
        clock: CommonClock::measure(&group)?,
        group: &group,
        request,
        mover: own.map(|own| Mover::new(&pair, request, own)),
        eviction: request.cold.then(|| Eviction::new(cache)),
        wrong: None,
    };
    let mut points = rank.points();
    tell(News::Checking {
        points: points.len(),
    });
    rank.first_swaps(&mut points)?;
    let besides = rank.besides(&points)?;
    quotas(&mut points, request.max_seconds, besides);
    let wanted = points.iter().filter(|point| point.quota > 0);
    let seconds = wanted.map(|point| point.quota as f64 * (point.swaps() + besides));
    tell(News::Timing {
        seconds: seconds.sum(),
        left_out: points.iter().filter(|point| point.quota == 0).count(),
    });
    let rounds = points.iter().map(|point| point.quota).max().unwrap_or(0);
    let mut order = fastrand::Rng::with_seed(request.seed);
    let mut uncertainty = rank.clock.uncertainty;
    for round in 0..rounds {
        rank.round(&mut points, round, &mut order)?;
        uncertainty = uncertainty.max(rank.clock.bound());
        tell(News::Round {
            done: round + 1,
            all: rounds,
        });
    }
    rank.clock.resynchronise(&group)?;
    uncertainty = uncertainty.max(rank.clock.bound());
    rank.last_swaps(&mut points)?;
    let wrong = texts(&group, rank.wrong.as_deref().unwrap_or_default())?;
    let mut uncertainty = [uncertainty];
    collective::reduce(&group, 0, &mut uncertainty, largest)?;
    Ok(wrong.map(|wrong| Sweep {
        points,
        refused,
        wrong,
        clock_uncertainty: uncertainty[0],
    }))
}

/// Engines that some pair of ranks cannot have, found by preparing the smallest exchange; on every
/// rank the same ones, the reason on rank 0.
fn refusals<T: Transport>(
    group: &T,
    pair: Option<&T>,
    ways: &[Way],
) -> Result<Vec<(EngineKind, String)>, TransportError> {
    let mut refused = Vec::new();
    for way in ways {
        let Way::Engine(engine) = *way else { continue };
        let mut reason = String::new();
        if let Some(pair) = pair {
            // One element for every other rank.
            let others = (0..pair.size()).filter(|&other| other != pair.rank());
            let block: Vec<Block> = others
                .enumerate()
                .map(|(place, other)| Block::contiguous(other, place..place + 1))
                .collect();
            let smallest = Pattern {
                send: block.clone(),
                recv: block,
                messages: 1,
                together: false,
            };
            match pair.engine(engine, &smallest) {
                Err(TransportError::NoEngine { reason: why, .. }) => reason = why,
                prepared => drop(prepared?),
            }
        }
        let mut none = [f64::from(u8::from(!reason.is_empty()))];
        collective::allreduce(group, &mut none, largest)?;
        let reasons = texts(group, &reason)?;
        if none[0] > 0.0 {
            refused.push((
                engine,
                reasons
                    .and_then(|all| all.into_iter().next())
                    .unwrap_or_default(),
            ));
        }
    }
    Ok(refused)
}

/// The words of all ranks that have some, on rank 0.
fn texts<T: Transport>(comm: &T, words: &str) -> Result<Option<Vec<String>>, TransportError> {
    let bytes: Vec<f64> = words.bytes().map(f64::from).collect();
    let all = collective::gather(comm, 0, &bytes)?;
    let text = |bytes: &[f64]| {
        let bytes: Vec<u8> = bytes.iter().map(|&byte| byte as u8).collect();
        String::from_utf8_lossy(&bytes).into_owned()
    };
    Ok(all.map(|all| {
        all.iter()
            .map(text)
            .filter(|text| !text.is_empty())
            .collect()
    }))
}

/// How many samples the cap on the time of a curve leaves to each of its points, when `besides`
/// seconds go with the swaps of each. Points are ordered by curve. The same on every rank: all know
/// the same first times.
fn quotas(points: &mut [Point], max_seconds: f64, besides: f64) {
    if max_seconds <= 0.0 {
        return;
    }
    for curve in points.chunk_by_mut(|a, b| a.case == b.case) {
        loop {
            let kept = || curve.iter().filter(|point| point.quota > 0);
            let seconds = |point: &Point| point.swaps() + besides;
            let round: f64 = kept().map(seconds).sum();
            let fits = (max_seconds / round.max(1e-9)) as usize;
            let slowest = kept().map(seconds).fold(0.0, f64::max);
            if fits >= FEWEST || slowest == 0.0 {
                for point in curve.iter_mut() {
                    point.quota = point.quota.min(fits);
                }
                break;
            }
            for point in curve.iter_mut().filter(|point| seconds(point) >= slowest) {
                point.quota = 0;
            }
        }
    }
}

/// One rank of the sweep.
struct Rank<'a, T: Transport> {
    group: &'a T,
    clock: CommonClock,
    request: &'a Request,
    /// None on a rank that only leads.
    mover: Option<Mover<'a, T>>,
    eviction: Option<Eviction>,
    /// The first wrong data this rank saw.
    wrong: Option<String>,
}

impl<T: Transport> Rank<'_, T> {
    fn points(&self) -> Vec<Point> {
        let request = self.request;
        let mut points = Vec::new();
        for &volume in &request.volumes {
            for case in request.cases(volume) {
                points.extend(request.messages(volume).map(|messages| Point {
                    case,
                    messages,
                    first: f64::INFINITY,
                    quota: request.samples,
                    samples: vec![Vec::new(); request.pairs.len()],
                    verified: vec![true; request.pairs.len()],
                }));
            }
        }
        points
    }

    /// Checks and times the first swap of every point. Where few messages take so long that more
    /// cannot fit under the cap, more are not tried.
    fn first_swaps(&mut self, points: &mut [Point]) -> Result<(), TransportError> {
        let cap = self.request.max_seconds;
        for curve in points.chunk_by_mut(|a, b| a.case == b.case) {
            let mut last: f64 = 0.0;
            for point in curve {
                let swaps = (point.case.iterations * FEWEST) as f64;
                if cap > 0.0 && last * swaps > cap {
                    point.quota = 0;
                    continue;
                }
                point.first = self.checked(point)?;
                last = point.first;
            }
        }
        Ok(())
    }

    /// Checks every point once more.
    fn last_swaps(&mut self, points: &mut [Point]) -> Result<(), TransportError> {
        for point in points.iter_mut().filter(|point| point.quota > 0) {
            self.checked(point)?;
        }
        Ok(())
    }

    /// Seconds that go with the swaps of one sample: getting ready, the walk through the caches,
    /// meeting, and its share of comparing the clocks. The same on every rank.
    fn besides(&mut self, points: &[Point]) -> Result<f64, TransportError> {
        let ran = points.iter().filter(|point| point.ran());
        let count = ran.clone().count();
        let Some(shortest) = ran.min_by(|a, b| a.swaps().total_cmp(&b.swaps())) else {
            return Ok(0.0);
        };
        let begin = self.group.now();
        self.clock.resynchronise(self.group)?;
        let compared = self.group.now();
        // The median: one interruption must not make every point look long.
        let mut trials = [0.0; TRIALS];
        for trial in &mut trials {
            let before = self.group.now();
            let swaps = self.sample(shortest)?[0] * shortest.case.iterations as f64;
            *trial = self.group.now() - before - swaps;
        }
        trials.sort_by(f64::total_cmp);
        let mut besides = [(compared - begin) / count as f64 + trials[TRIALS / 2]];
        collective::allreduce(self.group, &mut besides, largest)?;
        Ok(besides[0])
    }

    /// A checked swap, then as many more as warm up; the time of the shortest, the larger of all
    /// ranks.
    fn checked(&mut self, point: &mut Point) -> Result<f64, TransportError> {
        let pairs = self.request.pairs.len();
        let mut seen = vec![0.0; 1 + pairs];
        if let Some(mover) = &mut self.mover {
            mover.prepare(&point.case, point.messages)?;
            let begin = self.group.now();
            let wrong = mover.checked_swap(point.case.volume)?;
            let mut shortest = self.group.now() - begin;
            if let Some(wrong) = wrong {
                seen[1 + mover.pair_index()] = 1.0;
                self.wrong.get_or_insert(format!(
                    "{} in {} messages of {} bytes: {wrong}",
                    point.case.way,
                    point.messages,
                    point.case.volume / point.messages
                ));
            }
            for _ in 1..self.request.warmup {
                let begin = self.group.now();
                mover.swap()?;
                shortest = shortest.min(self.group.now() - begin);
            }
            seen[0] = shortest;
        }
        collective::allreduce(self.group, &mut seen, largest)?;
        for (verified, wrong) in point.verified.iter_mut().zip(&seen[1..]) {
            *verified &= *wrong == 0.0;
        }
        Ok(seen[0])
    }

    /// One sample of every point that wants one.
    fn round(
        &mut self,
        points: &mut [Point],
        round: usize,
        order: &mut fastrand::Rng,
    ) -> Result<(), TransportError> {
        let wants = |&index: &usize| points[index].quota > round;
        let mut turn: Vec<usize> = (0..points.len()).filter(wants).collect();
        order.shuffle(&mut turn);
        self.clock.resynchronise(self.group)?;
        let mut times = Vec::with_capacity(2 * turn.len());
        for &index in &turn {
            times.extend(self.sample(&points[index])?);
        }
        let Some(all) = collective::gather(self.group, 0, &times)? else {
            return Ok(());
        };
        let mut late = 0;
        let pairs = 0..self.request.pairs.len();
        let members: Vec<Vec<usize>> = pairs.map(|pair| self.request.members(pair)).collect();
        for (place, &index) in turn.iter().enumerate() {
            let point = &mut points[index];
            for (samples, members) in point.samples.iter_mut().zip(&members) {
                let of = |rank: &usize| {
                    let times = all.block(self.request.group_rank(*rank));
                    (times[2 * place], times[2 * place + 1])
                };
                let times = || members.iter().map(of);
                let sample = Sample {
                    seconds: times().map(|(seconds, _)| seconds).fold(0.0, f64::max),
                    round,
                    late: times().any(|(_, late)| late > 0.0),
                };
                late += usize::from(sample.late);
                samples.push(sample);
            }
        }
        let taken = turn.len() * self.request.pairs.len();
        if late as f64 > MANY_LATE * taken as f64 {
            self.clock.widen();
        }
        Ok(())
    }

    /// Seconds per swap of one timing, and by how much this rank came late.
    fn sample(&mut self, point: &Point) -> Result<[f64; 2], TransportError> {
        if let Some(mover) = &mut self.mover {
            mover.prepare(&point.case, point.messages)?;
        }
        if let Some(eviction) = &mut self.eviction {
            eviction.evict();
        }
        let start = self.clock.meet(self.group)?;
        let Some(mover) = &mut self.mover else {
            return Ok([0.0, 0.0]);
        };
        let begin = self.group.now();
        for _ in 0..point.case.iterations {
            mover.swap()?;
        }
        let seconds = self.group.now() - begin;
        Ok([seconds / point.case.iterations as f64, start.late])
    }
}

fn largest(a: &mut [f64], b: &[f64]) {
    for (a, b) in a.iter_mut().zip(b) {
        *a = a.max(*b);
    }
}
