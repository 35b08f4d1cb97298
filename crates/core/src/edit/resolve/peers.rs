//! The other anchors of a patch: what they say for or against following a hash that moved.
//!
//! Recorded mistakes of models show that most stale-looking anchors pair the right number
//! with the hash of a neighbouring line; following the hash would then edit a stranger's line.

use std::collections::HashMap;

use super::window::HashWindow;
use super::{Evidence, Group, moved};
use hashline_lines::similarity::similarity;

/// Within this distance the text must speak for the found line, not just not against it.
const NEAR_LINES: u64 = 3;

/// Further away, the text must be more like the named line by more than this to refuse.
const FAR_MARGIN: f64 = 0.1;

/// What the other operations on the same file say.
pub(super) struct Peers {
    /// Lines and operations of anchors that hold exactly and are unique in their window, the lowest
    /// line first. Only the lowest of each operation counts.
    holding: Vec<(u64, usize)>,
    /// Groups that have exactly one distance other than 0: their operation and named line.
    moving: HashMap<i64, Vec<(usize, u32)>>,
}

impl Peers {
    pub(super) fn new(window: &mut HashWindow<'_, '_>, groups: &[Group<'_>]) -> Peers {
        let mut peers = Peers { holding: Vec::new(), moving: HashMap::new() };
        // Not needed without a stale anchor.
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

    /// Whether `group` may be followed to its only distance.
    pub(super) fn permits(
        &self,
        evidence: &Evidence<'_>,
        group: &Group<'_>,
        distance: i64,
    ) -> bool {
        !self.holds_below(group, distance)
            && (self.moves_along(group, distance) || text_permits(evidence, group, distance))
    }

    /// An anchor of another operation, below both lines, holds where it says: nothing above
    /// it was inserted or deleted.
    fn holds_below(&self, group: &Group<'_>, distance: i64) -> bool {
        let bottom = group.bottom(distance);
        let below = self.holding.iter().take_while(|(line, _)| *line > bottom);
        below.into_iter().any(|&(_, operation)| operation != group.operation.index)
    }

    /// Another operation, on another line, moved by the same distance.
    fn moves_along(&self, group: &Group<'_>, distance: i64) -> bool {
        self.moving.get(&distance).is_some_and(|members| {
            members.iter().any(|&(operation, line)| {
                operation != group.operation.index && line != group.first.line
            })
        })
    }
}

fn text_permits(evidence: &Evidence<'_>, group: &Group<'_>, distance: i64) -> bool {
    let named = u64::from(group.first.line);
    let found = moved(group.first.line, distance);
    let Some(text) = group.text else {
        return distance.unsigned_abs() > 1;
    };
    let (named_alike, found_alike) = likeness(evidence, text, named, found);
    match distance.unsigned_abs() {
        ..=NEAR_LINES => found_alike > named_alike,
        _ => named_alike - found_alike <= FAR_MARGIN,
    }
}

/// How much the text is like the named and like the found line. A line past the end is like
/// nothing.
pub(super) fn likeness(evidence: &Evidence<'_>, text: &str, named: u64, found: u64) -> (f64, f64) {
    let alike = |line: u64| {
        if line <= evidence.count() { similarity(text, &evidence.line_text(line)) } else { 0.0 }
    };
    (alike(named), alike(found))
}
