//! The dialect without a separator between number and hash, in which blank lines have no hash.

use std::fs;
use std::sync::Arc;

use hashline_core::Cancel;
use hashline_core::Code;
use hashline_core::ReadRequest;
use hashline_core::format_hashed;
use hashline_core::{EditOptions, PatchOptions, apply_to_text};
use hashline_core::{Outcome, Rejected, TextOutcome};
use hashline_core::{Root, Session, SessionOptions, WorkspaceOptions};
use hashline_lines::dialect::Dialect;
use hashline_lines::hash::hash_line;
use serde_json::{Value, json};

const FILE: &str = "first line\n\nthird line\n  \nfifth line\nlast line\n";

fn lean() -> &'static Dialect {
    Dialect::by_name("lean").unwrap()
}

fn anchor(number: u64, text: &str) -> String {
    lean().anchor_text(number, hash_line(lean(), number, text))
}

fn edit(text: &str, operation: Value) -> TextOutcome {
    apply_to_text(lean(), text, &json!([operation]).into(), &EditOptions::default())
}

fn edited(text: &str, operation: Value) -> String {
    let outcome = edit(text, operation);
    outcome.content.unwrap_or_else(|| panic!("{:?}", outcome.outcome))
}

fn refused(text: &str, operation: Value) -> Rejected {
    match edit(text, operation).outcome {
        Outcome::Applied(applied) => panic!("{}", applied.text),
        Outcome::Rejected(rejected) => rejected,
    }
}

fn set(anchor: &str, text: &str) -> Value {
    json!({"op": "set_line", "anchor": anchor, "text": text})
}

/// The rows of a text.
fn rows(text: &str) -> Vec<String> {
    let shown = String::from_utf8(format_hashed(lean(), text.as_bytes(), 1)).unwrap();
    shown.split('\n').map(str::to_owned).collect()
}

#[test]
fn blank_lines_are_shown_by_their_number() {
    let [one, three] = [anchor(1, "first line"), anchor(3, "third line")];
    assert_eq!(
        rows(FILE)[..4],
        [format!("{one}|first line"), "2|".into(), format!("{three}|third line"), "4|  ".into()]
    );
    assert_eq!(rows("\t\r\n\u{a0}"), ["1|\t", "2|\u{a0}"]);
}

#[test]
fn a_blank_line_is_edited_by_its_number() {
    for anchor in ["4", "4|", " >>> 4|  ", "+4"] {
        assert_eq!(edited(FILE, set(anchor, "x")), FILE.replace("  \n", "x\n"), "{anchor}");
    }
    let range = json!({"op": "delete", "range": format!("2-{}", anchor(3, "third line"))});
    assert_eq!(edited(FILE, range), "first line\n  \nfifth line\nlast line\n");
    let parsed = json!({"op": "set_line", "anchor": {"line": 2, "hash": ""}, "text": "x"});
    assert_eq!(edited(FILE, parsed), FILE.replace("\n\n", "\nx\n"));
}

#[test]
fn the_number_of_a_blank_line_is_not_an_anchor_of_another_line() {
    let three = anchor(3, "third line");
    let rejected = refused(FILE, set("3", "x"));
    assert_eq!(rejected.code, Code::HashMismatch);
    let expected = format!("Line 3 is not blank: use {three} for line 3.");
    assert!(rejected.text.ends_with(&expected), "{}", rejected.text);
    assert_eq!(rejected.failures[0].suggestion.as_ref(), Some(&three));
    assert_eq!(rejected.remaps, [("3".to_owned(), three)]);
    let rejected = refused(FILE, set("9|", "x"));
    assert_eq!(rejected.code, Code::LineOutOfRange);
    assert!(rejected.text.ends_with("The file has 6 lines."), "{}", rejected.text);
    // The anchor of a text does not match a blank line.
    let rejected = refused(FILE, set(&anchor(2, "no such line"), "x"));
    assert_eq!(rejected.code, Code::HashMismatch);
    assert!(rejected.text.ends_with("use 2 for line 2."), "{}", rejected.text);
}

#[test]
fn the_number_of_a_blank_line_is_never_relocated() {
    let later = format!("new\n{FILE}");
    let followed = edited(&later, set(&anchor(5, "fifth line"), "5th line"));
    assert_eq!(followed, later.replace("fifth", "5th"));
    assert_eq!(refused(&later, set("2", "x")).code, Code::HashMismatch);
    let delete = |first: &str, last: &str| json!({"op": "delete", "start_anchor": first, "end_anchor": last});
    for (first, last) in [("4", anchor(5, "fifth line")), (&anchor(1, "first line"), "2".into())] {
        assert_eq!(refused(&later, delete(first, &last)).code, Code::HashMismatch, "{first}");
        assert!(edit(FILE, delete(first, &last)).content.is_some(), "{first}");
    }
}

#[test]
fn anchors_as_models_write_them() {
    let three = anchor(3, "third line");
    let (number, hash) = three.split_at(1);
    let replaced = FILE.replace("third line", "x");
    for written in [
        format!("{number} {hash}"),
        format!("{number}:{hash}"),
        format!("{number}#{hash}"),
        three.to_uppercase(),
        format!("{three}|"),
        format!("{three}|  third line"),
        format!(">{three}|third line"),
    ] {
        assert_eq!(edited(FILE, set(&written, "x")), replaced, "{written}");
    }
    for written in ["3:a3", "3|x", "2|x", "3 a3|third line", &format!("3\n{hash}"), "", "x", "2:"] {
        let rejected = refused(FILE, set(written, "x"));
        assert_eq!(rejected.code, Code::InvalidAnchor, "{written}");
        assert!(rejected.text.contains(&lean().example()), "{}", rejected.text);
    }
    let rejected = refused(FILE, set(&format!("{three}|another line"), "x"));
    assert_eq!(rejected.code, Code::HashMismatch);
}

#[test]
fn rows_sent_back_as_text_lose_their_anchors() {
    let range = |text: Value| {
        let (first, last) = (anchor(1, "first line"), anchor(6, "last line"));
        json!({"op": "replace_range", "start_anchor": first, "end_anchor": last, "text": text})
    };
    // Blank rows keep their whitespace.
    assert_eq!(edited(FILE, range(json!(rows(FILE)))), FILE);
    let mut changed = rows(FILE);
    changed[2] = changed[2].replace("third", "3rd");
    assert_eq!(edited(FILE, range(json!(changed))), FILE.replace("third", "3rd"));
    // Without a valid anchor that contains letters, the text is taken literally.
    for text in [
        &["2|", "4|"][..],
        &["12ab|x", "13ab|y"],
        &["3 if x else 4", "1 + 2"],
        &["12ab|", "x"],
        &["2|x"],
    ] {
        assert_eq!(edited(FILE, range(json!(text))), format!("{}\n", text.join("\n")), "{text:?}");
    }
    // Lines of the file that look like rows.
    let own = format!("{}\n", rows(FILE).join("\n"));
    let first = anchor(1, own.lines().next().unwrap());
    let row = rows("first line\n")[0].clone();
    assert!(edited(&own, set(&first, &row)).starts_with(&row));
}

struct Scene {
    dir: tempfile::TempDir,
    session: Arc<Session>,
}

impl Scene {
    fn new(text: &str) -> Scene {
        let dir = tempfile::tempdir().unwrap();
        fs::write(dir.path().join("f"), text).unwrap();
        let root = Root::from(dir.path());
        let state_dir = Some(dir.path().join("state"));
        let workspace =
            WorkspaceOptions { root, state_dir, dialect: lean(), ..WorkspaceOptions::default() };
        let options = SessionOptions { workspace, ..SessionOptions::default() };
        Scene { dir, session: Arc::new(Session::new(options).unwrap()) }
    }

    fn read(&self, first: u64, count: u64) -> String {
        let mut request = ReadRequest::new("f");
        request.start_line = Some(first);
        request.limits.max_lines = Some(count);
        self.session.read_with(&[request], &Cancel::default()).unwrap().text
    }

    fn set(&self, anchor: &str, text: &str) -> Outcome {
        let patch = json!({"op": "set_line", "path": "f", "anchor": anchor, "text": text});
        let patch = json!({"operations": [patch]}).into();
        self.session.apply_with(&patch, &PatchOptions::default(), &Cancel::default()).unwrap()
    }

    fn refused(&self, anchor: &str) -> Rejected {
        match self.set(anchor, "x") {
            Outcome::Applied(applied) => panic!("{}", applied.text),
            Outcome::Rejected(rejected) => rejected,
        }
    }

    fn content(&self) -> String {
        fs::read_to_string(self.dir.path().join("f")).unwrap()
    }
}

#[test]
fn a_session_finds_a_blank_line_that_it_has_shown() {
    let scene = Scene::new(FILE);
    assert!(scene.read(1, 6).contains("\n4|  \n"));
    scene.set(&anchor(1, "first line"), "one\ntwo");
    assert!(matches!(scene.set("4", "x"), Outcome::Applied(_)));
    assert_eq!(scene.content(), "one\ntwo\n\nthird line\nx\nfifth line\nlast line\n");
}

#[test]
fn a_session_refuses_the_number_of_a_blank_line_for_another() {
    let scene = Scene::new(FILE);
    scene.read(1, 1);
    assert_eq!(scene.refused("4").code, Code::NotShown);
    let rejected = scene.refused("3");
    assert_eq!(rejected.code, Code::HashMismatch);
    let expected = format!("Line 3 is not blank: use {} for line 3.", anchor(3, "third line"));
    assert!(rejected.text.contains(&expected), "{}", rejected.text);
    let rejected = scene.refused(&anchor(2, "third line"));
    let three = anchor(3, "third line");
    let expected = format!(
        "Line 2 is blank; your hash {} is that of line 3. In such cases the number is usually right: use 2, or {three} for line 3.",
        &three[1..]
    );
    assert!(rejected.text.contains(&expected), "{}", rejected.text);
    assert_eq!(scene.refused("3:a3").code, Code::InvalidAnchor);
    assert_eq!(scene.content(), FILE);
}

#[test]
fn regression_an_unseen_line_is_not_editable_by_its_number() {
    let scene = Scene::new(FILE);
    scene.read(1, 1);
    let rejected = scene.refused("5");
    assert_eq!(rejected.code, Code::NotShown);
    let five = anchor(5, "fifth line");
    let expected =
        format!("Line 5 was never shown to you. Line 5 is not blank: use {five} for line 5.");
    assert!(rejected.text.contains(&expected), "{}", rejected.text);
    assert!(matches!(scene.set(&five, "x"), Outcome::Applied(_)));
}

#[test]
fn a_session_learns_from_rows_of_blank_lines() {
    let scene = Scene::new(FILE);
    let shown = rows(FILE).join("\n");
    let learned = scene.session.observe(&shown, Some("f".as_ref()), &Cancel::default()).unwrap();
    assert_eq!(learned, 6);
    assert!(matches!(scene.set("4", "x"), Outcome::Applied(_)));
}
