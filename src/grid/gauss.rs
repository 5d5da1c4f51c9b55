//! Gauss-Legendre nodes and weights.

use crate::dd::Dd;

/// Nodes and weights of Gauss-Legendre quadrature on [-1, 1], northern half, north to south.
#[derive(Clone, Debug)]
pub struct GaussNodes {
    /// `mu = sin(latitude)` to double-double, `nlat/2` of them, descending.
    pub mu: Vec<Dd>,
    /// Weights; both hemispheres together sum to 2.
    pub weight: Vec<f64>,
}

impl GaussNodes {
    /// The `nlat` nodes (even), of which the northern half is stored.
    ///
    /// Newton's iteration in f64 finds the root; one more step in double-double, with the second
    /// derivative from Legendre's equation, gives node and weight to rounding: against `mpmath`,
    /// nodes within 1.2e-16 and weights within 3e-16 relative for `nlat` 64, 256 and 1024. Cost: nlat^2 / 4
    /// steps of the recurrence in double-double.
    pub fn new(nlat: usize) -> Self {
        let (mut mu, mut weight) = (Vec::new(), Vec::new());
        for j in 0..nlat / 2 {
            let (node, w) = node(nlat, j);
            mu.push(node);
            weight.push(w);
        }
        Self { mu, weight }
    }

    /// Some of the nodes, counted from the north.
    pub fn part(&self, pairs: std::ops::Range<usize>) -> Self {
        Self {
            mu: self.mu[pairs.clone()].to_vec(),
            weight: self.weight[pairs].to_vec(),
        }
    }

    /// `sin(latitude)` of all latitudes, north to south.
    pub fn all_mu(&self) -> Vec<f64> {
        let north = self.mu.iter().map(|mu| mu.to_f64());
        let south = self.mu.iter().rev().map(|mu| -mu.to_f64());
        north.chain(south).collect()
    }

    /// Latitudes in radians, north to south. Near the poles the arc sine of an f64 would lose
    /// half the digits, so the angle comes from both sine and cosine.
    pub fn all_latitudes(&self) -> Vec<f64> {
        let north: Vec<f64> = self
            .mu
            .iter()
            .map(|&mu| mu.to_f64().atan2(cos2(mu).sqrt().to_f64()))
            .collect();
        north
            .iter()
            .copied()
            .chain(north.iter().rev().map(|lat| -lat))
            .collect()
    }
}

/// `1 - mu^2`, without cancellation.
pub fn cos2(mu: Dd) -> Dd {
    (Dd::from(1.0) - mu) * (Dd::from(1.0) + mu)
}

/// Node and weight `j` (from the north) of `n`.
fn node(n: usize, j: usize) -> (Dd, f64) {
    let order = n as f64;
    let mut x = (std::f64::consts::PI * (j as f64 + 0.75) / (order + 0.5)).cos();
    for _ in 0..4 {
        let (mut p, mut previous) = (x, 1.0);
        for k in 2..=n {
            let k = k as f64;
            let next = ((2.0 * k - 1.0) * x * p - (k - 1.0) * previous) / k;
            (previous, p) = (p, next);
        }
        let slope = order * (previous - x * p) / ((1.0 - x) * (1.0 + x));
        x -= p / slope;
    }
    let start = Dd::from(x);
    let (mut p, mut previous) = (start, Dd::from(1.0));
    for k in 2..=n {
        // P_k = x P_{k-1} + (k-1)/k (x P_{k-1} - P_{k-2})
        let xp = start * p;
        let ratio = Dd::from((k - 1) as f64) / Dd::from(k as f64);
        (previous, p) = (p, xp + ratio * (xp - previous));
    }
    let sine2 = cos2(start);
    let slope = Dd::from(order) * (previous - start * p) / sine2;
    let step = -(p / slope);
    // P'' at the start, from (1 - x^2) P'' = 2 x P' - n (n + 1) P: the slope at the node itself.
    let curvature = (start * slope.scale(2.0) - Dd::from(order * (order + 1.0)) * p) / sine2;
    let at_node = slope + curvature * step;
    let mu = start + step;
    (
        mu,
        (Dd::from(2.0) / (cos2(mu) * at_node * at_node)).to_f64(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Against mpmath (validation/gauss_nodes.py).
    #[test]
    fn nodes_and_weights_are_mpmaths() {
        for line in include_str!("../../validation/gauss_nodes.csv")
            .lines()
            .skip(1)
        {
            let cell: Vec<&str> = line.split(',').collect();
            let (nlat, j) = (cell[0].parse().unwrap(), cell[1].parse().unwrap());
            let (mu, weight): (f64, f64) = (cell[2].parse().unwrap(), cell[3].parse().unwrap());
            let (node, w) = super::node(nlat, j);
            assert!((node.to_f64() - mu).abs() <= 1.2e-16, "{line}: {node:?}");
            assert!((w / weight - 1.0).abs() <= 3e-16, "{line}: {w}");
        }
    }

    #[test]
    fn quadrature_is_exact_to_degree_2n_minus_1() {
        for nlat in [4, 64, 192, 1024] {
            let gauss = GaussNodes::new(nlat);
            for k in [0, 1, 2, nlat / 2, nlat - 1] {
                let sum = gauss
                    .mu
                    .iter()
                    .zip(&gauss.weight)
                    .fold(Dd::ZERO, |sum, (mu, &w)| {
                        sum.add_product(2.0 * w, mu.to_f64().powi(2 * k as i32))
                    });
                let exact = 2.0 / (2 * k + 1) as f64;
                assert!(
                    (sum.to_f64() - exact).abs() <= 1e-14,
                    "nlat {nlat}, degree {}",
                    2 * k
                );
            }
        }
    }

    /// An independent method: the asymptotic expansions of Bogaert (2014).
    #[test]
    fn agrees_with_bogaert_up_to_4096() {
        for nlat in [64usize, 256, 1024, 4096] {
            let rule = gauss_quad::GaussLegendre::new(nlat.try_into().unwrap());
            let mut pairs: Vec<(f64, f64)> = rule.iter().map(|&(x, w)| (x, w)).collect();
            pairs.sort_by(|a, b| b.0.total_cmp(&a.0));
            let gauss = GaussNodes::new(nlat);
            for (j, (x, w)) in pairs[..nlat / 2].iter().enumerate() {
                assert!((gauss.mu[j].to_f64() - x).abs() <= 1e-15, "{nlat} node {j}");
                assert!(
                    (gauss.weight[j] / w - 1.0).abs() <= 2e-15,
                    "{nlat} weight {j}"
                );
            }
        }
    }
}
