//! One file and its operations → a plan: load, resolve, repair, plan.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::path::Path;

use super::failures::Failures;
use super::lookup::FileEdits;
use super::noop;
use super::options::EditOptions;
use super::values::{self, ValueEdits};
use crate::cancel::Cancel;
use crate::disk::bytes::{Document, Loaded, contained, load_place};
use crate::edit::block::{BlockSpan, Blocks};
use crate::edit::outcome::{Failure, Noop, NoopReason, Relocation, Repair, Warning, WarningCode};
use crate::edit::plan::{Edit, Plan, PlanText, find_matches, plan};
use crate::edit::repair::{self, EditSite, ModelText};
use crate::edit::report::{
    AnchorReport, FileReport, cut_row_failure, no_block_failure, reindented_message,
    repeated_failure,
};
use crate::edit::request::{InsertAt, LineEdit, Operation};
use crate::edit::resolve::{Evidence, Resolved, Spot};
use crate::edit::session::{
    FileRefusal, HeldMemory, Lesson, LineSet, MemoryLimits, Recall, Showing, resolve_plainly,
};
use crate::edit::splice::splice;
use crate::edit::structure::Trials;
use crate::error::{Code, Error, Result};
use crate::text::dialect::Dialect;
use crate::text::lines::LineIndex;
use crate::view::scope::Scope;

/// A file whose operations are all in order.
pub(super) struct Settled {
    pub(super) document: Document,
    /// The lines of the text as UTF-8.
    index: LineIndex,
    pub(super) plan: Plan,
    pub(super) relocations: Vec<Relocation>,
    pub(super) repairs: Vec<Repair>,
    pub(super) warnings: Vec<Warning>,
    pub(super) noops: Vec<Noop>,
    /// Blocks that were named by one line: the operation, the first line and the last.
    pub(super) blocks: Vec<(usize, u64, u64)>,
    operations: usize,
}

impl Settled {
    pub(super) fn report(&self, dialect: &'static Dialect) -> FileReport<'_> {
        FileReport { dialect, document: &self.document, index: &self.index, plan: &self.plan }
    }

    /// The text that the patch makes of the file, as UTF-8.
    pub(super) fn text_after(&self) -> Vec<u8> {
        let mut bytes = splice(&self.document, &self.plan).concat();
        if self.document.is_plain() {
            bytes.drain(..self.document.bom_bytes());
            return bytes;
        }
        Document::from_text(&bytes).with_charset(self.document.charset()).text().to_vec()
    }

    /// The operations that change something.
    pub(super) fn effective_operations(&self) -> usize {
        self.operations - self.plan.unchanged.len()
    }
}

pub(super) fn settle_file(
    scope: &Scope<'_>,
    edits: &FileEdits<'_>,
    options: &EditOptions,
    recall: Option<Recall<'_>>,
) -> std::result::Result<Settled, Failures> {
    let path = edits.place.shown();
    let document = match load_place(scope.fs, &edits.place, &scope.load_options()) {
        Ok(loaded) => editable(loaded, path),
        Err(error) => Err(error),
    };
    let with_shown = document.and_then(|document| {
        let shown = shown_by_snapshots(scope, edits, &document, recall.is_some())?;
        Ok((document, shown))
    });
    match with_shown {
        Ok((document, shown)) => {
            let recall = recall.or_else(|| {
                shown.as_ref().map(|memory| Recall::of_unchanged(memory, scope.cancel))
            });
            settle_contained(scope, document, edits, options, recall)
        }
        Err(error) => {
            let mut failures = Failures::default();
            for operation in &edits.operations {
                failures.push(operation.index, Some(&operation.path), error.clone());
            }
            Err(failures)
        }
    }
}

/// A memory of the whole file, where the patch carries its snapshots, no session remembers it, and
/// it is as they say.
fn shown_by_snapshots(
    scope: &Scope<'_>,
    edits: &FileEdits<'_>,
    document: &Document,
    is_remembered: bool,
) -> Result<Option<HeldMemory>> {
    if edits.snapshots.is_empty() || is_remembered {
        return Ok(None);
    }
    contained(edits.place.shown(), || {
        let current = document.snapshot(scope.cancel)?;
        let is_as_shown = edits.snapshots.iter().all(|&shown| shown == current);
        Ok(is_as_shown.then(|| memory_of(edits.place.canonical(), document)))
    })
}

/// A memory of all lines of a file as it is.
fn memory_of(file: &Path, document: &Document) -> HeldMemory {
    let memory = HeldMemory::new(MemoryLimits::default());
    let (file, text) = (file.to_owned(), memory.version(document.text(), None));
    let lines = LineSet::of(1, text.count());
    let lesson = Lesson::Shown { file, text, lines, showing: Showing::Asked };
    memory.learn(vec![lesson], &Cancel::default());
    memory
}

/// As [`settle_document`]; a panic, which bytes that change under a mapping can cause, is this
/// file's failure alone.
fn settle_contained(
    scope: &Scope<'_>,
    document: Document,
    edits: &FileEdits<'_>,
    options: &EditOptions,
    recall: Option<Recall<'_>>,
) -> std::result::Result<Settled, Failures> {
    let (dialect, path, cancel) = (scope.dialect, edits.place.shown(), scope.cancel);
    let recall = recall.map(|recall| (recall, edits.place.canonical()));
    let settled = contained(path, || {
        Ok(settle_document(dialect, document, path, &edits.operations, options, recall, cancel))
    });
    settled.unwrap_or_else(|error| {
        let mut failures = Failures::default();
        failures.push(edits.operations[0].index, Some(path), error);
        Err(failures)
    })
}

fn editable(loaded: Loaded, path: &str) -> Result<Document> {
    match loaded {
        Loaded::Text(document) if document.charset().is_stateless() => Ok(document),
        Loaded::Text(document) => Err(Error::at(
            Code::UnsupportedEncoding,
            path,
            format!(
                "{path}: its encoding, {}, can be read but not edited",
                document.charset().name()
            ),
        )),
        Loaded::Binary(_) => Err(Error::at(
            Code::BinaryFile,
            path,
            format!(
                "{path}: is a binary file (it holds NUL bytes); only text can be edited by line"
            ),
        )),
    }
}

/// Settles operations on a text that is loaded. `path` is for messages; empty in memory.
pub(super) fn settle_document(
    dialect: &'static Dialect,
    document: Document,
    path: &str,
    operations: &[&Operation],
    options: &EditOptions,
    recall: Option<(Recall<'_>, &Path)>,
    cancel: &Cancel,
) -> std::result::Result<Settled, Failures> {
    let mut failures = Failures::default();
    let (forward, backward): (Vec<_>, Vec<_>) =
        operations.iter().partition(|operation| backwards(operation).is_none());
    for operation in backward {
        if let Some(error) = backwards(operation) {
            failures.push(operation.index, some(path), error);
        }
    }
    let evidence = Evidence::new(dialect, document.text());
    // Files in UTF-8 have one set of lines; others have them in their own bytes, too.
    let own_index =
        (!document.is_plain()).then(|| LineIndex::new(document.body(), document.unit()));
    let index = own_index.as_ref().unwrap_or(&evidence.index);
    let subject = PlanText { document: &document, index, cancel };
    let settled = match &recall {
        Some((recall, file)) => recall.resolve(file, path, &evidence, &options.policy(), &forward),
        None => resolve_plainly(path, &evidence, &options.policy(), &forward),
    };
    let mut resolved = settled.unwrap_or_else(|refused| {
        failures.push_refusal(*refused);
        Vec::new()
    });
    let Widened { blocks, refused } = widen(&evidence, path, &mut resolved, recall.as_ref());
    if !refused.is_empty() {
        failures.push_refusal(refusal(recall.as_ref(), &evidence, refused));
    }
    let Mended { mut edits, repairs, warnings, refused } =
        mend(&evidence, path, options, &resolved);
    if !refused.is_empty() {
        failures.push_refusal(refusal(recall.as_ref(), &evidence, refused));
    }
    for &operation in &forward {
        match find_matches(&subject, operation) {
            Ok(matches) => edits.extend(matches),
            Err(error) => failures.push(operation.index, some(path), error),
        }
    }
    let by_path = values::edits(&subject, path, &forward).unwrap_or_else(|refused| {
        failures.extend(refused);
        ValueEdits::default()
    });
    edits.extend(by_path.edits);
    if !failures.failures.is_empty() {
        return Err(failures);
    }
    let mut plan = match plan(&subject, edits) {
        Ok(plan) => plan,
        Err(clashes) => {
            for clash in clashes {
                failures.push(clash.operation, some(path), clash.error);
            }
            return Err(failures);
        }
    };
    plan.unchanged.extend(by_path.unchanged);
    let unchanged = |operation: &&&Operation| plan.unchanged.contains(&operation.index);
    let noops =
        operations.iter().filter(unchanged).map(|one| noop(one, NoopReason::Unchanged)).collect();
    let relocations = resolved.iter().flat_map(|one| relocations(&evidence, path, one)).collect();
    let index = evidence.index;
    Ok(Settled {
        document,
        index,
        plan,
        relocations,
        repairs,
        warnings,
        noops,
        blocks,
        operations: operations.len(),
    })
}

/// What is refused, and what a session shows of the file by that.
fn refusal(
    recall: Option<&(Recall<'_>, &Path)>,
    evidence: &Evidence<'_>,
    failures: Vec<(Failure, AnchorReport)>,
) -> FileRefusal {
    match recall {
        Some((recall, file)) => recall.refusal(file, evidence.text, failures),
        None => FileRefusal { failures, lesson: None },
    }
}

/// What became of operations that name a block by one line.
#[derive(Default)]
struct Widened {
    /// Their operations, with the first and the last line of each.
    blocks: Vec<(usize, u64, u64)>,
    refused: Vec<(Failure, AnchorReport)>,
}

/// Gives operations that name a block all of its lines. In a session those must have been shown
/// that it would remove.
fn widen(
    evidence: &Evidence<'_>,
    path: &str,
    resolved: &mut [Resolved<'_>],
    recall: Option<&(Recall<'_>, &Path)>,
) -> Widened {
    let blocks = Blocks::new(path, evidence.text);
    let mut widened = Widened::default();
    let mut removed = Vec::new();
    for one in resolved.iter_mut().filter(|one| one.operation.action.is_by_block()) {
        let (Spot::Lines(line, _) | Spot::Gap(line)) = one.spot;
        let BlockSpan { first, last } = match blocks.at(line) {
            Ok(block) => block,
            Err(none) => {
                let failure = no_block_failure(evidence, path, one.operation, line, &none);
                widened.refused.push(failure);
                continue;
            }
        };
        widened.blocks.push((one.operation.index, first, last));
        if let Spot::Gap(_) = one.spot {
            (one.spot, one.anchor_line) = (Spot::Gap(last), Some(last));
        } else {
            one.spot = Spot::Lines(first, last);
            removed.push(*one);
        }
    }
    if let Some((recall, file)) = recall {
        widened.refused.extend(recall.unseen_in_blocks(file, path, evidence, &removed));
    }
    widened
}

fn some(path: &str) -> Option<&str> {
    Some(path).filter(|path| !path.is_empty())
}

/// The refusal of a range that starts after its end.
fn backwards(operation: &Operation) -> Option<Error> {
    let index = operation.index;
    let (first, last, what) = match &operation.action {
        LineEdit::Replace { first, last: Some(last), .. } if first.line > last.line => {
            (first, last, "starts after its end")
        }
        LineEdit::Insert { at: InsertAt::Between(first, last), .. } if first.line >= last.line => {
            (first, last, "inserts after a line that is not above the one it inserts before")
        }
        LineEdit::Replace { .. }
        | LineEdit::Insert { .. }
        | LineEdit::ReplaceText { .. }
        | LineEdit::Json(_) => {
            return None;
        }
    };
    Some(Error::new(
        Code::OverlappingEdits,
        format!("operation {index} {what}: line {} to line {}", first.line, last.line),
    ))
}

/// The edits of operations by anchor, their texts repaired.
#[derive(Default)]
struct Mended<'o> {
    edits: Vec<Edit<'o>>,
    repairs: Vec<Repair>,
    warnings: Vec<Warning>,
    /// Texts that repeat the lines next to them.
    refused: Vec<(Failure, AnchorReport)>,
}

fn mend<'o>(
    evidence: &Evidence<'_>,
    path: &str,
    options: &EditOptions,
    resolved: &[Resolved<'o>],
) -> Mended<'o> {
    let line = |number: u64| -> Option<Cow<'_, str>> {
        Some(String::from_utf8_lossy(evidence.line(number)?))
    };
    let trials = OnceCell::new();
    let parses = |draft: &ModelText| {
        let EditSite::Lines(first, last) = draft.place else { return None };
        let trials = trials.get_or_init(|| Trials::of(path, evidence.text));
        trials.parses(first, last, &draft.lines)
    };
    let mut mended = Mended::default();
    for one in resolved {
        let (LineEdit::Replace { lines, .. } | LineEdit::Insert { lines, .. }) =
            &one.operation.action
        else {
            continue;
        };
        let mut draft = ModelText { place: place_of(one), lines: lines.clone() };
        if !one.operation.verbatim {
            let is_touched = |number: u64| {
                resolved.iter().any(|other| {
                    other.operation.index != one.operation.index
                        && matches!(other.spot, Spot::Lines(first, last) if (first..=last).contains(&number))
                })
            };
            let subject = repair::Surroundings {
                dialect: evidence.dialect,
                line: &line,
                is_touched: &is_touched,
                parses: &parses,
            };
            let mut applied = Vec::new();
            draft = repair::repair(&options.repairs, &subject, draft, &mut applied);
            mended.repairs.extend(applied.into_iter().map(|done| Repair {
                rule: done.rule,
                operation: one.operation.index,
                before: done.before,
                after: done.after,
            }));
            let repeats = repair::repeats(&options.repairs, &subject, &draft);
            mended.refused.extend(repeated_failure(evidence, path, one.operation, &repeats));
            let cut = repair::cut_row(&subject, &draft).zip(draft.place.line());
            mended
                .refused
                .extend(cut.and_then(|cut| cut_row_failure(evidence, path, one.operation, cut)));
            // Of a block, the hint need not be that of its first line.
            let named = one.operation.action.anchors().next();
            let hint = named.filter(|_| !one.operation.action.is_by_block());
            let hint = hint.and_then(|one| one.hint.as_ref());
            let reindented = repair::reindented(&subject, &draft, hint);
            mended.warnings.extend(reindented.map(|found| Warning {
                code: WarningCode::Indentation,
                operation: Some(one.operation.index),
                path: path.to_owned(),
                message: reindented_message(one.operation, &found),
            }));
        }
        mended.edits.push(edit_of(one, draft));
    }
    mended
}

fn place_of(resolved: &Resolved<'_>) -> EditSite {
    let line = match (resolved.spot, resolved.anchor_line) {
        (Spot::Lines(first, last), _) => return EditSite::Lines(first, last),
        (Spot::Gap(_), None) => return EditSite::End,
        (Spot::Gap(_), Some(line)) => line,
    };
    match &resolved.operation.action {
        LineEdit::Insert { at: InsertAt::After(_), .. } => EditSite::After(line),
        LineEdit::Insert { at: InsertAt::Between(after, _), .. } => {
            EditSite::Between(u64::from(after.line).saturating_add_signed(resolved.distance), line)
        }
        LineEdit::Insert { at: InsertAt::Before(_) | InsertAt::Start | InsertAt::End, .. }
        | LineEdit::Replace { .. }
        | LineEdit::ReplaceText { .. }
        | LineEdit::Json(_) => EditSite::Before(line),
    }
}

fn edit_of<'o>(resolved: &Resolved<'o>, draft: ModelText) -> Edit<'o> {
    let (operation, lines) = (resolved.operation, draft.lines);
    match (draft.place, resolved.spot) {
        (EditSite::Lines(first, last), _) => Edit::Replace { operation, first, last, lines },
        (_, Spot::Gap(gap)) => Edit::Insert { operation, gap, lines },
        (_, Spot::Lines(first, last)) => Edit::Replace { operation, first, last, lines },
    }
}

/// The relocations of an operation: one for each of its anchors.
fn relocations(evidence: &Evidence<'_>, path: &str, resolved: &Resolved<'_>) -> Vec<Relocation> {
    let (first, last) = match &resolved.operation.action {
        LineEdit::Replace { first, last, .. } => (first, last.as_ref()),
        LineEdit::Insert { at: InsertAt::After(one) | InsertAt::Before(one), .. } => (one, None),
        LineEdit::Insert { at: InsertAt::Between(one, other), .. } => (one, Some(other)),
        LineEdit::Insert { at: InsertAt::Start | InsertAt::End, .. }
        | LineEdit::ReplaceText { .. }
        | LineEdit::Json(_) => return Vec::new(),
    };
    let relocation = |(anchor, distance): (&crate::view::anchor::Anchor, i64)| {
        let line = u64::from(anchor.line).saturating_add_signed(distance);
        Relocation {
            operation: resolved.operation.index,
            path: path.to_owned(),
            from: anchor.text(evidence.dialect),
            to: evidence.fresh(line).unwrap_or_default(),
            distance,
        }
    };
    let anchors = [Some((first, resolved.distance)), last.map(|one| (one, resolved.last_distance))];
    let moved = anchors.into_iter().flatten().filter(|(_, distance)| *distance != 0);
    moved.map(relocation).collect()
}
