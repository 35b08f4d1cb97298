//! The diagnostics of the host as rows of an answer, with what the memory learns from them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::index_of;
use super::now::{FileNow, file_now};
use crate::edit::report::{DiagnosedFile, diagnostic_rows};
use crate::edit::session::CallMemory;
use crate::edit::written::Diagnostic;
use crate::view::scope::Scope;
use hashline_disk::fs::plain_path;
use hashline_memory::{Body, MemoryUpdate, Version};

/// At most this many diagnostics are shown.
pub const DIAGNOSTICS_LIMIT: usize = 20;

/// The rows of all diagnostics.
#[derive(Default)]
pub struct Diagnosed {
    /// The rows, each with a newline before it.
    pub text: String,
    /// What the memory learns.
    pub updates: Vec<MemoryUpdate>,
    /// The files of which lines are shown.
    pub files: Vec<PathBuf>,
}

/// The rows of the diagnostics of files that the session can read, as many as fit.
pub fn rows(
    scope: &Scope<'_>,
    call_memory: &CallMemory<'_>,
    diagnostics: &[Diagnostic],
    room_bytes: usize,
) -> Diagnosed {
    let mut diagnosed = Diagnosed::default();
    let (of_files, omitted) = of_files(scope, diagnostics);
    for (name, mut diagnostics) in of_files {
        diagnostics.sort_by_key(|one| (one.line, one.column));
        let room_bytes = room_bytes.saturating_sub(diagnosed.text.len());
        diagnosed.add_file(scope, call_memory, name, diagnostics, room_bytes);
    }
    if omitted > 0 {
        let (noun, are) = if omitted == 1 { ("diagnostic", "is") } else { ("diagnostics", "are") };
        diagnosed.text += &format!("\n({omitted} more {noun} {are} not shown.)");
    }
    diagnosed
}

/// The most serious diagnostics by file, and how many others there are. Those of files that no call
/// can read are ignored.
fn of_files<'d>(
    scope: &Scope<'_>,
    diagnostics: &'d [Diagnostic],
) -> (Vec<(PathBuf, Vec<&'d Diagnostic>)>, usize) {
    let mut names: BTreeMap<&str, Option<PathBuf>> = BTreeMap::new();
    let mut found: Vec<(PathBuf, &Diagnostic)> = Vec::new();
    for one in diagnostics {
        let name = names.entry(&one.path).or_insert_with(|| scope.base.canonical(&one.path).ok());
        found.extend(name.clone().map(|name| (name, one)));
    }
    found.sort_by_key(|(_, one)| one.severity);
    let omitted = found.len().saturating_sub(DIAGNOSTICS_LIMIT);
    found.truncate(DIAGNOSTICS_LIMIT);
    let mut files: Vec<(PathBuf, Vec<&Diagnostic>)> = Vec::new();
    for (name, one) in found {
        match files.iter_mut().find(|(known, _)| *known == name) {
            Some((_, diagnostics)) => diagnostics.push(one),
            None => files.push((name, vec![one])),
        }
    }
    (files, omitted)
}

impl Diagnosed {
    fn add_file(
        &mut self,
        scope: &Scope<'_>,
        call_memory: &CallMemory<'_>,
        name: PathBuf,
        diagnostics: Vec<&Diagnostic>,
        room_bytes: usize,
    ) {
        let Some(first) = diagnostics.first() else { return };
        let path = shown_path(scope, &first.path, &name);
        let now = file_now(scope, call_memory.memory, &first.path, &name);
        let version = match now {
            FileNow::Text(now) => Some(now.version),
            FileNow::Gone | FileNow::Unreadable(_) => None,
        };
        let body = version.as_ref().and_then(Version::body);
        let (no_text, no_index) = (&b""[..], index_of(b""));
        let body = body.unwrap_or(Body { text: no_text, index: &no_index, hash: 0 });
        let lines = diagnostics.iter().map(|one| one.line);
        let lines: Vec<u64> = lines.filter(|line| (1..=body.count()).contains(line)).collect();
        let ambiguous = call_memory.ambiguous(scope.dialect, &name, body, lines);
        let Body { text, index, .. } = body;
        let file = DiagnosedFile { path: &path, text, index, diagnostics, ambiguous };
        let rows = diagnostic_rows(scope.dialect, &file, room_bytes);
        self.text += &format!("\n{}", rows.text.trim_end_matches('\n'));
        if let Some(text) = version.filter(|_| !rows.shown.lines.is_empty()) {
            self.files.push(name.clone());
            self.updates.push(MemoryUpdate::Shown { file: name, text, lines: rows.shown });
        }
    }
}

/// A path as an answer names it: relative to the base of the session if it is beneath it.
fn shown_path(scope: &Scope<'_>, path: &str, name: &Path) -> String {
    let here = scope.base.named("_").ok().map(|place| place.path());
    let relative = here.as_deref().and_then(|here| name.strip_prefix(here.parent()?).ok());
    relative.map_or_else(|| path.to_owned(), plain_path)
}
