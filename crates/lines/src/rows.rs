//! Rendering: lines and hashes → one output string.

mod block;
mod buffer;
mod counter;

pub use block::{BlockRenderer, LINE_CAPACITY_BYTES};
pub use buffer::{buffer_with_capacity, recycle, recycled_buffer_bytes, zeroed_buffer};

use std::ops::Range;

use serde::Deserialize;

use crate::anchor::Edition;
use crate::dialect::{Dialect, MemoryLines};
use crate::hash::{HashedBlock, LineHasher, floor_boundary, with_block_hasher};
use crate::tag::Tag;
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;
use hashline_base::shape::LineNumber;

/// Options for formatting and hashing a string in memory.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct FormatOptions {
    dialect: Option<&'static Dialect>,
    start_line: Option<LineNumber>,
}

impl FormatOptions {
    /// The dialect of the anchors.
    pub fn dialect(self) -> &'static Dialect {
        self.dialect.unwrap_or_else(Dialect::default_dialect)
    }

    /// The number of the first line.
    pub fn start_line(self) -> u64 {
        self.start_line.map_or(1, LineNumber::get)
    }
}

/// The separator of groups of lines that are not contiguous.
pub const GAP: &str = "...";

/// The start of the mark at the end of a cut line, `… [+12345 bytes]`.
const CUT_MARK: &str = "… [+";
const CUT_MARK_END: &str = " bytes]";

/// The mark before a part that starts within its line, `[1000 bytes+] …`.
const LEFT_MARK: &str = "[";
const LEFT_MARK_END: &str = " bytes+] …";

/// Appends a line in the form of the dialect, without a newline.
pub fn render_line(dialect: &Dialect, line: u64, hash: u32, text: &[u8], out: &mut Vec<u8>) {
    render_anchor(dialect, line, hash, out);
    out.push(dialect.text_mark);
    out.extend_from_slice(text);
}

/// The number of bytes of a line that are shown with a limit.
pub fn cut_line_bytes(text: &[u8], limit_bytes: usize) -> usize {
    if text.len() <= limit_bytes {
        return text.len();
    }
    let shown = if limit_bytes == 0 { 0 } else { floor_boundary(text, limit_bytes) };
    if shown > limit_bytes { 0 } else { shown }
}

/// Appends a part of a line, with marks for the number of bytes that are not shown.
pub fn render_part(
    dialect: &Dialect,
    line: u64,
    hash: u32,
    text: &[u8],
    part: Range<usize>,
    out: &mut Vec<u8>,
) {
    render_line(dialect, line, hash, b"", out);
    if part.start > 0 {
        out.extend_from_slice(format!("{LEFT_MARK}{}{LEFT_MARK_END}", part.start).as_bytes());
    }
    let hidden_bytes = text.len() - part.end;
    out.extend_from_slice(&text[part]);
    push_cut_mark(hidden_bytes, out);
}

/// Appends a line of which the first bytes are shown, with its edition if it needs one;
/// `whole_bytes` is the length of the line.
pub fn render_start(
    dialect: &Dialect,
    (line, hash, edition): (u64, u32, Option<Edition>),
    shown: &[u8],
    whole_bytes: usize,
    out: &mut Vec<u8>,
) {
    render_anchor(dialect, line, hash, out);
    out.extend(edition.into_iter().flat_map(|edition| edition.to_string().into_bytes()));
    out.push(dialect.text_mark);
    out.extend_from_slice(shown);
    push_cut_mark(whole_bytes - shown.len(), out);
}

fn push_cut_mark(hidden_bytes: usize, out: &mut Vec<u8>) {
    if hidden_bytes > 0 {
        out.extend_from_slice(format!("{CUT_MARK}{hidden_bytes}{CUT_MARK_END}").as_bytes());
    }
}

/// The length of the mark at the end of a line of which `hidden_bytes` are not shown.
pub fn cut_mark_bytes(hidden_bytes: usize) -> usize {
    CUT_MARK.len() + digits(hidden_bytes) + CUT_MARK_END.len()
}

/// The length of the mark before a part.
pub fn left_mark_bytes(hidden_bytes: usize) -> usize {
    LEFT_MARK.len() + digits(hidden_bytes) + LEFT_MARK_END.len()
}

fn digits(number: usize) -> usize {
    number.checked_ilog10().unwrap_or(0) as usize + 1
}

/// The end of a header after the path.
const HEADER_END: &str = " ---";

/// The header of the lines of a file.
pub fn file_header(path: &str) -> String {
    format!("--- {}{HEADER_END}", one_line(path))
}

/// The header with the version of the file, for rows without hashes. A patch in the language of
/// oh-my-pi starts with it.
pub fn version_header(path: &str, tag: Tag) -> String {
    format!("[{}#{tag}]", one_line(path))
}

/// The header of a dialect above the rows of a file with this text.
pub fn header_of_rows(
    dialect: &Dialect,
    path: &str,
    text: &[u8],
    cancel: &Cancel,
) -> Result<String> {
    if dialect.has_hashes() {
        return Ok(file_header(path));
    }
    Ok(version_header(path, Tag::of_with_check(text, || cancel.check())?))
}

/// The length of that header, which does not depend on the text.
pub fn header_size_bytes(dialect: &Dialect, path: &str) -> usize {
    let any = || version_header(path, Tag::default());
    if dialect.has_hashes() { file_header(path).len() } else { any().len() }
}

/// The path in the header of a version.
pub fn version_path(row: &str) -> Option<&str> {
    let (path, tag) = row.strip_prefix('[')?.strip_suffix(']')?.rsplit_once('#')?;
    (!path.is_empty() && path.len() <= MAX_PATH_BYTES).then_some(())?;
    Tag::parse(tag).map(|_| path)
}

/// No operating system opens a longer path.
const MAX_PATH_BYTES: usize = 4096;

/// The limit on occurrences of the end of a header in the name of a file.
const MAX_HEADER_PATHS: usize = 8;

/// The paths that a row may name as the header of a file, longest first; `None` if it is not a
/// header. The answer to an edit has a summary after the header, and a path may contain the end of
/// a header.
///
/// All of them are prefixes of the longest one. A header that is longer than any valid path names
/// none.
pub fn header_paths<'r>(dialect: &Dialect, row: &'r str) -> Option<Vec<&'r str>> {
    if !dialect.has_hashes()
        && let Some(path) = version_path(row)
    {
        return Some(vec![path]);
    }
    let rest = row.strip_prefix("--- ")?;
    let is_end = |(at, end): &(usize, &str)| {
        let after = &rest[at + end.len()..];
        *at > 0 && (after.is_empty() || after.starts_with(' '))
    };
    let near = rest.floor_char_boundary(MAX_PATH_BYTES + HEADER_END.len());
    let ends = rest[..near].rmatch_indices(HEADER_END).filter(is_end);
    let paths: Vec<&str> = ends.map(|(at, _)| &rest[..at]).take(MAX_HEADER_PATHS).collect();
    (!paths.is_empty() || rest.rmatch_indices(HEADER_END).any(|end| is_end(&end))).then_some(paths)
}

/// A path on one line: a control character in a name could forge a line of a file.
pub fn one_line(path: &str) -> std::borrow::Cow<'_, str> {
    if path.chars().any(char::is_control) {
        path.escape_debug().to_string().into()
    } else {
        path.into()
    }
}

/// The start of the mark at the end of a cut line, if `text` ends in one, and its number of bytes.
pub fn cut_mark(text: &str) -> Option<(usize, usize)> {
    let body = text.trim_end().strip_suffix(CUT_MARK_END)?;
    let start = body.rfind(CUT_MARK)?;
    Some((start, marked_bytes(&body[start + CUT_MARK.len()..])?))
}

/// The number of bytes before a text that starts within its line, according to the mark before it.
pub fn left_mark(text: &str) -> Option<usize> {
    let rest = text.trim_start().strip_prefix(LEFT_MARK)?;
    marked_bytes(&rest[..rest.find(LEFT_MARK_END)?])
}

/// The text between the marks; the whole text if it has none.
pub fn between_marks(text: &str) -> &str {
    let text = &text[..cut_mark(text).map_or(text.len(), |(start, _)| start)];
    let mark = left_mark(text).and_then(|_| text.find(LEFT_MARK_END));
    &text[mark.map_or(0, |at| at + LEFT_MARK_END.len())..]
}

/// The bytes of a line that the text of its row shows: all without marks, otherwise those between
/// them. Empty if the marks do not fit the line.
pub fn shown_part(row: &str, line: &[u8]) -> Range<usize> {
    let part = between_marks(row);
    if part.len() == row.len() {
        return 0..line.len();
    }
    let start = left_mark(row).unwrap_or(0);
    let end = start.saturating_add(part.len());
    let hidden = cut_mark(row).map_or(0, |(_, bytes)| bytes);
    if line.get(start..end) == Some(part.as_bytes()) && end.checked_add(hidden) == Some(line.len())
    {
        return start..end;
    }
    // The file itself may contain such a text.
    let is_whole = row.trim_end().as_bytes() == line.trim_ascii_end();
    if is_whole { 0..line.len() } else { 0..0 }
}

/// The number in a mark; the maximum if it is too large.
fn marked_bytes(digits: &str) -> Option<usize> {
    let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
    is_number.then(|| digits.parse().unwrap_or(usize::MAX))
}

fn render_anchor(dialect: &Dialect, line: u64, hash: u32, out: &mut Vec<u8>) {
    write_decimal(line, out);
    out.extend(dialect.separator);
    dialect.write_hash(hash, out);
}

/// Appends a number. A tenth of the cost of `write!` for short numbers.
fn write_decimal(mut value: u64, out: &mut Vec<u8>) {
    let mut digits = [0; 20];
    let mut at = digits.len();
    loop {
        at -= 1;
        digits[at] = b'0' + (value % 10) as u8;
        value /= 10;
        if value == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

/// An upper bound on the rendered size of `lines` lines with `text_bytes` bytes of text, so that
/// the output buffer is allocated once.
pub fn rendered_size_bound(
    dialect: &Dialect,
    text_bytes: usize,
    lines: u64,
    last_line: u64,
) -> usize {
    let anchor_bytes = last_line.max(1).ilog10() as usize + 1 + dialect.width + 3;
    text_bytes + anchor_bytes * lines as usize
}

/// A string in memory with its anchors, lines separated by `\n`; `start_line` is the
/// number of the first line. The dialect defines how the string is split ([`MemoryLines`]).
pub fn format_hashed(dialect: &'static Dialect, text: &[u8], start_line: u64) -> Vec<u8> {
    let mut renderer = BlockRenderer::with_lines(dialect, start_line, dialect.memory_lines);
    let count = memory_line_count(dialect, text);
    let bound = rendered_size_bound(dialect, text.len(), count, start_line.saturating_add(count));
    let mut out = buffer_with_capacity(bound + LINE_CAPACITY_BYTES);
    for_each_block(dialect, text, start_line, |rest, block| {
        renderer.append(rest, block, &mut out);
    });
    // The newline after the last line.
    out.pop();
    out
}

/// The hashes of the lines of a string in memory.
pub fn hash_lines(dialect: &'static Dialect, text: &[u8], start_line: u64) -> Vec<String> {
    let mut out = Vec::with_capacity(memory_line_count(dialect, text) as usize);
    for_each_block(dialect, text, start_line, |_, block| {
        out.extend(block.hashes.iter().map(|&hash| dialect.hash_text(hash)));
    });
    out
}

fn memory_line_count(dialect: &Dialect, text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', text).count() as u64
        + u64::from(dialect.memory_lines == MemoryLines::Split || !text.ends_with(b"\n"))
}

/// Calls `each` with the blocks of lines of a string in memory: the text that starts with the
/// block, and the block.
fn for_each_block(
    dialect: &'static Dialect,
    text: &[u8],
    start_line: u64,
    mut each: impl FnMut(&[u8], HashedBlock<'_>),
) {
    let (mut number, mut rest) = (start_line, text);
    with_block_hasher(dialect, |hasher| {
        while !rest.is_empty() {
            let block = hasher.hash_block(number, rest);
            each(rest, block);
            number = number.wrapping_add(block.hashes.len() as u64);
            rest = &rest[block.len_bytes()..];
        }
    });
    if dialect.memory_lines == MemoryLines::Split && (text.is_empty() || text.ends_with(b"\n")) {
        let hash = LineHasher::new(dialect).hash(number, b"");
        each(b"", HashedBlock::of_one(&[hash], 0));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(dialect: &str, text: &str, start_line: u64) -> String {
        let dialect = Dialect::by_name(dialect).unwrap();
        String::from_utf8(format_hashed(dialect, text.as_bytes(), start_line)).unwrap()
    }

    #[test]
    fn formats_by_example() {
        assert_eq!(format("pi", "return null;\r\n}\n", 1), "1:56|return null;\n2:18|}");
        assert_eq!(format("pi", "", 1), "");
        assert_eq!(format("omp", "", 1), "1#ZR:");
        assert_eq!(format("omp", "}\n", 9), "9#PN:}\n10#ZR:");
        assert_eq!(format("omp", "}\r\n", 9), "9#PN:}\r\n10#ZR:");
    }

    #[test]
    fn cut_lines_are_cut_between_characters() {
        let cut_line = |text: &str, limit, out: &mut Vec<u8>| {
            let (text, part) = (text.as_bytes(), 0..cut_line_bytes(text.as_bytes(), limit));
            render_part(Dialect::default_dialect(), 7, 0, text, part, out);
        };
        for (limit, expected) in [
            (0, "7:00|… [+7 bytes]"),
            (1, "7:00|a… [+6 bytes]"),
            (2, "7:00|a… [+6 bytes]"),
            (4, "7:00|aé€… [+1 bytes]"),
        ] {
            let mut out = Vec::new();
            let limit = if limit == 4 { 6 } else { limit };
            cut_line("aé€z", limit, &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
        let mut out = Vec::new();
        cut_line("abc", 3, &mut out);
        assert_eq!(out, b"7:00|abc");
    }

    #[test]
    fn headers_yield_all_possible_paths() {
        fn header_paths(row: &str) -> Option<Vec<&str>> {
            super::header_paths(Dialect::default_dialect(), row)
        }
        assert_eq!(header_paths("--- a b ---"), Some(vec!["a b"]));
        assert_eq!(header_paths("--- a --- b --- 1 edit"), Some(vec!["a --- b", "a"]));
        for row in ["--- a", "---  ---", "-- a ---", "--- a ---b", ""] {
            assert_eq!(header_paths(row), None, "{row}");
        }
    }

    #[test]
    fn headers_of_versions_have_one_path() {
        let dialect = Dialect::by_name("omp18").unwrap();
        let header = header_of_rows(dialect, "a [b]#c", b"x\n", &Cancel::default()).unwrap();
        assert_eq!(header.len(), header_size_bytes(dialect, "a [b]#c"));
        assert_eq!(header_paths(dialect, &header), Some(vec!["a [b]#c"]));
        assert_eq!(header_paths(dialect, "--- a ---"), Some(vec!["a"]));
        assert_eq!(header_paths(Dialect::default_dialect(), &header), None);
        for row in ["[a]", "[a#1A2]", "[#1A2B]", "[a#1A2B", "a#1A2B]", "[]", "["] {
            assert_eq!(header_paths(dialect, row), None, "{row}");
        }
    }

    #[test]
    fn regression_a_long_header_has_few_possible_paths() {
        fn header_paths(row: &str) -> Option<Vec<&str>> {
            super::header_paths(Dialect::default_dialect(), row)
        }
        let row = format!("--- {}---", "a --- ".repeat(16_000));
        let paths = header_paths(&row).unwrap();
        assert_eq!(paths.len(), MAX_HEADER_PATHS);
        assert!(
            paths.iter().all(|path| path.len() <= MAX_PATH_BYTES && row[4..].starts_with(path))
        );
        let long = "é".repeat(MAX_PATH_BYTES / 2);
        assert_eq!(header_paths(&file_header(&long)), Some(vec![long.as_str()]));
        // It is a header, but the path is too long.
        assert_eq!(header_paths(&file_header(&format!("{long}x"))), Some(vec![]));
    }

    #[test]
    fn cut_marks_are_recognized() {
        assert_eq!(cut_mark("abc… [+12 bytes]"), Some((3, 12)));
        assert_eq!(cut_mark("abc… [+12 bytes]  "), Some((3, 12)));
        assert_eq!(cut_mark("… [+ bytes]"), None);
        assert_eq!(cut_mark("abc… [+x bytes]"), None);
        assert_eq!(cut_mark("abc"), None);
        for (text, expected) in [
            ("[12 bytes+] …abc", true),
            ("  [1 bytes+] …", true),
            ("[ bytes+] …abc", false),
            ("[12 bytes+]abc", false),
            ("a[12 bytes+] …", false),
            ("", false),
        ] {
            assert_eq!(left_mark(text).is_some(), expected, "{text}");
        }
    }

    #[test]
    fn marks_that_do_not_fit_the_line_show_nothing() {
        let text = "ab… [+3 bytes]";
        assert_eq!(shown_part(text, text.as_bytes()), 0..text.len());
        for (row, line) in [
            ("ab… [+3 bytes]", "abcd"),
            ("ab… [+3 bytes]", "xbcde"),
            ("[9 bytes+] …ab", "ab"),
            ("[18446744073709551615 bytes+] …ab", "ab"),
            ("ab… [+99999999999999999999 bytes]", "ab"),
        ] {
            assert_eq!(shown_part(row, line.as_bytes()), 0..0, "{row}");
        }
    }

    #[test]
    fn parts_are_between_marks() {
        let dialect = Dialect::default_dialect();
        for (part, expected) in [
            (0..5, "7:00|abcde"),
            (0..2, "7:00|ab… [+3 bytes]"),
            (1..5, "7:00|[1 bytes+] …bcde"),
            (1..3, "7:00|[1 bytes+] …bc… [+2 bytes]"),
            (5..5, "7:00|[5 bytes+] …"),
            (0..0, "7:00|… [+5 bytes]"),
        ] {
            let mut out = Vec::new();
            render_part(dialect, 7, 0, b"abcde", part.clone(), &mut out);
            assert_eq!(String::from_utf8(out).unwrap(), expected);
            assert_eq!(shown_part(&expected["7:00|".len()..], b"abcde"), part);
        }
    }
}
