//! What is told of a file that parsed before a patch and does not after it.

use super::{Section, number_of};
use crate::edit::resolve::Doubtful;
use crate::edit::structure::{Break, Slip, Suggestion};
use crate::json::quoted;
use hashline_base::error::{Mention, Message};
use hashline_lines::dialect::Dialect;
use hashline_lines::lines::{LineIndex, Unit};
use hashline_lines::rows::{one_line, version_header};
use hashline_lines::tag::Tag;
use hashline_memory::ShownLines;

/// A text with its lines, for what is told of it.
struct Told<'a> {
    dialect: &'static Dialect,
    text: &'a [u8],
    index: LineIndex,
    doubtful: &'a Doubtful,
}

impl<'a> Told<'a> {
    fn new(dialect: &'static Dialect, text: &'a [u8], doubtful: &'a Doubtful) -> Told<'a> {
        Told { dialect, text, index: LineIndex::new(text, Unit::Byte), doubtful }
    }

    fn line(&self, number: u64) -> &'a [u8] {
        self.index.span(self.text, number).map_or(b"", |span| span.text(self.text))
    }

    /// The line as a read shows it: an anchor with a hint, which means no other line that happens to
    /// have the hash.
    fn row(&self, number: u64) -> String {
        self.section(vec![number]).text(self.doubtful).trim_end_matches('\n').to_owned()
    }

    /// Some of the lines, each with its anchor.
    fn section(&self, mut numbers: Vec<u64>) -> Section<'a> {
        numbers.sort_unstable();
        numbers.dedup();
        let mut section = Section::new(self.dialect);
        for number in numbers.into_iter().filter(|&number| number <= self.index.count()) {
            section.line(number, self.line(number).into());
        }
        section
    }
}

/// The lines of a fault, with their anchors.
pub fn fault_rows(dialect: &'static Dialect, text: &[u8], found: &Break) -> String {
    let certain = Doubtful::default();
    Told::new(dialect, text, &certain).section(lines_of(found)).text(&certain)
}

fn lines_of(found: &Break) -> Vec<u64> {
    found.opened.into_iter().chain([found.line]).collect()
}

/// What is told of a file that a patch breaks.
#[derive(Default)]
pub struct BrokenTold {
    /// The text of the warning or the refusal.
    pub message: Message,
    /// The lines in it, which are of the text after the patch.
    pub shown: ShownLines,
    /// The lines of their anchors, with their hashes.
    pub anchors: Vec<(u64, u32)>,
}

/// A file that a patch breaks.
pub struct BreakReport<'a> {
    /// The dialect of its anchors.
    pub dialect: &'static Dialect,
    /// Its path.
    pub path: &'a str,
    /// What is wrong.
    pub found: &'a Break,
    /// What may have been meant.
    pub suggestion: Option<&'a Suggestion>,
}

impl BreakReport<'_> {
    /// The warning where it was changed: what is wrong, where it shows, and what makes of the file
    /// what may have been meant. `text` is that after the patch.
    pub fn warning(&self, text: &[u8], doubtful: &Doubtful) -> BrokenTold {
        let told = Told::new(self.dialect, text, doubtful);
        let mend = self.suggestion.map(|one| (one, mend(&told, self.path, one)));
        let mut numbers = lines_of(self.found);
        numbers.extend(mend.iter().flat_map(|(_, mend)| mend.lines.clone()));
        let BrokenTold { mut message, shown, anchors } = self.fault(&told, numbers);
        if let Some((one, mend)) = mend {
            message = message
                + "\nIf "
                + meant(one)
                + format!(", send {}: then it parses.", mend.request);
        }
        BrokenTold { message, shown, anchors }
    }

    /// What is wrong, and some lines of the text after the patch.
    fn fault(&self, after: &Told<'_>, numbers: Vec<u64>) -> BrokenTold {
        let Break { line, what, .. } = self.found;
        let section = after.section(numbers);
        let path = one_line(self.path);
        let (shown, anchors) = (section.shown(), section.named().collect());
        let text = section.text(after.doubtful);
        let rows = text.trim_end_matches('\n');
        let message =
            format!("{path} parsed before and does not now: line {line}: {what}.\n{rows}");
        BrokenTold { message: message.into(), shown, anchors }
    }

    /// The same of a patch that was only tried: it can be sent otherwise. `doubtful` are lines of
    /// the text before.
    pub fn tried(&self, before: &[u8], after: &[u8], doubtful: &Doubtful) -> BrokenTold {
        let certain = Doubtful::default();
        let after = Told::new(self.dialect, after, &certain);
        let mut told = self.fault(&after, lines_of(self.found));
        let otherwise = self.suggestion.map(|one| self.sent_otherwise(before, one, doubtful));
        if let Some(otherwise) = otherwise {
            told.message = told.message + "\n" + otherwise;
        }
        told
    }

    /// The refusal of a patch that would do so.
    pub fn refusal(&self, before: &[u8], doubtful: &Doubtful) -> Message {
        let Break { line, what, .. } = self.found;
        let path = one_line(self.path);
        let otherwise = self.suggestion.map(|one| self.sent_otherwise(before, one, doubtful));
        let otherwise = otherwise.map(|otherwise| Message::from(". ") + otherwise);
        Message::from(format!(
            "{path} parses now and would not after the patch: line {line} of the result: {what}. Fix the text or the range, or set the syntax check to warn"
        )) + otherwise.unwrap_or_default()
    }

    /// How an operation of a patch would have to be.
    fn sent_otherwise(&self, before: &[u8], one: &Suggestion, doubtful: &Doubtful) -> Message {
        let Suggestion { operation, slip, line, .. } = one;
        let row = || Told::new(self.dialect, before, doubtful).row(*line);
        let how = match slip {
            Slip::End(_) => format!("if it ended at `{}`", row()),
            Slip::Start(_) => format!("if it started at `{}`", row()),
            Slip::FirstLine => {
                format!("without the first line of its text, which repeats line {line}")
            }
            Slip::LastLine => {
                format!("without the last line of its text, which repeats line {line}")
            }
        };
        Message::from("The result would parse with ")
            + Mention::Operation(*operation)
            + format!(" {how}.")
    }
}

/// What may have been meant.
fn meant(suggestion: &Suggestion) -> Message {
    let Suggestion { operation, slip, line, .. } = suggestion;
    let operation = Mention::Operation(*operation);
    let too_much = |which: &str| {
        Message::from(format!("the {which} line of the text of "))
            + operation
            + format!(", which repeats line {line}, was not meant")
    };
    match slip {
        Slip::End(by) => operation + format!(" was meant to end {}", lines_off(*by)),
        Slip::Start(by) => operation + format!(" was meant to start {}", lines_off(*by)),
        Slip::FirstLine => too_much("first"),
        Slip::LastLine => too_much("last"),
    }
}

fn lines_off(by: i64) -> String {
    let way = if by > 0 { "earlier" } else { "later" };
    format!("{} {way}", number_of(by.unsigned_abs(), "line"))
}

/// A request that makes one text of another, and the lines that it names.
struct Mend {
    request: String,
    lines: Vec<u64>,
}

/// The texts differ in lines that follow each other.
fn mend(now: &Told<'_>, path: &str, suggestion: &Suggestion) -> Mend {
    let certain = Doubtful::default();
    let wanted = Told::new(now.dialect, &suggestion.text, &certain);
    let slip = suggestion.slip;
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
