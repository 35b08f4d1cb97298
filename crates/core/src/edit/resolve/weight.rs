//! Whether a found line is distinctive enough to relocate an anchor to it.
//!
//! Every file has many lines with only a brace, and many empty lines. If such a line is unique in
//! the window, the others are only further away.

use super::{CurrentText, Group, moved};

/// How many letters or digits a line needs for relocation.
const ENOUGH_LETTERS: usize = 4;

/// A dialect with this many hashes needs no other evidence.
const ENOUGH_HASHES: u32 = 1 << 16;

/// Whether more than a short hash identifies the lines of a group at `distance`: a long hash or,
/// for one end, a hint or enough letters in the line. (Requiring that of both ends would refuse
/// every range that ends with a brace.)
pub(super) fn is_distinctive(
    current_text: &CurrentText<'_>,
    group: &Group<'_>,
    distance: i64,
) -> bool {
    if current_text.dialect.modulus() >= ENOUGH_HASHES {
        return true;
    }
    group.anchors().any(|anchor| {
        let text = current_text.line_text(moved(anchor.line, distance));
        let letters = text.chars().filter(|one| one.is_alphanumeric());
        anchor.hint.is_some() || letters.count() >= ENOUGH_LETTERS
    })
}
