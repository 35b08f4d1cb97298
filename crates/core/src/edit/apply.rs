//! A patch → an outcome: the order of the stages, and nothing else.
//!
//! request → look up → (for each file, in parallel) load → resolve → repair → plan → splice →
//! commit → report. Whatever is refused before the first change of a file is data.

mod job;
mod lookup;
mod settle;

use std::time::{Duration, Instant};

use crate::cancel::Cancel;
use crate::disk::bytes::{Charset, Document, LoadOptions, string_of};
use crate::disk::commit::{
    CommitError, Ground, Locks, RecoveryReport, StateDir, is_abandoned, recover_beneath,
};
use crate::disk::fs::{Base, FileSystem};
use crate::edit::outcome::{Applied, Failure, Noop, NoopReason, Outcome, Rejected, TextOutcome};
use crate::edit::plan::names;
use crate::edit::repair::Rules;
use crate::edit::report::{AnchorReport, applied_text, recovery_rows, rejected_text};
use crate::edit::request::{Operation, Patch, Target, Value, parse};
use crate::edit::resolve::{Policy, RELOCATE_WINDOW_LINES, RELOCATE_WINDOW_MAX_LINES, Relocate};
use crate::edit::splice::splice;
use crate::error::{Code, Error, Result};
use crate::text::dialect::Dialect;
use crate::threads;
use crate::view::render::with_room_for;
use job::{Job, edited_change};
use lookup::Lookups;
use settle::{settle_document, settle_file};

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
            max_file_bytes: crate::disk::bytes::MAX_FILE_BYTES,
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
        let window_lines = self.relocate_window_lines.min(RELOCATE_WINDOW_MAX_LINES);
        Policy { relocate: self.relocate, window_lines }
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
    fn into_rejected(mut self) -> Option<Rejected> {
        self.failures.sort_by_key(|failure| failure.operation);
        let code = self.failures.first()?.code;
        let text = rejected_text(&self.failures, &self.anchors);
        let mut remaps: Vec<_> = self.anchors.into_iter().filter_map(|one| one.remap).collect();
        remaps.sort();
        remaps.dedup();
        // An anchor that is stale in two files has two answers: none that fits both.
        let twice = |at: usize, all: &[(String, String)]| {
            let same =
                |other: Option<&(String, String)>| other.is_some_and(|one| one.0 == all[at].0);
            same(all.get(at + 1)) || (at > 0 && same(all.get(at - 1)))
        };
        let unique = (0..remaps.len()).filter(|&at| !twice(at, &remaps));
        let remaps = unique.map(|at| remaps[at].clone()).collect();
        Some(Rejected { code, failures: self.failures, remaps, text })
    }
}

fn rejected(failures: Failures) -> Outcome {
    let rejected = failures.into_rejected();
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
    let mut recovered = String::new();
    let mut outcome = apply_patch(fs, patch, options, cancel, &mut recovered);
    // Whatever came of it: a conflict of an interrupted patch is told once.
    match &mut outcome {
        Ok(Outcome::Applied(applied)) => applied.text += &recovered,
        Ok(Outcome::Rejected(rejected)) => rejected.text += &recovered,
        Err(error) => error.message += &recovered,
    }
    outcome
}

fn apply_patch(
    fs: &dyn FileSystem,
    request: &Value,
    options: &ApplyOptions,
    cancel: &Cancel,
    recovered: &mut String,
) -> Result<Outcome> {
    let load = LoadOptions {
        charset: options.charset()?,
        max_file_bytes: options.max_file_bytes,
        cancel: cancel.clone(),
    };
    let base = Base::open(options.root.as_deref())?;
    let state = StateDir::new(options.state_dir.as_deref())?;
    cancel.check()?;
    let patch = match parse(options.dialect, Target::Files, request) {
        Ok(patch) => patch,
        Err(failures) => {
            return Ok(rejected(Failures { failures, ..Failures::default() }));
        }
    };
    let ground = Ground { fs, base: &base, state: &state };
    let Locked { tasks, mut failures, _locks } =
        match lock(ground, &patch, options.lock_timeout_ms, cancel, recovered) {
            Ok(locked) => locked,
            Err(error) => return refused(&patch, error),
        };
    let settle = |edits| {
        cancel.check()?;
        Ok(settle_file(fs, edits, &load, options))
    };
    let settled: Vec<_> = threads::map(&tasks.edits, settle).into_iter().collect::<Result<_>>()?;
    // What was refused since the call was cancelled is no refusal of the patch.
    cancel.check()?;
    let mut files = Vec::with_capacity(settled.len());
    for settled in settled {
        match settled {
            Ok(file) => files.push(file),
            Err(more) => failures.extend(more),
        }
    }
    for clash in names::forbidden(&tasks.name_changes(), &tasks.edited_names()) {
        failures.push(clash.operation, patch.path_of(clash.operation), clash.error);
    }
    let refused_names = tasks.moves_within_one_inode().into_iter().chain(tasks.below_state(&state));
    for (operation, error) in refused_names {
        failures.push(operation, patch.path_of(operation), error);
    }
    if let Some(rejected) = failures.into_rejected() {
        return Ok(Outcome::Rejected(rejected));
    }
    let job = Job::new(ground, options, &tasks, &files);
    let added = match job.added_contents(load.charset) {
        Ok(added) => added,
        Err(error) => return refused(&patch, error),
    };
    // Before the commit: what was read may be mapped, and then shows what is written.
    let applied = job.report(&added);
    match job.commit(&added, cancel) {
        Ok(()) => Ok(Outcome::Applied(applied)),
        Err(CommitError::Refused(error)) => refused(&patch, error),
        Err(CommitError::Fault(error) | CommitError::Stuck(error)) => Err(error),
    }
}

/// An error before the first change as a refusal; cancellation stays an error.
fn refused(patch: &Patch, error: Error) -> Result<Outcome> {
    if error.code == Code::Aborted {
        return Err(error);
    }
    let path = error.path.clone();
    let operation = path.as_deref().and_then(|path| patch.operation_about(path));
    let mut failures = Failures::default();
    failures.push(operation.unwrap_or(0), path.as_deref(), error);
    Ok(rejected(failures))
}

/// The tasks of a patch, and the locks of everything it is about.
struct Locked<'o> {
    tasks: lookup::Tasks<'o>,
    failures: Failures,
    _locks: Locks,
}

/// Takes the locks of a patch's files, and of names that nobody has: another call may have
/// vacated them for a moment. Paths are looked up again once the locks are held: by then
/// another call may have put other files there, which have other locks. What a dead process
/// left of these files is recovered first.
fn lock<'o>(
    ground: Ground<'_>,
    patch: &'o Patch,
    timeout_ms: u64,
    cancel: &Cancel,
    recovered: &mut String,
) -> Result<Locked<'o>> {
    let deadline = Instant::now() + Duration::from_millis(timeout_ms);
    let Ground { fs, base, state } = ground;
    loop {
        // Without waiting: a dead patch whose files others use is theirs to recover, unless
        // its files are ours, too.
        base.forget();
        let report = recover_beneath(ground, Instant::now(), cancel)?;
        *recovered += &recovery_rows(&report);
        let look_up = || {
            base.forget();
            Lookups::new(fs, base).tasks(patch)
        };
        let keys = look_up().0.lock_keys();
        let locks = Locks::take(state, keys.clone(), deadline, cancel)?;
        state.flush_made(fs)?;
        let is_abandoned = is_abandoned(ground, &keys)?;
        let (tasks, failures) = look_up();
        if !is_abandoned && tasks.lock_keys() == keys {
            return Ok(Locked { tasks, failures, _locks: locks });
        }
        drop(locks);
        cancel.check()?;
        if Instant::now() >= deadline {
            return Err(match is_abandoned {
                true => still_unrecovered(report),
                false => still_changing(patch),
            });
        }
        if is_abandoned {
            threads::waiting(|| std::thread::sleep(RECOVERY_PAUSE));
        }
    }
}

/// How long to wait before looking again at a journal that another process works off.
const RECOVERY_PAUSE: Duration = Duration::from_millis(2);

/// Someone who takes no locks gives the names of our files to others, again and again.
fn still_changing(patch: &Patch) -> Error {
    let path = patch.first_path().unwrap_or_default();
    let message =
        format!("{path}: the files of the patch keep being replaced (option lockTimeoutMs)");
    Error::at(Code::LockTimeout, path, message)
}

/// A journal about our files that cannot be worked off stops the call.
fn still_unrecovered(report: RecoveryReport) -> Error {
    let unfinished =
        Error::new(Code::LockTimeout, "it is still being recovered (option lockTimeoutMs)");
    let cause = report.failed.into_iter().next().unwrap_or(unfinished);
    let message = format!("an interrupted patch of these files is in the way: {}", cause.message);
    Error { message, ..cause }
}

/// Applies operations (without paths) to a text in memory. Fails only for misuse of the options.
pub fn apply_to_text(
    text: &str,
    operations: &Value,
    options: &ApplyOptions,
) -> Result<TextOutcome> {
    options.charset()?;
    let refused = |failures| TextOutcome { outcome: rejected(failures), content: None };
    let patch = match parse(options.dialect, Target::Text, operations) {
        Ok(patch) => patch,
        Err(failures) => {
            return Ok(refused(Failures { failures, ..Failures::default() }));
        }
    };
    let (operations, noops) = lookup::without_duplicates(&patch.edits);
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
    let pieces = splice(&file.document, &file.plan);
    let mut content = with_room_for(pieces.iter().map(|piece| piece.len()).sum());
    pieces.iter().for_each(|piece| content.extend_from_slice(piece));
    let content = Some(string_of(content));
    Ok(TextOutcome { outcome: Outcome::Applied(applied), content })
}

/// An operation that has nothing to do.
fn noop<A>(operation: &Operation<A>, reason: NoopReason) -> Noop {
    Noop { operation: operation.index, path: operation.path.clone(), reason }
}
