//! Classifies one row of a patch in oh-my-pi's language, independent of the rows around it.

use crate::{HunkGap, HunkLines, Register};
use hashline_lines::anchor::quote;
use hashline_lines::tag::Tag;

/// A row, without its line terminator.
#[derive(Debug, PartialEq)]
pub(super) enum ScriptRow<'a> {
    /// Only whitespace.
    Blank,
    /// `*** Begin Patch`
    Begin,
    /// `*** End Patch`, or `*** Abort`, which marks an aborted call.
    End,
    /// `[path#TAG]`
    Header(&'a str, Tag),
    /// The head of a hunk.
    Head(HunkHead),
    /// `+text`
    Plus(&'a str),
    /// An invalid header or head, with the reason.
    Wrong(String),
    /// Any other row.
    Text(&'a str),
}

/// The head of a hunk.
#[derive(Debug, PartialEq)]
pub(super) enum HunkHead {
    PutLines(HunkLines, Register, Colon),
    PutGap(HunkGap, Register, Colon),
    Cut(HunkLines, Register, Colon),
    Remove,
    Move(String),
}

/// Whether a head ends in `:`.
pub(super) type Colon = bool;

/// The valid heads, for messages.
const HEADS: &str = "write PUT N.=M:, PUT N*:, PUT <N:, PUT >N: or PUT >N*: with rows that begin with +, or PUT … @name, CUT N.=M, CUT N*, REM or MV PATH";

impl<'a> ScriptRow<'a> {
    pub(super) fn of(text: &'a str) -> ScriptRow<'a> {
        if let Some(body) = text.strip_prefix('+') {
            return ScriptRow::Plus(body);
        }
        let trimmed = text.trim();
        match trimmed {
            "" => return ScriptRow::Blank,
            "*** Begin Patch" => return ScriptRow::Begin,
            "*** End Patch" | "*** Abort" => return ScriptRow::End,
            _ => {}
        }
        if text.starts_with('[') && trimmed.ends_with(']') {
            return header(trimmed);
        }
        match head(trimmed) {
            Some(Ok(head)) => ScriptRow::Head(head),
            Some(Err(why)) => ScriptRow::Wrong(why),
            None => ScriptRow::Text(text),
        }
    }
}

fn header(row: &str) -> ScriptRow<'_> {
    let inside = &row[1..row.len() - 1];
    let Some((path, tag)) = inside.rsplit_once('#') else {
        return ScriptRow::Wrong(format!(
            "{} has no tag: write [path#TAG], with the tag of the version whose lines are named; a row of new text begins with +",
            quote(row)
        ));
    };
    let path = unquoted(path.trim());
    match Tag::parse(tag.trim()).filter(|_| !path.is_empty()) {
        Some(tag) => ScriptRow::Header(path, tag),
        None => ScriptRow::Wrong(format!(
            "{} is not a header: write [path#TAG], where TAG is four hexadecimal digits; a row of new text begins with +",
            quote(row)
        )),
    }
}

/// A path without quotes around it.
fn unquoted(path: &str) -> &str {
    let inside = |mark: char| path.strip_prefix(mark)?.strip_suffix(mark);
    inside('"').or_else(|| inside('\'')).unwrap_or(path)
}

/// Whether a row is a valid head of a hunk.
pub(super) fn is_head(row: &str) -> bool {
    matches!(head(row.trim()), Some(Ok(_)))
}

/// Parses a head, or explains why it is invalid; `None` if the row does not begin like a head.
fn head(row: &str) -> Option<Result<HunkHead, String>> {
    if row == "REM" {
        return Some(Ok(HunkHead::Remove));
    }
    if row == "MV" {
        return Some(Ok(HunkHead::Move(String::new())));
    }
    let (word, rest) = row.split_once(char::is_whitespace)?;
    let is_target_start = |next: char| next.is_ascii_digit() || "<>@$".contains(next);
    match (word, rest.trim_start()) {
        ("MV", rest) => Some(Ok(HunkHead::Move(unquoted(rest).to_owned()))),
        ("PUT" | "CUT", rest) if rest.starts_with(is_target_start) => {
            Some(lines_head(word == "CUT", row, rest))
        }
        _ => None,
    }
}

/// Parses the head of a hunk that names lines.
fn lines_head(is_cut: bool, row: &str, rest: &str) -> Result<HunkHead, String> {
    let invalid = || format!("{} is not a hunk: {HEADS}", quote(row));
    let mut scan = Scan { rest };
    let target = scan.target().ok_or_else(invalid)?;
    let register = scan.register().ok_or_else(invalid)?;
    let colon = scan.takes(":");
    if !scan.rest.trim().is_empty() {
        return Err(invalid());
    }
    let target = target.checked(row)?;
    match (is_cut, target) {
        (true, HunkTarget::Lines(lines)) => Ok(HunkHead::Cut(lines, register, colon)),
        (true, HunkTarget::Gap(_)) => Err(format!("{} names no lines to cut: {HEADS}", quote(row))),
        (false, HunkTarget::Lines(lines)) => Ok(HunkHead::PutLines(lines, register, colon)),
        (false, HunkTarget::Gap(gap)) => Ok(HunkHead::PutGap(gap, register, colon)),
    }
}

/// The lines or the position that a head names.
#[derive(Clone, Copy)]
enum HunkTarget {
    Lines(HunkLines),
    Gap(HunkGap),
}

impl HunkTarget {
    /// Refuses ranges that are reversed, and line 0.
    fn checked(self, row: &str) -> Result<HunkTarget, String> {
        match self {
            HunkTarget::Lines(HunkLines::Range(first, last)) if first > last => Err(format!(
                "{} ends before it begins: both are line numbers, and the second is the last line of the range, not a count",
                quote(row)
            )),
            HunkTarget::Lines(HunkLines::Range(0, _) | HunkLines::Block(0))
            | HunkTarget::Gap(HunkGap::Before(0) | HunkGap::After(0) | HunkGap::AfterBlock(0)) => {
                Err(format!(
                    "{} names line 0: lines are numbered from 1; PUT <1: is the start of the file",
                    quote(row)
                ))
            }
            target => Ok(target),
        }
    }
}

/// The separators between the numbers of a range: that of the grammar, and those of other tools.
const SEPARATORS: [&str; 6] = [".=", "..", ".", "-", "…", "–"];

/// Scans a head from left to right.
struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    /// Skips whitespace and `mark` if `mark` is next.
    fn takes(&mut self, mark: &str) -> bool {
        let rest = self.rest.trim_start();
        match rest.strip_prefix(mark) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn number(&mut self) -> Option<u32> {
        let rest = self.rest.trim_start();
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let number = rest[..digits].parse().ok()?;
        self.rest = &rest[digits..];
        Some(number)
    }

    fn target(&mut self) -> Option<HunkTarget> {
        if self.takes("<") {
            return Some(HunkTarget::Gap(HunkGap::Before(self.number()?)));
        }
        if self.takes(">") {
            if self.takes("$") {
                return Some(HunkTarget::Gap(HunkGap::End));
            }
            let line = self.number()?;
            let is_block = self.is_block();
            let gap = if is_block { HunkGap::AfterBlock(line) } else { HunkGap::After(line) };
            return Some(HunkTarget::Gap(gap));
        }
        let first = self.number()?;
        if self.is_block() {
            return Some(HunkTarget::Lines(HunkLines::Block(first)));
        }
        let last = self.range_end(first);
        Some(HunkTarget::Lines(HunkLines::Range(first, last)))
    }

    /// Consumes a star directly after a number.
    fn is_block(&mut self) -> bool {
        let starred = self.rest.strip_prefix('*');
        self.rest = starred.unwrap_or(self.rest);
        starred.is_some()
    }

    /// Consumes the end of a range; a single number is both its first and its last line.
    fn range_end(&mut self, first: u32) -> u32 {
        SEPARATORS.iter().any(|separator| self.takes(separator));
        self.number().unwrap_or(first)
    }

    /// Parses `@name`, if it is present. Returns `None` for `@` without a name.
    fn register(&mut self) -> Option<Register> {
        if !self.takes("@") {
            return Some(None);
        }
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let (name, rest) = self.rest.split_at(self.rest.bytes().take_while(is_name).count());
        self.rest = rest;
        (!name.is_empty()).then(|| Some(name.to_owned()))
    }
}

/// Parses a range with a colon and nothing else, which is short for `PUT` with this range.
pub(super) fn bare_range(row: &str) -> Option<HunkLines> {
    let mut scan = Scan { rest: row.trim() };
    let first = scan.number().filter(|&first| first > 0)?;
    if !SEPARATORS.iter().any(|separator| scan.takes(separator)) {
        return None;
    }
    let last = scan.number().filter(|&last| last >= first)?;
    (scan.takes(":") && scan.rest.is_empty()).then_some(HunkLines::Range(first, last))
}

/// Parses a line in the form in which reads show it: `N:text`, or `N|text`.
pub(super) fn shown_row(row: &str) -> Option<(u32, &str)> {
    let mut scan = Scan { rest: row };
    let line = scan.number().filter(|&line| line > 0)?;
    let text = scan.rest.strip_prefix([':', '|'])?;
    Some((line, text))
}

/// Whether a row marks lines that a read has omitted.
pub(super) fn is_elision(row: &str) -> bool {
    let row = row.trim();
    if matches!(row, "…" | ".." | "...") {
        return true;
    }
    let mut scan = Scan { rest: row };
    let is_range = scan.number().is_some() && scan.takes("-") && scan.number().is_some();
    is_range && scan.takes(":") && matches!(scan.rest.trim(), "…" | ".." | "...")
}
