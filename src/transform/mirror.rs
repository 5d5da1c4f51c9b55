//! North + i south as one complex row: its wavenumbers m and -m, and the cell they stand for.

use num_complex::Complex64;

use super::{CELL, LANES};

/// The values at wavenumbers m and -m of one lane from the cell of m.
#[inline]
pub(super) fn unfold(cell: &[f64; CELL], lane: usize, m: usize) -> (Complex64, Complex64) {
    let part = |c: usize| cell[c * LANES + lane];
    let (north_re, north_im) = (part(0) + part(2), part(1) + part(3));
    let (south_re, south_im) = (part(0) - part(2), part(1) - part(3));
    if m == 0 {
        let mean = Complex64::new(north_re, south_re);
        return (mean, mean);
    }
    (
        Complex64::new(north_re - south_im, north_im + south_re),
        Complex64::new(north_re + south_im, south_re - north_im),
    )
}

/// One lane of the cell of wavenumber m from the values at m and -m, times `scale`; with
/// `scale = 1/(2 nlon)` the coefficients `F_m = (1/nlon) sum_i f_i exp(-i m lambda_i)`, as sums and
/// differences of the hemispheres.
#[inline]
pub(super) fn fold(
    (at_m, at_minus_m): (Complex64, Complex64),
    scale: f64,
    m: usize,
    lane: usize,
    cell: &mut [f64; CELL],
) {
    let z = at_m * scale;
    let (north, south) = if m == 0 {
        (
            Complex64::new(2.0 * z.re, 0.0),
            Complex64::new(2.0 * z.im, 0.0),
        )
    } else {
        let mirror = at_minus_m.conj() * scale;
        let (sum, difference) = (z + mirror, z - mirror);
        (sum, Complex64::new(difference.im, -difference.re))
    };
    let (even, odd) = (north + south, north - south);
    cell[lane] = even.re;
    cell[LANES + lane] = even.im;
    cell[2 * LANES + lane] = odd.re;
    cell[3 * LANES + lane] = odd.im;
}
