//! Lines that were indented anew since they were shown: their hash is the same, since it leaves
//! white space out, and a text with the old indentation takes their place.
//!
//! Without a memory this is only a guess, so it is told and nothing is changed.

use super::{EditContext, EditSite, ModelText, equal_ignoring_whitespace, indentation};
use hashline_lines::anchor::Hint;
use hashline_lines::similarity::similarity;

/// A new line is the old one, changed, when it is more than this alike to it.
const ALIKE_MIN: f64 = 0.5;

/// A line whose new text is indented otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reindented {
    /// The line.
    pub line: u64,
    /// Its indentation in the file.
    pub old: String,
    /// That of its new text.
    pub new: String,
}

/// The line that a text replaces, and indents as it may have been shown and no longer is. With the
/// text of the line behind its anchor, that says how it was shown; without, a new line that is
/// like the old one but for its indentation, at the start or the end of the text.
pub fn reindented(
    context: &EditContext<'_, '_>,
    draft: &ModelText,
    hint: Option<&Hint>,
) -> Option<Reindented> {
    let EditSite::Lines(first, last) = draft.site else {
        return None;
    };
    let replaced = context.replaced(draft);
    // A text that changes nothing but the indentation means to.
    if equal_ignoring_whitespace(&replaced, &draft.lines) {
        return None;
    }
    let pair = |line: u64, new: &str| {
        let old = context.text(line);
        let (is, was) = (indentation(&old), indentation(new));
        let is_filled = !old.trim().is_empty() && !new.trim().is_empty();
        let found = Reindented { line, old: is.to_owned(), new: was.to_owned() };
        (is_filled && is != was).then_some((found, similarity(&old, new) > ALIKE_MIN))
    };
    let (start, end) = (draft.lines.first()?, draft.lines.last()?);
    if let Some(hint) = hint {
        let (found, _) = pair(first, start)?;
        return Some(found).filter(|found| hint.indentation() == found.new);
    }
    let pairs = [pair(first, start), pair(last, end)];
    pairs.into_iter().flatten().find(|(_, is_alike)| *is_alike).map(|(found, _)| found)
}
