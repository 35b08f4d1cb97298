//! U+FEFF at the start of a file, where it is a byte order mark and not part of line 1.

use super::{Edit, NewLines, PlanText};
use hashline_disk::bytes::Charset;

/// The byte order mark as a character.
pub const BYTE_ORDER_MARK: char = '\u{feff}';

/// Removes U+FEFF from the text that becomes the start of the file. Returns the index of the
/// operation with this text, if there was a mark. Edits of lines neither add nor remove a byte
/// order mark. `edits` are sorted by position.
pub(super) fn drop_bom(subject: &PlanText<'_>, edits: &mut [Edit<'_>]) -> Option<usize> {
    let (body, index) = (subject.body(), subject.index);
    let mark = subject.document.charset().encode(BYTE_ORDER_MARK.encode_utf8(&mut [0; 4])).ok()?;
    // In other encodings it is an ordinary character. A mark in line 1 itself is content of the
    // file.
    if Charset::sniff(&mark).is_none() || body.starts_with(&mark) {
        return None;
    }
    let span = |line: u64| index.span(body, line);
    let mut front = 0;
    for edit in edits {
        let (start, end) = match edit {
            Edit::Insert { gap, .. } => {
                let at = span(*gap).map_or(0, |above| above.end);
                (at, at)
            }
            Edit::Replace { first, last, .. } => (span(*first)?.start, span(*last)?.end),
            Edit::Text { matched, .. } => (matched.start, matched.end),
        };
        if start != front {
            return None;
        }
        if !is_deletion(edit) {
            return strip(edit, &mark).then(|| edit.operation().index);
        }
        front = end;
    }
    None
}

fn is_deletion(edit: &Edit<'_>) -> bool {
    match edit {
        Edit::Replace { lines, .. } => lines.is_empty(),
        Edit::Insert { .. } => false,
        Edit::Text { matched, .. } => matched.replacement.is_empty(),
    }
}

/// Removes all marks from the start of a new text; false if there is none.
fn strip(edit: &mut Edit<'_>, mark: &[u8]) -> bool {
    let bytes = match edit {
        Edit::Replace { lines, .. } | Edit::Insert { lines: NewLines::Text(lines), .. } => {
            let is_marked = lines.first().is_some_and(|line| line.starts_with(BYTE_ORDER_MARK));
            if is_marked {
                let line = &mut lines.to_mut()[0];
                *line = line.trim_start_matches(BYTE_ORDER_MARK).to_owned();
            }
            return is_marked;
        }
        Edit::Insert { lines: NewLines::Bytes(lines), .. } => lines.first_mut(),
        Edit::Text { matched, .. } => Some(&mut matched.replacement),
    };
    let Some(bytes) = bytes else { return false };
    let mut marks = 0;
    while bytes[marks..].starts_with(mark) {
        marks += mark.len();
    }
    bytes.drain(..marks);
    marks > 0
}
