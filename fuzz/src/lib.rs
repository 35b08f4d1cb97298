//! What the fuzz targets share.

pub mod naive;
pub mod values;
