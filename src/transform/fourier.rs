//! The FFT of whole lines: four latitude pairs at a time, north + i south as one complex row.

#![allow(unsafe_code)] // only to call functions compiled for features found at run time

use super::kernels::Family;
use super::lane_fft::{self, LaneFft};
use super::mirror::{Point, Quad, fold, unfold};
use super::vector::{Vector, dispatch};
use super::{CELL, LANES};

/// FFTs of length `nlon`.
pub struct FourierPlan {
    nlon: usize,
    m_max: usize,
    family: Family,
    fft: LaneFft,
}

/// Where the cells of a line lie: wavenumber `m` at `base[m] + line stride[m] + offset`,
/// counted in f64.
#[derive(Clone, Copy, Debug)]
pub struct LineCells<'a> {
    /// By wavenumber.
    pub base: &'a [isize],
    /// By wavenumber.
    pub stride: &'a [isize],
    /// Which line.
    pub line: isize,
    /// Added to all.
    pub offset: isize,
}

impl LineCells<'_> {
    #[inline(always)]
    fn at(&self, m: usize) -> usize {
        (self.base[m] + self.line * self.stride[m] + self.offset) as usize
    }
}

impl FourierPlan {
    /// Plan for `nlon = 2^a 3^b 5^c` longitudes and wavenumbers `0 ..= m_max`, `2 m_max < nlon`.
    ///
    /// # Panics
    /// `nlon` with another prime factor: no such grid is made.
    pub fn new(nlon: usize, m_max: usize, family: Family) -> Self {
        let Some(fft) = LaneFft::new(nlon) else {
            unreachable!("longitudes are a product of 2, 3 and 5")
        };
        Self {
            nlon,
            m_max,
            family,
            fft,
        }
    }

    /// Wavenumbers to one group of lines (`[longitude][north | south][lane]`). Unnormalised:
    /// `f(lambda_i) = sum_m F_m exp(i m lambda_i)`.
    pub fn inverse(&self, cells: &[f64], at: LineCells<'_>, line: &mut [f64]) {
        inverse(self.family, self, cells, &at, to_points(line));
    }

    /// One group of lines to wavenumbers, `F_m = (1/nlon) sum_i f_i exp(-i m lambda_i)`, as sums and
    /// differences of the hemispheres. The line is overwritten.
    pub fn forward(&self, line: &mut [f64], at: LineCells<'_>, cells: &mut [f64]) {
        forward(self.family, self, to_points(line), &at, cells);
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        self.fft.bytes()
    }
}

/// Values as points.
pub(super) fn to_points(line: &mut [f64]) -> &mut [Point] {
    line.as_chunks_mut().0.as_chunks_mut().0
}

/// The same, to read.
pub(super) fn as_points(line: &[f64]) -> &[Point] {
    line.as_chunks().0.as_chunks().0
}

/// Values as a cell.
#[inline(always)]
pub(super) fn quad(cell: &[f64]) -> &Quad {
    match cell.as_chunks::<LANES>().0.first_chunk() {
        Some(quad) => quad,
        None => unreachable!("cells are sized by the plan"),
    }
}

#[inline(always)]
fn inverse_body<V: Vector>(
    plan: &FourierPlan,
    cells: &[f64],
    at: &LineCells<'_>,
    points: &mut [Point],
) {
    let (fft, points) = (&plan.fft, &mut points[..plan.nlon]);
    for k in plan.m_max + 1..plan.nlon - plan.m_max {
        points[fft.place(k)] = [[0.0; LANES]; 2];
    }
    for m in 0..=plan.m_max {
        let from = at.at(m);
        let (value, mirror) = unfold::<V>(quad(&cells[from..from + CELL]), m);
        points[fft.place(m)] = value;
        if m > 0 {
            points[fft.place(plan.nlon - m)] = mirror;
        }
    }
    lane_fft::inverse_body::<V>(fft, points);
}

#[inline(always)]
fn forward_body<V: Vector>(
    plan: &FourierPlan,
    points: &mut [Point],
    at: &LineCells<'_>,
    cells: &mut [f64],
) {
    let (fft, points) = (&plan.fft, &mut points[..plan.nlon]);
    lane_fft::forward_body::<V>(fft, points);
    let scale = 0.5 / plan.nlon as f64;
    for m in 0..=plan.m_max {
        let mirror = &points[fft.place((plan.nlon - m) % plan.nlon)];
        let cell = fold::<V>(&points[fft.place(m)], mirror, scale, m);
        let to = at.at(m);
        cells[to..to + CELL].copy_from_slice(cell.as_flattened());
    }
}

dispatch! {
    /// Cells of a line to its points.
    inverse => inverse_body(plan: &FourierPlan, cells: &[f64], at: &LineCells<'_>,
        points: &mut [Point])
}

dispatch! {
    /// Points of a line to its cells.
    forward => forward_body(plan: &FourierPlan, points: &mut [Point], at: &LineCells<'_>,
        cells: &mut [f64])
}
