//! A memory as it is stored and restored.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::{FileMemory, Memory};
use crate::body::TextRef;
use crate::undo::UndoEntry;

/// A memory as it is stored. It refers to texts by their hashes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryImage {
    pub(super) now: u64,
    pub(super) files: Vec<(PathBuf, FileMemory)>,
    pub(super) texts: Vec<TextRef>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) undo: Vec<UndoEntry>,
    forgotten: Vec<String>,
}

impl MemoryImage {
    /// The texts that it refers to.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &TextRef> + '_ {
        self.texts.iter()
    }
}

impl Memory {
    /// The memory as it is stored.
    pub fn image(&self) -> MemoryImage {
        // A path that is not UTF-8 cannot be stored; only this process remembers the file.
        let files = self.files.iter().filter(|(file, _)| file.to_str().is_some());
        let texts = self.texts.iter().map(|(hash, kept)| {
            let lines = kept.body().count();
            TextRef { hash, lines, tag: None, charset: None }
        });
        MemoryImage {
            now: self.now,
            files: files.map(|(file, known)| (file.to_owned(), (**known).clone())).collect(),
            texts: texts.collect(),
            undo: self.undo.entries().iter().map(|entry| (**entry).clone()).collect(),
            forgotten: self.forgotten.iter().map(|hash| format!("{hash:032x}")).collect(),
        }
    }

    /// Restores a memory without its texts, with the limits and waiting calls of `empty`.
    pub fn restored(image: MemoryImage, empty: Memory) -> Memory {
        let hash = |hash: String| u128::from_str_radix(&hash, 16).ok();
        let mut memory = Memory {
            now: image.now,
            files: Files::default(),
            undo: image.undo.into(),
            forgotten: image.forgotten.into_iter().filter_map(hash).collect(),
            ..empty
        };
        for (file, mut known) in image.files {
            let over = known.lineages.len().saturating_sub(memory.limits.versions.max(1));
            known.forgotten |= over > 0;
            known.lineages.drain(..over);
            known.measure(&file);
            memory.files.insert(file.as_path().into(), Arc::new(known));
            memory.enforce_limits(&file, Vec::new());
        }
        memory
    }
}
