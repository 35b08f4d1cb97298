//! Reads standard input, and files with a patch.

use std::io::{self, IsTerminal, Read};
use std::path::Path;

use hashline_core::host::open_input;
use hashline_core::{Code, Error, Patch, Result};

use crate::args::STANDARD_INPUT;
use crate::exit::say;

/// All of standard input, at most `limit_bytes`.
pub fn standard_input(limit_bytes: u64) -> Result<Vec<u8>> {
    if io::stdin().is_terminal() {
        let end = if cfg!(windows) { "Ctrl-Z and Enter" } else { "Ctrl-D" };
        say(&format!("reading standard input; {end} ends it"));
    }
    all_of(io::stdin().lock(), "standard input", limit_bytes)
}

/// Standard input, which is read once and cached for all uses.
#[derive(Default)]
pub struct Piped(Option<Vec<u8>>);

impl Piped {
    pub fn bytes(&mut self, limit_bytes: u64) -> Result<&[u8]> {
        if self.0.is_none() {
            self.0 = Some(standard_input(limit_bytes)?);
        }
        Ok(self.0.as_deref().unwrap_or_default())
    }
}

/// Whether a path means standard input.
pub fn is_standard_input(path: &Path) -> bool {
    path.to_str() == Some(STANDARD_INPUT)
}

/// A text without the byte order mark that some shells add.
pub fn without_mark(bytes: &[u8]) -> &[u8] {
    bytes.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(bytes)
}

/// The patch in a file or on standard input.
pub fn patch(path: &str, limit_bytes: u64) -> Result<Patch> {
    let (bytes, shown) = match path {
        STANDARD_INPUT => (standard_input(limit_bytes)?, "standard input"),
        _ => (all_of(open_input(path)?, path, limit_bytes)?, path),
    };
    let not_json = |cause: &dyn std::fmt::Display| {
        Error::new(Code::InvalidOperation, format!("{shown}: the patch is not JSON: {cause}"))
    };
    let text = std::str::from_utf8(without_mark(&bytes)).map_err(|cause| not_json(&cause))?;
    Patch::from_json(text).map_err(|error| match error.code {
        Code::InvalidArgument => error.within(format!("{shown}: "), ""),
        _ => not_json(&error.message),
    })
}

fn all_of(from: impl Read, shown: &str, limit_bytes: u64) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(limit_bytes.saturating_add(1))
        .read_to_end(&mut bytes)
        .map_err(|cause| Error::io("read", shown, &cause))?;
    if bytes.len() as u64 > limit_bytes {
        let message = format!("{shown} has more than {limit_bytes} bytes. Raise --max-file-bytes.");
        return Err(Error::new(Code::FileTooLarge, message));
    }
    Ok(bytes)
}
