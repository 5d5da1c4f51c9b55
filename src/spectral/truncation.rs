//! Which spherical harmonics are kept: triangular and general pentagonal truncation.

use std::fmt;
use thiserror::Error;

/// A pentagonal truncation: zonal wavenumbers `0..=m_max`, and for each `m` the degrees
/// `m..=min(m + n_span, k_max)` (Hack & Jakob 1992, NCAR/TN-343, section 2). Triangular `TN` is
/// `M = N = K`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Truncation {
    m_max: usize,
    n_span: usize,
    k_max: usize,
}

/// Why three integers are no truncation.
#[derive(Clone, Debug, Error, PartialEq, Eq)]
#[error("[{m}, {n}, {k}] is no truncation: it needs M >= 1, K >= N, K >= M and K <= M + N")]
pub struct TruncationError {
    m: usize,
    n: usize,
    k: usize,
}

impl Truncation {
    /// Triangular truncation `TN`: all degrees up to `n`.
    pub fn triangular(n: usize) -> Self {
        Self {
            m_max: n,
            n_span: n,
            k_max: n,
        }
    }

    /// General pentagonal truncation `[M, N, K]` with `K >= N`, `K >= M`, `K <= M + N`.
    ///
    /// # Errors
    /// When the three do not describe a pentagon.
    pub fn new(m: usize, n: usize, k: usize) -> Result<Self, TruncationError> {
        if m >= 1 && k >= n && k >= m && k <= m + n {
            Ok(Self {
                m_max: m,
                n_span: n,
                k_max: k,
            })
        } else {
            Err(TruncationError { m, n, k })
        }
    }

    /// `M`, the largest zonal wavenumber kept.
    pub fn m_max(&self) -> usize {
        self.m_max
    }

    /// `K`, the largest degree kept.
    pub fn k_max(&self) -> usize {
        self.k_max
    }

    /// `[M, N, K]`.
    pub fn mnk(&self) -> [usize; 3] {
        [self.m_max, self.n_span, self.k_max]
    }

    /// The largest degree kept at zonal wavenumber `m <= M`.
    pub fn n_top(&self, m: usize) -> usize {
        (m + self.n_span).min(self.k_max)
    }

    /// How many degrees are kept at zonal wavenumber `m <= M`: `n = m ..= n_top(m)`.
    pub fn degrees(&self, m: usize) -> usize {
        self.n_top(m) + 1 - m
    }

    /// Complex coefficients of one field, all `m >= 0`.
    pub fn coefficients(&self) -> usize {
        (0..=self.m_max).map(|m| self.degrees(m)).sum()
    }

    /// Whether this is `M = N = K`.
    pub fn is_triangular(&self) -> bool {
        self.m_max == self.n_span && self.n_span == self.k_max
    }

    /// The fewest latitudes and longitudes on which quadratic products are free of aliasing:
    /// `nlat >= (3K + 1)/2`, even, and `nlon >= 3M + 1`; the sizes returned are the smallest
    /// with `nlon = 2^a 3^b 5^c`. For a triangular truncation `nlat = nlon / 2` (T42: 64 x 128).
    pub fn alias_free_grid(&self) -> (usize, usize) {
        let smooth_even = |least: usize| {
            (least.next_multiple_of(2)..)
                .step_by(2)
                .find(|&n| is_smooth(n))
                .unwrap_or(least)
        };
        let nlon = smooth_even(self.least_nlon());
        let nlat = if self.is_triangular() && (nlon / 2).is_multiple_of(2) {
            nlon / 2
        } else {
            self.least_nlat()
        };
        (nlat, nlon)
    }

    /// The smallest alias-free number of longitudes, `3M + 1`.
    pub fn least_nlon(&self) -> usize {
        3 * self.m_max + 1
    }

    /// The smallest alias-free even number of latitudes, at least `(3K + 1)/2`.
    pub fn least_nlat(&self) -> usize {
        (3 * self.k_max + 1).div_ceil(2).next_multiple_of(2)
    }
}

impl fmt::Display for Truncation {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_triangular() {
            write!(out, "T{}", self.m_max)
        } else {
            write!(out, "[{}, {}, {}]", self.m_max, self.n_span, self.k_max)
        }
    }
}

/// Whether `n` is a product of 2, 3 and 5.
pub fn is_smooth(n: usize) -> bool {
    let mut rest = n;
    for factor in [2, 3, 5] {
        while rest > 0 && rest.is_multiple_of(factor) {
            rest /= factor;
        }
    }
    rest == 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_usual_grids() {
        for (n, nlat, nlon) in [
            (21, 32, 64),
            (42, 64, 128),
            (63, 96, 192),
            (85, 128, 256),
            (106, 160, 320),
            (126, 192, 384),
            (170, 256, 512),
            (213, 320, 640),
            (341, 512, 1024),
            (682, 1024, 2048),
            (1279, 1920, 3840),
        ] {
            assert_eq!(
                Truncation::triangular(n).alias_free_grid(),
                (nlat, nlon),
                "T{n}"
            );
        }
    }

    #[test]
    fn pentagons() {
        let rhomboidal = Truncation::new(15, 15, 30).unwrap();
        assert_eq!(rhomboidal.degrees(0), 16);
        assert_eq!(rhomboidal.degrees(15), 16);
        let pentagon = Truncation::new(10, 12, 15).unwrap();
        assert_eq!(pentagon.n_top(2), 14);
        assert_eq!(pentagon.n_top(9), 15);
        assert!(Truncation::new(10, 12, 11).is_err());
        assert!(Truncation::new(10, 12, 23).is_err());
    }
}
