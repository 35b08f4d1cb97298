//! Languages without a grammar: errors, blocks, outlines.

use hashline_syntax::Fault;

use crate::samples::SAMPLES;
use crate::{budget, parse};

fn new_fault(name: &str, before: &str, after: &str) -> Option<Fault> {
    let old = parse(name, before);
    let new = old.reparse(after, &budget()).expect("it is short");
    new.new_fault(&old, &budget())
}

/// Lines of closing brackets, words and tags that are not in a text, by the languages' samples.
fn closing_lines(text: &str) -> impl Iterator<Item = usize> {
    let is_closing = |line: &str| {
        let line = line.trim();
        matches!(line, "end" | "fi" | "done" | "esac" | "fi)")
            || line.starts_with("</") && !line.contains("li>") && !line.contains("html>")
            || line.contains([')', ']', '}']) && line.chars().all(|one| ")]};,".contains(one))
    };
    let lines: Vec<bool> = text.lines().map(is_closing).collect();
    (0..lines.len()).filter(move |&at| lines[at])
}

/// The text with a line removed or repeated.
fn changed(text: &str, line: usize, is_repeated: bool) -> String {
    let lines = text.split_inclusive('\n').enumerate();
    let count = |at| match (at == line, is_repeated) {
        (true, false) => 0,
        (true, true) => 2,
        _ => 1,
    };
    lines.map(|(at, one)| one.repeat(count(at))).collect()
}

#[test]
fn a_closing_line_that_is_missing_or_repeated_is_reported() {
    let mut count = 0;
    let is_grammar = |(name, _): &&(&str, &str)| *name != "ring.c";
    for (name, text) in SAMPLES.iter().skip_while(is_grammar) {
        // Optional tags, and a branch of the preprocessor.
        let is_excepted = |line: usize| {
            *name == "page.html"
                && text
                    .lines()
                    .nth(line)
                    .is_some_and(|one| one.contains("</head") || one.contains("</body"))
        };
        if parse(name, text).language().is_indented {
            continue;
        }
        for line in closing_lines(text).filter(|&line| !is_excepted(line)) {
            for is_repeated in [false, true] {
                let after = changed(text, line, is_repeated);
                assert!(
                    new_fault(name, text, &after).is_some(),
                    "{name}:{} {is_repeated}",
                    line + 1
                );
                count += 1;
            }
        }
    }
    assert!(count > 150, "{count}");
}
