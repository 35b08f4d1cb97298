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
}

/// A replaced line whose new text has an indentation that the line may have had when it was shown.
/// A hint, the text after an anchor, says how the line was shown: the first new line must have the
/// indentation of the hint. Without a hint, the first or the last new line must be similar to the
/// old one.
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
        let found = Reindented { line, old: is.to_owned(), new: was.to_owned() };
        (is_filled && is != was).then_some((found, similarity(&old, new) > SIMILARITY_MIN))
    };
    let (start, end) = (draft.lines.first()?, draft.lines.last()?);
    if let Some(hint) = hint {
        let (found, _) = pair(first, start)?;
        return Some(found).filter(|found| hint.indentation() == found.new);
    }
    let pairs = [pair(first, start), pair(last, end)];
    pairs.into_iter().flatten().find(|(_, is_alike)| *is_alike).map(|(found, _)| found)
}
