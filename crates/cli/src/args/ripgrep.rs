//! Options that `search` has because users know them from ripgrep.

use clap::Args;
use hashline_core::{Error, Result};

/// Options without a meaning for lines with anchors. Their refusals name what to use instead.
#[derive(Debug, Args)]
pub struct Unsupported {
    #[arg(long, short = 'o', hide = true)]
    only_matching: bool,
    #[arg(long, short = 'v', hide = true)]
    invert_match: bool,
    #[arg(long, short = 'U', hide = true)]
    multiline: bool,
}

impl Unsupported {
    /// Refuses the options, and more than two `-u`.
    pub fn check(&self, unrestricted: u8) -> Result<()> {
        let refusals = [
            (
                self.only_matching,
                "-o prints parts of lines, which have no anchors. Omit it; --max-line-chars N shows N characters around a match",
            ),
            (
                self.invert_match,
                "-v is not supported. Use -e '^(?!.*PATTERN)' for lines in which PATTERN does not match",
            ),
            (
                self.multiline,
                "-U is not supported, because a match is in one line. Search for the first line, with -A N for the N lines after it",
            ),
            (
                unrestricted > 2,
                "-uuu is not supported, because binary files are not searched. Use -uu",
            ),
        ];
        let refused = refusals.into_iter().find(|(is_given, _)| *is_given);
        refused.map_or(Ok(()), |(_, message)| Err(Error::argument(message)))
    }
}

/// Whether a pattern searches for an upper-case letter: the letters of escapes and of the names of
/// groups do not count.
pub fn has_uppercase(pattern: &str, is_regex: bool) -> bool {
    let mut rest = pattern;
    while let Some(first) = rest.chars().next() {
        let syntax = if is_regex { syntax_bytes(rest) } else { 0 };
        if syntax == 0 && first.is_uppercase() {
            return true;
        }
        rest = &rest[syntax.max(first.len_utf8())..];
    }
    false
}

/// The length of an escape or of the start of a group at the start of a pattern; 0 if there is none.
fn syntax_bytes(pattern: &str) -> usize {
    if pattern.starts_with("(?") {
        return pattern.find([')', ':', '>', '=', '!']).map_or(pattern.len(), |end| end + 1);
    }
    let Some(escape) = pattern.strip_prefix('\\') else { return 0 };
    let mut chars = escape.chars();
    let kind = chars.next();
    let start = pattern.len() - chars.as_str().len();
    let more = match (kind, chars.next()) {
        (_, Some('{')) => pattern[start..].find('}').map_or(pattern.len() - start, |end| end + 1),
        (Some('p' | 'P'), Some(name)) => name.len_utf8(),
        _ => 0,
    };
    start + more
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_letters_that_are_searched_count_as_upper_case() {
        for (pattern, in_text, in_regex) in [
            ("", false, false),
            ("aé", false, false),
            ("aÉ", true, true),
            (r"\Sa\W", true, false),
            (r"\\S", true, true),
            (r"\p{Lu}\pL\PLx", true, false),
            (r"\pLA", true, true),
            ("(?P<Name>a)(?<Two>b)", true, false),
            ("(?=A)", true, true),
            (r"\", false, false),
            (r"\p", false, false),
            (r"\p{L", true, false),
            (r"\É", true, false),
            ("(?", false, false),
            ("(?A", true, false),
        ] {
            let seen = [false, true].map(|is_regex| has_uppercase(pattern, is_regex));
            assert_eq!(seen, [in_text, in_regex], "{pattern}");
        }
    }
}
