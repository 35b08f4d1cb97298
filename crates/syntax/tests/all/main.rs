//! Tests of the public interface: languages, errors, blocks, outlines, symbols, hostile texts.

mod blocks;
mod clean;
mod difference;
mod forms;
mod hostile;
mod languages;
mod lexical;
mod lexical_forms;
mod lexical_samples;
mod masks;
mod occurrences;
mod outlines;
mod samples;
mod symbols;

use hashline_syntax::{Budget, Source, language_of};

/// A text parsed in the language of the name.
fn parse(name: &str, text: &str) -> Source {
    let language = language_of(name, text.as_bytes()).unwrap_or_else(|| panic!("{name}"));
    Source::parse(language, text, &budget()).unwrap_or_else(|| panic!("{name} has no structure"))
}

fn budget() -> Budget<'static> {
    Budget::unattended()
}
