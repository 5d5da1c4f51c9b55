//! What output collects on rank 0: fields on the whole grid, and sums at single points.

use ndarray::Array2;
use num_complex::Complex64;

use super::model::{Model, SolverError};
use super::sums::sum_over_ranks;
use crate::dd::{Dd, two_product};
use crate::exchange::gather::gather;
use crate::measure::Phase;
use crate::pencil::INVERSE_FIELDS;
use crate::problem::planet::DAY;
use crate::report::netcdf::LevelFields;
use crate::report::run::PointRecord;
use crate::spectral::legendre::column_dd;
use crate::transform::{LANES, POINT};
use crate::transport::Transport;

impl<T: Transport> Model<T> {
    /// Latitudes of the grid, degrees, north to south.
    pub fn latitudes(&self) -> Vec<f64> {
        self.pencil
            .gauss()
            .all_latitudes()
            .iter()
            .map(|lat| lat.to_degrees())
            .collect()
    }

    /// `h, u, v, zeta, delta` of every level on the whole grid, on rank 0 (`None` elsewhere).
    /// Every rank calls it.
    ///
    /// # Errors
    /// A lost rank.
    pub fn gather_fields(&mut self) -> Result<Option<Vec<LevelFields>>, SolverError> {
        let start = self.phases.start();
        let before = self.phases.clone();
        let now = std::mem::take(&mut self.now);
        let fields = self.fields_to_grid(&now);
        self.now = now;
        fields?;
        let gravity = self.problem.planet.gravity;
        let (phibar, surface) = (self.phibar, &self.surface_grid);
        let mut levels: Vec<Vec<Option<Array2<f64>>>> = Vec::new();
        for level in 0..self.problem.levels {
            let secant = |group: usize, lane: usize| self.secant2[group][lane].sqrt();
            levels.push(vec![
                self.gather_field(level, 1, |value, at, _| {
                    (value + phibar + surface[at]) / gravity
                })?,
                self.gather_field(level, 2, |value, _, (group, lane)| {
                    value * secant(group, lane)
                })?,
                self.gather_field(level, 3, |value, _, (group, lane)| {
                    value * secant(group, lane)
                })?,
                self.gather_field(level, 0, |value, _, _| value)?,
            ]);
        }
        self.pencil.inverse(
            [
                &self.now.delta,
                &self.now.delta,
                &self.now.delta,
                &self.now.delta,
            ],
            &mut self.work.grid_from,
            &mut self.phases,
        )?;
        for (level, fields) in levels.iter_mut().enumerate() {
            fields.push(self.gather_field(level, 0, |value, _, _| value)?);
        }
        self.phases = before;
        self.phases.stop(Phase::GatherMove, start);
        let whole = |mut fields: Vec<Option<Array2<f64>>>| {
            let delta = fields.pop()??;
            let zeta = fields.pop()??;
            let v = fields.pop()??;
            let u = fields.pop()??;
            let h = fields.pop()??;
            Some(LevelFields {
                h,
                u,
                v,
                zeta,
                delta,
            })
        };
        Ok(levels.into_iter().map(whole).collect())
    }

    /// `h_s` (m, of the series) on the whole grid, on rank 0.
    ///
    /// # Errors
    /// A lost rank.
    pub fn gather_surface(&self) -> Result<Option<Array2<f64>>, SolverError> {
        let gravity = self.problem.planet.gravity;
        self.gather_field(0, 0, |_, at, _| self.surface_grid[at] / gravity)
    }

    /// One field of the inverse grid: `value(grid value, index in a single field, (group, lane))`.
    fn gather_field(
        &self,
        level: usize,
        field: usize,
        value: impl Fn(f64, usize, (usize, usize)) -> f64,
    ) -> Result<Option<Array2<f64>>, SolverError> {
        let shape = &self.shape;
        let length = shape.longitudes.len() * POINT;
        let mut block = Vec::with_capacity(2 * shape.pairs.len() * shape.longitudes.len());
        for own in 0..shape.pairs.len() {
            let (group, lane) = (own / LANES, own % LANES);
            let row = ((level * shape.groups + group) * INVERSE_FIELDS + field) * length;
            for side in 0..2 {
                for i in 0..shape.longitudes.len() {
                    let at = i * POINT + side * LANES + lane;
                    block.push(value(
                        self.work.grid_from[row + at],
                        group * length + at,
                        (group, lane),
                    ));
                }
            }
        }
        let Some(blocks) = gather(&self.world, 0, &block, &self.gather)? else {
            return Ok(None);
        };
        let (nlat, nlon) = (self.problem.nlat, self.problem.nlon);
        let distribution = self.pencil.distribution();
        let mut whole = Array2::zeros((nlat, nlon));
        for (rank, block) in blocks.iter().enumerate() {
            let (x, y) = distribution.mesh.position(rank);
            let mut values = block.iter();
            for pair in distribution.pairs(y) {
                for row in [pair, nlat - 1 - pair] {
                    for longitude in distribution.longitudes(x) {
                        if let Some(value) = values.next() {
                            whole[[row, longitude]] = *value;
                        }
                    }
                }
            }
        }
        Ok(Some(whole))
    }

    /// `h, u, v, zeta, delta` of level 0 at points (degrees north, degrees east), summed from the
    /// series. Every rank calls it; all get the same.
    ///
    /// # Errors
    /// A lost rank.
    pub fn at_points(&mut self, points: &[(f64, f64)]) -> Result<Vec<PointRecord>, SolverError> {
        let layout = self.pencil.layout();
        let [u, v] = self.operators.wind(layout, &self.now.zeta, &self.now.delta);
        let mut sums = Vec::with_capacity(points.len() * 6);
        for &(lat, lon) in points {
            let mu = Dd::from(lat.to_radians().sin());
            let mut own = [Dd::ZERO; 6];
            for (unit, range) in layout.counted().filter(|(unit, _)| unit.level == 0) {
                let p = column_dd(unit.m, unit.m + range.len() - 1, mu);
                let both = if unit.m == 0 { 1.0 } else { 2.0 };
                let wave = Complex64::cis(unit.m as f64 * lon.to_radians()) * both;
                let fields = [
                    &self.now.phi,
                    &self.surface_geopotential,
                    &u,
                    &v,
                    &self.now.zeta,
                    &self.now.delta,
                ];
                for (sum, field) in own.iter_mut().zip(fields) {
                    for (c, p) in field[range.clone()].iter().zip(&p) {
                        let value = c.re * wave.re - c.im * wave.im;
                        *sum = *sum + two_product(value, *p);
                    }
                }
            }
            sums.extend(own);
        }
        let sums = sum_over_ranks(&self.world, &sums)?;
        let day = self.seconds() / DAY;
        let records = points
            .iter()
            .zip(sums.chunks_exact(6))
            .map(|(&(lat, lon), sum)| {
                // The wind is U over the cosine; at a pole itself it has no direction.
                let secant = 1.0 / lat.to_radians().cos();
                PointRecord {
                    day,
                    lat,
                    lon,
                    h: (self.phibar + sum[0] + sum[1]) / self.problem.planet.gravity,
                    u: sum[2] * secant,
                    v: sum[3] * secant,
                    zeta: sum[4],
                    delta: sum[5],
                }
            });
        Ok(records.collect())
    }
}
