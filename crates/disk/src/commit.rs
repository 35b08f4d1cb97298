//! Atomic commits of patches: journal, staging, checks, publishing, rolling back, recovery.
//!
//! Two things are not guaranteed. A writer that takes no locks and rewrites a file in place between
//! the last check and the exchange is not detected. A directory that is moved during a commit takes
//! its files along. docs/durability.md describes each step and what a crash at that point leaves.

mod draft;
mod examine;
mod files;
mod journal;
mod lock;
mod publish;
mod recover;
mod stage;
mod state;
mod step;
mod undo;

use serde::Deserialize;

use crate::fs::{Base, FileSystem, Lookup, Place, Rights, Stamp};
use draft::Draft;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Message, Result, Term};
use journal::Journal;
use publish::Published;
use stage::Staged;
use step::Step;

pub use examine::{StateReport, Trial, examine_state};
pub use lock::{LockKey, Locks};
pub use recover::{
    Conflict, RecoveryReport, has_hot_journal, recover_beneath, recover_transactions,
};
pub use state::StateDir;

/// The new content of a file.
#[derive(Clone, Debug, Default)]
pub struct Content<'a> {
    /// Its pieces, in the order of the file.
    pub pieces: Vec<&'a [u8]>,
    /// Its hash in the format of [`snapshot`](crate::bytes::snapshot), if no piece can change, as
    /// one of a mapped file can. Without it, what was written is read back and hashed.
    pub snapshot: Option<&'a str>,
}

/// The change of one file.
pub enum Update<'a> {
    /// Replaces the content of an existing file.
    Rewrite {
        /// The file.
        place: Place,
        /// The version that the content was made from.
        stamp: Stamp,
        /// The new content.
        content: Content<'a>,
    },
    /// Creates a file that does not exist, and its directories.
    Create {
        /// Its name.
        to: Lookup,
        /// Its content.
        content: Content<'a>,
        /// Its mode and owner; `None` if the system chooses them.
        rights: Option<Rights>,
    },
    /// Removes a file and creates a new one with its name and attributes.
    Recreate {
        /// The name.
        place: Place,
        /// The version that was seen there.
        stamp: Stamp,
        /// The content of the new file.
        content: Content<'a>,
    },
    /// Renames a file, optionally with a new content.
    Move {
        /// The old name.
        from: Place,
        /// The version that was seen there.
        stamp: Stamp,
        /// The new name; its directories are created.
        to: Lookup,
        /// The new content; `None` if it does not change.
        content: Option<Content<'a>>,
    },
    /// Removes a name.
    Delete {
        /// The name.
        place: Place,
        /// The version that was seen there.
        stamp: Stamp,
    },
}

/// What a finished call survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// A power cut: every file and directory is flushed to the disk.
    #[default]
    Power,
    /// The end of the process, but not a power cut.
    Process,
}

impl Durability {
    /// Whether writes are flushed to the disk.
    fn syncs(self) -> bool {
        self == Durability::Power
    }
}

/// Options of a transaction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitOptions {
    /// What the transaction survives once it is done.
    pub durability: Durability,
    /// Refuse files with several names: if there is a root, the other names may be outside of it.
    pub refuse_hard_links: bool,
}

/// Why a transaction failed.
#[derive(Debug)]
pub enum CommitError {
    /// A refusal: decided before the first change, or all changes were undone.
    Refused(Error),
    /// A fault after the first change; all changes were undone.
    Fault(Error),
    /// A fault after the first change, and another one while undoing. Some files are new; the
    /// journal stays, and so do the temporary files that contain old versions.
    Stuck(Error),
}

impl From<Error> for CommitError {
    fn from(error: Error) -> CommitError {
        CommitError::Refused(error)
    }
}

/// The file system and directories of a transaction.
#[derive(Clone, Copy)]
pub struct TransactionContext<'a> {
    /// The file system.
    pub fs: &'a dyn FileSystem,
    /// Resolves paths.
    pub base: &'a Base,
    /// The directory for the journal.
    pub state: &'a StateDir,
}

/// A staged step: everything it needs is on the disk.
type ReadyStep = Step<Place, Stamp>;

/// Applies all updates, or none. After staging, `is_current` checks that the versions from which
/// the updates were made are still current.
pub fn commit(
    context: TransactionContext<'_>,
    updates: &[Update<'_>],
    options: CommitOptions,
    cancel: &Cancel,
    is_current: &dyn Fn() -> Result<()>,
) -> std::result::Result<(), CommitError> {
    let fs = context.fs;
    let drafts = draft::drafts(context, updates, options).map_err(CommitError::Refused)?;
    let mut journal = Journal::write(fs, context.state, &drafts, options.durability)
        .map_err(CommitError::Refused)?;
    let mut staged = Staged::new(fs, context.base, options.durability, cancel);
    let steps = match stage_all(&mut staged, &drafts, cancel, is_current) {
        Ok(steps) => steps,
        Err(error) => {
            clear(fs, staged, journal);
            return Err(CommitError::Refused(error));
        }
    };
    if let Err(error) = journal.mark_committed(fs, &staged.record(&steps)) {
        // Windows cannot remove open directories, and steps keep theirs open.
        drop(steps);
        return Err(give_up(fs, staged, journal, error));
    }
    // From here on, temporary files may hold old versions.
    staged.disarm();
    let mut published = Published::new(fs, options.durability);
    match published.publish(&steps) {
        Ok(()) => {
            journal.mark_published(fs);
            // If some old version cannot be removed, a later recovery does it.
            if published.finish(&steps) {
                journal.remove(fs);
            }
            Ok(())
        }
        Err(error) => {
            let mut error = published.roll_back(error);
            drop(steps);
            // The journal must stop referring to staged files before these are removed.
            if !matches!(error, CommitError::Stuck(_))
                && let Err(cause) = journal.unmark(fs)
            {
                error = CommitError::Stuck(cause);
            }
            Err(give_up(fs, staged, journal, error))
        }
    }
}

/// Removes the staged files and the journal, unless recovery still needs them: a `committed` record
/// without its staged files would be wrong.
fn give_up(
    fs: &dyn FileSystem,
    mut staged: Staged<'_>,
    journal: Journal,
    error: CommitError,
) -> CommitError {
    match error {
        CommitError::Stuck(error) => {
            staged.disarm();
            let stays = format!("; the journal {} stays, and ", journal.path().display());
            let after =
                Message::from(stays) + Term::Recover + " completes the patch or rolls it back";
            CommitError::Stuck(error.within("", after))
        }
        other => {
            clear(fs, staged, journal);
            other
        }
    }
}

/// Removes the staged files, then the journal if all of them are gone.
fn clear(fs: &dyn FileSystem, staged: Staged<'_>, journal: Journal) {
    if staged.clear() {
        journal.remove(fs);
    }
}

/// Creates directories and temporary files, and checks all versions again.
fn stage_all(
    staged: &mut Staged<'_>,
    drafts: &[Draft<'_>],
    cancel: &Cancel,
    is_current: &dyn Fn() -> Result<()>,
) -> Result<Vec<ReadyStep>> {
    let mut steps = Vec::with_capacity(drafts.len());
    for draft in drafts {
        cancel.check()?;
        let step = staged.stage(draft);
        // Cancellation takes precedence over an error of the step.
        cancel.check()?;
        steps.push(step?);
    }
    staged.sync_directories(&steps)?;
    staged.sync_sources(&steps)?;
    is_current()?;
    for step in &steps {
        if let Some((place, stamp)) = step.source() {
            check_version(staged.fs(), place, stamp)?;
        }
    }
    cancel.check()?;
    Ok(steps)
}

fn check_version(fs: &dyn FileSystem, place: &Place, stamp: &Stamp) -> Result<()> {
    match fs.stamp(place) {
        Ok(now) if now.is_same_version(stamp) => Ok(()),
        Ok(_) => Err(concurrent(place.shown(), "was changed")),
        Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
            Err(concurrent(place.shown(), "was removed"))
        }
        Err(cause) => Err(Error::io("stat", place.shown(), &cause)),
    }
}

/// The refusal to overwrite a change of another process.
pub fn concurrent(path: &str, what: &str) -> Error {
    Error::at(
        Code::ConcurrentChange,
        path,
        format!(
            "{path}: {what} by another process while the patch was being prepared; read it again"
        ),
    )
}

/// The refusal of a patch that would not do what its plan says.
pub fn concurrent_with_plan(path: &str) -> Error {
    let message = format!("{path}: was changed since the patch was planned; plan it again");
    Error::at(Code::ConcurrentChange, path, message)
}

/// The prefix of the names of temporary files.
pub const TEMPORARY_PREFIX: &str = ".hashline-";
