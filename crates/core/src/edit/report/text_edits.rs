//! Converts a plan to text edits as defined by the Language Server Protocol.

use crate::edit::outcome::{TextEdit, TextPosition, TextRange};
use crate::edit::plan::Plan;
use hashline_disk::bytes::Document;

/// The edits that a plan makes to a text in UTF-8, in the order of the text. Positions count in the
/// whole text, of which a byte order mark is the first character.
pub fn text_edits(document: &Document, plan: &Plan) -> Vec<TextEdit> {
    let mut cursor = Cursor::default();
    let (raw, bom_bytes) = (document.raw(), document.bom_bytes());
    let edit = |region: &crate::edit::plan::Region| {
        let start = cursor.advance(raw, bom_bytes + region.start);
        let end = cursor.advance(raw, bom_bytes + region.end);
        let new_text = [region.lead.as_slice(), region.bytes.as_slice()].concat();
        let new_text = String::from_utf8_lossy(&new_text).into_owned();
        TextEdit { range: TextRange { start, end }, new_text }
    };
    plan.regions.iter().map(edit).collect()
}

/// A position in a text that only moves forward.
#[derive(Default)]
struct Cursor {
    at_bytes: usize,
    position: TextPosition,
}

impl Cursor {
    /// Moves to an offset, which is the start of a character.
    fn advance(&mut self, text: &[u8], to_bytes: usize) -> TextPosition {
        let passed = &text[self.at_bytes..to_bytes];
        for (offset, &byte) in passed.iter().enumerate() {
            let at = self.at_bytes + offset;
            match byte {
                // The protocol has three ends of lines. A `\r` before a `\n` is part of one.
                b'\r' if text.get(at + 1) == Some(&b'\n') => self.position.character += 1,
                b'\n' | b'\r' => {
                    self.position = TextPosition { line: self.position.line + 1, character: 0 };
                }
                // The first byte of a character says whether it takes two code units.
                0xF0.. => self.position.character += 2,
                0x80..0xC0 => {}
                _ => self.position.character += 1,
            }
        }
        self.at_bytes = to_bytes;
        self.position
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_code_units_and_all_ends_of_lines() {
        let text = "\u{feff}aé😀x\r\nb\rc\n";
        let position = |to_bytes| {
            let TextPosition { line, character } =
                Cursor::default().advance(text.as_bytes(), to_bytes);
            (line, character)
        };
        let at = |part: &str| text.find(part).unwrap();
        assert_eq!(position(0), (0, 0));
        assert_eq!(position(at("a")), (0, 1));
        assert_eq!(position(at("😀")), (0, 3));
        assert_eq!(position(at("x")), (0, 5));
        assert_eq!(position(at("b")), (1, 0));
        assert_eq!(position(at("c")), (2, 0));
        assert_eq!(position(text.len()), (3, 0));
    }
}
