//! The state that all commands share.

use hashline_core::Cancel;

use crate::args::Shared;
use crate::files::Files;
use crate::output::Output;

/// A call of the program.
pub struct Call<'a> {
    pub shared: &'a Shared,
    pub files: Files,
    pub cancel: Cancel,
    pub out: Output,
}
