//! A memory that processes share through records: how it adopts what others wrote, and how that is
//! validated.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;

use super::texts::LastUse;
use super::{FileMemory, Lineage, Memory, MemoryImage, MemoryLimits, Moment, View};
use crate::body::Version;
use crate::track::Splice;

/// The maximum number of lines of a text.
pub const MAX_LINES: u64 = u32::MAX as u64;

/// The maximum moment of a valid image. No memory counts that far.
const MAX_MOMENT: u64 = 1 << 53;

impl MemoryLimits {
    /// The larger one of each limit.
    pub fn larger(self, other: MemoryLimits) -> MemoryLimits {
        MemoryLimits {
            bytes: self.bytes.max(other.bytes),
            files: self.files.max(other.files),
            versions: self.versions.max(other.versions),
        }
    }
}

impl Memory {
    /// The limits.
    pub fn limits(&self) -> MemoryLimits {
        self.limits
    }

    /// Replaces the memory with a newer one: the memory as it was at `known`, plus the updates that
    /// other processes wrote since. These may be older than the waiting calls, so each waiting call
    /// can mean the lines in them. `call` can mean what was shown until the returned moment.
    pub fn replace_with(&mut self, other: Memory, known: Moment, call: Option<Moment>) -> Moment {
        // Nothing was shown since the call was made, and no other call waits.
        let is_alone = self.held.values().sum::<usize>() <= 1 && call == Some(self.now());
        // What is learned from here on is later than every call so far.
        let now = self.now.max(other.now);
        let (held, forgets) = (std::mem::take(&mut self.held), std::mem::take(&mut self.forgets));
        *self = Memory { now, held, forgets, limits: self.limits, ..other };
        if is_alone {
            return self.now();
        }
        if let Some(&first) = self.held.keys().next() {
            self.files.update_all(|file| file.backdate(known, first));
        }
        call.unwrap_or_default()
    }

    /// Whether an edit removes lines that were shown. Their text can be remembered only if the text
    /// before the edit is loaded.
    pub fn loses_lines(&self, file: &Path, before: u128, splices: &[Splice]) -> bool {
        let Some(file) = self.files.get(file) else { return false };
        let removed = || splices.iter().filter(|splice| splice.removed > 0);
        let is_shown = |view: &View| {
            let now = view.track.as_now();
            let mut origins = removed().flat_map(|one| now.origins(one.lines()));
            origins.any(|origin| !view.shown.within(origin.lines).is_empty())
        };
        match file.lineages.iter().rev().find(|one| one.tip == before) {
            Some(lineage) => lineage.views.iter().any(is_shown),
            None => file.views_of(before).iter().any(is_shown),
        }
    }

    /// The hashes of texts that it refers to and does not have, most recently used first.
    pub fn missing_texts(&self) -> Vec<u128> {
        let mut lineages: Vec<_> = self.files.values().flat_map(|file| &file.lineages).collect();
        lineages.sort_by_key(|one| Reverse(one.used));
        let mut seen = HashSet::new();
        let hashes = lineages.into_iter().flat_map(|one| [one.tip, one.base]);
        let hashes = hashes.chain(self.undo.uses().map(|(hash, _)| hash));
        hashes.filter(|hash| !self.texts.contains(*hash) && seen.insert(*hash)).collect()
    }

    /// Adds missing texts that another memory has.
    pub fn adopt_texts(&mut self, other: &Memory) {
        for text in self.missing_texts().into_iter().filter_map(|hash| other.version(hash)) {
            self.keep(&text);
        }
        self.enforce_text_limits();
    }

    /// Adds missing texts. Marks the files of texts in `forgotten`.
    pub fn add_texts(&mut self, texts: &[Version], forgotten: &[u128]) {
        texts.iter().for_each(|text| self.keep(text));
        forgotten.iter().for_each(|&hash| self.files.note_lost(hash));
        self.enforce_text_limits();
    }

    /// Enforces the limits after texts were added.
    fn enforce_text_limits(&mut self) {
        self.files.values().for_each(|file| file.touch(&mut self.texts));
        for (hash, at) in self.undo.uses() {
            self.texts.touch(hash, LastUse { at, was_tip: false });
        }
        self.enforce_byte_limit();
    }
}

impl MemoryImage {
    /// Whether it is consistent. Its checksum does not prove that a correct program wrote it.
    pub fn is_valid(&self) -> bool {
        let now = Moment(self.now);
        self.now <= MAX_MOMENT
            && self.texts.iter().all(|text| text.lines <= MAX_LINES)
            && self.files.iter().all(|(_, file)| file.is_valid(now))
            && self.undo.iter().all(|entry| entry.is_valid(now))
    }
}

impl FileMemory {
    /// Changes moments after `after` to `to`, if that is earlier.
    fn backdate(&mut self, after: Moment, to: Moment) {
        for lineage in &mut self.lineages {
            let views = lineage.views.iter_mut().flat_map(|view| {
                let late = view.late.iter_mut().map(|(moment, _)| moment);
                late.chain(view.parts.moments_mut()).chain([&mut view.since])
            });
            for moment in views.chain([&mut lineage.changed]) {
                if *moment > after && *moment > to {
                    *moment = to;
                }
            }
        }
    }

    fn is_valid(&self, now: Moment) -> bool {
        self.used <= now.0 && self.lineages.iter().all(|lineage| lineage.is_valid(now))
    }
}

impl Lineage {
    fn is_valid(&self, now: Moment) -> bool {
        self.used <= now
            && self.changed <= now
            && self.track.is_valid()
            && self.written.fits(MAX_LINES)
            && self.views.iter().all(|view| view.is_valid(now))
    }
}

impl View {
    fn is_valid(&self, now: Moment) -> bool {
        // A removed line was shown, and has no current number.
        let mut gone = self.gone.keys();
        self.since <= now
            && self.last <= now
            && self.shown.fits(MAX_LINES)
            && self.parts.is_valid(&self.shown)
            && self.versioned.fits(MAX_LINES)
            && self.track.is_valid()
            && self.left.iter().all(|one| one.count > 0 && self.track.line(one.first).is_none())
            && gone.all(|&line| self.shown.contains(line) && self.track.line(line).is_none())
    }
}
