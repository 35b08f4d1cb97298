//! Reads the output of a program: lines that name a place, and lines below the name of their file.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::ops::ControlFlow;

use anstream::adapter::strip_str;
use percent_encoding::percent_decode_str;

use super::directories::{Directory, directories};
use super::{LINE_LIMIT_BYTES, Mention, leading_digits, mentions, number_and_rest, unescaped_end};
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;

/// How much of an output is read: half of it from its start, half from its end.
pub const OUTPUT_LIMIT_BYTES: usize = 4 << 20;

/// How many lines are read between two checks of the cancellation flag.
const LINES_BETWEEN_CHECKS: usize = 1_024;

/// A line that ends before this column was not wrapped by a terminal.
const WRAPPED_MIN_COLUMNS: usize = 40;

/// Where the classes of Java and its relatives are in a project or a module.
const SOURCE_ROOTS: [&str; 6] =
    ["src/main/java/", "src/test/java/", "src/main/kotlin/", "src/test/kotlin/", "src/", ""];

/// How many directories of the path of a Go package are tried.
const PACKAGE_DIRECTORIES: usize = 4;

/// A line of a file that an output names.
#[derive(Debug)]
pub struct NamedPlace<'a> {
    /// The possible paths of a class in a source directory: if more than one exists, it is not known
    /// which of them is meant.
    pub of_class: &'a [String],
    /// The possible paths, the likeliest first.
    pub paths: &'a [Cow<'a, str>],
    /// Where relative paths start.
    pub directory: &'a Directory,
    /// The line, from 1.
    pub line: u64,
    /// The column, as the program counts.
    pub column: Option<u64>,
}

/// Calls `found` with each place, in the order of the output, until it breaks.
pub fn read_places(
    output: &str,
    cancel: &Cancel,
    mut found: impl FnMut(NamedPlace<'_>) -> ControlFlow<()>,
) -> Result<()> {
    let (start, end) = limited(output);
    let mut reader = Reader {
        heading: None,
        above: String::new(),
        packages: go_packages(start, end),
        directories: directories(lines(start, end)),
        wrapped_columns: OnceCell::new(),
        all: (start, end),
    };
    let mut lines = lines(start, end).map(plain).enumerate().peekable();
    while let Some((at, line)) = lines.next() {
        if at % LINES_BETWEEN_CHECKS == 0 {
            cancel.check()?;
        }
        let next = lines.peek().map_or("", |(_, next)| next);
        if reader.read(at, line.trim_end(), next, &mut found).is_break() {
            break;
        }
    }
    Ok(())
}

/// A line without the codes of colours.
fn plain(line: &str) -> Cow<'_, str> {
    match line.contains('\x1b') {
        true => Cow::Owned(strip_str(line).to_string()),
        false => Cow::Borrowed(line),
    }
}

/// The text of an output, of which no more than is read is decoded. What is not Unicode in it names
/// no file.
pub fn output_text(output: &[u8]) -> Cow<'_, str> {
    // More than is read, so that the lines that are cut here are not.
    let half = OUTPUT_LIMIT_BYTES / 2 + LINE_LIMIT_BYTES;
    if output.len() <= 2 * half {
        return String::from_utf8_lossy(output);
    }
    let (start, end) = (&output[..half], &output[output.len() - half..]);
    let (start, end) = (String::from_utf8_lossy(start), String::from_utf8_lossy(end));
    Cow::Owned(format!("{start}\n{end}"))
}

/// The start and the end of an output that is too long, as whole lines.
fn limited(output: &str) -> (&str, &str) {
    let output = output.strip_prefix('\u{feff}').unwrap_or(output);
    if output.len() <= OUTPUT_LIMIT_BYTES {
        return (output, "");
    }
    let half = OUTPUT_LIMIT_BYTES / 2;
    let start = &output[..output.floor_char_boundary(half)];
    let end = &output[output.ceil_char_boundary(output.len() - half)..];
    let start = start.rfind('\n').map_or(start, |newline| &start[..newline]);
    (start, end.find('\n').map_or(end, |newline| &end[newline + 1..]))
}

/// Lines that end with `\n`, `\r\n`, or with the `\r` of a progress bar.
fn lines<'t>(start: &'t str, end: &'t str) -> impl Iterator<Item = &'t str> {
    let all = start.lines().chain(end.lines());
    all.flat_map(|line| line.trim_end_matches('\r').split('\r'))
}

/// The packages that `go test` names below their output, with the numbers of these lines.
fn go_packages<'t>(start: &'t str, end: &'t str) -> Vec<(usize, &'t str)> {
    let package = |(at, line): (usize, &'t str)| {
        let rest = ["FAIL\t", "ok  \t"].iter().find_map(|word| line.strip_prefix(word))?;
        Some((at, rest.split(['\t', ' ']).next()?))
    };
    lines(start, end).enumerate().filter_map(package).collect()
}

/// The name of a file above the lines of its places.
struct Heading {
    /// The possible paths: as written, without quotes, and with the line above, if a terminal
    /// wrapped it.
    paths: Vec<String>,
    /// Whether it is marked as the heading of a table, whose rows begin with only a line number.
    is_table: bool,
}

struct Reader<'t> {
    heading: Option<Heading>,
    /// The end of the line above, at most as long as a path.
    above: String,
    packages: Vec<(usize, &'t str)>,
    directories: Vec<(usize, Directory)>,
    /// How wide the terminal was that wrapped the output, if it shows that.
    wrapped_columns: OnceCell<Option<usize>>,
    /// The output that is read.
    all: (&'t str, &'t str),
}

impl Reader<'_> {
    fn read(
        &mut self,
        at: usize,
        line: &str,
        next: &str,
        found: &mut impl FnMut(NamedPlace<'_>) -> ControlFlow<()>,
    ) -> ControlFlow<()> {
        let directory = self.directories.partition_point(|(from, _)| *from <= at);
        let directory = &self.directories[directory - 1].1;
        if let Some(heading) = &self.heading
            && let Some((line, column)) = line_below(line, heading.is_table)
        {
            let paths: Vec<_> = heading.paths.iter().map(|path| located(path)).collect();
            found(NamedPlace { of_class: &[], paths: &paths, directory, line, column })?;
        } else if line.trim().is_empty() {
            self.heading = None;
        } else if !is_rule(line) && !self.heading.as_ref().is_some_and(|heading| heading.is_table) {
            self.heading = heading(line).map(|heading| self.unwrapped(heading, line));
        }
        for mention in mentions(line) {
            let of_class = mention.paths().first().map(|name| java_paths(mention.before, name));
            let paths = self.paths(at, line, &mention);
            if let Some(number) = self.whole_number(line, &mention, next) {
                found(NamedPlace {
                    of_class: &of_class.unwrap_or_default(),
                    paths: &paths,
                    directory,
                    line: number,
                    column: mention.column,
                })?;
            }
        }
        self.above.clear();
        let excess = line.len().saturating_sub(super::PATH_LIMIT_BYTES);
        self.above.push_str(&line[line.ceil_char_boundary(excess)..]);
        ControlFlow::Continue(())
    }

    fn paths<'m>(&self, at: usize, line: &str, mention: &Mention<'m>) -> Vec<Cow<'m, str>> {
        let written = mention.paths();
        let mut paths = Vec::new();
        if let Some(&name) = written.first() {
            paths.extend(self.go_paths(at, name).into_iter().map(Cow::Owned));
        }
        paths.extend(unescaped_end(mention.before).map(Cow::Owned));
        paths.extend(written.iter().map(|path| located(path)));
        let is_rest =
            line.starts_with(mention.before) && !mention.before.contains(char::is_whitespace);
        // The quote that ends a path is not part of it.
        let rest = mention.before.trim_end_matches(['"', '\'', '`']);
        paths.extend(is_rest.then(|| self.wrapped(rest)).flatten().map(Cow::Owned));
        paths
    }

    /// A path whose start is at the end of the line above: a terminal breaks a line anywhere, and
    /// does not indent the rest.
    fn wrapped(&self, rest: &str) -> Option<String> {
        let is_start = |next: char| next.is_whitespace() || super::is_delimiter(next);
        let start = self.above.rsplit(is_start).next()?;
        (self.above.len() >= WRAPPED_MIN_COLUMNS).then(|| format!("{start}{rest}"))
    }

    /// The line of a place. If a number ends its line of the output and digits start the next one, a
    /// terminal may have wrapped the number: then it is known only if the other lines show where
    /// the terminal did so.
    fn whole_number(&self, line: &str, mention: &Mention<'_>, next: &str) -> Option<u64> {
        let more = leading_digits(next);
        let goes_on = next[more..].chars().next();
        let is_split = mention.rest.is_empty()
            && mention.column.is_none()
            && more > 0
            && goes_on.is_none_or(|next| matches!(next, ':' | ',' | ')' | ']'));
        if !is_split {
            return Some(mention.line);
        }
        let wrapped = self.wrapped_columns.get_or_init(|| wrapped_columns(self.all));
        let is_wrapped = *wrapped == Some(line.chars().count());
        let number = || super::number(&format!("{}{}", mention.line, &next[..more]));
        is_wrapped.then(number).flatten()
    }

    /// A heading with the path that it ends, if a terminal wrapped it.
    fn unwrapped(&self, mut heading: Heading, line: &str) -> Heading {
        let is_rest = heading.paths.first().is_some_and(|path| line.starts_with(path.as_str()));
        let wrapped = heading.paths.first().filter(|_| is_rest).and_then(|path| self.wrapped(path));
        heading.paths.extend(wrapped);
        heading
    }

    /// `go test` names files by their names in the package, which it names afterwards.
    fn go_paths(&self, at: usize, name: &str) -> Vec<String> {
        if !name.ends_with(".go") || name.contains(['/', '\\']) {
            return Vec::new();
        }
        let next = self.packages.partition_point(|(line, _)| *line < at);
        let Some((_, package)) = self.packages.get(next) else { return Vec::new() };
        let directories = package.match_indices('/').map(|(slash, _)| &package[slash + 1..]);
        let directories: Vec<&str> = std::iter::once(*package).chain(directories).collect();
        let last = &directories[directories.len().saturating_sub(PACKAGE_DIRECTORIES)..];
        last.iter().map(|directory| format!("{directory}/{name}")).collect()
    }
}

/// The width of the longest lines of an output, if several have it: a terminal wrapped these.
fn wrapped_columns((start, end): (&str, &str)) -> Option<usize> {
    let (mut longest, mut count) = (WRAPPED_MIN_COLUMNS, 0);
    for line in lines(start, end) {
        let columns = plain(line).chars().count();
        if columns > longest {
            (longest, count) = (columns, 0);
        }
        count += usize::from(columns == longest);
    }
    (count > 1).then_some(longest)
}

/// The line number and column at the start of a line below a heading: eslint's `  12:5  error`, ripgrep's
/// `12:text`, a table's `  12  text`.
fn line_below(text: &str, is_table: bool) -> Option<(u64, Option<u64>)> {
    let (line, rest) = number_and_rest(text.trim_start())?;
    let is_row = rest.starts_with(':') || (is_table && rest.starts_with(' '));
    let column = rest.strip_prefix(':').and_then(number_and_rest).map(|(column, _)| column);
    (is_row && line > 0).then_some((line, column))
}

/// Whether a line only separates others.
fn is_rule(line: &str) -> bool {
    line.chars().all(|next| matches!(next, '-' | '=' | '─' | '━' | '+' | ' '))
}

/// The heading that a line may be: the path of a file, with nothing else but a marker or a colon.
fn heading(line: &str) -> Option<Heading> {
    let text = line.trim();
    // The markers of PHP_CodeSniffer and PHPStan.
    let marked = ["FILE: ", "Line "].iter().find_map(|marker| text.strip_prefix(marker));
    let path = marked.unwrap_or(text).trim().trim_end_matches(':');
    let is_path = !path.is_empty() && path.len() <= super::PATH_LIMIT_BYTES;
    let paths = || std::iter::once(path.to_owned()).chain(unescaped_end(path)).collect();
    is_path.then(|| Heading { paths: paths(), is_table: marked.is_some() })
}

/// The files of a class that a stack trace names as `at pkg.Class.method(File.java:12)`.
fn java_paths(before: &str, name: &str) -> Vec<String> {
    let is_source = [".java", ".kt", ".scala", ".groovy"].iter().any(|end| name.ends_with(end));
    let Some(method) = before.strip_suffix(name).and_then(|before| before.strip_suffix('(')) else {
        return Vec::new();
    };
    let method = method.rsplit([' ', '\t', '/']).next().unwrap_or_default();
    let package: Vec<&str> = method.split('.').collect();
    // The last two names are those of the class and the method.
    let Some(package) = package.len().checked_sub(2).map(|end| package[..end].join("/")) else {
        return Vec::new();
    };
    if !is_source || name.contains(['/', '\\']) || package.is_empty() {
        return Vec::new();
    }
    SOURCE_ROOTS.iter().map(|root| format!("{root}{package}/{name}")).collect()
}

/// The path that a program means: of a `file:` URL, of a module of webpack or Vite.
fn located(path: &str) -> Cow<'_, str> {
    if let Some(path) = path_of_url(path) {
        return Cow::Owned(path);
    }
    let path = match path.starts_with("webpack") {
        true => match path.rsplit_once("/./") {
            Some((_, path)) => path,
            None => path.strip_prefix("webpack:///").unwrap_or(path),
        },
        false => path,
    };
    // Vite's `a.ts?t=17000`.
    Cow::Borrowed(path.split_once('?').map_or(path, |(path, _)| path))
}

/// The path of a `file:` URL of this machine.
pub fn path_of_url(url: &str) -> Option<String> {
    let (scheme, rest) = url.split_once("://")?;
    let (host, path) = rest.split_at(rest.find('/')?);
    let is_local = host.is_empty() || host.eq_ignore_ascii_case("localhost");
    if !scheme.eq_ignore_ascii_case("file") || !is_local {
        return None;
    }
    let path = path.split(['?', '#']).next()?;
    // An escaped slash would be part of a file name, where no system allows one.
    if path.to_ascii_lowercase().contains("%2f") {
        return None;
    }
    let path = percent_decode_str(path).decode_utf8().ok()?;
    if path.contains('\0') {
        return None;
    }
    let is_drive = cfg!(windows) && path.as_bytes().get(2) == Some(&b':');
    Some(path[usize::from(is_drive)..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_long_output_only_what_is_read_is_decoded() {
        let read = |output: &str| {
            let mut lines = Vec::new();
            let found = |place: NamedPlace<'_>| {
                lines.push(place.line);
                ControlFlow::Continue(())
            };
            read_places(output, &Cancel::default(), found).unwrap();
            lines
        };
        for filler in ["filler\n", "é\n", "x"] {
            let middle = filler.repeat(6 << 20);
            let output = format!("a.ts:3: x\n{middle}a.ts:5: x\n{middle}\na.ts:9: x\n");
            let decoded = output_text(output.as_bytes());
            assert!(decoded.len() < OUTPUT_LIMIT_BYTES + 4 * LINE_LIMIT_BYTES);
            assert_eq!(read(&decoded), [3, 9]);
            assert_eq!(read(&output), [3, 9]);
        }
        assert!(matches!(output_text(b"a"), Cow::Borrowed("a")));
        assert_eq!(output_text(b"\xff"), "\u{fffd}");
    }
}
