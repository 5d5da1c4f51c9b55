//! The FFT of whole lines: four latitude pairs at a time, north + i south as one complex row.

use std::sync::Arc;

use num_complex::Complex64;
use rustfft::{Fft, FftPlanner};

use super::mirror::{fold, unfold};
use super::{CELL, LANES, POINT};

/// FFTs of length `nlon` and the scratch they need.
pub struct FourierPlan {
    nlon: usize,
    m_max: usize,
    to_grid: Arc<dyn Fft<f64>>,
    to_fourier: Arc<dyn Fft<f64>>,
    /// `[lane][longitude or wavenumber]`.
    rows: Vec<Complex64>,
    scratch: Vec<Complex64>,
}

impl FourierPlan {
    /// Plan for `nlon` longitudes and wavenumbers `0 ..= m_max`, `2 m_max < nlon`.
    pub fn new(nlon: usize, m_max: usize) -> Self {
        let mut planner = FftPlanner::new();
        let to_grid = planner.plan_fft_inverse(nlon);
        let to_fourier = planner.plan_fft_forward(nlon);
        let scratch = to_grid
            .get_inplace_scratch_len()
            .max(to_fourier.get_inplace_scratch_len());
        Self {
            nlon,
            m_max,
            to_grid,
            to_fourier,
            rows: vec![Complex64::default(); LANES * nlon],
            scratch: vec![Complex64::default(); scratch],
        }
    }

    /// Wavenumbers to one group of lines (`[longitude][north | south][lane]`). `cell(m)` gives the
    /// cell of wavenumber `m`. Unnormalised: `f(lambda_i) = sum_m F_m exp(i m lambda_i)`.
    pub fn inverse<'a>(&mut self, cell: impl Fn(usize) -> &'a [f64; CELL], line: &mut [f64]) {
        let nlon = self.nlon;
        for row in self.rows.chunks_exact_mut(nlon) {
            row[self.m_max + 1..nlon - self.m_max].fill(Complex64::default());
        }
        for m in 0..=self.m_max {
            let cell = cell(m);
            for lane in 0..LANES {
                let row = &mut self.rows[lane * nlon..(lane + 1) * nlon];
                let (value, mirror) = unfold(cell, lane, m);
                row[m] = value;
                if m > 0 {
                    row[nlon - m] = mirror;
                }
            }
        }
        self.to_grid
            .process_with_scratch(&mut self.rows, &mut self.scratch);
        let (points, _) = line.as_chunks_mut::<POINT>();
        for (i, point) in points.iter_mut().enumerate() {
            for lane in 0..LANES {
                let value = self.rows[lane * nlon + i];
                point[lane] = value.re;
                point[LANES + lane] = value.im;
            }
        }
    }

    /// One group of lines to wavenumbers: `cell(m, values)` takes the cell of wavenumber `m`,
    /// `F_m = (1/nlon) sum_i f_i exp(-i m lambda_i)`, as sums and differences of the hemispheres.
    pub fn forward(&mut self, line: &[f64], mut cell: impl FnMut(usize, &[f64; CELL])) {
        let nlon = self.nlon;
        let (points, _) = line.as_chunks::<POINT>();
        for (i, point) in points.iter().enumerate() {
            for lane in 0..LANES {
                self.rows[lane * nlon + i] = Complex64::new(point[lane], point[LANES + lane]);
            }
        }
        self.to_fourier
            .process_with_scratch(&mut self.rows, &mut self.scratch);
        let scale = 0.5 / nlon as f64;
        for m in 0..=self.m_max {
            let mut values = [0.0; CELL];
            for lane in 0..LANES {
                let row = &self.rows[lane * nlon..(lane + 1) * nlon];
                let mirror = row[(nlon - m) % nlon];
                fold((row[m], mirror), scale, m, lane, &mut values);
            }
            cell(m, &values);
        }
    }

    /// Bytes held.
    pub fn bytes(&self) -> usize {
        size_of_val(self.rows.as_slice()) + size_of_val(self.scratch.as_slice())
    }
}
