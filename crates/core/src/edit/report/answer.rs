//! How an answer tells what was done, as its caller wishes.

/// Unchanged lines on either side of a changed region, where nothing is said.
const CONTEXT_LINES: u64 = 2;

/// The most that an answer shows.
pub const ANSWER_CONTEXT_MAX_LINES: u64 = 3;

/// How an answer tells what was done. A refusal is told in one way alone.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AnswerOptions {
    /// Unchanged lines on either side of each changed region, at most 3; `None`: 2.
    pub context_lines: Option<u64>,
}

impl AnswerOptions {
    /// These, and what others say where these say nothing.
    pub fn or(self, others: AnswerOptions) -> AnswerOptions {
        AnswerOptions { context_lines: self.context_lines.or(others.context_lines) }
    }

    pub(super) fn context_lines(self) -> u64 {
        self.context_lines.unwrap_or(CONTEXT_LINES).min(ANSWER_CONTEXT_MAX_LINES)
    }
}
