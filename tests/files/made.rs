//! Files made for the tests, and an independent synthesis of what is in them.

use std::path::Path;

use netcdf3::{DataSet, FileWriter, Version};
use num_complex::Complex64;

use crate::support::Random;

/// Values of a variable.
#[derive(Clone)]
pub(crate) enum Data {
    F64(Vec<f64>),
    F32(Vec<f32>),
    I16(Vec<i16>),
    Text(Vec<u8>),
}

/// Value of an attribute.
#[derive(Clone)]
pub(crate) enum Attr {
    Text(&'static str),
    F64(f64),
    F32(f32),
    I16([i16; 2]),
}

/// A variable.
#[derive(Clone)]
pub(crate) struct Var {
    pub(crate) name: &'static str,
    pub(crate) dims: Vec<&'static str>,
    pub(crate) attrs: Vec<(&'static str, Attr)>,
    pub(crate) data: Data,
}

pub(crate) fn var(name: &'static str, dims: &[&'static str], data: Vec<f64>) -> Var {
    Var {
        name,
        dims: dims.to_vec(),
        attrs: Vec::new(),
        data: Data::F64(data),
    }
}

impl Var {
    pub(crate) fn with(mut self, name: &'static str, value: Attr) -> Self {
        self.attrs.push((name, value));
        self
    }

    pub(crate) fn units(self, units: &'static str) -> Self {
        self.with("units", Attr::Text(units))
    }

    pub(crate) fn standard(self, name: &'static str) -> Self {
        self.with("standard_name", Attr::Text(name))
    }
}

/// Writes a classic file; `records` is the unlimited dimension.
pub(crate) fn write(
    path: &Path,
    records: Option<(&str, usize)>,
    dims: &[(&str, usize)],
    vars: &[Var],
) {
    let mut set = DataSet::new();
    if let Some((name, count)) = records {
        set.set_unlimited_dim(name, count).unwrap();
    }
    for (name, length) in dims {
        set.add_fixed_dim(name, *length).unwrap();
    }
    for v in vars {
        match v.data {
            Data::F64(_) => set.add_var_f64(v.name, &v.dims),
            Data::F32(_) => set.add_var_f32(v.name, &v.dims),
            Data::I16(_) => set.add_var_i16(v.name, &v.dims),
            Data::Text(_) => set.add_var_u8(v.name, &v.dims),
        }
        .unwrap();
        for (name, value) in &v.attrs {
            match value {
                Attr::Text(text) => set.add_var_attr_string(v.name, name, text),
                Attr::F64(x) => set.add_var_attr_f64(v.name, name, vec![*x]),
                Attr::F32(x) => set.add_var_attr_f32(v.name, name, vec![*x]),
                Attr::I16(x) => set.add_var_attr_i16(v.name, name, x.to_vec()),
            }
            .unwrap();
        }
    }
    let mut writer = FileWriter::open(path).unwrap();
    writer.set_def(&set, Version::Classic, 0).unwrap();
    for v in vars {
        match &v.data {
            Data::F64(list) => writer.write_var_f64(v.name, list),
            Data::F32(list) => writer.write_var_f32(v.name, list),
            Data::I16(list) => writer.write_var_i16(v.name, list),
            Data::Text(list) => writer.write_var_u8(v.name, list),
        }
        .unwrap();
    }
    writer.close().unwrap();
}

/// Coefficients for `n = m ..= top`, `m = 0 ..= top`, real at m = 0.
pub(crate) type Series = Vec<Vec<Complex64>>;

/// A random band-limited field; `first` is its lowest degree.
pub(crate) fn random_series(top: usize, first: usize, seed: u64) -> Series {
    let mut random = Random(seed);
    let mut coefficient = |m: usize, n: usize| {
        let (re, im) = (random.unit(), random.unit());
        if n < first {
            Complex64::ZERO
        } else {
            Complex64::new(re, if m == 0 { 0.0 } else { im })
        }
    };
    (0..=top)
        .map(|m| (m..=top).map(|n| coefficient(m, n)).collect())
        .collect()
}

/// `P_nm` and `cos^2 dP_nm/dmu` over `cos` for `n = m ..= top` at a latitude (radians). The cosine
/// of pi/2 in floating point is not zero, so limits at a pole come out by themselves.
pub(crate) fn legendre(m: usize, top: usize, lat: f64) -> (Vec<f64>, Vec<f64>) {
    let (mu, cos) = lat.sin_cos();
    let eps = |n: usize| {
        let (n, m) = (n as f64, m as f64);
        ((n * n - m * m) / (4.0 * n * n - 1.0)).sqrt()
    };
    let mut p = vec![0.5f64.sqrt()];
    for k in 1..=m {
        p[0] *= ((2 * k + 1) as f64 / (2 * k) as f64).sqrt() * cos;
    }
    for n in m + 1..=top + 1 {
        let before = if n >= m + 2 {
            eps(n - 1) * p[n - m - 2]
        } else {
            0.0
        };
        p.push((mu * p[n - m - 1] - before) / eps(n));
    }
    let slope = (m..=top).map(|n| {
        let below = if n > m {
            (n + 1) as f64 * eps(n) * p[n - m - 1]
        } else {
            0.0
        };
        (below - n as f64 * eps(n + 1) * p[n - m + 1]) / cos
    });
    let slope = slope.collect();
    p.truncate(top + 1 - m);
    (p, slope)
}

/// Latitudes and longitudes in degrees.
pub(crate) struct Places<'a> {
    pub(crate) lat: &'a [f64],
    pub(crate) lon: &'a [f64],
}

impl Places<'_> {
    /// Sums over `m` and `n` of what `term` gives, in the order (lat, lon).
    fn sum(&self, term: impl Fn(f64, usize) -> Complex64, top: usize) -> Vec<f64> {
        let mut out = Vec::new();
        for lat in self.lat {
            let rows: Vec<Complex64> = (0..=top).map(|m| term(lat.to_radians(), m)).collect();
            for lon in self.lon {
                let value = rows.iter().enumerate().map(|(m, c)| {
                    let turn = Complex64::cis(m as f64 * lon.to_radians());
                    (c * turn).re * if m == 0 { 1.0 } else { 2.0 }
                });
                out.push(value.sum());
            }
        }
        out
    }

    /// The field of a series.
    pub(crate) fn scalar(&self, c: &Series) -> Vec<f64> {
        let top = c.len() - 1;
        let term = |lat: f64, m: usize| {
            let (p, _) = legendre(m, top, lat);
            p.iter().zip(&c[m]).map(|(p, c)| c * p).sum()
        };
        self.sum(term, top)
    }

    /// Eastward and northward wind of streamfunction and velocity potential on the unit sphere.
    pub(crate) fn wind(&self, psi: &Series, chi: &Series) -> (Vec<f64>, Vec<f64>) {
        let top = psi.len() - 1;
        let part = |along: &Series, across: &Series, sign: f64| {
            let term = |lat: f64, m: usize| {
                let (p, slope) = legendre(m, top, lat);
                let im = Complex64::new(0.0, m as f64 / lat.cos());
                (0..p.len())
                    .map(|i| im * along[m][i] * p[i] + sign * across[m][i] * slope[i])
                    .sum()
            };
            self.sum(term, top)
        };
        (part(chi, psi, -1.0), part(psi, chi, 1.0))
    }
}

/// The Laplacian on the unit sphere.
pub(crate) fn laplacian(c: &Series) -> Series {
    let row = |(m, row): (usize, &Vec<Complex64>)| {
        row.iter()
            .enumerate()
            .map(|(i, c)| -c * ((m + i) * (m + i + 1)) as f64)
            .collect()
    };
    c.iter().enumerate().map(row).collect()
}

/// The largest difference of two series.
pub(crate) fn distance(a: &Series, b: &Series) -> f64 {
    assert_eq!(a.len(), b.len());
    let rows = a.iter().zip(b).flat_map(|(a, b)| {
        assert_eq!(a.len(), b.len());
        a.iter().zip(b).map(|(a, b)| (a - b).norm())
    });
    rows.fold(0.0, f64::max)
}
