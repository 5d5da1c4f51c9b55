//! North + i south as one complex row: its wavenumbers m and -m, and the cell they stand for.
//!
//! Nothing here rounds differently from one [`Vector`] to another: there is no multiply-add.

use super::vector::Vector;
use super::{LANES, Lane, POINT};

/// A value of four lines: real parts (or north), imaginary parts (or south).
pub(super) type Point = [Lane; POINT / LANES];

/// Even and odd, real and imaginary parts: a cell.
pub(super) type Quad = [Lane; 4];

/// The values at wavenumbers m and -m from the cell of m.
#[inline(always)]
pub(super) fn unfold<V: Vector>(cell: &Quad, m: usize) -> (Point, Point) {
    let (value, mirror) = if m == 0 {
        let mean = unfold_mean::<V>(cell);
        (mean, mean)
    } else {
        unfold_wave::<V>(cell)
    };
    (point(value), point(mirror))
}

/// The value at wavenumber 0.
#[inline(always)]
pub(super) fn unfold_mean<V: Vector>(cell: &Quad) -> [V; 2] {
    let (even, odd) = (V::load(&cell[0]), V::load(&cell[2]));
    [even.add(odd), even.sub(odd)]
}

/// [`unfold`] of a positive wavenumber.
#[inline(always)]
pub(super) fn unfold_wave<V: Vector>(cell: &Quad) -> ([V; 2], [V; 2]) {
    let (even_re, even_im) = (V::load(&cell[0]), V::load(&cell[1]));
    let (odd_re, odd_im) = (V::load(&cell[2]), V::load(&cell[3]));
    let (north_re, north_im) = (even_re.add(odd_re), even_im.add(odd_im));
    let (south_re, south_im) = (even_re.sub(odd_re), even_im.sub(odd_im));
    (
        [north_re.sub(south_im), north_im.add(south_re)],
        [north_re.add(south_im), south_re.sub(north_im)],
    )
}

/// The cell of wavenumber m from the values at m and -m, times `scale`; with
/// `scale = 1/(2 nlon)` the coefficients `F_m = (1/nlon) sum_i f_i exp(-i m lambda_i)`, as sums and
/// differences of the hemispheres.
#[inline(always)]
pub(super) fn fold<V: Vector>(at_m: &Point, at_minus_m: &Point, scale: f64, m: usize) -> Quad {
    let values = |at: &Point| [V::load(&at[0]), V::load(&at[1])];
    let mut cell = [[0.0; LANES]; 4];
    if m == 0 {
        fold_mean::<V>(values(at_m), scale, &mut cell);
    } else {
        fold_wave::<V>(values(at_m), values(at_minus_m), scale, &mut cell);
    }
    cell
}

/// [`fold`] of wavenumber 0.
#[inline(always)]
pub(super) fn fold_mean<V: Vector>([re, im]: [V; 2], scale: f64, cell: &mut Quad) {
    put(
        [re.add(re), V::zero()],
        [im.add(im), V::zero()],
        scale,
        cell,
    );
}

/// [`fold`] of a positive wavenumber.
#[inline(always)]
pub(super) fn fold_wave<V: Vector>(
    [re, im]: [V; 2],
    [mirror_re, mirror_im]: [V; 2],
    scale: f64,
    cell: &mut Quad,
) {
    put(
        [re.add(mirror_re), im.sub(mirror_im)],
        [im.add(mirror_im), mirror_re.sub(re)],
        scale,
        cell,
    );
}

/// Sums and differences of the hemispheres.
#[inline(always)]
fn put<V: Vector>(north: [V; 2], south: [V; 2], scale: f64, cell: &mut Quad) {
    let scale = V::splat(scale);
    for part in 0..2 {
        let (even, odd) = (north[part].add(south[part]), north[part].sub(south[part]));
        even.mul(scale).store(&mut cell[part]);
        odd.mul(scale).store(&mut cell[2 + part]);
    }
}

#[inline(always)]
fn point<V: Vector>(value: [V; 2]) -> Point {
    let mut point = [[0.0; LANES]; 2];
    value[0].store(&mut point[0]);
    value[1].store(&mut point[1]);
    point
}
