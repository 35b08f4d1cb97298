//! How alike two file names are.

use std::borrow::Cow;
use std::path::Path;

use unicode_normalization::UnicodeNormalization;

/// How a name differs from another one, the most likely mistakes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Difference {
    /// The Unicode normalization: `ü` is one code point in NFC and two in NFD.
    Normalization,
    /// Upper and lower case.
    Case,
    /// The kind of a space, such as a no-break space.
    Space,
    /// One letter is missing, added or another one, or two neighbours are swapped.
    Letter,
    /// The extension.
    Extension,
}

impl Difference {
    /// The words for messages.
    pub fn noun(self) -> &'static str {
        match self {
            Difference::Normalization => "another Unicode normalization",
            Difference::Case => "another case",
            Difference::Space => "another kind of space",
            Difference::Letter => "one letter differs",
            Difference::Extension => "another extension",
        }
    }
}

/// Among shorter names most pairs differ in one letter.
const MIN_CHARS_FOR_LETTERS: usize = 3;

/// A name to compare others with.
#[derive(Debug)]
pub struct NameMatcher<'n> {
    name: &'n str,
    composed: Cow<'n, str>,
    folded: String,
    spaced: Vec<char>,
    stem: String,
}

impl<'n> NameMatcher<'n> {
    /// Prepares a name.
    pub fn new(name: &'n str) -> NameMatcher<'n> {
        let composed = composed(name);
        let folded = folded(name);
        let spaced = spaced(&folded).collect();
        let stem = stem(&folded).to_owned();
        NameMatcher { name, composed, folded, spaced, stem }
    }

    /// The prepared name.
    pub fn name(&self) -> &str {
        self.name
    }

    /// How another name differs from this one; `None` if it is the same or not similar.
    pub fn difference(&self, other: &str) -> Option<Difference> {
        if other == self.name {
            return None;
        }
        let folded = folded(other);
        let form = self.form(other, &folded);
        if form.is_some() {
            return form;
        }
        let spaced: Vec<char> = spaced(&folded).collect();
        let shorter = self.stem.chars().count().min(stem(&folded).chars().count());
        if shorter >= MIN_CHARS_FOR_LETTERS && differ_in_one_letter(&self.spaced, &spaced) {
            return Some(Difference::Letter);
        }
        (stem(&folded) == self.stem).then_some(Difference::Extension)
    }

    /// Whether another name differs from this one, but only in normalization, case, or the kind of
    /// spaces.
    pub fn differs_in_form(&self, other: &str) -> bool {
        other != self.name && self.form(other, &folded(other)).is_some()
    }

    fn form(&self, other: &str, folded: &str) -> Option<Difference> {
        if composed(other) == self.composed {
            Some(Difference::Normalization)
        } else if folded == self.folded {
            Some(Difference::Case)
        } else {
            spaced(folded).eq(self.spaced.iter().copied()).then_some(Difference::Space)
        }
    }
}

/// A name without differences in normalization and case: equal for names that a file system can
/// take as the same.
pub fn folded(name: &str) -> String {
    if name.is_ascii() {
        return name.to_ascii_lowercase();
    }
    // The lower case of a composed letter need not be composed.
    composed(name).to_lowercase().nfc().collect()
}

/// Whether a name has another Unicode normalization.
pub fn has_several_forms(name: &str) -> bool {
    !name.is_ascii() && !name.nfc().eq(name.nfd())
}

fn composed(name: &str) -> Cow<'_, str> {
    if name.is_ascii() { name.into() } else { name.nfc().collect::<String>().into() }
}

fn spaced(name: &str) -> impl Iterator<Item = char> {
    name.chars().map(|char| if !char.is_ascii() && char.is_whitespace() { ' ' } else { char })
}

fn stem(name: &str) -> &str {
    Path::new(name).file_stem().and_then(|stem| stem.to_str()).unwrap_or(name)
}

/// Whether one edit turns a name into the other: a letter added, removed or replaced, or two
/// neighbours swapped.
fn differ_in_one_letter(one: &[char], other: &[char]) -> bool {
    if one.len().abs_diff(other.len()) > 1 {
        return false;
    }
    let start = one.iter().zip(other).take_while(|(one, other)| one == other).count();
    let (one, other) = (&one[start..], &other[start..]);
    let end = one.iter().rev().zip(other.iter().rev()).take_while(|(one, other)| one == other);
    let end = end.count();
    match (&one[..one.len() - end], &other[..other.len() - end]) {
        ([a, b], [c, d]) => a == d && b == c,
        (one, other) => one.len() <= 1 && other.len() <= 1,
    }
}

#[cfg(test)]
mod tests {
    use super::{Difference, NameMatcher, folded};

    #[test]
    fn names_are_alike_in_the_first_way_that_fits() {
        use Difference::{Case, Extension, Letter, Normalization, Space};
        let cases = [
            ("größe.txt", "gro\u{308}ße.txt", Some(Normalization)),
            ("GRÖßE.txt", "gro\u{308}ße.txt", Some(Case)),
            ("README.md", "readme.md", Some(Case)),
            ("a b.png", "a\u{a0}b.png", Some(Space)),
            ("at 9.41 AM.png", "at 9.41\u{202f}am.png", Some(Space)),
            ("parser.rs", "parsers.rs", Some(Letter)),
            ("parser.rs", "paser.rs", Some(Letter)),
            ("parser.rs", "pasrer.rs", Some(Letter)),
            ("parser.rs", "barser.rs", Some(Letter)),
            ("parser.rs", "Parser.ts", Some(Letter)),
            ("parser.rs", "parser.toml", Some(Extension)),
            ("README", "readme.md", Some(Extension)),
            // Not alike: two letters, too short, the same.
            ("parser.rs", "pasers.rs", None),
            ("a.txt", "b.txt", None),
            ("ab", "ba", None),
            ("a.txt", "a.txt", None),
            ("", "", None),
        ];
        for (wanted, name, expected) in cases {
            assert_eq!(NameMatcher::new(wanted).difference(name), expected, "{wanted} {name}");
        }
    }

    #[test]
    fn folding_twice_changes_nothing() {
        for name in ["İ", "I\u{307}", "ΑΣ.txt", "Å", "ẞ", "\u{1f88}", "e\u{301}\u{323}"] {
            assert_eq!(folded(&folded(name)), folded(name), "{name}");
        }
    }
}
