//! What a program of sed does to files beside those that it is given.

use super::FindingKind;

/// A file that a program reads or writes of its own accord.
type Named<'p> = (FindingKind, &'p str);

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

/// The files that a program names, as far as it can be read.
pub fn files(program: &str) -> Vec<Named<'_>> {
    let mut files = Vec::new();
    let mut rest = Some(program);
    while let Some(program) = rest {
        rest = command(program, &mut files);
    }
    files
}

/// Reads a command with its addresses; what follows it, or `None` at the end.
fn command<'p>(program: &'p str, files: &mut Vec<Named<'p>>) -> Option<&'p str> {
    let (command, rest) = first(addressed(program)?)?;
    let line_end = |text: &'p str| text.find('\n').unwrap_or(text.len());
    // The rest of the line names a file.
    let mut names = |text: &'p str, kind: FindingKind| {
        let (name, rest) = text.split_at(line_end(text));
        let name = Some(name.trim()).filter(|name| !name.is_empty());
        let name = name.filter(|name| !name.starts_with("/dev/std"));
        files.extend(name.map(|name| (kind, name)));
        rest
    };
    Some(match command {
        's' | 'y' => {
            let (delimiter, rest) = first(rest)?;
            let rest = after(delimiter, after(delimiter, rest)?)?;
            let is_flag = |c: char| c.is_ascii_digit() || "gpiImMe".contains(c);
            let rest = rest.trim_start_matches(is_flag);
            rest.strip_prefix('w').map_or(rest, |file| names(file, FindingKind::Write))
        }
        'r' | 'R' => names(rest, FindingKind::Read),
        'w' | 'W' => names(rest, FindingKind::Write),
        // Text goes on where a line ends in a backslash.
        'a' | 'i' | 'c' => after('\n', rest)?,
        'b' | 't' | 'T' | ':' => rest.trim_start_matches(|c| c != ';' && c != '\n'),
        '#' => &rest[line_end(rest)..],
        _ => rest,
    })
}

/// A command without the addresses and braces in front.
fn addressed(program: &str) -> Option<&str> {
    let mut rest = program.trim_start_matches(|c: char| c.is_whitespace() || ";}".contains(c));
    loop {
        let is_plain = |c: char| c.is_whitespace() || "0123456789$,~+!{".contains(c);
        rest = rest.trim_start_matches(is_plain);
        rest = match first(rest)? {
            ('/', pattern) => after('/', pattern)?.trim_start_matches(['I', 'M']),
            ('\\', pattern) => {
                let (delimiter, pattern) = first(pattern)?;
                after(delimiter, pattern)?
            }
            _ => return Some(rest),
        };
    }
}

fn first(text: &str) -> Option<(char, &str)> {
    let mut chars = text.chars();
    Some((chars.next()?, chars.as_str()))
}

/// What follows a delimiter.
fn after(delimiter: char, text: &str) -> Option<&str> {
    let mut chars = text.chars();
    let mut in_class = false;
    loop {
        match chars.next()? {
            '\\' => drop(chars.next()),
            next if next == delimiter && !in_class => return Some(chars.as_str()),
            '[' if !in_class => in_class = is_class(chars.as_str(), delimiter),
            ']' => in_class = false,
            _ => {}
        }
    }
}

/// Whether what follows a `[` is a class in which the delimiter is a letter: `[^/]`.
fn is_class(rest: &str, delimiter: char) -> bool {
    let rest = rest.strip_prefix('^').unwrap_or(rest);
    // A bracket that comes first is a letter, too.
    let end = rest.char_indices().skip(1).find(|(_, c)| *c == ']').map(|(end, _)| end);
    end.is_some_and(|end| {
        let class = &rest[..end];
        class.contains(delimiter) && !class.contains(['\n', ';'])
    })
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
            assert_eq!(files(program), Vec::new(), "{program}");
        }
    }
}
