//! Places that the output of a program names: `src/a.ts:12:5`, `a.cpp(12,5)`, `File "x.py", line 4`.
//!
//! Nothing marks where a path begins, and paths may have spaces. So a place has several possible
//! paths, of which the caller takes the first that is a file. `output` reads whole outputs.

mod directories;
mod output;

use std::ops::Range;

pub use directories::{Directory, is_absolute};
pub use output::{NamedPlace, OUTPUT_LIMIT_BYTES, output_text, path_of_url, read_places};

/// The bytes of a line that are read.
const LINE_LIMIT_BYTES: usize = 4_096;

/// The longest path.
const PATH_LIMIT_BYTES: usize = 1_024;

/// How many places of a line are read.
const LINE_PLACES: usize = 100;

/// The most digits of a line number.
const MAX_DIGITS: usize = 9;

/// How many words before a number can be the start of a path with spaces.
const PATH_WORDS: usize = 5;

/// A line of a file that a text names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mention<'t> {
    /// The text that ends with the path.
    pub before: &'t str,
    /// The line, from 1.
    pub line: u64,
    /// The column, as the program counts.
    pub column: Option<u64>,
    /// The text after the numbers.
    pub rest: &'t str,
}

/// The places that a line names, from left to right.
pub fn mentions(line: &str) -> impl Iterator<Item = Mention<'_>> {
    let line = &line[..line.floor_char_boundary(LINE_LIMIT_BYTES)];
    let mut from = 0;
    let next = move || {
        while let Some(digits) = digits_from(line, from) {
            from = digits.end;
            if let Some(mention) = mention_at(line, digits) {
                from = line.len() - mention.rest.len();
                return Some(mention);
            }
        }
        None
    };
    std::iter::from_fn(next).take(LINE_PLACES)
}

/// The next number that does not end a word.
fn digits_from(line: &str, mut from: usize) -> Option<Range<usize>> {
    let bytes = line.as_bytes();
    loop {
        let start = from + bytes.get(from..)?.iter().position(u8::is_ascii_digit)?;
        let end = start + leading_digits(&line[start..]);
        let is_in_word =
            start > 0 && (bytes[start - 1] == b'_' || bytes[start - 1].is_ascii_alphabetic());
        // `#L12` is a line, too.
        if !is_in_word || line[..start].ends_with("#L") {
            return Some(start..end);
        }
        from = end;
    }
}

/// The place whose line number is at `digits`.
fn mention_at(line: &str, digits: Range<usize>) -> Option<Mention<'_>> {
    let (before, after) = (&line[..digits.start], &line[digits.end..]);
    let number = number(&line[digits]).filter(|&number| number > 0)?;
    let forms = [
        after_colon,
        in_brackets,
        in_parentheses,
        after_word,
        after_space,
        in_link,
        after_message,
        before_text,
        after_name,
    ];
    let (before, column, rest) = forms.iter().find_map(|form| form(before, after))?;
    (!before.is_empty()).then_some(Mention { before, line: number, column, rest })
}

/// What is around a line number: the text before it, the column, and the rest.
type Around<'t> = (&'t str, Option<u64>, &'t str);

/// `PATH:12`, `PATH:12:5`.
fn after_colon<'t>(before: &'t str, after: &'t str) -> Option<Around<'t>> {
    let path = before.strip_suffix(':').filter(|path| !path.ends_with([':', ' ', '\t']))?;
    let (column, rest) = match after.strip_prefix(':').and_then(number_and_rest) {
        Some((column, rest)) => (Some(column), rest),
        None => (None, after),
    };
    // `host:80/path`, `1:2x`.
    let goes_on = |next: char| next.is_alphanumeric() || matches!(next, '/' | '\\' | '_' | '%');
    (!rest.starts_with(goes_on)).then_some((path, column, rest))
}

/// Maven's `PATH:[12,5]`, Kotlin's `PATH: (12, 5)`, GHC's `PATH:(12,5)-(13,1)`.
fn in_brackets<'t>(before: &'t str, after: &'t str) -> Option<Around<'t>> {
    let forms = [(":[", ']'), (":(", ')'), (": (", ')')];
    let (path, close) =
        forms.iter().find_map(|&(open, close)| Some((before.strip_suffix(open)?, close)))?;
    let (column, rest) = number_and_rest(after.strip_prefix(',')?.trim_start())?;
    Some((path, Some(column), rest.strip_prefix(close)?))
}

/// `PATH(12)`, `PATH(12,5)`, `PATH(12,5,12,9)`, as MSVC, tsc and .NET print.
fn in_parentheses<'t>(before: &'t str, after: &'t str) -> Option<Around<'t>> {
    let path = before.strip_suffix('(').filter(|path| !path.ends_with([' ', '\t']))?;
    let (mut column, mut rest) = (None, after);
    while let Some(next) = rest.strip_prefix([',', '-']) {
        let (number, more) = number_and_rest(next.trim_start())?;
        (column, rest) = (column.or(Some(number)), more);
    }
    Some((path, column, rest.strip_prefix(')')?))
}

/// `"PATH", line 12`, `PATH on line 12`, `PATH: line 12`, `PATH:line 12`, `file=PATH,line=12`.
fn after_word<'t>(before: &'t str, after: &'t str) -> Option<Around<'t>> {
    let words = ["line ", "lines ", "line="];
    let path = words.iter().find_map(|word| before.strip_suffix(word))?;
    if !path.ends_with([' ', ':', ',']) || after.starts_with(|next: char| next.is_alphanumeric()) {
        return None;
    }
    let path = path.trim_end();
    let path = path.strip_suffix(" on").unwrap_or(path);
    Some((path.trim_end_matches([',', ':', ' ']), None, after))
}

/// webpack's `PATH 12:5-10`.
fn after_space<'t>(before: &'t str, after: &'t str) -> Option<Around<'t>> {
    let path = before.strip_suffix(' ')?.trim_end();
    let word = path.rsplit(char::is_whitespace).next()?;
    let (column, rest) = number_and_rest(after.strip_prefix(':')?)?;
    let is_end = rest.is_empty() || rest.starts_with([' ', '-']);
    (is_end && word.contains(['/', '\\'])).then_some((path, Some(column), rest))
}

/// `PATH#L12`.
fn in_link<'t>(before: &'t str, after: &'t str) -> Option<Around<'t>> {
    Some((before.strip_suffix("#L")?, None, after))
}

/// Babel's and Prettier's `PATH: MESSAGE (12:5)`.
fn after_message<'t>(before: &'t str, after: &'t str) -> Option<Around<'t>> {
    let text = before.strip_suffix(" (")?;
    let (column, rest) = number_and_rest(after.strip_prefix(':')?)?;
    let ends = text.match_indices(": ").map(|(at, _)| &text[..at]);
    let is_path = |start: &&str| {
        let word = start.rsplit(char::is_whitespace).next();
        word.is_some_and(|word| word.contains(['.', '/', '\\']))
    };
    Some((ends.take(PATH_WORDS).find(is_path)?, Some(column), rest.strip_prefix(')')?))
}

/// The shell's `PATH: 12: MESSAGE`.
fn before_text<'t>(before: &'t str, after: &'t str) -> Option<Around<'t>> {
    let path = before.strip_suffix(": ")?;
    let is_path = path.contains(['.', '/']) && !path.contains(char::is_whitespace);
    (is_path && after.starts_with(": ")).then_some((path, None, after))
}

/// Rollup's `PATH (12:5)`.
fn after_name<'t>(before: &'t str, after: &'t str) -> Option<Around<'t>> {
    let path = before.strip_suffix(" (")?;
    let name = path.rsplit(char::is_whitespace).next()?;
    let (column, rest) = number_and_rest(after.strip_prefix(':')?)?;
    let is_path = name.contains(['.', '/', '\\']) && !name.ends_with(['.', ':']);
    Some((path, Some(column), rest.strip_prefix(')')?)).filter(|_| is_path)
}

fn leading_digits(text: &str) -> usize {
    text.bytes().take_while(u8::is_ascii_digit).count()
}

fn number(digits: &str) -> Option<u64> {
    (digits.len() <= MAX_DIGITS).then(|| digits.parse().ok())?
}

/// A number at the start of a text, and the rest.
fn number_and_rest(text: &str) -> Option<(u64, &str)> {
    let (digits, rest) = text.split_at(leading_digits(text));
    Some((number(digits)?, rest))
}

/// Whether a character separates a path from the text before it, other than a space.
fn is_delimiter(next: char) -> bool {
    matches!(
        next,
        '(' | '[' | '{' | '<' | '>' | '"' | '\'' | '`' | '=' | '|' | '│' | '❯' | ',' | ';' | '\t'
    )
}

impl<'t> Mention<'t> {
    /// The possible paths, the likeliest first.
    pub fn paths(&self) -> Vec<&'t str> {
        let before = self.before;
        let excess = before.len().saturating_sub(PATH_LIMIT_BYTES);
        let text = &before[before.ceil_char_boundary(excess)..];
        if let Some(quoted) = quoted_end(text) {
            return path_from(quoted, 0).into_iter().collect();
        }
        let mut paths = Vec::new();
        let mut add = |start: usize| {
            let path = path_from(text, start).filter(|path| !paths.contains(path));
            paths.extend(path);
        };
        let delimiter = text.rfind(is_delimiter).map_or(0, |at| text.ceil_char_boundary(at + 1));
        add(delimiter);
        let words = text.rmatch_indices(char::is_whitespace).take(PATH_WORDS);
        let mut starts: Vec<usize> = words.map(|(at, space)| at + space.len()).collect();
        starts.push(0);
        for start in starts {
            add(start);
            // Paths can have brackets: `(app/[id]/page.tsx:2:1)`.
            let opening = text[start..].len()
                - text[start..].trim_start_matches(['(', '[', '<', '"', '\'', '`']).len();
            if opening > 0 {
                add(start + opening);
            }
        }
        // Firefox's `f@/a.js:3:1`, and `ERROR:src/a.ts:3`.
        let word = text.rfind(char::is_whitespace).map_or(0, |at| text.ceil_char_boundary(at + 1));
        let levels = ["error", "warning", "warn", "info", "note", "debug", "fatal"];
        let level = text[word..].split_once(':').map(|(level, _)| level);
        let level = level.filter(|level| levels.iter().any(|one| one.eq_ignore_ascii_case(level)));
        let function = text[word..].find('@').filter(|at| {
            let path = &text[word + at + 1..];
            path.starts_with("file:") || is_absolute(path)
        });
        let marker = level.map(str::len).or(function);
        marker.into_iter().for_each(|length| add(word + length + 1));
        paths
    }
}

/// The text in the quotes that end a text.
fn quoted_end(text: &str) -> Option<&str> {
    let quote = text.chars().next_back().filter(|last| matches!(last, '"' | '\'' | '`'))?;
    let inner = &text[..text.len() - 1];
    Some(&inner[inner.rfind(quote)? + 1..])
}

/// The name in the double quotes that end a text, if it has escapes of C: git quotes names with
/// characters other than ASCII as `"\303\251.rs"`.
pub fn unescaped_end(text: &str) -> Option<String> {
    let text = text.strip_suffix('"')?;
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(4 * PATH_LIMIT_BYTES))..];
    let is_escaped = |at: usize| {
        let backslashes = text[..at].len() - text[..at].trim_end_matches('\\').len();
        backslashes % 2 == 1
    };
    let quotes = text.rmatch_indices('"').map(|(at, _)| at);
    let start = quotes.into_iter().find(|&at| !is_escaped(at))? + 1;
    let quoted = &text.as_bytes()[start..];
    let mut name = Vec::with_capacity(quoted.len());
    let mut rest = quoted;
    while let Some(backslash) = memchr::memchr(b'\\', rest) {
        name.extend_from_slice(&rest[..backslash]);
        let (byte, length) = escape(&rest[backslash + 1..])?;
        name.push(byte);
        rest = &rest[backslash + 1 + length..];
    }
    name.extend_from_slice(rest);
    String::from_utf8(name).ok().filter(|_| rest.len() < quoted.len())
}

/// The byte that an escape means, and the length of the escape without its backslash.
fn escape(text: &[u8]) -> Option<(u8, usize)> {
    let byte = match *text {
        [a @ b'0'..=b'3', b @ b'0'..=b'7', c @ b'0'..=b'7', ..] => {
            return Some(((a - b'0') << 6 | (b - b'0') << 3 | (c - b'0'), 3));
        }
        [quoted @ (b'"' | b'\\'), ..] => quoted,
        [b'a', ..] => 7,
        [b'b', ..] => 8,
        [b't', ..] => b'\t',
        [b'n', ..] => b'\n',
        [b'v', ..] => 11,
        [b'f', ..] => 12,
        [b'r', ..] => b'\r',
        _ => return None,
    };
    Some((byte, 1))
}

/// The path that begins at an offset of a text, if it can be one.
fn path_from(text: &str, start: usize) -> Option<&str> {
    let path = text[start..].trim();
    let is_name = path.contains(char::is_alphabetic) && !path.contains(char::is_control);
    let is_address = || {
        let scheme = path.split_once("://").map(|(scheme, _)| scheme);
        scheme.is_some_and(|scheme| !matches!(scheme, "file" | "webpack" | "webpack-internal"))
    };
    (is_name && !is_address()).then_some(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(line: &str) -> Vec<(&str, u64, Option<u64>)> {
        let mentions = mentions(line);
        mentions.filter_map(|one| Some((*one.paths().first()?, one.line, one.column))).collect()
    }

    #[test]
    fn drives_of_windows_belong_to_the_path() {
        assert_eq!(of(r"C:\a b\x.c:3:7: m"), [(r"C:\a b\x.c", 3, Some(7))]);
        assert_eq!(of(r"C:\a\x.cpp(12,5): error C2065: m"), [(r"C:\a\x.cpp", 12, Some(5))]);
        assert_eq!(of(r#"  File "C:\a\x.py", line 4, in f"#), [(r"C:\a\x.py", 4, None)]);
        let dotnet = mentions(r"   at N.C.M() in C:\a\x.cs:line 12").next().unwrap();
        assert!(dotnet.paths().contains(&r"C:\a\x.cs"), "{:?}", dotnet.paths());
    }

    #[test]
    fn paths_can_have_brackets() {
        for line in
            ["at P (app/[id]/page.tsx:2:1)", "'app/[id]/page.tsx:2'", "app/[id]/page.tsx(2,1)"]
        {
            let paths = mentions(line).next().unwrap().paths();
            assert!(paths.contains(&"app/[id]/page.tsx"), "{line}: {paths:?}");
        }
    }

    #[test]
    fn regression_names_in_quotes_have_the_escapes_of_git() {
        let cases = [
            (r#""src/\303\251.rs""#, Some("src/é.rs")),
            (r#"x "q\"uo\\ te\tx.rs""#, Some("q\"uo\\ te\tx.rs")),
            (r#""a" "\\""#, Some("\\")),
            // No escapes, invalid ones, no Unicode, no quotes.
            (r#""a.rs""#, None),
            (r#""C:\src\x.rs""#, None),
            (r#""\30""#, None),
            (r#""\377.rs""#, None),
            (r#"a\303\251""#, None),
            (r#"\""#, None),
            ("\"", None),
            ("", None),
        ];
        for (text, expected) in cases {
            assert_eq!(unescaped_end(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn numbers_without_a_path_are_no_places() {
        for line in ["", "12:30:05 INFO", "http://x:80/", "a:0", ":3:4", "1.5s", "f(x, 1)"] {
            assert_eq!(of(line), [], "{line}");
        }
    }
}
