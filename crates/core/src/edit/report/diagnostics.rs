//! Diagnostics that the host returns after a patch, below the rows of their lines.

use std::borrow::Cow;

use super::{HunkNames, Section, number_of};
use crate::edit::resolve::AmbiguousLines;
use crate::edit::written::{Diagnostic, Severity};
use hashline_lines::dialect::Dialect;
use hashline_lines::lines::LineIndex;
use hashline_lines::rows::{cut_line_bytes, file_header, version_header};
use hashline_lines::tag::Tag;
use hashline_memory::ShownLines;

/// The maximum length of a message.
const MESSAGE_LIMIT_BYTES: usize = 400;

/// A file with its diagnostics.
pub struct DiagnosedFile<'t> {
    /// Its path.
    pub path: &'t str,
    /// Its text.
    pub text: &'t [u8],
    /// Its lines.
    pub index: &'t LineIndex,
    /// The diagnostics, sorted by line.
    pub diagnostics: Vec<&'t Diagnostic>,
    /// The lines whose anchors need an edition to be unambiguous.
    pub ambiguous: AmbiguousLines,
}

/// The rows of the diagnostics of a file.
pub struct DiagnosticRows {
    /// The rows. Each ends with a newline.
    pub text: String,
    /// The lines that they show.
    pub shown: ShownLines,
}

/// The diagnostics of a file, as rows of at most `room_bytes`.
pub fn diagnostic_rows(
    dialect: &'static Dialect,
    file: &DiagnosedFile<'_>,
    room_bytes: usize,
) -> DiagnosticRows {
    let DiagnosedFile { path, text, index, diagnostics, ambiguous } = file;
    let counts = counts(diagnostics);
    let header = match dialect.has_hashes() {
        true => format!("{} {counts}\n", file_header(path)),
        false => format!("{}\n({counts})\n", version_header(path, Tag::of(text))),
    };
    let mut rows = DiagnosticRows { text: header, shown: ShownLines::default() };
    let mut last = None;
    for (at, one) in diagnostics.iter().enumerate() {
        let mut section = Section::new(dialect);
        if let Some(span) = index.span(text, one.line).filter(|_| last != Some(one.line)) {
            section.line(one.line, Cow::Borrowed(span.text(text)));
        }
        let row = message_row(one, section.shown().lines.is_empty() && last != Some(one.line));
        let room = room_bytes.saturating_sub(rows.text.len() + row.len());
        let fitting = section.fitting(room, ambiguous, HunkNames::default());
        if fitting.omitted > 0 || room == 0 {
            let rest = diagnostics.len() - at;
            rows.text += &format!("({} not shown.)\n", number_of(rest as u64, "diagnostic"));
            break;
        }
        rows.text += &(fitting.text + &row);
        let versioned = ambiguous.lines().common(&fitting.shown.lines);
        rows.shown.lines.extend(&fitting.shown.lines);
        rows.shown.parts.extend(fitting.shown.parts);
        rows.shown.versioned.extend(&versioned);
        last = Some(one.line);
    }
    rows
}

/// `1 error, 2 warnings`.
fn counts(diagnostics: &[&Diagnostic]) -> String {
    use Severity::{Error, Hint, Information, Warning};
    let count = |severity: Severity| {
        let count = diagnostics.iter().filter(|one| one.severity == severity).count() as u64;
        let noun = if severity == Information { "note" } else { severity.as_str() };
        (count > 0).then(|| number_of(count, noun))
    };
    [Error, Warning, Information, Hint].into_iter().filter_map(count).collect::<Vec<_>>().join(", ")
}

/// A message on one line, without control characters.
fn cleaned(message: &str) -> String {
    let start = &message[..cut_line_bytes(message.as_bytes(), 4 * MESSAGE_LIMIT_BYTES)];
    let words = start.split_whitespace().map(|word| word.replace(char::is_control, ""));
    words.collect::<Vec<_>>().join(" ")
}

/// The message below its line. `names_line` says that the line is not shown.
fn message_row(one: &Diagnostic, names_line: bool) -> String {
    let line = if names_line { format!(", line {}", one.line) } else { String::new() };
    let column = one.column.map(|column| format!(", column {column}")).unwrap_or_default();
    let message = cleaned(&one.message);
    let shown = cut_line_bytes(message.as_bytes(), MESSAGE_LIMIT_BYTES);
    let message = if shown < message.len() { format!("{}…", &message[..shown]) } else { message };
    format!("  ^ {}{line}{column}: {message}\n", one.severity.as_str())
}
