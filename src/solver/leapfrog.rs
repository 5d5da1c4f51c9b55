//! Leapfrog, explicit or semi-implicit, with the Robert-Asselin-Williams filter.

use std::ops::Range;

use num_complex::Complex64;

use super::model::{Model, SolverError};
use super::operators::Wave;
use super::state::State;
use super::tendency::{Linear, Tendency};
use crate::measure::Phase;
use crate::problem::definition::Scheme;
use crate::spectral::column::BEFORE;
use crate::transform::vector::{Vector, dispatch};
use crate::transport::Transport;

impl<T: Transport> Model<T> {
    /// One step of leapfrog. The first is a forward step over dt/2 and a centred one over dt, both
    /// with the forcing of the start, as in STSWM.
    pub(super) fn leapfrog_step(&mut self) -> Result<(), SolverError> {
        let dt = self.time.dt;
        let seconds = self.step as f64 * dt;
        let (old, now) = (std::mem::take(&mut self.old), std::mem::take(&mut self.now));
        let mut next = std::mem::take(&mut self.next);
        let result = if self.step == 0 {
            let mut half = std::mem::take(&mut self.scratch[0]);
            let result = self
                .advance(&now, &now, seconds, 0.5 * dt, &mut half)
                .and_then(|()| self.advance(&now, &half, seconds, dt, &mut next));
            self.scratch[0] = half;
            result
        } else {
            self.advance(&old, &now, seconds, 2.0 * dt, &mut next)
        };
        (self.old, self.now, self.next) = (old, now, next);
        result?;
        if self.step > 0 && self.time.asselin > 0.0 {
            let start = self.phases.start();
            self.filter();
            self.phases.stop(Phase::SpectralUpdate, start);
        }
        // The new level becomes `now`, `now` becomes `old`; the oldest is overwritten next.
        std::mem::swap(&mut self.old, &mut self.next);
        std::mem::swap(&mut self.old, &mut self.now);
        Ok(())
    }

    /// `next` from `old` over an interval `d`, with the explicit terms of `now`.
    fn advance(
        &mut self,
        old: &State,
        now: &State,
        seconds: f64,
        d: f64,
        next: &mut State,
    ) -> Result<(), SolverError> {
        let (scheme, family) = (self.time.scheme, self.pencil.family());
        self.explicit_tendency(now, seconds, |linear, unit, range, tendency| {
            match scheme {
                Scheme::SemiImplicit => {
                    let wave = linear.operators.wave(unit.m);
                    let at = range.clone();
                    let old = old.fields().map(|field| &field[at.clone()]);
                    let next = next.fields_mut().map(|field| &mut field[at.clone()]);
                    semi_implicit(family, wave, linear.phibar, d, old, tendency.0, next);
                }
                Scheme::Explicit | Scheme::Rk4 => {
                    explicit(linear, range.clone(), (old, now), &tendency, d, next);
                }
            }
            diffuse(linear, range.start..range.end - 1, d, next);
        })
    }

    /// Robert-Asselin filter of coefficient c, as Williams (2009, MWR 137, eqs. 7-9):
    /// `x = c (old - 2 now + next)`, `now += alpha x`, `next -= (1 - alpha) x`.
    fn filter(&mut self) {
        let (c, alpha) = (self.time.asselin, self.time.williams);
        let Self { old, now, next, .. } = self;
        let levels = old
            .fields()
            .into_iter()
            .zip(now.fields_mut())
            .zip(next.fields_mut());
        for ((old, now), next) in levels {
            for ((old, now), next) in old.iter().zip(now).zip(next) {
                let x = (old - *now * 2.0 + *next) * c;
                *now += x * alpha;
                *next -= x * (1.0 - alpha);
            }
        }
    }
}

/// Linear terms averaged over both ends: with `L = n (n + 1)/a^2`, `M` and `Q` all explicit
/// contributions to divergence and geopotential,
/// `Phi = [Q - (D/2) Phibar M]/[1 + Phibar (D/2)^2 L]`, `delta = M + (D/2) L Phi`. One unit, two
/// coefficients at a time; what is beyond the truncation stays zero.
#[inline(always)]
fn semi_implicit_body<V: Vector>(
    wave: &Wave,
    phibar: f64,
    d: f64,
    old: [&[Complex64]; 3],
    tendency: [&[f64]; 3],
    next: [&mut [Complex64]; 3],
) {
    let [old_zeta, old_delta, old_phi] = old.map(|field| field.as_chunks().0);
    let [zeta, delta, phi] = next.map(|field| field.as_chunks_mut().0);
    let [zeta_t, delta_t, phi_t] = tendency.map(|column| column[BEFORE..].as_chunks().0);
    let laplacian = wave.laplacian.as_chunks().0;
    let half = V::splat(0.5 * d);
    let (half_phibar, one, d) = (V::splat(0.5 * d * phibar), V::splat(1.0), V::splat(d));
    let old = old_zeta.iter().zip(old_delta).zip(old_phi);
    let next = zeta.iter_mut().zip(delta).zip(phi);
    let rates = zeta_t.iter().zip(delta_t).zip(phi_t);
    for (((old, next), rate), l) in old.zip(next).zip(rates).zip(laplacian) {
        let ((old_zeta, old_delta), old_phi) = old;
        let ((zeta, delta), phi) = next;
        let ((zeta_t, delta_t), phi_t) = rate;
        let half_l = half.mul(V::pairs(l));
        let (old_delta, old_phi) = (V::load_complex(old_delta), V::load_complex(old_phi));
        V::load(zeta_t)
            .mul_add(d, V::load_complex(old_zeta))
            .store_complex(zeta);
        let m = old_phi.mul_add(half_l, V::load(delta_t).mul_add(d, old_delta));
        let q = V::load(phi_t)
            .mul_add(d, old_phi)
            .sub(old_delta.mul(half_phibar));
        let solved = q
            .sub(m.mul(half_phibar))
            .div(half_phibar.mul_add(half_l, one));
        solved.store_complex(phi);
        solved.mul_add(half_l, m).store_complex(delta);
    }
}

dispatch! {
    /// The semi-implicit update of one unit.
    semi_implicit => semi_implicit_body(wave: &Wave, phibar: f64, d: f64, old: [&[Complex64]; 3],
        tendency: [&[f64]; 3], next: [&mut [Complex64]; 3])
}

/// Linear terms at the middle.
fn explicit(
    linear: &Linear<'_>,
    range: Range<usize>,
    (old, now): (&State, &State),
    tendency: &Tendency<'_>,
    d: f64,
    next: &mut State,
) {
    let gravity = if linear.advection_only { 0.0 } else { d };
    for (k, at) in (range.start..range.end - 1).enumerate() {
        let l = linear.operators.laplacian[at];
        let [zeta, delta, phi] = tendency.at(k);
        next.zeta[at] = old.zeta[at] + zeta * d;
        next.delta[at] = old.delta[at] + delta * d + now.phi[at] * (gravity * l);
        next.phi[at] = old.phi[at] + phi * d - now.delta[at] * (d * linear.phibar);
    }
}

/// Diffusion, backward Euler over `d`; of the free surface `Phi + g h_s`, not the thickness.
fn diffuse(linear: &Linear<'_>, range: Range<usize>, d: f64, state: &mut State) {
    if !linear.damping.active {
        return;
    }
    for at in range {
        if !linear.advection_only {
            let wind = 1.0 / (1.0 + d * linear.damping.wind[at]);
            state.zeta[at] *= wind;
            state.delta[at] *= wind;
        }
        let ground = linear.surface_geopotential[at];
        let surface = 1.0 / (1.0 + d * linear.damping.surface[at]);
        state.phi[at] = (state.phi[at] + ground) * surface - ground;
    }
}
