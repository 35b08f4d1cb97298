//! All changes of a patch, or none: journal, staging, checking, publishing, rolling back,
//! recovering.
//!
//! What is not promised: a writer that takes no locks and rewrites a file in place between
//! the last look at it and the exchange is not seen; a directory that is moved during a
//! commit takes its files along. docs/durability.md states each step and what a crash right
//! there leaves.

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

use crate::fs::{Base, FileSystem, Lookup, Place, Stamp};
use draft::Draft;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Message, Result, Term};
use journal::Journal;
use publish::Published;
use stage::Staged;
use step::Step;

pub use examine::{StateReport, Trial, examine_state};
pub use lock::{LockKey, Locks};
pub use recover::{Conflict, RecoveryReport, is_abandoned, recover_beneath, recover_transactions};
pub use state::StateDir;

/// The new content of a file.
#[derive(Clone, Debug, Default)]
pub struct Content<'a> {
    /// Its pieces, in order.
    pub pieces: Vec<&'a [u8]>,
    /// Its hash as [`snapshot`](crate::bytes::snapshot) writes it, where no piece can change: one of
    /// a mapped file can. Without it, what was written is read again and hashed.
    pub snapshot: Option<&'a str>,
}

/// What is to become of one file.
pub enum Update<'a> {
    /// An existing file gets another content.
    Rewrite {
        /// The file.
        place: Place,
        /// The version the content was made from.
        stamp: Stamp,
        /// The new content.
        content: Content<'a>,
    },
    /// A file that does not exist is created, with its directories.
    Create {
        /// Its name.
        to: Lookup,
        /// Its content.
        content: Content<'a>,
    },
    /// A file is removed, and a new one with its attributes takes its name.
    Recreate {
        /// The name.
        place: Place,
        /// The version that was seen there.
        stamp: Stamp,
        /// The content of the new file.
        content: Content<'a>,
    },
    /// A file gets another name, and perhaps another content.
    Move {
        /// The old name.
        from: Place,
        /// The version that was seen there.
        stamp: Stamp,
        /// The new name; directories are created.
        to: Lookup,
        /// The new content, unless it stays.
        content: Option<Content<'a>>,
    },
    /// A name is removed.
    Delete {
        /// The name.
        place: Place,
        /// The version that was seen there.
        stamp: Stamp,
    },
}

/// What a finished call is safe from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Durability {
    /// A power cut: every file and directory is forced to the disk.
    #[default]
    Power,
    /// The end of the process.
    Process,
}

impl Durability {
    /// Whether what is written is forced to the disk.
    fn syncs(self) -> bool {
        self == Durability::Power
    }
}

/// How a transaction is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitOptions {
    /// What it is safe from once it is done.
    pub durability: Durability,
    /// Refuse files that have several names: with a root, the others may lie outside it.
    pub refuse_hard_links: bool,
}

/// Why a transaction did not happen.
#[derive(Debug)]
pub enum CommitError {
    /// Decided before anything was changed, or undone completely: a refusal.
    Refused(Error),
    /// A fault after the first change; everything was undone.
    Fault(Error),
    /// A fault after the first change, and another one while undoing: some files are new,
    /// the temporary files that hold old versions stay, and so does the journal.
    Stuck(Error),
}

/// Where a transaction takes place.
#[derive(Clone, Copy)]
pub struct TransactionContext<'a> {
    /// The file system.
    pub fs: &'a dyn FileSystem,
    /// Where paths lead.
    pub base: &'a Base,
    /// Where the journal goes.
    pub state: &'a StateDir,
}

/// A step that is ready: everything it needs is on the disk.
type ReadyStep = Step<Place, Stamp>;

/// Makes every update, or none. `is_current` says, after staging, whether what the updates were
/// made from is still there.
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
        // Windows removes no directory that is open, as those of steps are.
        drop(steps);
        return Err(give_up(fs, staged, journal, error));
    }
    // From here on, temporary files may hold old versions.
    staged.disarm();
    let mut published = Published::new(fs, options.durability);
    match published.publish(&steps) {
        Ok(()) => {
            journal.mark_published(fs);
            // What would not go is left to a recovery, which finds the patch done.
            if published.finish(&steps) {
                journal.remove(fs);
            }
            Ok(())
        }
        Err(error) => {
            let mut error = published.roll_back(error);
            drop(steps);
            // Before the staged files go, the journal must stop asking for them.
            if !matches!(error, CommitError::Stuck(_))
                && let Err(cause) = journal.unmark(fs)
            {
                error = CommitError::Stuck(cause);
            }
            Err(give_up(fs, staged, journal, error))
        }
    }
}

/// Takes away what was staged and the journal, unless recovery still needs them: a mark that is
/// found when the staged files are gone would ask for them.
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

/// Takes away what was staged, then the journal, unless something would not go.
fn clear(fs: &dyn FileSystem, staged: Staged<'_>, journal: Journal) {
    if staged.clear() {
        journal.remove(fs);
    }
}

/// Makes directories and temporary files, and looks at everything once more.
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
        // Whatever it says of a call that was cancelled meanwhile.
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
        Err(cause) => Err(Error::io("look at", place.shown(), &cause)),
    }
}

/// The refusal to overwrite someone else's change.
pub fn concurrent(path: &str, what: &str) -> Error {
    Error::at(
        Code::ConcurrentChange,
        path,
        format!(
            "{path}: {what} by another process while the patch was being prepared; read it again"
        ),
    )
}

/// How the names of temporary files start.
pub const TEMPORARY_PREFIX: &str = ".hashline-";
