//! Regions: ranges of whole lines that are replaced, and their new bytes.

use std::collections::BTreeSet;
use std::ops::Range;

use super::{Conflict, Edit, NewLines, PlanText};
use crate::edit::line_diff::common_ends;
use crate::edit::request::Operation;
use hashline_base::cancel::CancelWatch;
use hashline_base::error::{Code, Error, Mention};
use hashline_lines::lines::{Lines, Span, Terminator, Unit};
use hashline_memory::Splice;

/// A range of whole lines and its replacement.
#[derive(Clone, Debug)]
pub struct Region {
    /// The old line before the region; 0 at the start.
    pub after_line: u64,
    /// The number of old lines.
    pub old_lines: u64,
    /// The number of new lines.
    pub new_lines: u64,
    /// The numbers of lines at its start and at its end that do not change.
    pub kept: (u64, u64),
    /// The start of its old bytes, counted after the byte order mark.
    pub start: usize,
    /// The end of its old bytes.
    pub end: usize,
    /// The terminator that the unterminated line before it gets.
    pub lead: Vec<u8>,
    /// Its new bytes, in the file's encoding.
    pub bytes: Vec<u8>,
    /// Its last line is empty and unterminated, so it only counts as a line if something follows
    /// it.
    has_empty_last_line: bool,
    /// The operations that it combines.
    pub operations: Vec<usize>,
    /// Its lines that were moved or copied from elsewhere.
    pub pasted: Vec<Pasted>,
    /// The indexes of its new lines that contain old text, sorted.
    pub partly_old: Vec<u64>,
}

/// Lines of a region that were moved or copied from elsewhere.
#[derive(Clone, Debug)]
pub struct Pasted {
    /// The operation that put them there.
    pub operation: usize,
    /// The number of lines of the region above them.
    pub above: u64,
    /// The number of pasted lines.
    pub lines: u64,
}

impl Region {
    /// The replacement of whole lines in a text as UTF-8.
    pub fn of_lines(
        after_line: u64,
        (old_lines, new_lines): (u64, u64),
        old: Range<usize>,
        bytes: Vec<u8>,
    ) -> Region {
        Region {
            after_line,
            old_lines,
            new_lines,
            kept: (0, 0),
            start: old.start,
            end: old.end,
            lead: Vec::new(),
            bytes,
            has_empty_last_line: false,
            operations: Vec::new(),
            pasted: Vec::new(),
            partly_old: Vec::new(),
        }
    }

    /// The change in the number of lines.
    pub fn shift(&self) -> i64 {
        self.new_lines as i64 - self.old_lines as i64
    }

    /// Replaces `lines` lines after line `after_line` by bytes that no model wrote.
    pub fn restored(
        subject: &PlanText<'_>,
        operation: usize,
        (after_line, lines): (u64, u64),
        bytes: Vec<u8>,
    ) -> Region {
        let (body, index) = (subject.body(), subject.index);
        let end_of = |line: u64| match line {
            0 => 0,
            line => index.span(body, line).map_or(body.len(), |span| span.end),
        };
        let (start, end) = (end_of(after_line), end_of(after_line + lines));
        let unit = index.unit();
        let old = lines_of(&body[start..end], unit);
        let new = lines_of(&bytes, unit);
        let (same_start, same_end) = common_ends(&old, &new);
        let old_lines = old.len() as u64;
        let new_lines = new.len() as u64;
        Region {
            kept: (same_start as u64, same_end as u64),
            operations: vec![operation],
            partly_old: (0..new_lines).collect(),
            ..Region::of_lines(after_line, (old_lines, new_lines), start..end, bytes)
        }
    }

    /// Its effect on whole lines, without those that do not change.
    fn splice(&self) -> Splice {
        let kept = self.kept.0 + self.kept.1;
        Splice {
            first: self.after_line + self.kept.0 + 1,
            removed: self.old_lines.saturating_sub(kept),
            inserted: self.new_lines.saturating_sub(kept),
        }
    }
}

/// The lines of a text with their terminators.
fn lines_of(bytes: &[u8], unit: Unit) -> Vec<&[u8]> {
    Lines::new(bytes, unit).map(|span| &bytes[span.start..span.end]).collect()
}

/// The changes of one file: sorted, disjoint regions, and the operations without effect.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// The regions.
    pub regions: Vec<Region>,
    /// Operations that change nothing.
    pub unchanged: Vec<usize>,
    /// The operation from whose text U+FEFF was removed, which would have become a byte order mark.
    pub dropped_bom: Option<usize>,
}

impl Plan {
    /// Its effect on lines, by which a memory of shown lines follows them.
    pub fn splices(&self) -> Vec<Splice> {
        self.regions.iter().map(Region::splice).collect()
    }
}

/// Builds the regions of edits that are sorted and free of conflicts.
pub(super) fn build(subject: &PlanText<'_>, edits: &[Edit<'_>]) -> Result<Plan, Conflict> {
    let mut plan = Plan { regions: Vec::with_capacity(edits.len()), ..Plan::default() };
    let mut effective = Vec::with_capacity(edits.len());
    let mut at = 0;
    let mut watch = subject.cancel.watch();
    while at < edits.len() {
        check_cancel(&mut watch, 0)?;
        let length = cluster_length(&edits[at..]);
        let cluster = &edits[at..at + length];
        let built = match &cluster[0] {
            Edit::Replace { operation, first, last, lines } => {
                replaced(subject, operation, (*first, *last), lines, &mut watch)
            }
            Edit::Insert { gap, .. } => inserted(subject, *gap, cluster, &mut watch),
            Edit::Text { .. } => Ok(text_replaced(subject, cluster)),
        };
        let mut region = built?;
        if subject.body()[region.start..region.end] != region.bytes || !region.lead.is_empty() {
            effective.extend(cluster.iter().map(|edit| edit.operation().index));
            open_line_before(subject, &mut plan, &mut region);
            plan.regions.push(region);
        }
        at += length;
    }
    effective.sort_unstable();
    let mut unchanged: Vec<usize> = edits.iter().map(|edit| edit.operation().index).collect();
    unchanged.retain(|index| effective.binary_search(index).is_err());
    unchanged.sort_unstable();
    unchanged.dedup();
    plan.unchanged = unchanged;
    Ok(plan)
}

/// Counts processed text, and checks for cancellation from time to time.
fn check_cancel(watch: &mut CancelWatch<'_>, bytes: usize) -> Result<(), Conflict> {
    watch.pass(bytes).map_err(|error| Conflict { operation: 0, error })
}

/// The number of edits at the front that become one region: inserts in the same gap, or texts that
/// share lines.
fn cluster_length(edits: &[Edit<'_>]) -> usize {
    match &edits[0] {
        Edit::Replace { .. } => 1,
        Edit::Insert { gap, .. } => {
            let same =
                |edit: &&Edit<'_>| matches!(edit, Edit::Insert { gap: other, .. } if other == gap);
            edits.iter().take_while(same).count()
        }
        Edit::Text { .. } => {
            let mut bottom = 0;
            let joined = |edit: &&Edit<'_>| match edit {
                Edit::Text { matched, .. } if bottom == 0 || matched.first <= bottom => {
                    bottom = bottom.max(matched.last);
                    true
                }
                _ => false,
            };
            edits.iter().take_while(joined).count()
        }
    }
}

/// Appends a text in the file's encoding.
fn encode_into(
    subject: &PlanText<'_>,
    operation: &Operation,
    text: &str,
    out: &mut Vec<u8>,
) -> Result<(), Conflict> {
    let blame = |error| Conflict { operation: operation.index, error };
    subject.encode_into(operation, text, out).map_err(blame)
}

/// Appends a terminator to the line at the end of `out`.
fn end_line(subject: &PlanText<'_>, terminator: Terminator, out: &mut Vec<u8>) {
    let terminator = terminator.after(out, subject.index.unit());
    encode_terminator(subject, terminator, out);
}

/// The terminator for an unterminated line with this text, when lines are inserted after line
/// `gap`.
fn end_of_open_line(subject: &PlanText<'_>, gap: u64, text: &[u8]) -> Vec<u8> {
    let terminator = subject.terminator(gap).after(text, subject.index.unit());
    let mut lead = Vec::new();
    encode_terminator(subject, terminator, &mut lead);
    lead
}

/// Appends a terminator in the file's encoding.
fn encode_terminator(subject: &PlanText<'_>, terminator: Terminator, out: &mut Vec<u8>) {
    let encoded = subject.document.charset().encode_into(terminator.as_str(), out);
    encoded.expect("every encoding has newline and carriage return");
}

/// Replaces the lines from `first` to `last` by `lines`. New lines at either end that equal old
/// ones keep the old bytes, so that sequences that are invalid in the encoding survive.
fn replaced(
    subject: &PlanText<'_>,
    operation: &Operation,
    (first, last): (u64, u64),
    lines: &[String],
    watch: &mut CancelWatch<'_>,
) -> Result<Region, Conflict> {
    let (body, unit) = (subject.body(), subject.index.unit());
    let old: Vec<_> = subject
        .index
        .from_line(body, first)
        .into_iter()
        .flatten()
        .take((last - first + 1) as usize)
        .collect();
    let (charset, is_plain) = (subject.document.charset(), subject.document.is_plain());
    let equal = |old: &Span, new: &String| match old.text(body) {
        old if is_plain => old == new.as_bytes(),
        old => *charset.decode(old).text == *new.as_bytes(),
    };
    let same_start = old.iter().zip(lines).take_while(|(old, new)| equal(old, new)).count();
    let rest = (old.len() - same_start).min(lines.len() - same_start);
    let same_end = old.iter().rev().zip(lines.iter().rev()).take(rest);
    let same_end = same_end.take_while(|(old, new)| equal(old, new)).count();
    let ends_open = old.last().is_some_and(|span| span.terminator(unit) == Terminator::None);

    // Enough for UTF-8.
    let size_bytes = |line: &String| line.len() + Terminator::CrLf.as_str().len();
    let mut bytes = Vec::with_capacity(lines.iter().map(size_bytes).sum());
    for (at, line) in lines.iter().enumerate() {
        check_cancel(watch, line.len())?;
        let from_end = lines.len() - at;
        let twin = if at < same_start {
            Some(at)
        } else if from_end <= same_end {
            Some(old.len() - from_end)
        } else {
            None
        };
        match twin {
            Some(twin) => bytes.extend_from_slice(old[twin].text(body)),
            None => encode_into(subject, operation, line, &mut bytes)?,
        }
        if from_end > 1 || !ends_open {
            let model = twin.unwrap_or(at.min(old.len() - 1));
            let terminator = match old[model].terminator(unit) {
                Terminator::None => subject.terminator(first + model as u64),
                own => own,
            };
            end_line(subject, terminator, &mut bytes);
        }
    }
    let has_empty_last_line = ends_open && lines.last().is_some_and(String::is_empty);
    Ok(Region {
        after_line: first - 1,
        old_lines: old.len() as u64,
        new_lines: lines.len() as u64 - u64::from(has_empty_last_line),
        kept: (same_start as u64, same_end as u64),
        start: old.first().map_or(0, |span| span.start),
        end: old.last().map_or(0, |span| span.end),
        lead: Vec::new(),
        bytes,
        has_empty_last_line,
        operations: vec![operation.index],
        pasted: Vec::new(),
        partly_old: Vec::new(),
    })
}

/// The lines of all inserts after line `gap`.
fn inserted(
    subject: &PlanText<'_>,
    gap: u64,
    cluster: &[Edit<'_>],
    watch: &mut CancelWatch<'_>,
) -> Result<Region, Conflict> {
    let (body, count) = (subject.body(), subject.index.count());
    let terminator = subject.terminator(gap);
    let ends_open = gap == count && subject.has_open_end();
    if ends_open && !body.len().is_multiple_of(subject.index.unit().width_bytes()) {
        return Err(half_unit(cluster[0].operation()));
    }
    let (mut bytes, mut pasted) = (Vec::new(), Vec::new());
    let (mut new_lines, mut text_end) = (0, 0);
    let mut end = |bytes: &mut Vec<u8>| {
        text_end = bytes.len();
        end_line(subject, terminator, bytes);
    };
    for edit in cluster {
        let Edit::Insert { operation, lines, .. } = edit else {
            continue;
        };
        let count = match lines {
            NewLines::Text(lines) => {
                for line in lines.iter() {
                    check_cancel(watch, line.len())?;
                    encode_into(subject, operation, line, &mut bytes)?;
                    end(&mut bytes);
                }
                lines.len() as u64
            }
            NewLines::Bytes(lines) => {
                for line in lines {
                    check_cancel(watch, line.len())?;
                    bytes.extend_from_slice(line);
                    end(&mut bytes);
                }
                let lines = lines.len() as u64;
                pasted.push(Pasted { operation: operation.index, above: new_lines, lines });
                lines
            }
        };
        new_lines += count;
    }
    let mut has_empty_last_line = false;
    if ends_open {
        bytes.truncate(text_end);
        has_empty_last_line = bytes.is_empty() || subject.index.unit().ends_with(&bytes, b'\n');
        new_lines -= u64::from(has_empty_last_line);
        if let Some(last) = pasted.last_mut() {
            last.lines = last.lines.min(new_lines - last.above);
        }
    }
    let at = match gap {
        0 => 0,
        _ => subject.index.span(body, gap).map_or(body.len(), |span| span.end),
    };
    Ok(Region {
        after_line: gap,
        old_lines: 0,
        new_lines,
        kept: (0, 0),
        start: at,
        end: at,
        lead: if ends_open { end_of_open_line(subject, gap, body) } else { Vec::new() },
        bytes,
        has_empty_last_line,
        operations: cluster.iter().map(|edit| edit.operation().index).collect(),
        pasted,
        partly_old: Vec::new(),
    })
}

/// The error for an insert after half a code unit, which would shift everything after it.
fn half_unit(operation: &Operation) -> Conflict {
    let index = operation.index;
    let message = Mention::Operation(index)
        + ": the file ends within a UTF-16 code unit; replace its last line first";
    Conflict { operation: index, error: Error::new(Code::UnsupportedEncoding, message) }
}

/// Replaces the texts of a cluster in the lines that they touch.
fn text_replaced(subject: &PlanText<'_>, cluster: &[Edit<'_>]) -> Region {
    let (body, index) = (subject.body(), subject.index);
    let matches = || {
        cluster.iter().filter_map(|edit| match edit {
            Edit::Text { matched, .. } => Some(matched),
            _ => None,
        })
    };
    // A text that is put after the last terminator is in a line that does not exist yet.
    let first = matches().map(|matched| matched.first).min().unwrap_or(1);
    let last = matches().map(|matched| matched.last).max().unwrap_or(first).min(index.count());
    let start = index.span(body, first).map_or(body.len(), |span| span.start);
    let end = index.span(body, last).map_or(body.len(), |span| span.end);
    let mut mixed = MixedLines::new(index.unit(), end - start);
    let mut at = start;
    for one in matches() {
        mixed.add(&body[at..one.start], true);
        mixed.add(&one.replacement, false);
        at = one.end;
    }
    mixed.add(&body[at..end], true);
    let MixedLines { bytes, partly_old, .. } = mixed;
    let operations: BTreeSet<usize> = cluster.iter().map(|edit| edit.operation().index).collect();
    Region {
        after_line: first - 1,
        old_lines: (last + 1).saturating_sub(first),
        new_lines: Lines::new(&bytes, index.unit()).count() as u64,
        kept: (0, 0),
        start,
        end,
        lead: Vec::new(),
        bytes,
        has_empty_last_line: false,
        operations: operations.into_iter().collect(),
        pasted: Vec::new(),
        partly_old,
    }
}

/// Lines that are built from old and new parts.
struct MixedLines {
    unit: Unit,
    bytes: Vec<u8>,
    /// The number of terminated lines.
    ended: u64,
    /// The indexes of lines that contain old text.
    partly_old: Vec<u64>,
}

impl MixedLines {
    fn new(unit: Unit, capacity_bytes: usize) -> MixedLines {
        let bytes = Vec::with_capacity(capacity_bytes);
        MixedLines { unit, bytes, ended: 0, partly_old: Vec::new() }
    }

    fn add(&mut self, part: &[u8], is_old: bool) {
        // `\r` at the end of one part and `\n` at the start of the next must not become one
        // terminator.
        let newline = self.unit.encode(b'\n');
        if part.starts_with(&newline) && self.unit.ends_with(&self.bytes, b'\r') {
            self.bytes.extend(self.unit.encode(b'\r'));
        }
        self.bytes.extend_from_slice(part);
        for line in Lines::new(part, self.unit) {
            if is_old && !line.text(part).is_empty() && self.partly_old.last() != Some(&self.ended)
            {
                self.partly_old.push(self.ended);
            }
            self.ended += u64::from(line.terminator(self.unit) != Terminator::None);
        }
    }
}

/// An insert at the end of a file without final newline needs a terminator before it, unless an
/// edit of the last line provides one.
fn open_line_before(subject: &PlanText<'_>, plan: &mut Plan, region: &mut Region) {
    let Some(above) = plan.regions.last_mut() else { return };
    if region.lead.is_empty() || above.end != region.start {
        return;
    }
    if above.has_empty_last_line {
        // Because something follows, the empty last line counts as a line.
        end_line(subject, subject.terminator(region.after_line), &mut above.bytes);
        region.lead.clear();
        above.new_lines += 1;
        above.has_empty_last_line = false;
        return;
    }
    let unit = subject.index.unit();
    // If the unterminated line was deleted, the line before it has a terminator.
    let is_closed = above.bytes.is_empty() || unit.ends_with(&above.bytes, b'\n');
    region.lead = if is_closed {
        Vec::new()
    } else {
        end_of_open_line(subject, region.after_line, &above.bytes)
    };
}
