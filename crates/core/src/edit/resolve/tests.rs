use super::*;
use crate::edit::request::{PatchKind, parse};
use hashline_base::cancel::Cancel;
use hashline_lines::checksum::Checksum;
use serde_json::json;

/// Resolves `edits` on the text `lines`: the spots, or the codes of refusals.
fn places(
    relocate: Relocate,
    lines: &[&str],
    edits: serde_json::Value,
) -> Result<Vec<Spot>, Vec<(usize, Code)>> {
    let text = lines.join("\n");
    let dialect = Dialect::default_dialect();
    let operations =
        parse(dialect, PatchKind::Text, &edits.into(), &Cancel::default()).unwrap().edits;
    let current_text = CurrentText::new(dialect, text.as_bytes());
    let policy = RelocatePolicy { relocate, window_lines: RELOCATE_WINDOW_LINES };
    let operations: Vec<_> = operations.iter().collect();
    match resolve(&current_text, &policy, &operations) {
        Ok(mut resolved) => {
            resolved.sort_by_key(|one| one.operation.index);
            Ok(resolved.iter().map(|one| one.spot).collect())
        }
        Err(refusals) => Err(refusals.iter().map(|one| (one.operation.index, one.code)).collect()),
    }
}

/// The anchor of a line with the text `line`, with this number.
fn at(number: u32, line: &str) -> String {
    let dialect = Dialect::default_dialect();
    dialect.anchor_text(u64::from(number), hash_line(dialect, u64::from(number), line))
}

fn file() -> Vec<String> {
    (1..=40).map(|n| format!("let value{n} = compute({n}, {});", n * 7)).collect()
}

fn check(
    relocate: Relocate,
    edits: serde_json::Value,
    expected: Result<Vec<Spot>, Vec<(usize, Code)>>,
) {
    let lines = file();
    let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
    assert_eq!(places(relocate, &lines, edits.clone()), expected, "{edits}");
}

fn set(anchor: &str, text: &str) -> serde_json::Value {
    json!({"op": "set_line", "anchor": anchor, "text": text})
}

fn delete(anchor: &str) -> serde_json::Value {
    json!({"op": "delete", "anchor": anchor})
}

/// The lines of [`file`] with a unique hash.
fn unique_lines() -> Vec<u32> {
    let lines = file();
    let hash = |line: &String| hash_line(Dialect::default_dialect(), 1, line);
    let once = |line: &&String| lines.iter().filter(|other| hash(other) == hash(line)).count() == 1;
    lines.iter().zip(1..).filter(|(line, _)| once(line)).map(|(_, number)| number).collect()
}

#[test]
fn exact_anchors_hold() {
    let lines = file();
    let (five, nine) = (at(5, &lines[4]), at(9, &lines[8]));
    let spots = vec![Spot::Lines(5, 5), Spot::Gap(9), Spot::Gap(8), Spot::Gap(0), Spot::Gap(40)];
    let edits = json!([
        set(&five, "x"),
        {"op": "insert_after", "anchor": nine, "text": "x"},
        {"op": "insert_before", "anchor": nine, "text": "x"},
        {"op": "insert_after", "anchor": "BOF", "text": "x"},
        {"op": "insert_before", "anchor": "EOF", "text": "x"},
    ]);
    check(Relocate::Off, edits, Ok(spots));
}

#[test]
fn shifted_anchors_are_relocated_if_the_text_supports_it() {
    let lines = file();
    for number in unique_lines() {
        let line = &lines[number as usize - 1];
        let changed = line.replace("compute", "calculate");
        for distance in [-20i64, -5, -2, -1, 1, 2, 5, 20] {
            let Ok(named) = u32::try_from(i64::from(number) + distance) else {
                continue;
            };
            if named == 0
                || at(named, line)
                    == at(named, lines.get(named as usize - 1).unwrap_or(&String::new()))
            {
                continue;
            }
            let edit = json!([set(&at(named, line), &changed)]);
            let spot = Spot::Lines(u64::from(number), u64::from(number));
            check(Relocate::Guarded, edit.clone(), Ok(vec![spot]));
            let code = if named > 40 { Code::LineOutOfRange } else { Code::HashMismatch };
            check(Relocate::Off, edit, Err(vec![(0, code)]));
        }
    }
}

#[test]
fn relocation_is_refused_if_the_text_supports_the_numbered_line() {
    let lines = file();
    let number = unique_lines()[10];
    let line = &lines[number as usize - 1];
    let below = at(number + 1, line);
    let spot = |n: u32| Spot::Lines(u64::from(n), u64::from(n));
    let mine = lines[number as usize].replace("compute", "calculate");
    let refused = || Err(vec![(0, Code::HashMismatch)]);
    check(Relocate::Guarded, json!([set(&below, &mine)]), refused());
    check(Relocate::Unique, json!([set(&below, &mine)]), Ok(vec![spot(number)]));
    // Without a text, only relocation to an adjacent line is refused.
    check(Relocate::Guarded, json!([delete(&below)]), refused());
    check(Relocate::Guarded, json!([delete(&at(number + 2, line))]), Ok(vec![spot(number)]));
    // A text of empty lines counts as none.
    check(Relocate::Guarded, json!([set(&below, "\n")]), refused());
}

#[test]
fn other_anchors_can_prevent_or_support_relocation() {
    let lines = file();
    let unique = unique_lines();
    let (one, other, last) = (unique[3], unique[8], unique[unique.len() - 1]);
    let shifted = |n: u32, by: u32| at(n + by, &lines[n as usize - 1]);
    let spot = |n: u32| Spot::Lines(u64::from(n), u64::from(n));
    // An anchor below matches its number: nothing was inserted above it.
    let edits = json!([delete(&shifted(one, 4)), delete(&at(last, &lines[last as usize - 1]))]);
    check(Relocate::Guarded, edits, Err(vec![(0, Code::HashMismatch)]));
    // Two deletions with the same distance support each other, even if they are off by one.
    let edits = json!([delete(&shifted(one, 1)), delete(&shifted(other, 1))]);
    check(Relocate::Guarded, edits, Ok(vec![spot(one), spot(other)]));
    // Two operations on the same line do not support each other.
    let insert = json!({"op": "insert_after", "anchor": shifted(one, 1), "text": "x"});
    let edits = json!([delete(&shifted(one, 1)), insert]);
    check(Relocate::Guarded, edits, Err(vec![(0, Code::HashMismatch), (1, Code::HashMismatch)]));
}

#[test]
fn both_ends_of_a_range_are_relocated_by_the_same_distance() {
    let lines = file();
    let unique = unique_lines();
    let (first, last) = (unique[2], unique[2] + 4);
    let range = |by: u32, extra: u32| {
        let start = at(first + by, &lines[first as usize - 1]);
        let end = at(last + by + extra, &lines[last as usize - 1]);
        json!([{"op": "replace_range", "start_anchor": start, "end_anchor": end, "text": lines[first as usize - 1]}])
    };
    let spot = Spot::Lines(u64::from(first), u64::from(last));
    check(Relocate::Guarded, range(0, 0), Ok(vec![spot]));
    check(Relocate::Guarded, range(7, 0), Ok(vec![spot]));
    check(
        Relocate::Guarded,
        range(7, 1),
        Err(vec![(0, Code::HashMismatch), (0, Code::HashMismatch)]),
    );
}

#[test]
fn several_candidates_are_ambiguous() {
    let lines = ["a", "b", "same", "c", "d", "same", "e"];
    let edit = json!([set(&at(5, "same"), "same!")]);
    for relocate in [Relocate::Guarded, Relocate::Unique] {
        let refused = Err(vec![(0, Code::AmbiguousAnchor)]);
        assert_eq!(places(relocate, &lines, edit.clone()), refused);
    }
}

#[test]
fn a_hint_refuses_a_line_with_an_equal_hash() {
    let lines = file();
    let line = &lines[4];
    let good = format!("{}|{line}", at(5, line));
    let bad = format!("{}|{}", at(5, line), lines[5]);
    check(Relocate::Guarded, json!([set(&good, "x")]), Ok(vec![Spot::Lines(5, 5)]));
    check(Relocate::Guarded, json!([set(&bad, "x")]), Err(vec![(0, Code::HashMismatch)]));
}

#[test]
fn an_anchor_of_the_phantom_line_means_the_end() {
    let dialect = Dialect::by_name("omp").unwrap();
    let text = "a\nb\n";
    let anchor = dialect.anchor_text(3, hash_line(dialect, 3, ""));
    for op in ["insert_after", "insert_before"] {
        let edits = json!([{"op": op, "anchor": anchor, "text": "x"}]);
        let operations =
            parse(dialect, PatchKind::Text, &edits.into(), &Cancel::default()).unwrap().edits;
        let current_text = CurrentText::new(dialect, text.as_bytes());
        let policy = RelocatePolicy { relocate: Relocate::Off, window_lines: 100 };
        let resolved = resolve(&current_text, &policy, &[&operations[0]]).unwrap();
        assert_eq!(resolved[0].spot, Spot::Gap(2));
    }
}

/// Resolves an edit of the line `{}`, which has moved from line 5 to line 20.
fn moved_brace(name: &str, operation: impl Fn(String) -> serde_json::Value) -> Result<Spot, Code> {
    let mut lines = file();
    lines[19] = "{}".to_owned();
    let text = lines.join("\n");
    let dialect = Dialect::by_name(name).unwrap();
    let anchor = dialect.anchor_text(5, hash_line(dialect, 5, "{}"));
    let edits = json!([operation(anchor)]);
    let operations =
        parse(dialect, PatchKind::Text, &edits.into(), &Cancel::default()).unwrap().edits;
    let current_text = CurrentText::new(dialect, text.as_bytes());
    let policy = RelocatePolicy { relocate: Relocate::Unique, window_lines: RELOCATE_WINDOW_LINES };
    let resolved = resolve(&current_text, &policy, &operations.iter().collect::<Vec<_>>());
    resolved.map(|found| found[0].spot).map_err(|refusals| refusals[0].code)
}

#[test]
fn a_line_of_few_letters_needs_a_hint_or_a_long_hash_for_relocation() {
    let spot = Ok(Spot::Lines(20, 20));
    assert_eq!(moved_brace("pi", |anchor| set(&anchor, "x")), Err(Code::HashMismatch));
    assert_eq!(moved_brace("pi", |anchor| delete(&anchor)), Err(Code::HashMismatch));
    assert_eq!(moved_brace("pi", |anchor| set(&format!("{anchor}|{{}}"), "x")), spot);
    assert_eq!(moved_brace("pi26", |anchor| set(&anchor, "x")), spot);
    // One distinctive end of a range is enough.
    let line_21 = file()[20].clone();
    let range = |anchor: String| json!({"op": "replace_range", "start_anchor": anchor, "end_anchor": at(6, &line_21), "text": "x"});
    assert_eq!(moved_brace("pi", range), Ok(Spot::Lines(20, 21)));
}

#[test]
fn a_checksum_refuses_changes_between_the_ends() {
    let shown = file();
    let checksum = |first: usize, last: usize| {
        let text = shown[first - 1..].join("\n");
        Checksum::of(first as u64, last as u64, text.as_bytes()).to_string()
    };
    let range = |checksum: String| json!([{"op": "delete", "start_anchor": at(5, &shown[4]), "end_anchor": at(8, &shown[7]), "checksum": checksum}]);
    let run = |lines: &[String], checksum: String| {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        places(Relocate::Guarded, &lines, range(checksum))
    };
    assert_eq!(run(&shown, checksum(5, 8)), Ok(vec![Spot::Lines(5, 8)]));
    assert_eq!(run(&shown, checksum(1, 40)), Ok(vec![Spot::Lines(5, 8)]));
    // An inner line was changed, or only its whitespace.
    let refused = Err(vec![(0, Code::HashMismatch)]);
    for changed in ["other".to_owned(), format!(" {}", shown[6])] {
        let mut lines = shown.clone();
        lines[6] = changed;
        assert_eq!(run(&lines, checksum(5, 8)), refused);
        assert_eq!(run(&lines, checksum(1, 40)), refused);
    }
    // Lines outside of the checksum may change, and it is relocated with the range.
    let mut lines = shown.clone();
    lines[2] = "other".to_owned();
    assert_eq!(run(&lines, checksum(5, 8)), Ok(vec![Spot::Lines(5, 8)]));
    assert_eq!(run(&lines, checksum(1, 40)), refused);
    lines.splice(0..0, (0..7).map(|n| format!("new {n}")));
    assert_eq!(run(&lines, checksum(5, 8)), Ok(vec![Spot::Lines(12, 15)]));
    // The last lines of the checksum were removed.
    assert_eq!(run(&shown[..30], checksum(1, 40)), refused);
}
