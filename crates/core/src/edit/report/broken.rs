//! What is told of a file that parsed before a patch and does not after it.

use super::{Rows, number_of};
use crate::edit::structure::{Break, Slip, Suggestion};
use crate::json::quoted;
use crate::text::dialect::Dialect;
use crate::text::hash::hash_line;
use crate::text::lines::{LineIndex, Unit};
use crate::text::tag::Tag;
use crate::view::render::{one_line, version_header};

/// A text with its lines, for what is told of it.
struct Told<'a> {
    dialect: &'static Dialect,
    text: &'a [u8],
    index: LineIndex,
}

impl<'a> Told<'a> {
    fn new(dialect: &'static Dialect, text: &'a [u8]) -> Told<'a> {
        Told { dialect, text, index: LineIndex::new(text, Unit::Byte) }
    }

    fn line(&self, number: u64) -> &'a [u8] {
        self.index.span(self.text, number).map_or(b"", |span| span.text(self.text))
    }

    fn anchor(&self, number: u64) -> String {
        let line = String::from_utf8_lossy(self.line(number));
        self.dialect.anchor_text(number, hash_line(self.dialect, number, &line))
    }

    /// The line as a read shows it: an anchor with a hint, which means no other line that happens to
    /// have the hash.
    fn row(&self, number: u64) -> String {
        self.rows(vec![number]).trim_end_matches('\n').to_owned()
    }

    /// Some of the lines, each with its anchor.
    fn rows(&self, mut numbers: Vec<u64>) -> String {
        numbers.sort_unstable();
        numbers.dedup();
        let mut rows = Rows::new(self.dialect);
        for number in numbers.into_iter().filter(|&number| number <= self.index.count()) {
            rows.line(number, self.line(number));
        }
        rows.into_text()
    }
}

/// The lines of a fault, with their anchors.
pub fn fault_rows(dialect: &'static Dialect, text: &[u8], found: &Break) -> String {
    Told::new(dialect, text).rows(lines_of(found))
}

fn lines_of(found: &Break) -> Vec<u64> {
    found.opened.into_iter().chain([found.line]).collect()
}

/// What is told of a file that a patch breaks.
pub struct BrokenTold {
    /// The text of the warning.
    pub message: String,
    /// The rows in it.
    pub rows: String,
}

/// The warning of a file that was changed: what is wrong, where it shows, and what makes of the
/// file what may have been meant. `text` is that after the patch.
pub fn broken_message(
    dialect: &'static Dialect,
    path: &str,
    found: &Break,
    text: &[u8],
    suggestion: Option<&Suggestion>,
) -> BrokenTold {
    let told = Told::new(dialect, text);
    let mut numbers = lines_of(found);
    let mend = suggestion.map(|one| (one, mend(&told, path, one)));
    numbers.extend(mend.iter().flat_map(|(_, mend)| mend.lines.clone()));
    let rows = told.rows(numbers);
    let Break { line, what, .. } = found;
    let shown = one_line(path);
    let mut message = format!(
        "{shown} parsed before and does not now: line {line}: {what}.\n{}",
        rows.trim_end_matches('\n')
    );
    if let Some((one, mend)) = mend {
        let meant = meant(one);
        message += &format!("\nIf {meant}, send {}: then it parses.", mend.request);
    }
    BrokenTold { message, rows }
}

/// The same of a patch that was only tried: it can be sent otherwise.
pub fn tried_message(
    dialect: &'static Dialect,
    path: &str,
    found: &Break,
    before: &[u8],
    after: &[u8],
    suggestion: Option<&Suggestion>,
) -> BrokenTold {
    let BrokenTold { message, rows } = broken_message(dialect, path, found, after, None);
    let otherwise = suggestion.map(|one| format!("\n{}", sent_otherwise(dialect, before, one)));
    BrokenTold { message: message + &otherwise.unwrap_or_default(), rows }
}

/// The refusal of a patch that would do so.
pub fn breaks_message(
    dialect: &'static Dialect,
    path: &str,
    found: &Break,
    before: &[u8],
    suggestion: Option<&Suggestion>,
) -> String {
    let Break { line, what, .. } = found;
    let path = one_line(path);
    let otherwise = suggestion.map(|one| format!(". {}", sent_otherwise(dialect, before, one)));
    format!(
        "{path} parses now and would not after the patch: line {line} of the result: {what}. Mend the text or the range, or let the syntax only be warned of{}",
        otherwise.unwrap_or_default()
    )
}

/// What may have been meant.
fn meant(suggestion: &Suggestion) -> String {
    let Suggestion { operation, slip, line, .. } = suggestion;
    match slip {
        Slip::End(by) => format!("operation {operation} was meant to end {}", lines_off(*by)),
        Slip::Start(by) => format!("operation {operation} was meant to start {}", lines_off(*by)),
        Slip::FirstLine => format!(
            "the first line of the text of operation {operation}, which repeated line {line}, was too much"
        ),
        Slip::LastLine => format!(
            "the last line of the text of operation {operation}, which repeated line {line}, was too much"
        ),
    }
}

fn lines_off(by: i64) -> String {
    let way = if by > 0 { "earlier" } else { "later" };
    format!("{} {way}", number_of(by.unsigned_abs(), "line"))
}

/// How an operation of a patch would have to be.
fn sent_otherwise(dialect: &'static Dialect, before: &[u8], suggestion: &Suggestion) -> String {
    let Suggestion { operation, slip, line, .. } = suggestion;
    let anchor = || Told::new(dialect, before).anchor(*line);
    let how = match slip {
        Slip::End(_) => format!("if it ended at {}", anchor()),
        Slip::Start(_) => format!("if it started at {}", anchor()),
        Slip::FirstLine => format!("without the first line of its text, which repeats line {line}"),
        Slip::LastLine => format!("without the last line of its text, which repeats line {line}"),
    };
    format!("The result would parse with operation {operation} {how}.")
}

/// A request that makes one text of another, and the lines that it names.
struct Mend {
    request: String,
    lines: Vec<u64>,
}

/// The texts differ in lines that follow each other.
fn mend(now: &Told<'_>, path: &str, suggestion: &Suggestion) -> Mend {
    let (wanted, slip) = (Told::new(now.dialect, &suggestion.text), suggestion.slip);
    let (own, other) = (now.index.count(), wanted.index.count());
    let most = own.min(other);
    // Of lines that are alike, those of the patch go: they come first, but where they repeat what
    // stands above.
    let same_above = |line: &u64| now.line(*line) == wanted.line(*line);
    let same_below = |back: &u64| now.line(own - back) == wanted.line(other - back);
    let (above, below) = if slip == Slip::FirstLine {
        let above = (1..=most).take_while(same_above).count() as u64;
        (above, (0..most - above).take_while(same_below).count() as u64)
    } else {
        let below = (0..most).take_while(same_below).count() as u64;
        ((1..=most - below).take_while(same_above).count() as u64, below)
    };
    let (first, last) = (above + 1, own - below);
    let text: Vec<_> = (first..=other - below)
        .map(|line| String::from_utf8_lossy(wanted.line(line)).into_owned())
        .collect();
    if !now.dialect.has_hashes() {
        return mending_patch(now, path, (first, last), &text);
    }
    let text = text.join("\n");
    let (op, lines) = match (first <= last, text.is_empty()) {
        (false, _) if above == 0 => ("insert_before", vec![1]),
        (false, _) => ("insert_after", vec![above]),
        (true, true) if first == last => ("delete", vec![first]),
        (true, true) => ("delete", vec![first, last]),
        (true, false) => ("replace_range", vec![first, last]),
    };
    let mut fields = vec![("op", op.to_owned()), ("path", path.to_owned())];
    match lines[..] {
        [one] => fields.push(("anchor", now.row(one))),
        _ => fields.extend([("start_anchor", now.row(first)), ("end_anchor", now.row(last))]),
    }
    if op != "delete" {
        fields.push(("text", text));
    }
    let fields: Vec<_> =
        fields.iter().map(|(name, value)| format!("\"{name}\":{}", quoted(value))).collect();
    Mend { request: format!("{{\"operations\":[{{{}}}]}}", fields.join(",")), lines }
}

/// The same in oh-my-pi's language: what replaces the lines from one to another, or stands before
/// the first of them if there are none.
fn mending_patch(now: &Told<'_>, path: &str, (first, last): (u64, u64), text: &[String]) -> Mend {
    let (head, lines) = match (first <= last, text.is_empty()) {
        (true, true) => (format!("CUT {first}.={last}"), vec![first, last]),
        (true, false) => (format!("PUT {first}.={last}:"), vec![first, last]),
        (false, _) if first == 1 => ("PUT <1:".to_owned(), vec![1]),
        (false, _) => (format!("PUT >{}:", first - 1), vec![first - 1]),
    };
    let rows = [version_header(path, Tag::of(now.text)), head];
    let rows = rows.into_iter().chain(text.iter().map(|line| format!("+{line}")));
    let patch = rows.collect::<Vec<_>>().join("\n");
    Mend { request: format!("{{\"patch\":{}}}", quoted(&patch)), lines }
}
