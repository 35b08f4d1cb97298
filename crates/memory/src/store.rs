//! A session's memory on disk: a log with one record for each update, from which later runs and
//! other processes learn.
//!
//! Each text is stored once, by its hash. A log that grows too large is replaced by an *image*: one
//! record with the whole memory. Errors while reading or writing are added to the notes; no call
//! fails because of them.

use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::body::{TextRef, Version, hex};
use super::lines::LineSet;
use super::mutex::MemoryMutex;
use super::notes::{Damage, Fault, Notes};
use super::shown::{ShownLines, ShownPart, fit};
use super::track::{LineChanges, Splice};
use super::undo::{AppliedPatch, is_valid_size};
use super::update::MemoryUpdate;
use super::versions::{MAX_LINES, Memory, MemoryImage, MemoryLimits, Moment};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Message, Result};
use hashline_disk::commit::Locks;
use hashline_disk::records::{LogUpdate, RecordStore, StoreLock, StoredContent};

/// How long a call waits for another process that is writing.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// A log larger than this is replaced by an image, unless it is less than twice as large as the
/// last image.
const MAX_RECORDS_BYTES: u64 = 1 << 20;

/// One record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum SessionRecord {
    Shown {
        file: PathBuf,
        text: TextRef,
        lines: LineSet,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parts: Vec<ShownPart>,
        #[serde(default, skip_serializing_if = "LineSet::is_empty")]
        versioned: LineSet,
    },
    Written {
        file: PathBuf,
        text: TextRef,
        shown: LineSet,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parts: Vec<ShownPart>,
        #[serde(default, skip_serializing_if = "LineSet::is_empty")]
        versioned: LineSet,
        #[serde(default, skip_serializing_if = "LineSet::is_empty")]
        pasted: LineSet,
    },
    Edited {
        file: PathBuf,
        before: TextRef,
        after: TextRef,
        #[serde(flatten)]
        changes: LineChanges,
        shown: LineSet,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        parts: Vec<ShownPart>,
        #[serde(default, skip_serializing_if = "LineSet::is_empty")]
        versioned: LineSet,
    },
    Moved {
        moves: Vec<(PathBuf, PathBuf)>,
    },
    Forgotten {
        file: PathBuf,
        #[serde(default, skip_serializing_if = "is_false")]
        keeps_undo: bool,
    },
    #[serde(rename_all = "camelCase")]
    Applied {
        #[serde(with = "hex")]
        id: u128,
        time_ms: u64,
        files: Vec<PathBuf>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        inverse: Option<TextRef>,
        #[serde(default)]
        inverse_bytes: u64,
        #[serde(default, skip_serializing_if = "String::is_empty")]
        refused: String,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        after: Vec<TextRef>,
    },
    Undone {
        #[serde(with = "hex")]
        id: u128,
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        after: Vec<TextRef>,
    },
    AllForgotten,
    Memory(MemoryImage),
    /// The largest limits of the processes so far.
    Limits(MemoryLimits),
}

impl SessionRecord {
    /// Parses and validates a record. Its checksum does not prove that a correct program wrote it.
    fn parse(text: &str) -> Option<SessionRecord> {
        serde_json::from_str(text).ok().filter(SessionRecord::is_valid)
    }

    /// Whether its lines are within its texts.
    fn is_valid(&self) -> bool {
        match self {
            SessionRecord::Shown { text, lines, parts, .. }
            | SessionRecord::Written { text, shown: lines, parts, .. } => {
                text.lines <= MAX_LINES && fit(lines, parts, text.lines)
            }
            SessionRecord::Edited { before, after, changes, shown, parts, .. } => {
                before.lines <= MAX_LINES
                    && after.lines <= MAX_LINES
                    && changes.fits(before.lines, after.lines)
                    && fit(shown, parts, after.lines)
            }
            SessionRecord::Applied { inverse, inverse_bytes, after, .. } => {
                is_valid_size(*inverse_bytes)
                    && inverse.iter().chain(after).all(|text| text.lines <= MAX_LINES)
            }
            SessionRecord::Memory(image) => image.is_valid(),
            SessionRecord::Moved { .. }
            | SessionRecord::Forgotten { .. }
            | SessionRecord::Undone { .. }
            | SessionRecord::AllForgotten
            | SessionRecord::Limits(_) => true,
        }
    }
}

fn is_false(flag: &bool) -> bool {
    !flag
}

/// The lock of a store, or why it could not be taken.
pub(super) type StoreLocked = Result<Locks<'static>>;

/// Takes the lock. Waits at most [`LOCK_TIMEOUT`], or until the call is cancelled.
pub(super) fn lock_store(lock: &StoreLock, cancel: &Cancel) -> StoreLocked {
    lock.take(LOCK_TIMEOUT, cancel)
}

/// What a replay found.
struct Replayed {
    /// The records included an image.
    has_image: bool,
    /// How many records were damaged.
    damaged: u64,
}

/// A session's memory on disk.
pub(super) struct Store {
    records: RecordStore,
    /// The limits of this process.
    limits: MemoryLimits,
    /// The largest limits of all processes, from the log.
    largest_limits: Option<MemoryLimits>,
    /// The total size of the stored texts. Unknown until this process adds a text, and after
    /// another process may have added one.
    texts_bytes: Option<u64>,
    /// The size of the last image.
    image_bytes: u64,
    /// Something could not be read from the log or written to it. An image replaces the log as soon
    /// as possible.
    is_log_incomplete: bool,
    /// Another process has cut the log because it could not write. The next write is an image, from
    /// which processes that read older records learn that.
    is_cut: bool,
    /// Texts whose content does not match their hash.
    damaged: HashSet<u128>,
    notes: Notes,
}

impl Store {
    pub(super) fn new(records: RecordStore, limits: MemoryLimits) -> Store {
        Store {
            records,
            limits,
            largest_limits: None,
            texts_bytes: None,
            image_bytes: 0,
            is_log_incomplete: false,
            is_cut: false,
            damaged: HashSet::new(),
            notes: Notes::default(),
        }
    }

    /// The problems of this store, including later ones.
    pub(super) fn notes(&self) -> Notes {
        self.notes.clone()
    }

    /// Applies to the memory, at once, all that other processes wrote since the last read. The
    /// anchors of `call` can mean what was shown until the returned moment.
    pub(super) fn catch_up(&mut self, memory: &MemoryMutex, call: Option<Moment>) -> Moment {
        self.read_new(memory, call).unwrap_or_else(|error| {
            self.notes.add(Fault::NotRead, error);
            call.unwrap_or_default()
        })
    }

    /// As [`Store::catch_up`], with errors.
    fn read_new(&mut self, memory: &MemoryMutex, call: Option<Moment>) -> Result<Moment> {
        let as_of = call.unwrap_or_default();
        let mut log = self.records.read()?;
        if log.is_new_log {
            (self.largest_limits, self.image_bytes) = (None, 0);
        }
        if let Some(why) = log.unread.take() {
            self.notes.add(Fault::NotRead, why);
            self.is_log_incomplete = true;
        }
        if log.records.is_empty() && log.damaged == 0 && !log.is_cut {
            return Ok(as_of);
        }
        self.texts_bytes = None;
        let mut learned = memory.lock().clone();
        let known = learned.now();
        let Replayed { has_image, damaged } = self.replay(&log, &mut learned);
        self.notes.add_damage(Damage::Record, damaged);
        self.is_cut = log.is_cut || (self.is_cut && !has_image);
        // A process could not record what it showed, so it is unknown which remembered version is
        // the newest.
        if log.is_cut || (has_image && self.is_log_incomplete) {
            learned.learn(&MemoryUpdate::AllForgotten);
        }
        // An image does not say what is older than a call.
        let known = if has_image { Moment::default() } else { known };
        Ok(memory.lock().replace_with(learned, known, call))
    }

    /// Applies records to a memory. Each text is read at most once, and only if it is needed: for
    /// lines that an edit removed, or because the memory refers to it in the end.
    fn replay(&mut self, log: &LogUpdate, memory: &mut Memory) -> Replayed {
        let (mut texts, mut has_image, mut damaged) = (HashMap::new(), false, log.damaged);
        for line in &log.records {
            let Some(record) = SessionRecord::parse(line) else {
                damaged += 1;
                continue;
            };
            texts.extend(text_refs(&record).map(|text| (text.hash, *text)));
            match record {
                SessionRecord::Memory(image) => {
                    self.image_bytes = line.len() as u64;
                    let restored = Memory::restored(image, memory.empty_copy());
                    let before = std::mem::replace(memory, restored);
                    memory.adopt_texts(&before);
                    has_image = true;
                }
                SessionRecord::Limits(limits) => self.note_limits(limits),
                record => {
                    let update = update(record, |file, before, splices| {
                        let mut known = memory.version(before.hash);
                        if known.is_none() && memory.loses_lines(file, before.hash, splices) {
                            known = self.load(before, memory.limits());
                        }
                        known.unwrap_or_else(|| before.version())
                    });
                    update.iter().for_each(|update| memory.learn(update));
                }
            }
        }
        self.add_texts(memory, &texts);
        Replayed { has_image, damaged }
    }

    /// Loads the texts that a memory refers to and does not have, within its limit.
    fn add_texts(&mut self, memory: &mut Memory, named: &HashMap<u128, TextRef>) {
        let (mut texts, mut forgotten) = (Vec::new(), Vec::new());
        let mut room_bytes = memory.limits().bytes;
        for hash in memory.missing_texts() {
            let Some(named) = named.get(&hash) else { continue };
            let text = (room_bytes > 0).then(|| self.load(named, memory.limits())).flatten();
            match text {
                Some(text) => {
                    room_bytes = room_bytes.saturating_sub(text.bytes());
                    texts.push(text);
                }
                None => forgotten.push(hash),
            }
        }
        memory.add_texts(&texts, &forgotten);
    }

    fn load(&mut self, text: &TextRef, limits: MemoryLimits) -> Option<Version> {
        match self.records.get(text.hash, limits.bytes as u64) {
            StoredContent::Whole(content) => {
                let version = Version::owned(content);
                Some(version).filter(|version| version.count == text.lines)
            }
            StoredContent::Missing => None,
            StoredContent::Damaged => {
                if self.damaged.insert(text.hash) {
                    self.notes.add_damage(Damage::Text, 1);
                }
                None
            }
        }
    }

    fn note_limits(&mut self, limits: MemoryLimits) {
        self.largest_limits =
            Some(self.largest_limits.map_or(limits, |largest| largest.larger(limits)));
    }

    /// Applies and writes updates while the lock is held, after those of other processes. The
    /// memory applies them even if writing fails. Updates of files that were forgotten after the
    /// call was made are skipped. A log that is too large is replaced. If writing fails, the log is
    /// cut: otherwise other processes would take older updates for the newest.
    pub(super) fn learn(
        &mut self,
        mut updates: Vec<MemoryUpdate>,
        memory: &MemoryMutex,
        call: Option<Moment>,
        locked: &StoreLocked,
    ) {
        self.catch_up(memory, call);
        {
            let memory = memory.lock();
            updates.retain(|update| memory.still_counts(update, call));
        }
        let written = match locked {
            // The image below includes them.
            Ok(_) if self.writes_image() => Ok(()),
            Ok(_) => self.append(&updates),
            Err(error) => {
                Err(without_lock(error, "only this process remembers what the call showed"))
            }
        };
        // A file that was forgotten since the check above was written, and will be removed.
        memory.lock().learn_unless_forgotten(&updates, call);
        let written = match written {
            // A text that could not be removed is removed next time.
            Ok(()) if self.writes_image() || self.exceeds_limits() => {
                self.replace(memory).map(|kept| drop(self.records.drop_contents(&kept)))
            }
            written => written,
        };
        if let Err(why) = written {
            self.note_unwritten(locked);
            self.notes.add(Fault::NotWritten, why);
        }
    }

    /// Whether the next write must be an image.
    fn writes_image(&self) -> bool {
        self.is_log_incomplete || self.is_cut
    }

    /// Marks the log as incomplete, and cuts it if the lock is held.
    fn note_unwritten(&mut self, locked: &StoreLocked) {
        self.is_log_incomplete = true;
        if locked.is_ok() {
            let _ = self.records.cut();
        }
    }

    /// Forgets a file, or everything, in the memory and on disk: its records, and texts that
    /// nothing else refers to.
    pub(super) fn forget(
        &mut self,
        update: MemoryUpdate,
        memory: &MemoryMutex,
        locked: &StoreLocked,
    ) -> Result<()> {
        let read = self.read_new(memory, None);
        let update = [update];
        let written = read.and_then(|_| match locked {
            Ok(_) if self.writes_image() => Ok(()),
            Ok(_) => self.append(&update),
            Err(error) => Err(without_lock(error, "call again")),
        });
        memory.lock().learn_unless_forgotten(&update, None);
        let replaced = written.and_then(|()| self.replace(memory));
        if replaced.is_err() {
            self.note_unwritten(locked);
        }
        let removed = replaced.and_then(|kept| self.records.drop_contents(&kept));
        removed.map_err(|why| {
            why.within("this process has forgotten it, but it is still on disk: ", "")
        })
    }

    fn append(&mut self, updates: &[MemoryUpdate]) -> Result<()> {
        let mut lines = Vec::new();
        for hash in std::mem::take(&mut self.damaged) {
            self.records.discard(hash, self.limits.bytes as u64);
        }
        let largest_limits =
            self.largest_limits.map_or(self.limits, |largest| largest.larger(self.limits));
        if self.largest_limits != Some(largest_limits) {
            lines.extend(serde_json::to_string(&SessionRecord::Limits(largest_limits)));
        }
        for update in updates {
            if matches!(update, MemoryUpdate::Moved { moves } if moves.is_empty()) {
                continue;
            }
            for text in texts(update) {
                self.put(text)?;
            }
            match serde_json::to_string(&record(update)) {
                Ok(line) => lines.push(line),
                Err(cause) => {
                    let why = Error::new(Code::Io, cause.to_string());
                    self.notes.add(Fault::UnstorableName, why);
                }
            }
        }
        if !lines.is_empty() {
            self.records.append(&lines)?;
        }
        self.largest_limits = Some(largest_limits);
        Ok(())
    }

    /// Stores a text, unless it alone is over the limit of the memory.
    fn put(&mut self, text: &Version) -> Result<()> {
        let Some(body) = text.body().filter(|body| body.text.len() <= self.limits.bytes) else {
            return Ok(());
        };
        let written = self.records.put(text.hash, body.text)?;
        if written > 0 {
            self.texts_bytes = Some(match self.texts_bytes {
                Some(bytes) => bytes + written,
                None => self.records.contents_bytes()?,
            });
        }
        Ok(())
    }

    fn exceeds_limits(&self) -> bool {
        let records_bytes = self.records.log_bytes();
        let limit_bytes = self.largest_limits.unwrap_or(self.limits).bytes as u64;
        (records_bytes > MAX_RECORDS_BYTES && records_bytes > 2 * self.image_bytes)
            || self.texts_bytes.is_some_and(|bytes| bytes > limit_bytes.saturating_mul(2))
    }

    /// Replaces the log by an image. Returns the texts that the image refers to.
    fn replace(&mut self, memory: &MemoryMutex) -> Result<HashSet<u128>> {
        let image = self.image(memory)?;
        if self.writes_image() {
            for text in image.texts() {
                let known = memory.lock().version(text.hash);
                known.iter().try_for_each(|text| self.put(text))?;
            }
        }
        let keep: HashSet<u128> = image.texts().map(|text| text.hash).collect();
        let largest_limits = self.largest_limits.unwrap_or(self.limits);
        let records = [SessionRecord::Memory(image), SessionRecord::Limits(largest_limits)];
        let lines: serde_json::Result<Vec<String>> =
            records.iter().map(serde_json::to_string).collect();
        let lines = lines.map_err(|cause| {
            Error::new(Code::Internal, format!("it cannot be written as a whole: {cause}"))
        })?;
        self.records.replace(&lines)?;
        self.image_bytes = self.records.log_bytes();
        self.texts_bytes = None;
        (self.is_log_incomplete, self.is_cut) = (false, false);
        Ok(keep)
    }

    /// The image for the largest limits: of this memory, or, if another process has larger limits,
    /// of a memory with these limits that has applied the whole log.
    fn image(&mut self, memory: &MemoryMutex) -> Result<MemoryImage> {
        let largest_limits = self.largest_limits.unwrap_or(self.limits);
        if largest_limits == self.limits || self.writes_image() {
            return Ok(memory.lock().image());
        }
        let log = self.records.unread().read()?;
        let mut all = memory.lock().empty_with(largest_limits);
        // Damage was already noted when the log was read first.
        self.replay(&log, &mut all);
        Ok(all.image())
    }
}

/// The error for a missing lock, with its consequence.
fn without_lock(error: &Error, so: &str) -> Error {
    let why = match error.code {
        Code::LockTimeout => {
            let seconds = LOCK_TIMEOUT.as_secs();
            format!("another process was writing there for {seconds} seconds")
        }
        Code::Aborted => "the call was cancelled while another process was writing there".into(),
        _ => return error.clone(),
    };
    Error::new(error.code, Message::from(format!("{why}; {so}")))
}

/// The texts that a record refers to.
fn text_refs(record: &SessionRecord) -> Box<dyn Iterator<Item = &TextRef> + '_> {
    match record {
        SessionRecord::Shown { text, .. } | SessionRecord::Written { text, .. } => {
            Box::new([text].into_iter())
        }
        SessionRecord::Edited { before, after, .. } => Box::new([before, after].into_iter()),
        SessionRecord::Applied { inverse, after, .. } => Box::new(inverse.iter().chain(after)),
        SessionRecord::Undone { after, .. } => Box::new(after.iter()),
        SessionRecord::Memory(image) => Box::new(image.texts()),
        _ => Box::new(std::iter::empty()),
    }
}

fn texts(update: &MemoryUpdate) -> Vec<&Version> {
    match update {
        MemoryUpdate::Shown { text, .. } | MemoryUpdate::Written { text, .. } => vec![text],
        MemoryUpdate::Edited { before, after, .. } => vec![before, after],
        MemoryUpdate::Applied(patch) => patch.inverse.iter().chain(&patch.after).collect(),
        MemoryUpdate::Undone { after, .. } => after.iter().collect(),
        MemoryUpdate::Moved { .. }
        | MemoryUpdate::Forgotten { .. }
        | MemoryUpdate::AllForgotten => Vec::new(),
    }
}

fn record(update: &MemoryUpdate) -> SessionRecord {
    match update.clone() {
        MemoryUpdate::Shown { file, text, lines } => {
            let ShownLines { lines, parts, versioned } = lines;
            SessionRecord::Shown { file, text: TextRef::of(&text), lines, parts, versioned }
        }
        MemoryUpdate::Written { file, text, shown, pasted } => {
            let (text, ShownLines { lines: shown, parts, versioned }) = (TextRef::of(&text), shown);
            SessionRecord::Written { file, text, shown, parts, versioned, pasted }
        }
        MemoryUpdate::Edited { file, before, after, changes, shown } => {
            let (before, after) = (TextRef::of(&before), TextRef::of(&after));
            let ShownLines { lines: shown, parts, versioned } = shown;
            SessionRecord::Edited { file, before, after, changes, shown, parts, versioned }
        }
        MemoryUpdate::Moved { moves } => SessionRecord::Moved { moves },
        MemoryUpdate::Forgotten { file, keeps_undo } => {
            SessionRecord::Forgotten { file, keeps_undo }
        }
        MemoryUpdate::Applied(AppliedPatch {
            id,
            time_ms,
            files,
            inverse,
            inverse_bytes,
            after,
        }) => {
            let after = after.iter().map(TextRef::of).collect();
            let refused = inverse.as_ref().err().cloned().unwrap_or_default();
            let inverse = inverse.ok().as_ref().map(TextRef::of);
            SessionRecord::Applied { id, time_ms, files, inverse, inverse_bytes, refused, after }
        }
        MemoryUpdate::Undone { id, after } => {
            SessionRecord::Undone { id, after: after.iter().map(TextRef::of).collect() }
        }
        MemoryUpdate::AllForgotten => SessionRecord::AllForgotten,
    }
}

/// The update of a record. `before_edit` finds the text that an edit changed.
fn update(
    record: SessionRecord,
    before_edit: impl FnOnce(&Path, &TextRef, &[Splice]) -> Version,
) -> Option<MemoryUpdate> {
    Some(match record {
        SessionRecord::Shown { file, text, lines, parts, versioned } => {
            let lines = ShownLines { lines, parts, versioned };
            MemoryUpdate::Shown { file, text: text.version(), lines }
        }
        SessionRecord::Written { file, text, shown, parts, versioned, pasted } => {
            let shown = ShownLines { lines: shown, parts, versioned };
            MemoryUpdate::Written { file, text: text.version(), shown, pasted }
        }
        SessionRecord::Edited { file, before, after, changes, shown, parts, versioned } => {
            let shown = ShownLines { lines: shown, parts, versioned };
            let (before, after) = (before_edit(&file, &before, &changes.splices), after.version());
            MemoryUpdate::Edited { file, before, after, changes, shown }
        }
        SessionRecord::Moved { moves } => MemoryUpdate::Moved { moves },
        SessionRecord::Forgotten { file, keeps_undo } => {
            MemoryUpdate::Forgotten { file, keeps_undo }
        }
        SessionRecord::Applied { id, time_ms, files, inverse, inverse_bytes, refused, after } => {
            let inverse = inverse.as_ref().map(TextRef::version).ok_or(refused);
            let after = after.iter().map(TextRef::version).collect();
            MemoryUpdate::Applied(AppliedPatch {
                id,
                time_ms,
                files,
                inverse,
                inverse_bytes,
                after,
            })
        }
        SessionRecord::Undone { id, after } => {
            let after = after.iter().map(TextRef::version).collect();
            MemoryUpdate::Undone { id, after }
        }
        SessionRecord::AllForgotten => MemoryUpdate::AllForgotten,
        SessionRecord::Memory(_) | SessionRecord::Limits(_) => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hashline_base::error::Term;
    use hashline_disk::commit::StateDir;
    use hashline_disk::fs::OsFileSystem;

    fn records_in(dir: &Path) -> RecordStore {
        let state = StateDir::new(dir.to_str()).unwrap();
        RecordStore::open(&OsFileSystem, state, "one").unwrap()
    }

    fn shown() -> MemoryUpdate {
        MemoryUpdate::Shown {
            file: "f".into(),
            text: Version::of(b"text\n", 100),
            lines: LineSet::of(1, 1).into(),
        }
    }

    #[test]
    fn regression_a_note_about_a_missing_lock_names_no_option() {
        let dir = tempfile::tempdir().unwrap();
        let records = || records_in(dir.path());
        let (one, other) = (records().lock(), records().lock());
        let limits = MemoryLimits::default();
        let _held = one.take(LOCK_TIMEOUT, &Cancel::default()).unwrap();
        let cancelled = Cancel::default();
        cancelled.cancel();
        for (timeout, cancel, why) in [
            (Duration::ZERO, Cancel::default(), "another process was writing there for 2 seconds"),
            (
                LOCK_TIMEOUT,
                cancelled,
                "the call was cancelled while another process was writing there",
            ),
        ] {
            let locked = other.take(timeout, &cancel);
            let (mut store, memory) =
                (Store::new(records(), limits), MemoryMutex::new(Memory::new(limits)));
            store.learn(vec![shown()], &memory, None, &locked);
            let note = format!(
                "the session's memory could not be written: {why}; only this process remembers what the call showed"
            );
            assert_eq!(store.notes().all(Term::name), [note]);
            assert!(memory.lock().knows(Path::new("f")));
        }
    }

    /// The file was forgotten after the call was made, and before the call learned what it showed.
    #[test]
    fn regression_a_file_that_was_forgotten_during_a_call_is_not_written() {
        let dir = tempfile::tempdir().unwrap();
        let limits = MemoryLimits::default();
        let records = records_in(dir.path());
        let lock = records.lock();
        let mut store = Store::new(records, limits);
        let memory = MemoryMutex::new(Memory::new(limits));
        let call = memory.lock().hold();
        memory.lock().forget_from_now(None);
        let locked = lock.take(LOCK_TIMEOUT, &Cancel::default());
        store.learn(vec![shown()], &memory, Some(call), &locked);
        assert!(!memory.lock().knows(Path::new("f")));
        let records = records_in(dir.path()).read().unwrap().records;
        assert!(records.iter().all(|record| !record.contains("shown")), "{records:?}");
    }
}
