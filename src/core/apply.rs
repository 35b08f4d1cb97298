//! A patch → an outcome: the order of the stages, and nothing else.
//!
//! request → look up → (for each file, in parallel) load → resolve → repair → plan → splice →
//! commit → report. Whatever is refused before the first change of a file is data.

mod lookup;
mod settle;

use std::time::{Duration, Instant};

use rayon::prelude::*;

use crate::bytes::{Charset, Document, LoadOptions, snapshot, snapshot_of_pieces};
use crate::cancel::Cancel;
use crate::commit::{
    self, CommitError, CommitOptions, Ground, Locks, RecoveryReport, StateDir, concurrent,
    is_abandoned, recover_transactions,
};
use crate::dialect::Dialect;
use crate::error::{Code, Error, Result};
use crate::fs::{Base, FileSystem};
use crate::lines::{Unit, count_lines};
use crate::outcome::{
    Applied, Change, FileChange, Noop, NoopReason, Outcome, Rejected, TextOutcome,
};
use crate::plan::names;
use crate::repair::Rules;
use crate::report::{AnchorReport, applied_text, created_rows, rejected_text};
use crate::request::{Failure, Operation, Target, Value, parse};
use crate::resolve::{Policy, RELOCATE_WINDOW_LINES, Relocate};
use crate::splice::splice;
use lookup::{FileEdits, FileOperation, Lookups, Task};
use settle::{Settled, settle_document, settle_file};

/// What a finished call is safe from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A power cut: every file and directory is forced to the disk.
    #[default]
    Power,
    /// The end of the process.
    Process,
}

/// How a patch is applied.
#[derive(Clone, Debug)]
pub struct ApplyOptions {
    /// The dialect of the anchors.
    pub dialect: &'static Dialect,
    /// Relative paths start here, and nothing outside is read or written.
    pub root: Option<String>,
    /// The label of the encoding of files without byte order mark, and of new files.
    pub encoding: Option<String>,
    /// Larger files are refused.
    pub max_file_bytes: u64,
    /// What to do with stale anchors.
    pub relocate: Relocate,
    /// How far from its number a line is looked for, in lines each way.
    pub relocate_window_lines: u64,
    /// The repairs that may be made to a model's text.
    pub repairs: Rules,
    /// What a finished call is safe from.
    pub durability: Durability,
    /// Where journals and locks are; the platform's directory for state when `None`.
    pub state_dir: Option<String>,
    /// How long to wait for other calls that edit the same files.
    pub lock_timeout_ms: u64,
}

/// The default of the option `lockTimeoutMs`.
pub const LOCK_TIMEOUT_MS: u64 = 10_000;

impl Default for ApplyOptions {
    fn default() -> Self {
        ApplyOptions {
            dialect: Dialect::default_dialect(),
            root: None,
            encoding: None,
            max_file_bytes: crate::bytes::MAX_FILE_BYTES,
            relocate: Relocate::default(),
            relocate_window_lines: RELOCATE_WINDOW_LINES,
            repairs: Rules::default(),
            durability: Durability::default(),
            state_dir: None,
            lock_timeout_ms: LOCK_TIMEOUT_MS,
        }
    }
}

impl ApplyOptions {
    fn policy(&self) -> Policy {
        Policy {
            relocate: self.relocate,
            window_lines: self.relocate_window_lines,
        }
    }

    fn charset(&self) -> Result<Option<Charset>> {
        self.encoding.as_deref().map(Charset::by_label).transpose()
    }
}

/// Failures on the way to a refusal, with what is to be told of failed anchors.
#[derive(Debug, Default)]
struct Failures {
    failures: Vec<Failure>,
    anchors: Vec<AnchorReport>,
}

impl Failures {
    fn push(&mut self, operation: usize, path: Option<&str>, error: Error) {
        self.failures.push(Failure::new(operation, path, error));
    }

    fn extend(&mut self, other: Failures) {
        self.failures.extend(other.failures);
        self.anchors.extend(other.anchors);
    }

    /// The refusal, if there is anything to refuse.
    fn into_rejected(mut self, dialect: &'static Dialect) -> Option<Rejected> {
        self.failures.sort_by_key(|failure| failure.operation);
        let code = self.failures.first()?.code;
        let text = rejected_text(dialect, &self.failures, &self.anchors);
        let mut remaps: Vec<_> = self
            .anchors
            .into_iter()
            .filter_map(|one| one.remap)
            .collect();
        remaps.sort();
        remaps.dedup();
        Some(Rejected {
            code,
            failures: self.failures,
            remaps,
            text,
        })
    }
}

fn rejected(dialect: &'static Dialect, failures: Failures) -> Outcome {
    let rejected = failures.into_rejected(dialect);
    Outcome::Rejected(rejected.expect("a refusal has at least one failure"))
}

/// Applies a patch to files: all of it or nothing. Fails only for misuse of the options,
/// cancellation, and faults after the first change.
pub fn apply_hash(
    fs: &dyn FileSystem,
    patch: &Value,
    options: &ApplyOptions,
    cancel: &Cancel,
) -> Result<Outcome> {
    let load = LoadOptions {
        charset: options.charset()?,
        max_file_bytes: options.max_file_bytes,
    };
    let base = Base::open(options.root.as_deref())?;
    let state = StateDir::new(options.state_dir.as_deref())?;
    cancel.check()?;
    let operations = match parse(options.dialect, Target::Files, patch) {
        Ok(operations) => operations,
        Err(failures) => {
            return Ok(rejected(
                options.dialect,
                Failures {
                    failures,
                    ..Failures::default()
                },
            ));
        }
    };
    let ground = Ground {
        fs,
        base: &base,
        state: &state,
    };
    let Locked {
        tasks,
        mut failures,
        _locks,
    } = match lock(ground, &operations, options.lock_timeout_ms, cancel) {
        Ok(locked) => locked,
        Err(error) => return refused(&operations, options, error),
    };
    let settled: Vec<_> = tasks
        .edits
        .par_iter()
        .map(|edits| {
            cancel.check()?;
            Ok(settle_file(fs, edits, &load, options))
        })
        .collect::<Result<_>>()?;
    let mut files = Vec::with_capacity(settled.len());
    for settled in settled {
        match settled {
            Ok(file) => files.push(file),
            Err(more) => failures.extend(more),
        }
    }
    for clash in names::forbidden(&tasks.name_changes(), &tasks.edited_names()) {
        failures.push(
            clash.operation,
            path_of(&operations, clash.operation),
            clash.error,
        );
    }
    if let Some(rejected) = failures.into_rejected(options.dialect) {
        return Ok(Outcome::Rejected(rejected));
    }
    let job = Job {
        ground,
        options,
        load: &load,
        tasks: &tasks,
        files: &files,
    };
    match job.commit(cancel) {
        Ok(contents) => Ok(Outcome::Applied(job.report(&contents))),
        Err(CommitError::Refused(error)) => refused(&operations, options, error),
        Err(CommitError::Fault(error) | CommitError::Stuck(error)) => Err(error),
    }
}

/// An error before the first change as a refusal; cancellation stays an error.
fn refused(operations: &[Operation], options: &ApplyOptions, error: Error) -> Result<Outcome> {
    if error.code == Code::Aborted {
        return Err(error);
    }
    let operation = operations
        .iter()
        .find(|one| Some(&one.path) == error.path.as_ref());
    let path = error.path.clone();
    let mut failures = Failures::default();
    failures.push(operation.map_or(0, |one| one.index), path.as_deref(), error);
    Ok(rejected(options.dialect, failures))
}

/// The tasks of a patch, and the locks of everything it is about.
struct Locked<'o> {
    tasks: lookup::Tasks<'o>,
    failures: Failures,
    _locks: Locks,
}

/// Takes the locks of a patch's files. Paths are looked up again once the locks are held: by
/// then another call may have put other files there, which have other locks. What a dead
/// process left of these files is recovered first.
fn lock<'o>(
    ground: Ground<'_>,
    operations: &'o [Operation],
    timeout_ms: u64,
    cancel: &Cancel,
) -> Result<Locked<'o>> {
    let deadline = Instant::now() + Duration::from_millis(timeout_ms);
    let Ground { fs, base, state } = ground;
    loop {
        let report = recover_transactions(fs, state, deadline, cancel)?;
        let look_up = || {
            base.forget();
            Lookups::new(fs, base).tasks(operations)
        };
        let keys = look_up().0.lock_keys();
        let locks = Locks::take(state, keys.clone(), deadline, cancel)?;
        if is_abandoned(state, &keys)? {
            still_unrecovered(report)?;
            continue;
        }
        let (tasks, failures) = look_up();
        if tasks.lock_keys() == keys {
            return Ok(Locked {
                tasks,
                failures,
                _locks: locks,
            });
        }
    }
}

/// A journal about our files that cannot be worked off stops the call.
fn still_unrecovered(report: RecoveryReport) -> Result<()> {
    match report.failed.into_iter().next() {
        Some(error) => {
            let message = format!(
                "an interrupted patch could not be recovered: {}",
                error.message
            );
            Err(Error { message, ..error })
        }
        None => Ok(()),
    }
}

fn path_of(operations: &[Operation], index: usize) -> Option<&str> {
    operations
        .iter()
        .find(|one| one.index == index)
        .map(|one| one.path.as_str())
}

/// Everything that is settled and ready to be written.
struct Job<'a> {
    ground: Ground<'a>,
    options: &'a ApplyOptions,
    load: &'a LoadOptions,
    tasks: &'a lookup::Tasks<'a>,
    /// One for each of `tasks.edits`.
    files: &'a [Settled],
}

/// The content of a file that the patch adds, by operation.
type AddedContents = Vec<(usize, Vec<u8>)>;

impl Job<'_> {
    /// Writes everything; hands back the contents of added files.
    fn commit(&self, cancel: &Cancel) -> std::result::Result<AddedContents, CommitError> {
        let added = self.added_contents().map_err(CommitError::Refused)?;
        let changes = self.changes(&added);
        if changes.is_empty() {
            return Ok(added);
        }
        let options = CommitOptions {
            sync: self.options.durability == Durability::Power,
            refuse_hard_links: self.options.root.is_some(),
        };
        let is_current = || {
            let fs = self.ground.fs;
            let stale = self
                .edited()
                .find(|(edits, file)| !file.document.is_unchanged(fs, &edits.place));
            match stale {
                Some((edits, _)) => Err(concurrent(edits.place.shown(), "was changed")),
                None => Ok(()),
            }
        };
        commit::commit(self.ground, &changes, options, cancel, &is_current)?;
        Ok(added)
    }

    fn added_contents(&self) -> Result<AddedContents> {
        let charset = self.load.charset.unwrap_or(Charset::Utf8);
        let added = self.tasks.files.iter().filter_map(|one| match &one.task {
            Task::Add { content, .. } => Some((one, content)),
            _ => None,
        });
        added
            .map(|(one, content)| match charset.encode(content) {
                Ok(bytes) => Ok((one.operation, bytes)),
                Err(character) => Err(Error::at(
                    Code::UnencodableText,
                    &one.path,
                    format!(
                        "operation {}: the character {character:?} does not exist in {}",
                        one.operation,
                        charset.name()
                    ),
                )),
            })
            .collect()
    }

    /// Files with a plan that changes something.
    fn edited(&self) -> impl Iterator<Item = (&FileEdits<'_>, &Settled)> {
        self.tasks
            .edits
            .iter()
            .zip(self.files)
            .filter(|(_, file)| !file.plan.regions.is_empty())
    }

    /// The edit of the file that a move takes along.
    fn edit_of(&self, one: &FileOperation) -> Option<(&FileEdits<'_>, &Settled)> {
        let Task::Move { from, .. } = &one.task else {
            return None;
        };
        self.edited()
            .find(|(edits, _)| edits.place.canonical() == from.canonical())
    }

    fn move_of(&self, edits: &FileEdits<'_>) -> Option<&FileOperation> {
        self.tasks.files.iter().find(|one| {
            matches!(&one.task, Task::Move { from, .. } if from.canonical() == edits.place.canonical())
        })
    }

    fn changes<'a>(&'a self, added: &'a AddedContents) -> Vec<commit::Change<'a>> {
        let mut changes = Vec::new();
        for (edits, file) in self
            .edited()
            .filter(|(edits, _)| self.move_of(edits).is_none())
        {
            if let Some(&stamp) = file.document.stamp() {
                let content = splice(&file.document, &file.plan);
                changes.push(commit::Change::Rewrite {
                    place: edits.place.clone(),
                    stamp,
                    content,
                });
            }
        }
        for one in &self.tasks.files {
            changes.push(match &one.task {
                Task::Add { to, .. } => {
                    let content = added
                        .iter()
                        .find(|(operation, _)| *operation == one.operation);
                    let content = content.map_or(&[][..], |(_, bytes)| bytes);
                    commit::Change::Create {
                        to: to.clone(),
                        content: vec![content],
                    }
                }
                Task::Move {
                    from, stamp, to, ..
                } => {
                    let edit = self.edit_of(one).map(|(_, file)| file);
                    let stamp = edit
                        .and_then(|file| file.document.stamp())
                        .copied()
                        .unwrap_or(*stamp);
                    let content = edit.map(|file| splice(&file.document, &file.plan));
                    commit::Change::Move {
                        from: from.clone(),
                        stamp,
                        to: to.clone(),
                        content,
                    }
                }
                Task::Delete { place, stamp } => commit::Change::Delete {
                    place: place.clone(),
                    stamp: *stamp,
                },
            });
        }
        changes
    }

    fn report(&self, added: &AddedContents) -> Applied {
        let mut applied = Applied::default();
        let mut files: Vec<(usize, FileChange, String)> = Vec::new();
        for (edits, file) in self
            .edited()
            .filter(|(edits, _)| self.move_of(edits).is_none())
        {
            let (change, rows) = edited_change(self.options.dialect, edits.place.shown(), file);
            files.push((edits.operations[0].index, change, rows));
        }
        for one in &self.tasks.files {
            let (change, rows) = self.file_change(one, added);
            files.push((one.operation, change, rows));
        }
        files.sort_by_key(|(operation, ..)| *operation);
        for file in self.files {
            applied.relocations.extend(file.relocations.iter().cloned());
            applied.repairs.extend(file.repairs.iter().cloned());
            applied.noops.extend(file.noops.iter().cloned());
        }
        applied.noops.extend(self.tasks.noops.iter().cloned());
        applied.relocations.sort_by_key(|one| one.operation);
        applied.repairs.sort_by_key(|one| one.operation);
        applied.noops.sort_by_key(|one| one.operation);
        let (changes, rows): (Vec<_>, Vec<_>) = files
            .into_iter()
            .map(|(_, change, rows)| (change, rows))
            .unzip();
        applied.files = changes;
        applied.text = applied_text(&applied, &rows);
        applied
    }

    fn file_change(&self, one: &FileOperation, added: &AddedContents) -> (FileChange, String) {
        let mut change = FileChange {
            path: one.path.clone(),
            from: None,
            change: Change::Deleted,
            edits: 0,
            added: 0,
            removed: 0,
            line_count: None,
            snapshot: None,
        };
        match &one.task {
            Task::Add { content, .. } => {
                let bytes = added
                    .iter()
                    .find(|(operation, _)| *operation == one.operation);
                change.change = Change::Created;
                change.added = count_lines(content.as_bytes(), Unit::Byte);
                change.line_count = Some(change.added);
                change.snapshot = bytes.map(|(_, bytes)| snapshot(bytes));
                (
                    change,
                    created_rows(self.options.dialect, content.as_bytes()),
                )
            }
            Task::Move { to_path, .. } => match self.edit_of(one) {
                Some((_, file)) => {
                    let (edited, rows) = edited_change(self.options.dialect, to_path, file);
                    (
                        FileChange {
                            from: Some(one.path.clone()),
                            ..edited
                        },
                        rows,
                    )
                }
                None => {
                    change.path.clone_from(to_path);
                    change.from = Some(one.path.clone());
                    change.change = Change::Moved;
                    (change, String::new())
                }
            },
            Task::Delete { .. } => (change, String::new()),
        }
    }
}

fn edited_change(dialect: &'static Dialect, path: &str, file: &Settled) -> (FileChange, String) {
    let report = file.report(dialect);
    let (added, removed) = report.added_and_removed();
    let change = FileChange {
        path: path.to_owned(),
        from: None,
        change: Change::Edited,
        edits: file.effective_operations(),
        added,
        removed,
        line_count: Some(report.line_count()),
        snapshot: Some(snapshot_of_pieces(&splice(&file.document, &file.plan))),
    };
    (change, report.rows())
}

/// Applies operations (without paths) to a text in memory. Fails only for misuse of the options.
pub fn apply_to_text(
    text: &str,
    operations: &Value,
    options: &ApplyOptions,
) -> Result<TextOutcome> {
    options.charset()?;
    let refused = |failures| TextOutcome {
        outcome: rejected(options.dialect, failures),
        content: None,
    };
    let operations = match parse(options.dialect, Target::Text, operations) {
        Ok(operations) => operations,
        Err(failures) => {
            return Ok(refused(Failures {
                failures,
                ..Failures::default()
            }));
        }
    };
    let (operations, noops) = lookup::without_duplicates(&operations);
    let document = Document::from_text(text.as_bytes());
    let file = match settle_document(document, "", &operations, options) {
        Ok(file) => file,
        Err(failures) => return Ok(refused(failures)),
    };
    let mut applied = Applied {
        relocations: file.relocations.clone(),
        repairs: file.repairs.clone(),
        noops: file.noops.iter().chain(&noops).cloned().collect(),
        ..Applied::default()
    };
    applied.noops.sort_by_key(|one| one.operation);
    let mut rows = Vec::new();
    if !file.plan.regions.is_empty() {
        let (change, shown) = edited_change(options.dialect, "", &file);
        applied.files.push(change);
        rows.push(shown);
    }
    applied.text = applied_text(&applied, &rows);
    let content = splice(&file.document, &file.plan).concat();
    Ok(TextOutcome {
        outcome: Outcome::Applied(applied),
        content: Some(String::from_utf8_lossy(&content).into_owned()),
    })
}

/// An operation that has nothing to do.
fn noop(operation: &Operation, reason: NoopReason) -> Noop {
    Noop {
        operation: operation.index,
        path: operation.path.clone(),
        reason,
    }
}
