//! What a program of awk does to files beside those that it is given.

use std::sync::LazyLock;

use regex::Regex;

/// `print` or `printf` with a redirection after its values: `print $1 > "out"`.
static PRINT_TO_FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\bprintf?\b[^;}\n|<>]*>>?\s*("[^"]*"|[A-Za-z_$(]\S*)"#).ok());

/// `getline < "in"`.
static GET_FROM_FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\bgetline\b[^;}\n|<>]*<\s*("[^"]*"|[A-Za-z_$(]\S*)"#).ok());

/// The lines that `NR>=10 && NR<=20` and the like choose, from the first to the last.
pub fn lines(program: &str) -> Option<(u64, u64)> {
    let pattern = program.split('{').next()?.replace(char::is_whitespace, "");
    let number = |text: &str, before| text.strip_prefix(before)?.parse::<u64>().ok();
    let (start, end) = match pattern.split_once("&&").or(pattern.split_once(',')) {
        Some((from, to)) => {
            let start = number(from, "NR>=").or(number(from, "NR=="));
            let start = start.or(number(from, "NR>").map(|line| line.saturating_add(1)));
            (start?, number(to, "NR<=").or(number(to, "NR=="))?)
        }
        None => match number(&pattern, "NR==") {
            Some(line) => (line, line),
            None => (1, number(&pattern, "NR<=")?),
        },
    };
    (start > 0 && end >= start).then_some((start, end))
}

/// Files that a program writes.
pub fn written(program: &str) -> Vec<String> {
    named(&PRINT_TO_FILE, program)
}

/// Files that a program reads of its own accord.
pub fn read(program: &str) -> Vec<String> {
    named(&GET_FROM_FILE, program)
}

/// Whether a program only counts and adds up: it prints nothing but at its end or its beginning.
pub fn shows_no_line(program: &str) -> bool {
    let code = without_values(program);
    let mut blocks = code.split('{');
    let mut pattern = blocks.next().unwrap_or_default().trim();
    let mut has_blocks = false;
    let mut is_last = false;
    let mut open = 0_usize;
    for block in blocks {
        has_blocks = true;
        is_last = if open == 0 { matches!(pattern, "END" | "BEGIN") } else { is_last };
        let mut words = block.split(|c: char| !c.is_ascii_alphabetic());
        if !is_last && words.any(|word| matches!(word, "print" | "printf")) {
            return false;
        }
        open = (open + 1).saturating_sub(block.matches('}').count());
        pattern = block.rsplit('}').next().unwrap_or_default().trim_matches([' ', ';', '\n']);
    }
    // A pattern without a block prints its lines.
    has_blocks && pattern.is_empty()
}

fn named(pattern: &LazyLock<Option<Regex>>, program: &str) -> Vec<String> {
    let code = without_values(program);
    let Some(pattern) = pattern.as_ref() else { return Vec::new() };
    let found = pattern.captures_iter(&code).filter_map(|captures| {
        // The same place of the program itself, in which texts are not blotted out.
        let place = captures.get(1)?.range();
        let name = program.get(place)?.trim_matches('"');
        (!name.starts_with("/dev/std") && !name.is_empty()).then(|| name.to_owned())
    });
    found.collect()
}

/// The program with everything blotted out, byte for byte, in which `>` redirects nothing: texts,
/// patterns and what stands in brackets.
fn without_values(program: &str) -> String {
    let mut out = Vec::with_capacity(program.len());
    let mut brackets = 0_u32;
    let mut in_text = false;
    let mut bytes = program.bytes().peekable();
    while let Some(byte) = bytes.next() {
        let is_hidden = brackets > 0 || in_text;
        match byte {
            b'\\' => {
                out.extend([b'x', b'x']);
                bytes.next();
                continue;
            }
            b'"' => {
                in_text = !in_text;
                out.push(if brackets > 0 { b'x' } else { byte });
                continue;
            }
            b'(' if !in_text => brackets += 1,
            b')' if !in_text => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        out.push(if is_hidden || !byte.is_ascii() { b'x' } else { byte });
    }
    out.truncate(program.len());
    String::from_utf8(out).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sums_show_no_line() {
        for program in [
            "{s+=$1} END {print s}",
            "END{print NR}",
            "BEGIN{print 1}",
            "/x/{n++} END{if (n) {print n}}",
        ] {
            assert!(shows_no_line(program), "{program}");
        }
        for program in [
            "{print}",
            "NR>5",
            "1",
            "/a/",
            "{s+=$1} END {print s} /x/",
            "{if (x) {print}}",
            "END{print} {print}",
        ] {
            assert!(!shows_no_line(program), "{program}");
        }
    }

    #[test]
    fn redirections_are_told_from_comparisons() {
        for (program, expected) in [
            ("{print > \"out\"}", &["out"][..]),
            ("{print $1, $2 >> \"out\"; x}", &["out"]),
            ("NR > 5 {printf \"%s > a\\n\", $0 > \"out\"}", &["out"]),
            ("{print > $1\".txt\"}", &["$1\".txt\"}"]),
            ("$1 > 5 {print}", &[]),
            ("{print ($1 > 5)}", &[]),
            ("{print \"a > b\"}", &[]),
            ("{print > \"/dev/stderr\"}", &[]),
            ("{print}; $1 > 3", &[]),
        ] {
            assert_eq!(written(program), expected, "{program}");
        }
        assert_eq!(
            read("BEGIN{while ((getline line < \"in\") > 0) print line}"),
            Vec::<String>::new()
        );
        assert_eq!(read("BEGIN{getline line < \"in\"}"), ["in"]);
    }
}
