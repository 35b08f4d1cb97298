//! A memory as it is written down, and read again.

use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::files::Files;
use super::{FileMemory, Memory};
use crate::body::TextRef;

/// A memory as it is written down: texts by their hashes.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryImage {
    pub(super) now: u64,
    pub(super) files: Vec<(PathBuf, FileMemory)>,
    pub(super) texts: Vec<TextRef>,
    forgotten: Vec<String>,
}

impl MemoryImage {
    /// Its texts.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &TextRef> + '_ {
        self.texts.iter()
    }
}

impl Memory {
    /// What there is to write down.
    pub fn image(&self) -> MemoryImage {
        // A name that is not UTF-8 cannot be stored; its file is known to this process alone.
        let files = self.files.iter().filter(|(file, _)| file.to_str().is_some());
        let texts = self.texts.iter().map(|(hash, kept)| {
            let lines = kept.body().count();
            TextRef { hash, lines, tag: None }
        });
        MemoryImage {
            now: self.now,
            files: files.map(|(file, known)| (file.to_owned(), (**known).clone())).collect(),
            texts: texts.collect(),
            forgotten: self.forgotten.iter().map(|hash| format!("{hash:032x}")).collect(),
        }
    }

    /// A memory that was written down, without its texts, for the calls that `empty` knows of.
    pub fn restored(image: MemoryImage, empty: Memory) -> Memory {
        let hash = |hash: String| u128::from_str_radix(&hash, 16).ok();
        let mut memory = Memory {
            now: image.now,
            files: Files::default(),
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
