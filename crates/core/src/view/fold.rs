//! Which lines a folded view leaves out: bodies first of all, so that most definitions are seen.

mod layout;
mod tree;

use std::ops::Range;

use hashline_syntax::Budget;

use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use hashline_lines::anchor::{Anchor, quote};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use hashline_lines::lines::{LineIndex, Unit};
use layout::FoldableText;
use tree::FoldTree;

/// How many lines a folded view has if it is not said.
pub const FOLD_LINES: u64 = 200;

/// How far a view is folded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folding {
    /// To so many lines.
    To(u64),
    /// To the usual number of lines, where a limit would cut the view of a file whose structure is
    /// known.
    InsteadOfCut,
}

impl Folding {
    fn lines(self) -> u64 {
        match self {
            Folding::To(lines) => lines,
            Folding::InsteadOfCut => FOLD_LINES,
        }
    }
}

/// A text to fold.
pub struct FoldedText<'a> {
    /// What the file is called.
    pub path: &'a str,
    /// The text, UTF-8.
    pub text: &'a [u8],
    /// How its anchors are written.
    pub dialect: &'static Dialect,
    /// Asked now and then.
    pub cancel: &'a Cancel,
    /// What may be spent on its structure.
    pub budget: &'a Budget<'a>,
}

impl FoldedText<'_> {
    /// The stretches of lines that a view leaves out, in order, no two of them side by side; what
    /// is opened may leave one line of them. `None` where the file has to have a structure, and has
    /// none.
    pub fn left_out(
        &self,
        folding: Folding,
        most_lines: Option<u64>,
        open: &[String],
    ) -> Result<Option<Vec<Range<u64>>>> {
        let lines = folding.lines().min(most_lines.unwrap_or(u64::MAX));
        let layout = match (FoldableText::of_source(self.path, self.text, self.budget), folding) {
            (Some(layout), _) => layout,
            (None, Folding::InsteadOfCut) => return Ok(None),
            (None, Folding::To(_)) => FoldableText::of_indentation(self.text, self.cancel)?,
        };
        let index = LineIndex::new(self.text, Unit::Byte);
        if index.count() <= lines {
            return Ok(Some(Vec::new()));
        }
        let folds = joined(FoldTree::new(layout, index.count()).folded_to(lines));
        let open = self.opened(&index, &folds, open)?;
        Ok(Some(folds.into_iter().flat_map(|fold| without(fold, &open)).collect()))
    }

    /// The lines that are to be shown whole, in order.
    fn opened(
        &self,
        index: &LineIndex,
        folds: &[Range<u64>],
        open: &[String],
    ) -> Result<Vec<Range<u64>>> {
        let mut opened = Vec::new();
        for name in open {
            if let Some(lines) = lines_of_fold(name) {
                opened.push(lines);
                continue;
            }
            let anchor = Anchor::parse(self.dialect, name).map_err(|_| not_a_fold(name))?;
            let above = u64::from(anchor.line);
            self.check(index, &anchor, name)?;
            opened.extend(folds.iter().find(|fold| fold.start == above + 1).cloned());
        }
        opened.sort_by_key(|lines| lines.start);
        Ok(opened)
    }

    /// Whether the line of an anchor is still the one that was shown.
    fn check(&self, index: &LineIndex, anchor: &Anchor, name: &str) -> Result<()> {
        let line = u64::from(anchor.line);
        let text = index.span(self.text, line).map(|span| span.text(self.text));
        let is_same = text.is_some_and(|text| {
            hash_line(self.dialect, line, &String::from_utf8_lossy(text)) == anchor.hash
        });
        if is_same {
            return Ok(());
        }
        let path = self.path;
        let message = format!(
            "{path}: line {line} is not the line of {} any more, so what is folded below it is not known; read the file folded again, or name lines as \"14-80\"",
            quote(name)
        );
        Err(Error::at(Code::HashMismatch, path, message))
    }
}

/// The row that stands for lines that are left out.
pub fn fold_row(lines: &Range<u64>) -> String {
    format!("{} … {} lines", name_of_fold(lines), lines.end - lines.start)
}

/// The name by which lines that are left out are asked for.
pub fn name_of_fold(lines: &Range<u64>) -> String {
    format!("{}-{}", lines.start, lines.end - 1)
}

/// The lines of `14-80`, or of a whole row that begins with it.
fn lines_of_fold(name: &str) -> Option<Range<u64>> {
    let (first, rest) = name.trim().split_once('-')?;
    let last = rest.split_ascii_whitespace().next()?;
    let (first, last) = (first.trim().parse().ok()?, last.parse::<u64>().ok()?);
    (first > 0 && last >= first).then(|| first..last.saturating_add(1))
}

fn not_a_fold(name: &str) -> Error {
    Error::argument(format!(
        "open holds {}: expected lines that are folded, like \"14-80\", or the anchor of the line above them",
        quote(name)
    ))
}

/// Stretches in order, of which those side by side are one.
fn joined(mut folds: Vec<Range<u64>>) -> Vec<Range<u64>> {
    folds.sort_unstable_by_key(|fold| fold.start);
    folds.dedup_by(|next, fold| {
        let is_beside = next.start <= fold.end;
        fold.end = fold.end.max(if is_beside { next.end } else { 0 });
        is_beside
    });
    folds
}

/// What is left of a stretch without others, which are in order.
fn without(fold: Range<u64>, others: &[Range<u64>]) -> Vec<Range<u64>> {
    let (mut left, mut from) = (Vec::new(), fold.start);
    for other in others.iter().filter(|other| other.start < fold.end && other.end > fold.start) {
        if other.start > from {
            left.push(from..other.start);
        }
        from = from.max(other.end);
    }
    if from < fold.end {
        left.push(from..fold.end);
    }
    left
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_folds_are_read_back() {
        assert_eq!(lines_of_fold("14-80"), Some(14..81));
        assert_eq!(lines_of_fold(" 14 - 80 … 67 lines"), Some(14..81));
        assert_eq!(lines_of_fold(&fold_row(&(14..81))), Some(14..81));
        for wrong in ["14", "14:a3", "0-3", "9-3", "-", "a-b", "14-80:a3", "-3-5"] {
            assert_eq!(lines_of_fold(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn stretches_are_joined_and_cut() {
        assert_eq!(joined(vec![5..7, 1..3, 3..5, 9..10]), [1..7, 9..10]);
        assert_eq!(without(1..10, &[]).len(), 1);
        assert_eq!(without(1..10, &[0..2, 4..6, 5..7, 9..20]), [2..4, 7..9]);
        assert!(without(3..5, &[1..9, 9..10]).is_empty());
    }
}
