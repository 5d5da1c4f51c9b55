//! The explicit part of the time derivative: to the grid, products, back, derivatives.

use std::ops::Range;

use num_complex::Complex64;

use super::blowup::{self, Worst};
use super::damping::Damping;
use super::forcing::SpectralForcing;
use super::model::{Model, SolverError};
use super::operators::{self, Operators};
use super::products::products;
use super::state::State;
use crate::decomp::units::Unit;
use crate::pencil::{Evaluation, FORWARD_FIELDS, GridShape, INVERSE_FIELDS};
use crate::spectral::column::{self, BEFORE};
use crate::transform::Lane;
use crate::transform::kernels::Family;
use crate::transport::Transport;

/// Arrays that a time step works in; made once.
#[derive(Clone, Debug)]
pub(super) struct Work {
    /// Grid points of the fields to and from the grid.
    pub grid_from: Vec<f64>,
    pub grid_to: Vec<f64>,
    /// Columns of one unit.
    pub columns: [Vec<f64>; 3],
}

/// The tendencies of one unit without the linear gravity-wave terms: columns of vorticity (1/s2),
/// divergence (1/s2) and geopotential (m2/s3), of the degrees of the truncation.
pub(super) struct Tendency<'a>(pub [&'a [f64]; 3]);

impl Tendency<'_> {
    /// Of vorticity, divergence and geopotential of degree `m + k`.
    pub(super) fn at(&self, k: usize) -> [Complex64; 3] {
        let at = BEFORE + 2 * k;
        self.0
            .map(|column| Complex64::new(column[at], column[at + 1]))
    }
}

/// What the linear terms of a coefficient depend on; arrays as the layout says.
pub(super) struct Linear<'a> {
    pub operators: &'a Operators,
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
    columns: &'a mut [Vec<f64>; 3],
    finish: F,
}

impl<F: FnMut(&Linear<'_>, Unit, Range<usize>, Tendency<'_>)> Evaluation for Terms<'_, F> {
    fn source(
        &mut self,
        unit: Unit,
        range: Range<usize>,
        [eta, phi, u, v]: [&mut [f64]; INVERSE_FIELDS],
    ) {
        let len = eta.len();
        let [zeta, delta, _] = self.columns.each_mut().map(|column| &mut column[..len]);
        column::put(&self.state.zeta[range.clone()], zeta);
        column::put(&self.state.delta[range.clone()], delta);
        eta.copy_from_slice(zeta);
        let first = self.coriolis.partition_point(|(at, _)| *at < range.start);
        for (at, f) in &self.coriolis[first..] {
            if *at >= range.end {
                break;
            }
            let at = BEFORE + 2 * (at - range.start);
            eta[at] += f.re;
            eta[at + 1] += f.im;
        }
        column::put(&self.state.phi[range.clone()], phi);
        self.linear.operators.wind_of(unit.m, [zeta, delta], [u, v]);
        column::clear_around(range.len(), u);
        column::clear_around(range.len(), v);
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
    fn sink(&mut self, unit: Unit, range: Range<usize>, products: [&[f64]; FORWARD_FIELDS]) {
        let linear = &self.linear;
        let len = products[0].len();
        let [zeta, delta, phi] = self.columns.each_mut().map(|column| &mut column[..len]);
        let wave = linear.operators.wave(unit.m);
        let surface = &linear.surface_geopotential[range.clone()];
        operators::tendencies(
            self.family,
            wave,
            products,
            surface,
            [&mut *zeta, &mut *delta, &mut *phi],
        );
        if let Some(forcing) = self.forcing {
            let tendency = [&mut *zeta, &mut *delta, &mut *phi];
            forcing.add(unit.m, range.start..range.end - 1, self.seconds, tendency);
        }
        if linear.advection_only {
            zeta.fill(0.0);
            delta.fill(0.0);
        }
        (self.finish)(linear, unit, range, Tendency([zeta, delta, phi]));
    }
}

impl<T: Transport> Model<T> {
    /// Tendencies of `state` at model time `seconds` without the linear gravity-wave terms; `finish`
    /// takes those of every unit of this rank, with where it lies in a state (the last of which is the
    /// degree beyond the truncation).
    ///
    /// # Errors
    /// A lost rank; wind out of bounds.
    pub(super) fn explicit_tendency(
        &mut self,
        state: &State,
        seconds: f64,
        finish: impl FnMut(&Linear<'_>, Unit, Range<usize>, Tendency<'_>),
    ) -> Result<(), SolverError> {
        let Work {
            grid_from,
            grid_to,
            columns,
        } = &mut self.work;
        let mut terms = Terms {
            state,
            seconds,
            coriolis: &self.coriolis,
            linear: Linear {
                operators: &self.operators,
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
