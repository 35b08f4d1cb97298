//! The size limits of an answer, whatever it is made of.

use hashline_core::host::{ANSWER_LIMIT_BYTES, ANSWER_LIMIT_LINES, RowAnchor};
use hashline_core::{Dialect, SessionOptions};

/// How many lines one answer may hold, unless the host takes fewer.
pub const MAX_LINES: usize = ANSWER_LIMIT_LINES as usize;

/// The limits on the text of one answer. What does not fit is omitted, and a session
/// does not record it as shown. A host must not truncate an answer further, because the session
/// would then record lines that the model has not seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AnswerLimits {
    /// The lines of an answer.
    pub lines: usize,
    /// The bytes of an answer.
    pub answer_bytes: usize,
    /// Those of a refusal, and of any other answer that is marked as an error.
    pub error_bytes: usize,
}

impl Default for AnswerLimits {
    fn default() -> AnswerLimits {
        AnswerLimits {
            lines: MAX_LINES,
            answer_bytes: ANSWER_LIMIT_BYTES,
            error_bytes: ANSWER_LIMIT_BYTES,
        }
    }
}

impl AnswerLimits {
    /// In words, for a model.
    pub fn words(self) -> String {
        let (thousands, rest) = (self.lines / 1_000, self.lines % 1_000);
        format!("{thousands},{rest:03} lines and {} KB", self.answer_bytes >> 10)
    }

    /// Has a session keep to them.
    pub fn limit(self, session: &mut SessionOptions) {
        session.limits.max_lines = session.limits.max_lines.min(self.lines as u64);
        session.limits.max_bytes = session.limits.max_bytes.min(self.answer_bytes);
        session.workspace.host.answer_limit_bytes = self.answer_bytes;
        session.workspace.host.refusal_limit_bytes = self.error_bytes;
    }
}

/// Allowed in addition: the lines in which a session says how to continue.
const SPARE_LINES: usize = 10;
const SPARE_BYTES: usize = 1_024;
/// Longer lines are cut when the answer is over its limits.
const MAX_LINE_CHARS: usize = 1_000;

/// The limits on the text after the last rendered line of a file that is kept.
const MAX_TAIL_LINES: usize = 100;
const MAX_TAIL_BYTES: usize = 8_192;

/// Cuts a text to at most `max_lines` and `max_bytes`. Very long lines are cut first, so that the lines
/// after them are kept. Then whole lines are omitted, but not the notes at the end. `advice` says
/// what the model can do about it; `dialect` is that of the anchors in the text.
pub fn bounded(
    text: String,
    (max_lines, max_bytes): (usize, usize),
    dialect: &Dialect,
    advice: &str,
) -> String {
    let count = text.split('\n').count();
    if count <= max_lines + SPARE_LINES && text.len() <= max_bytes + SPARE_BYTES {
        return text;
    }
    let cut: Vec<String> = text.split('\n').map(cut_line).collect();
    if fitting_count(&cut, max_lines, max_bytes) == cut.len() {
        return format!("{}\n(Long lines are cut.{advice})", cut.join("\n"));
    }
    let tail = tail_of(dialect, &cut);
    let body = &cut[..cut.len() - tail.len()];
    let head =
        fitting_count(body, max_lines - tail.len(), max_bytes.saturating_sub(bytes_of(tail)));
    let rest = body.len() - head;
    let lack = if rest == 1 { "line is" } else { "lines are" };
    let note = match tail {
        [] => format!("({rest} more {lack} omitted.{advice})"),
        _ => format!("({rest} {lack} omitted here.{advice})"),
    };
    let rows = body[..head].iter().chain(std::iter::once(&note)).chain(tail);
    rows.map(String::as_str).collect::<Vec<_>>().join("\n")
}

/// How many of the first lines fit into the limits.
fn fitting_count(lines: &[String], max_lines: usize, max_bytes: usize) -> usize {
    let mut bytes = 0;
    let fits = |line: &&String| {
        bytes += line.len() + 1;
        bytes <= max_bytes
    };
    lines.iter().take(max_lines).take_while(fits).count()
}

/// The notes after the last rendered line of a file; none if the text has no such line, or if the
/// notes are too long to keep.
fn tail_of<'a>(dialect: &Dialect, lines: &'a [String]) -> &'a [String] {
    let is_row = |line: &String| RowAnchor::of(dialect, line.trim_start()).is_some();
    let Some(last) = lines.iter().rposition(is_row) else { return &[] };
    let tail = &lines[last + 1..];
    let is_kept = tail.len() <= MAX_TAIL_LINES && bytes_of(tail) <= MAX_TAIL_BYTES;
    if is_kept { tail } else { &[] }
}

fn bytes_of(lines: &[String]) -> usize {
    lines.iter().map(|line| line.len() + 1).sum()
}

fn cut_line(line: &str) -> String {
    match line.char_indices().nth(MAX_LINE_CHARS) {
        None => line.to_owned(),
        Some((end, _)) => {
            let rest = line[end..].chars().count();
            format!("{}… ({rest} characters of this line are omitted)", &line[..end])
        }
    }
}

const MAX_NOTES: usize = 8;
const MAX_NOTE_CHARS: usize = 160;

/// The first notes, as they are appended to an answer.
pub fn bounded_notes(notes: &[String]) -> String {
    let mut shown = String::new();
    for note in notes.iter().take(MAX_NOTES) {
        shown += &match note.char_indices().nth(MAX_NOTE_CHARS) {
            Some((end, _)) => format!("\n({}….)", &note[..end]),
            None => format!("\n({note}.)"),
        };
    }
    if notes.len() > MAX_NOTES {
        shown += &format!("\n(And {} more notes.)", notes.len() - MAX_NOTES);
    }
    shown
}

/// A count with its noun.
pub fn plural(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}
