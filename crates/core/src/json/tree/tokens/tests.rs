//! Compares the fast scanner with `jsonc-parser`.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;

/// Building blocks of test texts: all kinds of tokens, complete and truncated, and whitespace of
/// every length.
const PIECES: [&str; 51] = [
    "{",
    "}",
    "[",
    "]",
    ",",
    ":",
    "\"",
    "\"a\"",
    "\"longer than a word\"",
    "\"eight\\u00e9\"",
    "\"\\\"\"",
    "\"\\\\\"",
    "\"\\",
    "\"\t\"",
    "\"twelve bytes\u{1}\"",
    "\"é😀\u{7f}\u{80}\"",
    "\"\u{0}\"",
    "'a'",
    "\"\\x41\"",
    "\"\\ud800\"",
    "0",
    "-1",
    "01",
    "1.5e-3",
    "1.",
    ".5",
    "+1",
    "0x1F",
    "Infinity",
    "-",
    "true",
    "false",
    "null",
    "nullx",
    "word",
    "/",
    "// line",
    "/* block */",
    "/* open",
    " ",
    "  ",
    "        ",
    "                 ",
    "\t",
    "\n",
    "\r\n",
    "\u{0b}\u{0c}",
    "\u{a0}",
    "\u{2028}",
    "\u{feff}",
    "\u{1}",
];

/// The tokens according to `jsonc-parser`, and its error.
fn expected(text: &str) -> (Vec<Token>, Option<TokenError>) {
    let (mut scanner, mut tokens) = (Scanner::new(text, &OPTIONS), Vec::new());
    loop {
        match scanner.scan() {
            Ok(None) => return (tokens, None),
            Err(error) => return (tokens, Some(token_error(0, &error))),
            Ok(Some(token)) => {
                let (start, end) = (scanner.token_start(), scanner.token_end());
                let kind = match kind_of(&token) {
                    TokenKind::String if text[start..end].bytes().any(|byte| byte < b' ') => {
                        TokenKind::StringWithControl
                    }
                    kind => kind,
                };
                tokens.push(Token { kind, start, end });
            }
        }
    }
}

fn scanned(text: &str) -> (Vec<Token>, Option<TokenError>) {
    let (mut source, mut tokens) = (Tokens::of(text, false), Vec::new());
    loop {
        match source.scan() {
            Ok(None) => return (tokens, None),
            Err(error) => return (tokens, Some(error)),
            Ok(Some(token)) => tokens.push(token),
        }
    }
}

#[test]
fn each_piece_is_scanned_at_every_offset_in_a_word() {
    for piece in PIECES {
        for before in 0..17 {
            for after in ["", ",", "          ", "\"a string\"", "\n\t{\"key\": [1, 2, 3]}"] {
                let text = " ".repeat(before) + piece + after;
                assert_eq!(scanned(&text), expected(&text), "{text:?}");
            }
        }
    }
}

#[test]
fn strings_of_every_length_end_at_their_first_special_byte() {
    for length in 0..40 {
        for special in ['"', '\\', '\u{1f}', '\u{0}', '\n', '!', '#', '[', ']', '\u{80}', '\u{ff}']
        {
            let text = format!("\"{}{special}{}\" 1", "x".repeat(length), "y\"".repeat(3));
            assert_eq!(scanned(&text), expected(&text), "{text:?}");
        }
    }
}

proptest! {
    #[test]
    fn random_texts_have_the_tokens_of_the_parser(
        pieces in prop::collection::vec(select(&PIECES[..]), 0..60),
    ) {
        let text = pieces.concat();
        prop_assert_eq!(scanned(&text), expected(&text));
    }
}
