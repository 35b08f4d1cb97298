//! Evidence from the other anchors of a patch for or against relocating an anchor.
//!
//! Recorded mistakes of models show that most anchors that seem stale have the right number and the
//! hash of a neighbouring line. Relocating these would edit a wrong line.

use std::collections::HashMap;

use super::window::HashWindow;
use super::{CurrentText, Group, moved};
use hashline_lines::similarity::similarity;

/// Within this distance, the text must be more like the found line than like the named one.
const NEAR_LINES: u64 = 3;

/// Further away, the anchor is refused only if the text is more like the named line by more than
/// this.
const FAR_MARGIN: f64 = 0.1;

/// The anchors of all operations on the same file.
pub(super) struct Peers {
    /// Lines and operations of anchors that match exactly and are unique in their window, largest
    /// line number first.
    holding: Vec<(u64, usize)>,
    /// Groups with exactly one distance other than 0, by distance: operation and named line.
    moving: HashMap<i64, Vec<(usize, u32)>>,
}

impl Peers {
    pub(super) fn new(window: &mut HashWindow<'_, '_>, groups: &[Group<'_>]) -> Peers {
        let mut peers = Peers { holding: Vec::new(), moving: HashMap::new() };
        // Without stale anchors, no evidence is needed.
        if groups.iter().all(Group::holds) {
            return peers;
        }
        for group in groups {
            for anchor in group.anchors() {
                let line = u64::from(anchor.line);
                if window.agrees(anchor, line) && window.is_unique(anchor) {
                    peers.holding.push((line, group.operation.index));
                }
            }
            if let (&[distance], false) = (&*group.distances, group.holds()) {
                let member = (group.operation.index, group.first.line);
                peers.moving.entry(distance).or_default().push(member);
            }
        }
        peers.holding.sort_unstable_by(|one, other| other.cmp(one));
        peers
    }

    /// Whether `group` may be relocated by its only distance.
    pub(super) fn permits(
        &self,
        current_text: &CurrentText<'_>,
        group: &Group<'_>,
        distance: i64,
    ) -> bool {
        !self.holds_below(group, distance)
            && (self.moves_along(group, distance) || text_permits(current_text, group, distance))
    }

    /// Whether an anchor of another operation, below both lines, matches its number: then no lines
    /// were inserted or deleted above it.
    fn holds_below(&self, group: &Group<'_>, distance: i64) -> bool {
        let bottom = group.bottom(distance);
        let below = self.holding.iter().take_while(|(line, _)| *line > bottom);
        below.into_iter().any(|&(_, operation)| operation != group.operation.index)
    }

    /// Whether another operation, on another line, would be relocated by the same distance.
    fn moves_along(&self, group: &Group<'_>, distance: i64) -> bool {
        self.moving.get(&distance).is_some_and(|members| {
            members.iter().any(|&(operation, line)| {
                operation != group.operation.index && line != group.first.line
            })
        })
    }
}

fn text_permits(current_text: &CurrentText<'_>, group: &Group<'_>, distance: i64) -> bool {
    let named = u64::from(group.first.line);
    let found = moved(group.first.line, distance);
    let Some(text) = group.text else {
        return distance.unsigned_abs() > 1;
    };
    let (named_alike, found_alike) = likeness(current_text, text, named, found);
    match distance.unsigned_abs() {
        ..=NEAR_LINES => found_alike > named_alike,
        _ => named_alike - found_alike <= FAR_MARGIN,
    }
}

/// The similarities of the text with the named and the found line; 0 for a line past the end.
pub(super) fn likeness(
    current_text: &CurrentText<'_>,
    text: &str,
    named: u64,
    found: u64,
) -> (f64, f64) {
    let alike = |line: u64| {
        if line <= current_text.count() {
            similarity(text, &current_text.line_text(line))
        } else {
            0.0
        }
    };
    (alike(named), alike(found))
}
