//! The engine for look-around and back-references: bounded backtracking on each line.
//!
//! It has its own limit and cannot be cancelled. But it reads the line through a trait; the
//! implementation here counts these reads and stops the engine by unwinding. This is not a panic:
//! it prints nothing, and [`Backtracker::find`] catches it.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::budget::{StepBudget, Stop};

/// The maximum number of backtracking steps on one line.
const BACKTRACK_LIMIT_STEPS: usize = 1_000_000;

/// The maximum number of instructions of a pattern, and the size limit of each automaton in it.
const PROGRAM_LIMIT: usize = 100_000;
const DELEGATE_LIMIT_BYTES: usize = 1 << 20;

/// A compiled pattern with look-around or back-references.
#[derive(Debug)]
pub(super) struct Backtracker(fancy_regex::Regex);

/// Why a search has no result.
pub(super) enum MatchFailure {
    Stopped(Stop),
    LimitReached(fancy_regex::Error),
}

impl Backtracker {
    pub(super) fn new(
        pattern: &str,
        case_sensitive: bool,
    ) -> Result<Backtracker, fancy_regex::Error> {
        fancy_regex::RegexBuilder::new(pattern)
            .case_insensitive(!case_sensitive)
            .backtrack_limit(BACKTRACK_LIMIT_STEPS)
            .max_prog_size(PROGRAM_LIMIT)
            .delegate_size_limit(DELEGATE_LIMIT_BYTES)
            .build()
            .map(Backtracker)
    }

    /// The first match in a line at or after `from`.
    pub(super) fn find(
        &self,
        line: &str,
        from: usize,
        budget: &StepBudget<'_>,
    ) -> Result<Option<Range<usize>>, MatchFailure> {
        let line_with_budget = BudgetedLine { line, budget };
        // The engine keeps no state between calls, so unwinding cannot corrupt it.
        let ended =
            catch_unwind(AssertUnwindSafe(|| self.0.find_from_pos(&line_with_budget, from)));
        match ended {
            Ok(found) => found.map_err(MatchFailure::LimitReached),
            Err(payload) => match payload.downcast::<Stop>() {
                Ok(stop) => Err(MatchFailure::Stopped(*stop)),
                Err(panic) => resume_unwind(panic),
            },
        }
    }
}

/// A line that stops its reader when the budget is exhausted.
struct BudgetedLine<'a> {
    line: &'a str,
    budget: &'a StepBudget<'a>,
}

impl BudgetedLine<'_> {
    fn step(&self) {
        // One read can cover a byte or the whole line, so each is charged as a whole line.
        if let Err(stop) = self.budget.spend_uncounted(self.line.len()) {
            resume_unwind(Box::new(stop));
        }
    }
}

impl fancy_regex::Input for BudgetedLine<'_> {
    type Match<'t>
        = Range<usize>
    where
        Self: 't;

    fn len(&self) -> usize {
        self.line.len()
    }

    fn as_bytes(&self) -> &[u8] {
        self.step();
        self.line.as_bytes()
    }

    fn is_char_boundary(&self, at: usize) -> bool {
        self.line.is_char_boundary(at)
    }

    fn is_ascii(&self) -> bool {
        self.line.is_ascii()
    }

    fn prev_codepoint_ix(&self, at: usize) -> usize {
        self.step();
        fancy_regex::Input::prev_codepoint_ix(self.line, at)
    }

    fn make_match(&self, start: usize, end: usize) -> Range<usize> {
        start..end
    }

    fn advance_position(&self, at: usize) -> usize {
        fancy_regex::Input::advance_position(self.line, at)
    }
}
