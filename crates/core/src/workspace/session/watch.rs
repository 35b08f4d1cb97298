//! Files that change while a model works by what it was shown of them.
//!
//! A command that is none of the session's may write them. The model is told once, by the next
//! answer, before it edits by anchors that are old.

use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::path::{Path, PathBuf};

use hashline_disk::fs::Stamp;

/// How many files are watched: those that were shown last.
const FILES_LIMIT: usize = 256;

/// The files that were shown last, and those of them that have changed.
#[derive(Default)]
pub struct FileWatch(Mutex<WatchedFiles>);

#[derive(Default)]
struct WatchedFiles {
    /// With the stamp that each had when it was shown; the last one was shown last.
    shown: VecDeque<(PathBuf, Stamp)>,
    /// What has changed and was not told yet.
    changed: Vec<PathBuf>,
}

impl FileWatch {
    fn watched(&self) -> MutexGuard<'_, WatchedFiles> {
        self.0.lock()
    }

    /// Notes that files are shown as they are now: what has become of them is told by that.
    pub fn show(&self, files: &[PathBuf]) {
        let mut watched = self.watched();
        for file in files {
            watched.shown.retain(|(known, _)| known != file);
            watched.shown.extend(Stamp::of_path(file).ok().map(|stamp| (file.clone(), stamp)));
        }
        watched.changed.retain(|known| !files.contains(known));
        let excess = watched.shown.len().saturating_sub(FILES_LIMIT);
        watched.shown.drain(..excess);
    }

    /// Looks for files that are no longer as they were shown. Each is found once.
    pub fn look(&self) {
        let mut watched = self.watched();
        let WatchedFiles { shown, changed } = &mut *watched;
        shown.retain(|(file, stamp)| {
            let is_same = Stamp::of_path(file).is_ok_and(|now| now.is_same_content(stamp));
            if !is_same {
                changed.push(file.clone());
            }
            is_same
        });
    }

    /// The files that have changed, which from now on have been told.
    pub fn take(&self) -> Vec<PathBuf> {
        std::mem::take(&mut self.watched().changed)
    }

    /// Forgets a file, or all of them.
    pub fn forget(&self, file: Option<&Path>) {
        let mut watched = self.watched();
        watched.shown.retain(|(known, _)| file.is_some_and(|file| known != file));
        watched.changed.retain(|known| file.is_some_and(|file| known != file));
    }
}
