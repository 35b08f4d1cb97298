//! A session's memory on disk: every lesson is a record, so that whoever opens the session later,
//! or in another process, learns the same.
//!
//! Texts are kept once, by their hash. When the records grow beyond what the memory is worth, the
//! memory as a whole takes their place. What cannot be read, or written, costs what it would have
//! taught, and is noted; a call does not fail for it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::body::Version;
use super::held::Lesson;
use super::lines::LineSet;
use super::memory::{Memory, MemoryImage, Showing};
use super::track::Splice;
use crate::disk::records::RecordStore;
use crate::error::Result;

/// How long a call waits for another process that is writing.
const LOCK_TIMEOUT: Duration = Duration::from_secs(2);

/// Records of so many bytes, if they are twice those of the memory as a whole, are replaced by it.
const MAX_RECORDS_BYTES: u64 = 1 << 20;

/// So many things that went wrong are told.
const MAX_NOTES: usize = 20;

/// A text, by its hash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct TextRef {
    #[serde(with = "hex")]
    pub(super) hash: u128,
    pub(super) lines: u64,
}

/// One record.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
enum Record {
    Shown {
        file: PathBuf,
        text: TextRef,
        lines: LineSet,
        #[serde(default, skip_serializing_if = "is_false")]
        asked: bool,
    },
    Written {
        file: PathBuf,
        text: TextRef,
        shown: LineSet,
    },
    Edited {
        file: PathBuf,
        before: TextRef,
        after: TextRef,
        splices: Vec<Splice>,
        shown: LineSet,
    },
    Moved {
        moves: Vec<(PathBuf, PathBuf)>,
    },
    Forgotten {
        file: PathBuf,
    },
    AllForgotten,
    Memory(MemoryImage),
}

fn is_false(value: &bool) -> bool {
    !value
}

/// What the records have to teach.
pub(super) enum Taught {
    /// One more thing.
    Lesson(Lesson),
    /// What the memory is, whatever it was before.
    Memory(Box<Memory>),
}

/// A session's place on disk.
pub(super) struct Store {
    records: RecordStore,
    limit_bytes: usize,
    /// Bytes of texts that were put there since the memory was written as a whole.
    put_bytes: usize,
    /// How long the records were when it was.
    whole_bytes: u64,
    notes: Vec<String>,
}

impl Store {
    pub(super) fn new(records: RecordStore, limit_bytes: usize) -> Store {
        Store { records, limit_bytes, put_bytes: 0, whole_bytes: 0, notes: Vec::new() }
    }

    /// What went wrong so far.
    pub(super) fn notes(&self) -> Vec<String> {
        self.notes.clone()
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < MAX_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// What others have written since the last look. `empty` gives a memory that has learned
    /// nothing, `known` what the memory holds already.
    pub(super) fn news(
        &mut self,
        empty: &dyn Fn() -> Memory,
        known: &dyn Fn(u128) -> Option<Version>,
    ) -> Vec<Taught> {
        let news = match self.records.read() {
            Ok(news) => news,
            Err(error) => {
                self.note(format!("the session's memory was not read: {}", error.message));
                return Vec::new();
            }
        };
        let mut damaged = news.damaged;
        let mut taught = Vec::new();
        if news.is_new_log {
            taught.push(Taught::Memory(Box::new(empty())));
        }
        let text = |text: TextRef| self.version(&text, known);
        for record in &news.records {
            match serde_json::from_str(record) {
                Ok(Record::Memory(image)) => {
                    taught.push(Taught::Memory(Box::new(Memory::restored(image, empty(), &text))));
                }
                Ok(record) => taught.extend(lesson(record, &text).map(Taught::Lesson)),
                Err(_) => damaged += 1,
            }
        }
        if damaged > 0 {
            self.note(format!("{damaged} damaged records of the session's memory were left out"));
        }
        taught
    }

    fn version(&self, text: &TextRef, known: &dyn Fn(u128) -> Option<Version>) -> Version {
        if let Some(version) = known(text.hash) {
            return version;
        }
        let content = self.records.get(text.hash);
        match content.filter(|content| content.len() <= self.limit_bytes) {
            Some(content) => Version::of(&content, self.limit_bytes),
            None => Version { hash: text.hash, count: text.lines, kept: None },
        }
    }

    /// Writes lessons behind what `catch_up` reads, while nobody else writes, and has the memory
    /// `learn` them whatever came of that. Records that outgrew the memory are replaced by its
    /// `image`.
    pub(super) fn write(
        &mut self,
        lessons: &[Lesson],
        catch_up: impl FnOnce(&mut Store),
        learn: impl FnOnce(),
        image: impl FnOnce() -> MemoryImage,
    ) {
        let lock = self.records.lock(LOCK_TIMEOUT);
        catch_up(self);
        let (_held, written) = match lock {
            Ok(held) => (Some(held), self.append(lessons)),
            Err(error) => (None, Err(error)),
        };
        learn();
        let written = match written {
            Ok(()) if self.is_outgrown() => self.replace(image()),
            written => written,
        };
        if let Err(error) = written {
            self.note(format!("the session's memory was not written: {}", error.message));
        }
    }

    fn append(&mut self, lessons: &[Lesson]) -> Result<()> {
        let mut lines = Vec::new();
        for lesson in lessons {
            for text in texts(lesson) {
                self.put(text)?;
            }
            match serde_json::to_string(&record(lesson)) {
                Ok(line) => lines.push(line),
                Err(cause) => self.note(format!("a file is not in the session's memory: {cause}")),
            }
        }
        if lines.is_empty() { Ok(()) } else { self.records.append(&lines) }
    }

    /// Keeps a text, unless it is over the bound of the memory alone.
    fn put(&mut self, text: &Version) -> Result<()> {
        let Some(body) = text.body().filter(|body| body.text.len() <= self.limit_bytes) else {
            return Ok(());
        };
        self.put_bytes += body.text.len();
        self.records.put(text.hash, body.text)
    }

    fn is_outgrown(&self) -> bool {
        let records_bytes = self.records.log_bytes();
        (records_bytes > MAX_RECORDS_BYTES && records_bytes > 2 * self.whole_bytes)
            || self.put_bytes > 2 * self.limit_bytes
    }

    /// Puts the memory as a whole in the place of all records.
    fn replace(&mut self, image: MemoryImage) -> Result<()> {
        let keep: HashSet<u128> = image.texts().collect();
        let line = match serde_json::to_string(&Record::Memory(image)) {
            Ok(line) => line,
            Err(cause) => {
                self.note(format!("the session's memory was not shortened: {cause}"));
                return Ok(());
            }
        };
        self.records.replace(&[line], &keep)?;
        self.whole_bytes = self.records.log_bytes();
        self.put_bytes = 0;
        Ok(())
    }
}

fn texts(lesson: &Lesson) -> Vec<&Version> {
    match lesson {
        Lesson::Shown { text, .. } | Lesson::Written { text, .. } => vec![text],
        Lesson::Edited { before, after, .. } => vec![before, after],
        Lesson::Moved { .. } | Lesson::Forgotten { .. } | Lesson::AllForgotten => Vec::new(),
    }
}

fn text_ref(text: &Version) -> TextRef {
    TextRef { hash: text.hash, lines: text.count }
}

fn record(lesson: &Lesson) -> Record {
    match lesson.clone() {
        Lesson::Shown { file, text, lines, showing } => {
            let asked = showing == Showing::Asked;
            Record::Shown { file, text: text_ref(&text), lines, asked }
        }
        Lesson::Written { file, text, shown } => {
            Record::Written { file, text: text_ref(&text), shown }
        }
        Lesson::Edited { file, before, after, splices, shown } => {
            let (before, after) = (text_ref(&before), text_ref(&after));
            Record::Edited { file, before, after, splices, shown }
        }
        Lesson::Moved { moves } => Record::Moved { moves },
        Lesson::Forgotten { file } => Record::Forgotten { file },
        Lesson::AllForgotten => Record::AllForgotten,
    }
}

fn lesson(record: Record, text: &impl Fn(TextRef) -> Version) -> Option<Lesson> {
    Some(match record {
        Record::Shown { file, text: shown, lines, asked } => {
            let showing = if asked { Showing::Asked } else { Showing::Told };
            Lesson::Shown { file, text: text(shown), lines, showing }
        }
        Record::Written { file, text: written, shown } => {
            Lesson::Written { file, text: text(written), shown }
        }
        Record::Edited { file, before, after, splices, shown } => {
            let (before, after) = (text(before), text(after));
            Lesson::Edited { file, before, after, splices, shown }
        }
        Record::Moved { moves } => Lesson::Moved { moves },
        Record::Forgotten { file } => Lesson::Forgotten { file },
        Record::AllForgotten => Lesson::AllForgotten,
        Record::Memory(_) => return None,
    })
}

/// Hashes as 32 hexadecimal letters: JSON has no numbers of 128 bits.
pub(super) mod hex {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(hash: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{hash:032x}"))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        let text = String::deserialize(from)?;
        u128::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}
