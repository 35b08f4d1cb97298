//! The refusal of a text that repeats the lines next to it: these lines, and what to do.

use super::CONTEXT_LINES;
use super::rejected::AnchorReport;
use crate::edit::outcome::Failure;
use crate::edit::repair::{Repeat, TextEnd};
use crate::edit::request::Operation;
use crate::edit::resolve::CurrentText;
use hashline_base::error::{Code, Mention, Message};

/// The failure of an operation whose text repeats its neighbours, and its report; `None` if it
/// repeats none.
pub fn repeated_failure(
    current_text: &CurrentText<'_>,
    path: &str,
    operation: &Operation,
    repeats: &[Repeat],
) -> Option<(Failure, AnchorReport)> {
    if repeats.is_empty() {
        return None;
    }
    let anchor = operation.action.anchors().next()?.text(current_text.dialect);
    let around = |one: &Repeat| {
        let last = one.last.saturating_add(CONTEXT_LINES).min(current_text.count());
        (one.first.saturating_sub(CONTEXT_LINES).max(1), last)
    };
    let ranges: Vec<_> = repeats.iter().map(around).collect();
    let headline = format!("Repeats neighbours at {anchor}.");
    let report =
        AnchorReport::new(current_text, path, headline, &ranges, explanation(operation, repeats));
    let failure = report.failure(operation, Code::RepeatsNeighbours, anchor);
    Some((failure, report))
}

fn explanation(operation: &Operation, repeats: &[Repeat]) -> Message {
    let named: Vec<String> = repeats
        .iter()
        .map(|one| {
            let verb = match one.end {
                TextEnd::Start => "begins",
                TextEnd::End => "ends",
            };
            let lines = match one.last - one.first {
                0 => format!("line {}", one.first),
                _ => format!("lines {}-{}", one.first, one.last),
            };
            format!("{verb} with {lines}")
        })
        .collect();
    let is_one = matches!(repeats, [one] if one.first == one.last);
    let (stay, them) = if is_one { ("stays", "it") } else { ("stay", "them") };
    Message::from("The text of ")
        + Mention::Operation(operation.index)
        + format!(
            " {}, which {stay}: omit {them}, or add \"verbatim\": true to repeat {them}.",
            named.join(" and ")
        )
}
