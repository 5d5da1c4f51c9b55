//! How the two transforms meet the mesh: what decides who owns which wavenumbers and latitudes.

/// How the FFT meets the distribution of longitudes along a mesh row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FftAlgorithm {
    /// Longitudes stay split: the ranks of a row transform every line together, by butterflies.
    /// Wavenumber m then is where the butterflies leave it, on the column of its residue.
    Distributed,
    /// Lines become local by splitting levels, and stay so.
    SingleTranspose,
    /// Lines of any field, level and latitude are dealt out, and go back over wavenumbers.
    DoubleTranspose,
}

impl FftAlgorithm {
    /// Every algorithm.
    pub const ALL: [Self; 3] = [
        Self::Distributed,
        Self::SingleTranspose,
        Self::DoubleTranspose,
    ];

    /// The namelist's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Distributed => "distributed",
            Self::SingleTranspose => "single-transpose",
            Self::DoubleTranspose => "double-transpose",
        }
    }

    /// Why a row of `px` ranks cannot transform lines of `nlon` longitudes; `None`: it can.
    pub fn lacks(self, px: usize, nlon: usize) -> Option<String> {
        if self != Self::Distributed || (px.is_power_of_two() && nlon.is_multiple_of(px)) {
            return None;
        }
        let power = if px.is_power_of_two() {
            ""
        } else {
            ", a power of two"
        };
        Some(format!(
            "a distributed FFT needs a PX that divides nlon = {nlon}{power}; PX is {px}"
        ))
    }
}

/// How the Legendre transform meets the distribution of latitudes along a mesh column.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum LegendreAlgorithm {
    /// Each rank gets all latitudes of its `(m, level)` units.
    Transpose,
    /// Each rank sums over its own latitudes for all units of the column, then the ranks add up
    /// their sums: every rank of a column has the same coefficients.
    Distributed,
}

impl LegendreAlgorithm {
    /// Every algorithm.
    pub const ALL: [Self; 2] = [Self::Transpose, Self::Distributed];

    /// The namelist's spelling.
    pub fn name(self) -> &'static str {
        match self {
            Self::Transpose => "transpose",
            Self::Distributed => "distributed",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn butterflies_need_a_power_of_two_that_divides_the_longitudes() {
        let lacks = |px, nlon| FftAlgorithm::Distributed.lacks(px, nlon);
        assert_eq!((lacks(1, 128), lacks(8, 128)), (None, None));
        assert!(lacks(3, 192).is_some_and(|why| why.contains("power of two")));
        assert!(lacks(8, 12).is_some_and(|why| why.contains("divides nlon = 12;")));
        assert_eq!(FftAlgorithm::DoubleTranspose.lacks(3, 128), None);
    }
}
