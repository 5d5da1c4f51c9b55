//! The classical Runge-Kutta scheme of order four, diffusion as an exact integrating factor.

use num_complex::Complex64;

use super::model::{Model, SolverError};
use super::state::State;
use crate::measure::Phase;
use crate::transport::Transport;

impl<T: Transport> Model<T> {
    /// One step. With `N` the tendency without diffusion and `E(t) = exp(- rate t)` of each
    /// coefficient (of the free surface for the geopotential), stages are taken in the variable
    /// `X / E` (Lawson 1967), so that diffusion costs no order.
    pub(super) fn rk4_step(&mut self) -> Result<(), SolverError> {
        let dt = self.time.dt;
        let seconds = self.step as f64 * dt;
        let start = std::mem::take(&mut self.now);
        let mut sum = std::mem::take(&mut self.next);
        let [mut stage, mut slope] = std::mem::take(&mut self.scratch);
        let result = self.rk4_stages(seconds, dt, &start, &mut sum, &mut stage, &mut slope);
        self.scratch = [stage, slope];
        // After an error the state of the last whole step stays.
        (self.now, self.next) = if result.is_ok() {
            (sum, start)
        } else {
            (start, sum)
        };
        result
    }

    fn rk4_stages(
        &mut self,
        seconds: f64,
        dt: f64,
        start: &State,
        sum: &mut State,
        stage: &mut State,
        slope: &mut State,
    ) -> Result<(), SolverError> {
        let half = 0.5 * dt;
        // X1 = E (X0 + dt/6 k1) + dt/3 E_half (k2 + k3) + dt/6 k4
        self.rk4_slope(start, seconds, slope)?;
        let begin = self.phases.start();
        sum.set_sum(start, dt / 6.0, slope);
        self.decay(dt, true, sum);
        stage.set_sum(start, half, slope);
        self.decay(half, true, stage);
        self.phases.stop(Phase::SpectralUpdate, begin);
        self.rk4_slope(stage, seconds + half, slope)?;
        let begin = self.phases.start();
        // Xb = E_half X0 + dt/2 k2
        stage.copy_from(start);
        self.decay(half, true, stage);
        stage.add(half, slope);
        self.decay(half, false, slope);
        sum.add(dt / 3.0, slope);
        self.phases.stop(Phase::SpectralUpdate, begin);
        self.rk4_slope(stage, seconds + half, slope)?;
        let begin = self.phases.start();
        // Xc = E X0 + dt E_half k3
        self.decay(half, false, slope);
        sum.add(dt / 3.0, slope);
        stage.copy_from(start);
        self.decay(dt, true, stage);
        stage.add(dt, slope);
        self.phases.stop(Phase::SpectralUpdate, begin);
        self.rk4_slope(stage, seconds + dt, slope)?;
        let begin = self.phases.start();
        sum.add(dt / 6.0, slope);
        self.phases.stop(Phase::SpectralUpdate, begin);
        Ok(())
    }

    /// The whole tendency but diffusion.
    fn rk4_slope(
        &mut self,
        state: &State,
        seconds: f64,
        slope: &mut State,
    ) -> Result<(), SolverError> {
        self.explicit_tendency(state, seconds, |linear, _, range, tendency| {
            for (k, at) in (range.start..range.end - 1).enumerate() {
                let [zeta, mut delta, phi] = tendency.at(k);
                if !linear.advection_only {
                    delta += state.phi[at] * linear.operators.laplacian[at];
                }
                slope.zeta[at] = zeta;
                slope.delta[at] = delta;
                slope.phi[at] = phi - state.delta[at] * linear.phibar;
            }
        })
    }

    /// Multiplies by `exp(- rate t)`; a whole state (`whole`) has its free surface damped, a
    /// slope its geopotential.
    fn decay(&self, t: f64, whole: bool, state: &mut State) {
        if !self.damping.active {
            return;
        }
        for at in 0..state.zeta.len() {
            if !self.advection_only {
                let wind = (-t * self.damping.wind[at]).exp();
                state.zeta[at] *= wind;
                state.delta[at] *= wind;
            }
            let ground = if whole {
                self.surface_geopotential[at]
            } else {
                Complex64::default()
            };
            let surface = (-t * self.damping.surface[at]).exp();
            state.phi[at] = (state.phi[at] + ground) * surface - ground;
        }
    }
}
