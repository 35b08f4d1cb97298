//! The edit between two texts, in the form that the parser expects.

use tree_sitter::{InputEdit, Point};

use crate::rows::Rows;

/// The number of bytes compared at a time.
const BLOCK_BYTES: usize = 64;

/// A single edit: everything between the common start and the common end.
pub(crate) fn edit_between(old: (&[u8], &Rows), new: (&[u8], &Rows)) -> InputEdit {
    let ((old, old_rows), (new, new_rows)) = (old, new);
    let start = same_at_start(old, new);
    let kept = same_at_end(&old[start..], &new[start..]);
    let (old_end, new_end) = (old.len() - kept, new.len() - kept);
    InputEdit {
        start_byte: start,
        old_end_byte: old_end,
        new_end_byte: new_end,
        start_position: point(old_rows, start),
        old_end_position: point(old_rows, old_end),
        new_end_position: point(new_rows, new_end),
    }
}

/// The row and column of a byte as the parser counts them: a text that ends with `\n`
/// has one more row.
pub(crate) fn point(rows: &Rows, at: usize) -> Point {
    let row = rows.begun_until(at);
    Point { row, column: at - rows.start_of(row) }
}

fn same_at_start(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.chunks_exact(BLOCK_BYTES).zip(other.chunks_exact(BLOCK_BYTES));
    let from = BLOCK_BYTES * blocks.take_while(|(one, other)| one == other).count();
    let bytes = one[from..].iter().zip(&other[from..]);
    from + bytes.take_while(|(one, other)| one == other).count()
}

fn same_at_end(one: &[u8], other: &[u8]) -> usize {
    let blocks = one.rchunks_exact(BLOCK_BYTES).zip(other.rchunks_exact(BLOCK_BYTES));
    let until = BLOCK_BYTES * blocks.take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[..one.len() - until], &other[..other.len() - until]);
    let bytes = one.iter().rev().zip(other.iter().rev());
    until + bytes.take_while(|(one, other)| one == other).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn between(old: &str, new: &str) -> InputEdit {
        let rows = |text: &str| Rows::of(text.as_bytes());
        edit_between((old.as_bytes(), &rows(old)), (new.as_bytes(), &rows(new)))
    }

    #[test]
    fn an_edit_is_between_the_common_start_and_the_common_end() {
        let line = "0123456789\n".repeat(40);
        for (old, new, bytes, points) in [
            ("", "a\n", (0, 0, 2), [(0, 0), (0, 0), (1, 0)]),
            ("a\n", "", (0, 2, 0), [(0, 0), (1, 0), (0, 0)]),
            ("a\nb", "a\nbc", (3, 3, 4), [(1, 1), (1, 1), (1, 2)]),
            ("aa", "aaa", (2, 2, 3), [(0, 2), (0, 2), (0, 3)]),
            ("\na\n", "\n\na\n", (1, 1, 2), [(1, 0), (1, 0), (2, 0)]),
        ] {
            for (before, after) in [("", ""), (line.as_str(), ""), ("", line.as_str())] {
                let edit =
                    between(&format!("{before}{old}{after}"), &format!("{before}{new}{after}"));
                let (rows, at) = (before.matches('\n').count(), before.len());
                let (start, old_end, new_end) = bytes;
                let offsets = (edit.start_byte, edit.old_end_byte, edit.new_end_byte);
                assert_eq!(offsets, (at + start, at + old_end, at + new_end), "{old:?} {new:?}");
                let positions = [edit.start_position, edit.old_end_position, edit.new_end_position];
                let positions = positions.map(|point| (point.row - rows, point.column));
                assert_eq!(positions, points, "{old:?} {new:?}");
            }
        }
    }
}
