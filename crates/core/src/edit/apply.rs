//! A patch → an outcome: this module runs the stages.
//!
//! request → lookup → (for each file, in parallel) load → resolve → repair → plan → splice →
//! commit → report. A refusal before the first change of a file is an [`Outcome`], not an error.

mod controls;
mod copied_rows;
mod failures;
mod job;
mod kept_bytes;
mod look_alikes;
mod lookup;
mod new_text;
mod options;
mod planned_file;
mod reading;
mod replaced_file;
mod restored;
mod syntax;
mod touched;
mod transfer;
mod turns;
mod values;
mod verify;
mod versions;

use parking_lot::Mutex;
use std::sync::Arc;

use hashline_syntax::Budget;

use crate::edit::outcome::{Applied, Noop, NoopReason, Outcome, Rejected, TextOutcome};
use crate::edit::plan::names;
use crate::edit::report::{HunkNames, RowStyle, applied_text};
use crate::edit::request::{Operation, Operations, Patch};
use crate::edit::resolve::AmbiguousLines;
use crate::edit::session::{CallMemory, PatchState, renamed};
use crate::edit::splice::splice;
use crate::edit::structure::SyntaxCheck;
use crate::view::excerpt::ANSWER_LIMIT_BYTES;
use crate::view::near::near_names;
use crate::view::scope::{Host, Scope};
use failures::{Failures, rejected};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use hashline_base::parallel;
use hashline_disk::bytes::{Document, string_of};
use hashline_disk::commit::{CommitError, StateDir, TransactionContext, concurrent_with_plan};
use hashline_lines::dialect::Dialect;
use hashline_lines::rows::buffer_with_capacity;
use hashline_memory::{LineSet, MemoryUpdate};
use job::{AnswerReader, FileChecks, Job, SessionParts, edited_change};
use lookup::{FileEdits, Tasks};
use planned_file::{
    LoadedFile, PlanRequest, PlannedFile, lines_taken, load_file, plan_document, plan_file,
};
use transfer::TakenLines;
use turns::{Locked, lock};

pub use hashline_disk::commit::Durability;
pub use options::{ApplyOptions, EditOptions, LOCK_TIMEOUT_MS, PatchOptions};
pub use reading::ReadPatch;
pub use syntax::{SyntaxReport, check_syntax, check_syntax_bytes};
pub use verify::{verify_bytes, verify_file};

/// The context in which a patch is applied.
pub struct Application<'a> {
    /// The directory of journals and locks.
    pub state: &'a StateDir,
    /// The options of all patches.
    pub options: &'a ApplyOptions,
    /// The options of this patch.
    pub patch_options: &'a PatchOptions,
    /// What the author of the patch was shown. Without it, anchors are compared with the current
    /// files.
    pub call_memory: Option<CallMemory<'a>>,
}

/// Applies a patch to files, atomically. The only errors are misuse of the options, cancellation
/// and faults after the first change.
pub fn apply_hash(scope: &Scope<'_>, how: &Application<'_>, patch: ReadPatch) -> Result<Outcome> {
    let mut recovered = String::new();
    let mut outcome = apply_patch(scope, how, patch, &mut recovered);
    // A recovery is reported only once, so every outcome reports it.
    match &mut outcome {
        Ok(Outcome::Applied(applied)) => {
            applied.text += &recovered;
            if let Some(written) = applied.written.as_mut().and_then(Arc::get_mut) {
                written.recovered = recovered;
            }
        }
        Ok(Outcome::Rejected(rejected)) => rejected.text += &recovered,
        Err(error) => error.message += &recovered,
    }
    outcome
}

/// The refusal of a patch that was planned. Its anchors and texts were right then, so if they are not
/// now, then a file was changed, unless the system refuses it.
fn refused_plan(scope: &Scope<'_>, rejected: Rejected) -> Result<Outcome> {
    let is_of_system = matches!(
        rejected.code,
        Code::ConcurrentChange
            | Code::LockTimeout
            | Code::PermissionDenied
            | Code::NoSpace
            | Code::Io
            | Code::Internal
    );
    if is_of_system {
        return Ok(Outcome::Rejected(rejected));
    }
    let first = rejected.failures.first();
    let path = first.and_then(|failure| failure.path.as_deref()).unwrap_or("a file");
    refused(scope, &Operations::default(), concurrent_with_plan(path))
}

fn apply_patch(
    scope: &Scope<'_>,
    how: &Application<'_>,
    patch: ReadPatch,
    recovered: &mut String,
) -> Result<Outcome> {
    let &Application { state, options, patch_options, call_memory } = how;
    let cancel = scope.cancel;
    cancel.check()?;
    let earlier = call_memory.and_then(|call_memory| call_memory.patches);
    let registers = earlier.map(PatchState::registers);
    let patch = match patch.operations(registers.as_ref()) {
        Ok(patch) => patch,
        Err(failures) => {
            cancel.check()?;
            return Ok(rejected(Failures::of(failures), &scope.host, HunkNames::default()));
        }
    };
    let context = TransactionContext { fs: scope.fs, base: scope.base, state };
    let Locked { mut tasks, mut failures, _locks } = match lock(
        context,
        scope.dialect,
        &patch,
        options.lock_timeout_ms,
        patch_options,
        cancel,
        recovered,
    ) {
        Ok(locked) => locked,
        Err(error) => return refused(scope, &patch, error),
    };
    if let Some(call_memory) = call_memory {
        failures.note_renamed(|path| renamed(scope, call_memory.memory, path));
    }
    failures.note_near_names(|path| near_names(scope.base, path));
    let stale = versions::stale(scope, &patch, call_memory.is_some())?;
    if !stale.is_empty() {
        failures.extend(stale);
        return Ok(rejected(failures, &scope.host, HunkNames::of(&patch)));
    }
    if let Some(checks) = &patch.undo {
        for (operation, error) in tasks.changed_since(scope, &checks.deleted) {
            failures.push(operation, patch.path_of(operation), error);
        }
    }
    for (operation, error) in
        copied_rows::strip_new_files(&mut tasks, &patch, scope.dialect, &options.edit, call_memory)
    {
        failures.push(operation, patch.path_of(operation), error);
    }
    let (loaded, taken) = load_files(scope, &tasks, &options.edit, call_memory)?;
    let plan_one = |(edits, file): &(&FileEdits<'_>, Mutex<Option<LoadedResult>>)| {
        cancel.check()?;
        let file = file.lock().take();
        Ok(match file.expect("each file is planned once") {
            Ok(file) => plan_file(scope, edits, file, &taken, &options.edit, call_memory),
            Err(failures) => Err(failures),
        })
    };
    let loaded = loaded.into_iter().map(|file| Mutex::new(Some(file)));
    let loaded: Vec<_> = tasks.edits.iter().zip(loaded).collect();
    let planned: Vec<_> = parallel::map(&loaded, plan_one).into_iter().collect::<Result<_>>()?;
    // A cancelled call must not report the failures that cancellation caused.
    cancel.check()?;
    let mut files = Vec::with_capacity(planned.len());
    for file in planned {
        match file {
            Ok(file) => files.push(file),
            Err(more) => failures.extend(more),
        }
    }
    for conflict in names::find_conflicts(&tasks.name_changes(), &tasks.edited_names()) {
        failures.push(conflict.operation, patch.path_of(conflict.operation), conflict.error);
    }
    // Without the path of the state directory, a patch could change files in it.
    let below_state = match scope.base.has_disk().then(|| state.canonical(scope.fs)).transpose() {
        Ok(path) => path.map(|path| tasks.below_state(&path)).unwrap_or_default(),
        Err(error) => return refused(scope, &patch, error),
    };
    let refused_names = tasks.moves_within_one_inode().into_iter();
    let refused_names = refused_names.chain(tasks.moves_onto_documents()).chain(below_state);
    let look_alikes = look_alikes::refused(scope.base, &tasks, patch_options.is_preview, cancel)?;
    let refused_names = refused_names.chain(look_alikes);
    for (operation, error) in refused_names {
        failures.push(operation, patch.path_of(operation), error);
    }
    if let Some((rejected, shown)) = failures.into_shown(&scope.host, HunkNames::of(&patch)) {
        if patch_options.plan.is_some() {
            return refused_plan(scope, rejected);
        }
        // From here on the answer is final, so the lines that it shows count as shown.
        if let Some(call_memory) = call_memory.filter(|_| !patch_options.is_preview) {
            call_memory.memory.learn_from_call(shown, call_memory.as_of, cancel);
        }
        return Ok(Outcome::Rejected(rejected));
    }
    if call_memory.is_some() && !patch_options.is_preview {
        // The memory keeps each new text.
        for file in files.iter().filter(|file| !file.plan.regions.is_empty()) {
            file.after();
        }
    }
    let names = HunkNames::of(&patch);
    let job = Job::new(scope, context, options, names, &tasks, &files);
    let added = match job.added_contents(scope.charset, &taken) {
        Ok(added) => added,
        Err(error) => return refused(scope, &patch, error),
    };
    if patch_options.is_preview {
        // No syntax check: the patch is not complete yet.
        let checks = FileChecks::new();
        let report = job.report(&added, patch_options, &checks, None);
        return Ok(Outcome::Applied(report.applied));
    }
    if let Some(plan) = &patch_options.plan
        && let Err(error) = job.check_plan(plan, &added, cancel)
    {
        return refused(scope, &patch, error);
    }
    let checks = match options.syntax.unwrap_or(match call_memory {
        Some(_) => SyntaxCheck::Warn,
        None => SyntaxCheck::Off,
    }) {
        SyntaxCheck::Off => FileChecks::new(),
        what => {
            let checks = job.checks(&added, earlier, scope.budget);
            if let Some(rejected) = refusal(scope, &checks, what, call_memory.as_ref())
                .into_rejected(&scope.host, HunkNames::of(&patch))
            {
                learn_suggested(&checks, call_memory, cancel);
                return Ok(Outcome::Rejected(rejected));
            }
            checks
        }
    };
    // Before the commit: a mapped file shows the new content afterwards.
    let transfers = call_memory.as_ref().map(|call_memory| job.transfers(&added, call_memory));
    let session = call_memory.as_ref().zip(transfers.as_ref());
    let session = session.map(|(call_memory, transfers)| SessionParts { call_memory, transfers });
    let report = job.report(&added, patch_options, &checks, session);
    if patch_options.dry_run {
        learn_suggested(&checks, call_memory, cancel);
        let plan = Some(job.plan_id(&added, cancel)?);
        return Ok(Outcome::Applied(Applied { plan, ..report.applied }));
    }
    let reader = AnswerReader::of(patch_options);
    let mut updates =
        session.map(|session| job.memory_updates(session, reader, &added, &report.shown));
    let mut undone_by = None;
    if let Some(updates) = updates.as_mut().filter(|_| patch.undo.is_none())
        && let Some(applied) = job.applied_patch(&added, cancel)
    {
        undone_by = Some(applied.id);
        updates.push(MemoryUpdate::Applied(applied));
    }
    if let (Some(updates), Some(call_memory)) = (&mut updates, &call_memory) {
        updates.extend(call_memory.learned.iter().cloned());
    }
    let keeps_written = patch_options.keeps_written && !report.applied.files.is_empty();
    let applied = match session.filter(|_| keeps_written) {
        Some(session) => job.keep_written(report, session, &added, patch_options, undone_by)?,
        None => report.applied,
    };
    match job.commit(&added, cancel) {
        Ok(()) => {
            if let (Some(call_memory), Some(updates)) = (call_memory, updates) {
                call_memory.memory.learn_from_call(updates, call_memory.as_of, cancel);
            }
            if let Some(earlier) = earlier {
                earlier.keep(captured(&patch, &files));
                checks.into_values().for_each(|check| check.keep(earlier));
            }
            Ok(Outcome::Applied(applied))
        }
        Err(CommitError::Refused(error)) => refused(scope, &patch, error),
        Err(CommitError::Fault(error) | CommitError::Stuck(error)) => Err(error),
    }
}

/// The refusal to undo a patch.
pub fn refused_undo(error: Error, host: &Host) -> Outcome {
    let mut failures = Failures::default();
    failures.push(0, None, error);
    rejected(failures, host, HunkNames::default())
}

/// The registers that a patch fills. Lines that are not valid in their encoding are not kept.
fn captured(patch: &Operations, files: &[PlannedFile]) -> Vec<(String, Vec<String>)> {
    let lines = |operation| files.iter().find_map(|file| file.taken.get(&operation)?.lines());
    let captured = patch.captures.iter();
    captured.filter_map(|(name, operation)| Some((name.clone(), lines(*operation)?))).collect()
}

/// A loaded file of a patch, or the failures of its operations.
type LoadedResult = std::result::Result<LoadedFile, Failures>;

/// Loads the files of a patch, and takes the lines that are moved or copied between them.
fn load_files(
    scope: &Scope<'_>,
    tasks: &Tasks<'_>,
    options: &EditOptions,
    call_memory: Option<CallMemory<'_>>,
) -> Result<(Vec<LoadedResult>, TakenLines)> {
    let load = |edits| {
        scope.cancel.check()?;
        let loaded = load_file(scope, edits, call_memory.is_some());
        let taken = match &loaded {
            Ok(file) if edits.has_outgoing_lines() => {
                lines_taken(scope, edits, file, options, call_memory)
            }
            _ => TakenLines::new(),
        };
        Ok((loaded, taken))
    };
    let loaded: Vec<_> = parallel::map(&tasks.edits, load).into_iter().collect::<Result<_>>()?;
    let (loaded, taken): (Vec<_>, Vec<_>) = loaded.into_iter().unzip();
    Ok((loaded, taken.into_iter().flatten().collect()))
}

/// The failures of operations that would break the syntax of a file.
fn refusal(
    scope: &Scope<'_>,
    checks: &FileChecks,
    what: SyntaxCheck,
    call_memory: Option<&CallMemory<'_>>,
) -> Failures {
    if what != SyntaxCheck::Refuse {
        return Failures::default();
    }
    let broken = checks.iter().filter_map(|(&(operation, _), check)| {
        let ambiguous = call_memory.map(|call_memory| check.ambiguous(scope.dialect, call_memory));
        check.refusal(scope.dialect, operation, &ambiguous.unwrap_or_default())
    });
    Failures::of(broken)
}

/// Records the lines that an answer suggests in place of those of a patch that was not applied.
fn learn_suggested(checks: &FileChecks, call_memory: Option<CallMemory<'_>>, cancel: &Cancel) {
    let Some(call_memory) = call_memory else { return };
    let updates =
        checks.values().filter_map(|check| check.memory_update(call_memory.memory)).collect();
    call_memory.memory.learn_from_call(updates, call_memory.as_of, cancel);
}

/// Converts an error before the first change to a refusal; cancellation stays an error.
fn refused(scope: &Scope<'_>, patch: &Operations, error: Error) -> Result<Outcome> {
    if error.code == Code::Aborted {
        return Err(error);
    }
    let path = error.path.clone();
    let operation = path.as_deref().and_then(|path| patch.operation_about(path));
    let mut failures = Failures::default();
    failures.push(operation.unwrap_or(0), path.as_deref(), error);
    Ok(rejected(failures, &scope.host, HunkNames::of(patch)))
}

/// Applies operations (without paths) to a text in memory.
pub fn apply_to_text(
    dialect: &'static Dialect,
    text: &str,
    operations: &Patch,
    options: &EditOptions,
) -> TextOutcome {
    let refused = |outcome| TextOutcome { outcome, content: None };
    let patch = match reading::operations_on_text(dialect, operations, text) {
        Ok(patch) => patch,
        Err(outcome) => return refused(*outcome),
    };
    let path = patch.versions.first().map_or("", |version| version.path.as_str());
    let (operations, noops) = lookup::without_duplicates(dialect, &patch.edits);
    let document = Document::from_text(text.as_bytes());
    let request = PlanRequest {
        dialect,
        path,
        operations: &operations,
        options,
        call_memory: None,
        cancel: &Cancel::default(),
        budget: &Budget::unattended(),
        refusal_limit_bytes: ANSWER_LIMIT_BYTES,
        is_of_session: false,
        incoming: &TakenLines::new(),
    };
    let file = match plan_document(document, &request) {
        Ok(file) => file,
        Err(failures) => {
            return refused(rejected(failures, &Host::default(), HunkNames::of(&patch)));
        }
    };
    let mut applied = Applied {
        relocations: file.relocations.clone(),
        repairs: file.repairs.clone(),
        warnings: patch.warnings.iter().chain(&file.warnings).cloned().collect(),
        noops: file.noops.iter().chain(&noops).cloned().collect(),
        ..Applied::default()
    };
    applied.noops.sort_by_key(|noop| noop.operation);
    applied.warnings.sort_by_key(|warning| warning.operation);
    let names = HunkNames::of(&patch);
    applied.warnings.iter_mut().for_each(|warning| names.write(&mut warning.message));
    let mut sections = Vec::new();
    if !file.plan.regions.is_empty() {
        let style = RowStyle { answer: options.answer, unread: &LineSet::default() };
        let (change, section) = edited_change(dialect, path, &file, style);
        applied.files.push(change);
        sections.push((section, AmbiguousLines::default()));
    }
    (applied.text, _) = applied_text(&applied, &sections, names, ANSWER_LIMIT_BYTES);
    let pieces = splice(&file.document, &file.plan);
    let mut content = buffer_with_capacity(pieces.iter().map(|piece| piece.len()).sum());
    pieces.iter().for_each(|piece| content.extend_from_slice(piece));
    let content = Some(string_of(content));
    TextOutcome { outcome: Outcome::Applied(applied), content }
}

/// The report of an operation without effect.
fn noop<A>(operation: &Operation<A>, reason: NoopReason) -> Noop {
    Noop {
        operation: operation.index,
        path: operation.path.clone(),
        reason,
        line: None,
        is_about_line_ends: false,
    }
}
