//! Other readings of a regular expression: the spelling of `grep`, where `\|` separates
//! alternatives, and text that was meant literally, such as `f(x)` or `$5`.

/// What a pattern means, where its writer may have meant another thing.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Readings {
    /// What its parts mean.
    pub(crate) meaning: String,
    /// The pattern that `grep` would search for.
    pub(crate) grep: Option<String>,
    /// Whether the other readings are likely. The remaining patterns, such as `a+b`, are only worth
    /// a note if another reading has matches.
    pub(crate) is_likely: bool,
}

/// The characters whose escapes have the opposite meaning in `grep`.
const SWAPPED: [char; 7] = ['|', '(', ')', '{', '}', '+', '?'];

/// The other readings of a pattern; `None` if there is only one.
pub(crate) fn readings(pattern: &str) -> Option<Readings> {
    let (mut parts, mut is_likely, mut is_grep) = (Vec::new(), false, false);
    let (mut before, mut chars) = (None, pattern.chars().peekable());
    let mut is_in_class = false;
    while let Some(c) = chars.next() {
        let after_word = before.is_some_and(is_word);
        let mut here = Some(c);
        let part = match c {
            '\\' => {
                let escaped = chars.next();
                // A repetition after an escape such as `\w` is not meant literally.
                here = None;
                escaped.filter(|c| SWAPPED.contains(c) && !is_in_class).map(|escaped| {
                    (is_grep, is_likely) = (true, true);
                    match escaped {
                        ')' | '}' => String::new(),
                        escaped => format!("`\\{escaped}` is the character {escaped}"),
                    }
                })
            }
            ']' => {
                is_in_class = false;
                None
            }
            _ if is_in_class => None,
            '[' => {
                is_in_class = true;
                after_word.then(|| "[ ] is a set of characters".to_owned())
            }
            '(' if after_word => {
                // With alternatives it is surely meant as a group.
                is_likely |= !pattern.contains('|');
                Some("( ) is a group".to_owned())
            }
            '$' if chars.peek().is_some_and(|&next| is_word(next) || next == '{') => {
                is_likely = true;
                Some("$ is the end of a line".to_owned())
            }
            '^' if after_word => {
                is_likely = true;
                Some("^ is the start of a line".to_owned())
            }
            '+' | '*' | '?' | '{' if after_word => Some(format!("{c} repeats what precedes it")),
            _ => None,
        };
        parts.extend(part.filter(|part| !part.is_empty() && !parts.contains(part)));
        before = here;
    }
    let grep = is_grep.then(|| as_grep(pattern));
    let is_one = parts.is_empty() && grep.is_none();
    (!is_one).then(|| Readings { meaning: parts.join("; "), grep, is_likely })
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

/// A basic regular expression as an extended one.
fn as_grep(pattern: &str) -> String {
    let (mut out, mut chars) = (String::with_capacity(pattern.len()), pattern.chars());
    while let Some(c) = chars.next() {
        match c {
            '\\' => match chars.next() {
                Some(escaped) if SWAPPED.contains(&escaped) => out.push(escaped),
                escaped => {
                    out.push('\\');
                    out.extend(escaped);
                }
            },
            c if SWAPPED.contains(&c) => out.extend(['\\', c]),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_with_several_readings() {
        for (pattern, meaning, grep) in [
            (r"json\|tool", r"`\|` is the character |", Some("json|tool")),
            (r"\(foo\|bar\)", r"`\(` is the character (; `\|` is the character |", {
                Some("(foo|bar)")
            }),
            (r"a\{2\}", r"`\{` is the character {", Some("a{2}")),
            (r"f(x)\+", r"( ) is a group; `\+` is the character +", Some(r"f\(x\)+")),
            ("foo(bar)", "( ) is a group", None),
            ("$5", "$ is the end of a line", None),
            ("${name}", "$ is the end of a line", None),
            ("a^b", "^ is the start of a line", None),
        ] {
            let grep = grep.map(str::to_owned);
            let expected = Readings { meaning: meaning.into(), grep, is_likely: true };
            assert_eq!(readings(pattern), Some(expected), "{pattern}");
        }
        for (pattern, meaning) in [
            ("items[0]", "[ ] is a set of characters"),
            ("i++", "+ repeats what precedes it"),
            ("a?.b", "? repeats what precedes it"),
        ] {
            let found = readings(pattern).unwrap();
            assert_eq!((&*found.meaning, found.is_likely), (meaning, false), "{pattern}");
        }
    }

    #[test]
    fn patterns_with_one_reading() {
        for pattern in [
            "foo",
            "foo.*bar",
            "(a|b)+",
            "(a)(b)",
            "^foo$",
            r"\bfoo\s+\w+",
            "(foo|bar)",
            "[a(|]+",
            r"a\.b",
            r"[\|]",
            "",
        ] {
            assert_eq!(readings(pattern), None, "{pattern}");
        }
    }
}
