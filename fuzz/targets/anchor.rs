//! Parses any text as an anchor and as a range, in every dialect: no panics. A parsed anchor survives
//! a round trip through its short form. A line that the engine prints is a valid anchor of that line,
//! and its hint matches.

#![no_main]

use hashline_lines::anchor::Anchor;
use hashline_lines::dialect::{DIALECTS, Dialect};
use hashline_lines::hash::hash_line;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for dialect in &DIALECTS {
        if let Ok(anchor) = Anchor::parse(dialect, text) {
            reads_back(dialect, &anchor);
        }
        if let Ok((first, last)) = Anchor::parse_range(dialect, text) {
            reads_back(dialect, &first);
            reads_back(dialect, &last);
            let short = format!("{}-{}", first.text(dialect), last.text(dialect));
            let (again, end) = Anchor::parse_range(dialect, &short).expect(&short);
            assert_eq!((again.line, again.hash), (first.line, first.hash), "{short}");
            assert_eq!((end.line, end.hash), (last.line, last.hash), "{short}");
        }
        // In a dialect without hashes only patches name lines.
        if dialect.has_hashes() {
            printed_lines_are_anchors(dialect, text);
        }
    }
});

fn reads_back(dialect: &Dialect, anchor: &Anchor) {
    let is_hash = anchor.hash < dialect.modulus() || anchor.is_bare(dialect);
    assert!(anchor.line > 0 && is_hash);
    let short = anchor.text(dialect);
    let again = Anchor::parse(dialect, &short).expect(&short);
    assert_eq!((again.line, again.hash), (anchor.line, anchor.hash), "{short}");
    assert!(again.hint.is_none(), "{short}");
}

fn printed_lines_are_anchors(dialect: &'static Dialect, text: &str) {
    for (at, line) in text.split('\n').enumerate() {
        let number = at as u32 + 1;
        let hash = hash_line(dialect, u64::from(number), line);
        let short = dialect.anchor_text(u64::from(number), hash);
        for mark in ["", "+", "-", ">>> "] {
            let row = format!("{mark}{short}{}{line}", dialect.text_mark as char);
            let anchor = Anchor::parse(dialect, &row).expect(&row);
            assert_eq!((anchor.line, anchor.hash), (number, hash), "{row}");
            if let Some(hint) = anchor.hint {
                assert!(hint.agrees(dialect, line.as_bytes()), "{row}");
            }
        }
    }
}
