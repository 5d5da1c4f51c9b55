//! The prognostic fields of one rank in spectral space.

use num_complex::Complex64;

/// Vorticity, divergence (1/s) and geopotential deviation `Phi` (m2/s2), each `[unit][n - m]` as
/// [`crate::pencil::SpectralLayout`] says. The degree beyond the truncation is always zero.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct State {
    /// Relative vorticity.
    pub zeta: Vec<Complex64>,
    /// Divergence.
    pub delta: Vec<Complex64>,
    /// `g (h - h_s) - Phibar`.
    pub phi: Vec<Complex64>,
}

impl State {
    /// All zero, `len` coefficients a field.
    pub fn zeros(len: usize) -> Self {
        let zeros = vec![Complex64::default(); len];
        Self {
            zeta: zeros.clone(),
            delta: zeros.clone(),
            phi: zeros,
        }
    }

    /// The three fields, in the order in which they are hashed and stored.
    pub fn fields(&self) -> [&[Complex64]; 3] {
        [&self.zeta, &self.delta, &self.phi]
    }

    /// The same, to write.
    pub fn fields_mut(&mut self) -> [&mut [Complex64]; 3] {
        [&mut self.zeta, &mut self.delta, &mut self.phi]
    }

    /// `self = a`, without allocating.
    pub fn copy_from(&mut self, a: &Self) {
        for (to, from) in self.fields_mut().into_iter().zip(a.fields()) {
            to.copy_from_slice(from);
        }
    }

    /// `self = a + factor b`.
    pub fn set_sum(&mut self, a: &Self, factor: f64, b: &Self) {
        let sources = a.fields().into_iter().zip(b.fields());
        for (to, (a, b)) in self.fields_mut().into_iter().zip(sources) {
            for (to, (a, b)) in to.iter_mut().zip(a.iter().zip(b)) {
                *to = a + b * factor;
            }
        }
    }

    /// `self += factor b`.
    pub fn add(&mut self, factor: f64, b: &Self) {
        for (to, b) in self.fields_mut().into_iter().zip(b.fields()) {
            for (to, b) in to.iter_mut().zip(b) {
                *to += b * factor;
            }
        }
    }
}
