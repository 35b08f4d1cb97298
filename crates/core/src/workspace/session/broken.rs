//! Files that a patch of the session broke. The answer to the patch reports it; the next answer
//! reports it again if the file is still broken, because models often continue elsewhere.

use parking_lot::{Mutex, MutexGuard};
use std::io;
use std::path::{Path, PathBuf};

use crate::edit::structure::SyntaxState;
use hashline_disk::fs::Stamp;

/// The maximum number of files remembered: the ones broken most recently.
const FILES_LIMIT: usize = 64;

/// The files to report again.
#[derive(Default)]
pub struct BrokenFiles(Mutex<Vec<BrokenFile>>);

struct BrokenFile {
    file: PathBuf,
    /// The stamp of the broken file.
    stamp: Stamp,
    /// Whether a later call has started.
    is_due: bool,
}

impl BrokenFiles {
    fn files(&self) -> MutexGuard<'_, Vec<BrokenFile>> {
        self.0.lock()
    }

    /// Records the state of a file after a patch; `None` if it was removed or not parsed.
    pub fn note(
        &self,
        file: PathBuf,
        state: Option<SyntaxState>,
        stamp_of: impl Fn(&Path) -> io::Result<Stamp>,
    ) {
        let mut files = self.files();
        let known = files.iter().position(|broken| broken.file == file);
        let known = known.map(|at| files.remove(at));
        let is_broken = match state {
            Some(SyntaxState::Broken) => true,
            // It did not parse before the patch either: report it only if the session broke it.
            Some(SyntaxState::Unclean) => known.is_some(),
            Some(SyntaxState::Ok | SyntaxState::Unknown) | None => false,
        };
        if let Some(stamp) = stamp_of(&file).ok().filter(|_| is_broken) {
            files.push(BrokenFile {
                file,
                stamp,
                is_due: known.is_some_and(|broken| broken.is_due),
            });
        }
        let excess = files.len().saturating_sub(FILES_LIMIT);
        files.drain(..excess);
    }

    /// Called at the start of a call: drops files that changed, and marks the others for its
    /// answer.
    pub fn poll(&self, stamp_of: impl Fn(&Path) -> io::Result<Stamp>) {
        self.files().retain_mut(|broken| {
            broken.is_due = true;
            stamp_of(&broken.file).is_ok_and(|now| now.is_same_content(&broken.stamp))
        });
    }

    /// Takes the files to report.
    pub fn take(&self) -> Vec<PathBuf> {
        self.files().extract_if(.., |broken| broken.is_due).map(|broken| broken.file).collect()
    }

    /// Forgets a file, or all of them.
    pub fn forget(&self, file: Option<&Path>) {
        self.files().retain(|broken| file.is_some_and(|file| broken.file != file));
    }
}
