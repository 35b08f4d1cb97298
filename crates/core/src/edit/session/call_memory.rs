//! Resolves the operations of a patch by a session's memory, and collects what the memory learns.

use std::cell::LazyCell;
use std::collections::HashMap;
use std::ops::Range;
use std::path::Path;

use super::locate::{Found, Locator, Placed, Target, Unseen};
use super::patches::PatchState;
use super::refusal::{remembered_failure, unknown_file_failure};
use crate::edit::outcome::Failure;
use crate::edit::report::{AnchorReport, anchor_failures, reported_lines};
use crate::edit::request::{InsertAt, LineEdit, Operation, Transfer};
use crate::edit::resolve::{AmbiguousLines, CurrentText, RelocatePolicy, Resolved, Spot, resolve};
use crate::view::excerpt::{RowPart, ShownRows};
use hashline_base::cancel::Cancel;
use hashline_lines::anchor::{Anchor, RowAnchor};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::LineHasher;
use hashline_lines::rows::{between_marks, shown_part};
use hashline_memory::{
    Body, FileRecord, LineChanges, LineSet, MemoryUpdate, Moment, SessionMemory, ShownLines,
    ShownPart, Track, says_enough,
};
use hashline_syntax::language_of;

/// Resolved operations, or why they are refused.
pub type Settlement<'o> = Result<Vec<Resolved<'o>>, Box<FileRefusal>>;

/// The refusal of operations on a file, with the lines that it shows.
#[derive(Debug, Default)]
pub struct FileRefusal {
    /// The failures, each with its report.
    pub failures: Vec<(Failure, AnchorReport)>,
    /// What the session learns once the answer is final.
    pub update: Option<MemoryUpdate>,
}

/// Resolves operations against the current lines, without memory.
pub fn resolve_plainly<'o>(
    path: &str,
    current_text: &CurrentText<'_>,
    policy: &RelocatePolicy,
    operations: &[&'o Operation],
) -> Settlement<'o> {
    resolve(current_text, policy, operations).map_err(|refusals| {
        let failures = anchor_failures(current_text, policy.window_lines, path, &refusals);
        Box::new(FileRefusal { failures, update: None })
    })
}

/// The memory of a session, for one call.
#[derive(Clone, Copy)]
pub struct CallMemory<'m> {
    /// The memory.
    pub memory: &'m SessionMemory,
    /// The state that earlier patches of the session left; `None` without a session.
    pub patches: Option<&'m PatchState>,
    /// What to do with lines that were never shown.
    pub unseen: Unseen,
    /// When the call was made. Its anchors cannot mean lines that were shown later.
    pub as_of: Moment,
    /// What the memory learns as well if the patch is committed.
    pub learned: &'m [MemoryUpdate],
    /// Checked between steps, and by the caller before it reports a refusal.
    pub cancel: &'m Cancel,
}

impl<'m> CallMemory<'m> {
    /// For a model that was shown the current file.
    pub fn of_unchanged(memory: &'m SessionMemory, cancel: &'m Cancel) -> CallMemory<'m> {
        let (patches, unseen, as_of) = (None, Unseen::Refuse, memory.now());
        CallMemory { memory, patches, unseen, as_of, learned: &[], cancel }
    }

    /// A refusal whose lines count as shown once it is final.
    pub fn refusal(
        &self,
        file: &Path,
        current_text: &CurrentText<'_>,
        failures: Vec<(Failure, AnchorReport)>,
    ) -> FileRefusal {
        let CurrentText { text, .. } = *current_text;
        let numbers = failures.iter().flat_map(|(_, report)| report.numbers());
        let numbers: LineSet = numbers.map(|number| number..number + 1).collect();
        let mut lines = reported_lines(numbers, |number| current_text.line(number));
        lines.versioned = current_text.ambiguous.lines().common(&lines.lines);
        let (file, text) = (file.to_owned(), self.memory.version(text, None));
        FileRefusal { failures, update: Some(MemoryUpdate::Shown { file, text, lines }) }
    }

    /// Resolves operations on a file by what was shown of it.
    pub fn resolve<'o>(
        &self,
        file: &Path,
        path: &str,
        current_text: &CurrentText<'_>,
        policy: &RelocatePolicy,
        operations: &[&'o Operation],
    ) -> Settlement<'o> {
        let body = current_text.body();
        let record = self.memory.record(file);
        let (dialect, as_of) = (current_text.dialect, Some(self.as_of));
        let mut locator = Locator::new(&record, body, dialect, self.unseen, as_of, self.cancel);
        let (mut resolved, mut refused, mut plain) = (Vec::new(), Vec::new(), Vec::new());
        let mut deleted = Vec::new();
        let has_meaning = LazyCell::new(|| indentation_has_meaning(path, current_text.text));
        for &operation in operations {
            if self.cancel.is_cancelled() {
                return Err(Box::default());
            }
            let Some(target) = target_of(current_text, operation) else {
                // Without an anchor, memory is not needed.
                plain.push(operation);
                continue;
            };
            match locator.locate(&target) {
                Found::Placed(placed) if is_rewriting(operation) && !placed.partly.is_empty() => {
                    let one = locator.partly_shown(target.first(), placed.partly);
                    refused.push(remembered_failure(current_text, path, operation, &one));
                }
                Found::Placed(placed) if is_misindented(operation, &placed, &has_meaning) => {
                    let one = locator.reindented(target.first(), &placed);
                    refused.push(remembered_failure(current_text, path, operation, &one));
                }
                Found::Placed(placed) => {
                    let is_deletion = matches!(operation.action, LineEdit::Replace { .. });
                    if is_deletion && !operation.verbatim && !placed.partly.is_empty() {
                        deleted.push((operation, placed.spot, placed.partly.clone()));
                    }
                    resolved.push(resolved_at(operation, placed));
                }
                Found::Unseen => plain.push(operation),
                Found::Refused(anchors) => refused.extend(
                    anchors
                        .iter()
                        .map(|one| remembered_failure(current_text, path, operation, one)),
                ),
            }
        }
        match resolve_plainly(path, current_text, policy, &plain) {
            Ok(more) => resolved.extend(more),
            Err(more) => refused.extend(more.failures),
        }
        for (operation, spot, partly) in deleted {
            if let Some(target) = target_of(current_text, operation)
                && resolved.iter().any(|one| replaces_deleted(one, spot))
            {
                let one = locator.partly_shown(target.first(), partly);
                refused.push(remembered_failure(current_text, path, operation, &one));
            }
        }
        if refused.is_empty() {
            return Ok(resolved);
        }
        Err(Box::new(self.refusal(file, current_text, refused)))
    }

    /// The lines of an answer whose number and hash could mean another line that was shown.
    pub fn ambiguous(
        &self,
        dialect: &'static Dialect,
        file: &Path,
        text: Body<'_>,
        lines: impl IntoIterator<Item = u64>,
    ) -> AmbiguousLines {
        ambiguous_in(&self.memory.record(file), dialect, text, lines, self.cancel)
    }

    /// A fast check: if false, no row of the text after an edit is ambiguous.
    pub fn may_be_ambiguous(
        &self,
        dialect: &'static Dialect,
        file: &Path,
        before: Body<'_>,
        changes: &LineChanges,
        anchors: &[(u64, u32)],
    ) -> bool {
        if !dialect.has_hashes() || anchors.is_empty() {
            return false;
        }
        let record = self.memory.record(file);
        let (unseen, as_of) = (Unseen::Refuse, None);
        let mut locator = Locator::new(&record, before, dialect, unseen, as_of, self.cancel);
        let mut track = Track::identity();
        track.follow(changes);
        locator.may_be_ambiguous(anchors, &track)
    }

    /// As [`CallMemory::ambiguous`], for the text after an edit that the session has not learned yet.
    pub fn ambiguous_after(
        &self,
        dialect: &'static Dialect,
        update: &MemoryUpdate,
        lines: impl IntoIterator<Item = u64>,
    ) -> AmbiguousLines {
        let MemoryUpdate::Edited { file, after, .. } = update else {
            return AmbiguousLines::default();
        };
        let record = self.memory.preview(file, update);
        let of_text = |text| ambiguous_in(&record, dialect, text, lines, self.cancel);
        after.body().map(of_text).unwrap_or_default()
    }

    /// The refusals of operations that remove blocks with lines that were not shown, or that
    /// another process has changed since.
    pub fn unseen_in_blocks(
        &self,
        file: &Path,
        path: &str,
        current_text: &CurrentText<'_>,
        removed: &[Resolved<'_>],
    ) -> Vec<(Failure, AnchorReport)> {
        if removed.is_empty() {
            return Vec::new();
        }
        let body = current_text.body();
        let record = self.memory.record(file);
        let (dialect, as_of) = (current_text.dialect, Some(self.as_of));
        let mut locator = Locator::new(&record, body, dialect, self.unseen, as_of, self.cancel);
        let refused = removed.iter().filter_map(|one| {
            let (Spot::Lines(first, last), Some(anchor)) =
                (one.spot, one.operation.action.anchors().next())
            else {
                return None;
            };
            let lines = (first, last);
            let refused = locator.unseen_around(anchor, lines, is_rewriting(one.operation))?;
            Some(remembered_failure(current_text, path, one.operation, &refused))
        });
        refused.collect()
    }
}

impl CallMemory<'_> {
    /// The refusal of an operation that replaces the whole file and would remove lines of the
    /// current text that the model does not know whole.
    pub fn unknown_removed(
        &self,
        file: &Path,
        path: &str,
        current_text: &CurrentText<'_>,
        operation: &Operation,
        removed: &LineSet,
    ) -> Option<(Failure, AnchorReport)> {
        if self.unseen == Unseen::Match || removed.is_empty() {
            return None;
        }
        let known = self.memory.known_lines(file, current_text.body().hash, self.as_of);
        let unknown = removed.without(&known);
        if unknown.is_empty() {
            return None;
        }
        Some(unknown_file_failure(current_text, path, operation, &unknown))
    }
}

/// The lines that a read or search shows whose number and hash could mean another line that was
/// shown before.
pub fn ambiguous_to_show(
    memory: &SessionMemory,
    dialect: &'static Dialect,
    update: &MemoryUpdate,
    cancel: &Cancel,
) -> AmbiguousLines {
    let MemoryUpdate::Shown { file, text, lines, .. } = update else {
        return AmbiguousLines::default();
    };
    let Some(body) = text.body() else { return AmbiguousLines::default() };
    let lines = lines.lines.ranges().iter().flat_map(Range::clone);
    ambiguous_in(&memory.record(file), dialect, body, lines, cancel)
}

fn ambiguous_in(
    record: &FileRecord,
    dialect: &'static Dialect,
    text: Body<'_>,
    lines: impl IntoIterator<Item = u64>,
    cancel: &Cancel,
) -> AmbiguousLines {
    if !dialect.has_hashes() {
        return AmbiguousLines::default();
    }
    let mut locator = Locator::new(record, text, dialect, Unseen::Refuse, None, cancel);
    AmbiguousLines::of(locator.ambiguous(lines), text.hash)
}

/// The lines of a text that rows show: those whose hash and text match.
///
/// If a row does not match, the text has changed, and other rows can match by accident. Then only
/// unique lines with enough letters count.
pub fn rows_shown(dialect: &'static Dialect, body: &Body<'_>, rows: &str) -> ShownLines {
    let mut hasher = LineHasher::new(dialect);
    let (mut agreed, mut is_other) = (Vec::new(), false);
    for row in rows.split('\n') {
        let Some((number, text)) = matching_line(&mut hasher, body, row) else { continue };
        match text {
            Some(text) => agreed.push((number, text, row)),
            None => is_other = true,
        }
    }
    let mut counts: HashMap<&[u8], u64> = HashMap::new();
    if is_other {
        body.lines().for_each(|line| *counts.entry(line).or_default() += 1);
    }
    let is_known = |text: &[u8]| counts.get(text) == Some(&1) && says_enough(text);
    agreed.retain(|(_, text, _)| !is_other || is_known(text));
    let lines = agreed.iter().map(|&(number, ..)| number..number + 1).collect();
    let (mut whole, mut parts) = (Vec::new(), Vec::new());
    for (number, text, row) in agreed {
        let row = RowAnchor::of(dialect, row).map_or("", |row| row.text);
        match shown_part(row, text) {
            part if part.len() == text.len() => whole.push(number..number + 1),
            part => parts.push(ShownPart::new(number, &part, text.len())),
        }
    }
    let mut shown = ShownLines { lines, parts, versioned: LineSet::default() };
    shown.extend(&whole.into_iter().collect());
    shown
}

/// Converts the lines that an answer shows for the memory.
pub fn shown_lines(rows: &ShownRows) -> ShownLines {
    let part = |one: &RowPart| ShownPart::new(one.line, &one.bytes, one.of);
    ShownLines {
        lines: rows.lines.iter().cloned().collect(),
        parts: rows.parts.iter().map(part).collect(),
        versioned: LineSet::default(),
    }
}

/// The number of a row, and the text of its line if the row matches it.
fn matching_line<'b>(
    hasher: &mut LineHasher,
    body: &Body<'b>,
    row: &str,
) -> Option<(u64, Option<&'b [u8]>)> {
    let dialect = hasher.dialect();
    if !dialect.has_hashes() {
        let RowAnchor { line, text, .. } = RowAnchor::of(dialect, row)?;
        return Some((line, body.line(line).filter(|line| shows_line(text, line))));
    }
    let anchor = shown_anchor(dialect, row)?;
    let number = u64::from(anchor.line);
    let text = body.line(number).filter(|text| {
        let agrees = anchor.hint.as_ref().is_none_or(|hint| hint.agrees(dialect, text));
        agrees && hasher.hash(number, text) == anchor.hash
    });
    // An anchor alone does not show the line.
    let shows = RowAnchor::of(dialect, row).is_none_or(|row| !row.text.trim().is_empty());
    Some((number, text.filter(|text| shows || text.trim_ascii().is_empty())))
}

/// Whether a row without hash shows a line, or the part of it between marks.
fn shows_line(row: &str, line: &[u8]) -> bool {
    let line = String::from_utf8_lossy(line);
    let part = between_marks(row);
    let is_whole = part.len() == row.len();
    if is_whole { part.trim_end() == line.trim_end() } else { line.contains(part) }
}

/// The anchor of a rendered row. The text mark follows it directly, unlike in prose that mentions
/// an anchor.
fn shown_anchor(dialect: &'static Dialect, row: &str) -> Option<Anchor> {
    let anchor = Anchor::parse(dialect, row).ok()?;
    let rest = row.strip_prefix(&anchor.text(dialect))?;
    rest.starts_with(char::from(dialect.text_mark)).then_some(anchor)
}

/// Whether an operation replaces lines by a text, so that the model must know them whole.
/// `verbatim` waives that, but a patch in oh-my-pi's language cannot set it.
fn is_rewriting(operation: &Operation) -> bool {
    let LineEdit::Replace { first, lines, .. } = &operation.action else { return false };
    let is_meant = operation.verbatim && first.tag.is_none();
    !(lines.is_empty() || is_meant)
}

/// Whether the text of an operation cannot be re-indented like its lines: in a language where
/// indentation has a meaning, if it has an indentation that they do not have; in oh-my-pi's
/// language, if any text would change.
fn is_misindented(
    operation: &Operation,
    placed: &Placed,
    has_meaning: &LazyCell<bool, impl FnOnce() -> bool>,
) -> bool {
    let (LineEdit::Replace { lines, .. } | LineEdit::Insert { lines, .. }) = &operation.action
    else {
        return false;
    };
    if placed.reindented.is_empty() || lines.is_empty() {
        return false;
    }
    let is_by_tag = operation.action.anchors().any(|anchor| anchor.tag.is_some());
    let is_unclear = || placed.reindented.iter().any(|one| !one.covers(lines)) && **has_meaning;
    match (operation.verbatim, is_by_tag) {
        (_, true) => placed.reindented.iter().any(|one| one.apply(lines) != *lines) || is_unclear(),
        (true, false) => false,
        (false, false) => is_unclear(),
    }
}

/// Whether indentation may have a meaning. In an unknown language it may, and in lists of Markdown.
fn indentation_has_meaning(path: &str, text: &[u8]) -> bool {
    language_of(path, text)
        .is_none_or(|language| language.is_indented || language.name == "Markdown")
}

/// Whether an operation inserts a text next to deleted lines, so that it replaces them.
fn replaces_deleted(one: &Resolved<'_>, deleted: Spot) -> bool {
    let is_insert = matches!(one.operation.action, LineEdit::Insert { .. });
    match (one.spot, deleted) {
        (Spot::Gap(gap), Spot::Lines(first, last)) => {
            is_insert && (first - 1..=last).contains(&gap)
        }
        _ => false,
    }
}

/// What the anchors of an operation name; `None` without anchors.
fn target_of<'o>(current_text: &CurrentText<'_>, operation: &'o Operation) -> Option<Target<'o>> {
    match &operation.action {
        LineEdit::Replace { first, last: None, .. } => Some(Target::Line(first)),
        LineEdit::Replace { first, last: Some(last), .. } => Some(Target::Range(first, last)),
        LineEdit::Take(Transfer { first, last: None, .. }) => Some(Target::Line(first)),
        LineEdit::Take(Transfer { first, last: Some(last), .. }) => {
            Some(Target::Carried(first, last))
        }
        LineEdit::Insert { .. } | LineEdit::Put(_) => match operation.action.place()? {
            InsertAt::Start | InsertAt::End => None,
            InsertAt::After(anchor) | InsertAt::Before(anchor)
                if current_text.is_phantom(anchor) =>
            {
                None
            }
            InsertAt::After(anchor) => Some(Target::After(anchor)),
            InsertAt::Before(anchor) => Some(Target::Before(anchor)),
            InsertAt::Between(after, before) if current_text.is_phantom(before) => {
                Some(Target::After(after))
            }
            InsertAt::Between(after, before) => Some(Target::Between(after, before)),
        },
        LineEdit::ReplaceText { .. }
        | LineEdit::ReplaceFile { .. }
        | LineEdit::Restore(_)
        | LineEdit::Json(_) => None,
    }
}

fn resolved_at(operation: &Operation, placed: Placed) -> Resolved<'_> {
    let Placed { spot, anchor_line, distance, last_distance, reindented, .. } = placed;
    Resolved { operation, spot, anchor_line, distance, last_distance, reindented }
}
