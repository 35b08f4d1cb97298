//! Parses any text in any language, parses it again after an edit, and runs all queries, on the stack
//! of a main thread: no panics or crashes, and all results are within the text. Texts are composed of
//! pieces of a sample, tokens and bytes.
//!
//! The parser and its grammars are in C: `CFLAGS=-fsanitize=address` also checks them.
//! `FUZZ_LANGUAGE=Rust` fuzzes one language.

#![no_main]

#[path = "../../crates/syntax/tests/all/lexical_samples.rs"]
mod lexical_samples;
#[path = "../../crates/syntax/tests/all/samples.rs"]
mod samples;

use std::sync::OnceLock;

use arbitrary::{Result, Unstructured};
use hashline_syntax::{Budget, LANGUAGES, Language, SOURCE_LIMIT_BYTES, Source, language_of};
use libfuzzer_sys::fuzz_target;
use samples::SAMPLES;

const TOKENS: [&str; 40] = [
    "{",
    "}",
    "(",
    ")",
    "[",
    "]",
    "<",
    ">",
    "\"",
    "'",
    "`",
    "\"\"\"",
    "/*",
    "*/",
    "//",
    "#",
    "\n",
    "\r\n",
    "\t",
    " ",
    "  ",
    ":",
    ";",
    ",",
    ".",
    "=",
    "=>",
    "->",
    "- ",
    "|",
    "&",
    "!",
    "?",
    "\\",
    "${",
    "f\"{",
    "r#\"",
    "<script>",
    "</script>",
    "\u{feff}",
];

fn budget() -> Budget<'static> {
    Budget::unattended()
}

fuzz_target!(|data: &[u8]| {
    let _ = parse(&mut Unstructured::new(data));
});

fn parse(input: &mut Unstructured<'_>) -> Result<()> {
    let language = *input.choose(languages())?;
    let of_language = |(name, _): &&(&str, &str)| language_of(name, b"") == Some(language);
    let sample = SAMPLES.iter().find(of_language).map_or("", |(_, text)| text);
    let edit = pieces(input, sample, 400)?;
    let (from, length) = (input.arbitrary::<u16>()?, input.arbitrary::<u8>()?);
    let mut text = pieces(input, sample, SOURCE_LIMIT_BYTES)?;
    text.truncate(SOURCE_LIMIT_BYTES);
    let Some(source) = Source::parse(language, text.clone(), &budget()) else { return Ok(()) };
    query_all(&source);
    let start = usize::from(from).min(text.len());
    let end = (start + usize::from(length)).min(text.len());
    text.splice(start..end, edit);
    if let Ok(changed) = source.reparse(text, &budget()) {
        query_all(&changed);
    }
    Ok(())
}

fn languages() -> &'static [&'static Language] {
    static CHOSEN: OnceLock<Vec<&Language>> = OnceLock::new();
    CHOSEN.get_or_init(|| {
        let name = std::env::var("FUZZ_LANGUAGE").ok();
        let is_chosen = |one: &&Language| name.as_ref().is_none_or(|name| name == one.name);
        let chosen: Vec<_> = LANGUAGES.iter().filter(is_chosen).collect();
        assert!(!chosen.is_empty(), "no language is called {name:?}: {LANGUAGES:?}");
        chosen
    })
}

fn pieces(input: &mut Unstructured<'_>, sample: &str, limit_bytes: usize) -> Result<Vec<u8>> {
    let mut text = Vec::new();
    while !input.is_empty() && text.len() < limit_bytes {
        match input.int_in_range(0..=15)? {
            0..=7 => {
                let from = input.choose_index(sample.len().max(1))?.min(sample.len());
                let length = usize::from(input.arbitrary::<u8>()?);
                let end = (from + length).min(sample.len());
                text.extend_from_slice(&sample.as_bytes()[from..end]);
            }
            8..=12 => text.extend_from_slice(input.choose(&TOKENS)?.as_bytes()),
            13 => {
                let times = input.int_in_range(1..=60_000)?;
                let token = input.choose(&TOKENS)?;
                let times = times.min((limit_bytes - text.len()) / token.len());
                text.extend_from_slice(token.repeat(times).as_bytes());
            }
            14 => {
                let spaces = input.int_in_range(0..=600)?;
                text.push(b'\n');
                text.resize(text.len() + spaces, b' ');
            }
            _ => text.push(input.arbitrary()?),
        }
    }
    Ok(text)
}

/// Runs all queries and checks that their results are within the text.
fn query_all(source: &Source) {
    let (outline, lines) = (source.outline(&budget()).unwrap_or_default(), source.lines());
    if let Some(fault) = source.fault(&budget()) {
        assert!(!source.is_clean() && fault.line <= lines + 1, "{fault:?} of {lines} lines");
    }
    for fold in &outline.folds {
        assert!(fold.first <= fold.last && fold.last <= lines, "{fold:?} of {lines} lines");
    }
    for one in &outline.definitions {
        assert!(one.first <= one.last && one.last <= lines, "{one:?} of {lines} lines");
    }
    for line in [0, 1, 2, lines / 3, lines / 2, lines, lines + 1] {
        if let Ok(block) = source.block(line, &budget()) {
            assert!(block.first <= block.last && block.last <= lines, "{block:?} of {lines} lines");
        }
        source.enclosing(line, &budget());
        outline.path(line).for_each(drop);
    }
}
