//! A text → a tree, within a budget and with stack enough.

use std::ops::ControlFlow;
use std::thread;

use tree_sitter::{InputEdit, Parser, Point, Range, Tree};
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

/// A text that cannot take more than 512 KiB of stack is parsed where the call was made.
const SHALLOW_BYTES: usize = 4 << 10;

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
        return parse_here(job, old);
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(DEEP_STACK_BYTES);
        let parsing = builder.spawn_scoped(scope, || parse_here(job, old)).ok()?;
        parsing.join().ok()?
    })
}

fn parse_here(job: &Job<'_>, old: Option<&Tree>) -> Option<Tree> {
    let mut parser = Parser::new();
    parser.set_language(&job.grammar.into()).ok()?;
    parser.set_included_ranges(&job.ranges).ok()?;
    let (mut reports, mut lost) = (0, 0);
    let mut watch = |state: &tree_sitter::ParseState| {
        reports += 1;
        lost += u32::from(state.has_error());
        if reports > PROGRESS_LIMIT || lost > LOST_LIMIT {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let options = tree_sitter::ParseOptions::new().progress_callback(&mut watch);
    let mut read = |offset: usize, _: Point| job.text.get(offset..).unwrap_or_default();
    parser.parse_with_options(&mut read, old, Some(options))
}

/// What turned one text into another, as one edit: all between what they begin and end with.
pub(crate) fn edit_between(old: &[u8], new: &[u8]) -> InputEdit {
    let shorter = old.len().min(new.len());
    let start = (0..shorter).find(|&at| old[at] != new[at]).unwrap_or(shorter);
    let tail = shorter - start;
    let same = |&at: &usize| old[old.len() - 1 - at] != new[new.len() - 1 - at];
    let kept = (0..tail).find(same).unwrap_or(tail);
    let (old_end, new_end) = (old.len() - kept, new.len() - kept);
    InputEdit {
        start_byte: start,
        old_end_byte: old_end,
        new_end_byte: new_end,
        start_position: point(old, start),
        old_end_position: point(old, old_end),
        new_end_position: point(new, new_end),
    }
}

/// Row and column of a byte, as the parser counts them.
pub(crate) fn point(text: &[u8], at: usize) -> Point {
    let before = &text[..at];
    let row = before.iter().filter(|&&byte| byte == b'\n').count();
    let line = before.iter().rposition(|&byte| byte == b'\n').map_or(0, |newline| newline + 1);
    Point { row, column: at - line }
}
