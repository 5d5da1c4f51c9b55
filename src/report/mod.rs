//! Results as NetCDF files.

pub mod netcdf;
