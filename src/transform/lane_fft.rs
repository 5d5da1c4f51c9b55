//! Complex FFTs of four lines at once, one in each lane, for lengths 2^a 3^b 5^c.
//!
//! In place: decimation in frequency (Gentleman and Sande 1966) towards wavenumbers, decimation in
//! time (Cooley and Tukey 1965) towards the grid, with radices 5, 3, 2 and 4. Wavenumbers stay in the
//! order in which decimation leaves them, that of reversed digits: whoever reads or writes them asks
//! [`LaneFft::place`], so nothing is reordered.
//!
//! Long lines are cut by the first radices into parts that fit the first-level cache, and each part
//! is transformed to its end before the next.

#![allow(unsafe_code)] // indices that are known to be within a line

use std::f64::consts::PI;

use super::mirror::Point;
use super::vector::{Vector, dispatch};

/// Points whose transform stays in the first-level cache.
const CACHED: usize = 256;

/// One decimation: sub-transforms of `radix part` points become `radix` of `part` points.
#[derive(Clone, Debug)]
struct Stage {
    radix: usize,
    part: usize,
    /// `[j][k - 1]`: `exp(-2 pi i j k/(radix part))`, real and imaginary; none for single points.
    twiddles: Vec<[f64; 2]>,
}

/// The tables of one length.
#[derive(Clone, Debug)]
pub struct LaneFft {
    length: usize,
    /// Stages before the parts fit the cache.
    outer: usize,
    stages: Vec<Stage>,
    /// Where each wavenumber is.
    places: Vec<u32>,
}

impl LaneFft {
    /// Tables for `length`; `None` if it has a prime factor above 5.
    pub fn new(length: usize) -> Option<Self> {
        let mut rest = length;
        let mut radices = Vec::new();
        for radix in [5, 3] {
            while rest.is_multiple_of(radix) && rest > 0 {
                radices.push(radix);
                rest /= radix;
            }
        }
        if !rest.is_power_of_two() {
            return None;
        }
        let twos = rest.trailing_zeros() as usize;
        radices.extend(std::iter::repeat_n(2, twos % 2));
        radices.extend(std::iter::repeat_n(4, twos / 2));
        let (mut stages, mut size) = (Vec::new(), length);
        for radix in radices {
            let part = size / radix;
            let twiddle = |jk: usize| {
                let (sin, cos) = (-2.0 * PI * jk as f64 / size as f64).sin_cos();
                [cos, sin]
            };
            let all = (0..part).flat_map(|j| (1..radix).map(move |k| j * k % size));
            let twiddles = if part > 1 {
                all.map(twiddle).collect()
            } else {
                Vec::new()
            };
            stages.push(Stage {
                radix,
                part,
                twiddles,
            });
            size = part;
        }
        let outer = stages
            .iter()
            .take_while(|stage| stage.radix * stage.part > CACHED)
            .count();
        let places = (0..length)
            .map(|wavenumber| {
                let (mut rest, mut place) = (wavenumber, 0);
                for stage in &stages {
                    place += rest % stage.radix * stage.part;
                    rest /= stage.radix;
                }
                place as u32
            })
            .collect();
        Some(Self {
            length,
            outer,
            stages,
            places,
        })
    }

    /// Where wavenumber `k` (`-k` is `length - k`) of a line lies, in points.
    #[inline(always)]
    pub fn place(&self, k: usize) -> usize {
        self.places[k] as usize
    }

    /// Whether the last radix is 4, so that wavenumbers `k + j length/4` lie side by side:
    /// `k < length/4` and the three after it begin at [`Self::place`] of k.
    #[inline(always)]
    pub(super) fn ends_in_four(&self) -> bool {
        self.stages.last().is_some_and(|stage| stage.radix == 4)
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        let twiddles: usize = self
            .stages
            .iter()
            .map(|stage| size_of_val(stage.twiddles.as_slice()))
            .sum();
        twiddles + size_of_val(self.places.as_slice())
    }
}

/// `a (re, im)`, complex, with `w` conjugated where `CONJUGATE`.
#[inline(always)]
fn turn<V: Vector, const CONJUGATE: bool>([re, im]: [V; 2], w: &[f64; 2]) -> [V; 2] {
    let (cos, sin) = (V::splat(w[0]), V::splat(w[1]));
    if CONJUGATE {
        [re.mul_add(cos, im.mul(sin)), im.mul_sub(cos, re.mul(sin))]
    } else {
        [re.mul_sub(cos, im.mul(sin)), re.mul_add(sin, im.mul(cos))]
    }
}

#[inline(always)]
pub(super) fn load<V: Vector>(point: &Point) -> [V; 2] {
    [V::load(&point[0]), V::load(&point[1])]
}

#[inline(always)]
pub(super) fn store<V: Vector>(value: [V; 2], point: &mut Point) {
    value[0].store(&mut point[0]);
    value[1].store(&mut point[1]);
}

#[inline(always)]
fn add<V: Vector>(a: [V; 2], b: [V; 2]) -> [V; 2] {
    [a[0].add(b[0]), a[1].add(b[1])]
}

#[inline(always)]
fn sub<V: Vector>(a: [V; 2], b: [V; 2]) -> [V; 2] {
    [a[0].sub(b[0]), a[1].sub(b[1])]
}

/// `factor a`.
#[inline(always)]
fn times<V: Vector>(factor: V, a: [V; 2]) -> [V; 2] {
    [factor.mul(a[0]), factor.mul(a[1])]
}

/// `a + factor b`.
#[inline(always)]
fn add_times<V: Vector>(a: [V; 2], factor: V, b: [V; 2]) -> [V; 2] {
    [factor.mul_add(b[0], a[0]), factor.mul_add(b[1], a[1])]
}

/// The transform of `R` points: `y_k = sum_j x_j exp(-+ 2 pi i j k/R)`.
#[inline(always)]
fn butterfly<V: Vector, const R: usize, const INVERSE: bool>(x: [[V; 2]; R]) -> [[V; 2]; R] {
    let mut y = x;
    match R {
        2 => {
            y[0] = add(x[0], x[1]);
            y[1] = sub(x[0], x[1]);
        }
        3 => {
            let (sum, difference) = (add(x[1], x[2]), sub(x[1], x[2]));
            let middle = add_times(x[0], V::splat(-0.5), sum);
            let half_root = V::splat(HALF_ROOT_3);
            let side = times(half_root, difference);
            y[0] = add(x[0], sum);
            (y[1], y[2]) = quarters::<V, INVERSE>(middle, side);
        }
        4 => {
            let four = four::<V, INVERSE>([x[0], x[1], x[2], x[3]]);
            y[..4].copy_from_slice(&four);
        }
        5 => {
            let (sum_1, difference_1) = (add(x[1], x[4]), sub(x[1], x[4]));
            let (sum_2, difference_2) = (add(x[2], x[3]), sub(x[2], x[3]));
            let (c1, c2) = (V::splat(COS_5[0]), V::splat(COS_5[1]));
            let (s1, s2) = (V::splat(SIN_5[0]), V::splat(SIN_5[1]));
            let (middle_1, middle_2) = (
                add_times(add_times(x[0], c1, sum_1), c2, sum_2),
                add_times(add_times(x[0], c2, sum_1), c1, sum_2),
            );
            let side_1 = add_times(times(s1, difference_1), s2, difference_2);
            let side_2 = sub(times(s2, difference_1), times(s1, difference_2));
            y[0] = add(x[0], add(sum_1, sum_2));
            (y[1], y[4]) = quarters::<V, INVERSE>(middle_1, side_1);
            (y[2], y[3]) = quarters::<V, INVERSE>(middle_2, side_2);
        }
        _ => unreachable!("radices are 2, 3, 4 and 5"),
    }
    y
}

/// The transform of four points.
#[inline(always)]
pub(super) fn four<V: Vector, const INVERSE: bool>(x: [[V; 2]; 4]) -> [[V; 2]; 4] {
    let (even_sum, even) = (add(x[0], x[2]), sub(x[0], x[2]));
    let (odd_sum, odd) = (add(x[1], x[3]), sub(x[1], x[3]));
    let (one, three) = quarters::<V, INVERSE>(even, odd);
    [add(even_sum, odd_sum), one, sub(even_sum, odd_sum), three]
}

/// `(a - i b, a + i b)`, the other way round where `INVERSE`.
#[inline(always)]
fn quarters<V: Vector, const INVERSE: bool>(a: [V; 2], b: [V; 2]) -> ([V; 2], [V; 2]) {
    let minus = [a[0].add(b[1]), a[1].sub(b[0])];
    let plus = [a[0].sub(b[1]), a[1].add(b[0])];
    if INVERSE {
        (plus, minus)
    } else {
        (minus, plus)
    }
}

/// sqrt(3)/2.
const HALF_ROOT_3: f64 = 0.866_025_403_784_438_6;
/// cos(2 pi/5), cos(4 pi/5).
const COS_5: [f64; 2] = [0.309_016_994_374_947_4, -0.809_016_994_374_947_4];
/// sin(2 pi/5), sin(4 pi/5).
const SIN_5: [f64; 2] = [0.951_056_516_295_153_5, 0.587_785_252_292_473_1];

/// One stage of every sub-transform in `points`.
#[inline(always)]
fn pass<V: Vector, const R: usize, const INVERSE: bool>(points: &mut [Point], stage: &Stage) {
    let part = stage.part;
    if part == 1 {
        for points in points.as_chunks_mut::<R>().0 {
            let mut x = [[V::zero(); 2]; R];
            for k in 0..R {
                x[k] = load(&points[k]);
            }
            let y = butterfly::<V, R, INVERSE>(x);
            for k in 0..R {
                store(y[k], &mut points[k]);
            }
        }
        return;
    }
    assert_eq!(stage.twiddles.len(), part * (R - 1));
    for points in points.chunks_exact_mut(R * part) {
        for j in 0..part {
            let mut x = [[V::zero(); 2]; R];
            for k in 0..R {
                // SAFETY: `points` has R part entries, j < part and k < R, here and below; the
                // twiddles are counted above. Checked indices cost a tenth of the transform.
                x[k] = load(unsafe { points.get_unchecked(j + k * part) });
                if INVERSE && k > 0 {
                    // SAFETY: as above.
                    let w = unsafe { stage.twiddles.get_unchecked(j * (R - 1) + k - 1) };
                    x[k] = turn::<V, true>(x[k], w);
                }
            }
            let mut y = butterfly::<V, R, INVERSE>(x);
            for k in 0..R {
                if !INVERSE && k > 0 {
                    // SAFETY: as above.
                    let w = unsafe { stage.twiddles.get_unchecked(j * (R - 1) + k - 1) };
                    y[k] = turn::<V, false>(y[k], w);
                }
                // SAFETY: as above.
                store(y[k], unsafe { points.get_unchecked_mut(j + k * part) });
            }
        }
    }
}

#[inline(always)]
fn any_pass<V: Vector, const INVERSE: bool>(points: &mut [Point], stage: &Stage) {
    match stage.radix {
        4 => pass::<V, 4, INVERSE>(points, stage),
        2 => pass::<V, 2, INVERSE>(points, stage),
        3 => pass::<V, 3, INVERSE>(points, stage),
        _ => pass::<V, 5, INVERSE>(points, stage),
    }
}

/// All stages but, where `WITHOUT_LAST`, the last, that of neighbouring points.
#[inline(always)]
pub(super) fn forward_stages<V: Vector, const WITHOUT_LAST: bool>(
    fft: &LaneFft,
    points: &mut [Point],
) {
    let points = &mut points[..fft.length];
    let stages = &fft.stages[..fft.stages.len() - usize::from(WITHOUT_LAST)];
    let (outer, inner) = stages.split_at(fft.outer.min(stages.len()));
    for stage in outer {
        any_pass::<V, false>(points, stage);
    }
    let part = outer.last().map_or(fft.length, |stage| stage.part);
    for points in points.chunks_exact_mut(part) {
        for stage in inner {
            any_pass::<V, false>(points, stage);
        }
    }
}

/// The same backwards: all stages but, where `WITHOUT_LAST`, the first, that of neighbours.
#[inline(always)]
pub(super) fn inverse_stages<V: Vector, const WITHOUT_LAST: bool>(
    fft: &LaneFft,
    points: &mut [Point],
) {
    let points = &mut points[..fft.length];
    let stages = &fft.stages[..fft.stages.len() - usize::from(WITHOUT_LAST)];
    let (outer, inner) = stages.split_at(fft.outer.min(stages.len()));
    let part = outer.last().map_or(fft.length, |stage| stage.part);
    for points in points.chunks_exact_mut(part) {
        for stage in inner.iter().rev() {
            any_pass::<V, true>(points, stage);
        }
    }
    for stage in outer.iter().rev() {
        any_pass::<V, true>(points, stage);
    }
}

#[inline(always)]
fn forward_body<V: Vector>(fft: &LaneFft, points: &mut [Point]) {
    forward_stages::<V, false>(fft, points);
}

#[inline(always)]
fn inverse_body<V: Vector>(fft: &LaneFft, points: &mut [Point]) {
    inverse_stages::<V, false>(fft, points);
}

dispatch! {
    /// `sum_j x_j exp(-2 pi i j k/length)`, in place; wavenumber k ends at [`LaneFft::place`].
    pub(super) forward => forward_body(fft: &LaneFft, points: &mut [Point])
}

dispatch! {
    /// `sum_k x_k exp(2 pi i j k/length)`, in place, from wavenumbers at [`LaneFft::place`].
    pub(super) inverse => inverse_body(fft: &LaneFft, points: &mut [Point])
}

#[cfg(test)]
mod tests {
    use num_complex::Complex64;
    use rustfft::FftPlanner;

    use super::*;
    use crate::transform::LANES;
    use crate::transform::kernels::Family;

    /// Every length of a grid up to 2000, with numbers that differ between lanes.
    fn lengths() -> impl Iterator<Item = LaneFft> {
        (1..=2000)
            .filter_map(LaneFft::new)
            .chain(LaneFft::new(6144))
    }

    fn line(length: usize) -> Vec<Point> {
        let value = |i: usize| ((i * 7919 + 13) % 1009) as f64 / 1009.0 - 0.5;
        (0..length)
            .map(|j| {
                std::array::from_fn(|c| std::array::from_fn(|lane| value(8 * j + 4 * c + lane)))
            })
            .collect()
    }

    #[test]
    fn agrees_with_rustfft_at_every_length_both_ways() {
        let mut planner = FftPlanner::new();
        for family in [Family::Plain, Family::detect()] {
            for fft in lengths() {
                let length = fft.length;
                let points = line(length);
                let mut there = points.clone();
                forward(family, &fft, &mut there);
                for lane in 0..LANES {
                    let mut row: Vec<Complex64> = points
                        .iter()
                        .map(|p| Complex64::new(p[0][lane], p[1][lane]))
                        .collect();
                    planner.plan_fft_forward(length).process(&mut row);
                    for (k, expected) in row.iter().enumerate() {
                        let found = there[fft.place(k)];
                        let found = Complex64::new(found[0][lane], found[1][lane]);
                        let error = (found - expected).norm();
                        assert!(error < 2e-14 * length as f64, "{length}: {k}: {error:e}");
                    }
                }
                inverse(family, &fft, &mut there);
                for (back, point) in there.iter().zip(&points) {
                    for (back, value) in back.iter().flatten().zip(point.iter().flatten()) {
                        let error = (back / length as f64 - value).abs();
                        assert!(error < 2e-15 * 5.0, "{length}: {error:e}");
                    }
                }
            }
        }
    }

    #[test]
    fn machine_code_of_a_family_agrees_with_plain_arrays_bit_for_bit() {
        use super::super::vector::Array;
        let Family::Fused = Family::detect() else {
            return;
        };
        for length in [2, 3, 5, 30, 128, 320, 1024, 1500] {
            let fft = LaneFft::new(length).unwrap();
            let (mut a, mut b) = (line(length), line(length));
            forward(Family::detect(), &fft, &mut a);
            forward_body::<Array<true>>(&fft, &mut b);
            assert_eq!(a, b);
            inverse(Family::detect(), &fft, &mut a);
            inverse_body::<Array<true>>(&fft, &mut b);
            assert_eq!(a, b);
        }
    }

    #[test]
    fn lengths_with_other_primes_are_refused() {
        for length in [0, 7, 22, 1001] {
            assert!(LaneFft::new(length).is_none(), "{length}");
        }
    }
}
