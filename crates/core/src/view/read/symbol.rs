//! Renders a definition by its name.

use super::{ReadRequest, Shown, show_lines};
use crate::view::excerpt::{Context, Excerpt, Page};
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
        [one] => {
            let mut excerpt = Excerpt::new(text, Context::default(), page(), 1, 0);
            one.push_to(&mut excerpt, text, one.end_line);
            Shown::of_window(excerpt.finish())
        }
        several => {
            let mut starts: Vec<&SymbolPlace> = several.iter().collect();
            starts.dedup_by_key(|place| place.own_line);
            let lines = starts.iter().map(|place| place.own_line).collect();
            let columns_at = starts.iter().map(|place| (place.own_line, place.own_column(text)));
            let columns_at = columns_at.collect();
            let context = Context::default();
            let request = ReadRequest { lines, columns_at, context, ..request.clone() };
            let shown = show_lines(text, line_count, page, &request, scope.cancel)?;
            Shown { match_lines: None, match_count: None, ..shown }
        }
    };
    Ok(Shown { symbols, ..shown })
}
