//! A column: the coefficients of one wavenumber of one field, as kernels take them.
//!
//! Real and imaginary parts side by side, `n = m ..`, with a zero coefficient before the first and
//! zeros after the last: neighbouring degrees can be read at either end, and two coefficients at a
//! time whether their number is even or odd.

use num_complex::Complex64;

/// f64 values before the first coefficient.
pub const BEFORE: usize = 2;

/// f64 values of a column of so many coefficients.
pub fn len(degrees: usize) -> usize {
    BEFORE + 2 * (degrees.next_multiple_of(2) + 2)
}

/// Fills a column; all around is zero.
pub fn put(coefficients: &[Complex64], column: &mut [f64]) {
    let end = BEFORE + 2 * coefficients.len();
    column[..BEFORE].fill(0.0);
    for (to, c) in column[BEFORE..end]
        .as_chunks_mut()
        .0
        .iter_mut()
        .zip(coefficients)
    {
        *to = [c.re, c.im];
    }
    column[end..].fill(0.0);
}

/// The coefficients of a column.
pub fn get(column: &[f64], coefficients: &mut [Complex64]) {
    for (to, [re, im]) in coefficients.iter_mut().zip(column[BEFORE..].as_chunks().0) {
        *to = Complex64::new(*re, *im);
    }
}

/// Zeros around so many coefficients.
pub fn clear_around(degrees: usize, column: &mut [f64]) {
    column[..BEFORE].fill(0.0);
    column[BEFORE + 2 * degrees..].fill(0.0);
}
