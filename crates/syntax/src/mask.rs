//! Constructs that compilers accept and a grammar lacks. In a text that does not parse, they are
//! replaced with others of the same length, so that every offset stays the same.
//!
//! A replacement cannot hide a missing or surplus bracket of the text, because what it replaces has
//! balanced brackets, or is an action of a template, whose brackets belong to another language.

use std::borrow::Cow;
use std::sync::OnceLock;

use regex::bytes::Regex;

/// The constructs of a language, compiled when a text has errors.
pub(crate) struct Masks {
    table: &'static [Row],
    patterns: OnceLock<Vec<Regex>>,
}

/// A pattern, and what replaces its group `x`: the last byte is repeated.
type Row = (&'static str, &'static [u8]);

/// Nothing, in the syntax of most languages.
const BLANK: &[u8] = b" ";

/// Empty lines: in a block scalar of YAML, a blank line must not be deeper than the text below it.
const LINE_ENDS: &[u8] = b"\n";

/// An identifier.
const WORD: &[u8] = b"x";

pub(crate) static NONE: Masks = Masks::new(&[]);

const TYPES: &[Row] = &[
    (r"\bexport\s+(?<x>type)\s*\*", BLANK),
    (r#"\b(?<x>import\((?:"[^"\n]*"|'[^'\n]*')\))"#, WORD),
    (r"(?m)^\s*(?<x>global)\s*\{", BLANK),
    (r"(?m)^\s*(?<x>in|instanceof)\??:", WORD),
    (r"\bkeyof\s+(?<x>readonly)\b", BLANK),
    // A generic call signature after another one that does not end with `;`. In TSX, `<` begins an
    // element.
    (r"(?m)^[ \t]*(?<x>[ \t])<\s*(?:const\s+)?[A-Z]", b";"),
];

/// TypeScript, also in a `<script>`.
pub(crate) static TYPESCRIPT: Masks = Masks::new(TYPES);

pub(crate) static TSX: Masks = Masks::new(TYPES.split_at(TYPES.len() - 1).0);

pub(crate) static RUST: Masks = Masks::new(&[
    // Macros with the names of types and keywords.
    (r"\b(?<x>[iu](?:8|16|32|64|128|size)|f(?:16|32|64|128)|str|char|bool|try)!", WORD),
    (r"\b(?<x>use)<[^<>\n]*>", WORD),
    (r"\b(?<x>safe)\s+(?:fn|static)\b", BLANK),
    (r"\\u\{[0-9a-fA-F]+(?<x>_)", b"0"),
    (r"(?<x>\$)\s*[)\]}]", b"_"),
    (r"(?m)^\s*(?<x>\(\))\s*:", WORD),
    (r"\bstruct\s+\w+\s+(?<x>where\s[^;{}]*);", BLANK),
    (r"\bimpl\s+(?<x>!)\s*\w+\s*\{", BLANK),
    (r"\bconst\s+(?<x>default)\s*:", WORD),
    // A token of a macro.
    (r"(?<x>~)\s*[\])]", b"-"),
    // Attributes within patterns and lists.
    (r"(?m)^\s*(?<x>#\[cfg\([^\n]*\)\])\s*$", BLANK),
]);

pub(crate) static JAVA: Masks = Masks::new(&[
    // An unnamed variable.
    (r"\b(?<x>_)\s*(?:->|[:,)])", WORD),
    // Statements can precede the call of another constructor.
    (r"\b(?<x>super|this)\s*\(", WORD),
    (r"\bimport\s+(?<x>module)\s", BLANK),
]);

pub(crate) static CSS: Masks = Masks::new(&[
    (r#"\burl\((?<x>[^()"'\n]+)\)"#, WORD),
    (r#"(?<x>"[^"\n]*/\*[^"\n]*"|'[^'\n]*/\*[^'\n]*')"#, b"\"\"  "),
    (r";\s*(?<x>;)", BLANK),
    (r"\((?<x>[^():\n]*[<>][^():\n]*)\)", b"a:1 "),
    (r"(?m)(?:^|[{;])\s*(?<x>\*)[a-z-]+\s*:", BLANK),
    // Directives of Tailwind.
    (
        r"(?m)^\s*(?<x>@(?:config|custom-variant|plugin|reference|source|theme|variant)\b[^;\n]*;)",
        BLANK,
    ),
]);

/// An action of a template, without another one in it.
macro_rules! action {
    () => {
        r"(?:\{\{(?:[^{}]|\{[^{]|\}[^}])*\}\}|\{%(?:[^{%]|\{[^%{]|%[^}])*%\}|\{#(?:[^{#]|\{[^#{]|#[^}])*#\})"
    };
}

/// Templates in YAML. A line that has nothing else is blank.
pub(crate) static YAML: Masks = Masks::new(&[
    (concat!(r"(?m)^(?<x>(?:[ \t]*", action!(), r")+)[ \t]*\r?$"), LINE_ENDS),
    // A value that begins on the next line.
    (r"(?m):[ \t]+(?<x>\{\{[^\n{}]*\b(?:nindent|toYaml)\b[^\n{}]*\}\})[ \t]*\r?$", BLANK),
    (concat!("(?<x>", action!(), ")"), WORD),
]);

impl Masks {
    const fn new(table: &'static [Row]) -> Masks {
        Masks { table, patterns: OnceLock::new() }
    }

    /// The text with all constructs masked; `None` if it has none of them.
    pub(crate) fn masked(&self, text: &[u8]) -> Option<Vec<u8>> {
        let mut masked = Cow::Borrowed(text);
        for (pattern, (_, filler)) in self.patterns().iter().zip(self.table) {
            if pattern.is_match(&masked) {
                masked = Cow::Owned(replaced(&masked, pattern, filler));
            }
        }
        match masked {
            Cow::Owned(masked) if masked != text => Some(masked),
            _ => None,
        }
    }

    fn patterns(&self) -> &[Regex] {
        self.patterns.get_or_init(|| {
            let compiled = |(pattern, _): &Row| Regex::new(pattern).expect("patterns are tested");
            self.table.iter().map(compiled).collect()
        })
    }
}

/// The text with the group `x` of each match replaced. Line ends stay, and only the first line of a
/// match is not blank.
fn replaced(text: &[u8], pattern: &Regex, filler: &[u8]) -> Vec<u8> {
    let mut out = text.to_vec();
    let parts = pattern.captures_iter(text).filter_map(|found| Some(found.name("x")?.range()));
    for part in parts.filter(|part| is_balanced(&text[part.clone()])) {
        let mut is_first_line = true;
        for (index, byte) in out[part].iter_mut().enumerate() {
            match *byte {
                b'\n' => is_first_line = false,
                b'\r' => {}
                _ if is_first_line => *byte = filler[index.min(filler.len() - 1)],
                _ if filler == LINE_ENDS => *byte = b'\n',
                _ => *byte = b' ',
            }
        }
    }
    out
}

/// Whether every bracket is closed by one of its kind, without regard to strings. Those in actions
/// of a template do not belong to the text.
fn is_balanced(part: &[u8]) -> bool {
    if [&b"{{"[..], b"{%", b"{#"].iter().any(|open| part.trim_ascii_start().starts_with(open)) {
        return true;
    }
    let mut depths = [0_i32; 3];
    for byte in part {
        let (kind, by) = match byte {
            b'(' => (0, 1),
            b')' => (0, -1),
            b'[' => (1, 1),
            b']' => (1, -1),
            b'{' => (2, 1),
            b'}' => (2, -1),
            _ => continue,
        };
        depths[kind] += by;
        if depths[kind] < 0 {
            return false;
        }
    }
    depths == [0; 3]
}
