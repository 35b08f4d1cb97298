//! Chooses the lines that a folded view omits: bodies first, so that most definitions stay visible.

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
use hashline_lines::rows::one_line;
use layout::{FoldableText, NamedLine};
use tree::FoldTree;

/// The default number of lines of a folded view.
pub const FOLD_LINES: u64 = 200;

/// How much to fold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Folding {
    /// To at most this number of lines.
    To(u64),
    /// To the default number of lines, if a limit would truncate the view and the language of the
    /// file is known.
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

/// Folded lines, and the outermost definitions that start in them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fold {
    pub lines: Range<u64>,
    pub names: Vec<String>,
}

/// A text to fold.
pub struct FoldedText<'a> {
    /// The path, from which the language is derived.
    pub path: &'a str,
    /// The text, UTF-8.
    pub text: &'a [u8],
    /// The dialect of the anchors in `open`.
    pub dialect: &'static Dialect,
    pub cancel: &'a Cancel,
    /// The budget for parsing.
    pub budget: &'a Budget<'a>,
}

impl FoldedText<'_> {
    /// The folded ranges of lines, sorted, with gaps between them. A range can be a single line
    /// where an opened range leaves one. `None` if `folding` requires a known language and there is
    /// none.
    pub fn folds(
        &self,
        folding: Folding,
        max_lines: Option<u64>,
        open: &[String],
    ) -> Result<Option<Vec<Fold>>> {
        let lines = folding.lines().min(max_lines.unwrap_or(u64::MAX));
        let layout = match (FoldableText::of_source(self.path, self.text, self.budget), folding) {
            (Some(layout), _) => layout,
            (None, Folding::InsteadOfCut) => return Ok(None),
            (None, Folding::To(_)) => FoldableText::of_indentation(self.text, self.cancel)?,
        };
        let index = LineIndex::new(self.text, Unit::Byte);
        if index.count() <= lines {
            return Ok(Some(Vec::new()));
        }
        let mut layout = layout;
        let names = std::mem::take(&mut layout.names);
        let folds = merged(FoldTree::new(layout, index.count()).folded_to(lines));
        let open = self.opened(&index, &folds, open)?;
        let folds = folds.into_iter().flat_map(|fold| subtract(fold, &open));
        Ok(Some(folds.map(|lines| Fold { names: names_in(&names, &lines), lines }).collect()))
    }

    /// The lines to show in full, sorted.
    fn opened(
        &self,
        index: &LineIndex,
        folds: &[Range<u64>],
        open: &[String],
    ) -> Result<Vec<Range<u64>>> {
        let mut opened = Vec::new();
        for name in open {
            if let Some(lines) = parse_fold_name(name) {
                opened.push(lines);
                continue;
            }
            let anchor = Anchor::parse(self.dialect, name).map_err(|_| invalid_fold_name(name))?;
            let above = u64::from(anchor.line);
            self.check_unchanged(index, &anchor, name)?;
            opened.extend(folds.iter().find(|fold| fold.start == above + 1).cloned());
        }
        opened.sort_by_key(|lines| lines.start);
        Ok(opened)
    }

    /// Checks that the line of an anchor is unchanged.
    fn check_unchanged(&self, index: &LineIndex, anchor: &Anchor, name: &str) -> Result<()> {
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
            "{path}: line {line} has changed since {} was shown, so the fold below it is unknown; read the file with fold again, or open lines such as \"14-80\"",
            quote(name)
        );
        Err(Error::at(Code::HashMismatch, path, message))
    }
}

/// Maximum number of bytes of names in the row of a fold.
const NAMES_LIMIT_BYTES: usize = 60;

/// The names of the outermost definitions that start in folded lines.
fn names_in(names: &[NamedLine], lines: &Range<u64>) -> Vec<String> {
    let from = names.partition_point(|named| named.line < lines.start);
    let to = names.partition_point(|named| named.line < lines.end);
    let inside = &names[from..to];
    let Some(outermost) = inside.iter().map(|named| named.depth).min() else { return Vec::new() };
    let outer = inside.iter().filter(|named| named.depth == outermost);
    outer.map(|named| named.name.clone()).collect()
}

/// The row that replaces folded lines.
pub fn fold_row(fold: &Fold) -> String {
    let Fold { lines, names } = fold;
    let mut row = format!("{} … {} lines", fold_name(lines), lines.end - lines.start);
    let names_start = row.len();
    for (at, name) in names.iter().enumerate() {
        let (separator, name) = (if at == 0 { ": " } else { ", " }, one_line(name));
        if row.len() - names_start + separator.len() + name.len() > NAMES_LIMIT_BYTES {
            row += if at == 0 { "" } else { ", …" };
            break;
        }
        row += separator;
        row += &name;
    }
    row
}

/// The name of a fold, by which a request opens it.
pub fn fold_name(lines: &Range<u64>) -> String {
    format!("{}-{}", lines.start, lines.end - 1)
}

/// Parses `14-80`, or a whole row that starts with it.
fn parse_fold_name(name: &str) -> Option<Range<u64>> {
    let (first, rest) = name.trim().split_once('-')?;
    let last = rest.split_ascii_whitespace().next()?;
    let (first, last) = (first.trim().parse().ok()?, last.parse::<u64>().ok()?);
    (first > 0 && last >= first).then(|| first..last.saturating_add(1))
}

fn invalid_fold_name(name: &str) -> Error {
    Error::argument(format!(
        "open has {}: use folded lines such as \"14-80\", or the anchor of the line above them",
        quote(name)
    ))
}

/// Sorts ranges and merges those that overlap or are adjacent.
fn merged(mut folds: Vec<Range<u64>>) -> Vec<Range<u64>> {
    folds.sort_unstable_by_key(|fold| fold.start);
    folds.dedup_by(|next, fold| {
        let touches = next.start <= fold.end;
        fold.end = fold.end.max(if touches { next.end } else { 0 });
        touches
    });
    folds
}

/// A range minus other ranges, which are sorted.
fn subtract(fold: Range<u64>, others: &[Range<u64>]) -> Vec<Range<u64>> {
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
    fn fold_names_round_trip() {
        assert_eq!(parse_fold_name("14-80"), Some(14..81));
        assert_eq!(parse_fold_name(" 14 - 80 … 67 lines"), Some(14..81));
        let fold = Fold { lines: 14..81, names: vec!["a".to_owned(), "b".repeat(60)] };
        assert_eq!(fold_row(&fold), "14-80 … 67 lines: a, …");
        assert_eq!(parse_fold_name(&fold_row(&fold)), Some(14..81));
        for wrong in ["14", "14:a3", "0-3", "9-3", "-", "a-b", "14-80:a3", "-3-5"] {
            assert_eq!(parse_fold_name(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn ranges_are_merged_and_subtracted() {
        assert_eq!(merged(vec![5..7, 1..3, 3..5, 9..10]), [1..7, 9..10]);
        assert_eq!(subtract(1..10, &[]).len(), 1);
        assert_eq!(subtract(1..10, &[0..2, 4..6, 5..7, 9..20]), [2..4, 7..9]);
        assert!(subtract(3..5, &[1..9, 9..10]).is_empty());
    }
}
