//! Lines of compilers and linters → diagnostics: `PATH:LINE[:COLUMN]: [SEVERITY[:]] MESSAGE`, or
//! `PATH(LINE,COLUMN): …`.

use std::path::Path;

use hashline_core::host::{Mention, mentions};
use hashline_core::{Diagnostic, Severity};

/// At most this many lines are read.
const LINES_LIMIT: usize = 1_000;

/// The diagnostics in the output of a command that ran in a directory. Lines in other forms are
/// ignored, and so are those about files that do not exist.
pub fn read(output: &str, directory: &Path) -> Vec<Diagnostic> {
    let lines = output.lines().take(LINES_LIMIT).filter_map(diagnostic);
    lines.filter(|one| directory.join(&one.path).is_file()).collect()
}

fn diagnostic(line: &str) -> Option<Diagnostic> {
    let Mention { before, line, column, rest } = mentions(line).next()?;
    // A message without a colon is that of another form, such as a stack trace.
    let has_no_colon = column.is_some() && !rest.starts_with(':');
    let message = if has_no_colon { rest } else { rest.strip_prefix(':')? };
    let (severity, message) = severity(message.trim_start());
    let path = before.trim_start();
    if path.is_empty() || message.is_empty() {
        return None;
    }
    let (path, message) = (path.to_owned(), message.replace(char::is_control, ""));
    Some(Diagnostic { path, line, column, severity, message })
}

/// The severity at the start of a message, and the message.
fn severity(text: &str) -> (Severity, &str) {
    let words = [
        ("error", Severity::Error),
        ("fatal error", Severity::Error),
        ("warning", Severity::Warning),
        ("note", Severity::Information),
        ("info", Severity::Information),
        ("hint", Severity::Hint),
    ];
    let found = words.iter().find_map(|(word, severity)| {
        let rest = text.get(..word.len()).filter(|start| start.eq_ignore_ascii_case(word));
        let rest = rest.and_then(|_| text[word.len()..].strip_prefix([':', ' ']))?;
        Some((*severity, rest.trim_start_matches([':', ' '])))
    });
    found.unwrap_or((Severity::Error, text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Option<(String, u64, Option<u64>, Severity, String)> {
        let Diagnostic { path, line, column, severity, message } = diagnostic(line)?;
        Some((path, line, column, severity, message))
    }

    #[test]
    fn the_forms_of_compilers_and_linters() {
        let found = |path: &str, line, column, severity, message: &str| {
            Some((path.to_owned(), line, column, severity, message.to_owned()))
        };
        let (error, warning) = (Severity::Error, Severity::Warning);
        assert_eq!(of("a.c:3:7: error: no x"), found("a.c", 3, Some(7), error, "no x"));
        assert_eq!(of("a.c:3:7: warning: w"), found("a.c", 3, Some(7), warning, "w"));
        assert_eq!(of("src/a.py:3: F401 unused"), found("src/a.py", 3, None, error, "F401 unused"));
        assert_eq!(
            of("a.js:1:2: Missing. [Error/x]"),
            found("a.js", 1, Some(2), error, "Missing. [Error/x]")
        );
        assert_eq!(of(r"C:\a.c:3:7: m"), found(r"C:\a.c", 3, Some(7), error, "m"));
        assert_eq!(of("a.ts(3,7): error TS1: m"), found("a.ts", 3, Some(7), error, "TS1: m"));
        for other in ["", "a.ts 30ms", "a:b", "a.c:3", "a.c:0: m", ":1: m", "a.c:1:", "é:x"] {
            assert_eq!(of(other), None, "{other}");
        }
    }
}
