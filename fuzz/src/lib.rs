//! Code shared by the fuzz targets.

pub mod cost;
pub mod naive;
pub mod values;
