//! The engine for look-around and back-references: bounded backtracking, line by line.
//!
//! It has a limit of its own, and no way to be stopped; but it reads the line through a trait. So
//! it is given lines that count how often they are read, and stop it by unwinding, which is no
//! panic: nothing is printed, and it goes no further than [`Backtracker::find`].

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::watch::{Stop, Watch};

/// Steps back that the engine may take on one line.
const BACKTRACK_LIMIT_STEPS: usize = 1_000_000;

/// Instructions that a pattern may become, and room for each of the automata in it.
const PROGRAM_LIMIT: usize = 100_000;
const DELEGATE_LIMIT_BYTES: usize = 1 << 20;

/// A compiled pattern with look-around or back-references.
#[derive(Debug)]
pub(super) struct Backtracker(fancy_regex::Regex);

/// Why there is no answer.
pub(super) enum MatchFailure {
    Stopped(Stop),
    GaveUp(fancy_regex::Error),
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

    /// The first match in a line.
    pub(super) fn find(
        &self,
        line: &str,
        watch: &Watch<'_>,
    ) -> Result<Option<Range<usize>>, MatchFailure> {
        let watched = Watched { line, watch };
        // The engine is as good as new when it begins, however it ended the last time.
        let ended = catch_unwind(AssertUnwindSafe(|| self.0.find(&watched)));
        match ended {
            Ok(found) => found.map_err(MatchFailure::GaveUp),
            Err(payload) => match payload.downcast::<Stop>() {
                Ok(stop) => Err(MatchFailure::Stopped(*stop)),
                Err(panic) => resume_unwind(panic),
            },
        }
    }
}

/// A line that knows when it has been read often enough.
struct Watched<'a> {
    line: &'a str,
    watch: &'a Watch<'a>,
}

impl Watched<'_> {
    fn step(&self) {
        // What is read can be a byte, or all of the line.
        if let Err(stop) = self.watch.spend_hidden(self.line.len()) {
            resume_unwind(Box::new(stop));
        }
    }
}

impl fancy_regex::Input for Watched<'_> {
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
