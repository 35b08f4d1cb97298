//! One file and its operations → a plan: load, resolve, repair, plan.

use std::borrow::Cow;
use std::cell::{LazyCell, OnceCell};
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

use super::controls;
use super::copied_rows::without_rows;
use super::failures::Failures;
use super::kept_bytes::mixed_bytes;
use super::lookup::FileEdits;
use super::new_text::NewText;
use super::noop;
use super::options::EditOptions;
use super::replaced_file::{ReplacedFile, replaced_file};
use super::restored::{RestoreRefusal, restored_regions};
use super::touched::Touched;
use super::transfer::{TakenLines, is_unmoved, put, taken};
use super::values::{self, ValueEdits};
use hashline_syntax::{Budget, language_of};

use crate::edit::block::{BlockSpan, Blocks};
use crate::edit::outcome::{Failure, Noop, NoopReason, Relocation, Repair, Warning, WarningCode};
use crate::edit::plan::{Edit, NewLines, Plan, PlanText, Region, find_matches, plan};
use crate::edit::repair::{self, EditSite, ModelText, RowEvidence, Rule, Shift, invented_row};
use crate::edit::report::{
    AnchorReport, FileReport, cut_row_failure, invented_row_error, nearest_failure,
    no_block_failure, reindented_message, repeated_failure,
};
use crate::edit::request::{InsertAt, LineEdit, Operation, Transfer};
use crate::edit::resolve::{AmbiguousLines, CurrentText, Resolved, Spot};
use crate::edit::session::{CallMemory, CopiedRows, FileRefusal, begins_like_row, resolve_plainly};
use crate::edit::splice::splice;
use crate::edit::structure::TrialParser;
use crate::edit::undo::RestoredLines;
use crate::view::scope::Scope;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Mention, Result};
use hashline_disk::bytes::{
    Document, HEAD_BYTES, Loaded, Misreading, contained, hex, load_place, snapshot_of_pieces,
};
use hashline_disk::commit::Content;
use hashline_lines::dialect::Dialect;
use hashline_lines::lines::{LineIndex, Terminator};
use hashline_memory::{Body, LineSet, MemoryLimits, MemoryUpdate, SessionMemory, Version, hash_of};

/// A file all of whose operations are valid, with the plan for it.
pub(super) struct PlannedFile {
    pub(super) document: Document,
    /// The lines of the text as UTF-8.
    index: LineIndex,
    /// The hash of the text, computed on demand.
    hash: OnceLock<u128>,
    pub(super) plan: Plan,
    /// The new content, built on demand.
    after: OnceLock<NewText>,
    pub(super) relocations: Vec<Relocation>,
    pub(super) repairs: Vec<Repair>,
    pub(super) warnings: Vec<Warning>,
    pub(super) noops: Vec<Noop>,
    /// Blocks that were named by one line: the operation, the first line and the last line.
    pub(super) blocks: Vec<(usize, u64, u64)>,
    /// The lines of this file that operations move or copy.
    pub(super) taken: TakenLines,
    operations: usize,
}

impl PlannedFile {
    pub(super) fn report(&self, dialect: &'static Dialect) -> FileReport<'_> {
        FileReport { dialect, document: &self.document, index: &self.index, plan: &self.plan }
    }

    /// The new content in one piece.
    pub(super) fn after(&self) -> &NewText {
        self.after.get_or_init(|| {
            let bytes = splice(&self.document, &self.plan).concat();
            NewText::of(bytes, self.document.charset(), self.document.is_plain())
                .in_charset(self.document.own_charset())
        })
    }

    /// The new content to be written. Unless it was built already, it consists of slices of the
    /// file and of the plan.
    pub(super) fn content_after(&self) -> Content<'_> {
        match self.after.get() {
            Some(after) => after.content(),
            None => Content { pieces: splice(&self.document, &self.plan), snapshot: None },
        }
    }

    /// The snapshot of the file after the patch.
    pub(super) fn snapshot_after(&self) -> String {
        match self.after.get() {
            Some(after) => after.snapshot().to_owned(),
            None => snapshot_of_pieces(&splice(&self.document, &self.plan)),
        }
    }

    /// The text before the patch.
    pub(super) fn body_before(&self) -> Body<'_> {
        let (text, index) = (self.document.text(), &self.index);
        Body { text, index, hash: *self.hash.get_or_init(|| hash_of(text)) }
    }

    /// The snapshot of the file before the patch.
    pub(super) fn snapshot_before(&self, cancel: &Cancel) -> Result<String> {
        match self.document.is_plain() && self.document.bom_bytes() == 0 {
            true => Ok(hex(self.body_before().hash)),
            false => self.document.snapshot(cancel),
        }
    }

    /// The text before the patch, as a version for the memory.
    pub(super) fn version_before(&self, memory: &SessionMemory) -> Version {
        let version = if self.document.is_stable() {
            memory.version_of(self.body_before())
        } else {
            memory.version(self.document.text(), self.hash.get().copied())
        };
        version.in_charset(self.document.own_charset())
    }

    /// The number of operations that change something.
    pub(super) fn effective_operations(&self) -> usize {
        self.operations - self.plan.unchanged.len()
    }
}

/// A file to be edited.
pub(super) struct LoadedFile {
    document: Document,
    /// What the author of the patch was shown, if the patch carries snapshots.
    shown: Option<SessionMemory>,
}

/// Loads a file of a patch; `is_remembered` if a session remembers what it showed.
pub(super) fn load_file(
    scope: &Scope<'_>,
    edits: &FileEdits<'_>,
    is_remembered: bool,
) -> std::result::Result<LoadedFile, Failures> {
    let path = edits.place.shown();
    let load = scope.load_options_at(edits.place.canonical());
    let document = match load_place(scope.fs, &edits.place, &load) {
        Ok(loaded) => editable(loaded, path),
        Err(error) => Err(error),
    };
    let loaded = document.and_then(|document| {
        let shown = shown_by_snapshots(scope, edits, &document, is_remembered)?;
        Ok(LoadedFile { document, shown })
    });
    loaded.map_err(|error| {
        let mut failures = Failures::default();
        for operation in &edits.operations {
            failures.push(operation.index, Some(&operation.path), error.clone());
        }
        failures
    })
}

/// The lines that operations take from a file. Failures are ignored: planning reports them.
pub(super) fn lines_taken(
    scope: &Scope<'_>,
    edits: &FileEdits<'_>,
    file: &LoadedFile,
    options: &EditOptions,
    call_memory: Option<CallMemory<'_>>,
) -> TakenLines {
    let incoming = TakenLines::new();
    let request =
        PlanRequest::of(scope, edits, file.shown.as_ref(), &incoming, options, call_memory);
    let taken = contained(request.path, || {
        let current_text = request.current_text(file.document.text());
        let own_index = own_index(&file.document);
        let index = own_index.as_ref().unwrap_or(&current_text.index);
        let subject = PlanText { document: &file.document, index, cancel: request.cancel };
        Ok(taken(&subject, &request.locate(&current_text).resolved))
    });
    taken.unwrap_or_default()
}

pub(super) fn plan_file(
    scope: &Scope<'_>,
    edits: &FileEdits<'_>,
    file: LoadedFile,
    incoming: &TakenLines,
    options: &EditOptions,
    call_memory: Option<CallMemory<'_>>,
) -> std::result::Result<PlannedFile, Failures> {
    let LoadedFile { document, shown } = file;
    let request = PlanRequest::of(scope, edits, shown.as_ref(), incoming, options, call_memory);
    let path = request.path;
    // A mapped file that changes can cause a panic, which then fails only this file.
    let planned = contained(path, || Ok(plan_document(document, &request)));
    planned.unwrap_or_else(|error| {
        let mut failures = Failures::default();
        failures.push(edits.operations[0].index, Some(path), error);
        Err(failures)
    })
}

/// A memory of the whole file, if the patch carries its snapshots and they match, and no session
/// remembers it.
fn shown_by_snapshots(
    scope: &Scope<'_>,
    edits: &FileEdits<'_>,
    document: &Document,
    is_remembered: bool,
) -> Result<Option<SessionMemory>> {
    if edits.snapshots.is_empty() || is_remembered {
        return Ok(None);
    }
    contained(edits.place.shown(), || {
        let current = document.snapshot(scope.cancel)?;
        let is_as_shown = edits.snapshots.iter().all(|&shown| shown == current);
        Ok(is_as_shown.then(|| memory_of(scope.dialect, edits.place.canonical(), document)))
    })
}

/// A memory of all lines of the current file.
fn memory_of(dialect: &'static Dialect, file: &Path, document: &Document) -> SessionMemory {
    let memory = SessionMemory::new(MemoryLimits::default(), dialect);
    let (file, text) = (file.to_owned(), memory.version(document.text(), None));
    let lines = LineSet::of(1, text.count()).into();
    let update = MemoryUpdate::Shown { file, text, lines };
    memory.learn(vec![update], &Cancel::default());
    memory
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

/// A request to plan operations on a loaded text.
pub(super) struct PlanRequest<'a, 'o> {
    pub(super) dialect: &'static Dialect,
    /// The path for messages; empty for a text in memory.
    pub(super) path: &'a str,
    pub(super) operations: &'a [&'o Operation],
    pub(super) options: &'a EditOptions,
    pub(super) call_memory: Option<(CallMemory<'a>, &'a Path)>,
    pub(super) cancel: &'a Cancel,
    pub(super) budget: &'a Budget<'a>,
    /// How long the text of a refusal may be.
    pub(super) refusal_limit_bytes: usize,
    /// Whether a session edits, for which encodings are guessed.
    pub(super) is_of_session: bool,
    /// Lines that are moved or copied from other files.
    pub(super) incoming: &'a TakenLines,
}

/// The resolved anchors of operations.
struct Placement<'o> {
    resolved: Vec<Resolved<'o>>,
    /// The operations whose range is not reversed.
    forward: Vec<&'o Operation>,
    blocks: Vec<(usize, u64, u64)>,
    failures: Failures,
}

impl<'a, 'o> PlanRequest<'a, 'o> {
    /// The request for a file. Without a session, `shown` is what the patch says was shown.
    fn of(
        scope: &Scope<'a>,
        edits: &'a FileEdits<'o>,
        shown: Option<&'a SessionMemory>,
        incoming: &'a TakenLines,
        options: &'a EditOptions,
        call_memory: Option<CallMemory<'a>>,
    ) -> Self {
        let of_shown = || Some(CallMemory::of_unchanged(shown?, scope.cancel));
        let call_memory = call_memory.or_else(of_shown);
        PlanRequest {
            dialect: scope.dialect,
            path: edits.place.shown(),
            operations: &edits.operations,
            options,
            call_memory: call_memory.map(|call_memory| (call_memory, edits.place.canonical())),
            cancel: scope.cancel,
            budget: scope.budget,
            refusal_limit_bytes: scope.host.refusal_limit_bytes,
            is_of_session: scope.is_of_session(),
            incoming,
        }
    }

    /// The lines of a text, for refusals within the limit of the host.
    fn current_text<'t>(&self, text: &'t [u8]) -> CurrentText<'t> {
        CurrentText::new(self.dialect, text).within(self.refusal_limit_bytes)
    }

    /// Resolves the anchors of the operations.
    fn locate(&self, current_text: &CurrentText<'_>) -> Placement<'o> {
        let (path, policy) = (self.path, self.options.policy());
        let mut failures = Failures::default();
        let (forward, reversed): (Vec<&Operation>, Vec<&Operation>) =
            self.operations.iter().partition(|operation| reversed_range(operation).is_none());
        for operation in reversed {
            if let Some(error) = reversed_range(operation) {
                failures.push(operation.index, non_empty(path), error);
            }
        }
        let resolution = match &self.call_memory {
            Some((call_memory, file)) => {
                call_memory.resolve(file, path, current_text, &policy, &forward)
            }
            None => resolve_plainly(path, current_text, &policy, &forward),
        };
        let mut resolved = resolution.unwrap_or_else(|refused| {
            failures.push_refusal(*refused);
            Vec::new()
        });
        let ExpandedBlocks { blocks, refused } = expand_blocks(
            current_text,
            path,
            &mut resolved,
            self.call_memory.as_ref(),
            self.budget,
        );
        if !refused.is_empty() {
            failures.push_refusal(refusal(self.call_memory.as_ref(), current_text, refused));
        }
        Placement { resolved, forward, blocks, failures }
    }
}

impl PlanRequest<'_, '_> {
    /// The lines in a refusal whose anchors could also name other lines that were shown.
    fn ambiguous(&self, document: &Document, failures: &Failures) -> AmbiguousLines {
        let call_memory = self.call_memory.as_ref().filter(|_| failures.lines().next().is_some());
        let Some((call_memory, file)) = call_memory else { return AmbiguousLines::default() };
        let current_text = self.current_text(document.text());
        call_memory.ambiguous(self.dialect, file, current_text.body(), failures.lines())
    }
}

/// The most similar lines are searched for at most this many missing texts of a file.
const NEAREST_LIMIT: usize = 8;

/// The lines of a document in its own encoding, if that is not UTF-8.
fn own_index(document: &Document) -> Option<LineIndex> {
    (!document.is_plain()).then(|| LineIndex::new(document.body(), document.unit()))
}

/// Plans the operations on a loaded text.
pub(super) fn plan_document(
    document: Document,
    request: &PlanRequest<'_, '_>,
) -> std::result::Result<PlannedFile, Failures> {
    if let [operation] = request.operations
        && let LineEdit::Restore(restored) = &operation.action
    {
        return plan_restored(document, request, operation, restored);
    }
    let (document, failures) = match try_plan(document, request, AmbiguousLines::default()) {
        Ok(planned) => return Ok(planned),
        Err(refused) => *refused,
    };
    let ambiguous = request.ambiguous(&document, &failures);
    if ambiguous.is_empty() {
        return Err(failures);
    }
    // Which lines a refusal shows is known only now. Rendering them with editions needs a second
    // run.
    match try_plan(document, request, ambiguous) {
        Ok(planned) => Ok(planned),
        Err(refused) => Err(refused.1),
    }
}

/// Plans to put back the lines that a patch changed.
fn plan_restored(
    document: Document,
    request: &PlanRequest<'_, '_>,
    operation: &Operation,
    restored: &RestoredLines,
) -> std::result::Result<PlannedFile, Failures> {
    let current_text = request.current_text(document.text());
    let own_index = own_index(&document);
    let index = own_index.as_ref().unwrap_or(&current_text.index);
    let subject = PlanText { document: &document, index, cancel: request.cancel };
    let memory = request.call_memory.as_ref().map(|(call_memory, _)| call_memory.memory);
    let regions = match restored_regions(&subject, &current_text, operation, restored, memory) {
        Ok(regions) => regions,
        Err(refusal) => {
            let mut failures = Failures::default();
            match refusal {
                RestoreRefusal::Changed(failure) => {
                    let call_memory = request.call_memory.as_ref();
                    failures.push_refusal(self::refusal(
                        call_memory,
                        &current_text,
                        vec![*failure],
                    ));
                }
                RestoreRefusal::Error(error) => {
                    failures.push(operation.index, non_empty(request.path), error);
                }
            }
            return Err(failures);
        }
    };
    let unchanged = if regions.is_empty() { vec![operation.index] } else { Vec::new() };
    let noop = regions.is_empty().then(|| noop(operation, NoopReason::Unchanged));
    let (index, hash) = (
        current_text.index,
        current_text.hash.into_inner().map(OnceLock::from).unwrap_or_default(),
    );
    Ok(PlannedFile {
        document,
        index,
        hash,
        plan: Plan { regions, unchanged, dropped_bom: None },
        after: OnceLock::new(),
        relocations: Vec::new(),
        repairs: Vec::new(),
        warnings: Vec::new(),
        noops: noop.into_iter().collect(),
        blocks: Vec::new(),
        taken: TakenLines::new(),
        operations: 1,
    })
}

/// Plans the operations. On failure it returns the document as well. Refusals render the lines in
/// `ambiguous` with an edition.
fn try_plan(
    document: Document,
    request: &PlanRequest<'_, '_>,
    ambiguous: AmbiguousLines,
) -> std::result::Result<PlannedFile, Box<(Document, Failures)>> {
    let &PlanRequest { path, operations, .. } = request;
    let current_text = CurrentText { ambiguous, ..request.current_text(document.text()) };
    let own_index = own_index(&document);
    let index = own_index.as_ref().unwrap_or(&current_text.index);
    let subject = PlanText { document: &document, index, cancel: request.cancel };
    let Placement { resolved, forward, blocks, mut failures } = request.locate(&current_text);
    let rows = FileRows::of(request, &current_text);
    let RepairedEdits { mut edits, mut repairs, mut warnings, refused, invented } =
        repair_texts(&current_text, request, &resolved, &rows);
    if !refused.is_empty() {
        failures.push_refusal(refusal(request.call_memory.as_ref(), &current_text, refused));
    }
    for (operation, error) in invented {
        failures.push(operation, non_empty(path), error);
    }
    let (mut not_found, mut unchanged_files) = (Vec::new(), Vec::new());
    for &operation in &forward {
        let repaired = match repaired_replacement(operation, &current_text, request, &rows) {
            Ok(repaired) => repaired,
            Err(error) => {
                failures.push(operation.index, non_empty(path), error);
                continue;
            }
        };
        let (new_text, repair) = repaired.unzip();
        repairs.extend(repair);
        if let LineEdit::ReplaceFile { content } = &operation.action {
            let content = new_text.as_deref().unwrap_or(content);
            match replace_file(&subject, request, &current_text, operation, content) {
                Ok(replaced) if replaced.is_empty() => unchanged_files.push(operation.index),
                Ok(replaced) => edits.extend(replaced),
                Err(refused) => failures.extend(refused),
            }
            continue;
        }
        match find_matches(&subject, operation, new_text.as_deref()) {
            Ok(matches) => edits.extend(matches),
            Err(error) => {
                let is_told = not_found.len() < NEAREST_LIMIT && error.code == Code::TextNotFound;
                let near = is_told
                    .then(|| {
                        nearest_failure(&current_text, path, operation, &error, request.cancel)
                    })
                    .flatten();
                match near {
                    Some(near) => not_found.push(near),
                    None => failures.push(operation.index, non_empty(path), error),
                }
            }
        }
    }
    if !not_found.is_empty() {
        failures.push_refusal(refusal(request.call_memory.as_ref(), &current_text, not_found));
    }
    let by_path = values::edits(&subject, path, &forward).unwrap_or_else(|refused| {
        failures.extend(refused);
        ValueEdits::default()
    });
    edits.extend(by_path.edits);
    warnings.extend(controls::warnings(&subject, path, &edits, &forward));
    let taken = taken(&subject, &resolved);
    let unmoved = transfer(&subject, &resolved, [&taken, request.incoming], &mut edits);
    let unmoved = unmoved.unwrap_or_else(|refused| {
        for (operation, error) in refused {
            failures.push(operation, non_empty(path), error);
        }
        HashSet::new()
    });
    if !failures.is_empty() {
        return Err(Box::new((document, failures)));
    }
    let mut plan = match plan(&subject, edits) {
        Ok(plan) => plan,
        Err(conflicts) => {
            for conflict in conflicts {
                failures.push(conflict.operation, non_empty(path), conflict.error);
            }
            return Err(Box::new((document, failures)));
        }
    };
    let refused = misread(&document, &plan).or_else(|| mixed_bytes(&document, &plan, request));
    if let Some((operation, error)) = refused {
        failures.push(operation, non_empty(path), error);
        return Err(Box::new((document, failures)));
    }
    plan.unchanged.extend(by_path.unchanged);
    plan.unchanged.extend(unmoved);
    plan.unchanged.extend(unchanged_files);
    warnings.extend(plan.dropped_bom.map(|operation| bom_warning(path, operation, &document)));
    // A move within the file counts once, not as `Take` and `Put`.
    let counted: Vec<&Operation> =
        operations.iter().copied().filter(|operation| !is_put_half(operation, &taken)).collect();
    let unchanged: HashSet<usize> = plan.unchanged.iter().copied().collect();
    let noops = counted.iter().copied().filter(|operation| unchanged.contains(&operation.index));
    let line_of = |operation: &Operation| {
        let placed =
            resolved.iter().find(|candidate| candidate.operation.index == operation.index)?;
        let (Spot::Lines(line, _) | Spot::Gap(line)) = placed.spot;
        Some(line)
    };
    let is_about_line_ends = |operation: &Operation, line: Option<u64>| {
        let ends_in_return = || {
            let span = index.span(document.body(), line?)?;
            Some(span.terminator(index.unit()) == Terminator::CrLf)
        };
        match &operation.action {
            LineEdit::Replace { .. } => ends_in_return() == Some(true),
            LineEdit::ReplaceText { old_text, new_text, .. } => {
                old_text.contains('\r') != new_text.contains('\r')
            }
            _ => false,
        }
    };
    let noops = noops.map(|operation| {
        let line = line_of(operation);
        let is_about_line_ends = is_about_line_ends(operation, line);
        Noop { line, is_about_line_ends, ..noop(operation, NoopReason::Unchanged) }
    });
    let noops = noops.collect();
    let relocations =
        resolved.iter().flat_map(|operation| relocations(&current_text, path, operation)).collect();
    let (index, hash) = (
        current_text.index,
        current_text.hash.into_inner().map(OnceLock::from).unwrap_or_default(),
    );
    Ok(PlannedFile {
        document,
        index,
        hash,
        plan,
        after: OnceLock::new(),
        relocations,
        repairs,
        warnings,
        noops,
        blocks,
        taken,
        operations: counted.len(),
    })
}

/// The edits of an operation that replaces the whole file. In a session it may remove only lines
/// that the model knows.
fn replace_file<'o>(
    subject: &PlanText<'_>,
    request: &PlanRequest<'_, 'o>,
    current_text: &CurrentText<'_>,
    operation: &'o Operation,
    content: &str,
) -> std::result::Result<Vec<Edit<'o>>, Failures> {
    let path = request.path;
    let refused = |error| {
        let mut failures = Failures::default();
        failures.push(operation.index, non_empty(path), error);
        failures
    };
    if let Some(other) = request.operations.iter().find(|other| other.index != operation.index) {
        let (one, two) = (operation.index.min(other.index), operation.index.max(other.index));
        let message = Mention::Operations(one, two) + format!(" replace and edit {path}");
        return Err(refused(Error::new(Code::OverlappingEdits, message)));
    }
    let ReplacedFile { edits, removed } =
        replaced_file(subject, operation, content).map_err(refused)?;
    let unknown = request.call_memory.as_ref().and_then(|(call_memory, file)| {
        call_memory.unknown_removed(file, path, current_text, operation, &removed)
    });
    match unknown {
        None => Ok(edits),
        Some(failure) => {
            let mut failures = Failures::default();
            failures.push_refusal(refusal(
                request.call_memory.as_ref(),
                current_text,
                vec![failure],
            ));
            Err(failures)
        }
    }
}

/// The error if the new content would be read back in another encoding or as binary, with the
/// operation that causes it.
fn misread(document: &Document, plan: &Plan) -> Option<(usize, Error)> {
    let first = plan.regions.first().filter(|first| first.start < HEAD_BYTES)?;
    let mut head = Vec::with_capacity(HEAD_BYTES);
    for piece in splice(document, plan) {
        head.extend_from_slice(&piece[..piece.len().min(HEAD_BYTES - head.len())]);
        if head.len() == HEAD_BYTES {
            break;
        }
    }
    let charset = document.charset();
    let why = Misreading::of(&head, charset)
        .filter(|_| Misreading::of(document.raw(), charset).is_none())?;
    let brings = |region: &&Region| why == Misreading::Binary && region.bytes.contains(&0);
    let region = plan.regions.iter().find(brings).unwrap_or(first);
    let operation = *region.operations.first()?;
    Some((operation, why.error(operation, charset)))
}

/// The warning that a byte order mark was removed from a text.
fn bom_warning(path: &str, operation: usize, document: &Document) -> Warning {
    let mark = match document.bom_bytes() {
        0 => "has none; to add one, delete the file and add it in the same patch",
        _ => "keeps its own",
    };
    let message = Mention::OperationAtStart(operation)
        + format!(
            ": U+FEFF at the start of the file is a byte order mark, not part of line 1. It was removed from your text: the file {mark}."
        );
    let (code, path) = (WarningCode::ByteOrderMark, path.to_owned());
    Warning { code, operation: Some(operation), path, message }
}

/// Whether an operation is the `Put` half of a move or copy within this file.
fn is_put_half(operation: &Operation, taken: &TakenLines) -> bool {
    matches!(operation.action, LineEdit::Put(_)) && taken.contains_key(&operation.index)
}

/// Adds the edits of moves and copies. Returns the operations that change nothing.
fn transfer<'o>(
    subject: &PlanText<'_>,
    resolved: &[Resolved<'o>],
    taken: [&TakenLines; 2],
    edits: &mut Vec<Edit<'o>>,
) -> std::result::Result<HashSet<usize>, Vec<(usize, Error)>> {
    let (mut unmoved, mut refused) = (HashSet::new(), Vec::new());
    let (mut puts, mut takes) = (Vec::new(), Vec::new());
    for one in resolved {
        let operation = one.operation;
        match (&operation.action, one.spot) {
            (LineEdit::Take(transfer), Spot::Lines(first, last)) if !transfer.is_copy => {
                let lines = Cow::Borrowed::<[String]>(&[]);
                takes.push(Edit::Replace { operation, first, last, lines });
            }
            (LineEdit::Put(transfer), _) => {
                let lines = taken.iter().find_map(|known| known.get(&operation.index));
                match lines.map(|lines| put(subject, one, transfer, lines)).transpose() {
                    Ok(edit) => puts.extend(edit.flatten()),
                    Err(error) => refused.push((operation.index, error)),
                }
            }
            _ => {}
        }
    }
    let mut gaps: Vec<u64> = edits.iter().chain(&puts).filter_map(Edit::gap).collect();
    gaps.sort_unstable();
    let inserts_at = |gap: u64| {
        let from = gaps.partition_point(|&known| known < gap);
        gaps[from..].iter().take(2).filter(|&&known| known == gap).count()
    };
    for edit in &puts {
        let index = edit.operation().index;
        let Some(lines) = taken[0].get(&index) else { continue };
        let is_alone = inserts_at(lines.first - 1) + inserts_at(lines.last) == 1;
        if is_alone && is_unmoved(lines, edit) {
            unmoved.insert(index);
        }
    }
    let moved = puts.into_iter().chain(takes);
    edits.extend(moved.filter(|edit| !unmoved.contains(&edit.operation().index)));
    if refused.is_empty() { Ok(unmoved) } else { Err(refused) }
}

/// Failures, with the memory update for the lines of the file that they show.
fn refusal(
    call_memory: Option<&(CallMemory<'_>, &Path)>,
    current_text: &CurrentText<'_>,
    failures: Vec<(Failure, AnchorReport)>,
) -> FileRefusal {
    match call_memory {
        Some((call_memory, file)) => call_memory.refusal(file, current_text, failures),
        None => FileRefusal { failures, update: None },
    }
}

/// Operations that name a block by one line.
#[derive(Default)]
struct ExpandedBlocks {
    /// The operations, each with the first and the last line of its block.
    blocks: Vec<(usize, u64, u64)>,
    refused: Vec<(Failure, AnchorReport)>,
}

/// Expands operations that name a block to all of its lines. In a session, the lines to be removed
/// must have been shown.
fn expand_blocks(
    current_text: &CurrentText<'_>,
    path: &str,
    resolved: &mut [Resolved<'_>],
    call_memory: Option<&(CallMemory<'_>, &Path)>,
    budget: &Budget<'_>,
) -> ExpandedBlocks {
    let blocks = Blocks::new(path, current_text.text, budget);
    let mut expanded = ExpandedBlocks::default();
    let mut removed = Vec::new();
    for one in resolved.iter_mut().filter(|target| target.operation.action.names_block()) {
        let (Spot::Lines(line, _) | Spot::Gap(line)) = one.spot;
        let BlockSpan { first, last } = match blocks.at(line) {
            Ok(block) => block,
            Err(none) => {
                let failure = no_block_failure(current_text, path, one.operation, line, &none);
                expanded.refused.push(failure);
                continue;
            }
        };
        expanded.blocks.push((one.operation.index, first, last));
        if let Spot::Gap(_) = one.spot {
            (one.spot, one.anchor_line) = (Spot::Gap(last), Some(last));
        } else {
            one.spot = Spot::Lines(first, last);
            // Moved lines are not lost.
            if !matches!(one.operation.action, LineEdit::Take(_)) {
                removed.push(one.clone());
            }
        }
    }
    if let Some((call_memory, file)) = call_memory {
        expanded.refused.extend(call_memory.unseen_in_blocks(file, path, current_text, &removed));
    }
    expanded
}

fn non_empty(path: &str) -> Option<&str> {
    Some(path).filter(|path| !path.is_empty())
}

/// The error for a range that starts after its end.
fn reversed_range(operation: &Operation) -> Option<Error> {
    let index = operation.index;
    let (first, last, what) = match &operation.action {
        LineEdit::Replace { first, last: Some(last), .. } if first.line > last.line => {
            (first, last, "starts after its end")
        }
        LineEdit::Take(Transfer { first, last: Some(last), .. }) if first.line > last.line => {
            (first, last, "starts after its end")
        }
        LineEdit::Insert { at: InsertAt::Between(first, last), .. } if first.line >= last.line => {
            (first, last, "inserts between lines of which the first is not above the second")
        }
        LineEdit::Replace { .. }
        | LineEdit::Insert { .. }
        | LineEdit::ReplaceText { .. }
        | LineEdit::ReplaceFile { .. }
        | LineEdit::Restore(_)
        | LineEdit::Json(_)
        | LineEdit::Take(_)
        | LineEdit::Put(_) => {
            return None;
        }
    };
    Some(Error::new(
        Code::OverlappingEdits,
        Mention::Operation(index) + format!(" {what}: line {} to line {}", first.line, last.line),
    ))
}

/// The edits of operations with anchors, after repairs of their texts.
#[derive(Default)]
struct RepairedEdits<'o> {
    edits: Vec<Edit<'o>>,
    repairs: Vec<Repair>,
    warnings: Vec<Warning>,
    /// Texts that repeat the lines next to them, or contain a cut line.
    refused: Vec<(Failure, AnchorReport)>,
    /// Texts that consist of rows with hashes that no line has.
    invented: Vec<(usize, Error)>,
}

/// What is known of rows that the texts for a file may contain.
struct FileRows<'a> {
    copied: CopiedRows<'a>,
    /// Whether lines of the file begin like rows.
    has_rows: OnceCell<bool>,
}

impl<'a> FileRows<'a> {
    fn of(request: &PlanRequest<'a, '_>, current_text: &CurrentText<'_>) -> FileRows<'a> {
        let call_memory = request.call_memory.as_ref().map(|(call_memory, _)| *call_memory);
        let copied = CopiedRows::new(current_text.dialect, call_memory);
        FileRows { copied, has_rows: OnceCell::new() }
    }

    fn are_in(&self, current_text: &CurrentText<'_>) -> bool {
        let begins_like_row = |line| begins_like_row(current_text.dialect, line);
        *self.has_rows.get_or_init(|| current_text.body().lines().any(begins_like_row))
    }
}

/// The new text of a `replace_text` or the new content of a file, without copied anchors, if a
/// session showed such rows.
fn repaired_replacement(
    operation: &Operation,
    current_text: &CurrentText<'_>,
    request: &PlanRequest<'_, '_>,
    rows: &FileRows<'_>,
) -> Result<Option<(String, Repair)>> {
    let (LineEdit::ReplaceText { new_text, .. } | LineEdit::ReplaceFile { content: new_text }) =
        &operation.action
    else {
        return Ok(None);
    };
    let is_on = request.options.repairs.has(Rule::StripAnchors, current_text.dialect);
    if !is_on || operation.verbatim || !rows.copied.is_remembered() {
        return Ok(None);
    }
    let of_file = RowEvidence {
        dialect: current_text.dialect,
        has_shown: &|row| rows.copied.has(row),
        line: &|number| Some(String::from_utf8_lossy(current_text.line(number)?)),
        file_has_rows: &|| rows.are_in(current_text),
    };
    without_rows(&of_file, operation.index, new_text)
}

fn repair_texts<'o>(
    current_text: &CurrentText<'_>,
    request: &PlanRequest<'_, '_>,
    resolved: &[Resolved<'o>],
    rows: &FileRows<'_>,
) -> RepairedEdits<'o> {
    let &PlanRequest { path, options, cancel, budget, .. } = request;
    let line = |number: u64| -> Option<Cow<'_, str>> {
        Some(String::from_utf8_lossy(current_text.line(number)?))
    };
    let trials = OnceCell::new();
    let parses = |draft: &ModelText| {
        let EditSite::Lines(first, last) = draft.site else { return None };
        let trials = trials.get_or_init(|| TrialParser::of(path, current_text.text, budget));
        trials.parses(first, last, &draft.lines)
    };
    let touched = LazyCell::new(|| Touched::of(resolved));
    let is_prose = is_prose(path, current_text.text);
    let (mut shifted, mut shifts) = (Vec::new(), HashMap::<Shift, usize>::new());
    let mut repaired =
        RepairedEdits { edits: Vec::with_capacity(resolved.len()), ..RepairedEdits::default() };
    for one in resolved {
        if cancel.is_cancelled() {
            break;
        }
        let (LineEdit::Replace { lines, .. } | LineEdit::Insert { lines, .. }) =
            &one.operation.action
        else {
            continue;
        };
        if one.operation.verbatim {
            repaired.edits.push(edit_of(one, place_of(one), Cow::Borrowed(lines)));
            continue;
        }
        let draft = ModelText { site: place_of(one), lines: lines.clone() };
        let is_touched = |number| touched.by_another(one.operation.index, number);
        let subject = repair::EditContext {
            dialect: current_text.dialect,
            line: &line,
            is_touched: &is_touched,
            parses: &parses,
            has_shown: &|row| rows.copied.has(row),
            file_has_rows: &|| rows.are_in(current_text),
            is_prose,
            reindented: &one.reindented,
            cancel,
        };
        let mut applied = Vec::new();
        let draft = repair::repair(&options.repairs, &subject, draft, &mut applied);
        repaired.repairs.extend(applied.into_iter().map(|done| Repair {
            rule: done.rule,
            operation: one.operation.index,
            before: done.before,
            after: done.after,
            description: done.description,
        }));
        let repeats = repair::repeats(&options.repairs, &subject, &draft);
        repaired.refused.extend(repeated_failure(current_text, path, one.operation, &repeats));
        if options.repairs.has(Rule::StripAnchors, current_text.dialect)
            && let Some(row) = invented_row_in(&subject, &draft)
        {
            let error = invented_row_error(one.operation.index, row + 1);
            repaired.invented.push((one.operation.index, error));
        }
        let cut = repair::cut_row(&subject, &draft).zip(draft.site.line());
        repaired
            .refused
            .extend(cut.and_then(|cut| cut_row_failure(current_text, path, one.operation, cut)));
        // The hint of a block's anchor need not be that of the block's first line.
        let named = one.operation.action.anchors().next();
        let hint = named.filter(|_| !one.operation.action.names_block());
        let hint = hint.and_then(|anchor| anchor.hint.as_deref());
        let reindented = repair::reindented(&subject, &draft, hint);
        if let Some(shift) = repair::shift(&subject, &draft) {
            *shifts.entry(shift).or_default() += 1;
        }
        shifted.extend(reindented.map(|found| (one.operation, found)));
        repaired.edits.push(edit_of(one, draft.site, Cow::Owned(draft.lines)));
    }
    // A patch that shifts several texts alike means to.
    shifted.retain(|(_, found)| found.shift.as_ref().is_none_or(|shift| shifts[shift] == 1));
    let is_as_shown = request.call_memory.is_some();
    repaired.warnings.extend(shifted.iter().map(|(operation, found)| Warning {
        code: WarningCode::Indentation,
        operation: Some(operation.index),
        path: path.to_owned(),
        message: reindented_message(operation, found, is_as_shown),
    }));
    repaired
}

/// The index of the first row in a text that consists of rows with hashes that no line has.
fn invented_row_in(subject: &repair::EditContext<'_, '_>, draft: &ModelText) -> Option<usize> {
    let lines: Vec<&str> = draft.lines.iter().map(String::as_str).collect();
    let named = match draft.site {
        EditSite::Lines(first, last) => Some((first, last)),
        site => site.line().map(|line| (line, line)),
    };
    invented_row(&subject.row_evidence(), &lines, named)
}

/// Extensions of texts in which any line may be at the margin.
const PROSE_EXTENSIONS: [&str; 11] =
    ["adoc", "asciidoc", "diff", "log", "org", "patch", "rdoc", "rst", "tex", "text", "txt"];

/// Whether a file is prose: Markdown, or a text by its extension, or a name without one.
fn is_prose(path: &str, text: &[u8]) -> bool {
    match language_of(path, text) {
        Some(language) => language.name == "Markdown",
        None => {
            let extension = Path::new(path).extension().map(OsStr::to_ascii_lowercase);
            extension.is_some_and(|one| PROSE_EXTENSIONS.iter().any(|&known| one == known))
        }
    }
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
        | LineEdit::ReplaceFile { .. }
        | LineEdit::Restore(_)
        | LineEdit::Json(_)
        | LineEdit::Take(_)
        | LineEdit::Put(_) => EditSite::Before(line),
    }
}

fn edit_of<'o>(resolved: &Resolved<'o>, place: EditSite, lines: Cow<'o, [String]>) -> Edit<'o> {
    let operation = resolved.operation;
    match (place, resolved.spot) {
        (EditSite::Lines(first, last), _) => Edit::Replace { operation, first, last, lines },
        (_, Spot::Gap(gap)) => Edit::Insert { operation, gap, lines: NewLines::Text(lines) },
        (_, Spot::Lines(first, last)) => Edit::Replace { operation, first, last, lines },
    }
}

/// The relocations of an operation: one for each anchor that moved.
fn relocations(
    current_text: &CurrentText<'_>,
    path: &str,
    resolved: &Resolved<'_>,
) -> Vec<Relocation> {
    if (resolved.distance, resolved.last_distance) == (0, 0) {
        return Vec::new();
    }
    let mut named = resolved.operation.action.anchors();
    let Some(first) = named.next() else { return Vec::new() };
    let last = named.next();
    let relocation = |(anchor, distance): (&hashline_lines::anchor::Anchor, i64)| {
        let line = u64::from(anchor.line).saturating_add_signed(distance);
        Relocation {
            operation: resolved.operation.index,
            path: path.to_owned(),
            from: anchor.text(current_text.dialect),
            to: current_text.fresh(line).unwrap_or_default(),
            distance,
        }
    };
    let anchors =
        [Some((first, resolved.distance)), last.map(|anchor| (anchor, resolved.last_distance))];
    let moved = anchors.into_iter().flatten().filter(|(_, distance)| *distance != 0);
    moved.map(relocation).collect()
}
