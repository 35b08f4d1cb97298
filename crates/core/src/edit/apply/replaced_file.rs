//! The new content of a file (`add_file` with `replace`) → edits of the lines that differ. Thus the
//! lines that it keeps stay known to a session, and the diff shows only what changes.

use std::borrow::Cow;
use std::ops::Range;

use crate::edit::line_diff::{Hunk, hunks_of};
use crate::edit::plan::{BYTE_ORDER_MARK, Edit, NewLines, PlanText, TextEdits};
use crate::edit::request::Operation;
use hashline_base::error::Result;
use hashline_lines::lines::{Span, Terminator};
use hashline_memory::LineSet;

/// The edits that give a file a new content.
#[derive(Default)]
pub(super) struct ReplacedFile<'o> {
    pub(super) edits: Vec<Edit<'o>>,
    /// The old lines that are not kept.
    pub(super) removed: LineSet,
}

/// A line as it is compared: its text, and its terminator. The terminator is `\n` unless the
/// operation is verbatim, because new lines get that of the file.
type Token<'t> = Cow<'t, [u8]>;

/// The edits for a new content. Its lines get the terminators of the file, unless the operation is
/// verbatim.
pub(super) fn replaced_file<'o>(
    subject: &PlanText<'_>,
    operation: &'o Operation,
    content: &str,
) -> Result<ReplacedFile<'o>> {
    let has_mark = subject.document.bom_bytes() > 0;
    let content = content.strip_prefix(BYTE_ORDER_MARK).filter(|_| has_mark).unwrap_or(content);
    let old = old_tokens(subject, operation.verbatim);
    let new = new_tokens(content, operation.verbatim);
    let mut replaced = ReplacedFile::default();
    let keeps_end = is_terminated(&old) == is_terminated(&new);
    let mut text_edits = TextEdits::of(subject);
    for Hunk { before, after } in hunks_of(&old, &new) {
        if !before.is_empty() {
            replaced.removed.extend(&LineSet::of(before.start + 1, before.end));
        }
        let is_end = after.end == new.len() as u64 && before.end == old.len() as u64;
        let tokens = &new[after.start as usize..after.end as usize];
        replaced.edits.push(if operation.verbatim || is_end && !keeps_end {
            let range = subject.index.bytes_of(subject.document.body(), &before);
            text_edits.edit(operation, range, &text_of(subject, operation, &before, tokens))?
        } else {
            line_edit(operation, &before, tokens)
        });
    }
    Ok(replaced)
}

fn old_tokens<'t>(subject: &'t PlanText<'_>, is_verbatim: bool) -> Vec<Token<'t>> {
    let (body, unit, charset) =
        (subject.document.body(), subject.index.unit(), subject.document.charset());
    let is_plain = subject.document.is_plain();
    let spans = subject.index.from_line(body, 1).into_iter().flatten();
    let token = |span: Span| -> Token<'t> {
        let terminator = span.terminator(unit);
        if is_plain && (is_verbatim || terminator != Terminator::CrLf) {
            return Cow::Borrowed(&body[span.start..span.end]);
        }
        let mut text = charset.decode(span.text(body)).text.into_owned();
        text.extend(terminator_bytes(terminator, is_verbatim));
        Cow::Owned(text)
    };
    spans.map(token).collect()
}

fn terminator_bytes(terminator: Terminator, is_verbatim: bool) -> &'static [u8] {
    match terminator {
        Terminator::None => b"",
        terminator if is_verbatim => terminator.as_str().as_bytes(),
        _ => b"\n",
    }
}

fn new_tokens<'t>(content: &'t str, is_verbatim: bool) -> Vec<Token<'t>> {
    let token = |line: &'t str| -> Token<'t> {
        match line.strip_suffix("\r\n").filter(|_| !is_verbatim) {
            Some(text) => Cow::Owned([text.as_bytes(), b"\n"].concat()),
            None => Cow::Borrowed(line.as_bytes()),
        }
    };
    content.split_inclusive('\n').map(token).collect()
}

/// Whether a content ends with a terminator. An empty one does, because the lines that are put into
/// it do.
fn is_terminated(tokens: &[Token<'_>]) -> bool {
    tokens.last().is_none_or(|last| last.ends_with(b"\n"))
}

/// The edit of whole lines. It keeps the terminators of the file.
fn line_edit<'o>(operation: &'o Operation, before: &Range<u64>, new: &[Token<'_>]) -> Edit<'o> {
    let line = |token: &Token<'_>| {
        String::from_utf8_lossy(token.strip_suffix(b"\n").unwrap_or(token)).into_owned()
    };
    let lines: Cow<'o, [String]> = new.iter().map(line).collect();
    let (gap, last) = (before.start, before.end);
    match before.is_empty() {
        true => Edit::Insert { operation, gap, lines: NewLines::Text(lines) },
        false => Edit::Replace { operation, first: gap + 1, last, lines },
    }
}

/// New lines as one text, with the terminator of the lines that they replace, or with their own if
/// the operation is verbatim.
fn text_of(
    subject: &PlanText<'_>,
    operation: &Operation,
    before: &Range<u64>,
    tokens: &[Token<'_>],
) -> String {
    let text = tokens.concat();
    let text = String::from_utf8_lossy(&text);
    match subject.terminator(before.start + 1) {
        Terminator::CrLf if !operation.verbatim => text.replace('\n', "\r\n"),
        _ => text.into_owned(),
    }
}
