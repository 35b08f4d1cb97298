//! Parses a text into a tree, within a budget and with a sufficient stack.

use std::thread;

use tree_sitter::{InputEdit, Range};
use tree_sitter_language::LanguageFn;

use crate::bounded::{self, BoundedTree};
use crate::budget::Budget;

/// The limit on progress reports of the parser, which it sends every 100 operations. Ordinary
/// sources take 1 to 20 reports per 1,000 bytes, measured on 561 files of all languages.
const PROGRESS_LIMIT: u32 = 16_000;

/// The limit on reports during error recovery: each step there visits everything that was skipped
/// before, so such steps take a hundred times as long.
const RECOVERY_LIMIT: u32 = 100;

/// The parser frees its stack recursively, with up to one level per byte. A level takes 112 bytes
/// in release builds.
const DEEP_STACK_BYTES: usize = 96 << 20;

/// The size of texts that can be parsed on the stack of the calling thread, with a margin: about
/// 4,000 levels. A text has at most one level per byte.
const SHALLOW_BYTES: usize = 4 << 10;

/// There are at most as many levels as operations. Small edits take few operations, and starting a
/// thread for them would take longer.
const SHALLOW_REPORTS: u32 = 20;

/// The input of a parse.
pub(crate) struct Job<'a> {
    pub text: &'a [u8],
    pub grammar: LanguageFn,
    /// The parts of the text to parse; the whole text if empty.
    pub ranges: Vec<Range>,
    /// The tree of another text, whose nodes are reused, and the edit from that text to this one.
    pub old: Option<(&'a BoundedTree, InputEdit)>,
}

/// The limit on the operations of a parse.
#[derive(Clone, Copy)]
pub(crate) struct Allowance {
    reports: u32,
    recovering: u32,
    /// Whether the parser could only skip text at some point.
    met_error: bool,
}

impl Allowance {
    /// For parsing a text, including one with errors.
    pub fn full() -> Allowance {
        Allowance { reports: PROGRESS_LIMIT, recovering: RECOVERY_LIMIT, met_error: false }
    }

    /// For checking whether a text is free of errors.
    pub fn for_check(reports: u32) -> Allowance {
        Allowance { reports, recovering: 0, met_error: false }
    }

    /// The remaining reports.
    pub fn reports(self) -> u32 {
        self.reports
    }

    /// Whether the parser reported an error in the text, even if it was stopped later.
    pub fn met_error(self) -> bool {
        self.met_error
    }

    /// Permits as much error recovery as another allowance, for another parse.
    pub fn renew_recovery(&mut self, other: Allowance) {
        (self.recovering, self.met_error) = (other.recovering, other.met_error);
    }

    /// Counts work that is not the parser's.
    pub fn charge(&mut self, reports: usize) {
        self.reports = self.reports.saturating_sub(1 + reports as u32);
    }

    /// Counts a report; returns `false` when the allowance is exceeded.
    fn spend(&mut self, is_recovering: bool) -> bool {
        self.met_error |= is_recovering;
        let reports = self.reports.checked_sub(1);
        let recovering = self.recovering.checked_sub(u32::from(is_recovering));
        (self.reports, self.recovering) = (reports.unwrap_or(0), recovering.unwrap_or(0));
        reports.is_some() && recovering.is_some()
    }
}

/// The tree of a text; `None` if the allowance or the budget is exceeded.
pub(crate) fn parse(
    job: &Job<'_>,
    allowance: &mut Allowance,
    budget: &Budget<'_>,
) -> Option<BoundedTree> {
    if job.text.len() <= SHALLOW_BYTES {
        return parse_here(job, allowance, budget);
    }
    if job.old.is_some() {
        let mut shallow =
            Allowance { reports: allowance.reports.min(SHALLOW_REPORTS), ..*allowance };
        let before = shallow.reports;
        let tree = parse_here(job, &mut shallow, budget);
        // If the limit was not reached, the result is final.
        if tree.is_some() || shallow.reports > 0 {
            *allowance =
                Allowance { reports: allowance.reports + shallow.reports - before, ..shallow };
            return tree;
        }
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(DEEP_STACK_BYTES);
        let parsing = builder.spawn_scoped(scope, || parse_here(job, allowance, budget));
        parsing.ok()?.join().ok()?
    })
}

fn parse_here(
    job: &Job<'_>,
    allowance: &mut Allowance,
    budget: &Budget<'_>,
) -> Option<BoundedTree> {
    let meter = budget.meter();
    let may_continue = |is_recovering| allowance.spend(is_recovering) && meter.check();
    let job = bounded::Job {
        text: job.text,
        language: job.grammar.into(),
        ranges: &job.ranges,
        old: job.old,
    };
    bounded::parse(&job, &meter, may_continue)
}
