//! The files that an awk program accesses besides its operands.

use std::sync::LazyLock;

use regex::Regex;

use super::FindingKind;

/// `print` or `printf` with a redirection after its values: `print $1 > "out"`.
static PRINT_TO_FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\bprintf?\b[^;}\n|<>]*>>?\s*("[^"]*"|[A-Za-z_$(]\S*)"#).ok());

/// `getline < "in"`.
static GET_FROM_FILE: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r#"\bgetline\b[^;}\n|<>]*<\s*("[^"]*"|[A-Za-z_$(]\S*)"#).ok());

/// The first and the last line; `None` for the last line of the file.
type Lines = (u64, Option<u64>);

/// The lines that a condition such as `NR>=10 && NR<=20` selects.
pub fn lines(program: &str) -> Option<Lines> {
    let code = without_values(program);
    let [Rule { pattern, .. }] = rules(&code)[..] else { return None };
    let pattern = pattern.replace(char::is_whitespace, "");
    if let Some((first, last)) = pattern.split_once(',') {
        let line = |one: &str| one.strip_prefix("NR==")?.parse().ok();
        return Some((line(first)?, Some(line(last)?)));
    }
    let both = |one: Option<Lines>, other: Option<Lines>| {
        let ((first, last), (from, to)) = (one?, other?);
        Some((first.max(from), last.into_iter().chain(to).min()))
    };
    pattern.split("&&").map(bounds).reduce(both)?
}

/// The first and the last line for which a condition is true.
fn bounds(condition: &str) -> Option<Lines> {
    let condition = condition.strip_prefix("NR")?;
    let digits = condition.trim_start_matches(['<', '>', '=']);
    let line: u64 = digits.parse().ok()?;
    match condition.strip_suffix(digits)? {
        "==" => Some((line, Some(line))),
        ">=" => Some((line, None)),
        ">" => Some((line.checked_add(1)?, None)),
        "<=" => Some((1, Some(line))),
        "<" => Some((1, Some(line.checked_sub(1)?))),
        _ => None,
    }
}

/// The files that a program names itself, to read or write them.
pub fn files(program: &str) -> Vec<(FindingKind, &str)> {
    let code = without_values(program);
    let patterns = [(FindingKind::Write, &PRINT_TO_FILE), (FindingKind::Read, &GET_FROM_FILE)];
    let named = patterns.into_iter().filter_map(|(kind, regex)| Some((kind, regex.as_ref()?)));
    let found = named.flat_map(|(kind, regex)| {
        // The span is the same in the program itself, where strings are not masked.
        let ranges = regex.captures_iter(&code).filter_map(|found| Some(found.get(1)?.range()));
        ranges.filter_map(move |range| Some((kind, program.get(range)?.trim_matches('"'))))
    });
    found.filter(|(_, name)| !name.starts_with("/dev/std") && !name.is_empty()).collect()
}

/// Whether a program shows no line of its input: it prints only in `BEGIN` or `END` blocks and does
/// not call `getline`.
pub fn shows_no_line(program: &str) -> bool {
    let takes_lines = program.contains("getline");
    let prints = |body: &str| {
        let mut words = body.split(|c: char| !c.is_ascii_alphabetic());
        words.any(|word| matches!(word, "print" | "printf"))
    };
    let shows = |rule: &Rule<'_>| match rule.body {
        // A pattern without a block prints the lines that match.
        None => true,
        Some(body) => (takes_lines || !matches!(rule.pattern, "END" | "BEGIN")) && prints(body),
    };
    !rules(&without_values(program)).iter().any(shows)
}

/// Whether all of a program runs before its input, and it does not call `getline`.
pub fn reads_nothing(program: &str) -> bool {
    let code = without_values(program);
    let rules = rules(&code);
    let is_before = |rule: &Rule<'_>| {
        let word = rule.pattern.split(|c: char| !c.is_ascii_alphabetic()).next();
        matches!(word, Some("BEGIN" | "function" | "func")) && rule.body.is_some()
    };
    !rules.is_empty() && rules.iter().all(is_before) && !program.contains("getline")
}

/// A rule or a function of a program.
struct Rule<'p> {
    /// The text before the block.
    pattern: &'p str,
    /// The block, if there is one.
    body: Option<&'p str>,
}

/// The rules of a program whose values are masked.
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

/// Adds the patterns without a block, one per line, as rules. Returns the last pattern, which
/// belongs to the next block.
fn lone_patterns<'p>(patterns: &'p str, rules: &mut Vec<Rule<'p>>) -> &'p str {
    let is_code = |line: &&str| !line.is_empty() && !line.starts_with('#');
    let mut lines: Vec<_> = patterns.split([';', '\n']).map(str::trim).filter(is_code).collect();
    let last = lines.pop().unwrap_or_default();
    rules.extend(lines.into_iter().map(|pattern| Rule { pattern, body: None }));
    last
}

/// The program, of the same length, in which all parts are masked where `>` is not a redirection:
/// strings, patterns and brackets.
fn without_values(program: &str) -> String {
    #[cfg(test)]
    super::steps::count(program.len());
    let (mut brackets, mut in_text, mut is_escaped) = (0_u32, false, false);
    let blotted = program.bytes().map(|byte| {
        let is_hidden = brackets > 0 || in_text || !byte.is_ascii();
        match byte {
            _ if is_escaped => {
                is_escaped = false;
                return b'x';
            }
            b'\\' => {
                is_escaped = true;
                return b'x';
            }
            b'"' => {
                in_text = !in_text;
                return if brackets > 0 { b'x' } else { byte };
            }
            b'(' if !in_text => brackets += 1,
            b')' if !in_text => brackets = brackets.saturating_sub(1),
            _ => {}
        }
        if is_hidden { b'x' } else { byte }
    });
    String::from_utf8(blotted.collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_that_only_compute_show_no_line() {
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
    fn redirections_are_distinguished_from_comparisons() {
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
            let written: Vec<_> = files(program).into_iter().map(|(_, name)| name).collect();
            assert_eq!(written, expected, "{program}");
        }
        assert_eq!(files("BEGIN{while ((getline line < \"in\") > 0) print line}"), Vec::new());
        assert_eq!(files("BEGIN{getline line < \"in\"}"), [(FindingKind::Read, "in")]);
    }
}
