//! The FFT of whole lines: four latitude pairs at a time, north + i south as one complex row.

use super::kernels::Family;
use super::lane_fft::{self, LaneFft, four, load, store};
use super::mirror::{Point, Quad, fold, fold_mean, fold_wave, unfold, unfold_mean, unfold_wave};
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
    /// From the cells of this line to those that are needed next.
    pub ahead: isize,
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

/// The same, to write.
#[inline(always)]
fn quad_mut(cell: &mut [f64]) -> &mut Quad {
    match cell.as_chunks_mut::<LANES>().0.first_chunk_mut() {
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
    if !fft.ends_in_four() {
        for k in plan.m_max + 1..plan.nlon - plan.m_max {
            points[fft.place(k)] = [[0.0; LANES]; 2];
        }
        for m in 0..=plan.m_max {
            let (value, mirror) = unfold::<V>(cell::<V>(cells, at, m), m);
            points[fft.place(m)] = value;
            if m > 0 {
                points[fft.place(plan.nlon - m)] = mirror;
            }
        }
        lane_fft::inverse_stages::<V, false>(fft, points);
        return;
    }
    // The first stage takes wavenumbers k, n/4 + k, n/2 + k = -(n/2 - k) and 3n/4 + k = -(n/4 - k),
    // and of n/4 - k the same cells with the other sign: both at once, from cells into place.
    let quarter = plan.nlon / 4;
    for k in 0..=quarter / 2 {
        let a = if k == 0 {
            (unfold_mean::<V>(cell::<V>(cells, at, 0)), [V::zero(); 2])
        } else {
            unfold_wave::<V>(cell::<V>(cells, at, k))
        };
        let mut b = ([V::zero(); 2], [V::zero(); 2]);
        if quarter + k <= plan.m_max {
            b = unfold_wave::<V>(cell::<V>(cells, at, quarter + k));
        }
        let mut c = ([V::zero(); 2], [V::zero(); 2]);
        if 2 * quarter - k <= plan.m_max {
            c = unfold_wave::<V>(cell::<V>(cells, at, 2 * quarter - k));
        }
        let mut d = ([V::zero(); 2], [V::zero(); 2]);
        if quarter - k <= plan.m_max {
            d = unfold_wave::<V>(cell::<V>(cells, at, quarter - k));
        }
        put_four(points, fft.place(k), four::<V, true>([a.0, b.0, c.1, d.1]));
        if k > 0 && 2 * k < quarter {
            let place = fft.place(quarter - k);
            put_four(points, place, four::<V, true>([d.0, c.0, b.1, a.1]));
        }
    }
    lane_fft::inverse_stages::<V, true>(fft, points);
}

#[inline(always)]
fn forward_body<V: Vector>(
    plan: &FourierPlan,
    points: &mut [Point],
    at: &LineCells<'_>,
    cells: &mut [f64],
) {
    let (fft, points) = (&plan.fft, &mut points[..plan.nlon]);
    let scale = 0.5 / plan.nlon as f64;
    if !fft.ends_in_four() {
        lane_fft::forward_stages::<V, false>(fft, points);
        for m in 0..=plan.m_max {
            let mirror = &points[fft.place((plan.nlon - m) % plan.nlon)];
            let cell = fold::<V>(&points[fft.place(m)], mirror, scale, m);
            let to = at.at(m);
            cells[to..to + CELL].copy_from_slice(cell.as_flattened());
        }
        return;
    }
    lane_fft::forward_stages::<V, true>(fft, points);
    // The last stage, as the first of the inverse: from its results straight into cells.
    let quarter = plan.nlon / 4;
    for k in 0..=quarter / 2 {
        let start = fft.place(k);
        let one = last_stage::<V>(&points[start..start + 4]);
        let other = if k == 0 {
            [one[1], one[0], one[3], one[2]]
        } else if 2 * k == quarter {
            one
        } else {
            let start = fft.place(quarter - k);
            last_stage::<V>(&points[start..start + 4])
        };
        if k == 0 {
            let to = at.at(0);
            fold_mean::<V>(one[0], scale, quad_mut(&mut cells[to..to + CELL]));
        } else {
            give::<V>(plan, k, (one[0], other[3]), scale, at, cells);
            give::<V>(plan, 2 * quarter - k, (other[1], one[2]), scale, at, cells);
            give::<V>(plan, quarter - k, (other[0], one[3]), scale, at, cells);
        }
        give::<V>(plan, quarter + k, (one[1], other[2]), scale, at, cells);
    }
}

/// The cell of a positive wavenumber, if it is there, from the values at m and -m.
#[inline(always)]
fn give<V: Vector>(
    plan: &FourierPlan,
    m: usize,
    (value, mirror): ([V; 2], [V; 2]),
    scale: f64,
    at: &LineCells<'_>,
    cells: &mut [f64],
) {
    if m <= plan.m_max {
        let to = at.at(m);
        fold_wave::<V>(value, mirror, scale, quad_mut(&mut cells[to..to + CELL]));
    }
}

/// The cell of a wavenumber; that of the next line is asked for.
#[inline(always)]
fn cell<'a, V: Vector>(cells: &'a [f64], at: &LineCells<'_>, m: usize) -> &'a Quad {
    let from = at.at(m);
    V::prefetch(&cells[from], at.ahead);
    V::prefetch(&cells[from], at.ahead + (CELL / 2) as isize);
    quad(&cells[from..from + CELL])
}

/// To four neighbouring points.
#[inline(always)]
fn put_four<V: Vector>(points: &mut [Point], place: usize, values: [[V; 2]; 4]) {
    let points = &mut points[place..place + 4];
    for j in 0..4 {
        store(values[j], &mut points[j]);
    }
}

/// Four neighbouring points, transformed.
#[inline(always)]
fn last_stage<V: Vector>(points: &[Point]) -> [[V; 2]; 4] {
    let mut x = [[V::zero(); 2]; 4];
    for j in 0..4 {
        x[j] = load(&points[j]);
    }
    four::<V, false>(x)
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
