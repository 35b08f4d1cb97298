//! Searches for the edits that a model probably intended when its edits break a file: small
//! variants of them. If exactly one variant parses, it is suggested. It is never applied, because
//! one in six variants of correct edits that do not parse alone parses as well.

use std::borrow::Cow;
use std::cell::Cell;

use hashline_syntax::Budget;

use super::SyntaxTree;
use hashline_lines::lines::{LineIndex, Lines, Unit};

/// In files with more edits, no variants are tried.
const EDITS_LIMIT: usize = 8;

/// The budget of the parser for all variants of a file, in progress reports. An expensive text of
/// [`SOURCE_LIMIT_BYTES`](super::SOURCE_LIMIT_BYTES) takes as many.
const WORK_LIMIT_REPORTS: u32 = 4_000;

/// An edit of a file, in the line numbers before the patch.
#[derive(Clone)]
pub struct LineReplacement<'a> {
    /// The operation, if the edit is a single operation with anchors.
    pub operation: Option<usize>,
    /// The line before it, or 0.
    pub after_line: u64,
    /// The number of lines that it replaces.
    pub old_lines: u64,
    /// Its new lines.
    pub text: Cow<'a, [u8]>,
}

/// A mistake that an edit may contain.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    /// Its range ends this many lines too late; if negative, too early.
    End(i64),
    /// Its range starts this many lines too late; if negative, too early.
    Start(i64),
    /// The first line of its text repeats the line above.
    FirstLine,
    /// The last line of its text repeats the line below.
    LastLine,
}

/// All mistakes. If correcting two of them gives the same text, the first is suggested.
const MISTAKES: [Mistake; 8] = [
    Mistake::LastLine,
    Mistake::FirstLine,
    Mistake::End(1),
    Mistake::End(-1),
    Mistake::End(2),
    Mistake::End(-2),
    Mistake::Start(1),
    Mistake::Start(-1),
];

/// A variant of the edits of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Suggestion {
    /// The operation that is changed.
    pub operation: usize,
    /// The mistake that it probably contains.
    pub mistake: Mistake,
    /// A line of the text before the patch: where the range of the operation should start or end,
    /// or which its text repeats.
    pub line: u64,
    /// The text of the file with this variant.
    pub text: Vec<u8>,
}

/// The only variant of the edits that parses. If there are too many edits, the iterator is not
/// consumed. `is_unclosed` says that a closing bracket is missing. A variant that removes more
/// lines at the end is then not returned: it parses because it also removes the opening bracket or
/// the next block.
pub fn suggestion<'a>(
    before: &SyntaxTree,
    is_unclosed: bool,
    edits: impl ExactSizeIterator<Item = LineReplacement<'a>>,
    budget: &Budget<'_>,
) -> Option<Suggestion> {
    if edits.len() > EDITS_LIMIT {
        return None;
    }
    let edits: &[LineReplacement<'_>] = &edits.collect::<Vec<_>>();
    let text = before.0.text();
    let index = &LineIndex::new(text, Unit::Byte);
    let file = File { text, index, edits };
    let (mut found, mut work): (Option<Suggestion>, _) = (None, WORK_LIMIT_REPORTS);
    for at in 0..edits.len() {
        for mistake in MISTAKES {
            let Some(variant) = file.variant(at, mistake) else { continue };
            let is_known = found.as_ref().is_some_and(|found| found.text == variant.text);
            if is_known || variant.text == text {
                continue;
            }
            let is_clean = before.0.would_be_clean(&variant.text[..], &mut work, budget);
            if work == 0 || budget.is_spent() || (is_clean && found.is_some()) {
                return None;
            }
            if is_clean {
                found = Some(variant);
            }
        }
    }
    found.filter(|found| !(is_unclosed && matches!(found.mistake, Mistake::End(by) if by < 0)))
}

/// Parses a file with single edits, each applied to the same text.
pub struct TrialParser<'a> {
    budget: &'a Budget<'a>,
    /// The tree and the lines of the file, if it parses.
    before: Option<(SyntaxTree, LineIndex)>,
    work: Cell<u32>,
}

impl<'a> TrialParser<'a> {
    /// Parses the text without edits.
    pub fn of(path: &str, text: &[u8], budget: &'a Budget<'a>) -> TrialParser<'a> {
        let before = SyntaxTree::clean(path, text, budget);
        let before = before.map(|tree| (tree, LineIndex::new(text, Unit::Byte)));
        TrialParser { budget, before, work: Cell::new(WORK_LIMIT_REPORTS) }
    }

    /// Whether the file parses with `lines` in place of the lines from `first` to `last`; `None` if
    /// that is unknown.
    pub fn parses(&self, first: u64, last: u64, lines: &[String]) -> Option<bool> {
        let (SyntaxTree(before), index) = self.before.as_ref()?;
        let file = File { text: before.text(), index, edits: &[] };
        let edit = LineReplacement {
            operation: None,
            after_line: first - 1,
            old_lines: last + 1 - first,
            text: Cow::Owned(lines.join("\n").into_bytes()),
        };
        let mut work = self.work.get();
        let text = file.with([&edit].into_iter());
        let is_clean = before.would_be_clean(text, &mut work, self.budget);
        self.work.set(work);
        (work > 0 && !self.budget.is_spent()).then_some(is_clean)
    }
}

/// A file with its edits, sorted by line.
struct File<'a> {
    text: &'a [u8],
    index: &'a LineIndex,
    edits: &'a [LineReplacement<'a>],
}

impl File<'_> {
    /// The file with one edit corrected; `None` if the edit cannot contain this mistake.
    fn variant(&self, at: usize, mistake: Mistake) -> Option<Suggestion> {
        let edit = &self.edits[at];
        let operation = edit.operation?;
        let (mut first, mut last) = (edit.after_line + 1, edit.after_line + edit.old_lines);
        let mut text = &edit.text[..];
        let line = match mistake {
            Mistake::End(by) => {
                last = last.checked_add_signed(-by)?;
                last
            }
            Mistake::Start(by) => {
                first = first.checked_add_signed(-by)?;
                first
            }
            Mistake::FirstLine => {
                let own = Lines::new(text, Unit::Byte).next()?;
                let above = first - 1;
                if own.text(text) != self.line(above)? {
                    return None;
                }
                text = &text[own.end..];
                above
            }
            Mistake::LastLine => {
                let own = Lines::new(text, Unit::Byte).last()?;
                let below = last + 1;
                if own.text(text) != self.line(below)? {
                    return None;
                }
                text = &text[..own.start];
                below
            }
        };
        let is_range = edit.old_lines > 0;
        let is_valid = match mistake {
            Mistake::End(_) | Mistake::Start(_) => is_range && first <= last,
            // An insertion must keep at least one line.
            Mistake::FirstLine | Mistake::LastLine => is_range || !text.is_empty(),
        };
        let above = at.checked_sub(1).map(|above| &self.edits[above]);
        let floor = above.map_or(0, |above| above.after_line + above.old_lines);
        let ceiling = self.edits.get(at + 1).map_or(self.index.count(), |below| below.after_line);
        if !is_valid || first <= floor || last > ceiling {
            return None;
        }
        let (after_line, old_lines) = (first - 1, last + 1 - first);
        let varied =
            LineReplacement { operation: None, after_line, old_lines, text: Cow::Borrowed(text) };
        let edits = self.edits.iter().enumerate();
        let edits = edits.map(|(index, edit)| if index == at { &varied } else { edit });
        Some(Suggestion { operation, mistake, line, text: self.with(edits) })
    }

    fn line(&self, number: u64) -> Option<&[u8]> {
        Some(self.index.span(self.text, number)?.text(self.text))
    }

    /// The offset of the end of a line; 0 for line 0.
    fn end_of(&self, line: u64) -> usize {
        if line == 0 {
            return 0;
        }
        self.index.span(self.text, line).map_or(self.text.len(), |span| span.end)
    }

    fn with<'e>(&self, edits: impl Iterator<Item = &'e LineReplacement<'e>>) -> Vec<u8> {
        let mut out = Vec::with_capacity(self.text.len());
        let mut at = 0;
        for edit in edits {
            let start = self.end_of(edit.after_line);
            let end = self.end_of(edit.after_line + edit.old_lines);
            out.extend_from_slice(&self.text[at..start]);
            out.extend_from_slice(&edit.text);
            let is_open = !edit.text.is_empty() && !edit.text.ends_with(b"\n");
            if is_open && end < self.text.len() {
                out.push(b'\n');
            }
            at = end;
        }
        out.extend_from_slice(&self.text[at..]);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regression_edits_beyond_the_limit_are_not_computed() {
        let before = SyntaxTree::clean("a.rs", b"fn a() {}\n", &Budget::unattended()).unwrap();
        for (count, expected) in [(EDITS_LIMIT, EDITS_LIMIT), (EDITS_LIMIT + 1, 0), (10_000, 0)] {
            let made = Cell::new(0);
            let edits = (0..count).map(|_| {
                made.set(made.get() + 1);
                let text = Cow::Borrowed(&b"x\n"[..]);
                LineReplacement { operation: None, after_line: 1, old_lines: 0, text }
            });
            assert_eq!(suggestion(&before, false, edits, &Budget::unattended()), None);
            assert_eq!(made.get(), expected, "of {count}");
        }
    }
}
