//! The files of a memory, with indexes for the queries after each update: the least recently used
//! file, the files that refer to a text, the total size.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::Arc;

use super::FileMemory;

/// What is remembered of files, by path.
#[derive(Clone, Debug, Default)]
pub(super) struct Files {
    known: HashMap<Arc<Path>, Arc<FileMemory>>,
    /// By last use.
    by_use: BTreeSet<(u64, Arc<Path>)>,
    /// By the hashes of their texts.
    by_text: HashMap<u128, HashSet<Arc<Path>>>,
    /// Their size without texts.
    bytes: usize,
}

impl Files {
    pub(super) fn get(&self, file: &Path) -> Option<&Arc<FileMemory>> {
        self.known.get(file)
    }

    pub(super) fn contains(&self, file: &Path) -> bool {
        self.known.contains_key(file)
    }

    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&Path, &Arc<FileMemory>)> {
        self.known.iter().map(|(name, file)| (&**name, file))
    }

    pub(super) fn values(&self) -> impl Iterator<Item = &FileMemory> {
        self.known.values().map(|file| &**file)
    }

    /// The least recently used file.
    pub(super) fn oldest(&self) -> Option<&Arc<Path>> {
        self.by_use.first().map(|(_, name)| name)
    }

    /// The most recently used file.
    pub(super) fn newest(&self) -> Option<&Arc<Path>> {
        self.by_use.last().map(|(_, name)| name)
    }

    /// Whether any file refers to a text.
    pub(super) fn refer_to(&self, hash: u128) -> bool {
        self.by_text.contains_key(&hash)
    }

    /// Inserts a file. Returns the file that had the name before.
    pub(super) fn insert(
        &mut self,
        name: Arc<Path>,
        file: Arc<FileMemory>,
    ) -> Option<Arc<FileMemory>> {
        let replaced = self.remove(&name);
        self.bytes += file.bytes;
        self.by_use.insert((file.used, Arc::clone(&name)));
        for hash in file.hashes() {
            self.by_text.entry(hash).or_default().insert(Arc::clone(&name));
        }
        self.known.insert(name, file);
        replaced
    }

    pub(super) fn remove(&mut self, file: &Path) -> Option<Arc<FileMemory>> {
        self.take(file).map(|(_, file)| file)
    }

    /// Changes a file, which is `fresh` if it is not known.
    pub(super) fn change(
        &mut self,
        file: &Path,
        fresh: FileMemory,
        change: impl FnOnce(&mut FileMemory),
    ) {
        let known = self.take(file).unwrap_or_else(|| (file.into(), Arc::new(fresh)));
        let (name, mut known) = known;
        let changed = Arc::make_mut(&mut known);
        change(changed);
        changed.measure(file);
        self.insert(name, known);
    }

    /// Changes all files. The change must not affect the indexes: size, last use, texts.
    pub(super) fn update_all(&mut self, touch: impl Fn(&mut FileMemory)) {
        self.known.values_mut().for_each(|file| touch(Arc::make_mut(file)));
    }

    /// Marks the files that refer to a dropped text.
    pub(super) fn note_lost(&mut self, hash: u128) {
        for name in self.by_text.get(&hash).into_iter().flatten() {
            if let Some(file) = self.known.get_mut(name) {
                Arc::make_mut(file).forgotten = true;
            }
        }
    }

    fn take(&mut self, file: &Path) -> Option<(Arc<Path>, Arc<FileMemory>)> {
        let (name, known) = self.known.remove_entry(file)?;
        self.bytes -= known.bytes;
        self.by_use.remove(&(known.used, Arc::clone(&name)));
        for hash in known.hashes() {
            if let Some(names) = self.by_text.get_mut(&hash) {
                names.remove(&name);
                if names.is_empty() {
                    self.by_text.remove(&hash);
                }
            }
        }
        Some((name, known))
    }
}

#[cfg(test)]
impl Files {
    /// Asserts that the indexes match the files.
    pub(super) fn check(&self) {
        assert_eq!(self.bytes, self.values().map(|file| file.bytes).sum::<usize>());
        let by_use = self.iter().map(|(name, file)| (file.used, name.into())).collect();
        assert_eq!(self.by_use, by_use);
        let mut by_text: HashMap<u128, HashSet<Arc<Path>>> = HashMap::new();
        for (name, file) in self.iter() {
            for hash in file.hashes() {
                by_text.entry(hash).or_default().insert(name.into());
            }
        }
        assert_eq!(self.by_text, by_text);
    }
}
