//! The texts of a memory, each once, ordered by their last use.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use super::Moment;
use crate::body::KeptText;

/// When a text was last used. If two texts were used at once, a base counts as older than a tip: a
/// tip is useful without its base, but not a base without its tip.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct LastUse {
    pub(super) at: Moment,
    pub(super) was_tip: bool,
}

/// Texts by their hashes.
#[derive(Clone, Debug, Default)]
pub(super) struct KeptTexts {
    kept: HashMap<u128, (Arc<KeptText>, LastUse)>,
    by_use: BTreeSet<(LastUse, u128)>,
    bytes: usize,
}

impl KeptTexts {
    pub(super) fn get(&self, hash: u128) -> Option<&Arc<KeptText>> {
        self.kept.get(&hash).map(|(kept, _)| kept)
    }

    pub(super) fn contains(&self, hash: u128) -> bool {
        self.kept.contains_key(&hash)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (u128, &Arc<KeptText>)> {
        self.kept.iter().map(|(&hash, (kept, _))| (hash, kept))
    }

    pub(super) fn bytes(&self) -> usize {
        self.bytes
    }

    /// The least recently used text.
    pub(super) fn oldest(&self) -> Option<u128> {
        self.by_use.first().map(|(_, hash)| *hash)
    }

    /// Adds a new text as never used.
    pub(super) fn insert(&mut self, hash: u128, kept: Arc<KeptText>) {
        self.bytes += kept.bytes();
        let never = LastUse::default();
        self.by_use.insert((never, hash));
        self.kept.insert(hash, (kept, never));
    }

    /// Updates the last use of a text.
    pub(super) fn touch(&mut self, hash: u128, used: LastUse) {
        if let Some((_, known)) = self.kept.get_mut(&hash)
            && *known < used
        {
            self.by_use.remove(&(*known, hash));
            *known = used;
            self.by_use.insert((used, hash));
        }
    }

    pub(super) fn remove(&mut self, hash: u128) {
        if let Some((kept, used)) = self.kept.remove(&hash) {
            self.bytes -= kept.bytes();
            self.by_use.remove(&(used, hash));
        }
    }
}

#[cfg(test)]
impl KeptTexts {
    /// Asserts that the indexes match the texts.
    pub(super) fn check(&self) {
        assert_eq!(self.bytes, self.kept.values().map(|(kept, _)| kept.bytes()).sum::<usize>());
        let by_use = self.kept.iter().map(|(&hash, &(_, used))| (used, hash)).collect();
        assert_eq!(self.by_use, by_use);
    }
}
