use super::*;
use crate::edit::request::{InsertAt, LineEdit, PatchKind, parse};
use crate::edit::splice::splice;
use hashline_base::cancel::Cancel;
use hashline_disk::bytes::Charset;
use hashline_lines::dialect::Dialect;
use proptest::prelude::*;
use serde_json::json;

/// Plans edits such as `[{"op": "set_line", "anchor": "2:00", …}]`, whose hashes are ignored, and
/// applies the plan.
fn try_edit(bytes: &[u8], edits: serde_json::Value) -> std::result::Result<Vec<u8>, String> {
    let document = Document::from_text(bytes);
    let index = LineIndex::new(document.body(), document.unit());
    let subject = PlanText { document: &document, index: &index, cancel: &Cancel::default() };
    let operations =
        parse(Dialect::default_dialect(), PatchKind::Text, &edits.into(), &Cancel::default())
            .unwrap();
    let mut planned = Vec::new();
    for operation in &operations.edits {
        planned.extend(edits_of(&subject, operation).map_err(|error| error.message)?);
    }
    let plan = plan(&subject, planned).map_err(|conflicts| conflicts[0].error.message.clone())?;
    let spliced = splice(&document, &plan).concat();
    for region in &plan.regions {
        let lines = hashline_lines::lines::Lines::new(&region.bytes, index.unit()).count() as u64;
        assert_eq!(region.new_lines, lines, "{region:?}");
    }
    Ok(spliced)
}

fn edits_of<'o>(subject: &PlanText<'_>, operation: &'o Operation) -> Result<Vec<Edit<'o>>> {
    Ok(match &operation.action {
        LineEdit::Replace { first, last, lines, .. } => vec![Edit::Replace {
            operation,
            first: u64::from(first.line),
            last: u64::from(last.as_ref().unwrap_or(first).line),
            lines: lines.into(),
        }],
        LineEdit::Insert { at, lines, .. } => {
            let gap = match at {
                InsertAt::Start => 0,
                InsertAt::End => subject.index.count(),
                InsertAt::After(anchor) => u64::from(anchor.line),
                InsertAt::Before(anchor) | InsertAt::Between(_, anchor) => {
                    u64::from(anchor.line) - 1
                }
            };
            vec![Edit::Insert { operation, gap, lines: NewLines::Text(lines.into()) }]
        }
        LineEdit::ReplaceText { .. } | LineEdit::Json(_) => find_matches(subject, operation, None)?,
        LineEdit::Take(_)
        | LineEdit::Put(_)
        | LineEdit::Restore(_)
        | LineEdit::ReplaceFile { .. } => {
            unreachable!("the tests neither move lines nor replace files")
        }
    })
}

fn check(before: &str, edits: serde_json::Value, after: &str) {
    let spliced = try_edit(before.as_bytes(), edits.clone()).unwrap();
    assert_eq!(String::from_utf8(spliced).unwrap(), after, "{before:?} {edits}");
}

fn refuses(before: &str, edits: serde_json::Value, part: &str) {
    let message = try_edit(before.as_bytes(), edits.clone()).unwrap_err();
    assert!(message.contains(part), "{before:?} {edits}: {message}");
}

fn set(line: u32, text: serde_json::Value) -> serde_json::Value {
    json!({"op": "set_line", "anchor": format!("{line}:00"), "text": text})
}

fn range(first: u32, last: u32, text: serde_json::Value) -> serde_json::Value {
    json!({"op": "replace_range", "start_anchor": format!("{first}:00"), "end_anchor": format!("{last}:00"), "text": text})
}

fn after(line: u32, text: &str) -> serde_json::Value {
    json!({"op": "insert_after", "anchor": format!("{line}:00"), "text": text})
}

fn before(line: u32, text: &str) -> serde_json::Value {
    json!({"op": "insert_before", "anchor": format!("{line}:00"), "text": text})
}

fn at(end: &str, text: &str) -> serde_json::Value {
    json!({"op": "insert_after", "anchor": end, "text": text})
}

fn text(old: &str, new: &str) -> serde_json::Value {
    json!({"op": "replace_text", "old_text": old, "new_text": new})
}

fn all(old: &str, new: &str) -> serde_json::Value {
    json!({"op": "replace_text", "old_text": old, "new_text": new, "all": true})
}

#[test]
fn lines_are_replaced_and_keep_terminators() {
    check("a\nb\nc\n", json!([set(2, json!("x"))]), "a\nx\nc\n");
    check("a\nb\nc\n", json!([set(2, json!("x\ny"))]), "a\nx\ny\nc\n");
    check("a\nb\nc\n", json!([set(2, json!(null))]), "a\nc\n");
    check("a\r\nb\nc\r\n", json!([set(1, json!("x"))]), "x\r\nb\nc\r\n");
    check("a\r\nb\nc\r\n", json!([range(1, 3, json!("x\ny\nz\nw"))]), "x\r\ny\nz\r\nw\r\n");
    check("a\r\nb\nc\r\n", json!([range(1, 2, json!("x"))]), "x\r\nc\r\n");
    check("a\nb", json!([set(2, json!("x\ny"))]), "a\nx\ny");
    check("a\r\nb", json!([set(2, json!("x\ny"))]), "a\r\nx\r\ny");
    check("b", json!([set(1, json!("x\ny"))]), "x\ny");
    check("a\nb", json!([range(1, 2, json!("a"))]), "a");
    check("a\nb", json!([range(1, 2, json!("a\nb\nc"))]), "a\nb\nc");
    check("a\nb\n", json!([range(1, 2, json!(null))]), "");
    // The line before keeps its terminator.
    check("a\nb", json!([set(2, json!(null))]), "a\n");
}

#[test]
fn inserts_keep_their_order_next_to_replaced_lines() {
    check("a\nb\n", json!([after(1, "x"), before(2, "y"), after(1, "z")]), "a\nx\ny\nz\nb\n");
    check("a\nb\n", json!([after(1, "x"), set(1, json!("A")), before(1, "y")]), "y\nA\nx\nb\n");
    check("a\nb\n", json!([at("BOF", "x"), at("EOF", "y")]), "x\na\nb\ny\n");
    check("", json!([at("EOF", "x"), at("BOF", "y")]), "x\ny\n");
    check("a\r\nb\n", json!([after(1, "x"), after(2, "y")]), "a\r\nx\r\nb\ny\n");
    check("a\r\n", json!([at("BOF", "x")]), "x\r\na\r\n");
    check("a", json!([at("BOF", "x")]), "x\na");
}

#[test]
fn a_missing_final_newline_stays_missing() {
    check("a\nb", json!([at("EOF", "x\ny")]), "a\nb\nx\ny");
    check("a\r\nb", json!([at("EOF", "x")]), "a\r\nb\r\nx");
    check("b", json!([after(1, "x")]), "b\nx");
    check("a\nb", json!([set(2, json!("B")), after(2, "x")]), "a\nB\nx");
    check("a\nb", json!([set(2, json!(null)), after(2, "x")]), "a\nx");
    check("b", json!([set(1, json!(null)), after(1, "x")]), "x");
    check("a\nb", json!([text("b", "b\n"), after(2, "x")]), "a\nb\nx");
}

#[test]
fn texts_match_any_terminator_and_write_the_files_own() {
    check("a\r\nb\r\n", json!([text("a\nb", "x\ny\nz")]), "x\r\ny\r\nz\r\n");
    check("a\r\nb\r\n", json!([text("a\r\nb", "c")]), "c\r\n");
    check("a\nb\n", json!([text("a\nb\n", "")]), "");
    check("a\nb\nc\n", json!([text("\nb", "")]), "a\nc\n");
    check("a b a", json!([text("b", "x\ny")]), "a x\ny a");
    check("aXbXc\n", json!([all("X", "\n")]), "a\nb\nc\n");
    check("a\nb\n", json!([all("\n", ";")]), "a;b;");
    check("a\r\nb\r\n", json!([text("\nb\n", "!\n")]), "a!\r\n");
    check("one two three\n", json!([text("one", "1"), text("three", "3")]), "1 two 3\n");
    check("aaaa", json!([all("aa", "b")]), "bb");
    refuses("aaa", json!([text("aa", "b")]), "occurs more than once (lines 1, 1)");
    refuses("a\nb", json!([text("c", "b")]), "does not occur");
    refuses("a\r\nb", json!([text("a\r", "b")]), "does not occur");
    refuses("x\r\nb", json!([text("\r", "b")]), "does not occur");
    check("x\ry\n", json!([text("\r", "-")]), "x-y\n");
}

#[test]
fn regression_texts_that_take_the_last_newline_exclude_inserts_at_the_end() {
    refuses("a\nb\n", json!([text("b\n", "b"), at("EOF", "c")]), "inside the lines");
    check("a\nb\n", json!([text("b\n", "b")]), "a\nb");
    check("a\nb\n", json!([text("b\n", ""), at("EOF", "c")]), "a\nc\n");
}

#[test]
fn regression_adjacent_texts_that_join_lines_touch_the_joined_one() {
    let before = "x\nab\nc\nd\n";
    let joining = json!([text("x\n", "y"), text("ab\n", "")]);
    check(before, joining, "yc\nd\n");
    refuses(
        before,
        json!([text("x\n", "y"), text("ab\n", ""), set(3, json!("C"))]),
        "touch line 3",
    );
    check(before, json!([text("x\n", ""), text("ab\n", ""), set(3, json!("C"))]), "C\nd\n");
    check(before, json!([text("b\n", ""), text("c\n", "C\n")]), "x\naC\nd\n");
}

#[test]
fn regression_an_empty_last_line_stays_when_something_follows() {
    check("a\nb", json!([set(2, json!("")), at("EOF", "c")]), "a\n\nc");
    check("a\nb", json!([set(2, json!(["x", ""])), at("EOF", "c")]), "a\nx\n\nc");
    // Alone it is the same as a final newline.
    check("a\nb", json!([set(2, json!(""))]), "a\n");
    check("a", json!([at("EOF", "")]), "a\n");
    check("a", json!([at("EOF", "x"), at("EOF", "")]), "a\nx\n");
}

#[test]
fn regression_no_text_is_written_after_half_a_code_unit() {
    let odd = b"\xFF\xFEa\0\n\0b";
    assert!(try_edit(odd, json!([at("EOF", "c")])).unwrap_err().contains("within a UTF-16"));
    assert_eq!(try_edit(odd, json!([set(2, json!("c"))])).unwrap(), b"\xFF\xFEa\0\n\0c\0");
}

/// After a line that ends in `\r`, the terminator must be `\r\n`: with `\n` alone, the `\r` would
/// become part of it.
#[test]
fn regression_a_lone_return_does_not_become_part_of_a_terminator() {
    check("a\nb\r", json!([at("EOF", "c")]), "a\nb\r\r\nc");
    check("a\r", json!([after(1, "x\ny")]), "a\r\r\nx\ny");
    check("a\r\nb\r", json!([at("EOF", "c")]), "a\r\nb\r\r\nc");
    check("a\r", json!([at("BOF", "x")]), "x\na\r");
    // The new last line decides.
    check("a\nb\r", json!([set(2, json!("x")), at("EOF", "c")]), "a\nx\nc");
    check("a\nb", json!([set(2, json!("x\r\r")), at("EOF", "c")]), "a\nx\r\r\nc");
    check("a\nb\r", json!([set(2, json!("")), at("EOF", "c")]), "a\n\nc");
    check("a\nb\r", json!([set(2, json!(null)), at("EOF", "c")]), "a\nc");
    check("a\nb\r", json!([text("b", "c"), at("EOF", "d")]), "a\nc\r\r\nd");
    check("a\nb\r", json!([range(1, 2, json!("a\nb\r\r\nc"))]), "a\nb\r\r\nc");
    // The last `\r` of a text is dropped as part of a terminator.
    check("a\nb\n", json!([set(1, json!("x\r\r"))]), "x\r\r\nb\n");
    check("a\nb\n", json!([after(1, "x\r\r\ny")]), "a\nx\r\r\ny\nb\n");
    check("a", json!([at("EOF", "y\nx\r\r")]), "a\ny\nx\r");
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    let edited = try_edit(&utf16("\u{feff}a\n\u{a0d}\r"), json!([at("EOF", "x")])).unwrap();
    assert_eq!(edited, utf16("\u{feff}a\n\u{a0d}\r\r\nx"));
}

#[test]
fn regression_texts_do_not_join_a_lone_return_to_a_terminator() {
    check("a\rX\n", json!([text("X", "")]), "a\r\r\n");
    check("a\rX", json!([text("X", "\ny")]), "a\r\r\ny");
    check("a\r1X\nb\n", json!([text("1", ""), text("X", "")]), "a\r\r\nb\n");
    check("a\n", json!([text("a", "x\r\r\ny")]), "x\r\r\ny\n");
    // Before a terminator it is dropped, as in texts of lines.
    check("a\nb\n", json!([text("a", "x\r")]), "x\nb\n");
    check("a\r\n", json!([text("a", "x\r")]), "x\r\n");
    check("a\r\r\n", json!([text("a\r", "x\r")]), "x\r\r\n");
    check("ab\n", json!([text("a", "x\r")]), "x\rb\n");
    check("a", json!([text("a", "x\r")]), "x\r");
}

#[test]
fn regression_no_text_adds_a_byte_order_mark() {
    const MARK: &str = "\u{feff}";
    for mark in ["", MARK] {
        let check = |before: &str, edits: serde_json::Value, after: &str| {
            check(&format!("{mark}{before}"), edits, &format!("{mark}{after}"));
        };
        check("a\nb\n", json!([set(1, json!("\u{feff}x"))]), "x\nb\n");
        check("a\nb\n", json!([set(1, json!("\u{feff}\u{feff}a"))]), "a\nb\n");
        check("a\nb\n", json!([range(1, 2, json!("\u{feff}x\n\u{feff}y"))]), "x\n\u{feff}y\n");
        check("a\n", json!([at("BOF", "\u{feff}x"), at("BOF", "\u{feff}y")]), "x\n\u{feff}y\na\n");
        check("", json!([at("EOF", "\u{feff}x")]), "x\n");
        check("a\n", json!([text("a", "\u{feff}x\ny")]), "x\ny\n");
        check("a\n", json!([text("a", MARK)]), "\n");
        check("a", json!([set(1, json!(MARK))]), "");
        check("a\nb\n", json!([set(1, json!(null)), set(2, json!("\u{feff}x"))]), "x\n");
        check("ab\n", json!([text("a", ""), text("b", "\u{feff}x")]), "x\n");
        // Elsewhere it is an ordinary character.
        check("a\nb\n", json!([set(2, json!("\u{feff}x"))]), "a\n\u{feff}x\n");
        check("ab\n", json!([text("b", "\u{feff}x")]), "a\u{feff}x\n");
    }
    let utf16 = |text: &str| text.encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>();
    let edited = try_edit(&utf16("\u{feff}a\n"), json!([set(1, json!("\u{feff}x"))])).unwrap();
    assert_eq!(edited, utf16("\u{feff}x\n"));
    // A second mark at the start is content of line 1, and stays.
    check("\u{feff}\u{feff}a\n", json!([set(1, json!("\u{feff}x"))]), "\u{feff}\u{feff}x\n");
}

#[test]
fn conflicting_operations_are_named() {
    let cases = [
        (json!([set(2, json!("x")), set(2, json!("y"))]), "operations 0 and 1 both touch line 2"),
        (json!([range(1, 3, json!("x")), range(3, 4, json!("y"))]), "both touch line 3"),
        (
            json!([range(1, 4, json!("x")), set(2, json!("z")), set(3, json!("y"))]),
            "operations 0 and 1",
        ),
        (json!([range(1, 3, json!("x")), after(1, "y")]), "inside the lines"),
        (json!([after(2, "y"), range(1, 3, json!("x"))]), "inside the lines"),
        (json!([set(2, json!("x")), text("bb", "y")]), "both touch line 2"),
        (json!([text("bb", "x"), text("b b", "y")]), "overlapping texts on line 2"),
        (json!([text("a\nb", "x"), after(1, "y")]), "inside the lines"),
        // Without the terminator, the next line is part of the edit.
        (json!([text("a\n", "x"), after(1, "y")]), "inside the lines"),
        (json!([text("a\n", "x"), set(2, json!("y"))]), "both touch line 2"),
    ];
    for (edits, part) in cases {
        refuses("a\nbb b\nc\nd\n", edits, part);
    }
    check("a\nb\n", json!([text("a\n", ""), after(1, "y")]), "y\nb\n");
    check(
        "a\nb\nc\n",
        json!([range(1, 2, json!("x")), after(2, "y"), before(1, "z")]),
        "z\nx\ny\nc\n",
    );
}

#[test]
fn other_encodings_keep_every_byte() {
    let utf16: Vec<u8> = "\u{feff}a\r\nbö\nc".encode_utf16().flat_map(u16::to_le_bytes).collect();
    let edited =
        try_edit(&utf16, json!([set(2, json!("ü")), at("EOF", "x"), text("a", "ä")])).unwrap();
    let units: Vec<u16> =
        edited.chunks(2).map(|pair| u16::from_le_bytes([pair[0], pair[1]])).collect();
    assert_eq!(String::from_utf16(&units).unwrap(), "\u{feff}ä\r\nü\nc\nx");

    let bom = try_edit("\u{feff}a\nb\n".as_bytes(), json!([set(1, json!("x")), at("BOF", "y")]));
    assert_eq!(bom.unwrap(), "\u{feff}y\nx\nb\n".as_bytes());

    let broken = b"a\xFF\nb\xFE\nc\n";
    assert_eq!(try_edit(broken, json!([set(2, json!("x"))])).unwrap(), b"a\xFF\nx\nc\n");
    assert_eq!(try_edit(broken, json!([text("b", "x")])).unwrap(), b"a\xFF\nx\xFE\nc\n");
    // An unchanged line keeps its invalid bytes.
    let kept = try_edit(broken, json!([range(1, 3, json!("a\u{fffd}\nx\nc"))]));
    assert_eq!(kept.unwrap(), b"a\xFF\nx\nc\n");
}

#[test]
fn regression_planning_pasted_lines_checks_for_cancellation() {
    const LINES: usize = 100_000;
    let (document, cancel) = (Document::from_text(b"a\n"), Cancel::counting());
    let index = LineIndex::new(document.body(), document.unit());
    let subject = PlanText { document: &document, index: &index, cancel: &cancel };
    let edits = [after(1, "any")].into_iter().collect::<serde_json::Value>();
    let patch = parse(Dialect::default_dialect(), PatchKind::Text, &edits.into(), &cancel).unwrap();
    let lines = NewLines::Bytes(vec![b"some text".to_vec(); LINES]);
    let edit = Edit::Insert { operation: &patch.edits[0], gap: 1, lines };
    let before = cancel.checks();
    assert_eq!(plan(&subject, vec![edit]).unwrap().regions[0].new_lines, LINES as u64);
    let checks = cancel.checks() - before;
    assert!(checks >= 20, "{checks} checks for {LINES} lines");
}

#[test]
fn unencodable_text_names_the_character() {
    let document = Document::from_text(b"a\n").with_charset(Charset::by_label("latin1").unwrap());
    let index = LineIndex::new(document.body(), document.unit());
    let subject = PlanText { document: &document, index: &index, cancel: &Cancel::default() };
    let edits = json!([set(1, json!("変"))]);
    let operations =
        parse(Dialect::default_dialect(), PatchKind::Text, &edits.into(), &Cancel::default())
            .unwrap();
    let edits = edits_of(&subject, &operations.edits[0]).unwrap();
    let conflict = plan(&subject, edits).unwrap_err().remove(0);
    assert_eq!(conflict.error.code, Code::UnencodableText);
    assert!(conflict.error.message.contains("'変' (U+5909)"), "{}", conflict.error.message);
}

/// A slow and obviously correct implementation, line by line.
fn naive(before: &str, edits: &[(usize, u8, Vec<String>)]) -> String {
    let lines: Vec<&str> = before.split_inclusive('\n').collect();
    let ending = |line: &str| if line.ends_with("\r\n") { "\r\n" } else { "\n" };
    let mut out = String::new();
    for (at, line) in lines.iter().enumerate() {
        let terminator = ending(line);
        let body = line.trim_end_matches(terminator);
        match edits.iter().find(|(number, ..)| *number == at) {
            Some((_, 0, new)) => new.iter().for_each(|new| out += &format!("{new}{terminator}")),
            Some((_, 1, new)) => {
                out += &format!("{body}{terminator}");
                new.iter().for_each(|new| out += &format!("{new}{terminator}"));
            }
            _ => out += line,
        }
    }
    out
}

proptest! {
    #[test]
    fn agrees_with_line_by_line_editing(
        lines in prop::collection::vec(("[ab]{0,3}", any::<bool>()), 1..30),
        picks in prop::collection::btree_map(0usize..30, (0u8..2, prop::collection::vec("[xy]{1,2}", 1..4)), 0..8),
    ) {
        let before: String = lines
            .iter()
            .map(|(line, crlf)| format!("{line}{}", if *crlf { "\r\n" } else { "\n" }))
            .collect();
        let edits: Vec<_> = picks
            .into_iter()
            .filter(|(at, _)| *at < lines.len())
            .map(|(at, (kind, new))| (at, kind, new))
            .collect();
        let operations: Vec<_> = edits
            .iter()
            .map(|(at, kind, new)| match kind {
                0 => set(*at as u32 + 1, json!(new)),
                _ => json!({"op": "insert_after", "anchor": format!("{}:00", at + 1), "text": new}),
            })
            .collect();
        let edited = try_edit(before.as_bytes(), json!(operations)).unwrap();
        prop_assert_eq!(String::from_utf8(edited).unwrap(), naive(&before, &edits));
    }

    #[test]
    fn any_text_replacement_agrees_with_the_standard_library(
        text_before in "[ab \n]{0,30}", old in "[ab\n]{1,3}", new in "[ab\nc]{0,3}",
    ) {
        let edited = try_edit(text_before.as_bytes(), json!([all(&old, &new)]));
        if text_before.contains(&old) {
            let expected = text_before.replace(&old, &new);
            prop_assert_eq!(String::from_utf8(edited.unwrap()).unwrap(), expected);
        } else {
            prop_assert!(edited.is_err());
        }
    }
}
