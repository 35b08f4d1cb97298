//! What the fuzz targets share.

pub mod cost;
pub mod naive;
pub mod values;
