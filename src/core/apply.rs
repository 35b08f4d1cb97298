//! A patch → an outcome: the order of the stages.

use crate::cancel::Cancel;
use crate::dialect::Dialect;
use crate::error::Result;
use crate::fs::FileSystem;
use crate::outcome::{Outcome, TextOutcome};
use crate::repair::Rules;
use crate::request::Value;
use crate::resolve::{RELOCATE_WINDOW_LINES, Relocate};

/// What a finished call is safe from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// A power cut: every file and directory is forced to the disk.
    #[default]
    Power,
    /// The end of the process.
    Process,
}

/// How a patch is applied.
#[derive(Clone, Debug)]
pub struct ApplyOptions {
    /// The dialect of the anchors.
    pub dialect: &'static Dialect,
    /// Relative paths start here, and nothing outside is read or written.
    pub root: Option<String>,
    /// The label of the encoding of files without byte order mark, and of new files.
    pub encoding: Option<String>,
    /// Larger files are refused.
    pub max_file_bytes: u64,
    /// What to do with stale anchors.
    pub relocate: Relocate,
    /// How far from its number a line is looked for, in lines each way.
    pub relocate_window_lines: u64,
    /// The repairs that may be made to a model's text.
    pub repairs: Rules,
    /// What a finished call is safe from.
    pub durability: Durability,
}

impl Default for ApplyOptions {
    fn default() -> Self {
        ApplyOptions {
            dialect: Dialect::default_dialect(),
            root: None,
            encoding: None,
            max_file_bytes: crate::bytes::MAX_FILE_BYTES,
            relocate: Relocate::default(),
            relocate_window_lines: RELOCATE_WINDOW_LINES,
            repairs: Rules::default(),
            durability: Durability::default(),
        }
    }
}

/// Applies a patch to files: all of it or nothing.
pub fn apply_hash(
    _fs: &dyn FileSystem,
    _patch: &Value,
    _options: &ApplyOptions,
    _cancel: &Cancel,
) -> Result<Outcome> {
    Err(crate::error::Error::new(
        crate::error::Code::Internal,
        "being written",
    ))
}

/// Applies operations to a text in memory.
pub fn apply_to_text(
    _text: &str,
    _operations: &Value,
    _options: &ApplyOptions,
) -> Result<TextOutcome> {
    Err(crate::error::Error::new(
        crate::error::Code::Internal,
        "being written",
    ))
}
