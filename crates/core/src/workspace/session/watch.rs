//! Detects that files changed after they were shown to the model.
//!
//! Another command may write them. The next answer reports it once, before the model edits with
//! stale anchors.

use parking_lot::{Mutex, MutexGuard};
use std::collections::VecDeque;
use std::io;
use std::path::{Path, PathBuf};

use hashline_disk::fs::Stamp;

/// The maximum number of files watched: the ones shown most recently.
const FILES_LIMIT: usize = 256;

/// The most recently shown files, and those of them that changed.
#[derive(Default)]
pub struct FileWatch(Mutex<WatchedFiles>);

#[derive(Default)]
struct WatchedFiles {
    /// With their stamps when shown; the last one was shown most recently.
    shown: VecDeque<(PathBuf, Stamp)>,
    /// Changed and not reported yet.
    changed: Vec<PathBuf>,
}

impl FileWatch {
    fn watched(&self) -> MutexGuard<'_, WatchedFiles> {
        self.0.lock()
    }

    /// Records that the current state of files was shown; earlier changes are thereby reported.
    pub fn show(&self, files: &[PathBuf], stamp_of: impl Fn(&Path) -> io::Result<Stamp>) {
        let mut watched = self.watched();
        for file in files {
            watched.shown.retain(|(known, _)| known != file);
            watched.shown.extend(stamp_of(file).ok().map(|stamp| (file.clone(), stamp)));
        }
        watched.changed.retain(|known| !files.contains(known));
        let excess = watched.shown.len().saturating_sub(FILES_LIMIT);
        watched.shown.drain(..excess);
    }

    /// Checks for files that changed since they were shown, and reports each once. `now` returns the
    /// stamp of a file that is as it was shown; it may read the file, so the lock is not held.
    pub fn poll(&self, now: impl Fn(&Path, &Stamp) -> Option<Stamp>) {
        let shown = self.watched().shown.clone();
        let polled = shown.into_iter().map(|(file, stamp)| {
            let now = now(&file, &stamp);
            (file, stamp, now)
        });
        let moved: Vec<_> = polled.filter(|(_, stamp, now)| *now != Some(*stamp)).collect();
        let mut watched = self.watched();
        for (file, stamp, now) in moved {
            // It may have been shown again meanwhile.
            let Some(at) = watched.shown.iter().position(|one| *one == (file.clone(), stamp))
            else {
                continue;
            };
            match now {
                Some(now) => watched.shown[at].1 = now,
                None => {
                    watched.shown.remove(at);
                    watched.changed.push(file);
                }
            }
        }
    }

    /// Takes the files to report.
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
