//! Options for applying patches: those of a workspace, and those of one patch.

use serde::Deserialize;

use crate::edit::repair::RepairRules;
use crate::edit::report::AnswerOptions;
use crate::edit::resolve::{
    RELOCATE_WINDOW_LINES, RELOCATE_WINDOW_MAX_LINES, Relocate, RelocatePolicy,
};
use crate::edit::structure::SyntaxCheck;
use hashline_base::shape::or_default;
use hashline_disk::commit::Durability;

/// How the anchors and texts of a patch are interpreted, for files and for texts in memory.
#[derive(Clone, Debug)]
pub struct EditOptions {
    /// What to do with stale anchors.
    pub relocate: Relocate,
    /// How far from its number a line is searched, in lines in each direction.
    pub relocate_window_lines: u64,
    /// The repairs that may be made to a model's text.
    pub repairs: RepairRules,
    /// The form of the answer.
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

/// The options of one patch, in addition to those of all patches.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct PatchOptions {
    /// Checks and reports everything, but writes nothing.
    #[serde(deserialize_with = "or_default")]
    pub dry_run: bool,
    /// The number of context lines in the diff of each file; no diff if `None`.
    #[serde(rename = "context")]
    pub diff_context_lines: Option<u64>,
    /// The id of a plan of this patch ([`Applied::plan`](crate::Applied::plan)): the patch is refused
    /// if it would not do exactly what the plan says.
    #[serde(skip)]
    pub plan: Option<String>,
    /// The report of success is not shown to a model: only the lines that the patch wrote count as
    /// shown.
    #[serde(skip)]
    pub is_silent: bool,
    /// Keeps what was written in [`Applied::written`](crate::Applied::written), so that
    /// [`Session::settle`](crate::Session::settle) can answer once the host has formatted the files.
    /// Its answer is the one that a model reads. Without a session, this has no effect.
    #[serde(skip)]
    pub keeps_written: bool,
    /// The outcome is shown to a person while the model is still writing the patch. It takes no
    /// locks, and nothing of it counts as shown to the model. Only with `dry_run`.
    #[serde(skip)]
    pub is_preview: bool,
    /// The label of the encoding of new files and of files without a byte order mark; overrides
    /// that of the workspace.
    #[serde(skip)]
    pub encoding: Option<String>,
    /// The form of the answer, where it differs from that of all patches.
    #[serde(skip)]
    pub answer: AnswerOptions,
}

/// How patches are applied to files.
#[derive(Clone, Debug)]
pub struct ApplyOptions {
    /// How their anchors and texts are interpreted.
    pub edit: EditOptions,
    /// The crashes that a finished call survives.
    pub durability: Durability,
    /// How long to wait for other calls that edit the same files.
    pub lock_timeout_ms: u64,
    /// What to do if a patch breaks the syntax of a file; `None`: warn in a session, and do nothing
    /// elsewhere.
    pub syntax: Option<SyntaxCheck>,
}

/// The default of [`ApplyOptions::lock_timeout_ms`].
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
