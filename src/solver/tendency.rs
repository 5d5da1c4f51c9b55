//! The explicit part of the time derivative: to the grid, products, back, derivatives.

use std::ops::Range;

use num_complex::Complex64;

use super::blowup::{self, Worst};
use super::damping::Damping;
use super::forcing::SpectralForcing;
use super::model::{Model, SolverError};
use super::operators::Operators;
use super::products::products;
use super::state::State;
use crate::decomp::units::Unit;
use crate::pencil::{Evaluation, FORWARD_FIELDS, GridShape, INVERSE_FIELDS};
use crate::transform::Lane;
use crate::transform::kernels::Family;
use crate::transport::Transport;

/// Arrays that a time step works in; made once.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Grid points of the fields to and from the grid.
    pub grid_from: Vec<f64>,
    pub grid_to: Vec<f64>,
    /// Tendencies of one unit.
    pub columns: [Vec<Complex64>; 3],
}

/// The tendencies of one unit without the linear gravity-wave terms, of the degrees of the
/// truncation.
pub(super) struct Tendency<'a> {
    /// Of vorticity, 1/s2.
    pub zeta: &'a [Complex64],
    /// Of divergence, 1/s2.
    pub delta: &'a [Complex64],
    /// Of the geopotential, m2/s3.
    pub phi: &'a [Complex64],
}

/// What the linear terms of a coefficient depend on; arrays as the layout says.
pub(super) struct Linear<'a> {
    /// `n (n + 1)/a^2`.
    pub laplacian: &'a [f64],
    pub damping: &'a Damping,
    /// `g h_s`.
    pub surface_geopotential: &'a [Complex64],
    pub phibar: f64,
    /// Neither vorticity nor divergence changes.
    pub advection_only: bool,
}

/// An evaluation of the model's nonlinear terms.
struct Terms<'a, F> {
    state: &'a State,
    seconds: f64,
    operators: &'a Operators,
    coriolis: &'a [(usize, Complex64)],
    linear: Linear<'a>,
    forcing: Option<&'a SpectralForcing>,
    family: Family,
    shape: &'a GridShape,
    secant2: &'a [Lane],
    /// Largest kinetic energy allowed, m2/s2.
    bound: f64,
    /// Largest kinetic energy, m2/s2.
    kinetic: f64,
    worst: Option<Worst>,
    columns: &'a mut [Vec<Complex64>; 3],
    finish: F,
}

impl<F: FnMut(&Linear<'_>, Range<usize>, Tendency<'_>)> Evaluation for Terms<'_, F> {
    fn source(
        &mut self,
        unit: Unit,
        range: Range<usize>,
        [eta, phi, u, v]: [&mut [Complex64]; INVERSE_FIELDS],
    ) {
        let (zeta, delta) = (
            &self.state.zeta[range.clone()],
            &self.state.delta[range.clone()],
        );
        eta.copy_from_slice(zeta);
        let first = self.coriolis.partition_point(|(at, _)| *at < range.start);
        for (at, f) in &self.coriolis[first..] {
            match eta.get_mut(at - range.start) {
                Some(eta) => *eta += f,
                None => break,
            }
        }
        phi.copy_from_slice(&self.state.phi[range.clone()]);
        self.operators
            .wind_of_unit(unit.m, range, zeta, delta, u, v);
    }

    fn products(&mut self, level: usize, group: usize, mut lines: [&mut [f64]; FORWARD_FIELDS]) {
        let secant2 = &self.secant2[group];
        let energy = products(
            self.family,
            secant2,
            lines.each_mut().map(|line| &mut **line),
        );
        self.kinetic = self.kinetic.max(energy);
        if !(energy <= self.bound) {
            Worst::look(&mut self.worst, self.shape, (level, group), lines[4]);
        }
    }

    /// ```text
    /// zeta  : - div_s(U eta, V eta)                          + forcing
    /// delta : + curl_s(U eta, V eta) - laplacian(KE + g h_s) + forcing
    /// Phi   : - div_s(U Phi, V Phi)                          + forcing
    /// ```
    fn sink(&mut self, unit: Unit, range: Range<usize>, columns: [&[Complex64]; FORWARD_FIELDS]) {
        let [u_eta, v_eta, u_phi, v_phi, kinetic] = columns;
        let inside = range.start..range.end - 1;
        let laplacian = &self.linear.laplacian[inside.clone()];
        let surface = &self.linear.surface_geopotential[inside.clone()];
        let [zeta, delta, phi] = self
            .columns
            .each_mut()
            .map(|column| &mut column[..inside.len()]);
        if self.linear.advection_only {
            zeta.fill(Complex64::default());
            delta.fill(Complex64::default());
        } else {
            self.operators.divergence_and_curl(
                unit.m,
                range.clone(),
                u_eta,
                v_eta,
                |k, div, curl| {
                    zeta[k] = -div;
                    delta[k] = curl + (kinetic[k] + surface[k]) * laplacian[k];
                },
            );
        }
        self.operators
            .divergence_and_curl(unit.m, range, u_phi, v_phi, |k, div, _| phi[k] = -div);
        if let Some(forcing) = self.forcing {
            forcing.add(unit.m, inside.clone(), self.seconds, [zeta, delta, phi]);
            if self.linear.advection_only {
                zeta.fill(Complex64::default());
                delta.fill(Complex64::default());
            }
        }
        (self.finish)(&self.linear, inside, Tendency { zeta, delta, phi });
    }
}

impl<T: Transport> Model<T> {
    /// Tendencies of `state` at model time `seconds` without the linear gravity-wave terms; `finish`
    /// takes those of every unit of this rank, with where it lies in a state.
    ///
    /// # Errors
    /// A lost rank; wind out of bounds.
    pub(super) fn explicit_tendency(
        &mut self,
        state: &State,
        seconds: f64,
        finish: impl FnMut(&Linear<'_>, Range<usize>, Tendency<'_>),
    ) -> Result<(), SolverError> {
        let Work {
            grid_from,
            grid_to,
            columns,
        } = &mut self.work;
        let mut terms = Terms {
            state,
            seconds,
            operators: &self.operators,
            coriolis: &self.coriolis,
            linear: Linear {
                laplacian: &self.operators.laplacian,
                damping: &self.damping,
                surface_geopotential: &self.surface_geopotential,
                phibar: self.phibar,
                advection_only: self.advection_only,
            },
            forcing: self.forcing.as_ref(),
            family: self.pencil.family(),
            shape: &self.shape,
            secant2: &self.secant2,
            bound: 0.5 * self.wind_bound * self.wind_bound,
            kinetic: 0.0,
            worst: None,
            columns,
            finish,
        };
        self.pencil
            .evaluate(&mut terms, (grid_from, grid_to), &mut self.phases)?;
        let (kinetic, worst) = (terms.kinetic, terms.worst);
        self.max_wind = (2.0 * kinetic).sqrt();
        match worst {
            None => Ok(()),
            Some(worst) => Err(SolverError::BlowUp(Box::new(blowup::describe(
                self, &worst, state, seconds,
            )))),
        }
    }
}
