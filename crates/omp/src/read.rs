//! Parses a text in oh-my-pi's language: sections, or all syntax errors.

use std::collections::HashSet;

use crate::body::{BodyRow, body};
use crate::rows::{HunkHead, ScriptRow, bare_range, is_elision, is_head, shown_row};
use crate::{HunkAct, HunkLines, Script, ScriptHunk, ScriptNote, ScriptProblem, Section};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Result as CoreResult};
use hashline_lines::lines::{Lines, Unit};

/// The maximum number of hunks of a patch.
pub const HUNKS_LIMIT: usize = 10_000;

/// The maximum number of problems that are reported for one text.
const MAX_PROBLEMS: usize = 100;

/// A parsed patch, or its syntax errors.
pub type ReadScript = Result<Script, Vec<ScriptProblem>>;

/// Parses a patch. Fails when it is cancelled, or when the patch has more than [`HUNKS_LIMIT`]
/// hunks.
pub fn read_script(text: &str, cancel: &Cancel) -> CoreResult<ReadScript> {
    let mut reader = Reader::default();
    let mut watch = cancel.watch();
    for (row, span) in (1u64..).zip(Lines::new(text.as_bytes(), Unit::Byte)) {
        watch.pass(span.end - span.start)?;
        let line = &text[span.start..span.end];
        let line = line.strip_suffix('\n').unwrap_or(line);
        let line = line.strip_suffix('\r').unwrap_or(line);
        if reader.row(row, line) == Next::Stop {
            break;
        }
        if reader.hunks > HUNKS_LIMIT {
            return Err(Error::argument(format!(
                "the patch has more than {HUNKS_LIMIT} hunks, the limit: split it"
            )));
        }
    }
    Ok(reader.finish())
}

/// Whether to continue with the next row.
#[derive(PartialEq)]
enum Next {
    More,
    Stop,
}

#[derive(Default)]
struct Reader<'a> {
    script: Script,
    problems: Vec<ScriptProblem>,
    /// The number of hunks begun so far.
    hunks: usize,
    open: OpenHunk<'a>,
    /// Whether a row that is not blank was read.
    has_begun: bool,
}

/// The state that decides what the next row belongs to.
#[derive(Default)]
enum OpenHunk<'a> {
    /// A section without hunks, or no section.
    #[default]
    Nothing,
    /// Rows in the form in which reads show lines; the line numbers so far.
    Shown(HashSet<u32>),
    /// A hunk with a body: the row of its head, its target, and the rows of the body so far.
    Body(u64, BodyTarget, Vec<BodyRow<'a>>),
    /// A hunk without a body, by its kind.
    Closed(&'static str),
    /// An invalid hunk: its further rows are not reported again.
    Wrong,
}

/// What the new lines of a body replace, or where they are inserted.
enum BodyTarget {
    Lines(HunkLines),
    Gap(crate::HunkGap),
}

const NO_SECTION: &str = "a patch begins with [path#TAG]: the path of a file and the tag of the version whose lines are named";
const STRAY: &str = "this row is in no hunk: write PUT N.=M:, PUT <N: or PUT >N: above it";
const BARE_RANGE: &str = "a range with a colon was taken as PUT for it";
const SHOWN_ROW: &str = "a row with a number was taken as PUT for that line";
const ELISION: &str = "a row that marks omitted lines was ignored";
const EMPTY_PUT: &str = "PUT without new lines was taken as CUT";
const CUT_COLON: &str = "the colon after CUT was ignored";
const HEAD_AS_TEXT: &str =
    "the row is new text, although it looks like the head of a hunk: remove the + if it is one";

impl<'a> Reader<'a> {
    fn row(&mut self, row: u64, text: &'a str) -> Next {
        let what = ScriptRow::of(text);
        let is_start = !self.has_begun;
        self.has_begun |= what != ScriptRow::Blank;
        match what {
            ScriptRow::End => return Next::Stop,
            ScriptRow::Begin if is_start => {}
            ScriptRow::Header(path, tag) => {
                self.close();
                let section = Section { path: path.to_owned(), tag, row, hunks: Vec::new() };
                self.script.sections.push(section);
            }
            _ if self.script.sections.is_empty() => {
                if what != ScriptRow::Blank {
                    let what = match what {
                        ScriptRow::Wrong(why) => why,
                        _ => NO_SECTION.to_owned(),
                    };
                    self.wrong(row, what);
                    return Next::Stop;
                }
            }
            ScriptRow::Head(head) => {
                self.close();
                self.head(row, head);
            }
            ScriptRow::Plus(body) => self.plus(row, body, text),
            ScriptRow::Wrong(why) => {
                self.close();
                self.hunks += 1;
                self.wrong(row, why);
                self.open = OpenHunk::Wrong;
            }
            ScriptRow::Blank | ScriptRow::Begin | ScriptRow::Text(_) => self.bare(row, text),
        }
        if self.problems.len() < MAX_PROBLEMS { Next::More } else { Next::Stop }
    }

    fn finish(mut self) -> ReadScript {
        self.close();
        if self.script.sections.is_empty() && self.problems.is_empty() {
            self.wrong(1, NO_SECTION.to_owned());
        }
        let is_empty = self.script.hunks().next().is_none();
        if let Some(section) = self.script.sections.first().filter(|_| is_empty)
            && self.problems.is_empty()
        {
            let (row, what) = (
                section.row,
                format!("[{}#{}] has no hunks: write them below it", section.path, section.tag),
            );
            self.wrong(row, what);
        }
        if self.problems.is_empty() { Ok(self.script) } else { Err(self.problems) }
    }

    fn head(&mut self, row: u64, head: HunkHead) {
        self.hunks += 1;
        match head {
            HunkHead::PutLines(lines, None, true) => {
                self.open = OpenHunk::Body(row, BodyTarget::Lines(lines), Vec::new());
            }
            HunkHead::PutGap(gap, None, true) => {
                self.open = OpenHunk::Body(row, BodyTarget::Gap(gap), Vec::new());
            }
            HunkHead::PutLines(_, Some(_), true) | HunkHead::PutGap(_, Some(_), true) => {
                self.refuse(row, "PUT … @name puts the lines of the register and takes no colon: remove the colon or @name".to_owned());
            }
            HunkHead::PutLines(lines, None, false) => {
                self.refuse(row, format!("PUT {lines} has neither new lines nor a register: write PUT {lines}: and rows that begin with +, or PUT {lines} @name"));
            }
            HunkHead::PutLines(lines, Some(name), false) => {
                self.push(row, HunkAct::PasteOver(lines, name), "PUT … @name");
            }
            HunkHead::PutGap(gap, register, false) => {
                self.push(row, HunkAct::Paste(gap, register), "PUT without a colon");
            }
            HunkHead::Cut(lines, register, colon) => {
                if colon {
                    self.note(row, CUT_COLON);
                }
                self.push(row, HunkAct::Cut(lines, register), "CUT");
            }
            HunkHead::Remove => self.push(row, HunkAct::Remove, "REM"),
            HunkHead::Move(to) if to.is_empty() => {
                self.refuse(row, "MV names no path: write MV PATH".to_owned());
            }
            HunkHead::Move(to) => self.push(row, HunkAct::Move(to), "MV"),
        }
    }

    /// A row that begins with `+`.
    fn plus(&mut self, row: u64, body: &'a str, text: &'a str) {
        match &mut self.open {
            OpenHunk::Body(_, _, rows) => {
                rows.push(BodyRow::Plus(body));
                if is_head(body) {
                    self.note(row, HEAD_AS_TEXT);
                }
            }
            _ => self.bare(row, text),
        }
    }

    /// A row without a leading `+`, or with one outside of a body.
    fn bare(&mut self, row: u64, text: &'a str) {
        if let OpenHunk::Body(_, _, rows) = &mut self.open {
            rows.push(BodyRow::Bare(text));
            return;
        }
        if text.trim().is_empty() {
            return;
        }
        match &mut self.open {
            OpenHunk::Wrong | OpenHunk::Body(..) => {}
            OpenHunk::Closed(kind) => {
                let what = format!(
                    "{kind} has no rows below it: new text goes below PUT N.=M:, PUT <N: or PUT >N:"
                );
                self.wrong(row, what);
                self.open = OpenHunk::Wrong;
            }
            OpenHunk::Nothing | OpenHunk::Shown(_) => self.before_hunks(row, text),
        }
    }

    /// A row above the first hunk of a section, which is usually copied from a read.
    fn before_hunks(&mut self, row: u64, text: &'a str) {
        if is_elision(text) {
            self.note(row, ELISION);
        } else if let Some(lines) = bare_range(text) {
            self.hunks += 1;
            self.note(row, BARE_RANGE);
            self.open = OpenHunk::Body(row, BodyTarget::Lines(lines), Vec::new());
        } else if let Some((line, text)) = shown_row(text) {
            self.hunks += 1;
            self.note(row, SHOWN_ROW);
            let mut shown = match std::mem::take(&mut self.open) {
                OpenHunk::Shown(shown) => shown,
                _ => HashSet::new(),
            };
            if !shown.insert(line) {
                let what = format!(
                    "line {line} is duplicated: write PUT {line}.={line}: and each new line below it, with a leading +"
                );
                self.wrong(row, what);
            }
            self.open = OpenHunk::Shown(shown);
            let lines = HunkLines::Range(line, line);
            self.add(row, HunkAct::Replace(lines, vec![text.to_owned()]));
        } else {
            self.hunks += 1;
            self.refuse(row, STRAY.to_owned());
        }
    }

    /// Ends the open hunk.
    fn close(&mut self) {
        let OpenHunk::Body(row, target, rows) = std::mem::take(&mut self.open) else { return };
        let at = |index: usize| row + 1 + index as u64;
        let lines = match body(&rows) {
            Ok((lines, notes)) => {
                notes.into_iter().for_each(|(index, what)| self.note(at(index), what));
                lines
            }
            Err((index, why)) => return self.wrong(at(index), why.to_owned()),
        };
        match target {
            BodyTarget::Lines(target) => {
                if lines.is_empty() {
                    self.note(row, EMPTY_PUT);
                }
                self.add(row, HunkAct::Replace(target, lines));
            }
            BodyTarget::Gap(gap) if lines.is_empty() => {
                let what = format!(
                    "PUT {gap}: has no new lines: write + rows below it, or remove the colon to put the lines of a register"
                );
                self.wrong(row, what);
            }
            BodyTarget::Gap(gap) => self.add(row, HunkAct::Insert(gap, lines)),
        }
    }

    /// Adds a hunk that has no body.
    fn push(&mut self, row: u64, act: HunkAct, kind: &'static str) {
        self.add(row, act);
        self.open = OpenHunk::Closed(kind);
    }

    fn add(&mut self, row: u64, act: HunkAct) {
        let section = self.script.sections.last_mut().expect("hunks are in sections");
        section.hunks.push(ScriptHunk { row, act });
    }

    /// The index of the hunk that was begun last.
    fn hunk(&self) -> usize {
        self.hunks.saturating_sub(1)
    }

    fn note(&mut self, row: u64, what: &'static str) {
        self.script.notes.push(ScriptNote { row, hunk: self.hunk(), what });
    }

    fn wrong(&mut self, row: u64, what: String) {
        self.problems.push(ScriptProblem { row, hunk: self.hunk(), what });
    }

    /// Reports an invalid hunk, and ignores the rows of its body.
    fn refuse(&mut self, row: u64, what: String) {
        self.wrong(row, what);
        self.open = OpenHunk::Wrong;
    }
}
