//! Diffusion, diagonal in spectral space.

use crate::pencil::SpectralLayout;
use crate::problem::definition::TimeStepping;

/// Damping rates (1/s) of every coefficient of this rank.
///
/// Order p: `K [L^(p/2) - (2/a^2)^(p/2)]` on vorticity and divergence, so that solid-body rotation
/// is spared, and `K L^(p/2)` on the free surface `g h`, with `L = n (n + 1)/a^2`; viscosity
/// `nu L` on all three. Degree 0 is never damped.
#[derive(Clone, Debug)]
pub(super) struct Damping {
    /// Of vorticity and divergence.
    pub wind: Vec<f64>,
    /// Of the free surface.
    pub surface: Vec<f64>,
    /// Whether anything is damped at all.
    pub active: bool,
}

impl Damping {
    pub(super) fn new(
        layout: &SpectralLayout,
        laplacian: &[f64],
        radius: f64,
        time: &TimeStepping,
    ) -> Self {
        let half = (time.diffusion_order / 2) as i32;
        let rotation = (2.0 / (radius * radius)).powi(half);
        let mut result = Self {
            wind: vec![0.0; layout.len()],
            surface: vec![0.0; layout.len()],
            active: time.diffusion > 0.0 || time.laplacian > 0.0,
        };
        for (unit, range) in layout.iter() {
            for (k, at) in range.enumerate() {
                if unit.m + k > 0 {
                    let power = laplacian[at].powi(half);
                    let viscous = time.laplacian * laplacian[at];
                    // Degree 1 is solid-body rotation: spared exactly, not to rounding.
                    let spared = if unit.m + k == 1 {
                        0.0
                    } else {
                        power - rotation
                    };
                    result.wind[at] = time.diffusion * spared + viscous;
                    result.surface[at] = time.diffusion * power + viscous;
                }
            }
        }
        result
    }

    /// Bytes held.
    pub(super) fn bytes(&self) -> usize {
        size_of_val(self.wind.as_slice()) + size_of_val(self.surface.as_slice())
    }
}
