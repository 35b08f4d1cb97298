//! The new content of a file (`add_file` with `replace`) → edits of the lines that differ. Thus the
//! lines that it keeps stay known to a session, and the diff shows only what changes.

use std::borrow::Cow;
use std::ops::Range;

use imara_diff::{Algorithm, Diff, InternedInput};

use crate::edit::plan::{Edit, NewLines, PlanText, TextEdits};
use crate::edit::request::Operation;
use hashline_base::error::Result;
use hashline_lines::lines::{LineIndex, Terminator};
use hashline_memory::LineSet;

/// If both contents have more lines, they are not compared: all lines between the first and the
/// last difference are replaced.
const COMPARED_LINES: usize = 50_000;

/// The byte order mark as a character.
const BYTE_ORDER_MARK: char = '\u{feff}';

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

/// A run of lines that differ, by their indexes in the contents.
struct Difference {
    before: Range<usize>,
    after: Range<usize>,
}

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
    let differences = differences(&old, &new);
    let mut replaced = ReplacedFile::default();
    let keeps_end = is_terminated(&old) == is_terminated(&new);
    let mut text_edits = TextEdits::of(subject);
    for Difference { before, after } in differences {
        if !before.is_empty() {
            replaced.removed.extend(&LineSet::of(before.start as u64 + 1, before.end as u64));
        }
        let is_end = after.end == new.len() && before.end == old.len();
        let tokens = &new[after];
        replaced.edits.push(if operation.verbatim || is_end && !keeps_end {
            let range = bytes_of(subject.index, subject.document.body(), &before);
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
    let token = |span: hashline_lines::lines::Span| -> Token<'t> {
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

fn differences(old: &[Token<'_>], new: &[Token<'_>]) -> Vec<Difference> {
    let same_start = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let (old_rest, new_rest) = (&old[same_start..], &new[same_start..]);
    let same_end =
        old_rest.iter().rev().zip(new_rest.iter().rev()).take_while(|(old, new)| old == new);
    let same_end = same_end.count();
    let (old_rest, new_rest) =
        (&old_rest[..old_rest.len() - same_end], &new_rest[..new_rest.len() - same_end]);
    let within = |range: Range<usize>| range.start + same_start..range.end + same_start;
    if old_rest.is_empty() && new_rest.is_empty() {
        return Vec::new();
    }
    if old_rest.len().min(new_rest.len()) > COMPARED_LINES {
        let (before, after) = (within(0..old_rest.len()), within(0..new_rest.len()));
        return vec![Difference { before, after }];
    }
    let mut input = InternedInput::<&[u8]>::default();
    input.update_before(old_rest.iter().map(|token| &**token));
    input.update_after(new_rest.iter().map(|token| &**token));
    let diff = Diff::compute(Algorithm::Histogram, &input);
    let range = |range: Range<u32>| within(range.start as usize..range.end as usize);
    diff.hunks()
        .map(|hunk| Difference { before: range(hunk.before), after: range(hunk.after) })
        .collect()
}

/// The edit of whole lines. It keeps the terminators of the file.
fn line_edit<'o>(operation: &'o Operation, before: &Range<usize>, new: &[Token<'_>]) -> Edit<'o> {
    let line = |token: &Token<'_>| {
        String::from_utf8_lossy(token.strip_suffix(b"\n").unwrap_or(token)).into_owned()
    };
    let lines: Cow<'o, [String]> = new.iter().map(line).collect();
    let (gap, last) = (before.start as u64, before.end as u64);
    match before.is_empty() {
        true => Edit::Insert { operation, gap, lines: NewLines::Text(lines) },
        false => Edit::Replace { operation, first: gap + 1, last, lines },
    }
}

/// The bytes of old lines in the body; for no lines, the place between two of them.
fn bytes_of(index: &LineIndex, body: &[u8], lines: &Range<usize>) -> Range<usize> {
    let start_of =
        |line: usize| index.span(body, line as u64 + 1).map_or(body.len(), |span| span.start);
    start_of(lines.start)..start_of(lines.end)
}

/// New lines as one text, with the terminator of the lines that they replace, or with their own if
/// the operation is verbatim.
fn text_of(
    subject: &PlanText<'_>,
    operation: &Operation,
    before: &Range<usize>,
    tokens: &[Token<'_>],
) -> String {
    let text = tokens.concat();
    let text = String::from_utf8_lossy(&text);
    match subject.terminator(before.start as u64 + 1) {
        Terminator::CrLf if !operation.verbatim => text.replace('\n', "\r\n"),
        _ => text.into_owned(),
    }
}
