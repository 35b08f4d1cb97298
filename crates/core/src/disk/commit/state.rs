//! The state directory: journals, locks, and what a recovery kept. It lies outside the
//! user's tree; lost with it is the chance to recover.

use std::ffi::OsString;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use crate::disk::fs::{FileSystem, Place};
use crate::error::{Error, Result};

/// The name of the default directory below the platform's directory for state.
const APPLICATION: &str = "hashline";

/// A directory for state; made on first use.
#[derive(Debug)]
pub struct StateDir {
    path: PathBuf,
    /// The open directory of journals, and its path without links.
    journals: OnceLock<(Arc<Dir>, PathBuf)>,
    /// Directories that were made and are not flushed yet, the upper ones first.
    made: Mutex<Vec<PathBuf>>,
}

impl StateDir {
    /// The directory of the option `stateDir`, or the platform's.
    pub fn new(path: Option<&str>) -> Result<StateDir> {
        let path = match path {
            Some("") => {
                return Err(Error::argument(
                    "stateDir is empty: name a directory, or leave it out",
                ));
            }
            Some(path) => std::path::absolute(path)
                .map_err(|cause| Error::argument(format!("stateDir {path:?}: {cause}")))?,
            None => default_path().ok_or_else(|| {
                Error::argument(
                    "there is no home directory to keep state in: set the option stateDir",
                )
            })?,
        };
        Ok(StateDir { path, journals: OnceLock::new(), made: Mutex::default() })
    }

    /// The path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The directory of journals, and of the contents of files that are rewritten in place.
    pub(super) fn journals_path(&self) -> PathBuf {
        self.path.join("journals")
    }

    /// The names of all files among the journals, sorted.
    pub(super) fn journal_names(&self) -> Result<Vec<OsString>> {
        let directory = self.journals_path();
        let list = || -> std::io::Result<Vec<OsString>> {
            let mut names = std::fs::read_dir(&directory)?
                .map(|entry| Ok(entry?.file_name()))
                .collect::<std::io::Result<Vec<_>>>()?;
            names.sort();
            Ok(names)
        };
        match list() {
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            other => other.map_err(|cause| fault(&directory, &cause)),
        }
    }

    /// A file among the journals, for work on the file `shown`.
    pub(super) fn file(&self, shown: &str, name: OsString) -> Result<Place> {
        let (dir, path) = match self.journals.get() {
            Some(known) => known,
            None => {
                let opened = self.open_private(&self.journals_path())?;
                self.journals.get_or_init(|| opened)
            }
        };
        Ok(Place::in_directory(Arc::clone(dir), path, name, shown))
    }

    /// Opens, or makes, the file of a lock.
    pub(super) fn lock_file(&self, name: &str) -> Result<(PathBuf, File)> {
        let directory = self.path.join("locks");
        let path = directory.join(name);
        let open =
            || File::options().read(true).write(true).create(true).truncate(false).open(&path);
        let file = match open() {
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => {
                self.make_private(&directory)?;
                open()
            }
            other => other,
        };
        let file = file.map_err(|cause| fault(&path, &cause))?;
        Ok((path, file))
    }

    /// A file for a version that a recovery keeps.
    pub(super) fn kept_file(&self, fs: &dyn FileSystem, name: &str) -> Result<Place> {
        let (dir, path) = self.open_private(&self.path.join("kept"))?;
        self.flush_made(fs)?;
        let shown = path.join(name).to_string_lossy().into_owned();
        Ok(Place::in_directory(dir, &path, name.into(), &shown))
    }

    /// Makes and opens a directory of ours; its path comes without links, since recoveries
    /// compare paths.
    fn open_private(&self, path: &Path) -> Result<(Arc<Dir>, PathBuf)> {
        self.make_private(path)?;
        let fault = |cause| fault(path, &cause);
        let path = path.canonicalize().map_err(fault)?;
        let dir = Dir::open_ambient_dir(&path, ambient_authority()).map_err(fault)?;
        Ok((Arc::new(dir), path))
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
        let lasts = |path: &&Path| path.file_name() != Some("locks".as_ref());
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

fn fault(path: &Path, cause: &std::io::Error) -> Error {
    let shown = path.to_string_lossy();
    let error = Error::io("use", &shown, cause);
    #[cfg(unix)]
    if matches!(cause.raw_os_error(), Some(libc::EMFILE | libc::ENFILE)) {
        let why = "a patch holds two locks for each of its files";
        return Error { message: format!("{}; {why}", error.message), path: None, ..error };
    }
    let message = format!("the state directory: {} (option stateDir)", error.message);
    Error { message, path: None, ..error }
}

/// The platform's directory for an application's state.
fn default_path() -> Option<PathBuf> {
    let variable =
        |name: &str| std::env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let base = if cfg!(windows) {
        variable("LOCALAPPDATA")?
    } else if cfg!(target_vendor = "apple") {
        std::env::home_dir()?.join("Library/Application Support")
    } else {
        variable("XDG_STATE_HOME").or_else(|| Some(std::env::home_dir()?.join(".local/state")))?
    };
    Some(base.join(APPLICATION))
}
