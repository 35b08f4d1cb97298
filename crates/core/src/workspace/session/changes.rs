//! Listeners that are called after each committed patch of a session.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Weak};

use parking_lot::{Mutex, MutexGuard};
use serde::Serialize;

use super::Session;
use crate::edit::outcome::{Applied, Change, DiffHunk, DocumentChange, FileChange, FileDiff};
use hashline_disk::fs::FileSystem;

/// What a committed patch changed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionChange {
    /// The files, in the order of their first operation.
    pub files: Vec<ChangedFile>,
}

/// A file that a committed patch changed.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedFile {
    /// Its absolute path, or its last one if it was deleted.
    pub path: String,
    /// Its absolute path before, if it was moved.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What happened.
    pub change: Change,
    /// Lines added.
    pub added: u64,
    /// Lines removed.
    pub removed: u64,
    /// Its number of lines now, if they were counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line_count: Option<u64>,
    /// The hash of its content now, as in a view, if it was read.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<String>,
    /// The diff of its text, if the patch requested one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hunks: Option<Vec<DiffHunk>>,
    /// Whether it is a document, which the host writes.
    pub document: bool,
    /// The version of the document's text before the patch, if the host gave one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<i64>,
}

/// Called with the change of each committed patch.
type Listener = Arc<dyn Fn(&SessionChange) + Send + Sync>;

/// The listeners of a session.
#[derive(Default)]
pub struct ChangeListeners(Mutex<Listening>);

#[derive(Default)]
struct Listening {
    /// In the order in which they were added.
    listeners: Vec<(u64, Listener)>,
    next_number: u64,
}

/// The listeners of stored sessions, by the directory of the store and the id.
type ListenersOfStores = HashMap<(PathBuf, String), Weak<ChangeListeners>>;

/// Those of the stored sessions that are open in this process.
static OF_STORES: Mutex<Option<ListenersOfStores>> = Mutex::new(None);

impl ChangeListeners {
    /// The listeners of a stored session, shared by all sessions of this process that open it.
    pub fn of_store(fs: &dyn FileSystem, dir: &Path, id: &str) -> Arc<ChangeListeners> {
        let dir = without_links(fs, dir);
        let mut stores = OF_STORES.lock();
        let stores = stores.get_or_insert_default();
        stores.retain(|_, listeners| listeners.strong_count() > 0);
        let known = stores.entry((dir, id.to_owned())).or_default();
        known.upgrade().unwrap_or_else(|| {
            let listeners = Arc::new(ChangeListeners::default());
            *known = Arc::downgrade(&listeners);
            listeners
        })
    }

    fn lock(&self) -> MutexGuard<'_, Listening> {
        self.0.lock()
    }

    /// Whether no one listens.
    pub fn is_empty(&self) -> bool {
        self.lock().listeners.is_empty()
    }

    /// Calls all listeners. The patch is committed, so a panic of one must not fail its call.
    pub fn call(&self, change: &SessionChange) {
        let listeners = self.lock().listeners.clone();
        for (_, listener) in listeners {
            let _ = catch_unwind(AssertUnwindSafe(|| listener(change)));
        }
    }
}

/// A path without links, as far as it exists: the directory of a store is created on first use.
fn without_links(fs: &dyn FileSystem, path: &Path) -> PathBuf {
    let found = path.ancestors().find_map(|above| {
        let rest = path.strip_prefix(above).ok()?;
        Some(fs.canonicalize(above).ok()?.join(rest))
    });
    found.unwrap_or_else(|| path.to_owned())
}

/// A listener of a session, until this is dropped.
pub struct Subscription {
    listeners: Arc<ChangeListeners>,
    number: u64,
}

impl Drop for Subscription {
    fn drop(&mut self) {
        let number = self.number;
        // Dropped without the lock: the listener may own anything.
        let removed = {
            let mut listening = self.listeners.lock();
            let at = listening.listeners.iter().position(|(known, _)| *known == number);
            at.map(|at| listening.listeners.remove(at))
        };
        drop(removed);
    }
}

impl Session {
    /// Calls a function after each committed patch of this session, until the subscription is
    /// dropped: once for each, in the order of the commits. A dry run, a refusal and a patch without
    /// effect change nothing, so it is not called for them.
    ///
    /// Copies of the session ([`Session::spelled`]) and other sessions of this process that were
    /// opened from the same store have the same listeners; a fork has its own. The order holds for
    /// the patches of one session.
    ///
    /// It is called when the call of the patch ends, on its thread, and later calls of the session
    /// wait for it: it must return soon and must not call the session. A panic in it is ignored.
    pub fn on_change(
        &self,
        listener: impl Fn(&SessionChange) + Send + Sync + 'static,
    ) -> Subscription {
        let listeners = Arc::clone(&self.state.changes);
        let mut listening = listeners.lock();
        let number = listening.next_number;
        listening.next_number += 1;
        listening.listeners.push((number, Arc::new(listener)));
        drop(listening);
        Subscription { listeners, number }
    }

    /// The change of a committed patch, for listeners; `None` if no one listens or it changed nothing.
    pub(super) fn change_of(&self, applied: &Applied) -> Option<SessionChange> {
        if applied.files.is_empty() || self.state.changes.is_empty() {
            return None;
        }
        let files = applied.files.iter().map(|file| self.changed_file(file)).collect();
        Some(SessionChange { files })
    }

    fn changed_file(&self, file: &FileChange) -> ChangedFile {
        let absolute = |path: &str| match self.absolute_path(path) {
            Ok(path) => path.to_string_lossy().into_owned(),
            Err(_) => path.to_owned(),
        };
        let hunks = file.diff.as_ref().map(|FileDiff { hunks, .. }| hunks.clone());
        let version = file.document.as_ref().and_then(|DocumentChange { version, .. }| *version);
        ChangedFile {
            path: absolute(&file.path),
            from: file.from.as_deref().map(absolute),
            change: file.change,
            added: file.added,
            removed: file.removed,
            line_count: file.line_count,
            snapshot: file.snapshot.clone(),
            hunks,
            document: file.document.is_some(),
            version,
        }
    }
}
