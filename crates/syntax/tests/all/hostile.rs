//! Hostile texts: each gets an answer, on a small stack.

use std::sync::atomic::{AtomicU32, Ordering};
use std::thread;

use hashline_syntax::{
    Budget, LANGUAGES, SOURCE_LIMIT_BYTES, SYMBOLS_LIMIT_BYTES, Source, SymbolName, language_of,
};

use crate::budget;
use crate::samples::SAMPLES;

/// The minimum for a thread of the addon.
const STACK_BYTES: usize = 512 << 10;

fn on_a_small_stack(work: impl FnOnce() + Send + 'static) {
    let builder = thread::Builder::new().stack_size(STACK_BYTES);
    builder.spawn(work).unwrap().join().unwrap();
}

/// Runs all queries.
fn ask(source: &Source) {
    let outline = source.outline(&budget()).unwrap_or_default();
    let lines = source.lines();
    source.fault(&budget());
    for line in [0, 1, 2, lines / 2, lines, lines + 1] {
        let _ = source.block(line, &budget());
        source.enclosing(line, &budget());
        outline.path(line).for_each(drop);
    }
    assert!(outline.folds.iter().all(|fold| fold.first <= fold.last && fold.last <= lines));
    assert!(outline.definitions.iter().all(|one| one.first <= one.last && one.last <= lines));
}

fn everywhere(text: &str) {
    for language in LANGUAGES {
        let text: Vec<u8> = match language.name {
            "Vue" | "Svelte" => format!("<script>\n{text}\n</script>").into(),
            _ => text.into(),
        };
        on_a_small_stack(move || {
            if let Some(source) = Source::parse(language, text, &budget()) {
                ask(&source);
            }
        });
    }
}

/// Unclosed, and closed.
fn nested(depth: usize, open: &[&str], closed: &[(&str, &str)]) {
    for part in open {
        everywhere(&part.repeat(depth.min(SOURCE_LIMIT_BYTES / part.len() - 20)));
    }
    for (open, close) in closed {
        let depth = depth.min(SOURCE_LIMIT_BYTES / (open.len() + close.len()) - 20);
        everywhere(&format!("{}1{}", open.repeat(depth), close.repeat(depth)));
    }
}

/// The parser recurses for each level, for which the thread has no stack.
#[test]
fn nesting_that_is_deeper_than_the_stack() {
    nested(5_000, &["{a:", "- "], &[("(", ")")]);
}

/// An edit is parsed on the stack of the caller, unless it takes long.
#[test]
fn edits_of_nesting_that_is_deeper_than_the_stack() {
    for (open, close) in [("(", ")"), ("{a:", "}")] {
        for language in LANGUAGES.iter().filter(|language| language.is_checked) {
            let mut text = format!("{}1{}", open.repeat(5_000), close.repeat(5_000));
            on_a_small_stack(move || {
                let Some(source) = Source::parse(language, text.as_str(), &budget()) else {
                    return;
                };
                text.insert(open.len() * 5_000, '2');
                let changed = source.reparse(text.as_str(), &budget());
                assert!(!changed.is_ok_and(|changed| changed.text() != text.as_bytes()));
            });
        }
    }
}

/// Minutes: `cargo test -p hashline-syntax --release -- --ignored`.
#[test]
#[ignore = "takes long"]
fn nesting_of_100_000() {
    let open =
        ["[", "{a:", "(", "<a>", "if(a)", "a?b:", "f(a<", "- ", "#[a(", "{\n", "a=", "f\"{", "`${"];
    let closed = [("(", ")"), ("{a:", "}"), ("[", "]"), ("<a>", "</a>"), ("{\n", "}\n")];
    nested(100_000, &open, &closed);
}

#[test]
fn nested_bodies_of_python() {
    let text: String = (0..600).map(|depth| format!("{}if x:\n", " ".repeat(depth))).collect();
    everywhere(&text);
}

/// A random number generator without dependencies: xorshift.
fn random(seed: u64) -> impl FnMut() -> u64 {
    let mut state = seed;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    }
}

fn noise(seed: u64, length: usize) {
    let marks = b"{}[]()<>\"'`;:,.=+-*/\n\t ab1#@!|&\\";
    let mut next = random(seed);
    let text: Vec<u8> = (0..length).map(|_| marks[next() as usize % marks.len()]).collect();
    let noise: Vec<u8> = (0..length).map(|_| (next() >> 24) as u8).collect();
    for language in LANGUAGES {
        for text in [text.clone(), noise.clone()] {
            on_a_small_stack(move || {
                if let Some(source) = Source::parse(language, text, &budget()) {
                    ask(&source);
                }
            });
        }
    }
}

#[test]
fn random_marks_and_bytes() {
    for (seed, length) in [(1, 100), (2, 2_000), (3, 8_000)] {
        noise(seed, length);
    }
}

#[test]
#[ignore = "takes long"]
fn random_marks_and_bytes_of_all_lengths() {
    for seed in 1..60 {
        noise(seed, (seed as usize).pow(3).min(SOURCE_LIMIT_BYTES));
    }
    noise(60, SOURCE_LIMIT_BYTES);
}

/// Sources that are cut, combined and repeated, which random bytes do not produce.
#[test]
#[ignore = "takes long"]
fn sources_that_are_torn_apart() {
    let mut next = random(7);
    for round in 0..4_000 {
        let (_, own) = SAMPLES[round % SAMPLES.len()];
        let mut text = own.as_bytes().to_vec();
        for _ in 0..next() % 20 {
            let (_, other) = if next().is_multiple_of(4) {
                SAMPLES[next() as usize % SAMPLES.len()]
            } else {
                ("", own)
            };
            let from = next() as usize % other.len();
            let until = (from + next() as usize % 60).min(other.len());
            let at = next() as usize % (text.len() + 1);
            let end = (at + next() as usize % 40).min(text.len());
            let piece = other.as_bytes()[from..until].repeat(1 + (next() % 3) as usize);
            text.splice(at..end, piece);
        }
        let language = language_of(SAMPLES[round % SAMPLES.len()].0, b"").unwrap();
        on_a_small_stack(move || {
            let Some(source) = Source::parse(language, own, &budget()) else { return };
            let Ok(changed) = source.reparse(text, &budget()) else { return };
            ask(&changed);
            for line in 1..=changed.lines() {
                let _ = changed.block(line, &budget());
            }
        });
    }
}

#[test]
fn a_text_beyond_the_limit_has_no_structure() {
    for language in LANGUAGES {
        assert!(Source::parse(language, vec![b'\n'; SOURCE_LIMIT_BYTES + 1], &budget()).is_none());
    }
}

/// The number of budget checks while a text is parsed.
fn checks(name: &str, text: &str) -> u32 {
    let checks = AtomicU32::new(0);
    let count = || {
        checks.fetch_add(1, Ordering::Relaxed);
        false
    };
    Source::parse(language_of(name, b"").unwrap(), text, &Budget::new(&count));
    checks.into_inner()
}

/// With the surplus closing bracket, a single operation of the parser took 15 s for 250 KB, and
/// could not be aborted.
#[test]
fn regression_a_parse_can_be_stopped_within_an_operation() {
    let text = format!("fn f() {{ let a = {}", "!".repeat(20_000));
    let (without, with) = (checks("a.rs", &text), checks("a.rs", &format!("{text}\n)")));
    assert!(with > without + 100, "{without} checks, then {with}");
}

/// Each operation scanned the rest of the text without allocating memory: for 250 KB, a parse could
/// not be aborted for a second.
#[test]
fn regression_a_parse_can_be_stopped_while_it_scans() {
    let checks = checks("a.py", &"\\\n".repeat(20_000));
    assert!(checks > 5_000, "{checks} checks");
}

#[test]
fn nothing_is_found_once_the_budget_is_spent() {
    for &(name, text) in SAMPLES {
        let source = crate::parse(name, text);
        let (spent, cancelled) = (budget(), Budget::new(&|| true));
        spent.exhaust();
        for budget in [&spent, &cancelled] {
            assert!(budget.is_spent());
            let is_known = source.block(1, budget).is_ok() || source.outline(budget).is_some();
            assert!(!is_known || text.len() < 1_000 || name.ends_with(".md"), "{name}");
            assert_eq!(source.fault(budget), None);
        }
    }
}

#[test]
fn regression_a_text_beyond_the_limit_is_refused() {
    let text = vec![b'\n'; SOURCE_LIMIT_BYTES + 1];
    let source = crate::parse("a.rs", "fn a() {}\n");
    assert!(Source::parse(source.language(), &text, &budget()).is_none());
    assert!(source.reparse(&text, &budget()).is_err());
    assert!(!source.would_be_clean(&text, &mut 1_000, &budget()));
}

#[test]
fn many_functions_of_one_line() {
    let text = "fn a() {}\n".repeat(26_000);
    let source = crate::parse("a.rs", &text);
    let outline = source.outline(&budget()).unwrap();
    assert_eq!(outline.definitions.len(), 26_000);
    assert_eq!(outline.folds.len(), 1);
    ask(&source);
}

/// Siblings were looked up, which took time proportional to the depth of the text: more than a
/// minute.
#[test]
fn regression_nested_trailing_commas() {
    let count = 20_000;
    for (open, last, close) in [("[", "1,", "],"), ("{\"a\":", "1,", "},")] {
        let text = format!("{}{last}{}", open.repeat(count), close.repeat(count));
        let text = text.trim_end_matches(',');
        if let Some(source) = Source::parse(language_of("a.jsonc", b"").unwrap(), text, &budget()) {
            assert!(source.is_clean());
        }
    }
}

/// The memory of a parse bounds its recursion, so a longer text needs no larger stack.
#[test]
fn nesting_up_to_the_limit_of_symbols() {
    for (file, nest) in [("a.js", "("), ("a.rs", "["), ("a.json", "["), ("a.c", "{"), ("a.py", "(")]
    {
        let text = nest.repeat(SYMBOLS_LIMIT_BYTES);
        on_a_small_stack(move || {
            let language = language_of(file, b"").unwrap();
            drop(Source::parse_for_symbols(language, text.as_str(), &budget()));
        });
    }
}

#[test]
fn regression_definitions_are_found_in_long_texts() {
    let text = "function f() {\n  return 1\n}\n".repeat(10_000) + "function last() {\n}\n";
    let (name, language) = (SymbolName::parse("last").unwrap(), language_of("a.js", b"").unwrap());
    let find = |text: &str| Source::symbols_in(language, text.as_bytes(), &name, &budget());
    assert!(SOURCE_LIMIT_BYTES < text.len() && text.len() < SYMBOLS_LIMIT_BYTES);
    let found = find(&text).unwrap();
    assert_eq!(found.iter().map(|symbol| symbol.start).collect::<Vec<_>>(), [30_001]);
    assert_eq!(find(&(text + &"\n".repeat(SYMBOLS_LIMIT_BYTES))), None);
}

/// The conditions around each token were searched, and the whole header was read.
#[test]
fn regression_a_header_with_many_conditions() {
    let conditions = "#ifdef A\n".repeat(10_000);
    let language = |text: &str| language_of("a.h", text.as_bytes()).unwrap().name;
    assert_eq!(language(&format!("class A;\n{conditions}")), "C++");
    assert_eq!(language(&format!("{conditions}class A;\n")), "C");
}

/// The rest of the text was searched at each of these.
#[test]
fn regression_code_and_templates_without_an_end_in_one_line() {
    for (name, part) in
        [("a.rb", "/#{"), ("a.gradle", "/#{"), ("a.html", "<a {{"), ("a.xml", "<a {{")]
    {
        crate::parse(name, &format!("{}}}}}<b>", part.repeat(32_000 / part.len())));
    }
    // Braces mean nothing in XML.
    assert!(crate::parse("a.xml", "<a b={{>\n</a>\n<c>}}</c>\n").is_clean());
}

/// For each line near the one that was asked for, all comments below were read.
#[test]
fn regression_a_block_in_many_comments() {
    for (name, part) in [
        ("a.cpp", "// a\n"),
        ("a.kt", "@A\n"),
        ("a.rb", "# a\n"),
        // The parser reads all comments before one.
        ("a.js", "// a\n"),
        ("a.c", "// a\n"),
        ("a.py", "# a\n"),
    ] {
        let source = crate::parse(name, &part.repeat(30_000));
        let reason = source.block(15_000, &budget()).unwrap_err().reason;
        assert_eq!(reason, hashline_syntax::NoBlockReason::Nothing, "{name}");
    }
}

/// The block after many comments is found, and the nearest blocks.
#[test]
fn a_block_after_many_comments() {
    let text = "// a\n".repeat(5_000) + "function b() {\n  c()\n}\n";
    let source = crate::parse("a.js", &text);
    let block = |line: u32| source.block(line, &budget());
    for line in [4_990, 5_000, 5_001] {
        let block = block(line).unwrap();
        assert_eq!((block.first, block.start, block.last), (1, 5_001, 5_003), "{line}");
    }
    assert_eq!(block(5_003).unwrap_err().above, Some(5_001));
    let script = format!("<script>\n{text}</script>\n");
    let block = crate::parse("a.svelte", &script).block(4_990, &budget()).unwrap();
    assert_eq!((block.first, block.start, block.last), (2, 5_002, 5_004));
}

/// For each definition, the line up to it was read.
#[test]
fn regression_definitions_in_one_line() {
    for (name, part, count) in [
        ("a.cpp", "class A{int f(){return 1;}};", 2),
        ("a.cs", "class A{int F(){return 1;}}", 2),
        ("a.dart", "class A{int f(){return 1;}}", 2),
    ] {
        let repeats = 64_000 / part.len();
        let source = crate::parse(name, &part.repeat(repeats));
        let outline = source.outline(&budget()).expect("it takes linear time");
        assert_eq!(outline.definitions.len(), count * repeats, "{name}");
    }
}

/// For each definition, the rest of the text was read.
#[test]
fn regression_definitions_without_an_end() {
    for (name, part, count) in [("a.cpp", "class a ", 2_000), ("a.sql", "table a ", 2_000)] {
        let source = crate::parse(name, &part.repeat(count));
        let outline = source.outline(&budget()).expect("it takes linear time");
        assert!(outline.definitions.len() <= count);
    }
}

/// After the limit on faults, a text without an end in code was not seen, so all texts around it were
/// read again.
#[test]
fn regression_code_without_an_end_in_each_line() {
    for name in ["a.groovy", "a.kt", "a.dart"] {
        let source = crate::parse(name, &"\"${\n".repeat(10_000));
        let outline = source.outline(&budget()).expect("it takes linear time");
        assert_eq!(outline.definitions.len(), 0, "{name}");
    }
}
