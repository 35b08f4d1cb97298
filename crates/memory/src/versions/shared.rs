//! A memory that processes share through records: what it takes over from others, and which of
//! what they wrote can be true at all.

use std::cmp::Reverse;
use std::collections::HashSet;
use std::path::Path;

use super::{FileMemory, Lineage, Memory, MemoryImage, MemoryLimits, Moment, View};
use crate::body::Version;
use crate::track::Splice;

/// No text has more lines.
pub const MAX_LINES: u64 = u32::MAX as u64;

/// Moments are counted; no memory lives so long.
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
    /// How much it holds.
    pub fn limits(&self) -> MemoryLimits {
        self.limits
    }

    /// Takes over what another memory knows: this one as it was at a moment, and what other
    /// processes taught it since. They may have taught that before the calls that wait were made,
    /// so each of these may mean it. Returns until when the call that takes it over, if it is one,
    /// may mean what was shown.
    pub fn replace_with(&mut self, other: Memory, known: Moment, call: Option<Moment>) -> Moment {
        // Nothing else was shown since that call was made, and no other one waits.
        let is_alone = self.held.values().sum::<usize>() <= 1 && call == Some(self.now());
        // What is learned from here on is later than every call that was made.
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

    /// Whether an edit of a text removes lines that were shown: only with the text they are
    /// remembered.
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

    /// The texts that it knows of and does not have, the one that was used last first.
    pub fn missing_texts(&self) -> Vec<u128> {
        let mut lineages: Vec<_> = self.files.values().flat_map(|file| &file.lineages).collect();
        lineages.sort_by_key(|one| Reverse(one.used));
        let mut seen = HashSet::new();
        let hashes = lineages.into_iter().flat_map(|one| [one.tip, one.base]);
        hashes.filter(|hash| !self.texts.contains(*hash) && seen.insert(*hash)).collect()
    }

    /// Keeps the texts that it knows of and another memory has.
    pub fn adopt_texts(&mut self, other: &Memory) {
        for text in self.missing_texts().into_iter().filter_map(|hash| other.version(hash)) {
            self.keep(&text);
        }
        self.enforce_text_limits();
    }

    /// Keeps texts that it knows of; says of the others that they are forgotten.
    pub fn add_texts(&mut self, texts: &[Version], forgotten: &[u128]) {
        texts.iter().for_each(|text| self.keep(text));
        forgotten.iter().for_each(|&hash| self.files.note_lost(hash));
        self.enforce_text_limits();
    }

    /// Brings the memory back within its bounds after texts were kept that it knew of.
    fn enforce_text_limits(&mut self) {
        self.files.values().for_each(|file| file.touch(&mut self.texts));
        self.enforce_byte_limit();
    }
}

impl MemoryImage {
    /// Whether a memory can have written it. A checksum proves that it is as it was written, but
    /// not that a correct program wrote it.
    pub fn is_valid(&self) -> bool {
        let now = Moment(self.now);
        self.now <= MAX_MOMENT
            && self.texts.iter().all(|text| text.lines <= MAX_LINES)
            && self.files.iter().all(|(_, file)| file.is_valid(now))
    }
}

impl FileMemory {
    /// Has what was shown and done after one moment count as of an earlier one.
    fn backdate(&mut self, after: Moment, to: Moment) {
        for lineage in &mut self.lineages {
            let views = lineage.views.iter_mut().flat_map(|view| {
                let late = view.late.iter_mut().map(|(moment, _)| moment);
                late.chain(view.parts.moments_mut()).chain([&mut view.since, &mut view.asked_at])
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
        // A line that is gone was shown, and is nowhere any more.
        let mut gone = self.gone.keys();
        self.since <= now
            && self.last <= now
            && self.asked_at <= now
            && self.shown.fits(MAX_LINES)
            && self.parts.is_valid(&self.shown)
            && self.asked.fits(MAX_LINES)
            && self.track.is_valid()
            && self.left.iter().all(|one| one.count > 0 && self.track.line(one.first).is_none())
            && gone.all(|&line| self.shown.contains(line) && self.track.line(line).is_none())
    }
}
