//! The nonlinear products at grid points.

use crate::pencil::{FORWARD_FIELDS, GridShape, INVERSE_FIELDS};
use crate::transform::{LANES, Lane, POINT};

/// Flops of the products at one grid point and level: six for the fluxes, four for the energy.
pub(super) const PRODUCT_FLOPS: f64 = 10.0;

/// What a pass over the grid found.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Extremes {
    /// Largest kinetic energy, m2/s2.
    pub kinetic: f64,
    /// Whether it passed the bound or was not a number anywhere.
    pub out_of_bounds: bool,
}

/// From `eta, Phi, U, V` to `U eta, V eta, U Phi, V Phi`, each divided by `1 - mu^2`, and
/// `KE = (U^2 + V^2)/(2 (1 - mu^2))`; `secant2` is `1/(1 - mu^2)` of each group (0 in padding).
pub(super) fn products(
    shape: &GridShape,
    secant2: &[Lane],
    bound: f64,
    from: &[f64],
    to: &mut [f64],
) -> Extremes {
    let length = shape.longitudes.len() * POINT;
    let mut extremes = Extremes {
        kinetic: 0.0,
        out_of_bounds: false,
    };
    if length == 0 {
        return extremes;
    }
    let rows_from = from.chunks_exact(length * INVERSE_FIELDS);
    let rows_to = to.chunks_exact_mut(length * FORWARD_FIELDS);
    for ((from, to), secant2) in rows_from.zip(rows_to).zip(secant2.iter().cycle()) {
        let [eta, phi, u, v] = split(from, length);
        let (u_eta, rest) = to.split_at_mut(length);
        let (v_eta, rest) = rest.split_at_mut(length);
        let (u_phi, rest) = rest.split_at_mut(length);
        let (v_phi, kinetic) = rest.split_at_mut(length);
        let mut largest = [0.0f64; LANES];
        let mut bad = [false; LANES];
        for i in (0..length).step_by(LANES) {
            for lane in 0..LANES {
                let at = i + lane;
                let (us, vs) = (u[at] * secant2[lane], v[at] * secant2[lane]);
                u_eta[at] = us * eta[at];
                v_eta[at] = vs * eta[at];
                u_phi[at] = us * phi[at];
                v_phi[at] = vs * phi[at];
                let energy = 0.5 * (us * u[at] + vs * v[at]);
                kinetic[at] = energy;
                largest[lane] = largest[lane].max(energy);
                bad[lane] |= !(energy <= bound);
            }
        }
        for lane in 0..LANES {
            extremes.kinetic = extremes.kinetic.max(largest[lane]);
            extremes.out_of_bounds |= bad[lane];
        }
    }
    extremes
}

/// The fields of one row.
pub(super) fn split(row: &[f64], length: usize) -> [&[f64]; INVERSE_FIELDS] {
    std::array::from_fn(|field| &row[field * length..(field + 1) * length])
}
