//! The functions that JavaScript sees.

use napi_derive::napi;

/// The version of this package, as in its `package.json`.
#[napi]
pub fn version() -> &'static str {
    env!("CARGO_PKG_VERSION")
}
