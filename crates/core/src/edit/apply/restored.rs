//! The old lines of a file that a patch changed → the regions that put them back.
//!
//! If the file is as the patch left it, its bytes become exactly what they were. If it was changed
//! since, the lines of the patch are found by comparing the texts, as anchors are; where other
//! changes touch them, nothing is put back.

use crate::edit::outcome::Failure;
use crate::edit::plan::{PlanText, Region};
use crate::edit::report::{AnchorReport, CONTEXT_LINES, changed_since_failure};
use crate::edit::request::Operation;
use crate::edit::resolve::CurrentText;
use crate::edit::undo::{RestoredLines, RestoredRegion};
use hashline_base::error::{Code, Error};
use hashline_lines::lines::{Lines, Terminator, Unit};
use hashline_memory::{Body, Carry, SessionMemory, Version};

/// How many lines above a place that is not found are searched for one that is.
const NEAR_LIMIT_LINES: u64 = 200;

/// Why lines cannot be put back.
pub(super) enum RestoreRefusal {
    /// Other changes touch them. The report shows the current lines.
    Changed(Box<(Failure, AnchorReport)>),
    /// The file cannot be compared.
    Error(Error),
}

/// Lines of a patch whose place is not certain: the current lines to show instead.
struct Unlocated {
    first: u64,
    last: u64,
}

/// Where a region is in the current text.
struct Located {
    /// The line before it.
    after_line: u64,
    /// Its number of lines.
    lines: u64,
}

/// The regions that put lines back; none if the file is as it was before the patch.
pub(super) fn restored_regions(
    subject: &PlanText<'_>,
    current_text: &CurrentText<'_>,
    operation: &Operation,
    restored: &RestoredLines,
    memory: Option<&SessionMemory>,
) -> Result<Vec<Region>, RestoreRefusal> {
    let snapshot = subject.document.snapshot(subject.cancel).map_err(RestoreRefusal::Error)?;
    if snapshot == restored.before {
        return Ok(Vec::new());
    }
    if snapshot == restored.after {
        return Ok(regions_as_left(subject, operation.index, restored));
    }
    let path = &operation.path;
    let after = memory.and_then(|memory| memory.text(restored.text));
    let is_same_charset = subject.document.charset().name() == restored.charset;
    let Some(after) = after.as_ref().and_then(Version::body).filter(|_| is_same_charset) else {
        let why = format!(
            "{path}: the file changed after the patch that you want to undo, and the text that the patch left is no longer remembered. Edit the file instead."
        );
        return Err(RestoreRefusal::Error(Error::at(Code::ConcurrentChange, path, why)));
    };
    let current = current_text.body();
    let Some(carry) = Carry::new(after.text, current.text, subject.cancel) else {
        // The caller reports the cancellation.
        return Err(RestoreRefusal::Error(Error::new(Code::Aborted, "the call was aborted")));
    };
    let changed = |Unlocated { first, last }| {
        let failure = changed_since_failure(current_text, path, operation, (first, last));
        RestoreRefusal::Changed(Box::new(failure))
    };
    regions_now(subject, operation.index, restored, (after, current), &carry).map_err(changed)
}

/// The regions of a file that is as the patch left it.
fn regions_as_left(
    subject: &PlanText<'_>,
    operation: usize,
    restored: &RestoredLines,
) -> Vec<Region> {
    let region = |one: &RestoredRegion| {
        let located = Located { after_line: one.after_line, lines: one.lines };
        region(subject, operation, &located, one.has_lead, one.bytes.clone())
    };
    restored.regions.iter().map(region).collect()
}

/// The regions of a file that was changed since. `after` is its text after the patch, `current` its
/// text now; `carry` compares them.
fn regions_now(
    subject: &PlanText<'_>,
    operation: usize,
    restored: &RestoredLines,
    (after, current): (Body<'_>, Body<'_>),
    carry: &Carry<'_>,
) -> Result<Vec<Region>, Unlocated> {
    let mut regions: Vec<Region> = Vec::with_capacity(restored.regions.len());
    let mut bottom = 0;
    for one in &restored.regions {
        let located = locate(one, after, current, carry).filter(|at| at.after_line >= bottom);
        let Some(located) = located else { return Err(unlocated(one, current, carry)) };
        bottom = located.after_line + located.lines;
        let bytes = fitted(subject, &located, &one.bytes, PlaceAfter::of(after, one));
        regions.push(region(subject, operation, &located, one.has_lead, bytes));
    }
    // A region that begins within the last line of the one above would need its new text.
    match regions.windows(2).position(|pair| pair[0].end > pair[1].start) {
        Some(at) => Err(unlocated(&restored.regions[at], current, carry)),
        None => Ok(regions),
    }
}

/// The place of a region, if it is certain and its lines are as the patch left them.
fn locate(
    one: &RestoredRegion,
    after: Body<'_>,
    current: Body<'_>,
    carry: &Carry<'_>,
) -> Option<Located> {
    let (first, last) = (one.after_line + 1, one.after_line + one.lines);
    let after_line = if one.lines > 0 {
        let now = carry.block(first, last)?;
        let mut lines = (first..=last).zip(now..);
        lines.all(|(line, now)| after.line(line) == current.line(now)).then_some(now - 1)?
    } else {
        gap(one.after_line, after, current, carry)?
    };
    let keeps_lead = !one.has_lead || carry.kept(one.after_line) == Some(after_line);
    keeps_lead.then_some(Located { after_line, lines: one.lines })
}

/// The line after which lines were removed, if the lines around the gap are still next to each
/// other.
fn gap(line: u64, after: Body<'_>, current: Body<'_>, carry: &Carry<'_>) -> Option<u64> {
    match (line == 0, line == after.count()) {
        (true, true) => (current.count() == 0).then_some(0),
        (true, false) => (carry.kept(1)? == 1).then_some(0),
        (false, true) => carry.kept(line).filter(|&now| now == current.count()),
        (false, false) => carry.block(line, line + 1),
    }
}

/// The end of a place in the file as the patch left it.
struct PlaceAfter {
    /// The terminator of its last line, or of a line next to it.
    terminator: Terminator,
    /// Whether the file ended there without a terminator.
    is_open: bool,
}

impl PlaceAfter {
    fn of(after: Body<'_>, region: &RestoredRegion) -> PlaceAfter {
        let own = |line: u64| Some(after.index.span(after.text, line)?.terminator(Unit::Byte));
        let is_ended = |found: &Terminator| *found != Terminator::None;
        let bottom = region.after_line + region.lines;
        let terminator = own(bottom.max(1)).filter(is_ended);
        let terminator = terminator.or_else(|| own(bottom.saturating_sub(1)).filter(is_ended));
        PlaceAfter {
            terminator: terminator.unwrap_or(Terminator::Lf),
            is_open: bottom == after.count() && own(bottom) == Some(Terminator::None),
        }
    }
}

/// Old bytes with the line ends that their place needs now: what was at the end of the file may be
/// within it, and the other way round; others may have ended the last line, or converted all line
/// ends.
fn fitted(subject: &PlanText<'_>, at: &Located, bytes: &[u8], was: PlaceAfter) -> Vec<u8> {
    let unit = subject.index.unit();
    let bottom = at.after_line + at.lines;
    let terminator = subject.encoded_terminator(bottom.max(1));
    let mut bytes = match was.terminator == subject.terminator(bottom.max(1)) {
        true => bytes.to_vec(),
        false => with_terminator(bytes, unit, &terminator),
    };
    if bytes.is_empty() {
        return bytes;
    }
    let is_end = bottom == subject.index.count();
    let is_open = is_end && subject.has_open_end();
    match unit.ends_with(&bytes, b'\n') {
        // Others have removed the end of the last line, or the lines after it.
        true if is_open && !was.is_open => {
            let last = Lines::new(&bytes, unit).last();
            bytes.truncate(last.map_or(0, |last| last.text_end));
        }
        // The file goes on, or others have ended its last line.
        false if !is_end || !is_open && was.is_open => bytes.extend_from_slice(&terminator),
        _ => {}
    }
    if at.lines == 0 && is_open && at.after_line > 0 {
        bytes.splice(0..0, terminator);
    }
    bytes
}

/// Lines with another terminator. A last line without one has none afterwards.
fn with_terminator(bytes: &[u8], unit: Unit, terminator: &[u8]) -> Vec<u8> {
    let mut converted = Vec::with_capacity(bytes.len());
    for line in Lines::new(bytes, unit) {
        converted.extend_from_slice(line.text(bytes));
        if line.terminator(unit) != Terminator::None {
            converted.extend_from_slice(terminator);
        }
    }
    converted
}

/// A region that is replaced by old bytes. With `has_lead`, the line before it loses the terminator
/// that the patch gave it, if it becomes the last line again.
fn region(
    subject: &PlanText<'_>,
    operation: usize,
    at: &Located,
    has_lead: bool,
    bytes: Vec<u8>,
) -> Region {
    let &Located { after_line, lines } = at;
    let becomes_last = bytes.is_empty() && after_line + lines == subject.index.count();
    if !(has_lead && becomes_last) || after_line == 0 {
        return Region::restored(subject, operation, (after_line, lines), bytes);
    }
    let above = subject.index.span(subject.document.body(), after_line);
    let text = above.map_or(&[][..], |span| span.text(subject.document.body())).to_vec();
    Region::restored(subject, operation, (after_line - 1, lines + 1), text)
}

/// The current lines near a region that is not found.
fn unlocated(one: &RestoredRegion, current: Body<'_>, carry: &Carry<'_>) -> Unlocated {
    let count = current.count();
    let above = (1..=one.after_line).rev().take(NEAR_LIMIT_LINES as usize);
    let above = above.filter_map(|line| carry.kept(line)).next().unwrap_or(0);
    let first = above.saturating_sub(CONTEXT_LINES).max(1);
    Unlocated { first, last: (above + one.lines.max(1) + CONTEXT_LINES).min(count) }
}
