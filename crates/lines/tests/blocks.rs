//! Hashing many lines at a time, compared with hashing single lines: on each level that the
//! processor supports, in every dialect.
//!
//! Texts end where their memory ends, so that AddressSanitizer reports a read past the end.

use hashline_lines::dialect::{DIALECTS, Dialect};
use hashline_lines::hash::{BlockHasher, LineHasher, with_block_hasher};
use hashline_lines::lines::{Lines, Unit};
use hashline_lines::rows::format_hashed;
use hashline_lines::rows::render_line;
use hashline_lines::simd::Level;
use proptest::prelude::*;
use proptest::test_runner::FileFailurePersistence;

/// Characters that some dialect changes, similar ones, and line terminators.
const AWKWARD: [&str; 44] = [
    "\n", "\r\n", "\r", "\t", "\u{b}", "\u{c}", " ", "    ", "\0", "\u{1f}", "!", "\u{7f}",
    "\u{80}", "\u{85}", "\u{a0}", "é", "\u{1680}", "\u{1681}", "\u{180e}", "\u{1fff}", "\u{2000}",
    "\u{200a}", "\u{200b}", "\u{2010}", "\u{2015}", "\u{2018}", "\u{201f}", "\u{2026}", "\u{2028}",
    "\u{2029}", "\u{202f}", "\u{2030}", "\u{205f}", "\u{2060}", "\u{2212}", "\u{2213}", "\u{3000}",
    "\u{3001}", "\u{feff}", "\u{fefe}", "\u{fffd}", "变", "Ж", "🎉",
];

/// Checks all dialects and levels on one text.
fn check(text: &[u8]) {
    let text: Box<[u8]> = text.into();
    check_in_place(&text);
}

/// Checks all dialects and levels on a text after which no byte may be read.
fn check_in_place(text: &[u8]) {
    for dialect in &DIALECTS {
        let mut single = LineHasher::new(dialect);
        let lines = (7..).zip(Lines::new(text, Unit::Byte));
        let expected: Vec<(u32, usize)> =
            lines.map(|(number, span)| (single.hash(number, span.text(text)), span.end)).collect();
        for level in Level::available() {
            let found = hashed(BlockHasher::with_level(dialect, level), text);
            let differs = found.iter().zip(&expected).position(|(one, other)| one != other);
            let name = (dialect.name, level.name());
            assert_eq!(differs, None, "{name:?}: the first line that differs, of {text:x?}");
            assert_eq!(found.len(), expected.len(), "{name:?}: lines of {text:x?}");
        }
    }
}

/// The hash and the end of each line; the first line has number 7.
fn hashed(mut hasher: BlockHasher, text: &[u8]) -> Vec<(u32, usize)> {
    let mut found = Vec::new();
    let mut start = 0;
    while start < text.len() {
        let block = hasher.hash_block(7 + found.len() as u64, &text[start..]);
        let ends = block.ends().map(|end| start + end);
        let len_bytes = block.len_bytes();
        found.extend(block.hashes.iter().copied().zip(ends));
        start += len_bytes;
    }
    found
}

/// Texts at the end of a page, after which no byte is readable. This detects what AddressSanitizer
/// does, on levels that it does not support.
#[test]
#[cfg(unix)]
fn nothing_is_read_after_a_text() {
    let mut page = GuardedPage::new();
    for line in ["word; ", "}\n", "a\u{2019} \u{3000}\n", "\r\n  x", "a longer line of text, 1\n"] {
        let text = line.repeat(2000);
        for len in (0..400).chain(3000..3070).filter(|&len| text.is_char_boundary(len)) {
            check_in_place(page.end_with(&text.as_bytes()[..len]));
        }
    }
}

/// A readable page, followed by an inaccessible one.
#[cfg(unix)]
struct GuardedPage {
    start: *mut u8,
    page_bytes: usize,
}

#[cfg(unix)]
impl GuardedPage {
    fn new() -> GuardedPage {
        // SAFETY: The system picks an unused range of two pages for the map, and the second one, to
        // which nothing refers, loses its access rights.
        unsafe {
            let page_bytes = libc::sysconf(libc::_SC_PAGESIZE) as usize;
            let rights = libc::PROT_READ | libc::PROT_WRITE;
            let kind = libc::MAP_PRIVATE | libc::MAP_ANON;
            let null = std::ptr::null_mut();
            let start = libc::mmap(null, 2 * page_bytes, rights, kind, -1, 0);
            assert_ne!(start, libc::MAP_FAILED, "{}", std::io::Error::last_os_error());
            let start = start.cast::<u8>();
            let guard = start.add(page_bytes).cast();
            assert_eq!(libc::mprotect(guard, page_bytes, libc::PROT_NONE), 0);
            GuardedPage { start, page_bytes }
        }
    }

    /// A copy of `text` whose last byte is the last one of the page.
    fn end_with(&mut self, text: &[u8]) -> &[u8] {
        assert!(text.len() <= self.page_bytes);
        // SAFETY: All of it is within the first page, which is readable and writable, and which is
        // borrowed as long as the copy.
        unsafe {
            let copy = self.start.add(self.page_bytes - text.len());
            std::ptr::copy_nonoverlapping(text.as_ptr(), copy, text.len());
            std::slice::from_raw_parts(copy, text.len())
        }
    }
}

#[cfg(unix)]
impl Drop for GuardedPage {
    fn drop(&mut self) {
        // SAFETY: Both pages belong to this value, and nothing borrows it.
        unsafe { libc::munmap(self.start.cast(), 2 * self.page_bytes) };
    }
}

#[test]
fn no_lines() {
    check(b"");
    let mut hasher = BlockHasher::new(Dialect::default_dialect());
    assert_eq!(hasher.hash_block(1, b"").len_bytes(), 0);
}

#[test]
fn lines_of_every_length() {
    let mut all = Vec::new();
    for len in 0..200 {
        let line: Vec<u8> = (0..len).map(|at| b'!' + (at * 7 + len) as u8 % 90).collect();
        check(&line);
        check(&[&line[..], b"\n"].concat());
        check(&[b"a b\r\n", &line[..], b" \r\n", &line[..], b"\n\n"].concat());
        all.extend_from_slice(&line);
        all.push(b'\n');
    }
    check(&all);
}

#[test]
fn lines_around_the_limits_of_pieces() {
    for limit in [160, 4096, 16 * 1024, 64 * 1024, 128 * 1024] {
        for len in limit - 3..=limit + 3 {
            let line = "x \u{2026}é".repeat(len / 7 + 1).into_bytes();
            for piece in [&line[..len], &vec![b'y'; len], &vec![b' '; len], &vec![b'\n'; len]] {
                check(piece);
                check(&[b"before\n", piece, b"\nafter"].concat());
            }
        }
    }
}

/// A character at every offset of a block, and across its end.
#[test]
fn awkward_characters_at_every_offset() {
    for awkward in AWKWARD {
        for before in 0..70 {
            let text = format!("{}{awkward}b c{awkward}\nd{awkward}", "a".repeat(before));
            check(text.as_bytes());
        }
    }
}

#[test]
fn every_character_of_the_basic_plane() {
    let text: String =
        ('\u{1}'..='\u{ffff}').flat_map(|character| ['a', character, '\n']).collect();
    check(text.as_bytes());
}

#[test]
fn truncated_or_invalid_sequences() {
    for whole in ["\u{85}", "\u{a0}", "\u{2003}", "\u{2019}", "\u{feff}", "\u{3000}", "🎉"] {
        for len in 0..=whole.len() {
            for before in [0, 1, 60, 61, 62, 63, 64] {
                let cut = &whole.as_bytes()[..len];
                check(&[&vec![b'a'; before][..], cut].concat());
                check(&[&vec![b'a'; before][..], cut, b"\n", cut, b" b"].concat());
                check(&[&vec![b'a'; before][..], b"\xF0", cut, whole.as_bytes()].concat());
            }
        }
    }
}

/// A reused hasher must not carry anything over to the next text, as it once did with the seeds of
/// `omp13`.
#[test]
fn reused_hashers_forget_the_last_dialect() {
    let text = "}\n a\n".repeat(300);
    for dialect in DIALECTS.iter().chain(DIALECTS.iter().rev()) {
        let found = with_block_hasher(dialect, |hasher| {
            hasher.hash_block(1, text.as_bytes()).hashes.to_vec()
        });
        let mut single = LineHasher::new(dialect);
        let lines = (1..).zip(text.lines());
        let expected: Vec<u32> =
            lines.map(|(number, line)| single.hash(number, line.as_bytes())).collect();
        assert_eq!(found, expected, "{}", dialect.name);
    }
}

/// Lines of the given parts, most of them short, some long.
fn text_of(part: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    proptest::collection::vec(part, 0..400).prop_map(|parts| parts.concat())
}

proptest! {
    // Texts that failed before are stored next to this file and tried first.
    #![proptest_config(ProptestConfig {
        failure_persistence: Some(Box::new(FileFailurePersistence::WithSource("regressions"))),
        ..ProptestConfig::default()
    })]

    #[test]
    fn awkward_texts(text in text_of(prop_oneof![
        proptest::sample::select(AWKWARD.to_vec()).prop_map(|part| part.as_bytes().to_vec()),
        "[a-z(){};=.]{1,12}".prop_map(String::into_bytes),
        any::<char>().prop_map(|character| character.to_string().into_bytes()),
    ])) {
        check(&text);
    }

    #[test]
    fn any_bytes(text in text_of(prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..20),
        proptest::collection::vec(0xC2..=0xF4u8, 1..3),
        Just(b"\n".to_vec()),
    ])) {
        check(&text);
    }

    /// Source-like text: indented lines of very different lengths.
    #[test]
    fn texts_like_sources(lines in proptest::collection::vec((0..12usize, 0..300usize), 0..300)) {
        let text: Vec<String> = lines
            .iter()
            .map(|&(indent, len)| format!("{}{}", "  ".repeat(indent), "word; ".repeat(len / 6)))
            .collect();
        check(text.join("\n").as_bytes());
    }

    /// Lines that are hashed in place; many have no letter or digit.
    #[test]
    fn texts_without_carriage_returns(
        parts in proptest::collection::vec(prop_oneof![
            3 => "(\n|\\}\n|  \\}\\);\n|\n\n| \n|\t\u{3000}\n)",
            2 => "[a-z(){};=.]{1,12}",
            1 => "(é|变|—|٣|\u{a0}|\u{feff}|    )",
        ], 0..300),
        is_ascii in any::<bool>(),
    ) {
        let text: String =
            parts.into_iter().filter(|part| !is_ascii || part.is_ascii()).collect();
        check(text.as_bytes());
    }

    /// Rendering by blocks, compared with rendering line by line.
    #[test]
    fn rendered_texts(
        text in text_of(prop_oneof![
            proptest::sample::select(vec!["\n", "\r\n", "\r", "\n\n", " "]),
            proptest::sample::select(vec!["a", "é", "word; ", "0123456789abcdef", "    "]),
        ].prop_map(|part| part.as_bytes().to_vec())),
        long in 0..200usize,
        first in prop_oneof![Just(1u64), 1..2000u64, Just(99_999_990)],
    ) {
        let text = [&vec![b'z'; long], &text[..]].concat();
        for dialect in &DIALECTS {
            let rendered = format_hashed(dialect, &text, first);
            let expected = formatted_line_by_line(dialect, &text, first);
            prop_assert_eq!(
                String::from_utf8_lossy(&rendered), String::from_utf8_lossy(&expected),
                "{}", dialect.name
            );
        }
    }
}

fn formatted_line_by_line(dialect: &'static Dialect, text: &[u8], first: u64) -> Vec<u8> {
    use hashline_lines::dialect::MemoryLines;
    let lines: Vec<&[u8]> = match dialect.memory_lines {
        MemoryLines::Split => text.split(|&byte| byte == b'\n').collect(),
        MemoryLines::Terminated => {
            Lines::new(text, Unit::Byte).map(|span| span.text(text)).collect()
        }
    };
    let mut hasher = LineHasher::new(dialect);
    let mut out = Vec::new();
    for (number, line) in (first..).zip(lines) {
        if number > first {
            out.push(b'\n');
        }
        render_line(dialect, number, hasher.hash(number, line), line, &mut out);
    }
    out
}
