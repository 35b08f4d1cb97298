//! Checks whether a file parses.

use serde::Serialize;

use crate::edit::report::fault_rows;
use crate::edit::structure::{SyntaxState, state_of};
use crate::view::scope::Scope;
use hashline_base::error::Result;
use hashline_disk::bytes::{Loaded, load_bytes, with_file};

/// The result of parsing a file.
#[derive(Clone, Debug, Serialize)]
pub struct SyntaxReport {
    /// The path of the request.
    pub path: String,
    /// `ok`, `unclean`, or `unknown` if the file was not parsed.
    pub syntax: SyntaxState,
    /// The first line that does not parse.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<u64>,
    /// What is wrong there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The line where the construct that is not closed begins.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub opened: Option<u64>,
    /// These lines with their anchors, each with a newline; empty without a fault.
    pub text: String,
}

/// Parses a file.
pub fn check_syntax(scope: &Scope<'_>, path: &str) -> Result<SyntaxReport> {
    with_file(scope.fs, scope.base, path, &scope.load_options_of(path), |loaded| {
        Ok(check(scope, path, loaded))
    })
}

/// Parses bytes that were not read from a file; `path` names them.
pub fn check_syntax_bytes(scope: &Scope<'_>, path: &str, bytes: &[u8]) -> Result<SyntaxReport> {
    Ok(check(scope, path, &load_bytes(path, bytes, &scope.load_options())?))
}

fn check(scope: &Scope<'_>, path: &str, loaded: &Loaded) -> SyntaxReport {
    let Loaded::Text(document) = loaded else { return report(path, SyntaxState::Unknown) };
    let text = document.text();
    let (state, fault) = state_of(path, text, scope.budget);
    let Some(fault) = fault else { return report(path, state) };
    SyntaxReport {
        line: Some(fault.line),
        opened: fault.opened,
        text: fault_rows(scope.dialect, text, &fault),
        message: Some(fault.what),
        ..report(path, state)
    }
}

fn report(path: &str, syntax: SyntaxState) -> SyntaxReport {
    let path = path.to_owned();
    SyntaxReport { path, syntax, line: None, message: None, opened: None, text: String::new() }
}
