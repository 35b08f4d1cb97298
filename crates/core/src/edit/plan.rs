//! Operations on one file → sorted, disjoint regions of it, each with its new bytes.
//!
//! The input edits have known line numbers and offsets. Planning decides which operations overlap,
//! the order of inserts in the same gap, the terminators of new lines, and which edits change
//! nothing.

mod mark;
pub mod names;
mod region;
mod text;

use std::borrow::Cow;

use crate::edit::request::Operation;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Mention, Result};
use hashline_disk::bytes::Document;
use hashline_lines::lines::{LineIndex, Terminator};

pub use mark::BYTE_ORDER_MARK;
pub use region::{Plan, Region};
pub use text::{TextEdits, find_matches};

/// One change of a file.
#[derive(Clone, Debug)]
pub enum Edit<'o> {
    /// Replaces the lines from `first` to `last`; without new lines it deletes them.
    Replace {
        /// The operation.
        operation: &'o Operation,
        /// The first line.
        first: u64,
        /// The last line.
        last: u64,
        /// The new lines.
        lines: Cow<'o, [String]>,
    },
    /// Inserts lines after line `gap`; 0 is the start of the file.
    Insert {
        /// The operation.
        operation: &'o Operation,
        /// The line before the gap.
        gap: u64,
        /// The new lines.
        lines: NewLines<'o>,
    },
    /// Replaces a text that was found in the file.
    Text {
        /// The operation.
        operation: &'o Operation,
        /// The span and its replacement.
        matched: TextMatch,
    },
}

/// Lines to insert, without terminators.
#[derive(Clone, Debug)]
pub enum NewLines<'o> {
    /// Text that a model wrote.
    Text(Cow<'o, [String]>),
    /// Lines of this or another file, in the encoding of this one.
    Bytes(Vec<Vec<u8>>),
}

/// A span of the file's bytes and its replacement.
#[derive(Clone, Debug)]
pub struct TextMatch {
    /// The first byte, counted after the byte order mark.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// The new bytes.
    pub replacement: Vec<u8>,
    /// The first line that it touches.
    pub first: u64,
    /// The last line that it touches, including a line that it joins to the previous one.
    pub last: u64,
    /// Whether it starts at the start of a line.
    pub starts_line: bool,
    /// Whether it ends after a terminator.
    pub takes_terminator: bool,
}

impl<'o> Edit<'o> {
    /// The operation.
    pub fn operation(&self) -> &'o Operation {
        match self {
            Edit::Replace { operation, .. }
            | Edit::Insert { operation, .. }
            | Edit::Text { operation, .. } => operation,
        }
    }

    /// The line after which it inserts lines.
    pub fn gap(&self) -> Option<u64> {
        match self {
            Edit::Insert { gap, .. } => Some(*gap),
            Edit::Replace { .. } | Edit::Text { .. } => None,
        }
    }

    /// The lines that it touches.
    fn touched(&self) -> Option<(u64, u64)> {
        match self {
            Edit::Replace { first, last, .. } => Some((*first, *last)),
            Edit::Text { matched, .. } => Some((matched.first, matched.last)),
            Edit::Insert { .. } => None,
        }
    }

    /// The sort key: inserts in a gap come before edits of the line after it, in the order of the
    /// request.
    fn position(&self) -> (u64, u8, usize, usize) {
        match self {
            Edit::Insert { gap, operation, .. } => (*gap, 0, operation.index, 0),
            Edit::Replace { first, operation, .. } => (first - 1, 1, operation.index, 0),
            Edit::Text { matched, .. } => (matched.first - 1, 1, 0, matched.start),
        }
    }
}

/// A file's bytes and lines, in its own encoding.
pub struct PlanText<'a> {
    /// The file.
    pub document: &'a Document,
    /// The lines of its body.
    pub index: &'a LineIndex,
    /// Checked between steps.
    pub cancel: &'a Cancel,
}

/// The number of edits between two checks for cancellation.
const EDITS_AT_ONCE: usize = 1 << 10;

impl PlanText<'_> {
    /// Checks for cancellation, once for many edits.
    fn check(&self, edit: usize) -> Result<()> {
        if edit.is_multiple_of(EDITS_AT_ONCE) { self.cancel.check() } else { Ok(()) }
    }

    fn body(&self) -> &[u8] {
        self.document.body()
    }

    /// The terminator of line `number`. Line 0 and an unterminated last line take that of a
    /// neighbour; `\n` in a file without terminators.
    pub fn terminator(&self, number: u64) -> Terminator {
        let own = |number: u64| {
            let span = self.index.span(self.body(), number)?;
            Some(span.terminator(self.index.unit())).filter(|&found| found != Terminator::None)
        };
        own(number.max(1)).or_else(|| own(number.saturating_sub(1))).unwrap_or(Terminator::Lf)
    }

    /// The terminator of line `number` in the encoding of the file.
    pub fn encoded_terminator(&self, number: u64) -> Vec<u8> {
        let mut bytes = Vec::new();
        let encoded =
            self.document.charset().encode_into(self.terminator(number).as_str(), &mut bytes);
        encoded.expect("every encoding has newline and carriage return");
        bytes
    }

    /// Whether the last line has no terminator.
    pub fn has_open_end(&self) -> bool {
        let last = self.index.span(self.body(), self.index.count());
        last.is_some_and(|span| span.terminator(self.index.unit()) == Terminator::None)
    }

    /// Encodes a text in the encoding of the file.
    fn encode(&self, operation: &Operation, text: &str) -> Result<Vec<u8>> {
        let mut out = Vec::new();
        self.encode_into(operation, text, &mut out).map(|()| out)
    }

    /// Appends a text in the encoding of the file.
    fn encode_into(&self, operation: &Operation, text: &str, out: &mut Vec<u8>) -> Result<()> {
        let charset = self.document.charset();
        charset.encode_into(text, out).map_err(|character| {
            Error::new(
                Code::UnencodableText,
                Mention::Operation(operation.index) + format!(
                    ": the character {character:?} (U+{:04X}) does not exist in the file's encoding, {}{}",
                    character as u32,
                    charset.name(),
                    if self.document.is_guessed() { CONVERT } else { "" }
                ),
            )
        })
    }
}

/// How text that the encoding of a file lacks can be written.
const CONVERT: &str = ": write it with other characters, or make the file UTF-8 (`delete_file` and `add_file` of its whole content in one patch)";

/// A conflict between two operations.
#[derive(Clone, Debug)]
pub struct Conflict {
    /// The operation that is reported: the later one in the request.
    pub operation: usize,
    /// The reason.
    pub error: Error,
}

/// Sorts the edits of one file and builds the new bytes of every region.
pub fn plan(
    subject: &PlanText<'_>,
    mut edits: Vec<Edit<'_>>,
) -> std::result::Result<Plan, Vec<Conflict>> {
    let stopped = |error| vec![Conflict { operation: 0, error }];
    subject.cancel.check().map_err(stopped)?;
    edits.sort_by_key(Edit::position);
    subject.cancel.check().map_err(stopped)?;
    let dropped_bom = mark::drop_bom(subject, &mut edits);
    let matches = edits.iter_mut().filter_map(|edit| match edit {
        Edit::Text { matched, .. } => Some(matched),
        _ => None,
    });
    text::touch_joined_lines(subject.index.unit(), &mut matches.collect::<Vec<_>>());
    let conflicts = conflicts(&edits);
    if !conflicts.is_empty() {
        return Err(conflicts);
    }
    let plan = region::build(subject, &edits).map_err(|conflict| vec![conflict])?;
    Ok(Plan { dropped_bom, ..plan })
}

/// All overlaps between neighbours. `edits` is sorted by position.
fn conflicts(edits: &[Edit<'_>]) -> Vec<Conflict> {
    let mut conflicts = Vec::new();
    // The edit with the largest last line so far.
    let mut reach: Option<(&Edit<'_>, u64)> = None;
    for edit in edits {
        let (first, last) = edit.touched().unwrap_or_else(|| inserted_between(edit));
        if let Some((above, bottom)) = reach
            && first <= bottom
            && let Some(error) = overlap(above, edit)
        {
            let (one, other) = (above.operation().index, edit.operation().index);
            conflicts.push(Conflict { operation: one.max(other), error });
        }
        if edit.touched().is_some() && reach.is_none_or(|(_, bottom)| last >= bottom) {
            reach = Some((edit, last));
        }
    }
    conflicts
}

/// The line after an insert. The insert is inside a range that has this line and the one before it.
fn inserted_between(edit: &Edit<'_>) -> (u64, u64) {
    match edit {
        Edit::Insert { gap, .. } => (gap + 1, gap + 1),
        _ => unreachable!("the other edits touch lines"),
    }
}

/// The error for two edits that touch the same line, if they cannot be combined.
fn overlap(above: &Edit<'_>, edit: &Edit<'_>) -> Option<Error> {
    let (one, other) = (above.operation().index, edit.operation().index);
    let what = match (above, edit) {
        (Edit::Text { matched: one, .. }, Edit::Text { matched: other, .. }) => {
            if one.end <= other.start {
                return None;
            }
            format!("replace overlapping texts on line {}", other.first)
        }
        (_, Edit::Insert { gap, .. }) => {
            let (first, _) = above.touched()?;
            if *gap < first {
                return None;
            }
            format!("meet: one inserts after line {gap}, inside the lines that the other replaces")
        }
        _ => format!("both touch line {}", edit.touched()?.0),
    };
    let names = if one == other {
        Mention::Operation(one) + " meets itself: its parts"
    } else {
        Mention::Operations(one.min(other), one.max(other)).into()
    };
    Some(Error::new(
        Code::OverlappingEdits,
        names + format!(" {what}; combine them into ") + Mention::OneOperation,
    ))
}

#[cfg(test)]
mod tests;
