//! From samples to the records of the result.

use std::collections::BTreeMap;

use super::advice;
use crate::bench::case::{Case, Request, Way};
use crate::bench::sweep::{Point, Sample, Sweep};
use crate::measure::Summary;
use crate::measure::linear_model::{LinearModel, Sensitivity};
use crate::report::swap::{
    CaseRecord, ClockRecord, CurvePoint, Figures, Latency, SensitivityRecord, SwapResults,
    SwapTimes, Unavailable,
};

/// Bytes/s in 10^6 bytes/s; s in us.
const MEGA: f64 = 1e6;

/// What the numbers mean; printed beside them.
pub(super) const DEFINITIONS: [&str; 5] = [
    "T_n: seconds of one whole swap (V bytes each way, also when ordered) in n messages each way; \
     elapsed of k back-to-back swaps divided by k, the larger of the two ranks; n is a count",
    "bandwidth: the largest 2V/T_n over n, MB = 10^6 bytes; ordered: one direction at a time, so it \
     is that of one direction; otherwise both directions count",
    "latency per message: (T_512 - T_256)/256 as in 1995, (T_1024 - T_512)/512 as in 2000 to 2002",
    "model error: the largest |M_n - T_n|/T_n with M_n = 2V/bandwidth + n latency (1995)",
    "figures are of median times; [..] is the 95 % interval of the median; best is of the minimum",
];

/// The times of all pairs together at one point: per round the slowest pair's.
pub(in crate::app) struct Joint {
    /// What is compared: a case without volume and iterations.
    pub(in crate::app) candidate: Case,
    pub(in crate::app) case: Case,
    pub(in crate::app) messages: usize,
    /// Seconds by round.
    pub(in crate::app) rounds: BTreeMap<usize, f64>,
    pub(in crate::app) median: f64,
}

/// The same for patterns of all ranks.
pub(super) const PATTERN_DEFINITIONS: [&str; 4] = [
    "T: seconds of one whole exchange of all ranks, elapsed of k back to back divided by k, the \
     largest of all ranks; V bytes a rank, cut into equal blocks, each rank's own block copied",
    "all-to-all: every rank sends every rank V/P bytes; gather:K: every rank sends each of K I/O \
     ranks V/K bytes; scatter:K: the same backwards; I/O ranks are spread evenly, from rank 0 on",
    "bandwidth: bytes that travel between ranks, all together, divided by T, MB = 10^6 bytes",
    "figures are of median times; [..] is the 95 % interval of the median; best is of the minimum",
];

/// All records of a sweep.
pub(super) fn results(
    sweep: &Sweep,
    request: &Request,
    clock: ClockRecord,
    eager_limit_bytes: Option<usize>,
    unavailable: Vec<Unavailable>,
) -> SwapResults {
    let mut cases = Vec::new();
    for curve in sweep.points.chunk_by(|a, b| a.case == b.case) {
        for pair in 0..request.pairs.len() {
            cases.push(case(curve, request, pair));
        }
    }
    let joint: Vec<Joint> = sweep.points.iter().filter_map(joint).collect();
    SwapResults {
        definitions: match request.pattern {
            Some(_) => PATTERN_DEFINITIONS.map(str::to_owned).to_vec(),
            None => DEFINITIONS.map(str::to_owned).to_vec(),
        },
        clock,
        eager_limit_bytes,
        cases,
        sensitivity: sensitivity(&joint),
        recommendation: advice::recommend(&joint),
        notes: request
            .volumes
            .iter()
            .filter_map(|&volume| left_out(request, volume))
            .collect(),
        unavailable,
    }
}

/// Which numbers of messages a volume is not cut into, in words; `None`: none.
fn left_out(request: &Request, volume: usize) -> Option<String> {
    let numbers: Vec<String> = request.left_out(volume).map(|n| n.to_string()).collect();
    (!numbers.is_empty()).then(|| {
        format!(
            "{volume} bytes cannot be cut into {} equal messages of whole doubles: left out",
            numbers.join(", ")
        )
    })
}

fn case(curve: &[Point], request: &Request, pair: usize) -> CaseRecord {
    let case = curve[0].case;
    let parts = request
        .pattern
        .map_or(1, |pattern| pattern.parts(request.ranks));
    let points = curve.iter().map(|point| curve_point(point, pair, parts));
    let points: Vec<CurvePoint> = points.collect();
    let of = |time: fn(&SwapTimes) -> f64| -> Vec<(usize, f64)> {
        let timed = points
            .iter()
            .filter_map(|p| Some((p.messages, time(p.seconds.as_ref()?))));
        timed.collect()
    };
    let moved = moved(request, case.volume);
    let figures = figures(moved, &of(|times| times.median));
    let best = points
        .iter()
        .find(|p| p.messages == figures.bandwidth_messages);
    let interval = best
        .and_then(|point| point.seconds.as_ref())
        .and_then(|times| Some([times.ci95_high?, times.ci95_low?]))
        .map(|times| times.map(|time| moved / time / MEGA));
    let (a, b) = request.pairs[pair];
    CaseRecord {
        order: case.way.order().map(|order| order.name().to_owned()),
        protocol: match case.way {
            Way::Pairwise(_, protocol) => Some(protocol.name().to_owned()),
            Way::Engine(_) => None,
        },
        engine: match case.way {
            Way::Pairwise(..) => "pairwise".to_owned(),
            Way::Engine(engine) => engine.name().to_owned(),
        },
        pattern: match request.pattern {
            Some(pattern) => pattern.to_string(),
            None if request.pairs.len() == 1 => "pair".to_owned(),
            None => "all-pairs".to_owned(),
        },
        handshake: case.handshake,
        max_requests: case.max_requests,
        ranks: [a, b],
        overlap: case.overlap,
        cold: request.cold,
        volume_bytes: case.volume,
        iterations: case.iterations,
        from_minima: self::figures(moved, &of(|times| times.min)),
        figures,
        bandwidth_ci95_mb_s: interval,
        verified: curve
            .iter()
            .any(Point::ran)
            .then(|| curve.iter().all(|point| point.verified[pair])),
        curve: points,
    }
}

fn curve_point(point: &Point, pair: usize, parts: usize) -> CurvePoint {
    let samples = &point.samples[pair];
    let kept = kept(samples);
    let late = samples.iter().filter(|sample| sample.late).count();
    let seconds: Vec<f64> = kept.iter().map(|sample| sample.seconds).collect();
    CurvePoint {
        messages: point.messages,
        message_bytes: point.case.volume / (point.messages * parts),
        seconds: Summary::of(&seconds).map(|summary| SwapTimes {
            min: summary.min,
            median: summary.median,
            ci95_low: summary.ci95.map(|interval| interval.0),
            ci95_high: summary.ci95.map(|interval| interval.1),
            rounds: kept.iter().map(|sample| sample.round).collect(),
            samples: seconds,
        }),
        late,
        late_kept: late > 0 && kept.len() == samples.len(),
    }
}

/// Samples whose ranks started together; all of them where fewer than half did (more ranks than
/// processors: nobody ever starts together).
fn kept(samples: &[Sample]) -> Vec<Sample> {
    let punctual: Vec<Sample> = samples
        .iter()
        .copied()
        .filter(|sample| !sample.late)
        .collect();
    if 2 * punctual.len() >= samples.len() {
        punctual
    } else {
        samples.to_vec()
    }
}

/// Bytes that travel between ranks in one exchange of so many a rank.
fn moved(request: &Request, volume: usize) -> f64 {
    match request.pattern {
        Some(pattern) => {
            let elements = volume / size_of::<f64>();
            (pattern.travels(request.ranks, elements) * size_of::<f64>()) as f64
        }
        None => 2.0 * volume as f64,
    }
}

fn figures(moved: f64, curve: &[(usize, f64)]) -> Figures {
    let model = LinearModel::of_bytes(moved, curve);
    let micro = |seconds: Option<f64>| seconds.map(|s| s * MEGA);
    Figures {
        bandwidth_mb_s: model.map_or(f64::NAN, |model| model.bandwidth / MEGA),
        bandwidth_messages: model.map_or(0, |model| model.best_messages),
        latency_us: Latency {
            t512_t256: micro(model.and_then(|model| model.latency_1995)),
            t1024_t512: micro(model.and_then(|model| model.latency_2000)),
        },
        model_error: model.and_then(|model| model.error_1995),
        model_error_t1024_t512: model.and_then(|model| model.error_2000),
    }
}

/// The times of all pairs at one point; `None`: there are none.
pub(in crate::app) fn joint(point: &Point) -> Option<Joint> {
    let mut rounds: BTreeMap<usize, f64> = BTreeMap::new();
    let pairs: Vec<Vec<Sample>> = point.samples.iter().map(|samples| kept(samples)).collect();
    let mut seen: BTreeMap<usize, usize> = BTreeMap::new();
    for sample in pairs.iter().flatten() {
        *seen.entry(sample.round).or_default() += 1;
        let slowest = rounds.entry(sample.round).or_insert(0.0);
        *slowest = slowest.max(sample.seconds);
    }
    // Rounds that every pair has.
    rounds.retain(|round, _| seen.get(round) == Some(&pairs.len()));
    let seconds: Vec<f64> = rounds.values().copied().collect();
    let median = Summary::of(&seconds)?.median;
    Some(Joint {
        candidate: point.case.candidate(),
        case: point.case,
        messages: point.messages,
        rounds,
        median,
    })
}

/// Its name where the column beside it says whether it overlaps.
fn name_without_overlap(case: &Case) -> String {
    let without = Case {
        overlap: false,
        ..*case
    };
    without.name()
}

/// Volume, iterations, overlap and messages: the ways at one point.
fn sensitivity(joint: &[Joint]) -> Vec<SensitivityRecord> {
    let mut points: BTreeMap<(usize, usize, bool, usize), Vec<&Joint>> = BTreeMap::new();
    for one in joint {
        let case = &one.case;
        let key = (case.volume, case.iterations, case.overlap, one.messages);
        points.entry(key).or_default().push(one);
    }
    let record = |(key, ways): ((usize, usize, bool, usize), Vec<&Joint>)| {
        let times: Vec<f64> = ways.iter().map(|one| one.median).collect();
        let found = Sensitivity::of(&times)?;
        let by_time = |a: &&&Joint, b: &&&Joint| a.median.total_cmp(&b.median);
        let name = |one: Option<&&Joint>| {
            one.map_or(String::new(), |o| name_without_overlap(&o.candidate))
        };
        Some(SensitivityRecord {
            volume_bytes: key.0,
            iterations: key.1,
            overlap: key.2,
            messages: key.3,
            ways: ways.len(),
            min: found.min,
            median: found.median,
            max: found.max,
            typical: found.typical,
            worst: found.worst,
            grade: found.grade().to_owned(),
            fastest: name(ways.iter().min_by(by_time)),
            slowest: name(ways.iter().max_by(by_time)),
        })
    };
    let mut records: Vec<_> = points.into_iter().filter_map(record).collect();
    // The largest volume first, as in the tables.
    records.sort_by_key(|record| std::cmp::Reverse(record.volume_bytes));
    records
}
