//! Anchors against current lines: exact, relocated, or refused with a reason.
//!
//! Rules: docs/protocol.md, "Resolving an anchor". An anchor is relocated to a line with its hash
//! only if no other line in the window has that hash, and nothing in the patch supports the
//! numbered line. Most anchors that seem stale are mistakes in files that never changed.

mod peers;
mod weight;
mod window;

use std::borrow::Cow;
use std::cell::OnceCell;

use serde::Deserialize;

use crate::edit::request::{InsertAt, LineEdit, Operation};
use crate::view::excerpt::ANSWER_LIMIT_BYTES;
use hashline_base::error::Code;
use hashline_lines::anchor::{Anchor, Edition, RowAnchor, anchor_text};
use hashline_lines::dialect::{Dialect, MemoryLines};
use hashline_lines::hash::hash_line;
use hashline_lines::lines::{LineIndex, Unit};
use hashline_memory::{Body, LineSet, Reindentation, hash_of};
use window::HashWindow;

/// What to do with an anchor whose line has another hash.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Relocate {
    /// Search nearby, and follow the hash unless the patch contradicts it.
    #[default]
    Guarded,
    /// Search nearby, and follow the hash if it is unique there.
    Unique,
    /// Refuse.
    Off,
}

/// How far from its number to search for a line by default, in lines each way.
pub const RELOCATE_WINDOW_LINES: u64 = 100;

/// The maximum of [`RelocatePolicy::window_lines`]. Further away, a hash proves nothing, and
/// searching all of a long file for each of thousands of anchors takes minutes.
pub const RELOCATE_WINDOW_MAX_LINES: u64 = 1000;

/// The most lines with the hash of a refused anchor that the refusal lists.
const NEAR_LIMIT: usize = 16;

/// How anchors are resolved.
#[derive(Clone, Copy, Debug)]
pub struct RelocatePolicy {
    /// What to do with stale anchors.
    pub relocate: Relocate,
    /// Lines to search each way.
    pub window_lines: u64,
}

/// The lines whose number and hash could also mean another line that a session has shown. Their
/// rows name the version of the text.
#[derive(Clone, Debug, Default)]
pub struct AmbiguousLines {
    lines: LineSet,
    edition: Option<Edition>,
}

impl AmbiguousLines {
    /// Lines of the text with this hash.
    pub fn of(lines: LineSet, hash: u128) -> AmbiguousLines {
        AmbiguousLines { lines, edition: Some(Edition::of(hash)) }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty()
    }

    /// The lines.
    pub fn lines(&self) -> &LineSet {
        &self.lines
    }

    /// The version that the row of a line names.
    pub fn edition(&self, line: u64) -> Option<Edition> {
        self.edition.filter(|_| self.lines.contains(line))
    }

    /// The size of the versions in rows of all these lines.
    pub fn size_bytes(&self) -> usize {
        self.lines.count() as usize * Edition::SIZE_BYTES
    }

    /// Appends a rendered row, with the version if it is the row of one of these lines.
    pub fn push_row(&self, dialect: &Dialect, row: &str, out: &mut String) {
        let anchor = RowAnchor::of(dialect, row);
        let edition = anchor.and_then(|anchor| Some((anchor.text, self.edition(anchor.line)?)));
        match edition {
            None => out.push_str(row),
            Some((text, edition)) => {
                let (head, rest) = row.split_at(row.len() - text.len() - 1);
                out.extend([head, &edition.to_string(), rest]);
            }
        }
    }
}

/// The current lines, against which anchors are resolved.
pub struct CurrentText<'a> {
    /// The dialect of the anchors.
    pub dialect: &'static Dialect,
    /// The text, UTF-8.
    pub text: &'a [u8],
    /// Its lines.
    pub index: LineIndex,
    /// Its hash, once computed.
    pub hash: OnceCell<u128>,
    /// The lines whose rows name the version.
    pub ambiguous: AmbiguousLines,
    /// The most bytes of lines that one refusal shows.
    pub limit_bytes: usize,
}

impl<'a> CurrentText<'a> {
    /// The lines of a UTF-8 text.
    pub fn new(dialect: &'static Dialect, text: &'a [u8]) -> Self {
        let (index, ambiguous) = (LineIndex::new(text, Unit::Byte), AmbiguousLines::default());
        let hash = OnceCell::new();
        CurrentText { dialect, text, index, hash, ambiguous, limit_bytes: 0 }
            .within(ANSWER_LIMIT_BYTES)
    }

    /// Sets the limit of a refusal. A fifth of it is reserved for the message.
    #[must_use]
    pub fn within(self, refusal_limit_bytes: usize) -> Self {
        CurrentText { limit_bytes: refusal_limit_bytes / 5 * 4, ..self }
    }

    /// The text with its lines and its hash.
    pub fn body(&self) -> Body<'_> {
        let CurrentText { text, index, .. } = self;
        let hash = self.hash.get_or_init(|| hash_of(text));
        Body { text, index, hash: *hash }
    }

    /// The number of lines.
    pub fn count(&self) -> u64 {
        self.index.count()
    }

    /// The text of a line.
    pub fn line(&self, number: u64) -> Option<&'a [u8]> {
        Some(self.index.span(self.text, number)?.text(self.text))
    }

    /// The text of a line for comparisons; empty past the end.
    pub fn line_text(&self, number: u64) -> Cow<'a, str> {
        String::from_utf8_lossy(self.line(number).unwrap_or_default())
    }

    /// The current anchor of a line.
    pub fn fresh(&self, number: u64) -> Option<String> {
        let hash = hash_line(self.dialect, number, &String::from_utf8_lossy(self.line(number)?));
        Some(anchor_text(self.dialect, number, hash, self.ambiguous.edition(number)))
    }

    /// Whether `anchor` is that of the empty line which some dialects show after a final newline.
    /// It means the end of the text.
    pub fn is_phantom(&self, anchor: &Anchor) -> bool {
        self.dialect.memory_lines == MemoryLines::Split
            && u64::from(anchor.line) == self.count() + 1
            && (self.text.is_empty() || self.text.ends_with(b"\n"))
            && anchor.tag.is_none()
            && anchor.hash == hash_line(self.dialect, u64::from(anchor.line), "")
    }
}

/// Where an operation takes place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Spot {
    /// The lines from the first to the last, both included.
    Lines(u64, u64),
    /// Between line `n` and the next; 0 is before the first.
    Gap(u64),
}

/// An operation whose anchors are resolved.
#[derive(Clone, Debug)]
pub struct Resolved<'o> {
    /// The operation.
    pub operation: &'o Operation,
    /// Where it takes place.
    pub spot: Spot,
    /// For inserts by anchor, the line next to the new text.
    pub anchor_line: Option<u64>,
    /// By how many lines its anchors were off.
    pub distance: i64,
    /// By how many lines the second of two anchors was off.
    pub last_distance: i64,
    /// How other processes have re-indented its lines since they were shown, in sequence.
    pub reindented: Vec<Reindentation>,
}

/// Why an anchor was refused.
#[derive(Clone, Debug)]
pub struct AnchorRefusal<'o> {
    /// The operation.
    pub operation: &'o Operation,
    /// The anchor.
    pub anchor: &'o Anchor,
    /// The code.
    pub code: Code,
    /// Lines near the named one that have the hash (and hint), nearest first.
    pub near: Vec<u64>,
    /// The named line has the hash, but does not match the hint.
    pub hint_differs: bool,
    /// Lines near the named one that have the hash, but do not match the hint.
    pub hash_only: Vec<u64>,
    /// The line that the text of the operation, or the hint, supports.
    pub suggested_line: Option<u64>,
    /// The anchors are valid, but these lines do not match their checksum.
    pub changed: Option<(u64, u64)>,
}

/// The anchors of one operation, which are relocated together or not at all.
struct Group<'o> {
    operation: &'o Operation,
    first: &'o Anchor,
    last: Option<&'o Anchor>,
    /// The first line of new text that is not empty, for operations that replace lines.
    text: Option<&'o str>,
    /// Distances at which all anchors of the group match; at most two.
    distances: Cow<'static, [i64]>,
}

impl<'o> Group<'o> {
    fn of(current_text: &CurrentText<'_>, operation: &'o Operation) -> Option<Group<'o>> {
        let (first, last, text) = match &operation.action {
            LineEdit::Replace { first, last, lines, .. } => {
                let text = lines.iter().find(|line| !line.trim().is_empty());
                (first, last.as_ref(), text.map(String::as_str))
            }
            LineEdit::Take(transfer) => (&transfer.first, transfer.last.as_ref(), None),
            LineEdit::Insert { .. } | LineEdit::Put(_) => match operation.action.place()? {
                InsertAt::After(anchor) | InsertAt::Before(anchor) => (anchor, None, None),
                // The phantom line has no text to search for: only the other anchor counts.
                InsertAt::Between(after, before) if current_text.is_phantom(before) => {
                    (after, None, None)
                }
                InsertAt::Between(after, before) => (after, Some(before), None),
                InsertAt::Start | InsertAt::End => return None,
            },
            LineEdit::ReplaceText { .. }
            | LineEdit::ReplaceFile { .. }
            | LineEdit::Restore(_)
            | LineEdit::Json(_) => return None,
        };
        Some(Group { operation, first, last, text, distances: Cow::default() })
    }

    fn anchors(&self) -> impl Iterator<Item = &'o Anchor> {
        std::iter::once(self.first).chain(self.last)
    }

    /// The largest line number that the group names, before or after relocation by `distance`.
    fn bottom(&self, distance: i64) -> u64 {
        moved(self.last.unwrap_or(self.first).line, distance.max(0))
    }

    fn holds(&self) -> bool {
        *self.distances == [0]
    }
}

fn moved(line: u32, distance: i64) -> u64 {
    u64::from(line).saturating_add_signed(distance)
}

/// Resolves the anchors of the operations on one file, or returns the reason for each one that is
/// refused. Operations on text are skipped.
pub fn resolve<'o>(
    current_text: &CurrentText<'_>,
    policy: &RelocatePolicy,
    operations: &[&'o Operation],
) -> Result<Vec<Resolved<'o>>, Vec<AnchorRefusal<'o>>> {
    let mut window = HashWindow::new(current_text, policy.window_lines);
    let mut resolved = Vec::with_capacity(operations.len());
    let mut groups = Vec::with_capacity(operations.len());
    for &operation in operations {
        match whole_file_gap(current_text, operation) {
            Some(gap) => resolved.push(Resolved {
                operation,
                spot: Spot::Gap(gap),
                anchor_line: None,
                distance: 0,
                last_distance: 0,
                reindented: Vec::new(),
            }),
            None => groups.extend(Group::of(current_text, operation)),
        }
    }
    for group in &mut groups {
        group.distances = distances(&mut window, group);
    }
    let peers = peers::Peers::new(&mut window, &groups);
    let mut refusals = Vec::new();
    for group in &groups {
        match settle(current_text, policy, &peers, group) {
            Some(distance) => match changed(current_text, group, distance) {
                Some(refusal) => refusals.push(refusal),
                None => resolved.push(placed(current_text, group, distance)),
            },
            None => refusals.extend(refuse(current_text, policy, &mut window, group)),
        }
    }
    if refusals.is_empty() { Ok(resolved) } else { Err(refusals) }
}

/// Whether the text of an operation is more like the line `other` than like the line `named`.
pub fn text_is_of_other(
    current_text: &CurrentText<'_>,
    operation: &Operation,
    named: u64,
    other: u64,
) -> bool {
    let text = Group::of(current_text, operation).and_then(|group| group.text);
    text.is_some_and(|text| {
        let (named, other) = peers::likeness(current_text, text, named, other);
        other > named
    })
}

/// The gap of an insert that names no line.
fn whole_file_gap(current_text: &CurrentText<'_>, operation: &Operation) -> Option<u64> {
    match operation.action.place()? {
        InsertAt::Start => Some(0),
        InsertAt::End => Some(current_text.count()),
        InsertAt::After(anchor) | InsertAt::Before(anchor) => {
            current_text.is_phantom(anchor).then(|| current_text.count())
        }
        InsertAt::Between(..) => None,
    }
}

/// `[0]` if all anchors match their numbers; otherwise at most two distances at which they match.
fn distances(window: &mut HashWindow<'_, '_>, group: &Group<'_>) -> Cow<'static, [i64]> {
    if group.anchors().all(|anchor| window.agrees(anchor, u64::from(anchor.line))) {
        return Cow::Borrowed(&[0]);
    }
    // Blank lines are all alike.
    if group.anchors().any(|anchor| anchor.is_bare(window.dialect())) {
        return Cow::default();
    }
    let found = window.lines_with(group.first);
    let distances = found.into_iter().map(|line| line as i64 - i64::from(group.first.line));
    distances
        .filter(|&distance| {
            distance != 0
                && group.last.is_none_or(|last| {
                    let line = i64::from(last.line) + distance;
                    line > 0 && window.agrees(last, line as u64)
                })
        })
        .take(2)
        .collect()
}

/// The distance by which to relocate the group, or `None` if it is refused.
fn settle(
    current_text: &CurrentText<'_>,
    policy: &RelocatePolicy,
    peers: &peers::Peers,
    group: &Group<'_>,
) -> Option<i64> {
    match (&*group.distances, policy.relocate) {
        ([0], _) => Some(0),
        (&[distance], _) if !weight::is_distinctive(current_text, group, distance) => None,
        (&[distance], Relocate::Unique) => Some(distance),
        (&[distance], Relocate::Guarded) => {
            peers.permits(current_text, group, distance).then_some(distance)
        }
        _ => None,
    }
}

/// The refusal of a range whose lines do not match its checksum.
fn changed<'o>(
    current_text: &CurrentText<'_>,
    group: &Group<'o>,
    distance: i64,
) -> Option<AnchorRefusal<'o>> {
    let LineEdit::Replace { checksum: Some(checksum), .. } = &group.operation.action else {
        return None;
    };
    if checksum.holds(current_text.text, &current_text.index, distance) {
        return None;
    }
    let now =
        |line: u64| line.saturating_add_signed(distance).clamp(1, current_text.count().max(1));
    Some(AnchorRefusal {
        operation: group.operation,
        anchor: group.first,
        code: Code::HashMismatch,
        near: Vec::new(),
        hint_differs: false,
        hash_only: Vec::new(),
        suggested_line: None,
        changed: Some((now(checksum.first), now(checksum.last))),
    })
}

fn placed<'o>(current_text: &CurrentText<'_>, group: &Group<'o>, distance: i64) -> Resolved<'o> {
    let first = moved(group.first.line, distance);
    let last = moved(group.last.unwrap_or(group.first).line, distance);
    let (spot, anchor_line) = match group.operation.action.place() {
        Some(InsertAt::After(_)) => (Spot::Gap(first), Some(first)),
        Some(InsertAt::Between(..)) if group.last.is_none() => {
            (Spot::Gap(current_text.count()), Some(first))
        }
        Some(_) => (Spot::Gap(last - 1), Some(last)),
        None => (Spot::Lines(first, last), None),
    };
    let operation = group.operation;
    let reindented = Vec::new();
    Resolved { operation, spot, anchor_line, distance, last_distance: distance, reindented }
}

/// One refusal for each anchor that does not match its number.
fn refuse<'o>(
    current_text: &CurrentText<'_>,
    policy: &RelocatePolicy,
    window: &mut HashWindow<'_, '_>,
    group: &Group<'o>,
) -> Vec<AnchorRefusal<'o>> {
    let stale = |anchor: &&Anchor| !window.agrees(anchor, u64::from(anchor.line));
    let stale: Vec<_> = group.anchors().filter(stale).collect();
    let refusal = |anchor| refusal(current_text, policy, window, group, anchor);
    stale.into_iter().map(refusal).collect()
}

fn refusal<'o>(
    current_text: &CurrentText<'_>,
    policy: &RelocatePolicy,
    window: &mut HashWindow<'_, '_>,
    group: &Group<'o>,
    anchor: &'o Anchor,
) -> AnchorRefusal<'o> {
    let line = u64::from(anchor.line);
    let is_bare = anchor.is_bare(current_text.dialect);
    let mut near = if is_bare { Vec::new() } else { window.lines_with(anchor) };
    near.sort_by_key(|&found| (found.abs_diff(line), found));
    near.truncate(NEAR_LIMIT);
    let code = if group.distances.len() > 1 && policy.relocate != Relocate::Off {
        Code::AmbiguousAnchor
    } else if line > current_text.count() {
        Code::LineOutOfRange
    } else {
        Code::HashMismatch
    };
    let hint_differs = anchor.hint.is_some() && window.has_hash(anchor, line);
    let mut hash_only = window.lines_with_hash_alone(anchor);
    hash_only.retain(|found| *found != line);
    hash_only.truncate(NEAR_LIMIT);
    let suggested_line = suggest(current_text, group, anchor, &near, hint_differs);
    AnchorRefusal {
        operation: group.operation,
        anchor,
        code,
        near,
        hint_differs,
        hash_only,
        suggested_line,
        changed: None,
    }
}

/// The line to use instead, if known: the only other one with the hash and hint, the one that the
/// text of the operation is more like, or the numbered line if no line has the hash.
fn suggest(
    current_text: &CurrentText<'_>,
    group: &Group<'_>,
    anchor: &Anchor,
    near: &[u64],
    hint_differs: bool,
) -> Option<u64> {
    let line = u64::from(anchor.line);
    match near {
        _ if line > current_text.count() => (near.len() == 1).then(|| near[0]),
        [] => (!hint_differs).then_some(line),
        &[found] if anchor.hint.is_some() => Some(found),
        &[found] => {
            let (named, found_alike) = peers::likeness(current_text, group.text?, line, found);
            match named.partial_cmp(&found_alike)? {
                std::cmp::Ordering::Less => Some(found),
                std::cmp::Ordering::Greater => Some(line),
                std::cmp::Ordering::Equal => None,
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests;
