//! Other readings of a regular expression: the spelling of `grep`, where `\|` separates
//! alternatives, and text that was meant literally, such as `f(x)` or `$5`. Also literal text that
//! was meant as a regular expression.

use regex_syntax::ParserBuilder;

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
    /// Whether most matches are unwanted: a set of characters is a word, as in `[ERROR]`, or every
    /// line matches, as for `foo|`.
    pub(crate) has_unwanted_matches: bool,
}

/// The characters whose escapes have the opposite meaning in `grep`.
const SWAPPED: [char; 7] = ['|', '(', ')', '{', '}', '+', '?'];

/// Escapes that can start a name in a Windows path, such as `C:\dir`.
const LETTER_ESCAPES: [(char, &str); 13] = [
    ('d', "a digit"),
    ('D', "a character that is not a digit"),
    ('s', "a whitespace character"),
    ('S', "a character that is not whitespace"),
    ('w', "a letter, a digit or _"),
    ('W', "a character that is not a letter, a digit or _"),
    ('b', "the start or end of a word"),
    ('B', "a place that is not the start or end of a word"),
    ('t', "a tab"),
    ('r', "a carriage return"),
    ('f', "a form feed"),
    ('v', "a vertical tab"),
    ('a', "U+0007"),
];

/// The shortest set of characters that is taken for a word if each occurs once.
const MIN_WORD_CHARS: usize = 4;

/// Whether a pattern matches every line, because it matches the empty text anywhere.
fn matches_every_line(pattern: &str) -> bool {
    let parsed = ParserBuilder::new().multi_line(true).utf8(false).build().parse(pattern);
    parsed.is_ok_and(|hir| {
        let properties = hir.properties();
        properties.minimum_len() == Some(0) && properties.look_set().is_empty()
    })
}

/// Whether a literal text was rather meant as a regular expression: `a|b`, `a.*b`, `\w+`, `^a`.
pub(crate) fn is_likely_regex(text: &str) -> bool {
    let escapes = LETTER_ESCAPES.iter().map(|&(c, _)| c).chain(['.', '(', '[', '$']);
    let has_escape = || escapes.into_iter().any(|c| text.contains(&format!("\\{c}")));
    let is_alternative = || text.contains('|') && !text.contains(" |") && !text.contains("| ");
    let has_mark = is_alternative()
        || [".*", ".+"].iter().any(|mark| text.contains(mark))
        || text.starts_with('^')
        || text.ends_with('$')
        || has_escape();
    has_mark && text.len() > 1 && !matches_every_line(text)
}

/// Whether a set of characters, with what follows its opening bracket, is rather a word: its
/// characters are not in the order of a list, or one occurs twice. No repetition follows it.
fn is_word_as_set(rest: &str) -> bool {
    let Some((word, after)) = rest.split_once(']') else { return false };
    let chars: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
    // Each letter in both cases.
    let is_caseless = word.chars().any(char::is_uppercase) && word.chars().any(char::is_lowercase);
    let is_sorted = chars.windows(2).all(|pair| pair[0] < pair[1]);
    let mut unique = chars.clone();
    unique.sort_unstable();
    unique.dedup();
    let min_chars = MIN_WORD_CHARS - usize::from(unique.len() < chars.len());
    chars.len() >= min_chars
        && !is_sorted
        && !is_caseless
        && chars.iter().all(|&c| c.is_alphabetic() || c == '_')
        && !after.starts_with(['+', '*', '?', '{'])
}

/// Whether an escape that was just taken from a pattern follows a drive, as in `C:\dir`.
fn is_after_drive(pattern: &str, rest: &std::str::Chars<'_>) -> bool {
    let head = &pattern[..pattern.len() - rest.as_str().len()];
    let mut back = head.chars().rev().skip(2);
    back.next() == Some(':')
        && back.next().is_some_and(|drive| drive.is_ascii_alphabetic())
        && back.next().is_none_or(|before| !is_word(before) && before != '?')
}

/// The other readings of a pattern; `None` if there is only one.
pub(crate) fn readings(pattern: &str) -> Option<Readings> {
    let (mut parts, mut is_likely, mut is_grep) = (Vec::new(), false, false);
    let (mut before, mut chars) = (None, pattern.chars());
    let (mut is_in_class, mut has_unwanted_matches) = (false, false);
    let mut has_words = false;
    while let Some(c) = chars.next() {
        let after_word = before.is_some_and(is_word);
        let mut here = Some(c);
        let part = match c {
            '\\' => {
                let escaped = chars.next();
                // A repetition after an escape such as `\w` is not meant literally.
                here = None;
                match escaped.filter(|_| !is_in_class) {
                    Some(escaped) if SWAPPED.contains(&escaped) => {
                        (is_grep, is_likely) = (true, true);
                        let is_shown = ![')', '}'].contains(&escaped);
                        is_shown.then(|| format!("`\\{escaped}` is the character {escaped}"))
                    }
                    Some(escaped) => {
                        let is_in_path = is_after_drive(pattern, &chars);
                        // Between letters, in `C:\dir`, or with a repetition.
                        let is_counted = next_of(&chars).is_some_and(|next| "+*?{".contains(next));
                        let is_name =
                            (after_word || is_in_path) && next_of(&chars).is_some_and(is_word);
                        let is_shown = is_name || is_counted;
                        let known = LETTER_ESCAPES.iter().find(|(c, _)| is_shown && *c == escaped);
                        is_likely |= known.is_some() && is_in_path && is_name;
                        known.map(|(_, meaning)| format!("`\\{escaped}` is {meaning}"))
                    }
                    None => None,
                }
            }
            ']' => {
                is_in_class = false;
                None
            }
            _ if is_in_class => {
                has_words |= is_word(c);
                None
            }
            '[' => {
                is_in_class = true;
                let is_word = is_word_as_set(chars.as_str());
                (is_likely, has_unwanted_matches) =
                    (is_likely | is_word, has_unwanted_matches | is_word);
                (after_word || is_word).then(|| "[ ] is a set of characters".to_owned())
            }
            '(' if after_word => {
                // With alternatives it is surely meant as a group.
                is_likely |= !pattern.contains('|');
                Some("( ) is a group".to_owned())
            }
            '$' if next_of(&chars).is_some_and(|next| is_word(next) || next == '{') => {
                is_likely = true;
                Some("$ is the end of a line".to_owned())
            }
            '^' if after_word => {
                is_likely = true;
                Some("^ is the start of a line".to_owned())
            }
            '$' if after_word && chars.as_str().is_empty() => {
                Some("$ is the end of a line".to_owned())
            }
            '^' if chars.as_str().len() + 1 == pattern.len() && pattern.len() > 1 => {
                Some("^ is the start of a line".to_owned())
            }
            '+' | '*' | '?' | '{' if after_word => Some(format!("{c} repeats what precedes it")),
            _ => {
                has_words |= is_word(c);
                None
            }
        };
        parts.extend(part.filter(|part| !part.is_empty() && !parts.contains(part)));
        before = here;
    }
    // `.*` is meant to match every line.
    if has_words && pattern.contains(['|', '*', '?', '{']) && matches_every_line(pattern) {
        has_unwanted_matches = true;
        parts.push("the pattern matches every line, because it matches the empty text".to_owned());
    }
    let grep = is_grep.then(|| as_grep(pattern));
    let is_one = parts.is_empty() && grep.is_none();
    (!is_one).then(|| Readings { meaning: parts.join("; "), grep, is_likely, has_unwanted_matches })
}

fn next_of(chars: &std::str::Chars<'_>) -> Option<char> {
    chars.clone().next()
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
            (r"C:\dir", r"`\d` is a digit", None),
            ("[ERROR]", "[ ] is a set of characters", None),
            ("[info] done", "[ ] is a set of characters", None),
        ] {
            let grep = grep.map(str::to_owned);
            let has_unwanted_matches = pattern.starts_with('[');
            let expected =
                Readings { meaning: meaning.into(), grep, is_likely: true, has_unwanted_matches };
            assert_eq!(readings(pattern), Some(expected), "{pattern}");
        }
        for (pattern, meaning) in [
            ("items[0]", "[ ] is a set of characters"),
            (r"src\bin", r"`\b` is the start or end of a word"),
            ("i++", "+ repeats what precedes it"),
            ("a?.b", "? repeats what precedes it"),
            ("price$", "$ is the end of a line"),
            ("^start", "^ is the start of a line"),
            (r"\d+ lit", r"`\d` is a digit"),
        ] {
            let found = readings(pattern).unwrap();
            assert_eq!((&*found.meaning, found.is_likely), (meaning, false), "{pattern}");
        }
    }

    #[test]
    fn regression_patterns_that_match_every_line() {
        for pattern in ["foo|", "|foo", "a**", "foo|(bar)?", "[a-z]*", "(foo)?(bar)?"] {
            let found = readings(pattern).unwrap();
            assert!(found.has_unwanted_matches, "{pattern}");
            assert!(found.meaning.contains("every line"), "{pattern}: {}", found.meaning);
        }
        for pattern in ["foo|bar", "^a*", "a*$", r"\ba?", "a*b", "(a|)b", r"\w*", ".*"] {
            let found = readings(pattern);
            assert!(found.is_none_or(|found| !found.has_unwanted_matches), "{pattern}");
        }
    }

    #[test]
    fn regression_literal_texts_that_are_rather_patterns() {
        for text in ["price|start", "a.*b", r"\w+", r"a\.b", "^a", "a$", "(a|b)"] {
            assert!(is_likely_regex(text), "{text}");
        }
        for text in ["f(x)", "a || b", "a | b", "||", "a|", "$", "a[0]", "i++", "a.b", ""] {
            assert!(!is_likely_regex(text), "{text}");
        }
    }

    #[test]
    fn patterns_with_one_reading() {
        for pattern in [
            "foo",
            "foo.*bar",
            ".*",
            "^",
            "$",
            "(a|b)+",
            "(a)(b)",
            r"\bfoo\b",
            "(foo|bar)",
            "[a(|]+",
            r"a\.b",
            r"[\|]",
            "[aeiou]",
            "[A-Za-z_]",
            "[word]+",
            "[eE]",
            r"C:\\dir",
            "",
        ] {
            assert_eq!(readings(pattern), None, "{pattern}");
        }
    }
}
