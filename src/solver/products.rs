//! The nonlinear products at grid points.

use crate::pencil::FORWARD_FIELDS;
use crate::transform::kernels::Family;
use crate::transform::vector::{Vector, dispatch};
use crate::transform::{LANES, Lane};

/// Flops of the products at one grid point and level: six for the fluxes, four for the energy.
pub(super) const PRODUCT_FLOPS: f64 = 10.0;

/// From `eta, Phi, U, V` in the first four lines to `U eta, V eta, U Phi, V Phi`, each divided by
/// `1 - mu^2`, and `KE = (U^2 + V^2)/(2 (1 - mu^2))`, of one group of latitude pairs; `secant2` is
/// `1/(1 - mu^2)` (0 in padding). The result is the largest KE of the group, m2/s2, and not a number
/// if one is not finite.
pub(super) fn products(family: Family, secant2: &Lane, lines: [&mut [f64]; FORWARD_FIELDS]) -> f64 {
    let lines = lines.map(|line| line.as_chunks_mut().0);
    let mut largest = [0.0; LANES];
    kernel(family, secant2, lines, &mut largest);
    largest
        .into_iter()
        .fold(0.0, |a, b| if a > b || a.is_nan() { a } else { b })
}

#[inline(always)]
fn body<V: Vector>(secant2: &Lane, lines: [&mut [Lane]; FORWARD_FIELDS], largest: &mut Lane) {
    let [eta, phi, u, v, kinetic] = lines;
    let (secant2, half) = (V::load(secant2), V::splat(0.5));
    let (mut most, mut finite) = (V::zero(), V::zero());
    let fields = eta.iter_mut().zip(phi).zip(u).zip(v).zip(kinetic);
    for ((((a, b), c), d), e) in fields {
        let (eta, phi, u, v) = (V::load(a), V::load(b), V::load(c), V::load(d));
        let (us, vs) = (u.mul(secant2), v.mul(secant2));
        us.mul(eta).store(a);
        vs.mul(eta).store(b);
        us.mul(phi).store(c);
        vs.mul(phi).store(d);
        let energy = half.mul(us.mul_add(u, vs.mul(v)));
        energy.store(e);
        most = most.max(energy);
        // Zero, and for ever not a number once an energy is not finite.
        finite = energy.mul_add(V::zero(), finite);
    }
    most.add(finite).store(largest);
}

dispatch! {
    /// All points of a group.
    kernel => body(secant2: &Lane, lines: [&mut [Lane]; FORWARD_FIELDS], largest: &mut Lane)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn products_of_a_group_and_its_largest_energy() {
        for family in [Family::Plain, Family::detect()] {
            let values = |k: usize| (0..16).map(|i| (i + k) as f64).collect::<Vec<f64>>();
            let mut lines = [values(1), values(2), values(3), values(4), vec![0.0; 16]];
            let secant2 = [1.0, 2.0, 4.0, 0.0];
            let most = products(family, &secant2, lines.each_mut().map(Vec::as_mut_slice));
            for i in 0..16 {
                let [eta, phi, u, v] = [1, 2, 3, 4].map(|k| (i + k) as f64);
                let s = secant2[i % 4];
                let expected = [u * s * eta, v * s * eta, u * s * phi, v * s * phi];
                for (line, expected) in lines.iter().zip(expected) {
                    assert_eq!(line[i], expected);
                }
                assert_eq!(lines[4][i], 0.5 * s * (u * u + v * v));
            }
            assert_eq!(most, 0.5 * 4.0 * (17.0 * 17.0 + 18.0 * 18.0));
            for bad in [f64::NAN, f64::INFINITY] {
                let mut lines = [values(1), values(2), values(3), values(4), vec![0.0; 16]];
                lines[2][4] = bad;
                let most = products(family, &secant2, lines.each_mut().map(Vec::as_mut_slice));
                assert!(most.is_nan());
            }
        }
    }
}
