//! What a program of awk does to files beside those that it is given.

use std::sync::LazyLock;

use regex::Regex;

/// `print` or `printf` with a redirection after its values: `print $1 > "out"`.
static PRINT_TO_FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\bprintf?\b[^;}\n|<>]*>>?\s*("[^"]*"|[A-Za-z_$(]\S*)"#).ok());

/// `getline < "in"`.
static GET_FROM_FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\bgetline\b[^;}\n|<>]*<\s*("[^"]*"|[A-Za-z_$(]\S*)"#).ok());

/// The lines that `NR>=10 && NR<=20` and the like choose, from the first to the last; none is the
/// file's last.
pub fn lines(program: &str) -> Option<(u64, Option<u64>)> {
    let code = without_values(program);
    let [Rule { pattern, .. }] = rules(&code)[..] else { return None };
    let pattern = pattern.replace(char::is_whitespace, "");
    if let Some((first, last)) = pattern.split_once(',') {
        return Some((number(first, "NR==")?, Some(number(last, "NR==")?)));
    }
    let Some((one, other)) = pattern.split_once("&&") else {
        let only = number(&pattern, "NR==").map(|line| (line, Some(line)));
        let from = || Some((first(&pattern)?, None));
        return only.or_else(from).or_else(|| Some((1, Some(last(&pattern)?))));
    };
    let both = |from, to| Some((first(from)?, Some(last(to)?)));
    both(one, other).or_else(|| both(other, one))
}

/// The line from which on a condition is true.
fn first(condition: &str) -> Option<u64> {
    number(condition, "NR>=").or_else(|| number(condition, "NR>")?.checked_add(1))
}

/// The last line for which a condition is true.
fn last(condition: &str) -> Option<u64> {
    number(condition, "NR<=").or_else(|| number(condition, "NR<")?.checked_sub(1))
}

fn number(text: &str, before: &str) -> Option<u64> {
    text.strip_prefix(before)?.parse().ok()
}

/// Files that a program writes.
pub fn written(program: &str) -> Vec<String> {
    named(&PRINT_TO_FILE, program)
}

/// Files that a program reads of its own accord.
pub fn read(program: &str) -> Vec<String> {
    named(&GET_FROM_FILE, program)
}

/// Whether a program only counts and adds up: it prints nothing but at its end or its beginning,
/// where it takes no lines of its own accord.
pub fn shows_no_line(program: &str) -> bool {
    let takes_lines = program.contains("getline");
    let prints = |body: &str| {
        let mut words = body.split(|c: char| !c.is_ascii_alphabetic());
        words.any(|word| matches!(word, "print" | "printf"))
    };
    let shows = |rule: &Rule<'_>| match rule.body {
        // A pattern without a block prints its lines.
        None => true,
        Some(body) => (takes_lines || !matches!(rule.pattern, "END" | "BEGIN")) && prints(body),
    };
    !rules(&without_values(program)).iter().any(shows)
}

/// Whether all of a program runs before its input, from which it takes nothing.
pub fn reads_nothing(program: &str) -> bool {
    let code = without_values(program);
    let rules = rules(&code);
    let is_before = |rule: &Rule<'_>| {
        let word = rule.pattern.split(|c: char| !c.is_ascii_alphabetic()).next();
        matches!(word, Some("BEGIN" | "function" | "func")) && rule.body.is_some()
    };
    !rules.is_empty() && rules.iter().all(is_before) && !program.contains("getline")
}

/// A rule of a program, or a function.
struct Rule<'p> {
    /// What stands in front of the block.
    pattern: &'p str,
    /// The block, where there is one.
    body: Option<&'p str>,
}

/// The rules of a program whose values are blotted out.
fn rules(code: &str) -> Vec<Rule<'_>> {
    let mut rules = Vec::new();
    let mut rest = code;
    while let Some(start) = rest.find('{') {
        let mut open = 0_usize;
        let end = rest[start..].find(|c| {
            open += usize::from(c == '{');
            open -= usize::from(c == '}');
            open == 0
        });
        let end = end.map_or(rest.len(), |end| start + end);
        let pattern = lone_patterns(&rest[..start], &mut rules);
        rules.push(Rule { pattern, body: Some(&rest[start + 1..end]) });
        rest = rest.get(end + 1..).unwrap_or_default();
    }
    let pattern = lone_patterns(rest, &mut rules);
    if !pattern.is_empty() {
        rules.push(Rule { pattern, body: None });
    }
    rules
}

/// Takes the patterns without a block, each of which ends a line; the rest is that of a block.
fn lone_patterns<'p>(patterns: &'p str, rules: &mut Vec<Rule<'p>>) -> &'p str {
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let mut lines: Vec<_> = patterns.split([';', '\n']).map(str::trim).filter(is_code).collect();
    let last = lines.pop().unwrap_or_default();
    rules.extend(lines.into_iter().map(|pattern| Rule { pattern, body: None }));
    last
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
