//! What is special about one patch, beside the options that hold for all.

use crate::edit::session::Recall;

/// How one patch is applied.
#[derive(Clone, Copy, Default)]
pub struct Manner<'a> {
    /// What the one who made the patch was shown; without it, anchors are compared with the files
    /// as they are.
    pub recall: Option<Recall<'a>>,
    /// Everything is checked and reported, and nothing is written.
    pub dry_run: bool,
    /// Nobody sees the report of success: of its lines those count as shown that the patch wrote.
    pub is_silent: bool,
    /// With how many lines of context each change is told as a diff; not at all when `None`.
    pub diff_context_lines: Option<u64>,
}
