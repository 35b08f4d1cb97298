//! Files that a patch of the session has broken. The model was told so by the answer to the patch;
//! the next answer tells it once more, if they are still broken: often it has gone on elsewhere.

use parking_lot::{Mutex, MutexGuard};
use std::path::{Path, PathBuf};

use crate::edit::structure::SyntaxState;
use hashline_disk::fs::Stamp;

/// How many files are remembered: those that were broken last.
const FILES_LIMIT: usize = 64;

/// The files that are to be told of once more.
#[derive(Default)]
pub struct BrokenFiles(Mutex<Vec<BrokenFile>>);

struct BrokenFile {
    file: PathBuf,
    /// That of the text which does not parse.
    stamp: Stamp,
    /// Whether a call has begun since the one that broke it.
    is_due: bool,
}

impl BrokenFiles {
    fn files(&self) -> MutexGuard<'_, Vec<BrokenFile>> {
        self.0.lock()
    }

    /// Notes what a patch has made of a file; no state for one that is gone, or was not parsed.
    pub fn note(&self, file: PathBuf, state: Option<SyntaxState>) {
        let mut files = self.files();
        let known = files.iter().position(|one| one.file == file);
        let known = known.map(|at| files.remove(at));
        let is_broken = match state {
            Some(SyntaxState::Broken) => true,
            // It did not parse before, either: that counts if the session has done it.
            Some(SyntaxState::Unclean) => known.is_some(),
            Some(SyntaxState::Ok | SyntaxState::Unknown) | None => false,
        };
        if let Some(stamp) = Stamp::of_path(&file).ok().filter(|_| is_broken) {
            files.push(BrokenFile { file, stamp, is_due: known.is_some_and(|one| one.is_due) });
        }
        let excess = files.len().saturating_sub(FILES_LIMIT);
        files.drain(..excess);
    }

    /// A call begins: its answer tells of what is still as an earlier call has left it.
    pub fn look(&self) {
        self.files().retain_mut(|one| {
            one.is_due = true;
            Stamp::of_path(&one.file).is_ok_and(|now| now.is_same_content(&one.stamp))
        });
    }

    /// The files that are to be told of, which from now on have been told.
    pub fn take(&self) -> Vec<PathBuf> {
        self.files().extract_if(.., |one| one.is_due).map(|one| one.file).collect()
    }

    /// Forgets a file, or all of them.
    pub fn forget(&self, file: Option<&Path>) {
        self.files().retain(|one| file.is_some_and(|file| one.file != file));
    }
}
