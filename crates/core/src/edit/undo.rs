//! What undoes a patch, as data that a session keeps: the old bytes of the regions that it changed,
//! and the whole content of files that it deleted or replaced.

use serde::{Deserialize, Serialize};

use super::line_diff::{Hunk, text_hunks};
use super::request::{FileAction, LineEdit, Operation, Operations};
use crate::view::scope::Scope;
use hashline_base::error::Code;
use hashline_disk::bytes::{Charset, snapshot, snapshot_of_file};
use hashline_disk::fs::{Place, Rights};
use hashline_memory::{Version, hex};

/// What undoes a patch.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inverse {
    /// The files that it changed. Paths are absolute, and those after the patch.
    pub files: Vec<InverseFile>,
}

/// What undoes the change of one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "change", rename_all = "lowercase")]
pub enum InverseFile {
    /// It was edited, and perhaps moved.
    Edited {
        /// Its path.
        path: String,
        /// Its path before, if it was moved.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<String>,
        /// Its old lines.
        #[serde(flatten)]
        restored: RestoredLines,
    },
    /// It was moved, with the same content.
    Moved {
        /// Its path.
        path: String,
        /// Its path before.
        from: String,
    },
    /// It was created.
    Created {
        /// Its path.
        path: String,
        /// The snapshot of its content.
        snapshot: String,
    },
    /// It was deleted.
    Deleted {
        /// Its path.
        path: String,
        /// What it was.
        #[serde(flatten)]
        file: RestoredFile,
    },
    /// It was deleted, and another file was created there.
    Replaced {
        /// Its path.
        path: String,
        /// The snapshot of the new file.
        snapshot: String,
        /// What it was before.
        #[serde(flatten)]
        file: RestoredFile,
    },
}

/// The old lines of an edited file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RestoredLines {
    /// The snapshot of the file before the patch.
    pub before: String,
    /// The snapshot of the file after the patch.
    pub after: String,
    /// The hash of its text after the patch, as the session remembers it.
    #[serde(with = "hex")]
    pub text: u128,
    /// The encoding of the bytes.
    pub charset: String,
    /// The changed regions, sorted and disjoint.
    pub regions: Vec<RestoredRegion>,
}

/// A region of whole lines that a patch changed.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RestoredRegion {
    /// The line before it, in the file after the patch; 0 at the start.
    pub after_line: u64,
    /// Its number of lines after the patch.
    pub lines: u64,
    /// Whether the patch ended the line before it, which had no terminator.
    #[serde(default)]
    pub has_lead: bool,
    /// Its first byte after the patch, counted after the byte order mark.
    pub start: usize,
    /// One past its last byte.
    pub end: usize,
    /// Its bytes before the patch.
    #[serde(with = "base64_bytes")]
    pub bytes: Vec<u8>,
}

/// A whole file.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct RestoredFile {
    /// Its content.
    #[serde(with = "base64_bytes")]
    pub content: Vec<u8>,
    /// Its mode, and its owner and group; `None` for a document, or a system that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rights: Option<(u32, (u32, u32))>,
}

impl RestoredFile {
    /// Its mode and owner.
    pub fn rights(&self) -> Option<Rights> {
        self.rights.map(|(mode, owner)| Rights { mode, owner })
    }

    fn is_valid(&self) -> bool {
        self.rights.is_none_or(|(mode, _)| mode <= 0o7777)
    }
}

/// The checks of a patch that undoes another one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UndoChecks {
    /// Operations that delete a file, with the snapshot that its content must have.
    pub deleted: Vec<(usize, String)>,
}

/// A patch that replaced or deleted more bytes cannot be undone.
pub const UNDO_LIMIT_BYTES: usize = 4 << 20;

/// No file has more lines or bytes, and sums of such numbers do not overflow.
const MAX_NUMBER: u64 = 1 << 53;

impl Inverse {
    /// Parses what a session kept. That its hash is right does not prove that a correct program
    /// wrote it.
    pub fn parse(text: &[u8]) -> Option<Inverse> {
        let inverse: Inverse = serde_json::from_slice(text).ok()?;
        let is_valid = inverse.files.iter().all(|file| match file {
            InverseFile::Edited { restored, .. } => restored.is_valid(),
            InverseFile::Deleted { file, .. } | InverseFile::Replaced { file, .. } => {
                file.is_valid()
            }
            InverseFile::Moved { .. } | InverseFile::Created { .. } => true,
        });
        is_valid.then_some(inverse)
    }

    /// The text that a session keeps, or why it does not.
    pub fn encoded(&self) -> Result<Version, String> {
        let bytes = |file: &InverseFile| match file {
            InverseFile::Edited { restored, .. } => {
                restored.regions.iter().map(|region| region.bytes.len()).sum()
            }
            InverseFile::Deleted { file, .. } | InverseFile::Replaced { file, .. } => {
                file.content.len()
            }
            InverseFile::Moved { .. } | InverseFile::Created { .. } => 0,
        };
        if self.files.iter().map(bytes).sum::<usize>() > UNDO_LIMIT_BYTES {
            return Err("its old lines are too large to be kept".to_owned());
        }
        serde_json::to_vec(self).map(Version::owned).map_err(|cause| cause.to_string())
    }

    /// The operations that undo the patch. `shown` is the name of a path for messages.
    pub fn operations(self, shown: impl Fn(&str) -> String) -> Operations {
        let (mut operations, mut checks) = (Operations::default(), UndoChecks::default());
        let mut next = 0;
        for file in self.files {
            let mut add = |path: &str, action: FileAction| {
                let (index, path) = (next, shown(path));
                next += 1;
                operations.files.push(Operation { index, path, verbatim: true, action });
                index
            };
            match file {
                InverseFile::Moved { path, from } => {
                    add(&path, FileAction::Move { to: shown(&from) });
                }
                InverseFile::Created { path, snapshot } => {
                    checks.deleted.push((add(&path, FileAction::Delete), snapshot));
                }
                InverseFile::Deleted { path, file } => {
                    add(&path, FileAction::Restore(file));
                }
                InverseFile::Replaced { path, snapshot, file } => {
                    checks.deleted.push((add(&path, FileAction::Delete), snapshot));
                    add(&path, FileAction::Restore(file));
                }
                InverseFile::Edited { path, from, restored } => {
                    if let Some(from) = from {
                        add(&path, FileAction::Move { to: shown(&from) });
                    }
                    let action = LineEdit::Restore(restored);
                    let (index, path) = (next, shown(&path));
                    next += 1;
                    operations.edits.push(Operation { index, path, verbatim: true, action });
                }
            }
        }
        operations.undo = Some(checks);
        operations
    }

    /// Makes it undo what a formatter did to a file after the patch as well. `written` is the text
    /// that the patch wrote; `now` is the text of the file now, `snapshot_now` its content.
    /// Returns whether it has changed: it has not if the file has another encoding.
    pub fn follow(
        &mut self,
        path: &str,
        written: Option<&Version>,
        now: &Version,
        snapshot_now: &str,
    ) -> bool {
        let mut file = self.files.iter_mut().find(|file| file.path() == path);
        match file.as_deref_mut() {
            Some(
                InverseFile::Created { snapshot: left, .. }
                | InverseFile::Replaced { snapshot: left, .. },
            ) => {
                let is_other = left != snapshot_now;
                snapshot_now.clone_into(left);
                is_other
            }
            Some(InverseFile::Edited { path, from, restored })
                if restored.after != snapshot_now =>
            {
                let before = written.filter(|written| written.hash() == restored.text);
                let Some(before) = before.and_then(|written| restored.text_before(written)) else {
                    return false;
                };
                let lines = RestoredLines::between(&before, &restored.before, now, snapshot_now);
                match (lines, from.is_none()) {
                    (Some(lines), _) => {
                        *restored = lines;
                        true
                    }
                    // It has another encoding or byte order mark now.
                    (None, true) => {
                        let Some(content) = content_of(&before, &restored.before) else {
                            return false;
                        };
                        let (path, snapshot) = (std::mem::take(path), snapshot_now.to_owned());
                        let old = RestoredFile { content, rights: None };
                        *file.expect("it was found") =
                            InverseFile::Replaced { path, snapshot, file: old };
                        true
                    }
                    (None, false) => false,
                }
            }
            Some(InverseFile::Moved { path, from }) => {
                let lines = written.and_then(|written| {
                    let left = snapshot(written.body()?.text);
                    RestoredLines::between(written, &left, now, snapshot_now)
                });
                let Some(restored) = lines.filter(|lines| !lines.regions.is_empty()) else {
                    return false;
                };
                let (path, from) = (std::mem::take(path), Some(std::mem::take(from)));
                *file.expect("it was found") = InverseFile::Edited { path, from, restored };
                true
            }
            Some(_) | None => false,
        }
    }

    /// Without the files that are as they were before the patch: a call that undid it may have died
    /// before that was recorded, or others have done the same.
    pub fn pending(&self, scope: &Scope<'_>) -> Inverse {
        let has = |path: &str, expected: &str| {
            snapshot_of_path(scope, path).is_some_and(|now| now == expected)
        };
        let is_free = |path: &str| {
            scope.base.existing(path).is_err_and(|error| error.code == Code::FileNotFound)
        };
        let is_undone = |file: &InverseFile| match file {
            InverseFile::Edited { path, from: None, restored } => has(path, &restored.before),
            InverseFile::Edited { path, from: Some(from), restored } => {
                is_free(path) && has(from, &restored.before)
            }
            InverseFile::Moved { path, from } => is_free(path) && !is_free(from),
            InverseFile::Created { path, .. } => is_free(path),
            InverseFile::Deleted { path, file } | InverseFile::Replaced { path, file, .. } => {
                has(path, &snapshot(&file.content))
            }
        };
        let files = self.files.iter().filter(|file| !is_undone(file)).cloned().collect();
        Inverse { files }
    }

    /// The text of each edited file before the patch, from its text after it. Without changes by
    /// others these are the texts after the patch before.
    pub fn texts_before(&self, text_after: impl Fn(u128) -> Option<Version>) -> Vec<Version> {
        let edited = self.files.iter().filter_map(|file| match file {
            InverseFile::Edited { restored, .. } => Some(restored),
            _ => None,
        });
        edited.filter_map(|restored| restored.text_before(&text_after(restored.text)?)).collect()
    }
}

impl InverseFile {
    /// The path of the file.
    fn path(&self) -> &str {
        match self {
            InverseFile::Edited { path, .. }
            | InverseFile::Moved { path, .. }
            | InverseFile::Created { path, .. }
            | InverseFile::Deleted { path, .. }
            | InverseFile::Replaced { path, .. } => path,
        }
    }
}

/// The bytes of a byte order mark.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Whether a content is a text in UTF-8, and whether it has a byte order mark; `None` if not.
fn has_mark(text: &[u8], content: &str) -> Option<bool> {
    match content {
        content if content == snapshot(text) => Some(false),
        content if content == snapshot(&[BYTE_ORDER_MARK, text].concat()) => Some(true),
        _ => None,
    }
}

/// The content with a snapshot, from its text; `None` if it is not in UTF-8.
fn content_of(text: &Version, content: &str) -> Option<Vec<u8>> {
    let text = text.body()?.text;
    Some(match has_mark(text, content)? {
        true => [BYTE_ORDER_MARK, text].concat(),
        false => text.to_vec(),
    })
}

impl RestoredLines {
    /// Whether the regions are sorted and disjoint.
    fn is_valid(&self) -> bool {
        let (mut line, mut byte) = (0, 0);
        self.regions.iter().all(|region| {
            let RestoredRegion { after_line, lines, start, end, .. } = *region;
            let is_after = after_line >= line && start >= byte && end >= start;
            let is_small = [after_line, lines, end as u64].iter().all(|&one| one < MAX_NUMBER);
            (line, byte) = (after_line.saturating_add(lines), end);
            is_after && is_small
        })
    }

    /// The old lines where two texts differ, each with the snapshot of its content; `None` if they
    /// are not both in UTF-8.
    fn between(
        before: &Version,
        before_content: &str,
        now: &Version,
        now_content: &str,
    ) -> Option<RestoredLines> {
        let (old, new) = (before.body()?, now.body()?);
        if has_mark(old.text, before_content)? != has_mark(new.text, now_content)? {
            return None;
        }
        let region = |Hunk { before, after }: Hunk| {
            let range = new.index.bytes_of(new.text, &after);
            RestoredRegion {
                after_line: after.start,
                lines: after.end - after.start,
                has_lead: false,
                start: range.start,
                end: range.end,
                bytes: old.text[old.index.bytes_of(old.text, &before)].to_vec(),
            }
        };
        Some(RestoredLines {
            before: before_content.to_owned(),
            after: now_content.to_owned(),
            text: now.hash(),
            charset: Charset::Utf8.name(),
            regions: text_hunks(old.text, new.text).into_iter().map(region).collect(),
        })
    }

    /// The text before the patch. It is another one if the file is not in UTF-8, because the regions
    /// are those of its bytes.
    fn text_before(&self, after: &Version) -> Option<Version> {
        let text = after.body()?.text;
        let mut before = Vec::with_capacity(text.len());
        let mut at = 0;
        for region in &self.regions {
            before.extend_from_slice(text.get(at..region.start)?);
            before.extend_from_slice(&region.bytes);
            at = region.end;
        }
        before.extend_from_slice(text.get(at..)?);
        Some(Version::owned(before))
    }
}

/// The snapshot of the file at a path, if it can be read.
fn snapshot_of_path(scope: &Scope<'_>, path: &str) -> Option<String> {
    let place = scope.base.existing(path).ok()?;
    snapshot_of_place(scope, &place)
}

/// The snapshot of a file, if it can be read.
pub fn snapshot_of_place(scope: &Scope<'_>, place: &Place) -> Option<String> {
    match place.document() {
        Some(document) => Some(snapshot(&document.content.bytes)),
        None => {
            let mut file = scope.fs.open(place).ok()?;
            snapshot_of_file(scope.fs, &mut file, scope.cancel).ok()
        }
    }
}

/// Bytes in Base64.
mod base64_bytes {
    use base64::prelude::{BASE64_STANDARD, Engine};
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    pub fn serialize<S: Serializer>(bytes: &[u8], to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&BASE64_STANDARD.encode(bytes))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<u8>, D::Error> {
        BASE64_STANDARD.decode(String::deserialize(from)?).map_err(D::Error::custom)
    }
}
