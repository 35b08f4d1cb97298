use super::*;
use crate::text::hash::hash_line;

const FILE: [&str; 9] = [
    "class A {",
    "  start() {",
    "    const total = first &&",
    "      second;",
    "    return call(total, range – 1);",
    "  }",
    "}",
    "+ list item",
    "plain",
];

fn run(rule: Rule, place: EditSite, lines: &[&str]) -> Option<Vec<String>> {
    let mut rules = RepairRules::none();
    rules.switch(rule.name(), true).unwrap();
    let line = |number: u64| FILE.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let subject =
        Surroundings { dialect: Dialect::default_dialect(), line: &line, is_touched: &|_| false };
    let draft = ModelText { place, lines: lines.iter().map(|&line| line.to_owned()).collect() };
    let mut applied = Vec::new();
    let mended = repair(&rules, &subject, draft.clone(), &mut applied);
    assert_eq!(applied.len(), usize::from(mended != draft));
    if let Some(one) = applied.first() {
        assert_eq!((one.rule, one.before.as_str()), (rule, lines.join("\n").as_str()));
        assert_eq!(one.after, mended.lines.join("\n"));
    }
    (mended != draft).then_some(mended.lines)
}

fn check(rule: Rule, place: EditSite, lines: &[&str], expected: Option<&[&str]>) {
    let expected: Option<Vec<String>> =
        expected.map(|lines| lines.iter().map(|&line| line.to_owned()).collect());
    assert_eq!(run(rule, place, lines), expected, "{rule:?} {place:?} {lines:?}");
}

#[test]
fn plus_signs_of_a_diff() {
    let check = |place, lines: &[&str], expected| check(Rule::StripPlus, place, lines, expected);
    check(EditSite::Lines(2, 2), &["+  a", "", "+  b"], Some(&["  a", "", "  b"]));
    check(EditSite::Lines(2, 2), &["+a", "b"], None);
    check(EditSite::Lines(2, 2), &["++a", "++b"], None);
    check(EditSite::Lines(2, 2), &["+  go() {"], Some(&["  go() {"]));
    check(EditSite::Lines(5, 5), &["+return call(total);"], Some(&["return call(total);"]));
    check(EditSite::After(2), &["+    x;"], Some(&["    x;"]));
    // An ordinary edit: nothing says that the sign is a marker.
    check(EditSite::Lines(9, 9), &["+1"], None);
    check(EditSite::Lines(8, 8), &["+ other", "+ items"], None);
    check(EditSite::Lines(9, 9), &["+plain"], None);
    check(EditSite::Lines(6, 6), &["+  }"], None);
    check(EditSite::After(8), &["+ more", "+ items"], None);
    check(EditSite::Lines(5, 5), &["++total;"], None);
}

#[test]
fn regression_bullets_are_no_diff() {
    let file = ["- a", "- b", "text"];
    let line = |number: u64| file.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let subject =
        Surroundings { dialect: Dialect::default_dialect(), line: &line, is_touched: &|_| false };
    let mend = |lines: &[&str]| {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        markers::strip_plus(&subject, &ModelText { place: EditSite::Lines(1, 2), lines })
    };
    assert_eq!(mend(&["+ a", "+ b"]), None);
    assert_eq!(mend(&["+- x", "+- y"]), Some(vec!["- x".to_owned(), "- y".to_owned()]));
}

#[test]
fn anchors_in_the_text() {
    let anchor = |number: u64, line: &str| {
        let dialect = Dialect::default_dialect();
        format!("{}|{line}", dialect.anchor_text(number, hash_line(dialect, number, line)))
    };
    let check = |lines: &[String], expected| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        check(Rule::StripAnchors, EditSite::Lines(5, 6), &lines, expected);
    };
    check(&[anchor(5, "  a"), anchor(6, "  b")], Some(&["  a", "  b"]));
    check(&[format!(">>> {}", anchor(5, "  a")), String::new()], Some(&["  a", ""]));
    // The prefix of the old line, before a changed rest.
    let changed = anchor(5, FILE[4]).replace("call", "run");
    check(&[changed], Some(&["    return run(total, range – 1);"]));
    // Data that looks like anchors but is none, and anchors on some lines only.
    check(&["5:00|a".into(), "6:00|b".into()], None);
    check(&[anchor(5, "  a"), "b".into()], None);
    check(&["12:30|lunch".into()], None);
}

#[test]
fn lost_indentation() {
    let check =
        |place, lines: &[&str], expected| check(Rule::InheritIndent, place, lines, expected);
    check(EditSite::Lines(5, 5), &["return run();"], Some(&["    return run();"]));
    check(
        EditSite::Lines(3, 4),
        &["if (a)", "", "  b();"],
        Some(&["    if (a)", "", "      b();"]),
    );
    check(EditSite::Lines(3, 4), &["if (a)", "      b();"], Some(&["    if (a)", "      b();"]));
    // A dedent, a line at the margin, no word, a preprocessor line, text at the margin already.
    check(EditSite::Lines(5, 5), &["return call(total, range – 1);"], None);
    check(EditSite::Lines(6, 7), &["other();"], None);
    check(EditSite::Lines(6, 6), &["}"], None);
    check(EditSite::Lines(5, 5), &["#if x"], None);
    check(EditSite::Lines(5, 5), &["  return run();"], None);
    check(EditSite::Lines(9, 9), &["word"], None);
    check(EditSite::After(5), &["word"], None);
}

#[test]
fn echoes_of_neighbours() {
    let check = |place, lines: &[&str], expected| check(Rule::Echoes, place, lines, expected);
    check(EditSite::After(2), &["start() {", "x"], Some(&["x"]));
    check(EditSite::Before(6), &["x", "}"], Some(&["x"]));
    check(EditSite::Between(2, 3), &["  start() {", "x", FILE[2]], Some(&["x"]));
    check(EditSite::Lines(5, 5), &[FILE[3], "x", FILE[5]], Some(&["x"]));
    check(EditSite::After(2), &["  start() {"], None);
    check(EditSite::Lines(3, 5), &[FILE[1], "x", "y"], None);
}

#[test]
fn merged_lines_take_in_their_neighbour() {
    let run_place = |line, new: &str| {
        let text =
            |number: u64| FILE.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
        let subject = Surroundings {
            dialect: Dialect::default_dialect(),
            line: &text,
            is_touched: &|n| n == 2,
        };
        let draft = ModelText { place: EditSite::Lines(line, line), lines: vec![new.to_owned()] };
        layout::expand_merge(&subject, &draft).map(|draft| draft.place)
    };
    assert_eq!(run_place(3, "    const total = first && second;"), Some(EditSite::Lines(3, 4)));
    assert_eq!(run_place(4, "    const total = first || second;"), Some(EditSite::Lines(3, 4)));
    assert_eq!(run_place(3, "    const total = first;"), None);
    assert_eq!(run_place(5, "    const total = first && second;"), None);
}

#[test]
fn wraps_indentation_and_hyphens() {
    check(
        Rule::Wraps,
        EditSite::Lines(5, 5),
        &["x", "    return call(total,", "      range – 1);"],
        Some(&["x", FILE[4]]),
    );
    check(Rule::Wraps, EditSite::Lines(6, 6), &["", "}"], None);
    check(Rule::PairedIndent, EditSite::Lines(5, 6), &["a", "  b"], Some(&["    a", "  b"]));
    check(Rule::PairedIndent, EditSite::Lines(5, 6), &["a"], None);
    let plain = FILE[4].replace('–', "-");
    check(Rule::Confusables, EditSite::Lines(5, 5), &[FILE[4]], Some(&[&plain]));
    check(Rule::Confusables, EditSite::Lines(5, 5), &[&plain], None);
    check(Rule::Confusables, EditSite::Lines(6, 6), &["  }"], None);
}

#[test]
fn regression_wraps_that_are_found_twice_stay() {
    let old = FILE[4];
    // With or without the empty line it is the same old line.
    check(Rule::Wraps, EditSite::Lines(5, 5), &["return call(total,", "range – 1);", ""], None);
    check(
        Rule::Wraps,
        EditSite::Lines(5, 5),
        &["return call(total,", "range – 1);", "x"],
        Some(&[old, "x"]),
    );
}

#[test]
fn regression_a_text_of_nothing_but_its_surroundings_goes() {
    check(Rule::Echoes, EditSite::Lines(5, 5), &[FILE[3], FILE[5]], Some(&[]));
    check(Rule::Echoes, EditSite::Between(5, 6), &[FILE[4], FILE[5]], Some(&[FILE[5]]));
}

#[test]
fn rules_are_switched_by_name() {
    let mut rules = RepairRules::default();
    rules.switch("strip-plus", false).unwrap();
    rules.switch("echoes", true).unwrap();
    assert!(
        !rules.has(Rule::StripPlus) && rules.has(Rule::Echoes) && rules.has(Rule::InheritIndent)
    );
    let error = rules.switch("strip-minus", true).unwrap_err();
    assert!(error.message.contains("strip-plus, strip-anchors"), "{}", error.message);
}

#[test]
fn a_block_at_the_margin_keeps_its_place() {
    let dialect = Dialect::default_dialect();
    let line = |number: u64| {
        ["mod a {", "    fn old() {}", "}"]
            .get((number as usize).wrapping_sub(1))
            .map(|&line| line.into())
    };
    let subject = Surroundings { dialect, line: &line, is_touched: &|_| false };
    let mended = |lines: &[&str]| {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        layout::inherit_indent(&subject, &ModelText { place: EditSite::Lines(2, 2), lines })
    };
    for block in [
        ["impl A {", "    fn a() {}", "}"],
        ["def a():", "  pass", "x = 1"],
        ["call(", "    one,", ")"],
    ] {
        assert_eq!(mended(&block), None, "{block:?}");
    }
    // What stands deeper than the old lines belongs to a first line that lost its indentation.
    let lost = mended(&["fn new() {", "        body();", "    }"]).unwrap();
    assert_eq!(lost[0], "    fn new() {");
    let lost = mended(&["let a = 1;", "    let b = 2;"]).unwrap();
    assert_eq!(lost, ["    let a = 1;", "    let b = 2;"]);
}

#[test]
fn the_slack_of_a_merge_counts_code_units() {
    let dialect = Dialect::by_name("omp").unwrap();
    let line =
        |number: u64| ["a &&", "b"].get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let subject = Surroundings { dialect, line: &line, is_touched: &|_| false };
    // An emoji is two of the 32.
    for (emoji, place) in [(16, Some(EditSite::Lines(1, 2))), (17, None)] {
        let lines = vec![format!("a &&{}b", "🎉".repeat(emoji))];
        let draft = ModelText { place: EditSite::Lines(1, 1), lines };
        assert_eq!(layout::expand_merge(&subject, &draft).map(|draft| draft.place), place);
    }
}
