//! The patches of a session that can be undone, the oldest first.
//!
//! What undoes a patch is a text that only the caller understands. It is kept like the texts of
//! files, by its hash. So are the texts of the files after the newest patch: if another process has
//! changed a file since, they show where the lines of the patch are now.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::{Deserialize, Serialize};

use super::body::{TextRef, Version, hash_of, hex};
use super::versions::{MAX_LINES, Moment};

/// The most patches that can be undone.
const LIMIT_PATCHES: usize = 100;

/// The most bytes of texts by which patches are undone. The oldest patches are dropped first.
const LIMIT_BYTES: u64 = 16 << 20;

/// A patch that was applied.
#[derive(Clone, Debug)]
pub struct AppliedPatch {
    /// Its id, unique among all processes. A patch with the id of another one replaces it.
    pub id: u128,
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
    /// A patch that was applied now.
    pub fn new(
        files: Vec<PathBuf>,
        inverse: Result<Version, String>,
        after: Vec<Version>,
    ) -> AppliedPatch {
        let time = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (id, time_ms) = (new_id(time.as_nanos()), time.as_millis() as u64);
        AppliedPatch { id, time_ms, files, inverse, inverse_bytes: 0, after }.measured()
    }

    /// A patch of the list with another inverse.
    pub fn changed(
        entry: &UndoEntry,
        inverse: Result<Version, String>,
        after: Vec<Version>,
    ) -> AppliedPatch {
        let UndoEntry { id, time_ms, ref files, .. } = *entry;
        let files = files.clone();
        AppliedPatch { id, time_ms, files, inverse, inverse_bytes: 0, after }.measured()
    }

    fn measured(self) -> AppliedPatch {
        let text = self.inverse.as_ref().ok().and_then(Version::body);
        AppliedPatch { inverse_bytes: text.map_or(0, |body| body.text.len() as u64), ..self }
    }
}

/// An id that no other patch has, of whatever process.
fn new_id(time_ns: u128) -> u128 {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    hash_of(format!("{} {time_ns} {count}", std::process::id()).as_bytes())
}

/// A patch that can be undone.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct UndoEntry {
    /// Its id.
    #[serde(with = "hex")]
    pub id: u128,
    /// When it was applied, in milliseconds after the epoch.
    pub time_ms: u64,
    /// The files that it changed, created, moved or deleted.
    pub files: Vec<PathBuf>,
    /// Later names of these files.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    renamed: Vec<PathBuf>,
    /// When the memory learned of it.
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
    after: Vec<TextRef>,
}

impl UndoEntry {
    /// The entry of a patch that the memory learns of at a moment.
    fn of(patch: &AppliedPatch, at: Moment) -> UndoEntry {
        UndoEntry {
            id: patch.id,
            time_ms: patch.time_ms,
            files: patch.files.clone(),
            renamed: Vec::new(),
            at,
            inverse: patch.inverse.as_ref().ok().map(TextRef::of),
            bytes: patch.inverse_bytes,
            refused: patch.inverse.as_ref().err().cloned(),
            after: patch.after.iter().map(TextRef::of).collect(),
        }
    }

    /// Whether a correct program can have written it: no number that is added up may overflow.
    pub(super) fn is_valid(&self, now: Moment) -> bool {
        let mut texts = self.inverse.iter().chain(&self.after);
        self.at <= now && is_valid_size(self.bytes) && texts.all(|text| text.lines <= MAX_LINES)
    }

    fn is_about(&self, file: &Path) -> bool {
        self.files.iter().chain(&self.renamed).any(|known| known == file)
    }

    /// Its size in memory without texts.
    fn size_bytes(&self) -> usize {
        let paths = self.files.iter().chain(&self.renamed);
        let paths = paths.map(|path| size_of::<PathBuf>() + path.as_os_str().len());
        let texts = self.after.len() * size_of::<TextRef>();
        size_of::<UndoEntry>() + paths.sum::<usize>() + texts
    }
}

/// Whether a text by which a patch is undone can have this size.
pub(super) fn is_valid_size(bytes: u64) -> bool {
    bytes <= LIMIT_BYTES
}

/// The patches of a session that can be undone. Clones share the entries.
#[derive(Clone, Debug, Default)]
pub(super) struct UndoList {
    entries: Vec<Arc<UndoEntry>>,
    /// The texts to which it refers: those by which patches are undone, and those of files after the
    /// newest patch.
    texts: Arc<HashSet<u128>>,
    /// Its size without texts.
    size_bytes: usize,
}

impl From<Vec<UndoEntry>> for UndoList {
    fn from(mut entries: Vec<UndoEntry>) -> UndoList {
        entries.drain(..entries.len().saturating_sub(LIMIT_PATCHES));
        let entries = entries.into_iter().map(Arc::new).collect();
        UndoList { entries, ..UndoList::default() }.measured()
    }
}

impl UndoList {
    pub(super) fn entries(&self) -> &[Arc<UndoEntry>] {
        &self.entries
    }

    pub(super) fn size_bytes(&self) -> usize {
        self.size_bytes
    }

    /// Whether it refers to a text.
    pub(super) fn refers_to(&self, hash: u128) -> bool {
        self.texts.contains(&hash)
    }

    /// The texts to which it refers, each with the moment in which it was used last.
    pub(super) fn uses(&self) -> impl Iterator<Item = (u128, Moment)> + '_ {
        let inverses = self.entries.iter().rev();
        let inverses = inverses.filter_map(|entry| Some((entry.inverse?.hash, entry.at)));
        let after = self.entries.last().into_iter();
        let after = after.flat_map(|last| last.after.iter().map(|text| (text.hash, last.at)));
        inverses.chain(after)
    }

    /// Adds a patch, or replaces the one with its id. Returns the texts to which the list does not
    /// refer any more.
    pub(super) fn add(&mut self, patch: &AppliedPatch, at: Moment) -> Vec<u128> {
        self.change(|entries| {
            let entry = UndoEntry::of(patch, at);
            match entries.iter().position(|known| known.id == patch.id) {
                Some(place) => {
                    entries[place] = Arc::new(UndoEntry { at: entries[place].at, ..entry });
                }
                None => entries.push(Arc::new(entry)),
            }
            let mut bytes: u64 = entries.iter().map(|entry| entry.bytes).sum();
            let mut dropped = 0;
            while entries.len() - dropped > LIMIT_PATCHES || bytes > LIMIT_BYTES {
                bytes -= entries[dropped].bytes;
                dropped += 1;
            }
            entries.drain(..dropped);
        })
    }

    /// Removes a patch. Returns the texts to which the list does not refer any more.
    pub(super) fn remove(&mut self, id: u128) -> Vec<u128> {
        self.change(|entries| entries.retain(|entry| entry.id != id))
    }

    /// Removes the patches that changed a file. Returns the texts to which the list does not refer
    /// any more.
    pub(super) fn forget(&mut self, file: &Path) -> Vec<u128> {
        self.change(|entries| entries.retain(|entry| !entry.is_about(file)))
    }

    /// Notes the new names of files, so that patches of them can be forgotten.
    pub(super) fn rename_all(&mut self, moves: &[(PathBuf, PathBuf)]) {
        let later = |entry: &UndoEntry| -> Vec<PathBuf> {
            let moved =
                moves.iter().filter(|(from, to)| entry.is_about(from) && !entry.is_about(to));
            moved.map(|(_, to)| to.clone()).collect()
        };
        for entry in &mut self.entries {
            let later = later(entry);
            if !later.is_empty() {
                Arc::make_mut(entry).renamed.extend(later);
            }
        }
        *self = std::mem::take(self).measured();
    }

    fn change(&mut self, change: impl FnOnce(&mut Vec<Arc<UndoEntry>>)) -> Vec<u128> {
        change(&mut self.entries);
        let before = Arc::clone(&self.texts);
        *self = std::mem::take(self).measured();
        before.difference(&self.texts).copied().collect()
    }

    fn measured(self) -> UndoList {
        let texts = Arc::new(self.uses().map(|(hash, _)| hash).collect());
        let size_bytes = self.entries.iter().map(|entry| entry.size_bytes()).sum();
        UndoList { texts, size_bytes, ..self }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn patch(file: &str, inverse_bytes: usize) -> AppliedPatch {
        let inverse = Version::owned(vec![b'x'; inverse_bytes]);
        AppliedPatch::new(vec![file.into()], Ok(inverse), vec![Version::owned(file.into())])
    }

    fn files(list: &UndoList) -> Vec<&Path> {
        list.entries().iter().map(|entry| entry.files[0].as_path()).collect()
    }

    #[test]
    fn the_oldest_patches_are_dropped() {
        let mut list = UndoList::default();
        for number in 0..LIMIT_PATCHES + 5 {
            list.add(&patch(&number.to_string(), number), Moment::default());
        }
        assert_eq!((list.entries().len(), files(&list)[0]), (LIMIT_PATCHES, Path::new("5")));
        let large = (LIMIT_BYTES as usize) / 2 + 1;
        let released = list.add(&patch("a", large), Moment::default());
        assert_eq!(list.entries().len(), LIMIT_PATCHES);
        // A text of a file after the patch before, and the inverse that was dropped.
        assert_eq!(released.len(), 2);
        let second = patch("b", large);
        list.add(&second, Moment::default());
        assert_eq!(files(&list), [Path::new("b")]);
        assert!(list.refers_to(hash_of(b"b")) && !list.refers_to(hash_of(b"a")));
    }

    #[test]
    fn patches_are_removed_and_replaced_by_their_ids() {
        let mut list = UndoList::default();
        // The same change, made three times.
        let patches = [patch("a", 1), patch("a", 1), patch("a", 1)];
        for patch in &patches {
            list.add(patch, Moment::default());
        }
        list.remove(patches[1].id);
        list.remove(patches[1].id);
        let ids = |list: &UndoList| list.entries().iter().map(|entry| entry.id).collect::<Vec<_>>();
        assert_eq!(ids(&list), [patches[0].id, patches[2].id]);
        let entry = list.entries()[0].clone();
        list.add(
            &AppliedPatch::changed(&entry, Err("why".to_owned()), Vec::new()),
            Moment::default(),
        );
        assert_eq!(ids(&list), [patches[0].id, patches[2].id]);
        assert_eq!(list.entries()[0].refused.as_deref(), Some("why"));
    }

    #[test]
    fn regression_patches_are_forgotten_by_the_later_names_of_their_files() {
        let mut list = UndoList::default();
        list.add(&patch("a", 1), Moment::default());
        list.rename_all(&[("a".into(), "b".into())]);
        list.rename_all(&[("b".into(), "c".into())]);
        list.add(&patch("d", 2), Moment::default());
        let released = list.forget(Path::new("c"));
        assert_eq!((files(&list), released.len()), (vec![Path::new("d")], 1));
    }
}
