//! Edits that are answered after the host has worked on the written files: it may format them and
//! report diagnostics.

use std::path::PathBuf;
use std::sync::Arc;

use hashline_core::host::Turn;
use hashline_core::{AfterWrite, Cancel, Diagnostic, Error, Outcome, Session, Written};
use serde::Serialize;
use serde_json::Value as Json;

use crate::apply::answer_of;
use crate::arguments::Repairs;
use crate::tool::{Answer, ToolKind};
use crate::tools::{ToolResult, Tools};
use hashline_core::host::path_of_url;

/// The result of a call, or an edit that is written and not answered yet.
pub enum Step {
    /// The call is over.
    Answered(Box<ToolResult>),
    /// Files are written. [`Tools::settle`] answers.
    Written(WrittenCall),
}

/// A call that has written files and is not answered yet.
#[derive(Debug)]
pub struct WrittenCall {
    pub(crate) kind: ToolKind,
    pub(crate) written: Arc<Written>,
    pub(crate) repairs: Repairs,
}

/// A file that was written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WrittenPath {
    /// Its absolute path; its last one if it was deleted.
    pub path: String,
    /// `edited`, `created`, `moved` or `deleted`.
    pub change: &'static str,
    /// Its absolute path before, if it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
}

/// More diagnostics are not read.
const READ_DIAGNOSTICS: usize = 10_000;

/// The maximum length of a note about a host that failed.
const NOTE_LIMIT_CHARS: usize = 400;

impl Tools {
    /// The files of a call that is not answered yet.
    pub fn written_paths(&self, call: &WrittenCall) -> Vec<WrittenPath> {
        written_paths(self.session(), &call.written)
    }

    /// The directory in which relative paths start.
    pub fn directory(&self) -> Result<PathBuf, Error> {
        self.session().absolute_path(".")
    }

    /// Builds the answer to a call that has written files from their current content. If they cannot be read
    /// again, the answer is that of the patch, and says so.
    pub fn settle(
        &self,
        call: WrittenCall,
        turn: Turn,
        after: &AfterWrite,
        cancel: &Cancel,
    ) -> ToolResult {
        let WrittenCall { kind, written, repairs } = call;
        let answer = match turn.settle(&written, after, cancel) {
            Ok(outcome) => answer_of(outcome),
            Err(error) => unsettled(&written, &error),
        };
        self.result(kind, answer, &repairs)
    }
}

/// The files that a patch of a session has written.
pub fn written_paths(session: &Session, written: &Written) -> Vec<WrittenPath> {
    let absolute = |path: &String| {
        let absolute = session.absolute_path(path);
        absolute.map_or_else(|_| path.clone(), |path| path.to_string_lossy().into_owned())
    };
    let files = written.files().iter().map(|file| WrittenPath {
        path: absolute(&file.path),
        change: file.change.as_str(),
        from: file.from.as_ref().map(absolute),
    });
    files.collect()
}

/// The answer to a patch whose files could not be read again.
fn unsettled(written: &Written, error: &Error) -> Answer {
    let answer = answer_of(Outcome::Applied(written.answer_before().clone()));
    let note = note_of(&format!("The files were not read again: {}", error.message));
    Answer { text: format!("{}\n({note}.)", answer.text), ..answer }
}

/// What the function of a host returned, as JSON: an array of diagnostics, an object with
/// `diagnostics`, or nothing.
pub fn after_write(returned: &Json) -> AfterWrite {
    let given = match returned {
        Json::Object(fields) => fields.get("diagnostics").unwrap_or(&Json::Null),
        other => other,
    };
    match given {
        Json::Null => AfterWrite::default(),
        Json::Array(items) => read_diagnostics(items),
        _ => AfterWrite {
            notes: vec!["afterWrite returned neither diagnostics nor nothing".to_owned()],
            diagnostics: Vec::new(),
        },
    }
}

fn read_diagnostics(items: &[Json]) -> AfterWrite {
    let read = |item: &Json| {
        let one: Diagnostic = serde_json::from_value(item.clone()).ok()?;
        let path = path_of_url(&one.path).unwrap_or(one.path);
        Some(Diagnostic { path, ..one })
    };
    let items = &items[..items.len().min(READ_DIAGNOSTICS)];
    let diagnostics: Vec<Diagnostic> = items.iter().filter_map(read).collect();
    let malformed = items.len() - diagnostics.len();
    let note =
        (malformed > 0).then(|| format!("afterWrite returned {malformed} malformed diagnostics"));
    AfterWrite { notes: note.into_iter().collect(), diagnostics }
}

/// A note about a host that failed, on one line.
pub fn note_of(message: &str) -> String {
    let words = message.split_whitespace().map(|word| word.replace(char::is_control, ""));
    let note = words.collect::<Vec<_>>().join(" ");
    let note = note.trim_end_matches('.');
    match note.char_indices().nth(NOTE_LIMIT_CHARS) {
        Some((end, _)) => format!("{}…", &note[..end]),
        None => note.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashline_core::Severity;
    use serde_json::json;

    #[test]
    fn diagnostics_are_read_leniently() {
        let one = json!({"path": "file:///a.ts", "line": 3, "severity": "warning", "message": "m", "code": 1});
        let read = after_write(&json!({"diagnostics": [one, {"path": 1}, "x"]}));
        assert_eq!(read.notes, ["afterWrite returned 2 malformed diagnostics"]);
        let [Diagnostic { path, severity: Severity::Warning, line: 3, .. }] = &read.diagnostics[..]
        else {
            panic!("{read:?}");
        };
        assert_eq!(path, "/a.ts");
        assert!(after_write(&json!([])).notes.is_empty());
        assert!(after_write(&json!({"other": 1})).notes.is_empty());
        assert_eq!(after_write(&json!("done")).notes.len(), 1);
    }

    #[test]
    fn notes_are_bounded_and_on_one_line() {
        assert_eq!(note_of("a\n\u{1b}[31m b.\n"), "a [31m b");
        assert_eq!(note_of(&"x".repeat(1_000)).chars().count(), NOTE_LIMIT_CHARS + 1);
    }
}
