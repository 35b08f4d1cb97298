//! Bytes + plan → new bytes.

use crate::edit::plan::Plan;
use hashline_disk::bytes::Document;

/// The new content of a file as a sequence of slices of the old content and of the plan: nothing is
/// copied before it is written.
pub fn splice<'a>(document: &'a Document, plan: &'a Plan) -> Vec<&'a [u8]> {
    let body = document.body();
    let mut pieces = vec![&document.raw()[..document.bom_bytes()]];
    let mut at = 0;
    for region in &plan.regions {
        pieces.extend([&body[at..region.start], &region.lead, &region.bytes]);
        at = region.end;
    }
    pieces.push(&body[at..]);
    pieces.retain(|piece| !piece.is_empty());
    pieces
}
