//! The kernels of the transforms on one core: rates of the Legendre transform and of the FFT, as
//! shares of the peak measured in the same run.
//!
//! ```text
//! cargo bench --bench transforms            # every truncation
//! cargo bench --bench transforms -- 170     # one
//! ```
//!
//! Rates are nominal: Legendre `nlat (N + 1) (N + 2)` flops a field (what the kernels skip near the
//! poles is counted), FFT `2.5 nlon log2 nlon` a line. Each figure is the shortest and the median of
//! samples of a few milliseconds. rustfft transforms the same lines, two real rows as one complex,
//! but without the reordering that our layout would cost it. Before anything is timed the results
//! are checked: there and back must give what was there.

#![allow(clippy::print_stdout)]

use std::time::Instant;

use num_complex::Complex64;
use pstswm::grid::gauss::GaussNodes;
use pstswm::measure::Summary;
use pstswm::spectral::column;
use pstswm::transform::fourier::{FourierPlan, LineCells};
use pstswm::transform::kernels::Family;
use pstswm::transform::legendre::LegendrePlan;
use pstswm::transform::{CELL, LANES, POINT, peak};
use rustfft::FftPlanner;

/// Seconds spent on a figure.
const SPENT: f64 = 0.5;

/// Seconds of a sample, at least.
const SAMPLE: f64 = 2e-3;

fn main() {
    let only: Vec<usize> = std::env::args()
        .filter_map(|word| word.parse().ok())
        .collect();
    let family = Family::detect();
    let peak = peak::samples(family, 20).into_iter().fold(0.0, f64::max);
    println!(
        "{} kernels, peak of one core {:.1} GFlop/s",
        family.name(),
        peak / 1e9
    );
    println!(
        "{:<34} {:>10} {:>10} {:>8} {:>6}",
        "", "min us", "median us", "GFlop/s", "peak"
    );
    for (n, nlat) in [(42, 64), (85, 128), (170, 256), (341, 512)] {
        if !only.is_empty() && !only.contains(&n) {
            continue;
        }
        for (levels, fields) in [(1, 1), (1, 4), (1, 5), (4, 4), (4, 5)] {
            legendre(n, nlat, (levels, fields), family, peak);
        }
        fourier(n, 2 * nlat, family, peak);
    }
}

/// Shortest and median seconds of a call.
fn time(mut call: impl FnMut()) -> (f64, f64) {
    let mut calls = 1;
    let mut sample = |calls: usize| {
        let start = Instant::now();
        for _ in 0..calls {
            call();
        }
        start.elapsed().as_secs_f64()
    };
    while sample(calls) < SAMPLE {
        calls *= 2;
    }
    let start = Instant::now();
    let mut seconds = Vec::new();
    while start.elapsed().as_secs_f64() < SPENT || seconds.len() < 5 {
        seconds.push(sample(calls) / calls as f64);
    }
    Summary::of(&seconds).map_or((f64::NAN, f64::NAN), |summary| {
        (summary.min, summary.median)
    })
}

fn line(what: &str, flops: f64, (min, median): (f64, f64), peak: f64) {
    println!(
        "{what:<34} {:>10.3} {:>10.3} {:>8.2} {:>5.1}%",
        min * 1e6,
        median * 1e6,
        flops / min / 1e9,
        100.0 * flops / min / peak
    );
}

/// All wavenumbers of `levels` levels of `fields` fields, through a buffer of one wavenumber.
fn legendre(n: usize, nlat: usize, (levels, fields): (usize, usize), family: Family, peak: f64) {
    let gauss = GaussNodes::new(nlat);
    let waves: Vec<(usize, usize)> = (0..=n).map(|m| (m, n)).collect();
    let quads = levels * fields;
    let mut plan = LegendrePlan::new(&waves, &gauss, quads, family);
    let groups = (nlat / 2).div_ceil(LANES);
    let mut cells = vec![0.0; quads * groups * CELL];
    let value = |k: usize| ((k * 7919) % 1009) as f64 / 1009.0 - 0.5;
    let columns: Vec<Vec<f64>> = (0..=n)
        .map(|m| {
            let degrees = n - m + 1;
            let mut all = vec![0.0; quads * column::len(degrees)];
            for (quad, column) in all.chunks_exact_mut(column::len(degrees)).enumerate() {
                let field: Vec<Complex64> = (0..degrees)
                    .map(|k| Complex64::new(value(k + quad), value(3 * k + quad)))
                    .collect();
                column::put(&field, column);
            }
            all
        })
        .collect();
    let mut back = columns.clone();
    for m in 0..=n {
        plan.inverse(m, levels, fields, &columns[m], &mut cells);
        plan.forward(m, levels, fields, &cells, &mut back[m]);
        let len = column::len(n - m + 1);
        for (a, b) in columns[m].chunks(len).zip(back[m].chunks(len)) {
            for k in column::BEFORE..column::BEFORE + 2 * (n - m + 1) {
                // Even and odd sums stand for both hemispheres: they come back halved.
                let error = (a[k] - 2.0 * b[k]).abs();
                assert!(
                    error < 1e-11 || (a[k] - b[k]).abs() < 1e-11,
                    "T{n} m {m}: {error:e}"
                );
            }
        }
    }
    let flops = (quads * nlat * (n + 1) * (n + 2)) as f64;
    let inverse = time(|| {
        for m in 0..=n {
            plan.inverse(m, levels, fields, &columns[m], &mut cells);
        }
    });
    line(
        &format!("T{n} L{levels} Legendre inverse, {fields} fields"),
        flops,
        inverse,
        peak,
    );
    let forward = time(|| {
        for m in 0..=n {
            plan.forward(m, levels, fields, &cells, &mut back[m]);
        }
    });
    line(
        &format!("T{n} L{levels} Legendre forward, {fields} fields"),
        flops,
        forward,
        peak,
    );
}

/// One line of four latitude pairs, in the first- or second-level cache.
fn fourier(n: usize, nlon: usize, family: Family, peak: f64) {
    let plan = FourierPlan::new(nlon, n, family);
    let mut points: Vec<f64> = (0..nlon * POINT).map(|k| (k % 7) as f64).collect();
    let mut cells = vec![0.0; (n + 1) * CELL];
    let base: Vec<isize> = (0..=n).map(|m| (m * CELL) as isize).collect();
    let at = LineCells {
        base: &base,
        stride: &vec![0; n + 1],
        line: 0,
        offset: 0,
        ahead: 0,
    };
    plan.forward(&mut points, at, &mut cells);
    let first = cells.clone();
    plan.inverse(&cells, at, &mut points);
    plan.forward(&mut points, at, &mut cells);
    let worst = first
        .iter()
        .zip(&cells)
        .map(|(a, b)| (a - 0.5 * b).abs().min((a - b).abs()));
    assert!(worst.fold(0.0, f64::max) < 1e-12, "there and back");
    let flops = 2.0 * LANES as f64 * 2.5 * nlon as f64 * (nlon as f64).log2();
    let inverse = time(|| plan.inverse(&cells, at, &mut points));
    line(&format!("{nlon} points, inverse FFT"), flops, inverse, peak);
    let forward = time(|| plan.forward(&mut points, at, &mut cells));
    line(&format!("{nlon} points, forward FFT"), flops, forward, peak);
    let fft = FftPlanner::new().plan_fft_inverse(nlon);
    let mut rows = vec![Complex64::default(); LANES * nlon];
    let mut scratch = vec![Complex64::default(); fft.get_inplace_scratch_len()];
    let theirs = time(|| fft.process_with_scratch(&mut rows, &mut scratch));
    line(&format!("{nlon} points, rustfft"), flops, theirs, peak);
}
