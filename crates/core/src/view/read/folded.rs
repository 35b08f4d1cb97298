//! Renders a file with folds.

use std::ops::Range;

use super::{ReadRequest, Shown, ViewStart, offset_after_lines};
use crate::view::excerpt::Page;
use crate::view::fold::{FoldedText, Folding};
use crate::view::scope::Scope;
use hashline_base::error::{Error, Result};
use hashline_disk::bytes::Document;

/// Validates the fold options of a request.
pub fn check(request: &ReadRequest) -> Result<()> {
    if request.fold == Some(Folding::To(0)) {
        return Err(Error::argument("fold is 0: a folded view has at least one line"));
    }
    if request.search.is_some() && matches!(request.folding(), Some(Folding::To(_))) {
        return Err(Error::argument(
            "a read with search cannot be folded: omit fold and open, or omit search",
        ));
    }
    Ok(())
}

/// The view from a line on. `None` if `folding` requires a known language and there is none.
pub fn show(
    scope: &Scope<'_>,
    document: &Document,
    request: &ReadRequest,
    folding: Folding,
    from: ViewStart,
) -> Result<Option<Shown>> {
    let &Scope { dialect, cancel, budget, .. } = scope;
    let text = document.text();
    let folded = FoldedText { path: &request.name(), text, dialect, cancel, budget };
    let Some(folds) = folded.folds(folding, request.limits.max_lines, &request.open)? else {
        return Ok(None);
    };
    let mut page = Page::new(dialect, request.limits, 0).with_width(request.width());
    let ViewStart { mut line, mut offset } = from;
    let mut shown: Vec<Range<u64>> = Vec::new();
    // A single line takes no more room than the row of a fold.
    for mut named in folds {
        if named.lines.start < from.line {
            named.lines.start = from.line;
            named.names.clear();
        }
        let fold = named.lines.clone();
        if fold.end <= fold.start + 1 {
            continue;
        }
        let end = offset_after_lines(text, offset, fold.start - line, cancel)?;
        if !page.push_lines(line, &text[offset..end]) || !page.push_fold(&named) {
            break;
        }
        offset = offset_after_lines(text, end, fold.end - fold.start, cancel)?;
        line = fold.end;
        shown.push(fold);
    }
    if page.next_line().is_none() {
        page.push_lines(line, &text[offset..]);
    }
    Ok(Some(Shown { folds: shown, ..Shown::of_window(page) }))
}
