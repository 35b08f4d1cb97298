//! How much a found line says: what is enough to follow a hash to it.
//!
//! A brace or an empty line is in every file many times. That its hash is unique in the window
//! only says that the others are further away.

use super::{Evidence, Group, moved};

/// How many letters or digits a line must have for a stale anchor to be taken to mean it.
const ENOUGH_LETTERS: usize = 4;

/// With this many hashes, a dialect needs no more evidence.
const ENOUGH_HASHES: u32 = 1 << 16;

/// Whether more than a short hash identifies the lines of a group at `distance`: a long hash or,
/// for one of its ends, the text after the anchor or enough letters in the line. (Requiring that of
/// both ends would refuse every range that ends in a brace.)
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
