//! How much a found line says: what is enough to follow a hash to it.
//!
//! A brace or an empty line is in every file many times. That its hash is unique in the window
//! only says that the others are further away.

use super::{Evidence, Group, moved};

/// How many letters or digits a line must have for a stale anchor to be taken to mean it.
const ENOUGH_LETTERS: usize = 4;

/// Hashes of dialects with so many of them speak for themselves.
const ENOUGH_HASHES: u32 = 1 << 16;

/// Whether the lines of a group at `distance` are told from others by more than a short hash: a
/// long one, or, for one of its ends, the text behind the anchor or what the line says. (Asking
/// that of both ends of a range refuses every range that ends in a brace.)
pub(super) fn suffices(evidence: &Evidence<'_>, group: &Group<'_>, distance: i64) -> bool {
    if evidence.dialect.modulus() >= ENOUGH_HASHES {
        return true;
    }
    group.anchors().any(|anchor| {
        let text = evidence.line_text(moved(anchor.line, distance));
        let letters = text.chars().filter(|one| one.is_alphanumeric());
        anchor.hint.is_some() || letters.count() >= ENOUGH_LETTERS
    })
}
