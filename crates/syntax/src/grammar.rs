//! A text → a tree, within a budget and with stack enough.

use std::thread;

use tree_sitter::{InputEdit, Range};
use tree_sitter_language::LanguageFn;

use crate::bounded::{self, BoundedTree};
use crate::budget::Budget;

/// How often the parser may report progress, which it does every 100 operations. Ordinary sources
/// take 1 to 20 reports for 1,000 bytes: measured on 561 files of all languages.
const PROGRESS_LIMIT: u32 = 16_000;

/// How often it may do so while it knows no way on but to skip text: each such step goes through
/// all that was skipped before, so that these take a hundred times as long.
const LOST_LIMIT: u32 = 100;

/// The parser frees its stack by a call for each level, of which there may be as many as there are
/// bytes. A level takes 112 bytes as it is compiled for release.
const DEEP_STACK_BYTES: usize = 96 << 20;

/// What a call may need of the stack of its own thread, with room to spare: about 4,000 levels.
/// A text has no more levels than bytes.
const SHALLOW_BYTES: usize = 4 << 10;

/// Nor are there more levels than operations. What changed a little is parsed in few of them: to
/// start a thread for that would take longer.
const SHALLOW_REPORTS: u32 = 20;

/// What is parsed, and by what.
pub(crate) struct Job<'a> {
    pub text: &'a [u8],
    pub grammar: LanguageFn,
    /// The parts of the text that count; the whole text if there are none.
    pub ranges: Vec<Range>,
    /// A tree of another text, whose nodes are used again, and what turned that text into this one.
    pub old: Option<(&'a BoundedTree, InputEdit)>,
}

/// How many operations a parse may take.
#[derive(Clone, Copy)]
pub(crate) struct Allowance {
    reports: u32,
    lost: u32,
}

impl Allowance {
    /// For a text whose tree is wanted, with errors and all.
    pub fn full() -> Allowance {
        Allowance { reports: PROGRESS_LIMIT, lost: LOST_LIMIT }
    }

    /// For a text of which no more is asked than whether it is clean.
    pub fn to_see_whether_clean(reports: u32) -> Allowance {
        Allowance { reports, lost: 0 }
    }

    /// Reports that are left.
    pub fn reports(self) -> u32 {
        self.reports
    }

    /// Counts a report; `false` past the allowance.
    fn spend(&mut self, is_lost: bool) -> bool {
        let reports = self.reports.checked_sub(1);
        let lost = self.lost.checked_sub(u32::from(is_lost));
        (self.reports, self.lost) = (reports.unwrap_or(0), lost.unwrap_or(0));
        reports.is_some() && lost.is_some()
    }
}

/// The tree of a text; `None` past the allowance or the budget.
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
        // What did not need all of this has its answer.
        if tree.is_some() || shallow.reports > 0 {
            allowance.reports -= before - shallow.reports;
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
    let goes_on = |is_lost| allowance.spend(is_lost) && meter.check();
    let job = bounded::Job {
        text: job.text,
        language: job.grammar.into(),
        ranges: &job.ranges,
        old: job.old,
    };
    bounded::parse(&job, &meter, goes_on)
}
