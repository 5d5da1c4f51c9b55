//! Leapfrog, explicit or semi-implicit, with the Robert-Asselin-Williams filter.

use std::ops::Range;

use super::model::{Model, SolverError};
use super::state::State;
use super::tendency::{Linear, Tendency};
use crate::measure::Phase;
use crate::problem::definition::Scheme;
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
        let scheme = self.time.scheme;
        self.explicit_tendency(now, seconds, |linear, range, tendency| {
            match scheme {
                Scheme::SemiImplicit => {
                    semi_implicit(linear, range.clone(), old, &tendency, d, next)
                }
                Scheme::Explicit | Scheme::Rk4 => {
                    explicit(linear, range.clone(), (old, now), &tendency, d, next);
                }
            }
            diffuse(linear, range, d, next);
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
/// `Phi = [Q - (D/2) Phibar M]/[1 + Phibar (D/2)^2 L]`, `delta = M + (D/2) L Phi`.
fn semi_implicit(
    linear: &Linear<'_>,
    range: Range<usize>,
    old: &State,
    tendency: &Tendency<'_>,
    d: f64,
    next: &mut State,
) {
    let (half, phibar) = (0.5 * d, linear.phibar);
    for (k, at) in range.enumerate() {
        let l = linear.laplacian[at];
        next.zeta[at] = old.zeta[at] + tendency.zeta[k] * d;
        let m = old.delta[at] + tendency.delta[k] * d + old.phi[at] * (half * l);
        let q = old.phi[at] + tendency.phi[k] * d - old.delta[at] * (half * phibar);
        let phi = (q - m * (half * phibar)) / (1.0 + phibar * half * half * l);
        next.phi[at] = phi;
        next.delta[at] = m + phi * (half * l);
    }
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
    for (k, at) in range.enumerate() {
        let l = linear.laplacian[at];
        next.zeta[at] = old.zeta[at] + tendency.zeta[k] * d;
        next.delta[at] = old.delta[at] + tendency.delta[k] * d + now.phi[at] * (gravity * l);
        next.phi[at] = old.phi[at] + tendency.phi[k] * d - now.delta[at] * (d * linear.phibar);
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
