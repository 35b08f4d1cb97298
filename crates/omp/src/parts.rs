//! Splits a text in oh-my-pi's language into headers and hunks, without checking them: the text may
//! still be arriving.

use std::ops::Range;

use crate::HunkGap;
use crate::hunk::HunkLines;
use crate::rows::{HunkHead, ScriptRow};
use hashline_lines::lines::{Lines, Unit};

/// A header or a hunk, with the rows below it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptPart<'t> {
    /// Its bytes, with all rows up to the next part.
    pub span: Range<usize>,
    /// What it begins with.
    pub head: PartHead<'t>,
}

/// The first row of a part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PartHead<'t> {
    /// `[path#TAG]`
    Header(&'t str),
    /// The head of a hunk.
    Hunk {
        /// `PUT`, `CUT`, `REM` or `MV`; empty for rows before the first head of a section.
        verb: &'t str,
        /// The lines that it names, or next to which it inserts.
        lines: Option<HunkLines>,
        /// Whether the rows below it are its new lines.
        has_body: bool,
    },
}

/// The headers and hunks of a text, up to its end mark.
pub fn script_parts(text: &str) -> Vec<ScriptPart<'_>> {
    let mut parts: Vec<ScriptPart<'_>> = Vec::new();
    for span in Lines::new(text.as_bytes(), Unit::Byte) {
        let row = text[span.start..span.end].trim_end_matches(['\n', '\r']);
        let head = match ScriptRow::of(row) {
            ScriptRow::End => break,
            ScriptRow::Blank | ScriptRow::Begin => None,
            ScriptRow::Header(path, _) => Some(PartHead::Header(path)),
            ScriptRow::Head(head) => Some(hunk(row, Some(&head))),
            ScriptRow::Wrong(_) => Some(hunk(row, None)),
            // Rows before the first head, which can be hunks without one.
            _ if matches!(parts.last(), Some(ScriptPart { head: PartHead::Header(_), .. })) => {
                Some(PartHead::Hunk { verb: "", lines: None, has_body: true })
            }
            _ => None,
        };
        match (head, parts.last_mut()) {
            (Some(head), _) => parts.push(ScriptPart { span: span.start..span.end, head }),
            (None, Some(part)) => part.span.end = span.end,
            (None, None) => {}
        }
    }
    parts
}

fn hunk<'t>(row: &'t str, head: Option<&HunkHead>) -> PartHead<'t> {
    let verb = row.split_whitespace().next().unwrap_or_default();
    let (lines, has_body) = match head {
        Some(HunkHead::PutLines(lines, register, _)) => (Some(*lines), register.is_none()),
        Some(HunkHead::PutGap(gap, _, colon)) => (next_to(*gap), *colon),
        Some(HunkHead::Cut(lines, ..)) => (Some(*lines), false),
        Some(HunkHead::Remove | HunkHead::Move(_)) => (None, false),
        None => (None, true),
    };
    PartHead::Hunk { verb, lines, has_body }
}

/// The lines next to a gap.
fn next_to(gap: HunkGap) -> Option<HunkLines> {
    match gap {
        HunkGap::Before(line) | HunkGap::After(line) => Some(HunkLines::Range(line, line)),
        HunkGap::AfterBlock(line) => Some(HunkLines::Block(line)),
        HunkGap::End => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_split_at_headers_and_heads() {
        let text = "*** Begin Patch\n[a.js#1A2B]\nPUT 2.=3:\n+x\nplain\nCUT 5*\n\n[b.js#0000]\n7:y\n*** End Patch\nPUT 1:";
        let parts: Vec<_> = script_parts(text)
            .into_iter()
            .map(|ScriptPart { span, head }| (&text[span], head))
            .collect();
        let hunk = |verb, lines, has_body| PartHead::Hunk { verb, lines, has_body };
        let expected = [
            ("[a.js#1A2B]\n", PartHead::Header("a.js")),
            ("PUT 2.=3:\n+x\nplain\n", hunk("PUT", Some(HunkLines::Range(2, 3)), true)),
            ("CUT 5*\n\n", hunk("CUT", Some(HunkLines::Block(5)), false)),
            ("[b.js#0000]\n", PartHead::Header("b.js")),
            ("7:y\n", hunk("", None, true)),
        ];
        assert_eq!(parts, expected);
        assert!(script_parts("no patch").is_empty());
    }
}
