//! How patches are applied: all of a workspace, and one alone.

use serde::Deserialize;

use crate::edit::repair::RepairRules;
use crate::edit::report::AnswerOptions;
use crate::edit::resolve::{
    RELOCATE_WINDOW_LINES, RELOCATE_WINDOW_MAX_LINES, Relocate, RelocatePolicy,
};
use crate::edit::structure::SyntaxCheck;
use hashline_base::shape::or_default;
use hashline_disk::commit::Durability;

/// How the anchors and texts of a patch are taken, in files and in memory alike.
#[derive(Clone, Debug)]
pub struct EditOptions {
    /// What to do with stale anchors.
    pub relocate: Relocate,
    /// How far from its number a line is looked for, in lines each way.
    pub relocate_window_lines: u64,
    /// The repairs that may be made to a model's text.
    pub repairs: RepairRules,
    /// How it is told what was done.
    pub answer: AnswerOptions,
}

impl Default for EditOptions {
    fn default() -> Self {
        EditOptions {
            relocate: Relocate::default(),
            relocate_window_lines: RELOCATE_WINDOW_LINES,
            repairs: RepairRules::default(),
            answer: AnswerOptions::default(),
        }
    }
}

impl EditOptions {
    pub(super) fn policy(&self) -> RelocatePolicy {
        let window_lines = self.relocate_window_lines.min(RELOCATE_WINDOW_MAX_LINES);
        RelocatePolicy { relocate: self.relocate, window_lines }
    }
}

/// How one patch is applied, beside the options that hold for all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct PatchOptions {
    /// Everything is checked and reported, and nothing is written.
    #[serde(deserialize_with = "or_default")]
    pub dry_run: bool,
    /// With how many lines of context each change is told as a diff; not at all when `None`.
    #[serde(rename = "context")]
    pub diff_context_lines: Option<u64>,
    /// Nobody sees the report of success: of its lines those count as shown that the patch wrote.
    #[serde(skip)]
    pub is_silent: bool,
    /// How it is told what was done, where this is not as for all patches.
    #[serde(skip)]
    pub answer: AnswerOptions,
}

/// How patches are applied to files.
#[derive(Clone, Debug)]
pub struct ApplyOptions {
    /// How its anchors and texts are taken.
    pub edit: EditOptions,
    /// What a finished call is safe from.
    pub durability: Durability,
    /// How long to wait for other calls that edit the same files.
    pub lock_timeout_ms: u64,
    /// What to do about files that parse and would not afterwards; `None`: warn in a session, and
    /// nothing elsewhere.
    pub syntax: Option<SyntaxCheck>,
}

/// How long calls wait for each other by default.
pub const LOCK_TIMEOUT_MS: u64 = 10_000;

impl Default for ApplyOptions {
    fn default() -> Self {
        ApplyOptions {
            edit: EditOptions::default(),
            durability: Durability::default(),
            lock_timeout_ms: LOCK_TIMEOUT_MS,
            syntax: None,
        }
    }
}
