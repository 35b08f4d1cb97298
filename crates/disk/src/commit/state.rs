//! The state directory: journals, locks, and versions that a recovery preserved. It is outside the
//! user's tree; without it, nothing can be recovered. Its content determines which files a recovery
//! creates and removes, so files of other users in it are not trusted.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use crate::fs::{Directory, FileKind, FileSystem, NewAccess, Place};
use hashline_base::error::{Error, Message, Result, Term};

/// The name of the default directory, within the platform's directory for state.
const APPLICATION: &str = "hashline";

/// A state directory. It is created on first use.
#[derive(Debug)]
pub struct StateDir {
    path: PathBuf,
    /// The open directory of journals.
    journals: OnceLock<Directory>,
    /// The open directory of locks.
    locks: OnceLock<Directory>,
}

impl StateDir {
    /// The directory given by the option `stateDir`, or the platform's default.
    pub fn new(path: Option<&str>) -> Result<StateDir> {
        let path = match path {
            Some("") => {
                return Err(Error::argument(
                    Message::from(Term::StateDir) + " is empty: name a directory, or omit it",
                ));
            }
            Some(path) => std::path::absolute(path).map_err(|cause| {
                Error::argument(Message::from(Term::StateDir) + format!(" {path:?}: {cause}"))
            })?,
            None => default_path().ok_or_else(|| {
                Error::argument(
                    Message::from("no home directory for state files: set the option ")
                        + Term::StateDir,
                )
            })?,
        };
        Ok(StateDir { path, journals: OnceLock::new(), locks: OnceLock::new() })
    }

    /// The same directory, without open handles.
    pub(crate) fn closed(&self) -> StateDir {
        StateDir { path: self.path.clone(), journals: OnceLock::new(), locks: OnceLock::new() }
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory of journals, and of the copies of files that are rewritten in place.
    pub(super) fn journals_path(&self) -> PathBuf {
        self.path.join(JOURNALS)
    }

    /// The path without links, as far as it exists.
    pub fn canonical(&self, fs: &dyn FileSystem) -> Result<PathBuf> {
        match fs.canonicalize(&self.path) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(self.path.clone()),
            other => other.map_err(|cause| fault(&self.path, &cause)),
        }
    }

    /// The names of all files in the directory of journals, sorted.
    pub(super) fn journal_names(&self, fs: &dyn FileSystem) -> Result<Vec<OsString>> {
        let directory = self.journals_path();
        match self.open_checked(fs, JOURNALS).and_then(|dir| list(fs, &dir)) {
            // Windows reports a path below a file as not found.
            Err(_) if is_file(fs, &self.path) => {
                Err(fault(&self.path, &io::ErrorKind::NotADirectory.into()))
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            other => other.map_err(|cause| fault(&directory, &cause)),
        }
    }

    /// A file in the directory of journals; `shown` is the path for error messages.
    pub(super) fn journal_file(
        &self,
        fs: &dyn FileSystem,
        shown: &str,
        name: OsString,
    ) -> Result<Place> {
        Ok(self.open_cached(fs, &self.journals, JOURNALS)?.place(name, shown))
    }

    /// Opens the file of a lock, and creates it if necessary.
    pub(super) fn lock_file(&self, fs: &dyn FileSystem, name: &str) -> Result<(Place, File)> {
        let fault = |cause| fault(&self.path.join(LOCKS).join(name), &cause);
        let place = self.open_cached(fs, &self.locks, LOCKS)?.place(name, name);
        match fs.open_lock(&place) {
            // Another process has removed the directory meanwhile.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                let place = self.open_private(fs, LOCKS)?.place(name, name);
                let file = fs.open_lock(&place).map_err(fault)?;
                Ok((place, file))
            }
            opened => Ok((place, opened.map_err(fault)?)),
        }
    }

    /// All lock files; none if the directory cannot be read.
    pub(super) fn lock_places(&self, fs: &dyn FileSystem) -> Vec<Place> {
        let Ok(dir) = self.open_checked(fs, LOCKS) else { return Vec::new() };
        let names = list(fs, &dir).unwrap_or_default();
        names.into_iter().map(|name| dir.place(name, "a lock")).collect()
    }

    /// A file for a version that a recovery preserves.
    pub(super) fn preserved_file(&self, fs: &dyn FileSystem, name: &str) -> Result<Place> {
        let dir = self.open_private(fs, "kept")?;
        let shown = dir.path().join(name).to_string_lossy().into_owned();
        Ok(dir.place(name, &shown))
    }

    /// A private directory that stays open for later calls.
    fn open_cached<'d>(
        &self,
        fs: &dyn FileSystem,
        known: &'d OnceLock<Directory>,
        name: &str,
    ) -> Result<&'d Directory> {
        if let Some(known) = known.get() {
            return Ok(known);
        }
        let opened = self.open_private(fs, name)?;
        Ok(known.get_or_init(|| opened))
    }

    /// A file in the directory of a store of records, which is created if necessary.
    pub(crate) fn store_file(&self, fs: &dyn FileSystem, store: &str, name: &str) -> Result<Place> {
        let dir = self.open_private(fs, &format!("{STORE_PREFIX}{store}"))?;
        let shown = dir.path().join(name).to_string_lossy().into_owned();
        Ok(dir.place(name, &shown))
    }

    /// A file of a store; `None` if the store has no directory.
    pub(crate) fn store_file_if_made(
        &self,
        fs: &dyn FileSystem,
        store: &str,
        name: &str,
    ) -> Result<Option<Place>> {
        let directory = format!("{STORE_PREFIX}{store}");
        match self.open_checked(fs, &directory) {
            Ok(dir) => {
                let shown = dir.path().join(name).to_string_lossy().into_owned();
                Ok(Some(dir.place(name, &shown)))
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(fault(&self.path.join(directory), &cause)),
        }
    }

    /// The names of all files in the directory of a store.
    pub(crate) fn store_names(&self, fs: &dyn FileSystem, store: &str) -> Result<Vec<OsString>> {
        let name = format!("{STORE_PREFIX}{store}");
        let listed = self.open_checked(fs, &name).and_then(|dir| list(fs, &dir));
        listed.map_err(|cause| fault(&self.path.join(name), &cause))
    }

    /// The names of all stores.
    pub(crate) fn stores(&self, fs: &dyn FileSystem) -> Vec<String> {
        let names = self.open_top(fs).and_then(|dir| list(fs, &dir)).unwrap_or_default();
        let names = names.iter().filter_map(|name| name.to_str()?.strip_prefix(STORE_PREFIX));
        names.map(str::to_owned).collect()
    }

    /// Removes the directory of a store, if it is empty.
    pub(crate) fn remove_store(&self, fs: &dyn FileSystem, store: &str) {
        let Ok(above) = self.open_top(fs) else { return };
        let _ = fs.remove_dir(&above.place(format!("{STORE_PREFIX}{store}"), store));
    }

    /// Opens a private directory, and creates it if necessary. Its path has no links, because
    /// recoveries compare paths.
    fn open_private(&self, fs: &dyn FileSystem, name: &str) -> Result<Directory> {
        let path = self.path.join(name);
        let dir = match self.open_checked(fs, name) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                make_private(fs, &path).and_then(|()| self.open_checked(fs, name))
            }
            opened => opened,
        };
        dir.map_err(|cause| fault(&path, &cause))
    }

    /// Opens a private directory, if no other user can have changed it or replaced it.
    fn open_checked(&self, fs: &dyn FileSystem, name: &str) -> io::Result<Directory> {
        let place = self.open_top(fs)?.place(name, &self.path.join(name).to_string_lossy());
        let dir = open_unlinked(fs, &place)?;
        check_owner(fs, &dir, place.shown(), Trust::User)?;
        Ok(dir)
    }

    /// Opens the state directory itself, with the same checks. Links in its parent path are
    /// followed.
    fn open_top(&self, fs: &dyn FileSystem) -> io::Result<Directory> {
        let shown = self.path.to_string_lossy();
        let dir = match (self.path.parent(), self.path.file_name()) {
            (Some(parent), Some(name)) => {
                let shown = parent.join(name);
                let place = open_canonical(fs, parent)?.place(name, &shown.to_string_lossy());
                open_unlinked(fs, &place)?
            }
            // The root of a file system, or `..`: neither is a link.
            _ => open_canonical(fs, &self.path)?,
        };
        check_owner(fs, &dir, &shown, Trust::UserOrRoot)?;
        Ok(dir)
    }
}

/// Opens the directory at a place, unless it is a symbolic link: a user who may replace the link
/// could choose what a recovery reads.
fn open_unlinked(fs: &dyn FileSystem, place: &Place) -> io::Result<Directory> {
    match fs.open_dir(place) {
        Err(_) if fs.stamp(place).is_ok_and(|entry| entry.kind == FileKind::Link) => {
            Err(untrusted(format!(
                "{} is a symbolic link, which is not followed: give the path of the directory itself",
                place.shown()
            )))
        }
        opened => opened,
    }
}

/// The refusal of a directory that other users may change or replace.
fn untrusted(why: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidInput, why)
}

/// Opens a directory by its path without links.
fn open_canonical(fs: &dyn FileSystem, path: &Path) -> io::Result<Directory> {
    fs.open_dir_at(&fs.canonicalize(path)?)
}

/// Creates a directory and its missing parents. Only their owner may access them, because journals
/// name files. Each directory is flushed at once, even by calls that do not flush: a journal is
/// useless in a directory that a power cut removes, and later calls assume that an existing
/// directory is flushed.
fn make_private(fs: &dyn FileSystem, path: &Path) -> io::Result<()> {
    let Some(parent) = path.parent() else { return Err(io::ErrorKind::NotFound.into()) };
    let above = match open_canonical(fs, parent) {
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
            make_private(fs, parent)?;
            open_canonical(fs, parent)?
        }
        opened => opened?,
    };
    // `..` exists if the directory before it does.
    let Some(name) = path.file_name() else { return Ok(()) };
    let place = above.place(name, &path.to_string_lossy());
    let made = match fs.make_dir(&place, NewAccess::OwnerOnly) {
        // Another call created it, and may not have flushed it yet.
        Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
            return flush_entry(fs, &place);
        }
        made => made.and_then(|()| flush_entry(fs, &place)),
    };
    made.inspect_err(|_| {
        // Also if creation only seems to have failed: later calls would assume that it is flushed.
        let _ = fs.remove_dir(&place);
    })
}

/// Flushes the entry of a private directory. Locks and stores need not be durable.
fn flush_entry(fs: &dyn FileSystem, place: &Place) -> io::Result<()> {
    let is_store = place.name().as_encoded_bytes().starts_with(STORE_PREFIX.as_bytes());
    if place.name() == LOCKS || is_store { Ok(()) } else { fs.sync_dir(place) }
}

/// Whether a file exists where a directory should be.
fn is_file(fs: &dyn FileSystem, path: &Path) -> bool {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return false };
    let stamp = open_canonical(fs, parent).and_then(|above| fs.stamp(&above.place(name, "")));
    stamp.is_ok_and(|stamp| stamp.kind == FileKind::File)
}

/// The names of the subdirectories.
const JOURNALS: &str = "journals";
const LOCKS: &str = "locks";

/// The prefix of the directories of stores.
const STORE_PREFIX: &str = "store-";

/// Who may own a directory.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// This user, or root.
    UserOrRoot,
    /// This user alone.
    User,
}

/// Refuses a directory that another user owns or may write to.
#[cfg(unix)]
fn check_owner(fs: &dyn FileSystem, dir: &Directory, shown: &str, trust: Trust) -> io::Result<()> {
    const WRITABLE_BY_OTHERS: u32 = 0o022;
    let crate::fs::Stamp { owner: (owner, _), mode, .. } = fs.stamp_of_dir(dir)?;
    let is_users = owner == rustix::process::geteuid().as_raw();
    if !is_users && (trust == Trust::User || owner != 0) {
        let why =
            format!("{shown} belongs to another user (uid {owner}): use a directory of your own");
        return Err(untrusted(why));
    }
    if mode & WRITABLE_BY_OTHERS != 0 {
        return Err(untrusted(format!(
            "{shown} is a directory that other users may write to (mode {mode:o}): run `chmod go-w {shown}`, or use another directory"
        )));
    }
    Ok(())
}

/// The state directory is within the user's profile and inherits its access list.
#[cfg(not(unix))]
fn check_owner(_: &dyn FileSystem, _: &Directory, _: &str, _: Trust) -> io::Result<()> {
    Ok(())
}

/// The names in a directory, sorted.
fn list(fs: &dyn FileSystem, dir: &Directory) -> io::Result<Vec<OsString>> {
    let mut names = fs.list(dir)?;
    names.sort();
    Ok(names)
}

fn fault(path: &Path, cause: &io::Error) -> Error {
    let shown = path.to_string_lossy();
    if cause.kind() == io::ErrorKind::InvalidInput && cause.raw_os_error().is_none() {
        let what = format!("the state directory: {cause} (option ");
        return Error::argument(Message::from(what) + Term::StateDir + ")");
    }
    let error = Error::io("use", &shown, cause);
    #[cfg(unix)]
    if matches!(cause.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) {
        let why = "a patch holds two locks for each of its files";
        return error.within("", format!("; {why}")).without_path();
    }
    let option = Message::from(" (option ") + Term::StateDir + ")";
    error.within("the state directory: ", option).without_path()
}

/// The platform's directory for an application's state.
fn default_path() -> Option<PathBuf> {
    let variable =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    // A relative path would depend on the working directory.
    let home = || std::env::home_dir().filter(|path| path.is_absolute());
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")?
    } else if cfg!(target_vendor = "apple") {
        home()?.join("Library/Application Support")
    } else {
        variable("XDG_STATE_HOME").or_else(|| Some(home()?.join(".local/state")))?
    };
    Some(base.join(APPLICATION))
}
