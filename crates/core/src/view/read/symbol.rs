//! Renders a definition by its name.

use super::{ReadRequest, Shown, ViewStart, offset_after_lines, show_lines, show_window};
use crate::view::excerpt::{Context, Page};
use crate::view::scope::Scope;
use crate::view::symbols::{SymbolPlace, find, parse_symbol};
use hashline_base::error::{Error, Message, Result, Term};

/// Validates the options of a request for a definition.
pub fn check(request: &ReadRequest) -> Result<()> {
    let Some(name) = &request.symbol else { return Ok(()) };
    parse_symbol(name)?;
    let other: Message = if request.start_line.is_some() {
        Term::StartLine.into()
    } else if request.search.is_some() {
        "search".into()
    } else if request.folding().is_some() {
        "fold".into()
    } else {
        return Ok(());
    };
    Err(Error::argument(Message::from("symbol and ") + other + " are both given: use one of them"))
}

/// The lines of the definition with a name; if several have it, the line where each starts.
pub fn show(
    scope: &Scope<'_>,
    text: &[u8],
    line_count: u64,
    request: &ReadRequest,
    name: &str,
) -> Result<Shown> {
    let symbols = find(&request.name(), text, &parse_symbol(name)?, scope.budget)?;
    let page = || Page::new(scope.dialect, request.limits, 0).with_width(request.width());
    let shown = match symbols.as_slice() {
        [one] => show_one(scope, text, one, page())?,
        several => {
            let lines = several.iter().map(|place| place.own_line).collect();
            let request = ReadRequest { lines, context: Context::default(), ..request.clone() };
            let shown = show_lines(text, line_count, page, &request, scope.cancel)?;
            Shown { match_lines: None, match_count: None, ..shown }
        }
    };
    Ok(Shown { symbols, ..shown })
}

fn show_one(scope: &Scope<'_>, text: &[u8], place: &SymbolPlace, page: Page) -> Result<Shown> {
    let &SymbolPlace { start_line, end_line, .. } = place;
    let offset = offset_after_lines(text, 0, start_line - 1, scope.cancel)?;
    let end = offset_after_lines(text, offset, end_line + 1 - start_line, scope.cancel)?;
    let from = ViewStart { line: start_line, offset };
    show_window(&text[..end], from, end, page, scope.cancel)
}
