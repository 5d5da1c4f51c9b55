//! The explicit part of the time derivative: to the grid, products, back, derivatives.

use num_complex::Complex64;

use super::blowup;
use super::model::{Model, SolverError};
use super::operators::Operators;
use super::products::products;
use super::state::State;
use crate::measure::Phase;
use crate::transport::Transport;

/// Arrays that a time step works in; made once.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Grid points of the fields to and from the grid.
    pub grid_from: Vec<f64>,
    pub grid_to: Vec<f64>,
    pub eta: Vec<Complex64>,
    pub u: Vec<Complex64>,
    pub v: Vec<Complex64>,
    /// Transforms of the five products.
    pub flux: [Vec<Complex64>; 5],
}

impl<T: Transport> Model<T> {
    /// Tendencies of `state` at model time `seconds` without the linear gravity-wave terms:
    ///
    /// ```text
    /// zeta  : - div_s(U eta, V eta)                          + forcing
    /// delta : + curl_s(U eta, V eta) - laplacian(KE + g h_s) + forcing
    /// Phi   : - div_s(U Phi, V Phi)                          + forcing
    /// ```
    ///
    /// # Errors
    /// A lost rank; wind out of bounds.
    pub(super) fn explicit_tendency(
        &mut self,
        state: &State,
        seconds: f64,
        tendency: &mut State,
    ) -> Result<(), SolverError> {
        let start = self.phases.start();
        let work = &mut self.work;
        work.eta.copy_from_slice(&state.zeta);
        for &(at, f) in &self.coriolis {
            work.eta[at] += f;
        }
        let layout = self.pencil.layout();
        self.operators
            .wind(layout, &state.zeta, &state.delta, &mut work.u, &mut work.v);
        self.phases.stop(Phase::SpectralUpdate, start);
        self.pencil.inverse(
            [&work.eta, &state.phi, &work.u, &work.v],
            &mut work.grid_from,
            &mut self.phases,
        )?;
        let start = self.phases.start();
        let extremes = products(
            &self.shape,
            &self.secant2,
            0.5 * self.wind_bound * self.wind_bound,
            &work.grid_from,
            &mut work.grid_to,
        );
        self.max_wind = (2.0 * extremes.kinetic).sqrt();
        if extremes.out_of_bounds {
            return Err(SolverError::BlowUp(Box::new(blowup::locate(
                self, state, seconds,
            ))));
        }
        self.phases.stop(Phase::GridProducts, start);
        let work = &mut self.work;
        self.pencil.forward(
            &mut work.grid_to,
            work.flux.each_mut().map(|flux| flux.as_mut_slice()),
            &mut self.phases,
        )?;
        let start = self.phases.start();
        let [u_eta, v_eta, u_phi, v_phi, kinetic] = &self.work.flux;
        let Operators { laplacian, .. } = &self.operators;
        for (unit, range) in self.pencil.layout().iter() {
            let from = range.start;
            self.operators.divergence_and_curl(
                unit.m,
                range.clone(),
                u_eta,
                v_eta,
                |k, div, curl| {
                    let at = from + k;
                    tendency.zeta[at] = -div;
                    tendency.delta[at] =
                        curl + (kinetic[at] + self.surface_geopotential[at]) * laplacian[at];
                },
            );
            self.operators
                .divergence_and_curl(unit.m, range, u_phi, v_phi, |k, div, _| {
                    tendency.phi[from + k] = -div;
                });
        }
        if let Some(forcing) = &self.forcing {
            forcing.add(self.pencil.layout(), seconds, tendency);
        }
        if self.advection_only {
            tendency.zeta.fill(Complex64::default());
            tendency.delta.fill(Complex64::default());
        }
        self.phases.stop(Phase::SpectralUpdate, start);
        Ok(())
    }
}
