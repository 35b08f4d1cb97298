//! The versions of files that were shown, and the shown lines of each, within limits.
//!
//! A file's versions are stored as *lineages*: a text that another process wrote (the *base*), and
//! the text that the session's own edits made of it (the *tip*). What was shown of one text of a
//! lineage is a *view*, which knows exactly where its lines are in the tip. So a lineage stores two
//! texts, however many edits it has. Between two lineages another process changed the file.

mod files;
mod image;
mod lineage;
mod retired;
mod shared;
mod texts;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::body::{Body, KeptText, Version, hash_of};
use super::lines::LineSet;
use super::shown::ShownLines;
use super::track::{LineChanges, Track};
use super::undo::{AppliedPatch, UndoEntry, UndoList};
use hashline_base::error::{Error, Message, Result, Term};
use hashline_base::shape::sized;
use hashline_disk::bytes::Charset;
use hashline_lines::dialect::Dialect;

pub(super) use image::MemoryImage;
pub use lineage::{Lineage, View};
pub(super) use shared::MAX_LINES;

pub use retired::RetiredAnchors;

use files::Files;
use lineage::{TipView, WaitingCalls};
use texts::{KeptTexts, LastUse};

/// The limits of a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MemoryLimits {
    /// Bytes in all.
    #[serde(rename = "maxBytes", deserialize_with = "sized")]
    pub bytes: usize,
    /// Files.
    #[serde(rename = "maxFiles", deserialize_with = "sized")]
    pub files: usize,
    /// Lineages of each file.
    #[serde(rename = "maxVersions", deserialize_with = "sized")]
    pub versions: usize,
}

impl Default for MemoryLimits {
    fn default() -> Self {
        MemoryLimits { bytes: 64 << 20, files: 256, versions: 8 }
    }
}

impl MemoryLimits {
    /// Refuses limits of 0. What was shown last is remembered even if it is over the limit of
    /// bytes.
    pub fn check(&self) -> Result<()> {
        let bounds = [
            (self.bytes, Term::MaxBytes),
            (self.files, Term::MaxFiles),
            (self.versions, Term::MaxVersions),
        ];
        match bounds.into_iter().find(|(bound, _)| *bound == 0) {
            None => Ok(()),
            Some((_, term)) => {
                let message = Message::from("memory.") + term + " is 0: expected at least 1";
                Err(Error::argument(message))
            }
        }
    }
}

/// How many forgotten files are remembered as such.
const MAX_FORGOTTEN_FILES: usize = 10_000;

/// A logical time. A call cannot mean what was shown after the call was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Moment(u64);

/// What is remembered of a file.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FileMemory {
    /// The lineages, oldest first.
    pub lineages: Vec<Lineage>,
    /// Something that was shown of the file was dropped.
    pub(super) forgotten: bool,
    /// Numbers and hashes of rows in views that were dropped.
    #[serde(default, skip_serializing_if = "RetiredAnchors::is_empty")]
    pub retired: RetiredAnchors,
    /// The encoding in which it was shown or written last, if its bytes alone may not say it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    charset: Option<Charset>,
    /// Views that were just dropped, each with the hash of its lineage's tip.
    #[serde(skip)]
    evicted: Vec<(u128, View)>,
    used: u64,
    /// Its size without texts.
    bytes: usize,
}

impl FileMemory {
    /// Makes the lineage whose tip is this text the newest one. Creates it if there is none.
    fn lineage(&mut self, hash: u128, now: Moment, limits: &MemoryLimits) -> &mut Lineage {
        self.used = now.0;
        let lineage = match self.lineages.iter().rposition(|one| one.tip == hash) {
            Some(at) => self.lineages.remove(at),
            None => Lineage::new(hash, self.views_of(hash), now),
        };
        self.lineages.push(Lineage { used: now, ..lineage });
        if self.lineages.len() > limits.versions.max(1) {
            let Lineage { tip, views, .. } = self.lineages.remove(0);
            self.evicted.extend(views.into_iter().map(|view| (tip, view)));
            self.forgotten = true;
        }
        self.lineages.last_mut().expect("one was pushed")
    }

    /// The earlier views of a text that the session has changed and that is now the text of the
    /// file again.
    fn views_of(&self, hash: u128) -> Vec<View> {
        let views = self.lineages.iter().flat_map(|one| &one.views);
        let mut found: Option<View> = None;
        for view in views.filter(|view| view.hash == hash) {
            match &mut found {
                Some(found) => {
                    found.show_as(view);
                    found.late.extend(view.late.iter().cloned());
                    found.since = found.since.min(view.since);
                    found.last = found.last.max(view.last);
                }
                None => {
                    let (track, gone, left) = (Track::identity(), BTreeMap::new(), Vec::new());
                    found = Some(View { track, gone, left, ..view.clone() });
                }
            }
        }
        found.into_iter().collect()
    }

    /// Updates its size without texts.
    fn measure(&mut self, file: &Path) {
        self.bytes = size_of::<FileMemory>()
            + file.as_os_str().len()
            + self.retired.bytes()
            + self.lineages.iter().map(Lineage::bytes).sum::<usize>();
    }

    /// The hashes of its texts.
    fn hashes(&self) -> impl Iterator<Item = u128> + '_ {
        self.lineages.iter().flat_map(|one| [one.base, one.tip])
    }

    /// Drops all views except the one that was shown last.
    fn keep_last_view(&mut self) {
        let last = |lineage: &Lineage| lineage.views.iter().map(|view| view.last).max();
        let Some(newest) = self.lineages.iter().map(last).max().flatten() else { return };
        self.lineages.retain(|lineage| last(lineage) == Some(newest));
        self.lineages.iter_mut().for_each(|one| one.views.retain(|view| view.last == newest));
        self.forgotten = true;
    }

    /// Marks its texts as used.
    fn touch(&self, texts: &mut KeptTexts) {
        for lineage in &self.lineages {
            texts.touch(lineage.base, LastUse { at: lineage.used, was_tip: false });
            texts.touch(lineage.tip, LastUse { at: lineage.used, was_tip: true });
        }
    }
}

/// A snapshot of what is known of one file. It needs no lock.
#[derive(Clone, Debug, Default)]
pub struct FileRecord {
    file: Option<Arc<FileMemory>>,
    forgotten: bool,
    texts: HashMap<u128, Arc<KeptText>>,
}

impl FileRecord {
    /// What is known of the file.
    pub fn file(&self) -> Option<&FileMemory> {
        self.file.as_deref()
    }

    /// Whether something that was shown of the file was dropped.
    pub fn has_forgotten(&self) -> bool {
        self.forgotten
    }

    /// The text with this hash, if it is remembered.
    pub fn text(&self, hash: u128) -> Option<Body<'_>> {
        self.texts.get(&hash).map(|kept| kept.body())
    }

    /// The texts that are remembered.
    pub fn texts(&self) -> impl Iterator<Item = Body<'_>> {
        self.texts.values().map(|kept| kept.body())
    }

    /// Whether a line was shown with this number and text, so that a call made at `as_of` can mean
    /// it.
    pub fn has_shown(&self, line: u64, text: &[u8], as_of: Moment) -> bool {
        let has_text = |lineage: &Lineage, view: &View| match view.gone.get(&line) {
            Some(gone) => **gone == *text,
            None => {
                let now = view.track.line(line);
                let tip = || self.text(lineage.tip)?.line(now?);
                tip().is_some_and(|tip| tip == text)
            }
        };
        let mut lineages = self.file.iter().flat_map(|file| &file.lineages);
        lineages.any(|lineage| {
            let mut views = lineage.views.iter();
            views.any(|view| view.shows(line, Some(as_of)) && has_text(lineage, view))
        })
    }
}

/// What a session showed. Clones share the texts.
///
/// Files are identified by path. The caller makes the paths canonical.
#[derive(Clone, Debug, Default)]
pub struct Memory {
    limits: MemoryLimits,
    /// The dialect of the rows; `None` if they have no hashes.
    dialect: Option<&'static Dialect>,
    now: u64,
    files: Files,
    texts: KeptTexts,
    undo: UndoList,
    /// Hashes of the paths of forgotten files.
    forgotten: HashSet<u128>,
    /// The number of calls that are not over, by the moment in which they were made.
    held: BTreeMap<Moment, usize>,
    /// The files that were forgotten while calls waited (`None`: all files), and when.
    forgets: Vec<(Moment, Option<PathBuf>)>,
}

impl Memory {
    /// An empty memory.
    pub fn new(limits: MemoryLimits) -> Memory {
        Memory { limits, ..Memory::default() }
    }

    /// Sets the dialect of the rows that are shown.
    #[must_use]
    pub fn with_dialect(self, dialect: &'static Dialect) -> Memory {
        Memory { dialect: Some(dialect).filter(|one| one.has_hashes()), ..self }
    }

    /// The current moment. What is shown from now on is later.
    pub fn now(&self) -> Moment {
        Moment(self.now)
    }

    /// Registers a call, and returns its moment. Nothing that the call can mean is dropped until
    /// [`Memory::release`].
    pub fn hold(&mut self) -> Moment {
        *self.held.entry(self.now()).or_default() += 1;
        self.now()
    }

    /// Registers another call at a moment that is held already.
    pub fn hold_at(&mut self, moment: Moment) -> Moment {
        *self.held.entry(moment).or_default() += 1;
        moment
    }

    /// Ends a call that was registered with [`Memory::hold`].
    pub fn release(&mut self, moment: Moment) {
        if let Some(count) = self.held.get_mut(&moment) {
            *count -= 1;
            if *count == 0 {
                self.held.remove(&moment);
            }
        }
        let oldest = self.held.keys().next();
        self.forgets.retain(|(moment, _)| oldest.is_some_and(|oldest| moment > oldest));
    }

    fn waiting_calls(&self) -> Option<WaitingCalls> {
        let (oldest, newest) = (*self.held.keys().next()?, *self.held.keys().next_back()?);
        Some(WaitingCalls { oldest, newest })
    }

    /// Notes that a file, or everything, is forgotten now, so that calls which were made before do
    /// not teach anything about it.
    pub fn forget_from_now(&mut self, file: Option<&Path>) {
        let now = self.tick();
        if !self.held.is_empty() {
            self.forgets.push((now, file.map(Path::to_owned)));
        }
    }

    /// Whether a file was forgotten after a call was made at `as_of`, so that the call must not
    /// teach anything about it.
    pub fn is_forgotten_since(&self, file: &Path, as_of: Moment) -> bool {
        self.forgets.iter().any(|(moment, forgotten)| {
            *moment > as_of && forgotten.as_deref().is_none_or(|forgotten| forgotten == file)
        })
    }

    /// An empty memory with the same limits and waiting calls.
    pub(super) fn empty_copy(&self) -> Memory {
        let (held, forgets) = (self.held.clone(), self.forgets.clone());
        Memory { now: self.now, held, forgets, ..self.empty_with(self.limits) }
    }

    /// An empty memory for the same dialect.
    pub(super) fn empty_with(&self, limits: MemoryLimits) -> Memory {
        Memory { dialect: self.dialect, ..Memory::new(limits) }
    }

    /// A copy for another session, without waiting calls.
    pub fn fork(&self) -> Memory {
        Memory { held: BTreeMap::new(), forgets: Vec::new(), ..self.clone() }
    }

    /// A copy with only one file.
    pub(super) fn only(&self, file: &Path) -> Memory {
        let mut memory = Memory { now: self.now, ..self.empty_with(self.limits) };
        if let Some(known) = self.files.get(file) {
            for hash in known.hashes() {
                if let Some(kept) = self.texts.get(hash).filter(|_| !memory.texts.contains(hash)) {
                    memory.texts.insert(hash, Arc::clone(kept));
                }
            }
            memory.files.insert(file.into(), Arc::clone(known));
            memory.enforce_limits(file, Vec::new());
        }
        memory
    }

    /// Whether a call is not over.
    pub(super) fn has_waiting_calls(&self) -> bool {
        !(self.held.is_empty() && self.forgets.is_empty())
    }

    /// What is known of a file.
    pub fn record(&self, file: &Path) -> FileRecord {
        let known = self.files.get(file).cloned();
        let forgotten = match &known {
            Some(file) => file.forgotten,
            None => self.forgotten.contains(&path_hash(file)),
        };
        let hashes =
            known.iter().flat_map(|file| &file.lineages).flat_map(|one| [one.base, one.tip]);
        let texts = hashes.filter_map(|hash| Some((hash, Arc::clone(self.texts.get(hash)?))));
        let texts = texts.collect();
        FileRecord { file: known, forgotten, texts }
    }

    /// What is known of each file.
    pub fn records(&self) -> Vec<FileRecord> {
        self.files.iter().map(|(file, _)| self.record(file)).collect()
    }

    /// The files whose encodings are known, with these.
    pub fn charsets(&self) -> Vec<(PathBuf, Charset)> {
        let files = self.files.iter();
        files.filter_map(|(file, known)| Some((file.to_owned(), known.charset?))).collect()
    }

    /// Whether anything is known of a file.
    pub fn knows(&self, file: &Path) -> bool {
        self.files.contains(file)
    }

    /// The remembered text with this hash.
    pub(super) fn version(&self, hash: u128) -> Option<Version> {
        self.texts.get(hash).map(|kept| Version::kept(Arc::clone(kept)))
    }

    /// Adds lines that were shown.
    pub fn show(&mut self, file: &Path, text: &Version, shown: &ShownLines) {
        if shown.lines.is_empty() {
            return;
        }
        let (now, limits, waiting) = (self.tick(), self.limits, self.waiting_calls());
        let before = self.change(file, |known| {
            let lineage = known.lineage(text.hash, now, &limits);
            let TipView { view, evicted } = lineage.view_of_tip(now, waiting);
            view.show(shown, now, waiting);
            view.tag = view.tag.or(text.tag);
            known.charset = text.charset.or(known.charset);
            known.forgotten |= evicted.is_some();
            known.evicted.extend(evicted.map(|view| (text.hash, view)));
        });
        self.keep(text);
        self.retire_evicted(file);
        self.enforce_limits(file, before);
    }

    /// Records that the session wrote a whole file. The model knows its lines, except `pasted`, but
    /// was shown no numbers.
    pub fn written(&mut self, file: &Path, text: &Version, pasted: &LineSet) {
        if text.count == 0 {
            return;
        }
        let (now, limits) = (self.tick(), self.limits);
        let before = self.change(file, |known| {
            let written = LineSet::of(1, text.count).without(pasted);
            known.lineage(text.hash, now, &limits).written = written;
            known.charset = text.charset;
        });
        self.keep(text);
        self.retire_evicted(file);
        self.enforce_limits(file, before);
    }

    /// Records an edit of the session, so that the lines it kept are still known. Call
    /// [`Memory::show`] for the lines of the report.
    pub fn edited(
        &mut self,
        file: &Path,
        before: &Version,
        after: &Version,
        changes: &LineChanges,
    ) {
        let splices = &changes.splices;
        let shift: i64 = splices.iter().map(|one| one.inserted as i64 - one.removed as i64).sum();
        // Incomplete splices would map anchors to wrong lines.
        let is_whole = before.count.checked_add_signed(shift) == Some(after.count);
        if before.hash == after.hash || !self.files.contains(file) || !is_whole {
            return;
        }
        let (now, limits) = (self.tick(), self.limits);
        let mut known_before = self.change(file, |known| {
            let lineage = known.lineage(before.hash, now, &limits);
            lineage.follow(before.body(), after.hash, changes, now);
            known.charset = after.charset.or(known.charset);
        });
        self.keep(before);
        self.keep(after);
        known_before.push(before.hash);
        self.retire_evicted(file);
        self.enforce_limits(file, known_before);
    }

    /// Renames files, all at once: two files may have swapped their names.
    pub fn rename_all(&mut self, moves: &[(PathBuf, PathBuf)]) {
        let taken: Vec<_> = moves.iter().map(|(from, _)| self.files.remove(from)).collect();
        let mut hashes = Vec::new();
        for ((_, to), file) in moves.iter().zip(taken) {
            self.forgotten.remove(&path_hash(to));
            let replaced = match file {
                Some(file) => self.files.insert(to.as_path().into(), file),
                None => self.files.remove(to),
            };
            hashes.extend(replaced.iter().flat_map(|file| file.hashes()));
        }
        self.release_texts(hashes);
        self.undo.rename_all(moves);
    }

    /// Forgets a file.
    pub fn forget(&mut self, file: &Path) {
        if let Some(known) = self.files.remove(file) {
            self.note_forgotten(file);
            self.release_texts(known.hashes());
        }
    }

    /// Records a patch that can be undone.
    pub fn applied(&mut self, patch: &AppliedPatch) {
        let now = self.tick();
        let released = self.undo.add(patch, now);
        self.keep_for_undo(patch.inverse.iter().chain(&patch.after), now);
        self.release_texts(released);
        self.enforce_byte_limit();
    }

    /// Records that a patch was undone. `after` are texts after the patch before.
    pub fn undone(&mut self, id: u128, after: &[Version]) {
        let now = self.tick();
        let released = self.undo.remove(id);
        self.keep_for_undo(after, now);
        self.release_texts(released);
        self.enforce_byte_limit();
    }

    fn keep_for_undo<'v>(&mut self, texts: impl IntoIterator<Item = &'v Version>, now: Moment) {
        for text in texts {
            if self.undo.refers_to(text.hash) {
                self.keep(text);
                self.texts.touch(text.hash, LastUse { at: now, was_tip: false });
            }
        }
    }

    /// Forgets how to undo patches of a file.
    pub fn forget_undo(&mut self, file: &Path) {
        let released = self.undo.forget(file);
        self.release_texts(released);
    }

    /// The patches that can be undone, the oldest first.
    pub fn undo_entries(&self) -> &[Arc<UndoEntry>] {
        self.undo.entries()
    }

    /// Forgets everything.
    pub fn forget_all(&mut self) {
        for (file, _) in std::mem::take(&mut self.files).iter() {
            self.note_forgotten(file);
        }
        self.texts = KeptTexts::default();
        self.undo = UndoList::default();
    }

    /// Its size: each text once, and what is known of the lines.
    pub fn bytes(&self) -> usize {
        self.texts.bytes() + self.files.bytes() + self.undo.size_bytes()
    }

    /// The number of files.
    pub fn files(&self) -> usize {
        self.files.len()
    }

    fn tick(&mut self) -> Moment {
        self.now += 1;
        Moment(self.now)
    }

    /// Changes what is known of a file. Returns the hashes of its texts before the change.
    fn change(&mut self, file: &Path, change: impl FnOnce(&mut FileMemory)) -> Vec<u128> {
        let before = self.files.get(file).map(|known| known.hashes().collect());
        let forgotten = before.is_none() && self.forgotten.remove(&path_hash(file));
        self.files.change(file, FileMemory { forgotten, ..FileMemory::default() }, change);
        before.unwrap_or_default()
    }

    fn note_forgotten(&mut self, file: &Path) {
        if self.forgotten.len() < MAX_FORGOTTEN_FILES {
            self.forgotten.insert(path_hash(file));
        }
    }

    /// Keeps a text, unless it alone is over the limit.
    fn keep(&mut self, text: &Version) {
        let Some(kept) = &text.kept else { return };
        if kept.bytes() <= self.limits.bytes && !self.texts.contains(text.hash) {
            self.texts.insert(text.hash, Arc::clone(kept));
        }
    }

    /// Enforces the limits after `file` has changed. `hashes` are its texts before the change.
    fn enforce_limits(&mut self, file: &Path, hashes: Vec<u128>) {
        if let Some(known) = self.files.get(file) {
            known.touch(&mut self.texts);
        }
        while self.files.len() > self.limits.files.max(1) {
            self.drop_oldest_file();
        }
        self.release_texts(hashes);
        self.enforce_byte_limit();
    }

    /// Drops what was least recently used until the rest is within the limit. What was shown last
    /// is never dropped: a model that is asked to read again and retry must find it remembered.
    fn enforce_byte_limit(&mut self) {
        while self.bytes() > self.limits.bytes {
            let has_older = self.files.len() > 1;
            if !(self.drop_oldest_text() || has_older && self.drop_oldest_file()) {
                break;
            }
        }
        let drops: [fn(&mut FileMemory); 2] =
            [|known| known.retired = RetiredAnchors::default(), FileMemory::keep_last_view];
        for drop in drops {
            if self.bytes() > self.limits.bytes
                && let Some(newest) = self.files.newest().cloned()
            {
                self.change(&newest, drop);
            }
        }
    }

    /// Drops the given texts that no lineage refers to any more.
    fn release_texts(&mut self, hashes: impl IntoIterator<Item = u128>) {
        for hash in hashes {
            if !self.files.refer_to(hash) && !self.undo.refers_to(hash) {
                self.texts.remove(hash);
            }
        }
    }

    /// Drops the least recently used text. What is known of its lines is kept, and still holds
    /// while the file is unchanged.
    fn drop_oldest_text(&mut self) -> bool {
        let Some(hash) = self.texts.oldest() else { return false };
        self.files.note_lost(hash);
        self.texts.remove(hash);
        true
    }

    fn drop_oldest_file(&mut self) -> bool {
        let Some(oldest) = self.files.oldest().cloned() else { return false };
        self.forget(&oldest);
        true
    }
}

fn path_hash(path: &Path) -> u128 {
    hash_of(path.as_os_str().as_encoded_bytes())
}

#[cfg(test)]
mod tests;
