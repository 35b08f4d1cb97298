//! Replacements of lines whose indentation has changed since they were shown. The hash omits
//! whitespace, so their anchors are still valid, and the new text would restore the old
//! indentation.
//!
//! Without a memory this is only a guess, so it is a warning and the text is not changed.

use super::{EditContext, EditSite, ModelText, equal_ignoring_whitespace, indentation};
use hashline_lines::anchor::Hint;
use hashline_lines::similarity::similarity;

/// The text indented as others have indented its lines since they were shown.
pub(super) fn follow_indent(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
) -> Option<Vec<String>> {
    let (first, rest) = context.reindented.split_first()?;
    Some(rest.iter().fold(first.apply(&draft.lines), |lines, change| change.apply(&lines)))
}

/// A new line counts as a changed version of the old one above this similarity.
const SIMILARITY_MIN: f64 = 0.5;

/// A line whose new text has a different indentation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reindented {
    /// The line.
    pub line: u64,
    /// Its indentation in the file.
    pub old: String,
    /// The indentation of its new text.
    pub new: String,
    /// How the text as a whole is shifted; `None` if a hint proves the mistake.
    pub shift: Option<Shift>,
}

/// A text whose lines are indented unlike the old ones: the least depth before and after.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Shift {
    old: String,
    new: String,
}

/// A replaced line whose new text has an indentation that it may have by mistake, or that the line
/// may have had when it was shown. A hint, the text after an anchor, says how the line was shown:
/// the first new line must have the indentation of the hint. Without a hint, the first or the last
/// new line must be similar to the old one, and the text as a whole must be indented differently:
/// the depth of its first line and its least depth.
pub fn reindented(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
    hint: Option<&Hint>,
) -> Option<Reindented> {
    let EditSite::Lines(first, last) = draft.site else {
        return None;
    };
    let replaced = context.replaced(draft);
    // A text that changes only the indentation does so on purpose.
    if equal_ignoring_whitespace(&replaced, &draft.lines) {
        return None;
    }
    let pair = |line: u64, new: &str| {
        let old = context.text(line);
        let (is, was) = (indentation(&old), indentation(new));
        let is_filled = !old.trim().is_empty() && !new.trim().is_empty();
        let found = Reindented { line, old: is.to_owned(), new: was.to_owned(), shift: None };
        (is_filled && is != was).then_some((found, similarity(&old, new) > SIMILARITY_MIN))
    };
    let (start, end) = (draft.lines.first()?, draft.lines.last()?);
    if let Some(hint) = hint {
        let (found, _) = pair(first, start)?;
        return Some(found).filter(|found| hint.indentation() == found.new);
    }
    let shift = shift(context, draft)?;
    let pairs = [pair(first, start), pair(last, end)];
    let (found, _) = pairs.into_iter().flatten().find(|(_, is_alike)| *is_alike)?;
    Some(Reindented { shift: Some(shift), ..found })
}

/// How a text is shifted: its first line, and its line of least depth, are indented unlike those of
/// the old lines. Otherwise only some lines are, such as arguments below a longer name.
pub fn shift(context: &EditContext<'_, '_>, draft: &ModelText) -> Option<Shift> {
    let replaced = context.replaced(draft);
    let (old, new) = depths(&replaced).zip(depths(&draft.lines))?;
    (old.first != new.first && old.least != new.least)
        .then(|| Shift { old: old.least.to_owned(), new: new.least.to_owned() })
}

/// The indentations of a text.
struct Depths<'l> {
    first: &'l str,
    least: &'l str,
}

fn depths(lines: &[impl AsRef<str>]) -> Option<Depths<'_>> {
    let filled = lines.iter().map(AsRef::as_ref).filter(|line| !line.trim().is_empty());
    let mut all = filled.map(indentation);
    let first = all.next()?;
    let least = all.fold(first, |one, next| if next.len() < one.len() { next } else { one });
    Some(Depths { first, least })
}
