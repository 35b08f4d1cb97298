//! The report of a file that parsed before a patch and does not parse after it: the warning, the
//! text of a dry run, and the refusal.

use super::{Section, number_of};
use crate::edit::resolve::AmbiguousLines;
use crate::edit::structure::{Break, Earlier, Mistake, Suggestion};
use crate::json::quoted;
use hashline_base::error::{Mention, Message};
use hashline_lines::dialect::Dialect;
use hashline_lines::lines::{LineIndex, Unit};
use hashline_lines::rows::{one_line, version_header};
use hashline_lines::tag::Tag;
use hashline_memory::ShownLines;

/// A text whose lines a report quotes.
struct QuotedText<'a> {
    dialect: &'static Dialect,
    text: &'a [u8],
    index: LineIndex,
    ambiguous: &'a AmbiguousLines,
}

impl<'a> QuotedText<'a> {
    fn new(
        dialect: &'static Dialect,
        text: &'a [u8],
        ambiguous: &'a AmbiguousLines,
    ) -> QuotedText<'a> {
        QuotedText { dialect, text, index: LineIndex::new(text, Unit::Byte), ambiguous }
    }

    fn line(&self, number: u64) -> &'a [u8] {
        self.index.span(self.text, number).map_or(b"", |span| span.text(self.text))
    }

    /// The line as a read shows it. Its text is the hint of the anchor, so the anchor cannot mean
    /// another line with the same hash.
    fn row(&self, number: u64) -> String {
        self.section(vec![number]).text(self.ambiguous).trim_end_matches('\n').to_owned()
    }

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

/// The lines of a syntax error, with their anchors.
pub fn fault_rows(dialect: &'static Dialect, text: &[u8], found: &Break) -> String {
    let certain = AmbiguousLines::default();
    QuotedText::new(dialect, text, &certain).section(lines_of(found)).text(&certain)
}

fn lines_of(found: &Break) -> Vec<u64> {
    found.opened.into_iter().chain([found.line]).collect()
}

/// The message about a file that a patch breaks.
#[derive(Default)]
pub struct BreakMessage {
    /// The text of the warning or the refusal.
    pub message: Message,
    /// The lines that it quotes, in the text after the patch.
    pub shown: ShownLines,
    /// The numbers of these lines, with their hashes.
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
    /// The edit that was probably intended.
    pub suggestion: Option<&'a Suggestion>,
}

impl BreakReport<'_> {
    /// The warning after the patch was applied: the error, its lines, and a call that turns the
    /// file into what was probably intended. `text` is the text after the patch.
    pub fn warning(&self, text: &[u8], ambiguous: &AmbiguousLines) -> BreakMessage {
        let after = QuotedText::new(self.dialect, text, ambiguous);
        let fix = self.suggestion.map(|one| (one, fix_of(&after, self.path, one)));
        let mut numbers = lines_of(self.found);
        numbers.extend(fix.iter().flat_map(|(_, fix)| fix.lines.clone()));
        let BreakMessage { mut message, shown, anchors } = self.fault(&after, numbers);
        if let Some((one, fix)) = fix {
            message = message
                + "\nIf "
                + intention(one)
                + format!(", send {}: then it parses.", fix.request);
        }
        BreakMessage { message, shown, anchors }
    }

    /// The error, and these lines of the text after the patch.
    fn fault(&self, after: &QuotedText<'_>, numbers: Vec<u64>) -> BreakMessage {
        let Break { earlier, line, what, .. } = self.found;
        let section = after.section(numbers);
        let path = one_line(self.path);
        let (shown, anchors) = (section.shown(), section.anchored_lines().collect());
        let text = section.text(after.ambiguous);
        let rows = text.trim_end_matches('\n');
        let how = match earlier {
            Earlier::Clean => "parsed before and does not now",
            Earlier::Unclean => "has a new syntax error",
            Earlier::New => "does not parse",
        };
        let message = format!("{path} {how}: line {line}: {what}.\n{rows}");
        BreakMessage { message: message.into(), shown, anchors }
    }

    /// The warning of a dry run: the error, and how to change the patch before it is sent.
    /// `ambiguous` are lines of the text before.
    pub fn dry_run(&self, before: &[u8], after: &[u8], ambiguous: &AmbiguousLines) -> BreakMessage {
        let certain = AmbiguousLines::default();
        let after = QuotedText::new(self.dialect, after, &certain);
        let mut warning = self.fault(&after, lines_of(self.found));
        let correction = self.suggestion.map(|one| self.correction(before, one, ambiguous));
        if let Some(correction) = correction {
            warning.message = warning.message + "\n" + correction;
        }
        warning
    }

    /// The refusal of a patch that would break the file.
    pub fn refusal(&self, before: &[u8], ambiguous: &AmbiguousLines) -> Message {
        let Break { earlier, line, what, .. } = self.found;
        let path = one_line(self.path);
        let correction = self.suggestion.map(|one| self.correction(before, one, ambiguous));
        let correction = correction.map(|correction| Message::from(". ") + correction);
        let how = match earlier {
            Earlier::Clean => "parses now and would not after the patch",
            Earlier::Unclean | Earlier::New => "would have a new syntax error after the patch",
        };
        Message::from(format!(
            "{path} {how}: line {line} of the result: {what}. Fix the text or the range"
        )) + correction.unwrap_or_default()
    }

    /// How to change an operation so that the file parses.
    fn correction(&self, before: &[u8], one: &Suggestion, ambiguous: &AmbiguousLines) -> Message {
        let Suggestion { operation, mistake, line, .. } = one;
        let row = || QuotedText::new(self.dialect, before, ambiguous).row(*line);
        let how = match mistake {
            Mistake::End(_) => format!(" ended at `{}`", row()),
            Mistake::Start(_) => format!(" started at `{}`", row()),
            Mistake::FirstLine => {
                format!(" omitted the first line of its text, which repeats line {line}")
            }
            Mistake::LastLine => {
                format!(" omitted the last line of its text, which repeats line {line}")
            }
        };
        Message::from("The result would parse if ")
            + Mention::Operation(*operation)
            + format!("{how}.")
    }
}

/// The intended operation, as a clause after "if".
fn intention(suggestion: &Suggestion) -> Message {
    let Suggestion { operation, mistake, line, .. } = suggestion;
    let operation = Mention::Operation(*operation);
    let unintended = |which: &str| {
        Message::from(format!("the {which} line of the text of "))
            + operation
            + format!(", which repeats line {line}, is a mistake")
    };
    match mistake {
        Mistake::End(by) => operation + format!(" was meant to end {}", lines_off(*by)),
        Mistake::Start(by) => operation + format!(" was meant to start {}", lines_off(*by)),
        Mistake::FirstLine => unintended("first"),
        Mistake::LastLine => unintended("last"),
    }
}

fn lines_off(by: i64) -> String {
    let way = if by > 0 { "earlier" } else { "later" };
    format!("{} {way}", number_of(by.unsigned_abs(), "line"))
}

/// A call that fixes a file, and the lines that it names.
struct Fix {
    request: String,
    lines: Vec<u64>,
}

/// The call that replaces the text with the suggested one. They differ in one run of lines.
fn fix_of(now: &QuotedText<'_>, path: &str, suggestion: &Suggestion) -> Fix {
    let certain = AmbiguousLines::default();
    let wanted = QuotedText::new(now.dialect, &suggestion.text, &certain);
    let mistake = suggestion.mistake;
    let (own, other) = (now.index.count(), wanted.index.count());
    let most = own.min(other);
    // If two lines are equal, the line that the patch added is removed: the first of the two, unless
    // the new text repeats the line above it.
    let same_above = |line: &u64| now.line(*line) == wanted.line(*line);
    let same_below = |back: &u64| now.line(own - back) == wanted.line(other - back);
    let (above, below) = if mistake == Mistake::FirstLine {
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
        return fix_as_script(now, path, (first, last), &text);
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
    Fix { request: format!("{{\"operations\":[{{{}}}]}}", fields.join(",")), lines }
}

/// The same call in oh-my-pi's language. It replaces the lines from `first` to `last`; if
/// `last < first`, it inserts before `first`.
fn fix_as_script(
    now: &QuotedText<'_>,
    path: &str,
    (first, last): (u64, u64),
    text: &[String],
) -> Fix {
    let (head, lines) = match (first <= last, text.is_empty()) {
        (true, true) => (format!("CUT {first}.={last}"), vec![first, last]),
        (true, false) => (format!("PUT {first}.={last}:"), vec![first, last]),
        (false, _) if first == 1 => ("PUT <1:".to_owned(), vec![1]),
        (false, _) => (format!("PUT >{}:", first - 1), vec![first - 1]),
    };
    let rows = [version_header(path, Tag::of(now.text)), head];
    let rows = rows.into_iter().chain(text.iter().map(|line| format!("+{line}")));
    let patch = rows.collect::<Vec<_>>().join("\n");
    Fix { request: format!("{{\"patch\":{}}}", quoted(&patch)), lines }
}
