use super::*;
use hashline_base::cancel::Cancel;
use hashline_lines::hash::hash_line;

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

/// A text for `FILE`, the text that a rule makes of it, and the applied repair.
fn repaired(
    dialect: &'static Dialect,
    rule: Rule,
    site: EditSite,
    lines: &[&str],
) -> (ModelText, ModelText, Vec<AppliedRepair>) {
    let mut rules = RepairRules::none();
    rules.switch(rule.name(), true).unwrap();
    let line = |number: u64| FILE.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let context = EditContext {
        dialect,
        line: &line,
        is_touched: &|_| false,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose: false,
        reindented: &[],
        cancel: &Cancel::default(),
    };
    let draft = ModelText { site, lines: lines.iter().map(|&line| line.to_owned()).collect() };
    let mut applied = Vec::new();
    let repaired = repair(&rules, &context, draft.clone(), &mut applied);
    (draft, repaired, applied)
}

fn run(
    dialect: &'static Dialect,
    rule: Rule,
    site: EditSite,
    lines: &[&str],
) -> Option<Vec<String>> {
    let (draft, repaired, applied) = repaired(dialect, rule, site, lines);
    assert_eq!(applied.len(), usize::from(repaired != draft));
    if let Some(one) = applied.first() {
        assert_eq!((one.rule, one.before.as_str()), (rule, lines.join("\n").as_str()));
        assert_eq!(one.after, repaired.lines.join("\n"));
    }
    (repaired != draft).then_some(repaired.lines)
}

fn check(rule: Rule, site: EditSite, lines: &[&str], expected: Option<&[&str]>) {
    check_in(Dialect::default_dialect(), rule, site, lines, expected);
}

/// As `check`, in a dialect with recorded repairs.
fn check_recorded(rule: Rule, site: EditSite, lines: &[&str], expected: Option<&[&str]>) {
    check_in(Dialect::by_name("omp").unwrap(), rule, site, lines, expected);
}

fn check_in(
    dialect: &'static Dialect,
    rule: Rule,
    site: EditSite,
    lines: &[&str],
    expected: Option<&[&str]>,
) {
    let expected: Option<Vec<String>> =
        expected.map(|lines| lines.iter().map(|&line| line.to_owned()).collect());
    assert_eq!(run(dialect, rule, site, lines), expected, "{rule:?} {site:?} {lines:?}");
}

#[test]
fn strip_plus_removes_diff_markers() {
    let check = |site, lines: &[&str], expected| check(Rule::StripPlus, site, lines, expected);
    check(EditSite::Lines(2, 2), &["+  a", "", "+  b"], Some(&["  a", "", "  b"]));
    check(EditSite::Lines(2, 2), &["+a", "b"], None);
    check(EditSite::Lines(2, 2), &["++a", "++b"], None);
    check(EditSite::Lines(2, 2), &["+  go() {"], Some(&["  go() {"]));
    check(EditSite::Lines(5, 5), &["+return call(total);"], Some(&["return call(total);"]));
    check(EditSite::After(2), &["+    x;"], Some(&["    x;"]));
    // Ordinary edits: nothing shows that the sign is a marker.
    check(EditSite::Lines(9, 9), &["+1"], None);
    check(EditSite::Lines(8, 8), &["+ other", "+ items"], None);
    check(EditSite::Lines(9, 9), &["+plain"], None);
    check(EditSite::Lines(6, 6), &["+  }"], None);
    check(EditSite::After(8), &["+ more", "+ items"], None);
    check(EditSite::Lines(5, 5), &["++total;"], None);
}

#[test]
fn regression_plus_bullets_are_not_diff_markers() {
    let file = ["- a", "- b", "text"];
    let line = |number: u64| file.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let context = EditContext {
        dialect: Dialect::default_dialect(),
        line: &line,
        is_touched: &|_| false,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose: false,
        reindented: &[],
        cancel: &Cancel::default(),
    };
    let strip = |lines: &[&str]| {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        markers::strip_plus(&context, &ModelText { site: EditSite::Lines(1, 2), lines })
    };
    assert_eq!(strip(&["+ a", "+ b"]), None);
    assert_eq!(strip(&["+- x", "+- y"]), Some(vec!["- x".to_owned(), "- y".to_owned()]));
}

#[test]
fn strip_anchors_removes_copied_anchors() {
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
    // The anchor of the old line, before a changed text.
    let changed = anchor(5, FILE[4]).replace("call", "run");
    check(&[changed], Some(&["    return run(total, range – 1);"]));
    // Data that only looks like anchors, and anchors on some lines only.
    check(&["5:00|a".into(), "6:00|b".into()], None);
    check(&[anchor(5, "  a"), "b".into()], None);
    check(&["12:30|lunch".into()], None);
}

#[test]
fn inherit_indent_restores_lost_indentation() {
    let check = |site, lines: &[&str], expected| check(Rule::InheritIndent, site, lines, expected);
    check(EditSite::Lines(5, 5), &["return run();"], Some(&["    return run();"]));
    check(
        EditSite::Lines(3, 4),
        &["const total = first;", "", "  b();"],
        Some(&["    const total = first;", "", "      b();"]),
    );
    check(EditSite::Lines(3, 4), &["if (a)", "      b();"], Some(&["    if (a)", "      b();"]));
    // Only the indentation changes, an unindented old line, no word, a preprocessor line, an
    // indented text, an unindented line, an insertion.
    check(EditSite::Lines(5, 5), &["return call(total, range – 1);"], None);
    check(EditSite::Lines(6, 7), &["other();"], None);
    check(EditSite::Lines(6, 6), &["}"], None);
    check(EditSite::Lines(5, 5), &["#if x"], None);
    check(EditSite::Lines(5, 5), &["  return run();"], None);
    check(EditSite::Lines(9, 9), &["word"], None);
    check(EditSite::After(5), &["word"], None);
}

#[test]
fn recorded_echoes_drop_repeated_neighbours() {
    let check =
        |site, lines: &[&str], expected| check_recorded(Rule::Echoes, site, lines, expected);
    check(EditSite::After(2), &["start() {", "x"], Some(&["x"]));
    check(EditSite::Before(6), &["x", "}"], Some(&["x"]));
    check(EditSite::Between(2, 3), &["  start() {", "x", FILE[2]], Some(&["x"]));
    check(EditSite::Lines(5, 5), &[FILE[3], "x", FILE[5]], Some(&["x"]));
    check(EditSite::After(2), &["  start() {"], None);
    check(EditSite::Lines(3, 5), &[FILE[1], "x", "y"], None);
}

/// The neighbouring lines that a text repeats: the first, the last, and whether its start repeats
/// them.
fn repeated(dialect: &str, site: EditSite, lines: &[&str]) -> Vec<(u64, u64, bool)> {
    repeated_with(dialect, &|_| false, site, lines)
}

fn repeated_with(
    dialect: &str,
    is_touched: &dyn Fn(u64) -> bool,
    site: EditSite,
    lines: &[&str],
) -> Vec<(u64, u64, bool)> {
    let line = |number: u64| FILE.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let dialect = Dialect::by_name(dialect).unwrap();
    let context = EditContext {
        dialect,
        line: &line,
        is_touched,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose: false,
        reindented: &[],
        cancel: &Cancel::default(),
    };
    let draft = ModelText { site, lines: lines.iter().map(|&line| line.to_owned()).collect() };
    let found = repeats(&RepairRules::default(), &context, &draft);
    found.into_iter().map(|one| (one.first, one.last, one.end == TextEnd::Start)).collect()
}

#[test]
fn a_text_that_repeats_its_neighbours_is_found() {
    let repeated = |site, lines: &[&str]| repeated("pi", site, lines);
    assert_eq!(repeated(EditSite::Lines(5, 5), &[FILE[3], "x"]), [(4, 4, true)]);
    assert_eq!(repeated(EditSite::Lines(5, 5), &[FILE[2], FILE[3], "x"]), [(3, 4, true)]);
    assert_eq!(repeated(EditSite::Lines(3, 4), &["x", FILE[4], FILE[5]]), [(5, 6, false)]);
    assert_eq!(
        repeated(EditSite::Lines(3, 3), &[FILE[1], "x", FILE[3]]),
        [(2, 2, true), (4, 4, false)]
    );
    assert_eq!(repeated(EditSite::After(2), &[FILE[1], "x"]), [(2, 2, true)]);
    assert_eq!(repeated(EditSite::After(2), &["x", FILE[2]]), [(3, 3, false)]);
    assert_eq!(repeated(EditSite::Before(2), &["x", FILE[1]]), [(2, 2, false)]);
    assert_eq!(repeated(EditSite::Between(1, 3), &[FILE[1], "x"]), [(2, 2, true)]);
    assert_eq!(repeated(EditSite::After(9), &[FILE[8]]), [(9, 9, true)]);
}

#[test]
fn similar_lines_are_not_repeats() {
    let repeated = |site, lines: &[&str]| repeated("pi", site, lines);
    // Different whitespace, only brackets, not adjacent, no neighbours.
    assert_eq!(repeated(EditSite::After(2), &["start() {", "x"]), []);
    assert_eq!(repeated(EditSite::Lines(5, 5), &["x", FILE[5]]), []);
    assert_eq!(repeated(EditSite::Lines(5, 5), &[FILE[2], "x"]), []);
    assert_eq!(repeated(EditSite::End, &[FILE[8]]), []);
    assert_eq!(repeated(EditSite::Lines(1, 9), &["x"]), []);
    // Another operation changes the neighbour.
    let touched = |number| number == 4;
    assert_eq!(repeated_with("pi", &touched, EditSite::Lines(5, 5), &[FILE[3], "x"]), []);
    // A line that was duplicated before may be duplicated afterwards.
    let line = |number: u64| (number <= 3).then(|| if number < 3 { "a" } else { "b" }.into());
    let context = EditContext {
        dialect: Dialect::default_dialect(),
        line: &line,
        is_touched: &|_| false,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose: false,
        reindented: &[],
        cancel: &Cancel::default(),
    };
    let draft =
        ModelText { site: EditSite::Lines(2, 3), lines: vec!["a".to_owned(), "c".to_owned()] };
    assert_eq!(repeats(&RepairRules::default(), &context, &draft), []);
    // Recorded repairs, and a rule that is off.
    assert_eq!(repeated_with("omp", &|_| false, EditSite::After(2), &[FILE[1], "x"]), []);
    let line = |number: u64| FILE.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let context = EditContext {
        dialect: Dialect::default_dialect(),
        line: &line,
        is_touched: &|_| false,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose: false,
        reindented: &[],
        cancel: &Cancel::default(),
    };
    let draft = ModelText { site: EditSite::After(2), lines: vec![FILE[1].to_owned()] };
    assert_eq!(repeats(&RepairRules::none(), &context, &draft), []);
    assert_eq!(repeats(&RepairRules::default(), &context, &draft).len(), 1);
}

#[test]
fn repeated_brackets_are_dropped_where_they_are_unbalanced() {
    let check = |site, lines: &[&str], expected| check(Rule::Echoes, site, lines, expected);
    check(EditSite::Lines(5, 5), &["    x();", "  }"], Some(&["    x();"]));
    check(EditSite::Lines(5, 5), &["    x();", "  }", "}"], Some(&["    x();"]));
    check(
        EditSite::Lines(5, 5),
        &["    if (a) {", "    }", "  }"],
        Some(&["    if (a) {", "    }"]),
    );
    // They close a bracket of the text, belong to an insertion, are not next to the site, or are
    // the whole text.
    check(EditSite::Lines(5, 5), &["    x(() => {", "  }"], None);
    check(EditSite::After(5), &["    if (a) {", "  }"], None);
    check(EditSite::Lines(5, 5), &["    x();", "}"], None);
    check(EditSite::Lines(5, 5), &["  }"], None);
    // Lines with letters are not brackets.
    check(EditSite::Lines(3, 3), &["  start() {", "x"], None);
}

#[test]
fn regression_brackets_of_an_insertion_are_kept() {
    let check = |site, lines: &[&str]| check(Rule::Echoes, site, lines, None);
    check(EditSite::After(5), &["    if (a) {", "    }", "  }"]);
    check(EditSite::After(6), &["  }", "  stop() {", "  }"]);
}

#[test]
fn merges_extend_the_range_to_the_neighbour() {
    let merged_site = |line, new: &str| {
        let text =
            |number: u64| FILE.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
        let context = EditContext {
            dialect: Dialect::default_dialect(),
            line: &text,
            is_touched: &|n| n == 2,
            parses: &|_| None,
            has_shown: &|_| false,
            file_has_rows: &|| false,
            is_prose: false,
            reindented: &[],
            cancel: &Cancel::default(),
        };
        let draft = ModelText { site: EditSite::Lines(line, line), lines: vec![new.to_owned()] };
        layout::expand_merge(&context, &draft).map(|draft| draft.site)
    };
    assert_eq!(merged_site(3, "    const total = first && second;"), Some(EditSite::Lines(3, 4)));
    assert_eq!(merged_site(4, "    const total = first || second;"), Some(EditSite::Lines(3, 4)));
    assert_eq!(merged_site(3, "    const total = first;"), None);
    assert_eq!(merged_site(5, "    const total = first && second;"), None);
}

#[test]
fn wraps_paired_indent_and_confusables() {
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
fn regression_ambiguous_wraps_are_kept() {
    let old = FILE[4];
    // With and without the blank line, the run equals the same old line.
    let lines = ["return call(total,", "range – 1);", ""];
    check_recorded(Rule::Wraps, EditSite::Lines(5, 5), &lines, None);
    check(
        Rule::Wraps,
        EditSite::Lines(5, 5),
        &["return call(total,", "range – 1);", "x"],
        Some(&[old, "x"]),
    );
}

#[test]
fn regression_unchanged_and_blank_lines_are_not_part_of_a_wrap() {
    let old = FILE[4];
    let wrapped = ["    return call(total,", "      range – 1);"];
    let check =
        |lines: &[&str], expected| check(Rule::Wraps, EditSite::Lines(5, 6), lines, expected);
    // A blank line next to an unchanged line, and one between the parts.
    check(&["", old, "  }"], None);
    check(&[old, "", "x"], None);
    check(&[wrapped[0], "", wrapped[1]], None);
    check(&[wrapped[0], wrapped[1], ""], Some(&[old, ""]));
    // A part that equals an old line.
    let line = |number: u64| ["total", "total + 1;", "+ 1;"].get((number as usize) - 1);
    let line = |number: u64| line(number).map(|&line| line.into());
    for (name, expected) in [("pi", 2), ("omp", 1)] {
        let dialect = Dialect::by_name(name).unwrap();
        let context = EditContext {
            dialect,
            line: &line,
            is_touched: &|_| false,
            parses: &|_| None,
            has_shown: &|_| false,
            file_has_rows: &|| false,
            is_prose: false,
            reindented: &[],
            cancel: &Cancel::default(),
        };
        let lines = vec!["total".to_owned(), "+ 1;".to_owned()];
        let draft = ModelText { site: EditSite::Lines(1, 3), lines };
        let repaired = layout::restore_wraps(&context, &draft).unwrap();
        assert_eq!(repaired.len(), expected, "{name}");
    }
}

#[test]
fn regression_recorded_echoes_may_drop_all_lines_of_a_replacement() {
    check_recorded(Rule::Echoes, EditSite::Lines(5, 5), &[FILE[3], FILE[5]], Some(&[]));
    check_recorded(Rule::Echoes, EditSite::Between(5, 6), &[FILE[4], FILE[5]], Some(&[FILE[5]]));
}

#[test]
fn rules_are_switched_by_name() {
    let (pi, omp) = (Dialect::default_dialect(), Dialect::by_name("omp").unwrap());
    let mut rules = RepairRules::default();
    assert!(rules.has(Rule::Echoes, pi) && !rules.has(Rule::Echoes, omp));
    rules.switch("strip-plus", false).unwrap();
    rules.switch("wraps", true).unwrap();
    assert!(!rules.has(Rule::StripPlus, pi) && rules.has(Rule::Wraps, pi));
    assert!(rules.has(Rule::InheritIndent, pi) && rules.has(Rule::Echoes, pi));
    rules.switch("echoes", true).unwrap();
    assert!(rules.has(Rule::Echoes, omp));
    rules.switch("echoes", false).unwrap();
    assert!(!rules.has(Rule::Echoes, pi));
    assert!(!Rule::ALL.into_iter().any(|rule| RepairRules::none().has(rule, pi)));
    let error = rules.switch("strip-minus", true).unwrap_err();
    assert!(error.message.contains("strip-plus, strip-anchors"), "{}", error.message);
}

#[test]
fn an_unindented_block_is_not_indented() {
    let dialect = Dialect::default_dialect();
    let line = |number: u64| {
        ["mod a {", "    fn old() {}", "}"]
            .get((number as usize).wrapping_sub(1))
            .map(|&line| line.into())
    };
    let context = EditContext {
        dialect,
        line: &line,
        is_touched: &|_| false,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose: false,
        reindented: &[],
        cancel: &Cancel::default(),
    };
    let repaired = |lines: &[&str]| {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        layout::inherit_indent(&context, &ModelText { site: EditSite::Lines(2, 2), lines })
    };
    for block in [
        ["impl A {", "    fn a() {}", "}"],
        ["def a():", "  pass", "x = 1"],
        ["call(", "    one,", ")"],
    ] {
        assert_eq!(repaired(&block), None, "{block:?}");
    }
    // Lines deeper than the old lines belong to a first line that has lost its indentation.
    let lost = repaired(&["fn new() {", "        body();", "    }"]).unwrap();
    assert_eq!(lost[0], "    fn new() {");
    let lost = repaired(&["let a = 1;", "    let b = 2;"]).unwrap();
    assert_eq!(lost, ["    let a = 1;", "    let b = 2;"]);
}

#[test]
fn regression_lines_are_not_indented_if_the_patch_changes_their_enclosing_block() {
    let file = ["trait A {", "    const B: u8 = 1;", "", "    const C: u8 = 2;", "}"];
    let line = |number: u64| file.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let repaired = |is_touched: &dyn Fn(u64) -> bool| {
        let context = EditContext {
            dialect: Dialect::default_dialect(),
            line: &line,
            is_touched,
            parses: &|_| None,
            has_shown: &|_| false,
            file_has_rows: &|| false,
            is_prose: false,
            reindented: &[],
            cancel: &Cancel::default(),
        };
        let lines = vec!["const C: u8 = 3;".to_owned()];
        layout::inherit_indent(&context, &ModelText { site: EditSite::Lines(4, 4), lines })
    };
    assert_eq!(repaired(&|number| number == 1), None);
    let indented = Some(vec!["    const C: u8 = 3;".to_owned()]);
    assert_eq!(repaired(&|number| number == 2), indented);
    assert_eq!(repaired(&|_| false), indented);
}

#[test]
fn regression_a_different_unindented_text_is_not_indented() {
    let dialect = Dialect::default_dialect();
    let file = ["  {", "    test {copy of a list} {", "        push a", "    }"];
    let line = |number: u64| file.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let context = EditContext {
        dialect,
        line: &line,
        is_touched: &|_| false,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose: false,
        reindented: &[],
        cancel: &Cancel::default(),
    };
    let repaired = |lines: &[&str]| {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        layout::inherit_indent(&context, &ModelText { site: EditSite::Lines(2, 2), lines })
    };
    assert_eq!(
        repaired(&["source common", "foreach one of all {", "    test \"copy of $one\" {"]),
        None
    );
    // A single line, and a changed version of the old line with others after it.
    assert_eq!(repaired(&["source common"]).unwrap(), ["    source common"]);
    let lost = repaired(&["test {copy of the list} {", "setup one"]).unwrap();
    assert_eq!(lost, ["    test {copy of the list} {", "    setup one"]);
}

/// Only the first line has lost its indentation.
#[test]
fn regression_unchanged_lines_are_not_indented_again() {
    let dialect = Dialect::default_dialect();
    let file = ["f() {", "      return join(a, b", "      )", "    join(", "  }", "}"];
    let line = |number: u64| file.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let context = EditContext {
        dialect,
        line: &line,
        is_touched: &|_| false,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose: false,
        reindented: &[],
        cancel: &Cancel::default(),
    };
    let repaired = |lines: &[&str]| {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        layout::inherit_indent(&context, &ModelText { site: EditSite::Lines(2, 4), lines })
    };
    assert_eq!(
        repaired(&["return join(a, b, c", "      )", "", "    join("]).unwrap(),
        ["      return join(a, b, c", "      )", "", "    join("]
    );
    // A different text that contains an old line is not indented.
    assert_eq!(repaired(&["source common", "    join("]), None);
    // If no line equals an old one, all lines have lost the same indentation.
    assert_eq!(
        repaired(&["return join(a, b, c", "  )"]).unwrap(),
        ["      return join(a, b, c", "        )"]
    );
}

#[test]
fn a_text_next_to_unindented_text_is_not_indented() {
    let dialect = Dialect::default_dialect();
    let repaired = |file: &[&'static str]| {
        let line =
            |number: u64| file.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
        let context = EditContext {
            dialect,
            line: &line,
            is_touched: &|_| false,
            parses: &|_| None,
            has_shown: &|_| false,
            file_has_rows: &|| false,
            is_prose: false,
            reindented: &[],
            cancel: &Cancel::default(),
        };
        let at = file.iter().position(|line| line.contains("old")).unwrap() as u64 + 1;
        let draft = ModelText { site: EditSite::Lines(at, at), lines: vec!["new".into()] };
        layout::inherit_indent(&context, &draft)
    };
    // The old line is indented, and the text next to it is not.
    assert_eq!(repaired(&["Title", "-----", "", "    old", "", "more text"]), None);
    assert_eq!(repaired(&["text", "", "    old", "    still"]), None);
    assert_eq!(repaired(&["    code", "    old", "", "text"]), None);
    // Within a block.
    for file in [
        &["def f():", "    old", "    b = 2"][..],
        &["f() {", "    old", "}", "more"],
        &["    a", "    old", "    b"],
        &["    old"],
    ] {
        assert_eq!(repaired(file).as_deref(), Some(&["    new".to_owned()][..]), "{file:?}");
    }
}

#[test]
fn regression_a_new_list_item_is_not_indented() {
    let dialect = Dialect::default_dialect();
    let file = ["        one.py", "", "    Second case:", "        - old", "        two.py"];
    let line = |number: u64| file.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let context = EditContext {
        dialect,
        line: &line,
        is_touched: &|_| false,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose: false,
        reindented: &[],
        cancel: &Cancel::default(),
    };
    let repaired = |at: u64, lines: &[&str]| {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        layout::inherit_indent(&context, &ModelText { site: EditSite::Lines(at, at), lines })
    };
    for item in ["-   Second case::", "*\tSecond case"] {
        assert_eq!(repaired(3, &[item, ""]), None, "{item}");
    }
    // Signs that do not begin an item, and an old line that was an item.
    assert_eq!(repaired(3, &["-second case"]).unwrap(), ["    -second case"]);
    assert_eq!(repaired(3, &["+ second case"]).unwrap(), ["    + second case"]);
    assert_eq!(repaired(4, &["- new"]).unwrap(), ["        - new"]);
}

#[test]
fn merge_slack_counts_utf16_units() {
    let dialect = Dialect::by_name("omp").unwrap();
    let line =
        |number: u64| ["a &&", "b"].get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let context = EditContext {
        dialect,
        line: &line,
        is_touched: &|_| false,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose: false,
        reindented: &[],
        cancel: &Cancel::default(),
    };
    // An emoji is two of the 32 units.
    for (emoji, site) in [(16, Some(EditSite::Lines(1, 2))), (17, None)] {
        let lines = vec![format!("a &&{}b", "🎉".repeat(emoji))];
        let draft = ModelText { site: EditSite::Lines(1, 1), lines };
        assert_eq!(layout::expand_merge(&context, &draft).map(|draft| draft.site), site);
    }
}

/// The line of `FILE` that a text indents differently, with the old and the new indentation.
fn found_reindented(
    site: EditSite,
    hint: Option<&str>,
    lines: &[&str],
) -> Option<(u64, String, String)> {
    let dialect = Dialect::default_dialect();
    let line = |number: u64| FILE.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let context = EditContext {
        dialect,
        line: &line,
        is_touched: &|_| false,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose: false,
        reindented: &[],
        cancel: &Cancel::default(),
    };
    let anchor = hint.map(|hint| {
        let hash = hash_line(dialect, 5, hint);
        hashline_lines::anchor::Anchor::parse(
            dialect,
            &format!("{}|{hint}", dialect.anchor_text(5, hash)),
        )
    });
    let anchor = anchor.transpose().unwrap();
    let hint = anchor.as_ref().and_then(|anchor| anchor.hint.as_deref());
    let draft = ModelText { site, lines: lines.iter().map(|&line| line.to_owned()).collect() };
    reindented(&context, &draft, hint).map(|found| (found.line, found.old, found.new))
}

#[test]
fn a_differently_indented_text_is_reported() {
    let one = EditSite::Lines(5, 5);
    let found = |line, old: &str, new: &str| Some((line, old.to_owned(), new.to_owned()));
    assert_eq!(
        found_reindented(one, None, &["  return call(total, range);"]),
        found(5, "    ", "  ")
    );
    assert_eq!(
        found_reindented(EditSite::Lines(3, 4), None, &["x", "  seconds;"]),
        found(4, "      ", "  ")
    );
    // The same indentation, a different line, and a change of only the indentation.
    assert_eq!(found_reindented(one, None, &["    return call(total, range);"]), None);
    assert_eq!(
        found_reindented(one, None, &["  while (true) {", "    return call(total, range);"]),
        None
    );
    assert_eq!(found_reindented(one, None, &["  return call(total, range – 1);"]), None);
    assert_eq!(found_reindented(EditSite::After(5), None, &["  return call(total, range);"]), None);
    // The text after the anchor says how the line was shown.
    let shown = "  return call(total, range – 1);";
    assert_eq!(found_reindented(one, Some(shown), &["  done();"]), found(5, "    ", "  "));
    assert_eq!(found_reindented(one, Some(FILE[4]), &["  return call(total, range);"]), None);
}

/// The description of a repair of a text for `FILE`.
fn description_in(dialect: &str, rule: Rule, site: EditSite, lines: &[&str]) -> String {
    let (.., mut applied) = repaired(Dialect::by_name(dialect).unwrap(), rule, site, lines);
    applied.pop().unwrap_or_else(|| panic!("{rule:?} did nothing to {lines:?}")).description
}

fn description_of(rule: Rule, site: EditSite, lines: &[&str]) -> String {
    description_in("pi", rule, site, lines)
}

#[test]
fn removed_markers_are_described() {
    let (site, plus) = (EditSite::Lines(3, 3), Rule::StripPlus);
    assert_eq!(
        description_of(plus, site, &["+    const sum = first &&"]),
        "the `+` in front of your line was removed"
    );
    assert_eq!(
        description_of(plus, site, &["+    a", "", "+    b"]),
        "the `+` in front of each of your lines was removed"
    );
    let dialect = Dialect::by_name("pi").unwrap();
    let row = |text: &str| format!("3:{}|{text}", dialect.hash_text(hash_line(dialect, 3, text)));
    let (one, two) = (row("    one"), row("    two"));
    let anchor = &one[..5];
    assert_eq!(
        description_of(Rule::StripAnchors, site, &[&one]),
        format!("the anchor `{anchor}` in front of your line was removed")
    );
    assert_eq!(
        description_of(Rule::StripAnchors, site, &[&one, &two]),
        format!("an anchor like `{anchor}` in front of each of your lines was removed")
    );
}

#[test]
fn added_indentation_is_described() {
    let rule = Rule::InheritIndent;
    assert_eq!(
        description_of(rule, EditSite::Lines(5, 5), &["return call(sum);"]),
        "your line was indented by 4 spaces, as line 5 is"
    );
    assert_eq!(
        description_of(rule, EditSite::Lines(5, 5), &["return call(sum) +", "      other;"]),
        "your first line was indented by 4 spaces, as line 5 is"
    );
    assert_eq!(
        description_of(rule, EditSite::Lines(5, 5), &["return call(total, 1);", "done();"]),
        "your 2 lines were indented by 4 spaces, as line 5 is"
    );
    assert_eq!(
        description_of(Rule::PairedIndent, EditSite::Lines(4, 5), &["second;", "    return 1;"]),
        "one of your lines was indented like the line it replaces"
    );
    assert_eq!(
        description_of(Rule::PairedIndent, EditSite::Lines(4, 5), &["second;", "return 1;"]),
        "2 of your lines were indented like the lines they replace"
    );
}

#[test]
fn dropped_echoes_are_described_with_the_lines_they_repeat() {
    assert_eq!(
        description_of(Rule::Echoes, EditSite::Lines(5, 5), &["    return 1;", "  }"]),
        "your last line `}` repeated line 6 and was removed"
    );
    assert_eq!(
        description_of(Rule::Echoes, EditSite::Lines(5, 5), &["    return 1;", "  }", "}"]),
        "your last 2 lines repeated lines 6 to 7 and were removed"
    );
    let recorded = |site, lines: &[&str]| description_in("omp", Rule::Echoes, site, lines);
    assert_eq!(
        recorded(EditSite::After(6), &["}", "x"]),
        "your first line `}` repeated line 6 and was removed"
    );
    assert_eq!(
        recorded(EditSite::Lines(5, 5), &["      second;", "x", "  }"]),
        "your first line `second;` repeated line 4 and was removed, and your last line `}` repeated line 6 and was removed"
    );
    // The dropped brackets are at the start, where they repeat the line above.
    assert_eq!(
        recorded(EditSite::Lines(7, 7), &["  }", "  }", "  }"]),
        "your first line `}` repeated line 6 and was removed"
    );
}

#[test]
fn replaced_lines_are_described() {
    assert_eq!(
        description_of(
            Rule::Merges,
            EditSite::Lines(3, 3),
            &["    const total = first && second;"]
        ),
        "your line also contains the text of line 4, which was replaced with it"
    );
    assert_eq!(
        description_of(
            Rule::Merges,
            EditSite::Lines(4, 4),
            &["    const total = first || second;"]
        ),
        "your line also contains the text of line 3, which was replaced with it"
    );
    assert_eq!(
        description_of(
            Rule::Wraps,
            EditSite::Lines(5, 6),
            &["    return call(", "total, range – 1);", "  } x"]
        ),
        "your lines that make up `return call(total, range – 1);` were joined to that one line, as in the file"
    );
    assert_eq!(
        description_of(
            Rule::Confusables,
            EditSite::Lines(5, 5),
            &["    return call(total, range − 1);"]
        ),
        "characters of your text that look like `-` were replaced by `-`"
    );
}

#[test]
fn descriptions_of_long_texts_are_short() {
    let rest = "x".repeat(100_000);
    let dialect = Dialect::by_name("pi").unwrap();
    let hash = dialect.hash_text(hash_line(dialect, 1, &rest));
    let long_number = format!("{}1:{hash}|{rest}", "0".repeat(100_000));
    let line = description_of(Rule::StripAnchors, EditSite::Lines(3, 3), &[&long_number]);
    assert!(line.chars().count() < 200, "{line}");
    let whole = description_of(
        Rule::Wraps,
        EditSite::Lines(5, 5),
        &["    return call(", "total, range – 1);"],
    );
    assert!(whole.chars().count() < 200, "{whole}");
}

/// A context for a file.
fn context_of<'s, 'a>(
    line: &'s dyn Fn(u64) -> Option<Cow<'a, str>>,
    is_prose: bool,
) -> EditContext<'s, 'a> {
    EditContext {
        dialect: Dialect::default_dialect(),
        line,
        is_touched: &|_| false,
        parses: &|_| None,
        has_shown: &|_| false,
        file_has_rows: &|| false,
        is_prose,
        reindented: &[],
        cancel: {
            static CANCEL: std::sync::LazyLock<Cancel> = std::sync::LazyLock::new(Cancel::default);
            &CANCEL
        },
    }
}

fn draft_of(first: u64, last: u64, lines: &[&str]) -> ModelText {
    let lines = lines.iter().map(|&line| line.to_owned()).collect();
    ModelText { site: EditSite::Lines(first, last), lines }
}

#[test]
fn regression_text_that_belongs_at_the_margin_is_not_indented() {
    let inherits = |file: &[&str], at: (u64, u64), is_prose: bool, lines: &[&str]| {
        let line =
            |number: u64| file.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
        layout::inherit_indent(&context_of(&line, is_prose), &draft_of(at.0, at.1, lines))
    };
    let file = ["def f():", "    \"\"\"Old.", "    old()", "    more()"];
    // Comments, docstrings, directives and control characters, where no old line has one.
    for line in [
        "// MARK: - Subclasses",
        "-- a comment",
        "\"\"\"A docstring at the margin.",
        "'''Another.",
        "; a comment",
        "% directive",
        "<!-- a comment -->",
        "> quoted",
        "{{- toYaml .Values }}",
        "{% endif %}",
        "#pragma once",
        "\u{1b}[31mred",
        "\u{c}page",
        "\u{7f}x",
    ] {
        assert_eq!(inherits(&file, (3, 3), false, &[line]), None, "{line:?}");
    }
    // Prose: `<table>` in Markdown, or any text.
    let prose = ["- item", "", "    <p>", "    text", "", "    more"];
    for line in ["<table>", "text of a paragraph"] {
        assert_eq!(inherits(&prose, (3, 3), true, &[line]), None, "{line}");
    }
    // A comment at the margin where others are, and lines that are commented out.
    let swift = ["class A {", "    // MARK: Types", "    a()", "}", "", "// MARK: B", "class B {"];
    assert_eq!(inherits(&swift, (2, 2), false, &["// MARK: - Subclasses"]), None);
    let lua = ["  local function f()", "    go()", "    -- note", "  end"];
    assert_eq!(inherits(&lua, (2, 3), false, &["--    go()", "--    -- note"]), None);
    // A definition at the margin in the place of an indented one: its lines are where they belong.
    let nested = ["namespace N", "{", "    class A", "    {", "        int a;", "    }", "}"];
    assert_eq!(inherits(&nested, (3, 3), false, &["class A", "{", "    class B"]), None);
    let class = ["class A:", "    x = 1", "    def f(self):", "        pass", "", "def g():"];
    assert_eq!(inherits(&class, (2, 2), false, &["def h():", "    y = 2", "", "x"]), None);
    // Lines that have lost their indentation.
    let lost = |line: &str| inherits(&file, (3, 3), false, &[line]);
    assert_eq!(lost("other()").unwrap(), ["    other()"]);
    assert_eq!(lost("return 1").unwrap(), ["    return 1"]);
    let note = ["f() {", "    // old note", "    old();", "}"];
    let noted = inherits(&note, (2, 2), false, &["// new note"]).unwrap();
    assert_eq!(noted, ["    // new note"]);
    let block = inherits(&note, (2, 3), false, &["old();", "older();"]).unwrap();
    assert_eq!(block, ["    old();", "    older();"]);
}

#[test]
fn regression_a_plus_that_is_meant_is_kept() {
    let strip = |file: &[&str], site: EditSite, is_prose: bool, lines: &[&str]| {
        let line =
            |number: u64| file.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
        let draft = ModelText { site, ..draft_of(1, 1, lines) };
        markers::strip_plus(&context_of(&line, is_prose), &draft)
    };
    let file = ["Contact:", "030 1234567", "end"];
    let line = EditSite::Lines(2, 2);
    // Telephone numbers, markup of RDoc, bullets.
    for lines in [
        &["+49 30 1234567"][..],
        &["+49 30 1234567", "+1 (555) 010-9999"],
        &["+word+ is a word", "+other+ is another one"],
        &["+nil+::", "+true+::"],
    ] {
        assert_eq!(strip(&file, line, false, lines), None, "{lines:?}");
    }
    assert_eq!(strip(&file, EditSite::After(1), true, &["+ one", "+ two"]), None);
    // Rows of a diff, in a code block of Markdown and next to other rows.
    let fenced = ["Change:", "```diff", "-old", " same", "```"];
    assert_eq!(strip(&fenced, EditSite::After(3), true, &["+new", "+newer"]), None);
    let patch = ["@@ -1 +1,2 @@", " same", "+new"];
    assert_eq!(strip(&patch, EditSite::After(1), false, &["+first", "+second"]), None);
    assert_eq!(strip(&patch, EditSite::After(2), false, &["+first", "+second"]), None);
    // Markers of a diff.
    let stripped = strip(&file, line, false, &["+first()", "+  second()"]).unwrap();
    assert_eq!(stripped, ["first()", "  second()"]);
    assert_eq!(strip(&file, line, false, &["+i++;", "+a + b;"]).unwrap(), ["i++;", "a + b;"]);
    let code = ["Text", "```rust", "fn f()", "```"];
    assert_eq!(strip(&code, EditSite::After(3), true, &["+a", "+b"]).unwrap(), ["a", "b"]);
}

#[test]
fn regression_lines_that_follow_themselves_are_not_repeats() {
    let found = |file: &[&str], at: (u64, u64), lines: &[&str]| {
        let line =
            |number: u64| file.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
        !repeats(&RepairRules::default(), &context_of(&line, false), &draft_of(at.0, at.1, lines))
            .is_empty()
    };
    let html = ["a", "<br>", "<br>", "b", "<br>", "c"];
    assert!(!found(&html, (4, 4), &["x", "<br>"]));
    let template = ["{{- if a }}", "x", "{{- end }}", "y", "  {{- end }}", "z", "{{- end }}"];
    assert!(!found(&template, (4, 4), &["{{- end }}", "y"]));
    assert!(!found(&["#if a", "#endif", "b", "#endif", "c", "#endif"], (3, 3), &["#endif", "x"]));
    // Lines that do not follow themselves elsewhere.
    assert!(found(&["a", "<br>", "b", "<br>", "c"], (3, 3), &["x", "<br>"]));
    assert!(found(&["{{- if a }}", "x", "{{- end }}", "y"], (2, 2), &["x", "{{- end }}"]));
    assert!(found(&["def a", "  x", "end", "def b", "  y", "end"], (2, 2), &["x", "end"]));
    assert!(found(&["a", "<br>", "<br>", "b", "c"], (4, 4), &["x", "c"]));
}

#[test]
fn regression_lines_that_only_align_are_not_reported_as_re_indented() {
    let file = ["int f(int a,", "      int b)", "{", "    one();", "    two();", "}"];
    let line = |number: u64| file.get((number as usize).wrapping_sub(1)).map(|&line| line.into());
    let found = |first: u64, last: u64, lines: &[&str]| {
        reindented(&context_of(&line, false), &draft_of(first, last, lines), None)
            .map(|found| found.line)
    };
    // The arguments follow the longer name; a line around them changes its depth.
    assert_eq!(found(1, 2, &["int longer(int a,", "           int b)"]), None);
    assert_eq!(found(4, 5, &["    if (x)", "        two();"]), None);
    // The whole text is deeper, or less deep.
    assert_eq!(found(4, 5, &["        one(1);", "        two(2);"]), Some(4));
    assert_eq!(found(4, 5, &["one(1);", "", "two(2);"]), Some(4));
    assert_eq!(found(4, 4, &["  one(1);"]), Some(4));
}
