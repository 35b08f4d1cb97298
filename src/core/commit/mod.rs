//! All changes of a patch, or none: staging, checking, publishing, rolling back.
//!
//! What is not promised here: a process that is killed between the first rename and the last
//! leaves some files new and some old; and a writer that rewrites a file in place between the
//! last check and the rename is not seen. docs/durability.md states each step.
//!
//! A [`Transaction`] is consumed by [`Transaction::commit`]. Dropped before, or failing, it
//! leaves every file as it was and no temporary file behind.

mod publish;
mod stage;

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};
use crate::fs::{Base, FileSystem, Lookup, Place, Stamp};
use publish::Published;
use stage::Staged;

/// The new content of a file, in pieces.
pub type Pieces<'a> = Vec<&'a [u8]>;

/// One change of a directory entry or a file.
pub enum Change<'a> {
    /// An existing file gets another content.
    Rewrite {
        /// The file.
        place: Place,
        /// The version the content was made from.
        stamp: Stamp,
        /// The new content.
        content: Pieces<'a>,
    },
    /// A file that does not exist is created, with its directories.
    Create {
        /// Its name.
        to: Lookup,
        /// Its content.
        content: Pieces<'a>,
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
        content: Option<Pieces<'a>>,
    },
    /// A name is removed.
    Delete {
        /// The name.
        place: Place,
        /// The version that was seen there.
        stamp: Stamp,
    },
}

/// How a transaction is carried out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CommitOptions {
    /// Force files and directories to the disk.
    pub sync: bool,
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
    /// and the temporary files that hold old versions stay.
    Stuck(Error),
}

/// Everything that is ready to be put in place.
pub struct Transaction<'a> {
    fs: &'a dyn FileSystem,
    options: CommitOptions,
    staged: Staged<'a>,
    ready: Vec<Ready>,
}

/// A change whose new content, if any, lies in a temporary file beside its target.
enum Ready {
    Rewrite {
        target: Place,
        stamp: Stamp,
        temporary: Place,
    },
    /// The file keeps its inode: it has other names, or its directory takes no new entries.
    RewriteInPlace {
        target: Place,
        stamp: Stamp,
        content: Vec<u8>,
    },
    Create {
        target: Place,
        temporary: Place,
    },
    Rename {
        from: Place,
        stamp: Stamp,
        to: Place,
    },
    /// A move with new content, or to another file system.
    Replace {
        from: Place,
        stamp: Stamp,
        to: Place,
        temporary: Place,
    },
    Delete {
        target: Place,
        stamp: Stamp,
    },
}

impl<'a> Transaction<'a> {
    /// Checks every change and writes every new content to a temporary file.
    pub fn prepare(
        fs: &'a dyn FileSystem,
        base: &'a Base,
        changes: &[Change<'_>],
        options: CommitOptions,
        cancel: &Cancel,
    ) -> Result<Transaction<'a>> {
        let staged = Staged::new(fs, base, options.sync);
        let mut transaction = Transaction {
            fs,
            options,
            staged,
            ready: Vec::new(),
        };
        for change in changes {
            cancel.check()?;
            let ready = transaction.prepare_one(change)?;
            transaction.ready.push(ready);
        }
        Ok(transaction)
    }

    /// Puts everything in place, or nothing.
    pub fn commit(mut self, cancel: &Cancel) -> std::result::Result<(), CommitError> {
        self.check_versions().map_err(CommitError::Refused)?;
        cancel.check().map_err(CommitError::Refused)?;
        let mut published = Published::new(self.fs, self.options.sync);
        match published.publish(&self.ready) {
            Ok(()) => {
                self.staged.disarm();
                published.finish();
                Ok(())
            }
            Err(error) => {
                let error = published.roll_back(error);
                if matches!(error, CommitError::Stuck(_)) {
                    self.staged.disarm();
                }
                Err(error)
            }
        }
    }

    fn prepare_one(&mut self, change: &Change<'_>) -> Result<Ready> {
        match change {
            Change::Rewrite {
                place,
                stamp,
                content,
            } => self.prepare_rewrite(place, stamp, content),
            Change::Create { to, content } => {
                let target = self.staged.directories(to)?;
                let temporary = self.staged.file(&target, content, None)?;
                Ok(Ready::Create { target, temporary })
            }
            Change::Move {
                from,
                stamp,
                to,
                content,
            } => {
                let to = self.staged.directories(to)?;
                self.prepare_move(from, stamp, to, content.as_ref())
            }
            Change::Delete { place, stamp } => Ok(Ready::Delete {
                target: place.clone(),
                stamp: *stamp,
            }),
        }
    }

    fn prepare_rewrite(
        &mut self,
        place: &Place,
        stamp: &Stamp,
        content: &Pieces<'_>,
    ) -> Result<Ready> {
        let path = place.shown();
        let may_write = self
            .fs
            .may_write(place)
            .map_err(|cause| Error::io("write", path, &cause))?;
        if !may_write {
            let message = format!("{path}: permission denied (the file is not writable)");
            return Err(Error::at(Code::PermissionDenied, path, message));
        }
        if stamp.links > 1 && self.options.refuse_hard_links {
            return Err(Error::at(
                Code::OutsideRoot,
                path,
                format!(
                    "{path}: has {} names (hard links), and some may lie outside the root",
                    stamp.links
                ),
            ));
        }
        if stamp.links == 1 {
            match self.staged.file(place, content, Some((place, stamp))) {
                Ok(temporary) => {
                    return Ok(Ready::Rewrite {
                        target: place.clone(),
                        stamp: *stamp,
                        temporary,
                    });
                }
                // A directory without new entries may still hold a writable file.
                Err(error) if error.code == Code::PermissionDenied => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Ready::RewriteInPlace {
            target: place.clone(),
            stamp: *stamp,
            content: content.concat(),
        })
    }

    fn prepare_move(
        &mut self,
        from: &Place,
        stamp: &Stamp,
        to: Place,
        content: Option<&Pieces<'_>>,
    ) -> Result<Ready> {
        let (from, stamp) = (from.clone(), *stamp);
        let staged = match content {
            Some(content) => Some(self.staged.file(&to, content, Some((&from, &stamp)))),
            None if self.same_device(&from, &to) => None,
            None => Some(self.staged.copy(&from, &to)),
        };
        Ok(match staged.transpose()? {
            Some(temporary) => Ready::Replace {
                from,
                stamp,
                to,
                temporary,
            },
            None => Ready::Rename { from, stamp, to },
        })
    }

    fn same_device(&self, from: &Place, to: &Place) -> bool {
        let device = |place: &Place| {
            self.fs
                .stamp(&place.directory())
                .map(|stamp| stamp.device)
                .ok()
        };
        device(from) == device(to)
    }

    /// Every file is still what was read.
    fn check_versions(&self) -> Result<()> {
        self.ready.iter().try_for_each(|ready| match ready {
            Ready::Rewrite { target, stamp, .. }
            | Ready::RewriteInPlace { target, stamp, .. }
            | Ready::Delete { target, stamp }
            | Ready::Rename {
                from: target,
                stamp,
                ..
            }
            | Ready::Replace {
                from: target,
                stamp,
                ..
            } => check_version(self.fs, target, stamp),
            Ready::Create { .. } => Ok(()),
        })
    }
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
fn concurrent(path: &str, what: &str) -> Error {
    Error::at(
        Code::ConcurrentChange,
        path,
        format!("{path}: {what} by someone else while the patch was being prepared; read it again"),
    )
}

/// Directories that a transaction makes, by path, so that two files can share a new one.
type NewDirectories = BTreeMap<PathBuf, Place>;

/// A name for a temporary file that nobody else has.
fn temporary_name() -> OsString {
    use std::hash::{BuildHasher, RandomState};
    // Each `RandomState` has keys of its own, from the system's source of randomness.
    let random = RandomState::new().hash_one(std::process::id());
    OsString::from(format!("{TEMPORARY_PREFIX}{random:016x}.tmp"))
}

/// How the names of temporary files start.
pub const TEMPORARY_PREFIX: &str = ".hashline-";
