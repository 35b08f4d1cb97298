//! Temporary files and new directories: everything a transaction makes before its first
//! rename, under the names that its journal lists. Dropped, it takes all of it away again.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::draft::Draft;
use super::files::{
    copy_content, is_gone, remove_empty, sync_content, sync_directories, sync_removals,
};
use super::journal::{JournalRecord, Mark};
use super::step::Step;
use super::{Content, Durability, ReadyStep, concurrent};
use crate::bytes::snapshot_of_file;
use crate::fs::{Base, FileKind, FileSystem, Lookup, NewAccess, Place, Stamp, is_refused_link};
use hashline_base::cancel::{Cancel, PIECE_BYTES};
use hashline_base::error::{Error, Result};

/// How many pieces of a content are written between two looks at the flag that cancels: as many
/// as systems take at once.
const PIECES_AT_ONCE: usize = 1 << 10;

/// Pieces of a content, as many together as are written between two looks at the flag.
fn at_once<'p, 'c>(pieces: &'p [&'c [u8]]) -> impl Iterator<Item = &'p [&'c [u8]]> {
    let mut rest = pieces;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |piece: &&&[u8]| {
            bytes += piece.len();
            bytes <= PIECE_BYTES
        };
        let count = rest.iter().take(PIECES_AT_ONCE).take_while(fits).count();
        let (some, others) = rest.split_at(count.max(1).min(rest.len()));
        rest = others;
        (!some.is_empty()).then_some(some)
    })
}

/// What was made so far.
pub(super) struct Staged<'a> {
    fs: &'a dyn FileSystem,
    base: &'a Base,
    durability: Durability,
    cancel: &'a Cancel,
    files: Vec<Place>,
    /// In the order in which they were made.
    directories: Vec<Place>,
    /// Directories that were missing, made by this transaction or meanwhile by others.
    known: BTreeMap<PathBuf, Place>,
    /// The versions of staged files, by path, and the hashes of their contents; a link has none.
    marks: BTreeMap<PathBuf, (Mark, Option<String>)>,
    armed: bool,
}

impl<'a> Staged<'a> {
    pub(super) fn new(
        fs: &'a dyn FileSystem,
        base: &'a Base,
        durability: Durability,
        cancel: &'a Cancel,
    ) -> Self {
        Staged {
            fs,
            base,
            durability,
            cancel,
            files: Vec::new(),
            directories: Vec::new(),
            known: BTreeMap::new(),
            marks: BTreeMap::new(),
            armed: true,
        }
    }

    pub(super) fn fs(&self) -> &'a dyn FileSystem {
        self.fs
    }

    /// Takes away what was made; false when some of it would not go.
    pub(super) fn clear(mut self) -> bool {
        self.armed = false;
        self.remove_all()
    }

    fn remove_all(&mut self) -> bool {
        let mut all = true;
        for file in &self.files {
            let removed = self.fs.unlink(file);
            all &= removed.is_ok() || is_gone(self.fs, file);
        }
        if cfg!(windows) {
            return all & self.remove_closed_directories();
        }
        for directory in self.directories.iter().rev() {
            all &= remove_empty(self.fs, directory).is_ok();
        }
        // Once the journal is removed, nobody knows of what is left.
        let made = self.files.iter().chain(&self.directories);
        all && (!self.durability.syncs() || sync_removals(self.fs, made).is_ok())
    }

    /// Removes all that was made where no open directory can be removed. The place of each keeps
    /// the one above it open, so that goes last.
    fn remove_closed_directories(&mut self) -> bool {
        let made: BTreeSet<PathBuf> =
            self.directories.iter().map(|place| place.canonical().to_owned()).collect();
        let is_within =
            |place: &Place| place.canonical().parent().is_some_and(|above| made.contains(above));
        self.known.clear();
        self.base.forget();
        let mut left = std::mem::take(&mut self.files);
        left.retain(|file| !is_within(file));
        let mut all = true;
        while let Some(directory) = self.directories.pop() {
            all &= remove_empty(self.fs, &directory).is_ok();
            if !is_within(&directory) {
                left.push(directory);
            }
        }
        all && (!self.durability.syncs() || sync_removals(self.fs, &left).is_ok())
    }

    /// Forces the names of all temporary files and new directories to the disk, and those of the
    /// files that will be replaced, moved or removed: their writers may have flushed nothing, and
    /// after a power cut a recovery would not find the old version there.
    pub(super) fn sync_directories(&self, steps: &[ReadyStep]) -> Result<()> {
        let sources = steps.iter().filter_map(ReadyStep::source).map(|(place, _)| place);
        let made = self.files.iter().chain(self.known.values());
        if self.durability.syncs() {
            sync_directories(self.fs, made.chain(sources))
        } else {
            Ok(())
        }
    }

    /// Forces the contents of those files to the disk, for the same reason: size and time could
    /// be others after a power cut.
    pub(super) fn sync_sources(&self, steps: &[ReadyStep]) -> Result<()> {
        let sources =
            steps.iter().filter_map(ReadyStep::source).filter(|_| self.durability.syncs());
        for (place, _) in sources {
            sync_content(self.fs, place)?;
        }
        Ok(())
    }

    /// What was made is in use now, or needed by a recovery, and stays.
    pub(super) fn disarm(&mut self) {
        self.armed = false;
    }

    /// What the journal says of the staged files from now on.
    pub(super) fn record(&self, steps: &[ReadyStep]) -> JournalRecord {
        let known = |place: &Place| self.marks.get(place.canonical());
        let mark = |step: &ReadyStep| known(step.staged()?).map(|(mark, _)| *mark);
        let hash = |place: &Place| known(place).and_then(|(_, hash)| hash.clone());
        let hashes = |step: &ReadyStep| step.temporaries().into_iter().map(hash).collect();
        JournalRecord::Committed {
            staged: steps.iter().map(mark).collect(),
            hashes: steps.iter().map(hashes).collect(),
        }
    }

    /// Makes everything that one step needs.
    pub(super) fn stage(&mut self, draft: &Draft<'_>) -> Result<ReadyStep> {
        let step = draft.step.try_map(|name| self.place(name), |old| *old)?;
        if let Some(to) = step.new_name() {
            self.check_usable(to)?;
        }
        let content = draft.content;
        match &step {
            Step::Rewrite { target: model, old, temporary, .. }
            | Step::Replace { from: model, old, temporary, .. } => match content {
                Some(content) => self.content(temporary, content, Some((model, old)))?,
                None => self.copy(model, temporary)?,
            },
            Step::RewriteInPlace { target, saved, ready, .. } => {
                self.copy(target, saved)?;
                match content {
                    Some(content) => self.content(ready, content, None)?,
                    None => self.copy(target, ready)?,
                }
            }
            Step::Create { temporary, .. } => {
                let empty = Content::default();
                self.content(temporary, content.unwrap_or(&empty), draft.model)?;
            }
            Step::Rename { .. } | Step::Delete { .. } => {}
        }
        Ok(step)
    }

    /// The place of a name; its missing directories are made.
    fn place(&mut self, lookup: &Lookup) -> Result<Place> {
        let (first, rest) = match lookup {
            Lookup::Found(place) => return Ok(place.clone()),
            Lookup::Missing { first, rest } => (first, rest),
        };
        let mut directory = first.clone();
        for name in rest {
            self.directory(&directory)?;
            directory = match self.known.get(&directory.canonical().join(name)) {
                Some(known) => known.clone(),
                None => self.base.below(&directory, name)?,
            };
        }
        Ok(directory)
    }

    /// A name that the system would not take is refused before anything is changed.
    fn check_usable(&self, place: &Place) -> Result<()> {
        match self.fs.stamp(place) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                Err(Error::io("use the name", place.shown(), &cause))
            }
            _ => Ok(()),
        }
    }

    fn directory(&mut self, place: &Place) -> Result<()> {
        if self.known.contains_key(place.canonical()) {
            return Ok(());
        }
        match self.fs.make_dir(place, NewAccess::Usual) {
            Ok(()) => self.directories.push(place.clone()),
            // Made by someone else meanwhile: theirs to keep.
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => {
                // It may have been made all the same.
                self.directories.push(place.clone());
                return Err(Error::io("make its directory", place.shown(), &cause));
            }
        }
        self.known.insert(place.canonical().to_owned(), place.clone());
        Ok(())
    }

    /// Writes a new content, with the attributes of the file that it replaces.
    fn content(
        &mut self,
        temporary: &Place,
        content: &Content<'_>,
        model: Option<(&Place, &Stamp)>,
    ) -> Result<()> {
        // The mode of a new file is the system's affair; a replaced one's is copied.
        let access = if model.is_some() { NewAccess::OwnerOnly } else { NewAccess::Usual };
        let cancel = self.cancel;
        self.write(temporary, access, content.snapshot, |fs, file| {
            let pieces: Vec<&[u8]> =
                content.pieces.iter().flat_map(|piece| piece.chunks(PIECE_BYTES)).collect();
            for pieces in at_once(&pieces) {
                if cancel.is_cancelled() {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                fs.write_pieces(file, pieces)?;
            }
            match model {
                Some((place, stamp)) => match fs.open(place) {
                    Ok(model) => fs.copy_attributes(file, &model, stamp),
                    // Who else it let in cannot be read, so it stays its owner's alone.
                    Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Ok(()),
                    Err(cause) => Err(cause),
                },
                None => Ok(()),
            }
        })
    }

    /// Copies a file, or a symbolic link.
    fn copy(&mut self, from: &Place, temporary: &Place) -> Result<()> {
        let fault = |cause: io::Error| {
            if is_refused_link(&cause) {
                concurrent(from.shown(), "was replaced by a link")
            } else {
                Error::io("copy", from.shown(), &cause)
            }
        };
        let stamp = self.fs.stamp(from).map_err(fault)?;
        if stamp.kind == FileKind::Link {
            self.files.push(temporary.clone());
            self.fs.copy_link(from, temporary).map_err(fault)?;
            let mark = Mark::of(&self.fs.stamp(temporary).map_err(fault)?);
            self.marks.insert(temporary.canonical().to_owned(), (mark, None));
            return Ok(());
        }
        let source = self.fs.open(from).map_err(fault)?;
        if !self.fs.stamp_of(&source).map_err(fault)?.is_same_version(&stamp) {
            return Err(concurrent(from.shown(), "was changed"));
        }
        self.write(temporary, NewAccess::OwnerOnly, None, |fs, file| {
            copy_content(fs, &source, file)?;
            fs.copy_attributes(file, &source, &stamp)
        })
    }

    fn write(
        &mut self,
        temporary: &Place,
        access: NewAccess,
        snapshot: Option<&str>,
        fill: impl FnOnce(&dyn FileSystem, &mut File) -> io::Result<()>,
    ) -> Result<()> {
        let fault = |cause: io::Error| match cause.raw_os_error() {
            // The kernel could not read a mapped page: the file has shrunk.
            #[cfg(unix)]
            Some(libc::EFAULT) => concurrent(temporary.shown(), "was changed"),
            _ if is_refused_link(&cause) => concurrent(temporary.shown(), "was replaced by a link"),
            _ => Error::io("write", temporary.shown(), &cause),
        };
        // Also when it only seems to fail: nobody else has this name.
        self.files.push(temporary.clone());
        let mut file = self.fs.create_new(temporary, access).map_err(fault)?;
        fill(self.fs, &mut file).map_err(fault)?;
        if self.durability.syncs() {
            self.fs.sync(&file).map_err(fault)?;
        }
        let mark = Mark::of(&self.fs.stamp_of(&file).map_err(fault)?);
        let hash = match snapshot {
            Some(known) => known.to_owned(),
            // Read back: what it was made from may be a mapped file, which others can change.
            None => snapshot_of_file(self.fs, &mut file, self.cancel).map_err(fault)?,
        };
        self.marks.insert(temporary.canonical().to_owned(), (mark, Some(hash)));
        Ok(())
    }
}

impl Drop for Staged<'_> {
    fn drop(&mut self) {
        if self.armed {
            self.remove_all();
        }
    }
}
