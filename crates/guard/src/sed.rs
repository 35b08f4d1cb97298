//! What a program of sed does to files beside those that it is given.

/// A file or a command that a program of sed names.
#[derive(Debug, PartialEq, Eq)]
pub enum Effect<'p> {
    /// `r`: its lines are printed.
    Reads(&'p str),
    /// `w`: lines are written to it.
    Writes(&'p str),
}

/// The lines that `10,20p` and the like print, from the first to the last; none is the file's last.
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

/// The effects of a program, as far as it can be read.
pub fn effects(program: &str) -> Vec<Effect<'_>> {
    let mut reader = SedReader { program, at: 0, effects: Vec::new() };
    while reader.command().is_some() {}
    reader.effects
}

struct SedReader<'p> {
    program: &'p str,
    at: usize,
    effects: Vec<Effect<'p>>,
}

impl<'p> SedReader<'p> {
    fn peek(&self) -> Option<char> {
        self.program.get(self.at..)?.chars().next()
    }

    fn next(&mut self) -> Option<char> {
        let next = self.peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn skip(&mut self, matches: impl Fn(char) -> bool) {
        while self.peek().is_some_and(&matches) {
            self.next();
        }
    }

    /// Reads a command with its addresses; `None` at the end.
    fn command(&mut self) -> Option<()> {
        self.skip(|c| c.is_whitespace() || c == ';' || c == '}');
        self.address()?;
        let command = self.next()?;
        match command {
            's' | 'y' => {
                let delimiter = self.next()?;
                self.until(delimiter)?;
                self.until(delimiter)?;
                self.flags()?;
            }
            'r' | 'R' => self.effect(Effect::Reads),
            'w' | 'W' => self.effect(Effect::Writes),
            'a' | 'i' | 'c' => self.text(),
            'b' | 't' | 'T' | ':' => self.skip(|c| c != ';' && c != '\n'),
            '#' => self.skip(|c| c != '\n'),
            _ => {}
        }
        Some(())
    }

    fn address(&mut self) -> Option<()> {
        loop {
            self.skip(|c| c.is_whitespace() || "0123456789$,~+!".contains(c));
            match self.peek()? {
                '/' => {
                    self.next();
                    self.until('/')?;
                    self.skip(|c| matches!(c, 'I' | 'M'));
                }
                '\\' => {
                    self.next();
                    let delimiter = self.next()?;
                    self.until(delimiter)?;
                }
                '{' => {
                    self.next();
                }
                _ => return Some(()),
            }
        }
    }

    /// Skips to after a delimiter.
    fn until(&mut self, delimiter: char) -> Option<()> {
        let mut in_class = false;
        loop {
            match self.next()? {
                '\\' => {
                    self.next();
                }
                next if next == delimiter && !in_class => return Some(()),
                '[' if !in_class && self.has_class_end(delimiter) => in_class = true,
                ']' => in_class = false,
                _ => {}
            }
        }
    }

    /// Whether a `[` opens a class in which the delimiter is a letter: `[^/]`.
    fn has_class_end(&self, delimiter: char) -> bool {
        let rest = &self.program[self.at..];
        let rest = rest.strip_prefix('^').unwrap_or(rest);
        let end = rest.char_indices().skip(1).find(|(_, c)| *c == ']').map(|(end, _)| end);
        end.is_some_and(|end| {
            let class = &rest[..end];
            class.contains(delimiter) && !class.contains(['\n', ';'])
        })
    }

    /// The flags of `s`, one of which may name a file.
    fn flags(&mut self) -> Option<()> {
        loop {
            match self.peek()? {
                'w' => {
                    self.next();
                    self.effect(Effect::Writes);
                    return Some(());
                }
                'g' | 'p' | 'i' | 'I' | 'm' | 'M' | 'e' | '0'..='9' => {
                    self.next();
                }
                _ => return Some(()),
            }
        }
    }

    /// The rest of the line names a file or a command.
    fn effect(&mut self, effect: fn(&'p str) -> Effect<'p>) {
        let start = self.at;
        self.skip(|c| c != '\n');
        let name = self.program[start..self.at].trim();
        if !name.is_empty() && !name.starts_with("/dev/std") {
            self.effects.push(effect(name));
        }
    }

    /// The text of `a`, `i` and `c`: to the end of a line that does not end in a backslash.
    fn text(&mut self) {
        loop {
            self.skip(|c| c != '\n' && c != '\\');
            match self.next() {
                Some('\\') => {
                    self.next();
                }
                _ => return,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Effect::{Reads, Writes};
    use super::*;

    #[test]
    fn files_are_found_among_commands() {
        for (program, expected) in [
            ("w out", vec![Writes("out")]),
            ("s/a/b/w out", vec![Writes("out")]),
            ("s/a/b/gpw out\np", vec![Writes("out")]),
            ("/x/w out", vec![Writes("out")]),
            ("1,5{p;w out\n}", vec![Writes("out")]),
            ("$!{/a/,/b/ W out\n}", vec![Writes("out")]),
            ("\\,x,w out", vec![Writes("out")]),
            ("$r in", vec![Reads("in")]),
        ] {
            assert_eq!(effects(program), expected, "{program}");
        }
    }

    #[test]
    fn letters_of_patterns_and_texts_are_no_commands() {
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
            assert_eq!(effects(program), Vec::new(), "{program}");
        }
    }
}
