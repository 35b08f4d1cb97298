//! One row of a patch in oh-my-pi's language: what it is by itself.

use crate::{HunkGap, HunkLines, Register};
use hashline_lines::anchor::quote;
use hashline_lines::tag::Tag;

/// A row, without its end.
#[derive(Debug, PartialEq)]
pub(super) enum ScriptRow<'a> {
    /// Nothing but white space.
    Blank,
    /// `*** Begin Patch`
    Begin,
    /// `*** End Patch`, or the mark of a call that was ended.
    End,
    /// `[path#TAG]`
    Header(&'a str, Tag),
    /// The head of a hunk.
    Head(HunkHead),
    /// `+text`
    Plus(&'a str),
    /// Something in brackets that is no header, or a head that is none: why.
    Wrong(String),
    /// Any other.
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

/// What a row says in general, for messages.
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

/// Whether a row reads like the head of a hunk.
pub(super) fn is_head(row: &str) -> bool {
    matches!(head(row.trim()), Some(Ok(_)))
}

/// The head that a row is, or why it is none; `None` if it does not begin like one.
fn head(row: &str) -> Option<Result<HunkHead, String>> {
    if row == "REM" {
        return Some(Ok(HunkHead::Remove));
    }
    if row == "MV" {
        return Some(Ok(HunkHead::Move(String::new())));
    }
    let (word, rest) = row.split_once(char::is_whitespace)?;
    let is_like_one = |next: char| next.is_ascii_digit() || "<>@$".contains(next);
    match (word, rest.trim_start()) {
        ("MV", rest) => Some(Ok(HunkHead::Move(unquoted(rest).to_owned()))),
        ("PUT" | "CUT", rest) if rest.starts_with(is_like_one) => {
            Some(lines_head(word == "CUT", row, rest))
        }
        _ => None,
    }
}

/// The head of a hunk that names lines.
fn lines_head(is_cut: bool, row: &str, rest: &str) -> Result<HunkHead, String> {
    let unread = || format!("{} is not a hunk: {HEADS}", quote(row));
    let mut scan = Scan { rest };
    let place = scan.place().ok_or_else(unread)?;
    let register = scan.register().ok_or_else(unread)?;
    let colon = scan.takes(":");
    if !scan.rest.trim().is_empty() {
        return Err(unread());
    }
    let place = place.checked(row)?;
    match (is_cut, place) {
        (true, HunkPlace::Lines(lines)) => Ok(HunkHead::Cut(lines, register, colon)),
        (true, HunkPlace::Gap(_)) => Err(format!("{} names no lines to cut: {HEADS}", quote(row))),
        (false, HunkPlace::Lines(lines)) => Ok(HunkHead::PutLines(lines, register, colon)),
        (false, HunkPlace::Gap(gap)) => Ok(HunkHead::PutGap(gap, register, colon)),
    }
}

/// What a head names.
#[derive(Clone, Copy)]
enum HunkPlace {
    Lines(HunkLines),
    Gap(HunkGap),
}

impl HunkPlace {
    /// Refuses what cannot be in any file.
    fn checked(self, row: &str) -> Result<HunkPlace, String> {
        match self {
            HunkPlace::Lines(HunkLines::Range(first, last)) if first > last => Err(format!(
                "{} ends before it begins: both are line numbers, and the second is the last line of the range, not a count",
                quote(row)
            )),
            HunkPlace::Lines(HunkLines::Range(0, _) | HunkLines::Block(0))
            | HunkPlace::Gap(HunkGap::Before(0) | HunkGap::After(0) | HunkGap::AfterBlock(0)) => {
                Err(format!(
                    "{} names line 0: lines are numbered from 1; PUT <1: is the start of the file",
                    quote(row)
                ))
            }
            place => Ok(place),
        }
    }
}

/// What is between the numbers of a range: the grammar's, and what others write there.
const SEPARATORS: [&str; 6] = [".=", "..", ".", "-", "…", "–"];

/// Reads a head from left to right.
struct Scan<'a> {
    rest: &'a str,
}

impl<'a> Scan<'a> {
    /// Skips white space, and then `mark` if it is there.
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

    fn place(&mut self) -> Option<HunkPlace> {
        if self.takes("<") {
            return Some(HunkPlace::Gap(HunkGap::Before(self.number()?)));
        }
        if self.takes(">") {
            if self.takes("$") {
                return Some(HunkPlace::Gap(HunkGap::End));
            }
            let line = self.number()?;
            let is_block = self.is_block();
            let gap = if is_block { HunkGap::AfterBlock(line) } else { HunkGap::After(line) };
            return Some(HunkPlace::Gap(gap));
        }
        let first = self.number()?;
        if self.is_block() {
            return Some(HunkPlace::Lines(HunkLines::Block(first)));
        }
        let last = self.range_end(first);
        Some(HunkPlace::Lines(HunkLines::Range(first, last)))
    }

    /// The star directly behind a number.
    fn is_block(&mut self) -> bool {
        let starred = self.rest.strip_prefix('*');
        self.rest = starred.unwrap_or(self.rest);
        starred.is_some()
    }

    /// The second number of a range; of one line the only one stands for both.
    fn range_end(&mut self, first: u32) -> u32 {
        SEPARATORS.iter().any(|separator| self.takes(separator));
        self.number().unwrap_or(first)
    }

    /// The register, if one is named; `None` if its name is none.
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

/// A range with a colon and nothing else, which stands for `PUT` of it.
pub(super) fn bare_range(row: &str) -> Option<HunkLines> {
    let mut scan = Scan { rest: row.trim() };
    let first = scan.number().filter(|&first| first > 0)?;
    if !SEPARATORS.iter().any(|separator| scan.takes(separator)) {
        return None;
    }
    let last = scan.number().filter(|&last| last >= first)?;
    (scan.takes(":") && scan.rest.is_empty()).then_some(HunkLines::Range(first, last))
}

/// A row as reads show it: `N:text`, or `N|text`.
pub(super) fn shown_row(row: &str) -> Option<(u32, &str)> {
    let mut scan = Scan { rest: row };
    let line = scan.number().filter(|&line| line > 0)?;
    let text = scan.rest.strip_prefix([':', '|'])?;
    Some((line, text))
}

/// A row that stands for lines that were left out of a read.
pub(super) fn is_elision(row: &str) -> bool {
    let row = row.trim();
    if matches!(row, "…" | ".." | "...") {
        return true;
    }
    let mut scan = Scan { rest: row };
    let is_range = scan.number().is_some() && scan.takes("-") && scan.number().is_some();
    is_range && scan.takes(":") && matches!(scan.rest.trim(), "…" | ".." | "...")
}
