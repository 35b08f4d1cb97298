//! The rule of three diffs: examples, and generated texts whose changes are known.

use super::agreed::MAX_DIFFERENT_LINES;
use super::*;
use proptest::prelude::*;

fn carry<'t>(old: &'t str, new: &'t str) -> Carry<'t> {
    Carry::new(old.as_bytes(), new.as_bytes(), Box::leak(Box::default())).unwrap()
}

/// The line where each line is found on its own, or `-`. Words become lines.
fn found(old: &str, new: &str) -> String {
    let (old, new) = (old.replace(' ', "\n"), new.replace(' ', "\n"));
    let carry = carry(&old, &new);
    let lines = (1..=carry.exact.old.len() as u64).map(|line| carry.block(line, line));
    let lines = lines.map(|line| line.map_or("-".to_owned(), |line| line.to_string()));
    lines.collect::<Vec<_>>().join(" ")
}

#[test]
fn lines_are_found_where_they_moved_with_the_lines_around_them() {
    assert_eq!(found("ant bee cow", "ant bee cow"), "1 2 3");
    assert_eq!(found("ants bees cows", "x ants bees cows"), "2 3 4");
    assert_eq!(found("ants bees cows", "ants cows"), "1 - 2");
    assert_eq!(found("ants } bees }", "x ants } bees }"), "2 3 4 5");
    assert_eq!(found("", "a"), "");
    assert_eq!(found("a", ""), "-");
}

#[test]
fn an_added_copy_makes_repeated_lines_uncertain() {
    assert_eq!(found("ants bees", "ants bees ants bees"), "- -");
    assert_eq!(found("start ants bees stop", "start ants bees ants bees stop"), "1 - - 6");
    assert_eq!(found("start } stop", "start } } stop"), "1 - 4");
    // Also if there are other changes above and below.
    assert_eq!(
        found("start q ants bees tail r ending", "start x ants bees ants bees tail y ending"),
        "1 - - - - - 9"
    );
}

#[test]
fn regression_a_copy_within_an_added_or_removed_block_makes_its_original_uncertain() {
    assert_eq!(
        found("start frees() returns stop", "start other frees() frees() returns stop"),
        "1 - 5 6"
    );
    assert_eq!(
        found(
            "first(one) finish() second(two) finish() next(three)",
            "first(1) finish() next(three)"
        ),
        "- - - - 3"
    );
    let old = "assert(epoch, \n 0, \"failure\");\n \"\"\n size_t bytes;\n";
    let new = "assert(epoch,\n 0, \"failure\");\n 0, \"failure\");\n \"\"\n size_t bytes;\n";
    let carry = carry(old, new);
    assert_eq!([1, 2, 4].map(|line| carry.block(line, line)), [Some(1), None, Some(5)]);
}

#[test]
fn regression_a_short_line_among_wrapped_lines_is_not_found() {
    let old = "A => {\n    ranges.iter().any(|r| r.start())\n}\nB => ranges\n    .iter()\n    .any(|r| char::from(r.start())),\n";
    let new = "A => ranges\n    .iter()\n    .any(|r| r.start()),\nB => ranges.iter().any(|r| {\n    char::from(r.start())\n}),\n";
    assert_eq!(carry(old, new).block(5, 5), None);
}

#[test]
fn a_removed_copy_makes_repeated_lines_uncertain() {
    assert_eq!(found("start ants bees ants bees stop", "start ants bees stop"), "1 - - - - 4");
    assert_eq!(found("start } } stop", "start } stop"), "1 - - 3");
}

#[test]
fn a_frequent_line_proves_nothing() {
    // A function was replaced by another one, with its closing brace.
    assert_eq!(found("first x } keep list }", "other y } keep list }"), "- - 3 4 5 6");
    assert_eq!(found("first x } keep list", "other y } more next"), "- - - - -");
    assert_eq!(found("} first x } keep", "} other y } more"), "- - - - -");
}

#[test]
fn moved_lines_are_not_found() {
    assert_eq!(
        found("ants bees cows dogs eels frogs", "cows dogs eels frogs ants bees"),
        "- - 1 2 3 4"
    );
}

#[test]
fn leading_and_trailing_whitespace_may_change() {
    let text = "ants\n  bees\ncows\n";
    for new in ["ants\n\tbees\ncows\n", "ants\n  bees \ncows\n"] {
        let carry = carry(text, new);
        assert_eq!((carry.block(2, 2), carry.block(3, 3)), (Some(2), Some(3)));
    }
    // No line next to it was re-indented like it.
    assert_eq!(carry(text, "ants\nbees\ncows\n").block(2, 2), None);
    // Whitespace within a line may not.
    assert_eq!(carry("ants\nbees fly\ncows\n", "ants\nbees  fly\ncows\n").block(2, 2), None);
    // The line must be next to a line that was next to it.
    assert_eq!(carry("ants\n  bees\ncows\n", "x\nbees\ny\n").block(2, 2), None);
}

#[test]
fn lines_that_are_nested_as_before_between_two_lines_are_found() {
    let old =
        "repos:\n  - repo: lint\n    rev: one\n    hooks:\n      - id: ruff\n  - repo: types\n";
    let new = "repos:\n    - repo: lint\n      rev: one\n      hooks:\n          - id: ruff\n    - repo: types\n";
    let items = carry(old, new);
    assert_eq!([2, 3, 4, 5, 6].map(|line| items.block(line, line)), [2, 3, 4, 5, 6].map(Some));
    assert_eq!(items.block(4, 5), Some(4));
    let change = items.reindentation(5, 5, 5).unwrap();
    assert!(change.covers(&texts(&["      - id: black"])));
    assert_eq!(change.apply(&texts(&["      - id: black"])), ["          - id: black"]);
    // Another process moved the last line into the block above it.
    let moved = carry("if:\n  calls()\nends()\nmore()\n", "if:\n   calls()\n   ends()\nmore()\n");
    assert_eq!(moved.block(3, 3), None);
}

#[test]
fn regression_a_line_that_moved_into_the_block_above_it_is_not_found() {
    let old = "def all():\n    for one in many:\n        if one:\n            use(one)\n    finish_all()\nother()\n";
    let new = old.replace("    finish_all()", "        finish_all()");
    assert_eq!(carry(old, &new).block(5, 5), None);
    // Also if all lines are re-indented at the same time.
    let new = "def all():\n   for one in many:\n      if one:\n            use(one)\n      finish_all()\nother()\n";
    assert_eq!(carry(old, new).block(5, 5), None);
}

fn texts(lines: &[&str]) -> Vec<String> {
    lines.iter().map(|&line| line.to_owned()).collect()
}

#[test]
fn a_text_is_re_indented_like_its_lines() {
    let units = carry("if\n  one\n  if\n    two\n", "if\n\tone\n\tif\n\t\ttwo\n");
    let change = units.reindentation(2, 2, 2).unwrap();
    assert_eq!(change.apply(&texts(&["  a", "", "      b", "c"])), ["\ta", "", "\t\t\tb", "c"]);
    assert!(change.covers(&texts(&["  a", "", "      b"])));
    // A block is nested more deeply: the lines above show that the unit is the same.
    let wrapped = carry("if\n  one\nend\n  two\n", "if\n  new\n    one\nend\n  two\n");
    let change = wrapped.reindentation(2, 2, 3).unwrap();
    assert_eq!(change.apply(&texts(&["  a", "    b"])), ["    a", "      b"]);
    assert_eq!(wrapped.reindentation(4, 4, 5).unwrap().apply(&texts(&["  a"])), ["  a"]);
    // Each line was re-indented differently.
    let uneven = carry("if\n  one\n  two\nend\n", "if\n    one\n two\nend\n");
    let change = uneven.reindentation(2, 3, 2).unwrap();
    assert!(!change.covers(&texts(&["  a"])));
    assert_eq!(
        change.apply(&texts(&["  one", "  two", "      a"])),
        ["    one", " two", "        a"]
    );
    // Only trailing whitespace changed.
    let trailing = carry("one\n  two\nfour\n", "one\n  two \nfour\n");
    let change = trailing.reindentation(2, 2, 2).unwrap();
    assert_eq!(change.apply(&texts(&["  two", "  a"])), ["  two ", "  a"]);
    assert_eq!(carry("one\ntwo\n", "one\ntwo\nfour\n").reindentation(1, 1, 1), None);
}

#[test]
fn regression_a_line_after_a_text_in_quotes_is_not_indented_like_its_end() {
    let old = "def f(x):\n  if x:\n    s = \"\"\"\n    alpha text\n    \"\"\"\n  return s_value\n";
    let new = "def f(x):\n    if x:\n        s = \"\"\"\n    alpha text\n    \"\"\"\n    return s_value\n";
    let change = carry(old, new).reindentation(5, 5, 5).unwrap();
    assert!(!change.covers(&texts(&["    save(s)"])));
    assert!(!change.covers(&texts(&["    \"\"\"", "    save(s)"])));
    let change = carry(old, new).reindentation(6, 6, 6).unwrap();
    assert!(change.covers(&texts(&["  return other"])));
}

#[test]
fn regression_a_key_after_the_items_of_a_list_is_not_indented_like_them() {
    for unit in ["", "  "] {
        let (item, key) = (format!("{unit}- item_gamma"), format!("{unit}cache: true"));
        let old = format!("job:\n{unit}steps:\n{unit}- alpha\n{unit}- beta\n{unit}other: value\n");
        let new = old.replace("- ", "  - ");
        let change = carry(&old, &new).reindentation(4, 4, 4).unwrap();
        assert!(change.covers(&[item.clone(), key.clone()]));
        assert_eq!(change.apply(&[item.clone(), key.clone()]), [format!("  {item}"), key]);
    }
}

#[test]
fn a_line_is_found_by_the_words_around_it() {
    let old = "one()\nreturn {\ntwo()\nthree()\nreturn {\nfour()\n";
    let new = old.replace("()", "();");
    let carry = carry(old, &new);
    assert_eq!((carry.block(2, 2), carry.block(5, 5)), (Some(2), Some(5)));
    // A line that has changed is not found.
    assert_eq!((carry.block(1, 1), carry.block(2, 3)), (None, None));
}

#[test]
fn rewrapped_words_are_found_in_their_new_lines() {
    let old = "start();\nlet value = call(first, second);\nstop();\n";
    let new = "start();\nlet value = call(\n  first,\n  second,\n);\nstop();\n";
    assert_eq!(carry(old, new).rewrapped(2, 2), Some((2, 4)));
    assert_eq!(carry(new, old).rewrapped(3, 4), Some((2, 2)));
    assert_eq!(carry(old, "start();\nother(thing);\nstop();\n").rewrapped(2, 2), None);
    assert_eq!(carry(old, "start();\nstop();\n").rewrapped(2, 2), None);
}

#[test]
fn regression_a_line_that_is_indented_like_an_equal_one_is_not_taken_for_it() {
    for (old, new) in [
        (
            "server:\n  enabled: true\n  tls:\n    enabled: true\n",
            "server:\n    enabled: true\n    tls:\n        enabled: true\n",
        ),
        (
            "def f(x):\n  if x:\n    return stop_now(x)\n  return stop_now(x)\n",
            "def f(x):\n    if x:\n        return stop_now(x)\n    return stop_now(x)\n",
        ),
    ] {
        check_reindented(old, new);
        check_reindented(new, old);
    }
}

/// Checks that no line is found at another number. Both texts have the same lines, re-indented.
fn check_reindented(old: &str, new: &str) {
    let carry = carry(old, new);
    let count = old.lines().count() as u64;
    for first in 1..=count {
        for last in first..=count.min(first + 2) {
            let now = carry.block(first, last);
            assert!(now.is_none_or(|now| now == first), "{first}-{last} at {now:?}:\n{old}\n{new}");
        }
    }
}

/// Nested lines with their depth. Many have the same text.
fn nested() -> impl Strategy<Value = Vec<(usize, &'static str)>> {
    let says = prop::sample::select(vec![
        "enabled: true",
        "return stop_now(x)",
        "name: server",
        "}",
        "if (ready) {",
        "update();",
        "items:",
        "- one item",
        "value = 1000;",
        "",
    ]);
    prop::collection::vec((0usize..5, says), 1..40)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn re_indented_lines_are_never_taken_for_others(
        lines in nested(), units in prop::sample::select(vec![("  ", "    "), ("    ", "  "), ("\t", "  "), ("    ", "\t"), ("   ", "  "), ("  ", " ")]),
    ) {
        let text = |unit: &str| -> String {
            lines.iter().map(|(depth, says)| format!("{}{says}\n", unit.repeat(*depth))).collect()
        };
        check_reindented(&text(units.0), &text(units.1));
    }
}

#[test]
fn terminators_are_no_part_of_a_line() {
    let carry = carry("a\nb\nc", "a\r\nb\r\nc\r\n");
    assert_eq!(carry.block(1, 3), Some(1));
}

#[test]
fn an_older_text_is_split_at_line_ends() {
    for (text, lines) in [
        ("", &[][..]),
        ("\n", &[""]),
        ("a", &["a"]),
        ("a\r", &["a\r"]),
        ("a\nb\r\n", &["a", "b"]),
        ("a\n\nb", &["a", "", "b"]),
    ] {
        let older = Older::of(text.as_bytes());
        let found: Vec<&[u8]> = (0..older.count()).map(|at| older.line(at)).collect();
        assert_eq!(found, lines.iter().map(|line| line.as_bytes()).collect::<Vec<_>>(), "{text:?}");
        // A last line without a newline may be longer, so it does not end.
        let ended = lines.len() - usize::from(!text.is_empty() && !text.ends_with('\n'));
        assert_eq!(older.ended_until(0, text.len()), ended, "{text:?}");
        assert_eq!(older.ended_until(lines.len(), text.len()), 0, "{text:?}");
    }
    assert_eq!(Older::of(b"a\nbc\nd\n").ended_until(1, 5), 1);
    assert_eq!(Older::of(b"a\nbc\nd\n").ended_until(1, 4), 0);
}

#[test]
fn a_block_is_found_only_whole() {
    let carry = carry("ants\nb\nc\nd\neels\n", "x\nants\nb\nnew\nc\nd\neels\n");
    assert_eq!(carry.block(1, 2), Some(2));
    assert_eq!(carry.block(3, 5), Some(5));
    assert_eq!(carry.block(1, 3), None);
    assert_eq!(carry.block(0, 1), None);
    assert_eq!(carry.block(5, 6), None);
    assert_eq!(carry.block(3, 2), None);
}

#[test]
fn texts_that_differ_too_much_are_not_compared() {
    let lines =
        |name: &str, count: usize| (0..count).map(|at| format!("{name}{at}\n")).collect::<String>();
    let (top, bottom) = (lines("top", 5), lines("bottom", 5));
    let old = format!("{top}{}keep\n{bottom}", lines("old", MAX_DIFFERENT_LINES / 2));
    let new =
        format!("{top}{}keep\n{}{bottom}", lines("new", MAX_DIFFERENT_LINES / 2), lines("more", 9));
    let carry = carry(&old, &new);
    let count = carry.exact.old.len() as u64;
    assert_eq!(carry.block(5, 5), Some(5));
    assert_eq!(carry.block(count, count), Some(carry.exact.new.len() as u64));
    assert_eq!(carry.block(count - 5, count - 5), None);
}

/// The work is limited by a count, not by time, so that the answer is the same on every machine.
#[test]
fn unrelated_texts_are_not_compared() {
    let mut random = Random(5);
    let mut text = |count: usize| -> String {
        (0..count).map(|_| format!("line {}\n", random.below(9))).collect()
    };
    let (one, other) = (text(20_000), text(20_000));
    let (old, new) = (format!("start\n{one}stop\n"), format!("start\n{other}stop\n"));
    let carry = carry(&old, &new);
    assert_eq!(carry.block(1, 1), Some(1));
    assert_eq!(carry.block(20_002, 20_002), Some(20_002));
    assert!((2..20_000).all(|line| carry.kept(line).is_none()));
}

#[test]
fn lines_are_found_despite_many_added_lines() {
    let lines = |name: &str| (0..9_000).map(|at| format!("{name}{at}\n")).collect::<String>();
    let old = format!("start\n{}between\n{}stop\n", lines("one"), lines("two"));
    let new = format!("new\nstart\n{}between\n{}stop\nlast\n", lines("one"), lines("three"));
    let carry = carry(&old, &new);
    assert_eq!(carry.block(9_002, 9_002), Some(9_003));
    assert_eq!(carry.block(9_003, 9_003), None);
}

proptest! {
    /// Copying common parts gives equal tokens for equal lines, wherever a part ends.
    #[test]
    fn tokens_are_equal_if_lines_are(
        old in "(a{0,2}\r?\n|bc\n){0,12}a?\r?",
        new in "(a{0,2}\r?\n|bc\n){0,12}a?\r?",
        kept in 0usize..40,
    ) {
        let new = old[..kept.min(old.len())].to_owned() + &new;
        let carry = carry(&old, &new);
        let (texts, tokens) = (lines_of(&old).chain(lines_of(&new)), carry.exact.old.iter().chain(&carry.exact.new));
        let (texts, tokens): (Vec<_>, Vec<_>) = (texts.collect(), tokens.collect());
        prop_assert_eq!(texts.len(), tokens.len());
        for (text, token) in texts.iter().zip(&tokens) {
            for (other_text, other) in texts.iter().zip(&tokens) {
                prop_assert_eq!(text == other_text, token == other);
            }
        }
    }
}

fn lines_of(text: &str) -> impl Iterator<Item = &[u8]> {
    Lines::new(text.as_bytes(), Unit::Byte).map(|line| line.text(text.as_bytes()))
}

/// Pseudorandom numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        ((self.0 >> 33) % bound.max(1) as u64) as usize
    }
}

/// The text of a line, and its identity.
type Line = (String, u32);

/// Makes one change in a text whose lines have identities.
fn change(random: &mut Random, text: &mut Vec<Line>, next: &mut u32) {
    let length = 1 + random.below(4);
    let at = random.below(text.len().saturating_sub(length));
    let end = (at + length).min(text.len());
    let mut fresh = |lines: Vec<Line>| {
        let renewed = lines.into_iter().map(|(line, _)| {
            *next += 1;
            (line, *next)
        });
        renewed.collect::<Vec<_>>()
    };
    match random.below(6) {
        0 => {
            let new = fresh(vec![(format!("new {}", random.below(1000)), 0); length]);
            text.splice(at..at, new);
        }
        1 => {
            let copy = fresh(text[at..end].to_vec());
            let to = random.below(text.len());
            text.splice(to..to, copy);
        }
        2 => {
            text.drain(at..end);
        }
        3 => {
            let copy = fresh(text[at..end].to_vec());
            text.splice(end..end, copy);
        }
        4 => {
            let moved: Vec<Line> = text.drain(at..end).collect();
            let to = random.below(text.len() + 1);
            text.splice(to..to, moved);
        }
        _ => {
            // If both end with the same line, that line is kept.
            let end = end - usize::from(text[end - 1].0 == "}");
            let new = fresh(vec![(format!("new {}", random.below(1000)), 0), ("}".to_owned(), 0)]);
            let kept = text.get(end).is_some_and(|(line, _)| line == "}");
            text.splice(at..end, new.into_iter().take(if kept { 1 } else { 2 }));
        }
    }
}

/// Texts in which most lines repeat, with one change. The identities say where lines are, and what
/// an edit must give.
#[test]
fn repetitive_texts_give_less_than_one_wrong_place_in_2000() {
    let mut random = Random(11);
    let (mut right, mut wrong, mut all) = (0u32, 0u32, 0u32);
    for _ in 0..6_000 {
        let kinds = 8 + random.below(30);
        let mut next = 0;
        let old: Vec<Line> = (0..20 + random.below(60))
            .map(|_| {
                next += 1;
                let line = match random.below(5) {
                    0 => "}".to_owned(),
                    1 => String::new(),
                    _ => format!("line {}", random.below(kinds)),
                };
                (line, next)
            })
            .collect();
        let mut new = old.clone();
        change(&mut random, &mut new, &mut next);
        let joined =
            |text: &[Line]| text.iter().map(|(line, _)| format!("{line}\n")).collect::<String>();
        let (old_text, new_text) = (joined(&old), joined(&new));
        let carry = carry(&old_text, &new_text);
        for _ in 0..10 {
            let first = random.below(old.len());
            let last = (first + random.below(3)).min(old.len() - 1);
            all += 1;
            let Some(now) = carry.block(first as u64 + 1, last as u64 + 1) else {
                continue;
            };
            let edited = |at: usize| {
                let mut text: Vec<&str> = new.iter().map(|(line, _)| line.as_str()).collect();
                text.splice(at..at + (last - first) + 1, ["edited"]);
                text
            };
            let expected = new.iter().position(|(_, line)| *line == old[first].1);
            let is_whole = |at: &usize| {
                (first..=last)
                    .all(|line| new.get(at + line - first).is_some_and(|one| one.1 == old[line].1))
            };
            match expected.filter(is_whole) {
                Some(at) if edited(at) == edited(now as usize - 1) => right += 1,
                _ => wrong += 1,
            }
        }
    }
    assert!(wrong * 2_000 <= all, "{right} right, {wrong} wrong of {all}");
    assert!(right * 100 >= all * 75, "{right} right of {all}");
}
