//! A text → a tree, within a budget and with stack enough.

use std::ops::ControlFlow;
use std::thread;

use tree_sitter::{Parser, Point, Range, Tree};
use tree_sitter_language::LanguageFn;

/// How often the parser may report progress, which it does every 100 operations. Ordinary sources
/// take 15 to 40 reports for 1,000 bytes.
const PROGRESS_LIMIT: u32 = 16_000;

/// How often it may do so while it knows no way on but to skip text: each such step goes through
/// all that was skipped before, so that these take a hundred times as long.
const LOST_LIMIT: u32 = 100;

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

/// The tree of a text, with what can be kept of `old`; `None` past the budget.
pub(crate) fn parse(job: &Job<'_>, old: Option<&Tree>) -> Option<Tree> {
    if job.text.len() <= SHALLOW_BYTES {
        return parse_here(job, old, PROGRESS_LIMIT);
    }
    let here = old.and_then(|old| parse_here(job, Some(old), SHALLOW_REPORTS));
    here.or_else(|| {
        thread::scope(|scope| {
            let builder = thread::Builder::new().stack_size(DEEP_STACK_BYTES);
            let parsing = builder.spawn_scoped(scope, || parse_here(job, old, PROGRESS_LIMIT));
            parsing.ok()?.join().ok()?
        })
    })
}

fn parse_here(job: &Job<'_>, old: Option<&Tree>, limit: u32) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&job.grammar.into()).ok()?;
    parser.set_included_ranges(&job.ranges).ok()?;
    let (mut reports, mut lost) = (0, 0);
    let mut watch = |state: &tree_sitter::ParseState| {
        reports += 1;
        lost += u32::from(state.has_error());
        if reports > limit || lost > LOST_LIMIT {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut watch);
    let mut read = |offset: usize, _: Point| job.text.get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, old, Some(options))
}
