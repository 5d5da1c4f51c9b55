//! What must hold of every run: symmetry, steady states, conservation; memory and messages as the
//! closed forms say.

#![allow(clippy::unwrap_used)]

mod common;

use common::integrated;
use pstswm::pencil::{FORWARD_FIELDS, INVERSE_FIELDS};
use pstswm::report::run::RunRecord;
use pstswm::transform::{CELL, LANES, POINT};

#[test]
fn the_two_hemispheres_mirror_each_other() {
    let latitudes = [3.0, 20.0, 47.5, 71.0, 88.0];
    let points: Vec<String> = latitudes
        .iter()
        .flat_map(|lat| [format!("[{lat}, 33.3]"), format!("[-{lat}, 33.3]")])
        .collect();
    let points = format!("output.points=[{}]", points.join(", "));
    for keys in [
        "problem.case=\"williamson-6\"",
        "problem.case=\"williamson-6\" time.scheme=\"explicit\" time.dt=200",
        "problem.case=\"williamson-2\"",
        "problem.case=\"williamson-6\" problem.truncation=[21,25,30] time.diffusion=1e16",
    ] {
        let mut sets = vec![
            "problem.truncation=42",
            "time.dt=900",
            "problem.steps=24",
            &*points,
        ];
        sets.extend(keys.split(' '));
        let record = integrated(&sets, 2);
        let last = &record.results.points[record.results.points.len() - points_count(&latitudes)..];
        for pair in last.chunks_exact(2) {
            let (north, south) = (&pair[0], &pair[1]);
            assert_eq!(north.lat, -south.lat);
            let close = |name: &str, a: f64, b: f64, scale: f64| {
                assert!(
                    (a - b).abs() <= 1e-11 * scale,
                    "{keys} {name} at {}: {a} {b}",
                    north.lat
                );
            };
            close("h", north.h, south.h, 1e4);
            close("u", north.u, south.u, 100.0);
            close("v", north.v, -south.v, 100.0);
            close("zeta", north.zeta, -south.zeta, 1e-4);
            close("delta", north.delta, south.delta, 1e-5);
        }
        assert!(
            last.iter().any(|point| point.u.abs() > 1.0),
            "nothing moves"
        );
    }
}

fn points_count(latitudes: &[f64]) -> usize {
    2 * latitudes.len()
}

#[test]
fn solid_body_rotation_is_steady_at_any_angle() {
    for alpha in [0.0, 0.05, 0.7, 1.2, std::f64::consts::FRAC_PI_2] {
        for scheme in ["semi-implicit", "rk4"] {
            let sets = [
                "problem.case=\"williamson-2\"".to_owned(),
                "problem.truncation=42".to_owned(),
                "problem.steps=20".to_owned(),
                "time.dt=300".to_owned(),
                format!("problem.alpha={alpha}"),
                format!("time.scheme=\"{scheme}\""),
            ];
            let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
            let record = integrated(&sets, 2);
            let last = record.results.diagnostics.last().unwrap();
            let norms = last.norms.as_ref().unwrap();
            let wind = norms.v.as_ref().unwrap();
            assert!(
                norms.h.linf < 1e-12,
                "{alpha} {scheme}: h {:e}",
                norms.h.linf
            );
            assert!(wind.linf < 1e-11, "{alpha} {scheme}: v {:e}", wind.linf);
            assert!(norms.h.l1 <= norms.h.linf * 1.5 && norms.h.l2 <= norms.h.linf * 1.5);
        }
    }
}

#[test]
fn mass_is_conserved_and_means_stay_zero() {
    for keys in [
        "problem.case=\"williamson-5\"",
        "problem.case=\"williamson-5\" time.scheme=\"rk4\"",
        "problem.case=\"williamson-6\" time.asselin=0.05 time.diffusion=1e16",
        "problem.case=\"galewsky\" time.laplacian=1e5 problem.levels=2",
        "problem.case=\"williamson-1\"",
        "problem.case=\"williamson-4\"",
    ] {
        let mut sets = vec![
            "problem.truncation=31",
            "time.dt=600",
            "problem.steps=30",
            "output.every-hours=1.0",
        ];
        sets.extend(keys.split(' '));
        let record = integrated(&sets, 3);
        assert!(record.verdict.is_valid(), "{:?}", record.verdict);
        for entry in &record.results.diagnostics {
            assert!(entry.mass.abs() < 1e-13, "{keys}: mass {:e}", entry.mass);
            assert!(
                entry.zeta_mean.abs() < 1e-21,
                "{keys}: {:e}",
                entry.zeta_mean
            );
            assert!(
                entry.delta_mean.abs() < 1e-21,
                "{keys}: {:e}",
                entry.delta_mean
            );
        }
        assert_eq!(record.results.diagnostics.len(), 6);
    }
}

#[test]
fn energy_is_conserved_but_for_time_truncation() {
    // Halving the step divides the change of energy of leapfrog by about four or more.
    let change = |dt: f64, steps: u64| {
        let (dt, steps) = (format!("time.dt={dt}"), format!("problem.steps={steps}"));
        let sets = [
            "problem.case=\"williamson-6\"",
            "problem.truncation=31",
            &*dt,
            &*steps,
        ];
        let record = integrated(&sets, 1);
        record.results.diagnostics.last().unwrap().energy.abs()
    };
    let (coarse, fine) = (change(1200.0, 18), change(300.0, 72));
    assert!(coarse < 1e-3, "{coarse:e}");
    assert!(fine < coarse / 4.0, "{coarse:e} {fine:e}");
}

#[test]
fn memory_of_a_rank_falls_as_one_over_ranks() {
    let bytes = |ranks: usize| {
        let sets = [
            "problem.case=\"williamson-2\"",
            "problem.truncation=85",
            "problem.levels=4",
            "time.dt=600",
            "problem.steps=1",
        ];
        let record = integrated(&sets, ranks);
        let memory = &record.results.setup.memory_bytes;
        assert_eq!(memory.per_rank.len(), ranks);
        assert_eq!(memory.max, *memory.per_rank.iter().max().unwrap());
        memory.max as f64
    };
    // Two ranks need message buffers, one does not; from there on shares shrink. What is left over
    // is uneven: 43 waves, 16 groups of latitudes.
    let ideal = bytes(2) * 2.0;
    let buffers = ideal / bytes(1);
    assert!(buffers < 1.4, "2 ranks: {buffers:.3} of what one needs");
    for (ranks, slack) in [(4, 1.05), (8, 1.1), (16, 1.2)] {
        let ratio = bytes(ranks) * ranks as f64 / ideal;
        assert!(
            ratio < slack,
            "{ranks} ranks: largest share {ratio:.3} of the ideal"
        );
    }
}

/// Payload bytes and messages of a step, over all ranks, of phases that begin with `name`.
fn traffic(record: &RunRecord, name: &str) -> (u64, u64) {
    let steps = record.results.seconds_per_step.count as u64;
    let phases = &record.results.phases;
    let (bytes, messages) = phases
        .iter()
        .filter(|phase| phase.name.starts_with(name))
        .fold((0, 0), |(b, m), phase| {
            (b + phase.bytes_sent, m + phase.messages)
        });
    assert_eq!(
        (bytes % steps, messages % steps),
        (0, 0),
        "{name}: steps differ"
    );
    (bytes / steps, messages / steps)
}

#[test]
fn traffic_is_that_of_the_closed_forms() {
    let (nlat, nlon, waves, levels) = (64, 128, 43, 4);
    let fields = INVERSE_FIELDS + FORWARD_FIELDS;
    let groups = nlat / 2 / LANES;
    for (px, py) in [
        (1, 1),
        (1, 2),
        (2, 1),
        (2, 2),
        (4, 1),
        (1, 4),
        (4, 2),
        (2, 4),
        (1, 8),
    ] {
        for fft in ["double-transpose", "single-transpose"] {
            for (transpose, scheme, evaluations) in
                [("swap", "semi-implicit", 1), ("send-recv", "rk4", 4)]
            {
                let sets = [
                    "problem.case=\"williamson-2\"".to_owned(),
                    "problem.truncation=42".to_owned(),
                    "time.dt=300".to_owned(),
                    "problem.steps=4".to_owned(),
                    "measure.warmup=2".to_owned(),
                    format!("problem.levels={levels}"),
                    format!("time.scheme=\"{scheme}\""),
                    format!("algorithm.mesh=[{px}, {py}]"),
                    format!("algorithm.fft=\"{fft}\""),
                    format!("algorithm.transpose=\"{transpose}\""),
                ];
                let sets: Vec<&str> = sets.iter().map(String::as_str).collect();
                let record = integrated(&sets, px * py);
                assert_eq!(record.results.seconds_per_step.count, 2);
                // A transpose of N values over P ranks: P - 1 messages and N (P - 1)/P values a
                // rank. Legendre: the Fourier cells of every unit, along columns.
                let per_rank = evaluations * 2 * (py - 1);
                let cells = levels * waves * groups * fields * CELL;
                assert_eq!(
                    traffic(&record, "legendre-transpose"),
                    (
                        (evaluations * cells * 8 * (py - 1) / py) as u64,
                        (per_rank * px * py) as u64
                    ),
                    "Legendre {sets:?}"
                );
                // FFT: grid points along rows; in the double transpose also the cells, back.
                let double = usize::from(fft == "double-transpose");
                let points = levels * groups * fields * nlon * POINT + double * cells;
                let per_rank = evaluations * 2 * (1 + double) * (px - 1);
                assert_eq!(
                    traffic(&record, "fft-transpose"),
                    (
                        (evaluations * points * 8 * (px - 1) / px) as u64,
                        (per_rank * px * py) as u64
                    ),
                    "FFT {sets:?}"
                );
            }
        }
    }
}

#[test]
fn transforms_and_flops_are_counted() {
    let record = integrated(
        &[
            "problem.case=\"williamson-2\"",
            "problem.truncation=21",
            "problem.steps=8",
        ],
        1,
    );
    let results = &record.results;
    assert_eq!(results.transforms_per_step.inverse, 4);
    assert_eq!(results.transforms_per_step.forward, 5);
    let legendre = 4.0 * (253.0 + 22.0) * 16.0;
    let fft = 2.5 * 64.0 * 6.0 * 32.0;
    let flops = 9.0 * (legendre + fft) + 10.0 * 32.0 * 64.0 + 136.0 * 253.0;
    assert_eq!(results.flops_per_step, flops);
    let rate = flops / results.seconds_per_step.median / 1e9;
    assert!((results.gflops / rate - 1.0).abs() < 1e-12);
    // The parts of a step add up to the step.
    let sum: f64 = results
        .phases
        .iter()
        .take_while(|phase| phase.name != "step")
        .map(|phase| phase.seconds.mean)
        .sum();
    let step = results
        .phases
        .iter()
        .find(|phase| phase.name == "step")
        .unwrap();
    assert!(
        (sum / step.seconds.mean - 1.0).abs() < 1e-6,
        "{sum} {}",
        step.seconds.mean
    );
    // Kinetic energy by degree adds up to that of solid-body rotation: u0^2/3.
    let spectrum = &results.diagnostics.last().unwrap().spectrum;
    let u0 = 2.0 * std::f64::consts::PI * 6_371_220.0 / (12.0 * 86_400.0);
    assert!((spectrum.iter().sum::<f64>() / (u0 * u0 / 3.0) - 1.0).abs() < 1e-9);
}
