//! Resolves paths to places: an open directory and a name in it.
//!
//! A path is resolved once, at the start of a call. Everything that follows happens in the
//! directory that was opened then, even if its path leads elsewhere later. With a root, every
//! directory is opened relative to the descriptor of the root, so that no `..`, absolute path, link
//! or replaced component leads out of it.

use parking_lot::Mutex;
use std::borrow::Cow;
use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;

use super::off_disk::{Overlaid, VirtualRoot};
use super::{Stamp, open_ambient, reading};
use crate::overlay::OpenDocument;
use hashline_base::error::{Code, Error, Result};

/// A name in an open directory, or a document of the host.
#[derive(Clone, Debug)]
pub struct Place {
    pub(super) at: At,
    pub(super) name: OsString,
    /// The path without links and dots: equal for different spellings of a path.
    pub(super) canonical: PathBuf,
    /// As the caller wrote it, for messages.
    pub(super) shown: String,
}

/// What a place leads to.
#[derive(Clone, Debug)]
pub(super) enum At {
    /// An entry of an open directory.
    Directory(Arc<Dir>),
    /// A document.
    Document(Arc<OpenDocument>),
    /// A directory that only the paths of documents imply.
    ImpliedDirectory,
    /// Nothing, in a session that has no disk.
    Nothing,
}

impl Place {
    /// The open directory. A document is in none, so no operation on files can reach it.
    pub(super) fn dir(&self) -> io::Result<&Dir> {
        match &self.at {
            At::Directory(dir) => Ok(dir),
            At::Document(_) | At::ImpliedDirectory | At::Nothing => {
                Err(io::ErrorKind::NotFound.into())
            }
        }
    }

    /// Whether nothing on the disk can be at the place: it leads to a document, or would lead to
    /// one if there were one.
    pub fn is_off_disk(&self) -> bool {
        !matches!(self.at, At::Directory(_))
    }

    /// The document, if the place leads to one.
    pub fn document(&self) -> Option<&Arc<OpenDocument>> {
        if let At::Document(document) = &self.at { Some(document) } else { None }
    }

    /// The stamp, if nothing on the disk can be at the place.
    pub(super) fn stamp_off_disk(&self) -> Option<io::Result<Stamp>> {
        match &self.at {
            At::Directory(_) => None,
            At::Document(document) => Some(Ok(document.stamp())),
            At::ImpliedDirectory => Some(Ok(OpenDocument::stamp_of_directory())),
            At::Nothing => Some(Err(io::ErrorKind::NotFound.into())),
        }
    }

    /// The name in it.
    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// The path without links and dots, as of the lookup.
    pub fn canonical(&self) -> &Path {
        &self.canonical
    }

    /// The path as the caller wrote it.
    pub fn shown(&self) -> &str {
        &self.shown
    }

    /// The directory of the place, as a place.
    pub fn directory(&self) -> Place {
        Place { name: OsString::from("."), ..self.clone() }
    }

    /// Another name in the same directory.
    pub fn sibling(&self, name: impl Into<OsString>) -> Place {
        let name = name.into();
        let canonical = self.canonical.with_file_name(&name);
        let at = match &self.at {
            At::Directory(dir) => At::Directory(Arc::clone(dir)),
            At::Document(_) | At::ImpliedDirectory | At::Nothing => At::Nothing,
        };
        Place { at, name, canonical, shown: self.shown.clone() }
    }
}

/// An open directory.
#[derive(Clone, Debug)]
pub struct Directory {
    dir: Arc<Dir>,
    path: PathBuf,
}

impl Directory {
    pub(super) fn new(dir: Dir, path: &Path) -> Directory {
        Directory { dir: Arc::new(dir), path: path.to_owned() }
    }

    pub(super) fn dir(&self) -> &Dir {
        &self.dir
    }

    /// The path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// A name in it; `shown` is for messages.
    pub fn place(&self, name: impl Into<OsString>, shown: &str) -> Place {
        let name = name.into();
        let canonical = self.path.join(&name);
        let at = At::Directory(Arc::clone(&self.dir));
        Place { at, name, canonical, shown: shown.to_owned() }
    }
}

/// A path that was looked up.
#[derive(Clone, Debug)]
pub enum Lookup {
    /// The directory exists (the name in it may or may not).
    Found(Place),
    /// Directories are missing: the first missing one, and the names below it.
    Missing {
        /// Where the first missing directory would be.
        first: Place,
        /// What would be below it: further directories, then the file.
        rest: Vec<OsString>,
    },
}

impl Lookup {
    /// The path without links and dots, including missing directories.
    pub fn path(&self) -> PathBuf {
        match self {
            Lookup::Found(place) => place.canonical.clone(),
            Lookup::Missing { first, rest } => {
                rest.iter().fold(first.canonical.clone(), |path, name| path.join(name))
            }
        }
    }

    /// Whether nothing on the disk can be there ([`Place::is_off_disk`]).
    pub fn is_off_disk(&self) -> bool {
        matches!(self, Lookup::Found(place) if place.is_off_disk())
    }

    /// Another name in the same directory.
    pub fn sibling(&self, name: impl Into<OsString>) -> Lookup {
        match self {
            Lookup::Found(place) => Lookup::Found(place.sibling(name)),
            Lookup::Missing { first, rest } => {
                let directories = &rest[..rest.len().saturating_sub(1)];
                let rest = directories.iter().cloned().chain([name.into()]).collect();
                Lookup::Missing { first: first.clone(), rest }
            }
        }
    }
}

/// The start of relative paths in a call, and the root that paths must not leave.
#[derive(Debug)]
pub struct Base {
    pub(super) root: Option<OpenRoot>,
    /// The start of relative paths, absolute. `None` for the root, or without a root for the
    /// working directory of the process.
    pub(super) start: Option<PathBuf>,
    /// The open directories, by canonical path: one descriptor for each.
    pub(super) dirs: Mutex<HashMap<PathBuf, Arc<Dir>>>,
    /// The documents of the host, if it can have any.
    pub(super) overlaid: Option<Overlaid>,
}

#[derive(Debug)]
pub(super) struct OpenRoot {
    dir: Arc<Dir>,
    canonical: PathBuf,
}

impl Base {
    /// Opens the root, if there is one.
    pub fn open(root: Option<&str>) -> Result<Base> {
        Base::open_at(root, None)
    }

    /// Opens the root, if there is one; relative paths start at `start`.
    pub fn open_at(root: Option<&str>, start: Option<&str>) -> Result<Base> {
        let opened = root.map(OpenRoot::open).transpose()?;
        let start = match (start, &opened) {
            // Usually both are the same directory, which need not be resolved twice.
            (Some(start), Some(opened)) if Some(start) == root => Some(opened.canonical.clone()),
            (start, _) => start.map(start_directory).transpose()?,
        };
        Ok(Base { root: opened, start, dirs: Mutex::default(), overlaid: None })
    }

    /// The start of relative paths, if it is not the root.
    pub(super) fn start(&self) -> Option<&Path> {
        self.start.as_deref()
    }

    /// The root's path without links, if there is one.
    pub fn root_path(&self) -> Option<&Path> {
        match self.overlaid.as_ref().and_then(|overlaid| overlaid.without_disk.as_ref()) {
            Some(VirtualRoot(root)) => root.as_deref(),
            None => self.root.as_ref().map(|root| root.canonical.as_path()),
        }
    }

    /// Closes the cached directories, so that paths are resolved again.
    pub fn close_directories(&self) {
        self.dirs.lock().clear();
    }

    /// Closes the cached directories, and takes the documents as they are now. Not during a commit,
    /// which holds the documents.
    pub fn forget(&self) {
        self.close_directories();
        if let Some(Overlaid { overlay, seen, .. }) = &self.overlaid {
            *seen.lock() = overlay.documents();
        }
    }

    /// Opens a file for reading, following links, without blocking on a FIFO.
    pub fn open_file(&self, path: &str) -> Result<File> {
        check_path(path)?;
        let started = self.start.as_ref().map(|start| start.join(path));
        let from_start = started.as_deref().unwrap_or(Path::new(path));
        let Some(root) = &self.root else {
            return open_ambient(from_start).map_err(|cause| Error::io("open", path, &cause));
        };
        // The usual case in one system call: a relative path without absolute links.
        if let Ok(file) = root.dir.open_with(root.relative(from_start), &reading()) {
            return Ok(file.into_std());
        }
        let place = self.existing(path)?;
        let file = place.dir().and_then(|dir| dir.open_with(&place.name, &reading()));
        file.map(cap_std::fs::File::into_std).map_err(|cause| root.explain("open", path, &cause))
    }

    /// The place of an existing file, following links to the file itself.
    pub fn existing(&self, path: &str) -> Result<Place> {
        let nothing = || Error::io("open", path, &io::ErrorKind::NotFound.into());
        match self.off_disk(path, Path::new(path))? {
            Some(Place { at: At::Nothing, .. }) => return Err(nothing()),
            Some(place) => return Ok(place),
            None => {}
        }
        match self.followed(path)? {
            Lookup::Found(place) => {
                match place.dir().and_then(|dir| dir.symlink_metadata(&place.name)) {
                    // The last component is a link here only if its target does not exist.
                    Ok(entry) if entry.is_symlink() => Err(nothing()),
                    Ok(_) => Ok(place),
                    Err(cause) => Err(self.fault("open", path, &cause)),
                }
            }
            Lookup::Missing { .. } => Err(nothing()),
        }
    }

    /// The canonical path of an existing file. Opens its directory only if there is an error to
    /// report.
    pub fn canonical(&self, path: &str) -> Result<PathBuf> {
        match self.off_disk(path, Path::new(path))? {
            Some(Place { at: At::Nothing, .. }) => {
                return Err(Error::io("open", path, &io::ErrorKind::NotFound.into()));
            }
            Some(place) => return Ok(place.canonical),
            None => {}
        }
        match self.full(path, Path::new(path))?.canonicalize() {
            Ok(canonical) if self.is_below_root(&canonical) => Ok(canonical),
            _ => Ok(self.existing(path)?.canonical),
        }
    }

    /// The place of a name; a link in the last component is not followed.
    pub fn named(&self, path: &str) -> Result<Lookup> {
        let last = path.rsplit(std::path::is_separator).next();
        if path.contains(std::path::is_separator) && matches!(last, Some("" | ".")) {
            return Err(not_a_file(path, "the name of a directory"));
        }
        self.named_path(Path::new(path))
    }

    /// The place of a name that need not be UTF-8; a link in the last component is not followed.
    pub fn named_path(&self, path: &Path) -> Result<Lookup> {
        let shown = path.to_string_lossy();
        if let Some(place) = self.off_disk_named(&shown, path)? {
            return Ok(Lookup::Found(place));
        }
        let full = self.full(&shown, path)?;
        self.look_up_missing(&shown, &full)
    }

    pub(super) fn full(&self, shown: &str, path: &Path) -> Result<PathBuf> {
        check_path(shown)?;
        match (&self.start, &self.root) {
            (Some(start), _) => Ok(start.join(path)),
            (None, Some(root)) => Ok(root.canonical.join(path)),
            (None, None) => {
                std::path::absolute(path).map_err(|cause| Error::io("find", shown, &cause))
            }
        }
    }

    /// The place of `name` in the directory at `first`, which must exist.
    pub fn below(&self, first: &Place, name: &OsStr) -> Result<Place> {
        let mut dirs = self.dirs.lock();
        let dir = match dirs.get(&first.canonical) {
            Some(dir) => Arc::clone(dir),
            None => {
                let dir = first.dir().and_then(|dir| dir.open_dir(&first.name));
                let fault = |cause| self.fault("open its directory", &first.shown, &cause);
                let dir = Arc::new(dir.map_err(fault)?);
                dirs.insert(first.canonical.clone(), Arc::clone(&dir));
                dir
            }
        };
        let (at, canonical) = (At::Directory(dir), first.canonical.join(name));
        Ok(Place { at, name: name.to_owned(), canonical, shown: first.shown.clone() })
    }

    /// The directory of the root, and `path` relative to it; `None` without a root.
    pub(super) fn beneath<'a>(&'a self, path: &'a Path) -> Option<(&'a Dir, &'a Path)> {
        let root = self.root.as_ref()?;
        Some((&root.dir, root.relative(path)))
    }

    /// The error of an operation on a path that [`Base::beneath`] returned.
    pub fn fault(&self, action: &str, path: &str, cause: &io::Error) -> Error {
        match &self.root {
            Some(root) => root.explain(action, path, cause),
            None => Error::io(action, path, cause),
        }
    }

    /// The place of a name; a link in the last component is followed if its target exists.
    fn followed(&self, path: &str) -> Result<Lookup> {
        let full = self.full(path, Path::new(path))?;
        match full.canonicalize() {
            Ok(canonical) => Ok(Lookup::Found(self.place(path, canonical)?)),
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => {
                self.look_up_missing(path, &full)
            }
            Err(cause) => {
                // Report a path outside the root as such before any other error.
                self.look_up_missing(path, &full)?;
                Err(Error::io("find", path, &cause))
            }
        }
    }

    /// Walks up from a path to the closest existing directory; the components in between are
    /// missing.
    fn look_up_missing(&self, path: &str, full: &Path) -> Result<Lookup> {
        if self.is_root(&full.components().collect::<PathBuf>()) {
            return Err(not_a_file(path, "a directory"));
        }
        let mut rest = Vec::new();
        let mut above = full;
        loop {
            let (Some(parent), Some(name)) = (above.parent(), above.file_name()) else {
                return match full.canonicalize() {
                    // The path ends in `..` or is a root: a directory.
                    Ok(canonical) => Ok(Lookup::Found(self.place(path, canonical)?)),
                    Err(cause) => Err(Error::io("find", path, &cause)),
                };
            };
            rest.push(name.to_owned());
            match parent.canonicalize() {
                Ok(parent) => {
                    let name = rest.pop().expect("pushed above");
                    let first = self.place_in(path, &parent, name)?;
                    rest.reverse();
                    return Ok(if rest.is_empty() {
                        Lookup::Found(first)
                    } else {
                        Lookup::Missing { first, rest }
                    });
                }
                Err(cause) if cause.kind() == io::ErrorKind::NotFound => above = parent,
                Err(cause) => return Err(Error::io("find", path, &cause)),
            }
        }
    }

    fn place(&self, path: &str, canonical: PathBuf) -> Result<Place> {
        match (canonical.parent(), canonical.file_name()) {
            (Some(parent), Some(name)) if !self.is_root(&canonical) => {
                self.place_in(path, parent, name.to_owned())
            }
            _ => Err(not_a_file(path, "a directory")),
        }
    }

    /// Whether a path without links is below the root; without a root, whether it has a file name.
    fn is_below_root(&self, canonical: &Path) -> bool {
        self.is_within_root(canonical)
            && !self.is_root(canonical)
            && canonical.file_name().is_some()
    }

    pub(super) fn is_within_root(&self, canonical: &Path) -> bool {
        self.root_path().is_none_or(|root| canonical.starts_with(root))
    }

    pub(super) fn is_root(&self, canonical: &Path) -> bool {
        self.root_path() == Some(canonical)
    }

    fn place_in(&self, path: &str, parent: &Path, name: OsString) -> Result<Place> {
        let at = At::Directory(self.open_dir(path, parent)?);
        Ok(Place { at, canonical: parent.join(&name), name, shown: path.to_owned() })
    }

    fn open_dir(&self, path: &str, canonical: &Path) -> Result<Arc<Dir>> {
        let relative = match &self.root {
            Some(root) => Some(canonical.strip_prefix(&root.canonical).map_err(|_| outside(path))?),
            None => None,
        };
        let mut dirs = self.dirs.lock();
        if let Some(dir) = dirs.get(canonical) {
            return Ok(Arc::clone(dir));
        }
        let opened = match (&self.root, relative) {
            (Some(root), Some(relative)) if relative.as_os_str().is_empty() => root.dir.try_clone(),
            (Some(root), Some(relative)) => root.dir.open_dir(relative),
            _ => Dir::open_ambient_dir(canonical, ambient_authority()),
        };
        let dir = opened.map_err(|cause| self.fault("open its directory", path, &cause))?;
        let dir = Arc::new(dir);
        dirs.insert(canonical.to_owned(), Arc::clone(&dir));
        Ok(dir)
    }
}

impl OpenRoot {
    fn open(path: &str) -> Result<OpenRoot> {
        if path.is_empty() {
            return Err(Error::argument("the root is empty: name a directory"));
        }
        check_path(path)?;
        let fault = |cause: io::Error| {
            Error::at(
                Code::InvalidArgument,
                path,
                format!("root {path}: cannot open this directory: {cause}"),
            )
        };
        let canonical = Path::new(path).canonicalize().map_err(fault)?;
        let dir = Dir::open_ambient_dir(&canonical, ambient_authority()).map_err(fault)?;
        Ok(OpenRoot { dir: Arc::new(dir), canonical })
    }

    /// The path relative to the root if it is below it; otherwise the path itself.
    fn relative<'a>(&self, path: &'a Path) -> &'a Path {
        match path.strip_prefix(&self.canonical) {
            Ok(relative) if relative.as_os_str().is_empty() => Path::new("."),
            Ok(relative) => relative,
            Err(_) => path,
        }
    }

    /// The error of an operation beneath the root. The library reports an attempt to leave the root
    /// as `PermissionDenied` without an OS error number.
    fn explain(&self, action: &str, path: &str, cause: &io::Error) -> Error {
        match (cause.kind(), cause.raw_os_error()) {
            (io::ErrorKind::PermissionDenied, None) => outside(path),
            _ => Error::io(action, path, cause),
        }
    }
}

/// The directory where relative paths start, without links.
fn start_directory(path: &str) -> Result<PathBuf> {
    check_path(path)?;
    let canonical = Path::new(path).canonicalize().and_then(|canonical| {
        if canonical.metadata()?.is_dir() {
            Ok(canonical)
        } else {
            Err(io::ErrorKind::NotADirectory.into())
        }
    });
    canonical.map_err(|cause| {
        let message = format!("{path} cannot be the directory of relative paths: {cause}");
        Error::at(Code::InvalidArgument, path, message)
    })
}

pub(super) fn outside(path: &str) -> Error {
    Error::at(Code::OutsideRoot, path, format!("{path} is outside the root"))
}

/// The refusal of anything but a regular file; `noun` names its kind.
pub fn not_a_file(path: &str, noun: &str) -> Error {
    Error::at(Code::NotAFile, path, format!("{path}: is {noun}, not a regular file"))
}

pub(super) fn check_path(path: &str) -> Result<()> {
    if path.is_empty() {
        return Err(Error::argument("the path is empty: name a file"));
    }
    if path.contains('\0') {
        return Err(Error::at(
            Code::InvalidArgument,
            path,
            format!("the path {path:?} contains NUL, which file names cannot contain"),
        ));
    }
    Ok(())
}

/// A path as users write it. Canonical paths on Windows start with `\\?\`, after which forward
/// slashes are part of names; the prefix can be removed before a drive or a share.
pub fn plain(path: &str) -> Cow<'_, str> {
    let Some(rest) = path.strip_prefix(r"\\?\").filter(|_| cfg!(windows)) else {
        return path.into();
    };
    if let Some(share) = rest.strip_prefix(r"UNC\") {
        return format!(r"\\{share}").into();
    }
    let is_drive = rest.as_bytes().get(1..3) == Some(br":\");
    if is_drive { rest.into() } else { path.into() }
}

/// A path as users write it, for messages and reports.
pub fn plain_path(path: &Path) -> String {
    plain(&path.to_string_lossy()).into_owned()
}

/// Whether two different paths are the same on a case-insensitive file system.
pub fn differ_in_case_only(one: &Path, other: &Path) -> bool {
    let folded = |path: &Path| path.to_string_lossy().to_lowercase();
    one != other && folded(one) == folded(other)
}

/// A path as text, for comparing and showing file names.
pub fn unicode_path<'p>(name: &str, path: &'p Path) -> Result<&'p str> {
    path.to_str().ok_or_else(|| {
        Error::argument(format!("{name} is {path:?}: expected a path that is valid Unicode"))
    })
}
