//! The transforms: round trips, operator identities, sums, aliasing.

use num_complex::Complex64;

use super::super::session::Session;
use super::bench::{Bench, Plan};
use crate::check::figure::Allowed;
use crate::dd::Dd;
use crate::error::{Error, Result};
use crate::grid::gauss::cos2;
use crate::measure::Phases;
use crate::pencil::{FORWARD_FIELDS, INVERSE_FIELDS, Pencil};
use crate::solver::operators::Operators;
use crate::transform::{LANES, POINT};
use crate::transport::threads::ThreadTransport;

const BASIS: &str = "what good engines reach, times 2.5 to 5";
const EXACT: &str = "exact in real arithmetic";

pub(super) fn check(bench: &mut Bench<'_>) -> Result<()> {
    let mut truncations = vec![42, 85, 170, 341];
    if bench.full {
        truncations.extend([682, 1279]);
    }
    for n in truncations {
        round_trips(bench, n)?;
    }
    for n in [42, 85] {
        identities(bench, n)?;
        aliasing(bench, n)?;
    }
    for scheme in ["semi-implicit", "rk4"] {
        unresolved(bench, scheme)?;
    }
    Ok(())
}

/// A transform of one rank with its working arrays.
struct Engine {
    pencil: Pencil<ThreadTransport>,
    operators: Operators,
    longitudes: usize,
    secant2: Vec<f64>,
    from: Vec<f64>,
    to: Vec<f64>,
    back: [Vec<Complex64>; FORWARD_FIELDS],
}

impl Engine {
    fn new(session: &Session, comm: &ThreadTransport) -> Result<Self> {
        let list = &session.namelist;
        let pencil = Pencil::new(
            comm,
            &list.problem,
            session.mesh,
            &list.algorithm,
            session.family,
        )
        .map_err(|error| Error::Failed(error.to_string()))?;
        let (shape, len) = (pencil.grid(), pencil.layout().len());
        let secant2 = pencil.gauss().mu.iter();
        Ok(Self {
            operators: Operators::new(pencil.layout(), list.problem.planet.radius, pencil.family()),
            longitudes: shape.longitudes.len(),
            secant2: secant2
                .map(|&mu| (Dd::from(1.0) / cos2(mu)).to_f64())
                .collect(),
            from: vec![0.0; shape.len(INVERSE_FIELDS)],
            to: vec![0.0; shape.len(FORWARD_FIELDS)],
            back: std::array::from_fn(|_| vec![Complex64::default(); len]),
            pencil,
        })
    }

    /// White noise times `(1 + n)^decay` from degree `least` on, real at m = 0.
    fn noise(&self, seed: u64, least: usize, decay: f64) -> Vec<Complex64> {
        let mut next = noise(seed);
        let layout = self.pencil.layout();
        let mut field = vec![Complex64::default(); layout.len()];
        for (unit, range) in layout.iter() {
            for (k, at) in (range.start..range.end - 1).enumerate() {
                let size = (1.0 + (unit.m + k) as f64).powf(decay);
                let (re, im) = (next() * size, next() * size);
                if unit.m + k >= least {
                    field[at] = Complex64::new(re, if unit.m == 0 { 0.0 } else { im });
                }
            }
        }
        field
    }

    /// Times `(n (n + 1))^power`; degree 0 is zero.
    fn scaled(&self, field: &[Complex64], power: f64) -> Vec<Complex64> {
        let mut result = field.to_vec();
        for (unit, range) in self.pencil.layout().iter() {
            for (k, at) in range.enumerate() {
                let n = (unit.m + k) as f64;
                result[at] *= if n > 0.0 {
                    (n * (n + 1.0)).powf(power)
                } else {
                    0.0
                };
            }
        }
        result
    }

    fn inverse(&mut self, fields: [&[Complex64]; INVERSE_FIELDS]) -> Result<()> {
        self.pencil
            .inverse(fields, &mut self.from, &mut Phases::new())
            .map_err(|error| Error::Failed(error.to_string()))
    }

    /// Field `target` of what goes back, from the values of the point's four fields, its
    /// `1/(1 - mu^2)` and its index.
    fn fill(&mut self, target: usize, value: impl Fn([f64; INVERSE_FIELDS], f64, usize) -> f64) {
        let length = self.longitudes * POINT;
        let from = self.from.chunks_exact(INVERSE_FIELDS * length);
        let to = self.to.chunks_exact_mut(FORWARD_FIELDS * length);
        for (group, (from, to)) in from.zip(to).enumerate() {
            for at in 0..length {
                let pair = group * LANES + at % LANES;
                let Some(&secant2) = self.secant2.get(pair) else {
                    continue;
                };
                let fields = std::array::from_fn(|field| from[field * length + at]);
                to[target * length + at] = value(fields, secant2, group * length + at);
            }
        }
    }

    fn forward(&mut self) -> Result<()> {
        let back = self.back.each_mut().map(Vec::as_mut_slice);
        self.pencil
            .forward(&mut self.to, back, &mut Phases::new())
            .map_err(|error| Error::Failed(error.to_string()))
    }

    /// Twice the mean over the sphere of a product of two of the point's four fields.
    fn integral(&self, a: usize, b: usize) -> f64 {
        let length = self.longitudes * POINT;
        let weights = &self.pencil.gauss().weight;
        let groups = self.from.chunks_exact(INVERSE_FIELDS * length).enumerate();
        let sums = groups.map(|(group, from)| {
            (0..length)
                .filter_map(|at| {
                    let weight = weights.get(group * LANES + at % LANES)?;
                    Some(weight * from[a * length + at] * from[b * length + at])
                })
                .sum::<f64>()
        });
        sums.sum::<f64>() / self.longitudes as f64
    }

    /// The same as a sum over coefficients.
    fn product(&self, a: &[Complex64], b: &[Complex64]) -> f64 {
        let units = self.pencil.layout().iter();
        let sums = units.map(|(unit, range)| {
            let both = if unit.m == 0 { 1.0 } else { 2.0 };
            let inside = range.start..range.end - 1;
            let pairs = a[inside.clone()].iter().zip(&b[inside]);
            both * pairs.map(|(a, b)| a.re * b.re + a.im * b.im).sum::<f64>()
        });
        sums.sum()
    }

    /// Through U and V on the grid and back.
    fn wind_round_trip(
        &mut self,
        zeta: &[Complex64],
        delta: &[Complex64],
        scalar: &[Complex64],
    ) -> Result<[Vec<Complex64>; 2]> {
        let wind = self.operators.wind(self.pencil.layout(), zeta, delta);
        self.inverse([scalar, scalar, &wind[0], &wind[1]])?;
        self.fill(0, |fields, secant2, _| fields[2] * secant2);
        self.fill(1, |fields, secant2, _| fields[3] * secant2);
        self.fill(2, |fields, _, _| fields[0]);
        self.forward()?;
        let (u, v) = (&self.back[0], &self.back[1]);
        let [delta, zeta] = self
            .operators
            .divergence_and_curl(self.pencil.layout(), u, v);
        Ok([zeta, delta])
    }

    /// Relative l2 and max/max difference over the coefficients of the truncation.
    fn errors(&self, pairs: &[(&[Complex64], &[Complex64])]) -> (f64, f64) {
        let (mut sum, mut norm, mut worst, mut largest) = (0.0, 0.0, 0.0f64, 0.0f64);
        for (own, truth) in pairs {
            for (_, range) in self.pencil.layout().iter() {
                for at in range.start..range.end - 1 {
                    let error = (own[at] - truth[at]).norm();
                    sum += error * error;
                    norm += truth[at].norm_sqr();
                    worst = if error > worst || error.is_nan() {
                        error
                    } else {
                        worst
                    };
                    largest = largest.max(truth[at].norm());
                }
            }
        }
        ((sum / norm).sqrt(), worst / largest)
    }
}

/// A fixed sequence of numbers in [-1, 1).
fn noise(seed: u64) -> impl FnMut() -> f64 {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    }
}

/// Runs `body` on one rank with a transform of truncation `n`; `extra`: keys of the grid.
fn on_engine<R: Send>(
    bench: &Bench<'_>,
    n: usize,
    extra: &str,
    body: impl Fn(Engine) -> Result<R> + Sync,
) -> Result<R> {
    let mut plan = Plan::new(n, "semi-implicit", 60.0, 1.0);
    plan.problem = extra.to_owned();
    let session = bench.session_of("williamson-2", &plan, 1)?;
    let results = session.on_threads(|comm| body(Engine::new(&session, &comm)?))?;
    let first = results.into_iter().next();
    first.ok_or_else(|| Error::Failed("the rank returned no result".to_owned()))
}

/// Coefficients to the grid and back: scalar, and vorticity and divergence through the wind.
fn round_trips(bench: &mut Bench<'_>, n: usize) -> Result<()> {
    let run = format!("T{n} white noise");
    bench.progress(&run);
    let white = on_engine(bench, n, "", |mut engine| round_trip(&mut engine, 0.0))?;
    for (what, (l2, max)) in ["scalar", "wind"].into_iter().zip(white) {
        let quantity = format!("round trip of {what}: l2");
        let allowed = Allowed::AtMost(5e-16 * n as f64);
        bench.judge(&run, &quantity, (l2, ""), allowed, BASIS)?;
        let quantity = format!("round trip of {what}: max/max");
        let allowed = Allowed::AtMost(5e-15 * n as f64);
        bench.judge(&run, &quantity, (max, ""), allowed, BASIS)?;
    }
    if n == 1279 {
        let [(l2, _), _] = on_engine(bench, n, "", |mut engine| round_trip(&mut engine, -1.5))?;
        let allowed = Allowed::AtMost(5e-13);
        let quantity = "round trip of scalar: l2";
        bench.judge(
            "T1279 noise as (1 + n)^-1.5",
            quantity,
            (l2, ""),
            allowed,
            BASIS,
        )?;
    }
    Ok(())
}

fn round_trip(engine: &mut Engine, decay: f64) -> Result<[(f64, f64); 2]> {
    let scalar = engine.noise(17, 0, decay);
    // White noise in the wind: its vector harmonics are zeta and delta over sqrt(n (n + 1)).
    let noise = [23, 29].map(|seed| engine.noise(seed, 1, decay));
    let [zeta, delta] = noise.each_ref().map(|field| engine.scaled(field, 0.5));
    let back = engine.wind_round_trip(&zeta, &delta, &scalar)?;
    let own = back.each_ref().map(|field| engine.scaled(field, -0.5));
    Ok([
        engine.errors(&[(&engine.back[2], &scalar)]),
        engine.errors(&[(&own[0], &noise[0]), (&own[1], &noise[1])]),
    ])
}

/// Divergence of a rotational wind, vorticity of a divergent one, Parseval's theorem, and the
/// forward transform as the adjoint of the inverse.
fn identities(bench: &mut Bench<'_>, n: usize) -> Result<()> {
    let values = on_engine(bench, n, "", |mut engine| {
        let (zeta, delta) = (engine.noise(31, 1, 0.0), engine.noise(37, 1, 0.0));
        let none = vec![Complex64::default(); zeta.len()];
        let scalar = engine.noise(41, 0, 0.0);
        let size = |engine: &Engine, field: &[Complex64]| engine.product(field, field).sqrt();
        let [_, spurious] = engine.wind_round_trip(&zeta, &none, &scalar)?;
        let div = size(&engine, &spurious) / size(&engine, &zeta);
        let [spurious, own] = engine.wind_round_trip(&none, &delta, &scalar)?;
        let curl = size(&engine, &spurious) / size(&engine, &delta);
        let (laplacian, _) = engine.errors(&[(&own, &delta)]);
        engine.inverse([&scalar, &scalar, &none, &none])?;
        let (grid, sum) = (engine.integral(0, 0), engine.product(&scalar, &scalar));
        let parseval = ((grid - sum) / sum).abs();
        // <A x, y> on the grid, y any values there, and <x, A* y> in spectral space.
        let mut next = noise(43);
        let any: Vec<f64> = (0..engine.to.len() / FORWARD_FIELDS)
            .map(|_| next())
            .collect();
        engine.fill(0, |_, _, at| any[at]);
        engine.forward()?;
        let right = engine.product(&scalar, &engine.back[0]);
        let length = engine.longitudes * POINT;
        for (group, from) in engine
            .from
            .chunks_exact_mut(INVERSE_FIELDS * length)
            .enumerate()
        {
            from[length..2 * length].copy_from_slice(&any[group * length..][..length]);
        }
        let left = engine.integral(0, 1);
        let norm = (engine.integral(0, 0) * engine.integral(1, 1)).sqrt();
        Ok([
            div,
            curl,
            laplacian,
            parseval,
            ((left - right) / norm).abs(),
        ])
    })?;
    for (quantity, value) in [
        "div of a rotational wind / norm",
        "curl of a divergent wind / norm",
        "Laplacian less div grad / norm",
        "Parseval: grid against coefficients",
        "adjoint: <A x, y> - <x, A* y> / norms",
    ]
    .into_iter()
    .zip(values)
    {
        let allowed = Allowed::AtMost(1e-13);
        bench.judge(&format!("T{n}"), quantity, (value, ""), allowed, EXACT)?;
    }
    Ok(())
}

/// The product of two fields, projected, on the smallest grid and on one half as fine again.
fn aliasing(bench: &mut Bench<'_>, n: usize) -> Result<()> {
    let project = |extra: &str| {
        on_engine(bench, n, extra, |mut engine| {
            let (a, b) = (engine.noise(47, 0, 0.0), engine.noise(53, 0, 0.0));
            engine.inverse([&a, &b, &a, &b])?;
            engine.fill(0, |fields, _, _| fields[0] * fields[1]);
            engine.forward()?;
            let inside: Vec<Complex64> = engine
                .pencil
                .layout()
                .iter()
                .flat_map(|(_, range)| engine.back[0][range.start..range.end - 1].to_vec())
                .collect();
            let grid = engine.pencil.distribution();
            Ok((inside, 2 * grid.all_groups() * LANES, engine.longitudes))
        })
    };
    let (smallest, nlat, nlon) = project("")?;
    let (nlat, nlon) = (nlat / 2 * 3, nlon / 2 * 3);
    let (finer, ..) = project(&format!("nlat = {nlat}\nnlon = {nlon}\n"))?;
    let pairs = || smallest.iter().zip(&finer);
    let error: f64 = pairs().map(|(a, b)| (a - b).norm_sqr()).sum();
    let norm: f64 = pairs().map(|(_, b)| b.norm_sqr()).sum();
    let value = ((error / norm).sqrt(), "");
    let quantity = "product of two fields: smallest grid against 1.5 times finer";
    bench.judge(
        &format!("T{n}"),
        quantity,
        value,
        Allowed::AtMost(1e-13),
        EXACT,
    )
}

/// The degree beyond the truncation, and imaginary parts at m = 0, stay exactly zero.
fn unresolved(bench: &mut Bench<'_>, scheme: &str) -> Result<()> {
    let plan = Plan::new(42, scheme, 300.0, 1.0);
    let session = bench.session_of("williamson-5", &plan, 1)?;
    let values = session.on_threads(|comm| {
        let mut model = session.model(comm)?;
        for _ in 0..10 {
            model.step().map_err(|error| session.explain(error))?;
        }
        let (mut beyond, mut imaginary) = (0.0f64, 0.0f64);
        for (unit, range) in model.pencil().layout().iter() {
            for field in model.state().fields() {
                beyond = beyond.max(field[range.end - 1].norm());
                if unit.m == 0 {
                    let parts = field[range.clone()].iter().map(|c| c.im.abs());
                    imaginary = parts.fold(imaginary, f64::max);
                }
            }
        }
        Ok((beyond, imaginary))
    })?;
    let (beyond, imaginary) = values.into_iter().next().unwrap_or((f64::NAN, f64::NAN));
    let run = format!("T42 williamson-5 {scheme}, 10 steps");
    let zero = Allowed::AtMost(0.0);
    bench.judge(
        &run,
        "largest unresolved coefficient",
        (beyond, ""),
        zero,
        EXACT,
    )?;
    bench.judge(
        &run,
        "largest imaginary part at m = 0",
        (imaginary, ""),
        zero,
        EXACT,
    )
}
