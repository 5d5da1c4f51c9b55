//! The inner loops of the Legendre transform, and which machine code runs them.
//!
//! One source for every machine: the loops are written on arrays of [`Lane`]s, which the compiler
//! turns into vector registers, and are compiled once for AVX2 with fused multiply-add and once
//! for the baseline. A *family* is what decides the bits: with fused operations or without.
//! Every sum runs over steps (inverse) or latitudes (forward) one by one in one chain, whatever
//! the number of fields, so a field's result does not depend on its neighbours.

#![allow(unsafe_code)] // only to call functions compiled for features found at run time

use super::Lane;
use super::seeds::{BLOCK, CHUNK, Row};

/// Functions `p_l` of one block and chunk.
pub type Tile = [Row; CHUNK];

/// Which machine code runs, and so which bits come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Family {
    /// Separate multiplication and addition, any machine.
    Plain,
    /// Fused multiply-add (AVX2 + FMA on x86-64; every aarch64). Made only by [`Family::detect`]:
    /// elsewhere the machine may lack the instructions.
    #[non_exhaustive]
    Fused,
}

impl Family {
    /// The fastest family of this machine.
    pub fn detect() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::is_x86_feature_detected!("avx2") && std::is_x86_feature_detected!("fma") {
            return Self::Fused;
        }
        if cfg!(target_arch = "aarch64") {
            Self::Fused
        } else {
            Self::Plain
        }
    }

    /// Its name in reports.
    pub fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Fused if cfg!(target_arch = "x86_64") => "fused (AVX2 + FMA)",
            Self::Fused => "fused",
        }
    }
}

/// `a b + c` on every lane.
#[inline(always)]
fn multiply_add<const FUSED: bool>(a: f64, b: Lane, c: Lane) -> Lane {
    std::array::from_fn(|i| {
        if FUSED {
            a.mul_add(b[i], c[i])
        } else {
            a * b[i] + c[i]
        }
    })
}

/// `sums[k] = a sums[k] + b`, `steps` times: chains that do not depend on each other.
#[inline(always)]
fn chains_body<const FUSED: bool, const N: usize>(
    steps: usize,
    a: f64,
    b: Lane,
    sums: &mut [Lane; N],
) {
    let mut sum = *sums;
    for _ in 0..steps {
        for k in 0..N {
            sum[k] = multiply_add::<FUSED>(a, sum[k], b);
        }
    }
    *sums = sum;
}

/// Fills `tile` with `p_l` of one chunk and leaves the next two in `state`.
#[inline(always)]
fn generate_body<const FUSED: bool>(
    tile: &mut [Row],
    recurrence: &[[f64; 2]],
    mu2: &Row,
    state: &mut [Row; 2],
) {
    for half in 0..2 {
        const WIDTH: usize = BLOCK / 2;
        let part = half * WIDTH..(half + 1) * WIDTH;
        let mut p: [Lane; WIDTH] = std::array::from_fn(|g| state[0][part.start + g]);
        let mut previous: [Lane; WIDTH] = std::array::from_fn(|g| state[1][part.start + g]);
        let mu2: [Lane; WIDTH] = std::array::from_fn(|g| mu2[part.start + g]);
        for (row, &[a, b]) in tile.iter_mut().zip(recurrence) {
            for g in 0..WIDTH {
                row[part.start + g] = p[g];
                let factor = multiply_add::<FUSED>(a, mu2[g], [b; 4]);
                let next = std::array::from_fn(|i| {
                    if FUSED {
                        factor[i].mul_add(p[g][i], -previous[g][i])
                    } else {
                        factor[i] * p[g][i] - previous[g][i]
                    }
                });
                previous[g] = p[g];
                p[g] = next;
            }
        }
        state[0][part.clone()].copy_from_slice(&p);
        state[1][part].copy_from_slice(&previous);
    }
}

/// `sums[g][c] += sum_l tile[l][group + g] s[l][quad][c]` for `G` neighbouring groups.
#[inline(always)]
fn inverse_body<const FUSED: bool, const G: usize>(
    tile: &[Row],
    group: usize,
    s: &[Lane],
    quads: usize,
    quad: usize,
    sums: &mut [[Lane; 4]; G],
) {
    let mut sum = *sums;
    for (row, s) in tile.iter().zip(s.chunks_exact(quads)) {
        let s = s[quad];
        for c in 0..4 {
            for g in 0..G {
                sum[g][c] = multiply_add::<FUSED>(s[c], row[group + g], sum[g][c]);
            }
        }
    }
    *sums = sum;
}

/// `d[l][q] += sum_j tile[l][j] g[j][q]` for `L` steps from `step`, `Q` quads from `quad`, over
/// the latitudes of `groups` groups.
#[inline(always)]
fn forward_body<const FUSED: bool, const L: usize, const Q: usize>(
    tile: &[Row],
    step: usize,
    g: &[Lane],
    quads: usize,
    quad: usize,
    groups: usize,
    d: &mut [Lane],
) {
    let rows: &[Row; L] = match tile[step..step + L].try_into() {
        Ok(rows) => rows,
        Err(_) => return,
    };
    let mut sum: [[Lane; Q]; L] =
        std::array::from_fn(|l| std::array::from_fn(|q| d[(step + l) * quads + quad + q]));
    for group in 0..groups {
        for lane in 0..4 {
            let latitude = &g[(group * 4 + lane) * quads + quad..][..Q];
            for l in 0..L {
                let p = rows[l][group][lane];
                for q in 0..Q {
                    sum[l][q] = multiply_add::<FUSED>(p, latitude[q], sum[l][q]);
                }
            }
        }
    }
    for l in 0..L {
        for q in 0..Q {
            d[(step + l) * quads + quad + q] = sum[l][q];
        }
    }
}

/// All steps of a tile, all quads: the largest register blocks first.
#[inline(always)]
fn forward_all<const FUSED: bool>(
    tile: &[Row],
    g: &[Lane],
    quads: usize,
    groups: usize,
    d: &mut [Lane],
) {
    let mut quad = 0;
    while quad < quads {
        let wide = quads - quad >= 2;
        let mut step = 0;
        while step < tile.len() {
            let left = tile.len() - step;
            match (wide, left) {
                (true, 6..) => {
                    forward_body::<FUSED, 6, 2>(tile, step, g, quads, quad, groups, d);
                    step += 6;
                }
                (true, 3..) => {
                    forward_body::<FUSED, 3, 2>(tile, step, g, quads, quad, groups, d);
                    step += 3;
                }
                (true, _) => {
                    forward_body::<FUSED, 1, 2>(tile, step, g, quads, quad, groups, d);
                    step += 1;
                }
                (false, 8..) => {
                    forward_body::<FUSED, 8, 1>(tile, step, g, quads, quad, groups, d);
                    step += 8;
                }
                (false, 4..) => {
                    forward_body::<FUSED, 4, 1>(tile, step, g, quads, quad, groups, d);
                    step += 4;
                }
                (false, _) => {
                    forward_body::<FUSED, 1, 1>(tile, step, g, quads, quad, groups, d);
                    step += 1;
                }
            }
        }
        quad += if wide { 2 } else { 1 };
    }
}

/// Compiles a body for both families and dispatches.
macro_rules! dispatch {
    ($(#[$doc:meta])* $name:ident => $body:ident $(::<$($size:literal),*>)?
        ($($arg:ident: $type:ty),* $(,)?)) => {
        $(#[$doc])*
        #[inline]
        #[allow(clippy::too_many_arguments)]
        pub fn $name(family: Family, $($arg: $type),*) {
            #[cfg(target_arch = "x86_64")]
            #[target_feature(enable = "avx2,fma")]
            #[allow(clippy::too_many_arguments)]
            fn fused($($arg: $type),*) {
                $body::<true $($(, $size)*)?>($($arg),*);
            }
            match family {
                #[cfg(target_arch = "x86_64")]
                // SAFETY: `Family::Fused` is made only by `Family::detect`, which found the
                // features on this machine.
                Family::Fused => unsafe { fused($($arg),*) },
                #[cfg(not(target_arch = "x86_64"))]
                Family::Fused => $body::<true $($(, $size)*)?>($($arg),*),
                Family::Plain => $body::<false $($(, $size)*)?>($($arg),*),
            }
        }
    };
}

dispatch! {
    /// Fills `tile` with `p_l` of one chunk and leaves the next two in `state`.
    generate => generate_body(tile: &mut [Row], recurrence: &[[f64; 2]], mu2: &Row,
        state: &mut [Row; 2])
}

dispatch! {
    /// `sums[g][c] += sum_l tile[l][group + g] s[l][quad][c]` for two neighbouring groups.
    inverse_pair => inverse_body::<2>(tile: &[Row], group: usize, s: &[Lane], quads: usize,
        quad: usize, sums: &mut [[Lane; 4]; 2])
}

dispatch! {
    /// The same for one group: the same chain of operations, hence the same bits.
    inverse_single => inverse_body::<1>(tile: &[Row], group: usize, s: &[Lane], quads: usize,
        quad: usize, sums: &mut [[Lane; 4]; 1])
}

dispatch! {
    /// `d[l][q] += sum_j tile[l][j] g[j][q]` over the latitudes of `groups` groups.
    forward => forward_all(tile: &[Row], g: &[Lane], quads: usize, groups: usize,
        d: &mut [Lane])
}

dispatch! {
    /// `sums[k] = a sums[k] + b`, `steps` times, in as many chains as the registers of fused
    /// machines hold.
    chains_12 => chains_body::<12>(steps: usize, a: f64, b: Lane, sums: &mut [Lane; 12])
}

dispatch! {
    /// The same in half as many, for registers of half the width.
    chains_6 => chains_body::<6>(steps: usize, a: f64, b: Lane, sums: &mut [Lane; 6])
}
