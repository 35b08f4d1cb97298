//! The files that a sed program accesses besides its operands.

use super::FindingKind;

/// A file that a program reads or writes itself.
type Named<'p> = (FindingKind, &'p str);

/// The lines that a program such as `10,20p` prints; `None` for the last line of the file.
pub fn lines(program: &str) -> Option<(u64, Option<u64>)> {
    let range = program.strip_suffix('p').or(program.strip_suffix("p;"))?;
    let (start, end) = range.split_once(',').unwrap_or((range, range));
    let start: u64 = start.parse().ok()?;
    let end = match end.strip_prefix('+') {
        Some(count) => Some(count.parse::<u64>().ok()?.saturating_add(start)),
        None if end == "$" => None,
        None => Some(end.parse().ok()?),
    };
    Some((start, end))
}

/// The files that a program names, as far as it can be parsed.
pub fn files(program: &str) -> Vec<Named<'_>> {
    let mut reader =
        Reader { program, rest: program, closing: Next::of(b"]"), end: Next::of(b"\n;") };
    let mut files = Vec::new();
    while reader.command(&mut files).is_some() {}
    files
}

/// Reads a program.
struct Reader<'p> {
    program: &'p str,
    /// The rest of it.
    rest: &'p str,
    /// The next `]`, which may close a bracket expression.
    closing: Next,
    /// The next end of a line or command, which a bracket expression cannot cross.
    end: Next,
}

impl<'p> Reader<'p> {
    /// Reads a command with its addresses; `None` at the end of the program.
    fn command(&mut self, files: &mut Vec<Named<'p>>) -> Option<()> {
        self.addresses()?;
        match self.next()? {
            's' | 'y' => {
                let delimiter = self.next()?;
                self.pass(delimiter)?;
                self.pass(delimiter)?;
                let is_flag = |c: char| c.is_ascii_digit() || "gpiImMe".contains(c);
                self.rest = self.rest.trim_start_matches(is_flag);
                if let Some(rest) = self.rest.strip_prefix('w') {
                    self.rest = rest;
                    self.name(FindingKind::Write, files);
                }
            }
            'r' | 'R' => self.name(FindingKind::Read, files),
            'w' | 'W' => self.name(FindingKind::Write, files),
            // The text continues after a line that ends in a backslash.
            'a' | 'i' | 'c' => self.pass('\n')?,
            'b' | 't' | 'T' | ':' => {
                self.rest = self.rest.trim_start_matches(|c| c != ';' && c != '\n');
            }
            '#' => drop(self.line()),
            _ => {}
        }
        Some(())
    }

    /// Reads the addresses and braces before a command.
    fn addresses(&mut self) -> Option<()> {
        let is_between = |c: char| c.is_whitespace() || ";}".contains(c);
        self.rest = self.rest.trim_start_matches(is_between);
        loop {
            let is_plain = |c: char| c.is_whitespace() || "0123456789$,~+!{".contains(c);
            self.rest = self.rest.trim_start_matches(is_plain);
            if self.rest.starts_with('/') {
                self.next();
                self.pass('/')?;
                self.rest = self.rest.trim_start_matches(['I', 'M']);
            } else if self.rest.starts_with('\\') {
                self.next();
                let delimiter = self.next()?;
                self.pass(delimiter)?;
            } else {
                return Some(());
            }
        }
    }

    fn next(&mut self) -> Option<char> {
        let mut chars = self.rest.chars();
        let next = chars.next()?;
        #[cfg(test)]
        super::steps::count(1);
        self.rest = chars.as_str();
        Some(next)
    }

    /// Reads to the end of the line.
    fn line(&mut self) -> &'p str {
        let (line, rest) = self.rest.split_at(self.rest.find('\n').unwrap_or(self.rest.len()));
        self.rest = rest;
        line
    }

    /// Reads the name of a file: the rest of the line.
    fn name(&mut self, kind: FindingKind, files: &mut Vec<Named<'p>>) {
        let name = Some(self.line().trim()).filter(|name| !name.is_empty());
        let name = name.filter(|name| !name.starts_with("/dev/std"));
        files.extend(name.map(|name| (kind, name)));
    }

    /// Reads up to and including a delimiter.
    fn pass(&mut self, delimiter: char) -> Option<()> {
        loop {
            match self.next()? {
                '\\' => drop(self.next()),
                next if next == delimiter => return Some(()),
                '[' => self.class(),
                _ => {}
            }
        }
    }

    /// After a `[`: reads the bracket expression, in which a delimiter is literal: `[^/]`.
    fn class(&mut self) {
        let class = self.rest.strip_prefix('^').unwrap_or(self.rest);
        let mut letters = class.chars();
        // A bracket in first position is literal.
        letters.next();
        let offset = |rest: &str| self.program.len() - rest.len();
        let (start, after_first) = (offset(class), offset(letters.as_str()));
        let closing = self.closing.after(self.program, after_first);
        if closing < self.end.after(self.program, start) {
            self.rest = &self.program[closing + 1..];
        }
    }
}

/// The offset of the next of some characters. Offsets are requested in ascending order, so that a
/// program is searched only once, regardless of how many brackets it has.
struct Next {
    signs: &'static [u8],
    found: Option<usize>,
}

impl Next {
    fn of(signs: &'static [u8]) -> Next {
        Next { signs, found: None }
    }

    /// The first occurrence at or after `start`; the end of the program if there is none.
    fn after(&mut self, program: &str, start: usize) -> usize {
        if let Some(found) = self.found.filter(|found| *found >= start) {
            return found;
        }
        let rest = program.as_bytes().get(start..).unwrap_or_default();
        let length = rest.iter().position(|byte| self.signs.contains(byte)).unwrap_or(rest.len());
        #[cfg(test)]
        super::steps::count(length);
        *self.found.insert(start + length)
    }
}

#[cfg(test)]
mod tests {
    use super::FindingKind::{Read, Write};
    use super::*;

    #[test]
    fn files_are_found_among_commands() {
        for (program, expected) in [
            ("w out", vec![(Write, "out")]),
            ("s/a/b/w out", vec![(Write, "out")]),
            ("s/a/b/gpw out\np", vec![(Write, "out")]),
            ("/x/w out", vec![(Write, "out")]),
            ("1,5{p;w out\n}", vec![(Write, "out")]),
            ("$!{/a/,/b/ W out\n}", vec![(Write, "out")]),
            ("\\,x,w out", vec![(Write, "out")]),
            ("$r in", vec![(Read, "in")]),
        ] {
            assert_eq!(files(program), expected, "{program}");
        }
    }

    #[test]
    fn patterns_and_texts_contain_no_commands() {
        for program in [
            "s/w out/b/g",
            "s|a/w out|b|",
            "s/[^/]w x/w y/",
            "/w out/p",
            "a\\\nw out",
            "i w out",
            "y/w /o /",
            "b w",
            ":w x",
            "p;q",
            "5q",
            "s/a/b/w /dev/stdout",
            "1!G;h;$!d",
            "# w out",
            "s/\\/w f/x/",
            "{",
            "s/a",
            "",
        ] {
            assert_eq!(files(program), Vec::new(), "{program}");
        }
    }
}
