//! Control characters in new texts: NUL is refused, because it makes a file binary; others that are
//! unusual in sources cause a warning.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use memchr::memchr;

use super::lookup::{FileTask, NewContent, Task};
use crate::edit::outcome::{Failure, Warning, WarningCode};
use crate::edit::plan::{Edit, NewLines, PlanText};
use crate::edit::report::HunkNames;
use crate::edit::request::{FileAction, LineEdit, Operation, Operations};
use hashline_base::error::{Code, Error, Mention};

/// A warning names at most this many characters.
const NAMED_LIMIT: usize = 4;

/// Characters, each with the first line of a text that has it, from 1.
type Controls = BTreeMap<char, u64>;

/// The failures of operations whose texts have NUL.
pub(super) fn nul_failures(operations: &Operations) -> Vec<Failure> {
    let edits = operations.edits.iter().filter_map(|operation| {
        let line = match &operation.action {
            LineEdit::Replace { lines, .. } | LineEdit::Insert { lines, .. } => {
                line_with_nul(lines.iter().map(String::as_str))
            }
            LineEdit::ReplaceText { new_text: text, .. }
            | LineEdit::ReplaceFile { content: text } => line_with_nul(text.split('\n')),
            // JSON escapes NUL.
            LineEdit::Restore(_) | LineEdit::Json(_) | LineEdit::Take(_) | LineEdit::Put(_) => None,
        };
        Some(nul_failure(operation.index, &operation.path, line?))
    });
    let files = operations.files.iter().filter_map(|operation| {
        let FileAction::Add { content } = &operation.action else { return None };
        Some(nul_failure(operation.index, &operation.path, line_with_nul(content.split('\n'))?))
    });
    let mut failures: Vec<Failure> = edits.chain(files).collect();
    let names = HunkNames::of(operations);
    failures.iter_mut().for_each(|failure| names.name_failure(failure, None));
    failures
}

fn line_with_nul<'t>(mut lines: impl Iterator<Item = &'t str>) -> Option<usize> {
    lines.position(|line| memchr(0, line.as_bytes()).is_some()).map(|at| at + 1)
}

fn nul_failure(operation: usize, path: &str, line: usize) -> Failure {
    let message = Mention::Operation(operation)
        + format!(
            ": line {line} of the text has NUL (U+0000): a file with NUL is binary, and cannot be read or edited again. For an escape such as \\0 in the source, write the backslash twice in JSON."
        );
    let path = Some(path).filter(|path| !path.is_empty());
    Failure::new(operation, path, Error::new(Code::UnencodableText, message))
}

/// The warnings about edits that add control characters: at most one for each operation.
pub(super) fn warnings(
    subject: &PlanText<'_>,
    path: &str,
    edits: &[Edit<'_>],
    operations: &[&Operation],
) -> Vec<Warning> {
    let by_line = edits.iter().filter_map(|edit| match edit {
        // All of its edits have one warning, below.
        edit if matches!(edit.operation().action, LineEdit::ReplaceFile { .. }) => None,
        Edit::Replace { operation, first, last, lines } => {
            let new = controls(lines.iter().map(String::as_str));
            warning(operation.index, path, new, || of_lines(subject, *first, *last))
        }
        Edit::Insert { operation, lines: NewLines::Text(lines), .. } => {
            let new = controls(lines.iter().map(String::as_str));
            warning(operation.index, path, new, Controls::new)
        }
        Edit::Text { operation, matched } if matches!(operation.action, LineEdit::Json(_)) => {
            let charset = subject.document.charset();
            let of = |bytes: &[u8]| {
                controls(String::from_utf8_lossy(&charset.decode(bytes).text).split('\n'))
            };
            let old = || of(&subject.document.body()[matched.start..matched.end]);
            warning(operation.index, path, of(&matched.replacement), old)
        }
        Edit::Insert { .. } | Edit::Text { .. } => None,
    });
    let by_text = operations.iter().filter_map(|operation| match &operation.action {
        LineEdit::ReplaceText { old_text, new_text, .. } => {
            let old = || controls(old_text.split('\n'));
            warning(operation.index, path, controls(new_text.split('\n')), old)
        }
        LineEdit::ReplaceFile { content } => {
            let old = || of_lines(subject, 1, subject.index.count());
            warning(operation.index, path, controls(content.split('\n')), old)
        }
        _ => None,
    });
    let mut warnings: Vec<Warning> = by_line.chain(by_text).collect();
    // One operation on a value can be several edits.
    warnings.dedup_by_key(|warning| warning.operation);
    warnings
}

/// The warning about a new file with control characters.
pub(super) fn added_warning(one: &FileTask<'_>) -> Option<Warning> {
    let Task::Add { content: NewContent::Text(content), .. } = &one.task else { return None };
    warning(one.operation, &one.path, controls(content.split('\n')), Controls::new)
}

/// The warning about the control characters of a new text that the old text does not have.
fn warning(
    operation: usize,
    path: &str,
    mut new: Controls,
    old: impl FnOnce() -> Controls,
) -> Option<Warning> {
    if !new.is_empty() {
        let old = old();
        new.retain(|control, _| !old.contains_key(control));
    }
    let line = new.values().min()?;
    let names: Vec<String> = new.keys().take(NAMED_LIMIT).map(|&control| name(control)).collect();
    let names = match new.len() - names.len() {
        0 => names.join(" and "),
        more => format!("{} and {more} more", names.join(", ")),
    };
    let message = Mention::OperationAtStart(operation)
        + format!(
            ": line {line} of the text has {names}. Source code rarely contains them: if you meant an escape, write its backslash twice in JSON."
        );
    let (code, path) = (WarningCode::ControlCharacter, path.to_owned());
    Some(Warning { code, operation: Some(operation), path, message })
}

fn name(control: char) -> String {
    let mut name = format!("U+{:04X}", u32::from(control));
    let escape = match control {
        '\u{8}' => 'b',
        '\u{c}' => 'f',
        _ => return name,
    };
    write!(name, " (`\\{escape}` in JSON)").expect("a string takes any text");
    name
}

/// The control characters of lines of a file.
fn of_lines(subject: &PlanText<'_>, first: u64, last: u64) -> Controls {
    let (document, index) = (subject.document, subject.index);
    let span = |line| index.span(document.body(), line);
    let Some((first, last)) = span(first).zip(span(last)) else { return Controls::new() };
    let text = document.charset().decode(&document.body()[first.start..last.end]).text;
    controls(String::from_utf8_lossy(&text).split('\n'))
}

/// The control characters of a text that are unusual in sources. Tabs, carriage returns, ESC, and a
/// form feed alone on its line are not.
fn controls<'t>(lines: impl Iterator<Item = &'t str>) -> Controls {
    let mut controls = Controls::new();
    for (line, number) in lines.zip(1..) {
        if !line.bytes().any(may_be_unusual) {
            continue;
        }
        let is_page_break = line.trim().is_empty();
        let unusual = line.chars().filter(|&control| match control {
            '\t' | '\r' | '\n' | '\u{1b}' => false,
            '\u{c}' => !is_page_break,
            control => control.is_control(),
        });
        for control in unusual {
            controls.entry(control).or_insert(number);
        }
    }
    controls
}

/// Whether a byte can belong to an unusual control character. Those over U+007F start with 0xC2.
fn may_be_unusual(byte: u8) -> bool {
    byte < b' ' && !matches!(byte, b'\t' | b'\r' | b'\x1b') || matches!(byte, 0x7f | 0xc2)
}
