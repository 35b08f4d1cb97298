//! Staging: creates the temporary files and new directories of a transaction before its first
//! rename, with the names that its journal lists. Dropping [`Staged`] removes them.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::path::PathBuf;

use super::draft::{Attributes, Draft};
use super::files::{
    copy_content, is_gone, remove_empty, sync_content, sync_directories, sync_removals,
};
use super::journal::{JournalRecord, Mark};
use super::step::Step;
use super::{Content, Durability, ReadyStep, concurrent};
use crate::bytes::snapshot_of_file;
use crate::fs::{Base, FileKind, FileSystem, Lookup, NewAccess, Place, is_refused_link};
use hashline_base::cancel::{Cancel, PIECE_BYTES};
use hashline_base::error::{Error, Result};

/// The number of pieces that are written between two checks for cancellation: as many as systems
/// accept in one call.
const BATCH_PIECES: usize = 1 << 10;

/// Groups pieces into batches that are written between two checks for cancellation.
fn batches<'p, 'c>(pieces: &'p [&'c [u8]]) -> impl Iterator<Item = &'p [&'c [u8]]> {
    let mut rest = pieces;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = |piece: &&&[u8]| {
            bytes += piece.len();
            bytes <= PIECE_BYTES
        };
        let count = rest.iter().take(BATCH_PIECES).take_while(fits).count();
        let (some, others) = rest.split_at(count.max(1).min(rest.len()));
        rest = others;
        (!some.is_empty()).then_some(some)
    })
}

/// The files and directories that were staged.
pub(super) struct Staged<'a> {
    fs: &'a dyn FileSystem,
    base: &'a Base,
    durability: Durability,
    cancel: &'a Cancel,
    files: Vec<Place>,
    /// In the order of creation.
    directories: Vec<Place>,
    /// Directories that were missing, created by this transaction or meanwhile by other processes.
    known: BTreeMap<PathBuf, Place>,
    /// The marks of staged files, by path, and the hashes of their contents; `None` for symbolic
    /// links.
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

    /// Removes all staged files and directories; returns false if some remain.
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
        // Once the journal is removed, nothing else lists what remains.
        let made = self.files.iter().chain(&self.directories);
        all && (!self.durability.syncs() || sync_removals(self.fs, made).is_ok())
    }

    /// Removes everything on systems that cannot remove open directories. The place of each
    /// directory keeps its parent open, so parents are closed and removed last.
    fn remove_closed_directories(&mut self) -> bool {
        let made: BTreeSet<PathBuf> =
            self.directories.iter().map(|place| place.canonical().to_owned()).collect();
        let is_in_new_directory =
            |place: &Place| place.canonical().parent().is_some_and(|above| made.contains(above));
        self.known.clear();
        self.base.close_directories();
        let mut left = std::mem::take(&mut self.files);
        left.retain(|file| !is_in_new_directory(file));
        let mut all = true;
        while let Some(directory) = self.directories.pop() {
            all &= remove_empty(self.fs, &directory).is_ok();
            if !is_in_new_directory(&directory) {
                left.push(directory);
            }
        }
        all && (!self.durability.syncs() || sync_removals(self.fs, &left).is_ok())
    }

    /// Flushes the directories of all temporary files and of new directories, and those of files
    /// that will be replaced, moved or removed: if their writers have not flushed them, a recovery
    /// after a power cut would not find the old versions.
    pub(super) fn sync_directories(&self, steps: &[ReadyStep]) -> Result<()> {
        let sources = steps.iter().filter_map(ReadyStep::source).map(|(place, _)| place);
        let made = self.files.iter().chain(self.known.values());
        if self.durability.syncs() {
            sync_directories(self.fs, made.chain(sources))
        } else {
            Ok(())
        }
    }

    /// Flushes the contents of the files that will be replaced, moved or removed: otherwise, their
    /// sizes and times could differ from the journal after a power cut.
    pub(super) fn sync_sources(&self, steps: &[ReadyStep]) -> Result<()> {
        let sources =
            steps.iter().filter_map(ReadyStep::source).filter(|_| self.durability.syncs());
        for (place, _) in sources {
            sync_content(self.fs, place)?;
        }
        Ok(())
    }

    /// Keeps the staged files: they are in use, or a recovery needs them.
    pub(super) fn disarm(&mut self) {
        self.armed = false;
    }

    /// The `committed` record for the staged files.
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

    /// Creates all files and directories that a step needs.
    pub(super) fn stage(&mut self, draft: &Draft<'_>) -> Result<ReadyStep> {
        let step = draft.step.try_map(|name| self.resolve(name), |old| *old)?;
        if let Some(to) = step.new_name() {
            self.check_usable(to)?;
        }
        let content = draft.content;
        match &step {
            Step::Rewrite { target: model, old, temporary, .. }
            | Step::Replace { from: model, old, temporary, .. } => match content {
                Some(content) => {
                    let attributes = Some(Attributes::Of(model, old));
                    self.write_content(temporary, content, attributes)?;
                }
                None => self.copy(model, temporary)?,
            },
            Step::RewriteInPlace { target, saved, ready, .. } => {
                self.copy(target, saved)?;
                match content {
                    Some(content) => self.write_content(ready, content, None)?,
                    None => self.copy(target, ready)?,
                }
            }
            Step::Create { temporary, .. } => {
                let empty = Content::default();
                self.write_content(temporary, content.unwrap_or(&empty), draft.attributes)?;
            }
            Step::Rename { .. } | Step::Delete { .. } => {}
        }
        Ok(step)
    }

    /// Resolves a name, and creates its missing directories.
    fn resolve(&mut self, lookup: &Lookup) -> Result<Place> {
        let (first, rest) = match lookup {
            Lookup::Found(place) => return Ok(place.clone()),
            Lookup::Missing { first, rest } => (first, rest),
        };
        let mut directory = first.clone();
        for name in rest {
            self.make_directory(&directory)?;
            directory = match self.known.get(&directory.canonical().join(name)) {
                Some(known) => known.clone(),
                None => self.base.below(&directory, name)?,
            };
        }
        Ok(directory)
    }

    /// Refuses a name that the system does not accept, before anything is changed.
    fn check_usable(&self, place: &Place) -> Result<()> {
        match self.fs.stamp(place) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                Err(Error::io("use the name", place.shown(), &cause))
            }
            _ => Ok(()),
        }
    }

    fn make_directory(&mut self, place: &Place) -> Result<()> {
        if self.known.contains_key(place.canonical()) {
            return Ok(());
        }
        match self.fs.make_dir(place, NewAccess::Usual) {
            Ok(()) => self.directories.push(place.clone()),
            // Another process created it meanwhile; this transaction will not remove it.
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {}
            Err(cause) => {
                // It may have been created despite the error.
                self.directories.push(place.clone());
                return Err(Error::io("make its directory", place.shown(), &cause));
            }
        }
        self.known.insert(place.canonical().to_owned(), place.clone());
        Ok(())
    }

    /// Writes a new content.
    fn write_content(
        &mut self,
        temporary: &Place,
        content: &Content<'_>,
        attributes: Option<Attributes<'_>>,
    ) -> Result<()> {
        let access = if attributes.is_some() { NewAccess::OwnerOnly } else { NewAccess::Usual };
        let cancel = self.cancel;
        self.write(temporary, access, content.snapshot, |fs, file| {
            let pieces: Vec<&[u8]> =
                content.pieces.iter().flat_map(|piece| piece.chunks(PIECE_BYTES)).collect();
            for pieces in batches(&pieces) {
                if cancel.is_cancelled() {
                    return Err(io::ErrorKind::Interrupted.into());
                }
                fs.write_pieces(file, pieces)?;
            }
            match attributes {
                Some(Attributes::Rights(rights)) => fs.set_rights(file, rights),
                Some(Attributes::Of(place, stamp)) => match fs.open(place) {
                    Ok(model) => fs.copy_attributes(file, &model, stamp),
                    // The access list cannot be read, so only the owner gets access.
                    Err(cause) if cause.kind() == io::ErrorKind::PermissionDenied => Ok(()),
                    Err(cause) => Err(cause),
                },
                None => Ok(()),
            }
        })
    }

    /// Copies a file or a symbolic link.
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
            // The kernel could not read a mapped page, because the file has shrunk.
            #[cfg(unix)]
            Some(libc::EFAULT) => concurrent(temporary.shown(), "was changed"),
            _ if is_refused_link(&cause) => concurrent(temporary.shown(), "was replaced by a link"),
            _ => Error::io("write", temporary.shown(), &cause),
        };
        // Recorded first, because a creation that fails may have happened. The name is unique.
        self.files.push(temporary.clone());
        let mut file = self.fs.create_new(temporary, access).map_err(fault)?;
        fill(self.fs, &mut file).map_err(fault)?;
        if self.durability.syncs() {
            self.fs.sync(&file).map_err(fault)?;
        }
        let mark = Mark::of(&self.fs.stamp_of(&file).map_err(fault)?);
        let hash = match snapshot {
            Some(known) => known.to_owned(),
            // The content may come from a mapped file, which can change, so what was written is
            // read back.
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
