//! A text → a tree, within a budget and with stack enough.

use std::ops::ControlFlow;
use std::thread;
use std::time::{Duration, Instant};

use tree_sitter::{Parser, Point, Range, Tree};
use tree_sitter_language::LanguageFn;

/// How often the parser may report progress, which it does every 100 operations. Ordinary sources
/// take 1 to 20 reports for 1,000 bytes: measured on 561 files of all languages.
const PROGRESS_LIMIT: u32 = 16_000;

/// How often it may do so while it knows no way on but to skip text: each such step goes through
/// all that was skipped before, so that these take a hundred times as long.
const LOST_LIMIT: u32 = 100;

/// What a parse may take of the processor, whatever it reports: at each error the parser goes through
/// all comments and marks that stand in a row before it. 256 KB of ordinary source take 50 ms.
const TIME_LIMIT: Duration = Duration::from_secs(1);

/// The parser lets go of its stack by a call for each level, of which there may be as many as there
/// are bytes. A level takes 112 bytes as it is compiled for release.
const DEEP_STACK_BYTES: usize = 96 << 20;

/// What a call may need of the stack of its own thread, with room to spare: about 4,000 levels.
/// A text has no more levels than bytes.
const SHALLOW_BYTES: usize = 4 << 10;

/// Nor are there more levels than operations. What changed a little is parsed in few of them: to
/// start a thread for that would take longer.
const SHALLOW_REPORTS: u32 = 20;

/// What is parsed, and by what.
#[derive(Clone)]
pub(crate) struct Job<'a> {
    pub text: &'a [u8],
    pub grammar: LanguageFn,
    /// The parts of the text that count; the whole text if there are none.
    pub ranges: Vec<Range>,
}

/// How much work a parse may be, and what is left of it afterwards.
#[derive(Clone, Copy)]
pub(crate) struct Budget {
    reports: u32,
    lost: u32,
    time: Duration,
}

impl Budget {
    /// For a text whose tree is wanted, with errors and all.
    pub fn full() -> Budget {
        Budget { reports: PROGRESS_LIMIT, lost: LOST_LIMIT, time: TIME_LIMIT }
    }

    /// For a text of which no more is asked than whether it is clean.
    pub fn to_see_whether_clean(reports: u32) -> Budget {
        Budget { reports, lost: 0, time: TIME_LIMIT }
    }

    /// Reports that are left.
    pub fn reports(self) -> u32 {
        self.reports
    }

    /// Takes note of a report; `false` past the budget.
    fn spend(&mut self, is_lost: bool) -> bool {
        let reports = self.reports.checked_sub(1);
        let lost = self.lost.checked_sub(u32::from(is_lost));
        (self.reports, self.lost) = (reports.unwrap_or(0), lost.unwrap_or(0));
        reports.is_some() && lost.is_some()
    }
}

/// The tree of a text, with what can be kept of `old`; `None` past the budget.
pub(crate) fn parse(job: &Job<'_>, old: Option<&Tree>, budget: &mut Budget) -> Option<Tree> {
    if job.text.len() <= SHALLOW_BYTES {
        return parse_here(job, old, budget);
    }
    if let Some(old) = old {
        let mut shallow = Budget { reports: budget.reports.min(SHALLOW_REPORTS), ..*budget };
        let before = shallow.reports;
        let tree = parse_here(job, Some(old), &mut shallow);
        // What did not need all of this has its answer.
        if tree.is_some() || shallow.reports > 0 {
            budget.reports -= before - shallow.reports;
            return tree;
        }
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(DEEP_STACK_BYTES);
        let parsing = builder.spawn_scoped(scope, || parse_here(job, old, budget));
        parsing.ok()?.join().ok()?
    })
}

fn parse_here(job: &Job<'_>, old: Option<&Tree>, budget: &mut Budget) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&job.grammar.into()).ok()?;
    parser.set_included_ranges(&job.ranges).ok()?;
    let (begun, start, limit) = (Instant::now(), processor_time(), budget.time);
    let mut watch = |state: &tree_sitter::ParseState| {
        // A thread cannot use more of the processor than time has passed, which is asked first: the
        // answer takes a tenth of the time.
        let is_in_time = begun.elapsed() < limit || processor_time().saturating_sub(start) < limit;
        let may_go_on = budget.spend(state.has_error()) && is_in_time;
        if may_go_on { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut watch);
    let mut read = |offset: usize, _: Point| job.text.get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, old, Some(options))
}

/// What this thread has taken of the processor: on a busy machine a parse may take longer.
#[cfg(unix)]
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec as u32)
}

/// The time since the first call, where the system's own count is too coarse.
#[cfg(not(unix))]
fn processor_time() -> Duration {
    use std::sync::LazyLock;

    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `*/` without end, behind code with errors, took half a minute.
    #[test]
    fn regression_a_parse_ends_when_its_time_is_over() {
        let text = "a = [1, 2, 3];\n".repeat(100);
        let grammar = tree_sitter_typescript::LANGUAGE_TYPESCRIPT;
        let job = Job { text: text.as_bytes(), grammar, ranges: Vec::new() };
        assert!(parse(&job, None, &mut Budget::full()).is_some());
        assert!(
            parse(&job, None, &mut Budget { time: Duration::ZERO, ..Budget::full() }).is_none()
        );
    }
}
