//! What undoes a patch, collected before it is committed: afterwards a mapped file shows its new
//! content.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::{AddedContents, Job};
use crate::edit::apply::lookup::{FileTask, Task};
use crate::edit::apply::planned_file::PlannedFile;
use crate::edit::undo::{
    Inverse, InverseFile, RestoredFile, RestoredLines, RestoredRegion, UNDO_LIMIT_BYTES,
};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Error, Result};
use hashline_disk::fs::{FileKind, Place, Rights, Stamp};
use hashline_memory::AppliedPatch;

/// Why a patch cannot be undone.
struct NotUndoable(String);

impl From<Error> for NotUndoable {
    fn from(error: Error) -> NotUndoable {
        NotUndoable(error.message.to_string())
    }
}

impl Job<'_> {
    /// The patch as a session keeps it; `None` if it changes nothing.
    pub(in crate::edit::apply) fn applied_patch(
        &self,
        added: &AddedContents,
        cancel: &Cancel,
    ) -> Option<AppliedPatch> {
        let files = self.changed_names();
        if files.is_empty() {
            return None;
        }
        let inverse = self.inverse(added, cancel).map_err(|why| why.0);
        let inverse = inverse.and_then(|inverse| inverse.encoded());
        let edited = self.edited.values().map(|&at| self.files[at].after().version());
        let after = if inverse.is_ok() { edited.collect() } else { Vec::new() };
        Some(AppliedPatch::new(files, inverse, after))
    }

    /// The paths of all files that the patch changes, before and after it.
    fn changed_names(&self) -> Vec<PathBuf> {
        let edited = self.edited_in_place().map(|(edits, _)| edits.place.canonical().to_owned());
        let whole = self.tasks.files.iter().flat_map(|one| match &one.task {
            Task::Add { to, .. } => vec![to.path()],
            Task::Move { from, to, .. } => vec![from.canonical().to_owned(), to.path()],
            Task::Delete { place, .. } => vec![place.canonical().to_owned()],
        });
        let mut seen = HashSet::new();
        edited.chain(whole).filter(|path| seen.insert(path.clone())).collect()
    }

    fn inverse(
        &self,
        added: &AddedContents,
        cancel: &Cancel,
    ) -> std::result::Result<Inverse, NotUndoable> {
        let (mut files, mut left_bytes) = (Vec::new(), UNDO_LIMIT_BYTES);
        for (edits, planned) in self.edited_in_place() {
            let path = utf8(edits.place.canonical())?;
            let restored = restored_lines(edits.place.shown(), planned, &mut left_bytes, cancel)?;
            files.push(InverseFile::Edited { path, from: None, restored });
        }
        let mut deleted: HashMap<PathBuf, (&Place, Stamp)> = HashMap::new();
        for one in &self.tasks.files {
            if let Task::Delete { place, stamp } = &one.task {
                deleted.insert(place.canonical().to_owned(), (place, *stamp));
            }
        }
        for one in &self.tasks.files {
            match &one.task {
                Task::Add { to, .. } => {
                    let path = utf8(&to.path())?;
                    let snapshot = added[&one.key()].snapshot().to_owned();
                    files.push(match deleted.remove(&to.path()) {
                        Some((place, stamp)) => {
                            let file = self.restored_file(place, &stamp, &mut left_bytes)?;
                            InverseFile::Replaced { path, snapshot, file }
                        }
                        None => InverseFile::Created { path, snapshot },
                    });
                }
                Task::Move { from, to, .. } => {
                    let moved = self.moved_file(one, from, &to.path(), &mut left_bytes, cancel)?;
                    files.push(moved);
                }
                Task::Delete { .. } => {}
            }
        }
        let mut deleted: Vec<_> = deleted.into_iter().collect();
        deleted.sort_by(|(one, _), (other, _)| one.cmp(other));
        for (path, (place, stamp)) in deleted {
            let file = self.restored_file(place, &stamp, &mut left_bytes)?;
            files.push(InverseFile::Deleted { path: utf8(&path)?, file });
        }
        Ok(Inverse { files })
    }

    fn moved_file(
        &self,
        one: &FileTask<'_>,
        from: &Place,
        to: &Path,
        left_bytes: &mut usize,
        cancel: &Cancel,
    ) -> std::result::Result<InverseFile, NotUndoable> {
        let (path, from) = (utf8(to)?, utf8(from.canonical())?);
        Ok(match self.edit_of(one) {
            Some(planned) => {
                let restored = restored_lines(&one.path, planned, left_bytes, cancel)?;
                InverseFile::Edited { path, from: Some(from), restored }
            }
            None => InverseFile::Moved { path, from },
        })
    }

    /// A file that the patch removes.
    fn restored_file(
        &self,
        place: &Place,
        stamp: &Stamp,
        left_bytes: &mut usize,
    ) -> std::result::Result<RestoredFile, NotUndoable> {
        let path = place.shown();
        if stamp.kind != FileKind::File {
            return Err(NotUndoable(format!("{path}: was a symbolic link")));
        }
        let (content, rights) = match place.document() {
            Some(document) => {
                charge(left_bytes, document.content.bytes.len(), path)?;
                (document.content.bytes.to_vec(), None)
            }
            None => {
                let (content, rights) = self.content_of_file(place, *left_bytes)?;
                charge(left_bytes, content.len(), path)?;
                (content, rights)
            }
        };
        Ok(RestoredFile { content, rights: rights.map(|rights| (rights.mode, rights.owner)) })
    }

    /// The content of a file, and one byte more than the limit if it is larger; and its rights.
    fn content_of_file(
        &self,
        place: &Place,
        limit_bytes: usize,
    ) -> Result<(Vec<u8>, Option<Rights>)> {
        let fs = self.context.fs;
        let read = || {
            let mut content = Vec::new();
            let mut file = fs.open(place)?;
            fs.read(&mut file, limit_bytes as u64 + 1, &mut content)?;
            Ok((content, fs.rights(&file)?))
        };
        read().map_err(|cause| Error::io("read", place.shown(), &cause))
    }
}

/// Subtracts old bytes from what a patch may keep.
fn charge(
    left_bytes: &mut usize,
    bytes: usize,
    path: &str,
) -> std::result::Result<(), NotUndoable> {
    let too_large = || NotUndoable(format!("{path}: its old lines are too large to be kept"));
    *left_bytes = left_bytes.checked_sub(bytes).ok_or_else(too_large)?;
    Ok(())
}

fn utf8(path: &Path) -> std::result::Result<String, NotUndoable> {
    let text = path.to_str().map(str::to_owned);
    text.ok_or_else(|| NotUndoable(format!("{}: its name is not UTF-8", path.display())))
}

/// The old lines of an edited file.
fn restored_lines(
    path: &str,
    planned: &PlannedFile,
    left_bytes: &mut usize,
    cancel: &Cancel,
) -> std::result::Result<RestoredLines, NotUndoable> {
    for region in &planned.plan.regions {
        charge(left_bytes, region.end - region.start, path)?;
    }
    let (document, after) = (&planned.document, planned.after());
    let (before, body) = (planned.snapshot_before(cancel)?, document.body());
    let (mut shift, mut moved) = (0i64, 0i64);
    let regions = planned.plan.regions.iter().map(|region| {
        let new_bytes = region.lead.len() + region.bytes.len();
        let start = region.start.saturating_add_signed(moved as isize);
        moved += new_bytes as i64 - (region.end - region.start) as i64;
        let after_line = region.after_line.saturating_add_signed(shift);
        shift += region.shift();
        RestoredRegion {
            after_line,
            lines: region.new_lines,
            has_lead: !region.lead.is_empty(),
            start,
            end: start + new_bytes,
            bytes: body[region.start..region.end].to_vec(),
        }
    });
    let regions = regions.collect();
    Ok(RestoredLines {
        before,
        after: after.snapshot().to_owned(),
        text: after.hash(),
        charset: document.charset().name(),
        regions,
    })
}
