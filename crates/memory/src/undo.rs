//! The patches of a session that can be undone, the oldest first.
//!
//! What undoes a patch is a text that only the caller understands. It is kept like the texts of
//! files, by its hash. So are the texts of the files after the newest patch: if another process has
//! changed a file since, they show where the lines of the patch are now.

use std::iter::repeat;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::body::{TextRef, Version};
use super::versions::{MAX_LINES, Moment};

/// The most patches that can be undone.
const LIMIT_PATCHES: usize = 100;

/// The most bytes of texts by which patches are undone. The oldest patches are dropped first.
const LIMIT_BYTES: u64 = 16 << 20;

/// Whether a text by which a patch is undone can have this size: no number that is added up may
/// overflow.
pub(super) fn is_valid_size(bytes: u64) -> bool {
    bytes <= LIMIT_BYTES
}

/// A patch that was applied.
#[derive(Clone, Debug)]
pub struct AppliedPatch {
    /// When it was applied, in milliseconds after the epoch.
    pub time_ms: u64,
    /// The files that it changed, created, moved or deleted.
    pub files: Vec<PathBuf>,
    /// The text by which it is undone, or why it cannot be undone.
    pub inverse: Result<Version, String>,
    /// The size of that text.
    pub(super) inverse_bytes: u64,
    /// The texts of its files after the patch.
    pub after: Vec<Version>,
}

impl AppliedPatch {
    /// A patch that was applied at a time, in milliseconds after the epoch.
    pub fn new(
        time_ms: u64,
        files: Vec<PathBuf>,
        inverse: Result<Version, String>,
        after: Vec<Version>,
    ) -> AppliedPatch {
        let text = inverse.as_ref().ok().and_then(Version::body);
        let inverse_bytes = text.map_or(0, |body| body.text.len() as u64);
        AppliedPatch { time_ms, files, inverse, inverse_bytes, after }
    }

    /// The hash of the text by which it is undone.
    pub fn inverse_hash(&self) -> Option<u128> {
        self.inverse.as_ref().ok().map(Version::hash)
    }
}

/// A patch that can be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoEntry {
    /// When it was applied, in milliseconds after the epoch.
    pub time_ms: u64,
    /// The files that it changed, created, moved or deleted.
    pub files: Vec<PathBuf>,
    /// When the memory learned of it.
    #[serde(default)]
    pub(super) at: Moment,
    /// The text by which it is undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) inverse: Option<TextRef>,
    /// The size of that text.
    #[serde(default)]
    bytes: u64,
    /// Why it cannot be undone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<String>,
    /// The texts of its files after the patch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) after: Vec<TextRef>,
}

impl UndoEntry {
    /// The entry of a patch that the memory learns of at a moment.
    pub(super) fn of(patch: &AppliedPatch, at: Moment) -> UndoEntry {
        let inverse = patch.inverse.as_ref().ok();
        UndoEntry {
            time_ms: patch.time_ms,
            files: patch.files.clone(),
            at,
            inverse: inverse.map(TextRef::of),
            bytes: patch.inverse_bytes,
            refused: patch.inverse.as_ref().err().cloned(),
            after: patch.after.iter().map(TextRef::of).collect(),
        }
    }

    /// Whether a correct program can have written it.
    pub(super) fn is_valid(&self, now: Moment) -> bool {
        self.at <= now
            && is_valid_size(self.bytes)
            && self.texts().all(|text| text.lines <= MAX_LINES)
    }

    /// The texts that it refers to.
    pub(super) fn texts(&self) -> impl Iterator<Item = &TextRef> {
        self.inverse.iter().chain(&self.after)
    }
}

/// The patches of a session that can be undone.
#[derive(Clone, Debug, Default)]
pub(super) struct UndoList(Vec<UndoEntry>);

impl From<Vec<UndoEntry>> for UndoList {
    fn from(entries: Vec<UndoEntry>) -> UndoList {
        UndoList(entries)
    }
}

impl UndoList {
    pub(super) fn entries(&self) -> &[UndoEntry] {
        &self.0
    }

    /// Adds a patch. Returns the texts that the list may not refer to any more.
    pub(super) fn push(&mut self, entry: UndoEntry) -> Vec<u128> {
        let mut released: Vec<u128> =
            self.0.last().iter().flat_map(|last| &last.after).map(|text| text.hash).collect();
        self.0.push(entry);
        let mut bytes: u64 = self.0.iter().map(|entry| entry.bytes).sum();
        let mut dropped = 0;
        while self.0.len() - dropped > LIMIT_PATCHES || bytes > LIMIT_BYTES {
            bytes -= self.0[dropped].bytes;
            dropped += 1;
        }
        released.extend(self.0.drain(..dropped).filter_map(|entry| Some(entry.inverse?.hash)));
        released
    }

    /// Removes the newest patch that is undone by this text. Returns the texts that the list may
    /// not refer to any more.
    pub(super) fn remove(&mut self, inverse: u128) -> Vec<u128> {
        let is_it = |entry: &UndoEntry| entry.inverse.as_ref().is_some_and(|it| it.hash == inverse);
        match self.0.iter().rposition(is_it) {
            Some(at) => self.0.remove(at).texts().map(|text| text.hash).collect(),
            None => Vec::new(),
        }
    }

    /// Removes the patches that changed a file. Returns the texts that the list may not refer to
    /// any more.
    pub(super) fn forget(&mut self, file: &Path) -> Vec<u128> {
        let is_about = |entry: &UndoEntry| entry.files.iter().any(|one| one == file);
        let forgotten = self.0.iter().filter(|entry| is_about(entry));
        let texts = forgotten.flat_map(UndoEntry::texts).map(|text| text.hash).collect();
        self.0.retain(|entry| !is_about(entry));
        texts
    }

    /// The texts that it refers to, those of the newest patch first: the texts by which patches are
    /// undone, and the texts of files after the newest patch.
    pub(super) fn texts(&self) -> impl Iterator<Item = u128> + '_ {
        let after = self.0.last().into_iter().flat_map(|last| &last.after);
        self.0
            .iter()
            .rev()
            .filter_map(|entry| entry.inverse.as_ref())
            .chain(after)
            .map(|it| it.hash)
    }

    /// The same, each with the moment in which it was used.
    pub(super) fn uses(&self) -> impl Iterator<Item = (u128, Moment)> + '_ {
        let texts = |entry: &UndoEntry| entry.texts().map(|it| it.hash).collect::<Vec<_>>();
        self.0.iter().flat_map(move |one| texts(one).into_iter().zip(repeat(one.at)))
    }

    /// Whether it refers to a text.
    pub(super) fn refers_to(&self, hash: u128) -> bool {
        self.texts().any(|known| known == hash)
    }
}
