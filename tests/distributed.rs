//! The distributed FFT and Legendre transform against the transposes: after a day the fields agree
//! to rounding, and they are the same bits whatever moves the data.

#![allow(clippy::unwrap_used)]

mod common;

use common::{integrated, session};
use ndarray::Array2;
use pstswm::exchange::sum::SumAlgorithm;
use pstswm::report::netcdf::LevelFields;
use pstswm::report::run::RunRecord;
use pstswm::transform::{LANES, POINT};

const DAY: [&str; 3] = ["problem.truncation=42", "problem.days=1", "time.dt=1200"];

/// Fields after a day of a problem, and the weights of latitudes.
fn fields(problem: &[&str], extra: &[&str], ranks: usize) -> (Vec<LevelFields>, Vec<f64>) {
    let sets = [&DAY, problem, extra].concat();
    let session = session(&sets, ranks);
    let list = &session.namelist;
    let all = session
        .on_threads(|comm| {
            let mut model = session.model(comm)?;
            for _ in 0..list.problem.steps {
                model.step().map_err(|error| session.explain(error))?;
            }
            let north = model.pencil().gauss().weight.clone();
            let weights = north.iter().chain(north.iter().rev()).copied().collect();
            let fields = model
                .gather_fields()
                .map_err(|error| session.explain(error))?;
            Ok((fields, weights))
        })
        .unwrap_or_else(|error| panic!("{sets:?}: {error}"));
    let (fields, weights) = all.into_iter().next().unwrap();
    (fields.unwrap(), weights)
}

/// `I((x - t)^2)^(1/2) / I(t^2)^(1/2)` (Williamson et al. 1992, eq. 83).
fn l2(found: &Array2<f64>, truth: &Array2<f64>, weights: &[f64]) -> f64 {
    let mean = |of: &dyn Fn((usize, usize)) -> f64| -> f64 {
        let at = |((row, column), _): ((usize, usize), &f64)| weights[row] * of((row, column));
        truth.indexed_iter().map(at).sum()
    };
    let error = mean(&|at| (found[at] - truth[at]).powi(2));
    (error / mean(&|at| truth[at].powi(2))).sqrt()
}

const MOVING: [[&str; 4]; 6] = [
    [
        "order=\"simple\"",
        "protocol=\"nonblocking\"",
        "overlap=false",
        "eager-limit=0",
    ],
    [
        "order=\"delayed\"",
        "protocol=\"nonblocking\"",
        "overlap=true",
        "eager-limit=4096",
    ],
    [
        "order=\"ordered\"",
        "protocol=\"ready\"",
        "overlap=true",
        "eager-limit=0",
    ],
    [
        "order=\"delayed\"",
        "protocol=\"native\"",
        "overlap=true",
        "eager-limit=0",
    ],
    [
        "order=\"ordered\"",
        "protocol=\"blocking\"",
        "overlap=false",
        "eager-limit=4096",
    ],
    [
        "order=\"simple\"",
        "protocol=\"synchronous\"",
        "overlap=true",
        "eager-limit=0",
    ],
];

/// Keys of the algorithm: how the transforms are split, the mesh, and how data move.
fn keys(fft: &str, legendre: &str, (px, py): (usize, usize), moving: &[&str]) -> Vec<String> {
    let mut keys = vec![
        format!("algorithm.fft=\"{fft}\""),
        format!("algorithm.legendre=\"{legendre}\""),
        format!("algorithm.mesh=[{px}, {py}]"),
    ];
    keys.extend(moving.iter().map(|key| format!("algorithm.{key}")));
    keys
}

fn sum_key(sum: SumAlgorithm) -> String {
    format!("algorithm.sum=\"{}\"", sum.name())
}

fn borrowed(keys: &[String]) -> Vec<&str> {
    keys.iter().map(String::as_str).collect()
}

#[test]
fn fields_after_a_day_are_those_of_the_transposes() {
    let mut moving = MOVING.iter().cycle();
    let mut sums = SumAlgorithm::ALL.iter().cycle();
    for (case, levels) in [(5, 1), (6, 3)] {
        let (case, levels) = (
            format!("problem.case=\"williamson-{case}\""),
            format!("problem.levels={levels}"),
        );
        let problem = [case.as_str(), levels.as_str()];
        let (truth, weights) = fields(&problem, &[], 1);
        for (fft, legendre, mesh) in [
            ("distributed", "transpose", (2, 1)),
            ("distributed", "transpose", (4, 3)),
            ("distributed", "distributed", (8, 1)),
            ("distributed", "distributed", (2, 2)),
            ("double-transpose", "distributed", (1, 2)),
            ("double-transpose", "distributed", (3, 5)),
            ("single-transpose", "distributed", (2, 3)),
            ("distributed", "distributed", (4, 3)),
        ] {
            let mut keys = keys(fft, legendre, mesh, moving.next().unwrap());
            keys.push(sum_key(*sums.next().unwrap()));
            let (found, _) = fields(&problem, &borrowed(&keys), mesh.0 * mesh.1);
            for (level, truth) in truth.iter().enumerate() {
                let found = &found[level];
                let h = l2(&found.h, &truth.h, &weights);
                let zeta = l2(&found.zeta, &truth.zeta, &weights);
                assert!(
                    h < 1e-12 && zeta < 1e-12,
                    "{problem:?} {keys:?}: {h:e} {zeta:e}"
                );
            }
        }
    }
}

#[test]
fn bits_depend_on_the_mesh_alone() {
    let problem = [
        "problem.case=\"williamson-6\"",
        "problem.truncation=21",
        "problem.levels=2",
        "problem.steps=4",
        "time.dt=1200",
    ];
    let of_algorithm = |fft: &str, legendre: &str, mesh, sum| {
        let mut first = None;
        for moving in &MOVING {
            let mut keys = keys(fft, legendre, mesh, moving);
            keys.push(sum_key(sum));
            let sets = [&problem, borrowed(&keys).as_slice()].concat();
            let record = integrated(&sets, mesh.0 * mesh.1);
            assert_eq!(record.verdict.reasons, Vec::<String>::new(), "{sets:?}");
            let checksum = record.results.checksum;
            assert_eq!(first.get_or_insert(checksum.clone()), &checksum, "{sets:?}");
        }
        first
    };
    of_algorithm("distributed", "transpose", (4, 2), SumAlgorithm::Ring);
    of_algorithm(
        "double-transpose",
        "distributed",
        (2, 4),
        SumAlgorithm::Exchange,
    );
    let [exchange, halving, ring, pipelined, native] =
        SumAlgorithm::ALL.map(|sum| of_algorithm("distributed", "distributed", (2, 3), sum));
    // The same order of additions, and others.
    assert!(exchange == halving && ring == pipelined);
    assert!(exchange != ring && native.is_some());
}

#[test]
fn a_mesh_that_the_butterflies_cannot_use_is_refused() {
    for mesh in [[3, 1], [6, 2], [64, 1]] {
        let keys = keys("distributed", "transpose", (mesh[0], mesh[1]), &[]);
        let sets = ["problem.case=\"williamson-2\"", "problem.truncation=10"];
        let sets = [&sets, borrowed(&keys).as_slice()].concat();
        let session = session(&sets, mesh[0] * mesh[1]);
        let error = pstswm::app::run::integrate(&session, None, false).unwrap_err();
        let text = error.to_string();
        assert!(
            text.contains("algorithm.mesh") && text.contains("distributed FFT"),
            "{text}"
        );
    }
}

/// Payload bytes and messages of a step over all ranks, of phases that begin with `name`.
fn traffic(record: &RunRecord, name: &str) -> (u64, u64) {
    let steps = record.results.seconds_per_step.count as u64;
    let phases = record.results.phases.iter();
    let (bytes, messages) = phases
        .filter(|phase| phase.name.starts_with(name))
        .fold((0, 0), |(bytes, messages), phase| {
            (bytes + phase.bytes_sent, messages + phase.messages)
        });
    (bytes / steps, messages / steps)
}

#[test]
fn traffic_is_that_of_the_closed_forms() {
    let (nlat, nlon, m_max, levels, fields) = (64, 128, 42_usize, 2, 9);
    let groups = nlat / 2 / LANES;
    // Every coefficient of the five fields that come back, with the degree beyond the truncation.
    let coefficients = (m_max + 1) * (m_max + 2) / 2 + m_max + 1;
    for (px, py) in [
        (1, 2),
        (2, 1),
        (4, 2),
        (2, 4),
        (8, 1),
        (1, 8),
        (4, 16),
        (64, 1),
        (1, 64),
    ] {
        for (sum, overlap) in [("halving", false), ("exchange", false), ("ring", true)] {
            let mut keys = keys("distributed", "distributed", (px, py), &[]);
            keys.push(format!("algorithm.sum=\"{sum}\""));
            keys.push(format!("algorithm.overlap={overlap}"));
            let sets = [
                "problem.case=\"williamson-2\"",
                "problem.truncation=42",
                "problem.levels=2",
                "problem.steps=2",
                "measure.warmup=1",
                "time.dt=300",
            ];
            let sets = [&sets, borrowed(&keys).as_slice()].concat();
            let record = integrated(&sets, px * py);
            // Butterflies: every rank sends all it has in each stage; and wavenumbers -m, but on the
            // columns of residues 0 and PX/2, both ways.
            let lines = levels * groups * fields;
            let stages = px.ilog2() as usize;
            let swapped = (1..=m_max).filter(|m| !(m * 2).is_multiple_of(px)).count();
            let points = lines * POINT * (stages * nlon + swapped);
            // A column without waves of its own still takes part in the stages.
            let residues = (1..px).filter(|&r| 2 * r != px);
            let with_waves = |r: usize| usize::from((r..=m_max).step_by(px).next().is_some());
            let mirrors: usize = residues.map(|r| with_waves(r) + with_waves(px - r)).sum();
            let halves = if overlap { 2 } else { 1 };
            // With more rows than groups rows share groups, and the padding is counted too.
            if py <= groups {
                let messages = py * (2 * stages * halves * px + mirrors);
                let expected = ((points * 8) as u64, messages as u64);
                assert_eq!(traffic(&record, "fft-butterfly"), expected, "{sets:?}");
            }
            // The sum: P ranks of a column, in all columns together.
            let values = 2 * 5 * levels * coefficients;
            let steps = py.ilog2() as usize;
            let bytes = match sum {
                "exchange" => 8 * values * steps * py,
                _ => 8 * 2 * values * (py - 1),
            };
            assert_eq!(traffic(&record, "legendre-sum").0, bytes as u64, "{sets:?}");
            if px <= 4 && py <= 4 {
                let messages = match sum {
                    "exchange" => steps,
                    "halving" => 2 * steps,
                    _ => 2 * (py - 1),
                };
                let all = (messages * px * py) as u64;
                assert_eq!(traffic(&record, "legendre-sum").1, all, "{sets:?}");
            }
            assert_eq!(traffic(&record, "legendre-transpose"), (0, 0));
            assert_eq!(traffic(&record, "fft-transpose"), (0, 0));
        }
    }
}
