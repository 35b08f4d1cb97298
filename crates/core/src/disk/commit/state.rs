//! The state directory: journals, locks, and what a recovery kept. It lies outside the
//! user's tree; lost with it is the chance to recover. What is in it says what a recovery does
//! and which files are made and removed, so nothing of another user's is trusted.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, OpenOptions};

use crate::disk::fs::{FileSystem, Place, Stamp};
use crate::error::{Error, Message, Result, Term};

/// The name of the default directory below the platform's directory for state.
const APPLICATION: &str = "hashline";

/// A directory for state; made on first use.
#[derive(Debug)]
pub struct StateDir {
    path: PathBuf,
    /// The open directory of journals, and its path without links.
    journals: OnceLock<(Arc<Dir>, PathBuf)>,
    /// The same of locks.
    locks: OnceLock<(Arc<Dir>, PathBuf)>,
    /// Directories that were made and are not flushed yet, the upper ones first.
    made: Mutex<Vec<PathBuf>>,
}

impl StateDir {
    /// The directory of the option `stateDir`, or the platform's.
    pub fn new(path: Option<&str>) -> Result<StateDir> {
        let path = match path {
            Some("") => {
                return Err(Error::argument(
                    Message::from(Term::StateDir) + " is empty: name a directory, or leave it out",
                ));
            }
            Some(path) => std::path::absolute(path).map_err(|cause| {
                Error::argument(Message::from(Term::StateDir) + format!(" {path:?}: {cause}"))
            })?,
            None => default_path().ok_or_else(|| {
                Error::argument(
                    Message::from("there is no home directory to keep state in: set the option ")
                        + Term::StateDir,
                )
            })?,
        };
        Ok(StateDir {
            path,
            journals: OnceLock::new(),
            locks: OnceLock::new(),
            made: Mutex::default(),
        })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory of journals, and of the contents of files that are rewritten in place.
    pub(super) fn journals_path(&self) -> PathBuf {
        self.path.join(JOURNALS)
    }

    /// The names of all files among the journals, sorted.
    pub(super) fn journal_names(&self) -> Result<Vec<OsString>> {
        let directory = self.journals_path();
        match self.open_checked(JOURNALS).and_then(|dir| list(&dir)) {
            // Windows says the same of what would lie below a file.
            Err(_) if self.path.is_file() => {
                Err(fault(&self.path, &io::ErrorKind::NotADirectory.into()))
            }
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => Ok(Vec::new()),
            other => other.map_err(|cause| fault(&directory, &cause)),
        }
    }

    /// A file among the journals, for work on the file `shown`.
    pub(super) fn file(&self, shown: &str, name: OsString) -> Result<Place> {
        let (dir, path) = match self.journals.get() {
            Some(known) => known,
            None => {
                let opened = self.open_private(JOURNALS)?;
                self.journals.get_or_init(|| opened)
            }
        };
        Ok(Place::in_directory(Arc::clone(dir), path, name, shown))
    }

    /// Opens, or makes, the file of a lock.
    pub(super) fn lock_file(&self, name: &str) -> Result<(Place, File)> {
        let fault = |cause| fault(&self.path.join(LOCKS).join(name), &cause);
        let (dir, path) = match self.locks.get() {
            Some(known) => known,
            None => {
                let opened = self.open_private(LOCKS)?;
                self.locks.get_or_init(|| opened)
            }
        };
        let place = Place::in_directory(Arc::clone(dir), path, name.into(), name);
        match open_lock(&place) {
            // Someone has removed the directory meanwhile.
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                let (dir, path) = self.open_private(LOCKS)?;
                let place = Place::in_directory(dir, &path, name.into(), name);
                let file = open_lock(&place).map_err(fault)?;
                Ok((place, file))
            }
            opened => Ok((place, opened.map_err(fault)?)),
        }
    }

    /// The files of all locks that are there, as far as they can be looked at.
    pub(super) fn lock_places(&self) -> Vec<Place> {
        let Ok(dir) = self.open_checked(LOCKS).map(Arc::new) else { return Vec::new() };
        let path = self.path.join(LOCKS);
        let names = list(&dir).unwrap_or_default();
        let place = |name| Place::in_directory(Arc::clone(&dir), &path, name, "a lock");
        names.into_iter().map(place).collect()
    }

    /// A file for a version that a recovery keeps.
    pub(super) fn kept_file(&self, fs: &dyn FileSystem, name: &str) -> Result<Place> {
        let (dir, path) = self.open_private("kept")?;
        self.flush_made(fs)?;
        let shown = path.join(name).to_string_lossy().into_owned();
        Ok(Place::in_directory(dir, &path, name.into(), &shown))
    }

    /// A file in the directory of a store of records, which is made if there is none.
    pub(in crate::disk) fn store_file(&self, store: &str, name: &str) -> Result<Place> {
        let (dir, path) = self.open_private(&format!("{STORE_PREFIX}{store}"))?;
        let shown = path.join(name).to_string_lossy().into_owned();
        Ok(Place::in_directory(dir, &path, name.into(), &shown))
    }

    /// The names of all files in the directory of a store.
    pub(in crate::disk) fn store_names(&self, store: &str) -> Result<Vec<OsString>> {
        let name = format!("{STORE_PREFIX}{store}");
        let listed = self.open_checked(&name).and_then(|dir| list(&dir));
        listed.map_err(|cause| fault(&self.path.join(name), &cause))
    }

    /// The names of all stores.
    pub(in crate::disk) fn stores(&self) -> Vec<String> {
        let above = Dir::open_ambient_dir(&self.path, ambient_authority());
        let names = above.and_then(|dir| list(&dir)).unwrap_or_default();
        let names = names.iter().filter_map(|name| name.to_str()?.strip_prefix(STORE_PREFIX));
        names.map(str::to_owned).collect()
    }

    /// Removes the directory of a store, if it is empty.
    pub(in crate::disk) fn remove_store(&self, fs: &dyn FileSystem, store: &str) {
        let Ok(above) = Dir::open_ambient_dir(&self.path, ambient_authority()) else { return };
        let name = OsString::from(format!("{STORE_PREFIX}{store}"));
        let _ = fs.remove_dir(&Place::in_directory(Arc::new(above), &self.path, name, store));
    }

    /// Makes and opens a directory of ours; its path comes without links, since recoveries
    /// compare paths.
    fn open_private(&self, name: &str) -> Result<(Arc<Dir>, PathBuf)> {
        let path = self.path.join(name);
        let fault = |cause| fault(&path, &cause);
        self.make_private(&self.path)?;
        let dir = match self.open_checked(name) {
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                self.make_private(&path)?;
                self.open_checked(name)
            }
            opened => opened,
        };
        let dir = dir.map_err(fault)?;
        let path = self.path.canonicalize().map_err(fault)?.join(name);
        Ok((Arc::new(dir), path))
    }

    /// Opens a directory of ours, if nobody else can have put anything in it or in its place.
    fn open_checked(&self, name: &str) -> io::Result<Dir> {
        let above = Dir::open_ambient_dir(&self.path, ambient_authority())?;
        check_owner(&above, Trust::Owner)?;
        let dir = match above.open_dir_nofollow(name) {
            Err(cause) if above.symlink_metadata(name).is_ok_and(|entry| !entry.is_dir()) => {
                let why = format!("is no directory ({cause}), and links are not followed");
                return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
            }
            opened => opened?,
        };
        check_owner(&dir, Trust::OnlyWriter)?;
        Ok(dir)
    }

    /// Makes a directory that only its owner may look into: journals name files.
    fn make_private(&self, path: &Path) -> Result<()> {
        let missing: Vec<_> = path.ancestors().take_while(|above| !above.exists()).collect();
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(path).map_err(|cause| fault(path, &cause))?;
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        // Locks need not last.
        let lasts = |path: &&Path| path.file_name() != Some(LOCKS.as_ref());
        made.extend(missing.into_iter().rev().filter(lasts).map(Path::to_owned));
        Ok(())
    }

    /// Forces the directories that were made to the disk: a journal in a directory that a power
    /// cut takes away is no journal. Also when this call does not flush or comes to nothing,
    /// since later ones find the directories there.
    pub(crate) fn flush_made(&self, fs: &dyn FileSystem) -> Result<()> {
        let mut made = self.made.lock().unwrap_or_else(PoisonError::into_inner);
        while let Some(path) = made.last() {
            let fault = |cause| fault(path, &cause);
            let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
                made.pop();
                continue;
            };
            let parent = parent.canonicalize().map_err(fault)?;
            let dir = Dir::open_ambient_dir(&parent, ambient_authority()).map_err(fault)?;
            let shown = path.to_string_lossy();
            let place = Place::in_directory(Arc::new(dir), &parent, name.to_owned(), &shown);
            fs.sync_dir(&place).map_err(fault)?;
            made.pop();
        }
        Ok(())
    }
}

/// The directories in the state directory.
const JOURNALS: &str = "journals";
const LOCKS: &str = "locks";

/// How the names of stores of records begin there.
const STORE_PREFIX: &str = "store-";

/// What a directory must be.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Trust {
    /// This user's, or root's: nobody else can put another directory in its place.
    Owner,
    /// This user's, and nobody else may write it.
    OnlyWriter,
}

#[cfg(unix)]
fn check_owner(dir: &Dir, trust: Trust) -> io::Result<()> {
    let stamp = Stamp::of_dir(dir)?;
    let is_ours = stamp.owner.0 == rustix::process::geteuid().as_raw();
    let why = if !is_ours && (trust == Trust::OnlyWriter || stamp.owner.0 != 0) {
        format!("belongs to another user (number {}), and is not trusted", stamp.owner.0)
    } else if trust == Trust::OnlyWriter && !stamp.is_private() {
        format!("is one that others may write (mode {:o}), and is not trusted", stamp.mode)
    } else {
        return Ok(());
    };
    Err(io::Error::new(io::ErrorKind::InvalidInput, why))
}

/// The state directory is below the user's own, and takes its access list from there.
#[cfg(not(unix))]
fn check_owner(_: &Dir, _: Trust) -> io::Result<()> {
    Ok(())
}

/// The names in a directory, sorted.
fn list(dir: &Dir) -> io::Result<Vec<OsString>> {
    let mut names =
        dir.entries()?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<Vec<_>>>()?;
    names.sort();
    Ok(names)
}

fn open_lock(place: &Place) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create(true);
    options.follow(FollowSymlinks::No);
    Ok(place.dir().open_with(place.name(), &options)?.into_std())
}

fn fault(path: &Path, cause: &io::Error) -> Error {
    let shown = path.to_string_lossy();
    if cause.kind() == io::ErrorKind::InvalidInput && cause.raw_os_error().is_none() {
        let what = format!("the state directory: {shown} {cause} (option ");
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
    // One that is relative would be another in each working directory.
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
