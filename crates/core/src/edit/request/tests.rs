use super::reader::Action;
use super::*;
use crate::edit::outcome::Failure;
use crate::json::Value;
use hashline_base::cancel::Cancel;
use hashline_base::error::Code;
use hashline_lines::dialect::Dialect;
use proptest::prelude::*;
use serde_json::json;

fn read(patch: serde_json::Value) -> Result<Operations, Vec<Failure>> {
    parse(Dialect::default_dialect(), PatchKind::Files, &patch.into(), &Cancel::default())
}

fn one(operation: serde_json::Value) -> Action {
    let mut patch = read(json!({ "operations": [operation] })).unwrap();
    assert_eq!(patch.edits.len() + patch.files.len(), 1);
    match patch.edits.pop() {
        Some(operation) => Action::Lines(operation.action),
        None => Action::File(patch.files.remove(0).action),
    }
}

fn edit(edit: serde_json::Value) -> LineEdit {
    read(json!({ "path": "a", "edits": [edit] })).unwrap().edits.remove(0).action
}

fn lines_of(action: Action) -> Vec<String> {
    match action {
        Action::Lines(LineEdit::Replace { lines, .. } | LineEdit::Insert { lines, .. }) => lines,
        other => panic!("{other:?}"),
    }
}

#[test]
fn texts_become_lines() {
    for (text, expected) in [
        (json!("a"), vec!["a"]),
        (json!("a\n"), vec!["a"]),
        (json!("a\n\n"), vec!["a", ""]),
        (json!(""), vec![""]),
        (json!("\n"), vec![""]),
        (json!("a\r\nb\r\n"), vec!["a", "b"]),
        (json!("a\rb"), vec!["a\rb"]),
        (json!(["a", "b\nc\n", ""]), vec!["a", "b", "c", ""]),
        (json!([]), vec![]),
        (json!(null), vec![]),
    ] {
        let action = one(json!({"op": "set_line", "path": "p", "anchor": "1:a3", "text": text}));
        assert_eq!(lines_of(action), expected, "{text}");
    }
}

#[test]
fn every_operation_is_read() {
    let anchor = |text| Anchor::parse(Dialect::default_dialect(), text).unwrap();
    let (a, b) = (anchor("1:a3"), anchor("2:b4"));
    let cases = [
        (
            json!({"op": "replace_range", "path": "p", "start_anchor": "1:a3", "end_anchor": "2:b4", "text": "x"}),
            Action::Lines(LineEdit::Replace {
                first: a.clone(),
                last: Some(b.clone()),
                lines: vec!["x".into()],
                checksum: None,
                block: false,
            }),
        ),
        (
            json!({"op": "insert_after", "path": "p", "anchor": "EOF", "text": "x"}),
            Action::Lines(LineEdit::Insert {
                at: InsertAt::End,
                lines: vec!["x".into()],
                block: false,
            }),
        ),
        (
            json!({"op": "insert_before", "path": "p", "anchor": "1:a3", "text": "x"}),
            Action::Lines(LineEdit::Insert {
                at: InsertAt::Before(a.clone()),
                lines: vec!["x".into()],
                block: false,
            }),
        ),
        (
            json!({"op": "delete", "path": "p", "range": "1:a3-2:b4"}),
            Action::Lines(LineEdit::Replace {
                first: a.clone(),
                last: Some(b.clone()),
                lines: vec![],
                checksum: None,
                block: false,
            }),
        ),
        (
            json!({"op": "delete", "path": "p", "start_anchor": "1:a3", "end_anchor": "2:b4"}),
            Action::Lines(LineEdit::Replace {
                first: a.clone(),
                last: Some(b.clone()),
                lines: vec![],
                checksum: None,
                block: false,
            }),
        ),
        (
            json!({"op": "replace_text", "path": "p", "old_text": "x", "new_text": "", "all": true}),
            Action::Lines(LineEdit::ReplaceText {
                old_text: "x".into(),
                new_text: String::new(),
                all: true,
            }),
        ),
        (
            json!({"op": "add_file", "path": "p", "content": ""}),
            Action::File(FileAction::Add { content: String::new() }),
        ),
        (
            json!({"op": "move_file", "from": "p", "to": "q"}),
            Action::File(FileAction::Move { to: "q".into() }),
        ),
        (
            json!({"op": "move_file", "from_path": "p", "to_path": "q"}),
            Action::File(FileAction::Move { to: "q".into() }),
        ),
        (json!({"op": "delete_file", "path": "p"}), Action::File(FileAction::Delete)),
    ];
    for (operation, expected) in cases {
        assert_eq!(one(operation.clone()), expected, "{operation}");
    }
}

/// `newtext` silently deleted the line.
#[test]
fn regression_a_misspelt_field_deletes_nothing() {
    for (edit, part) in [
        (json!({"set_line": {"anchor": "1:a3", "newtext": "x"}}), "field \"newtext\""),
        (json!({"replace_lines": {"start_anchor": "1:a3", "text": "x"}}), "field \"text\""),
        (
            json!({"replace_lines": {"start_anchor": "1:a3", "end_anchr": "2:b4", "new_text": "x"}}),
            "field \"end_anchr\"",
        ),
    ] {
        let refused = read(json!({"path": "f", "edits": [edit]})).unwrap_err();
        assert!(refused[0].message.contains(part), "{refused:?}");
    }
    for patch in [json!({"path": "f"}), json!({"path": "f", "edit": []})] {
        let refused = read(patch).unwrap_err();
        assert!(refused[0].message.contains("the field edits is missing"), "{refused:?}");
    }
}

/// When unknown fields were ignored, a call with `dry_run` wrote, and `end` was lost.
#[test]
fn regression_unknown_fields_and_two_names_for_one_are_refused_by_name() {
    let set = json!({"op": "set_line", "path": "p", "anchor": "1:a3", "text": "x"});
    let with = |mut object: serde_json::Value, name: &str, value: serde_json::Value| {
        object[name] = value;
        object
    };
    let patch = json!({"operations": [set]});
    let edits = json!({"path": "p", "edits": [{"set_line": {"anchor": "1:a3"}}]});
    let operations = |operation: serde_json::Value| json!({"operations": [operation]});
    let edit = |edit: serde_json::Value| json!({"path": "p", "edits": [edit]});
    let cases = [
        (
            with(patch.clone(), "dryRun", json!(true)),
            "the patch has the unknown field \"dryRun\": the known ones are operations, edits, snapshots",
        ),
        (
            with(edits.clone(), "dry_run", json!(true)),
            "the patch has the unknown field \"dry_run\": the known ones are operations, edits, path, delete, rename, snapshots",
        ),
        (
            operations(with(set.clone(), "end", json!("2:b4"))),
            "operation 0 has the unknown field \"end\": the known ones are op, anchor, text, checksum, verbatim, path",
        ),
        (
            operations(with(set.clone(), "end_anchor", json!("2:b4"))),
            "operation 0 has the unknown field \"end_anchor\"",
        ),
        (
            operations(json!({"op": "delete", "path": "p", "anchor": "1:a3", "end_line": 4})),
            "the known ones are op, anchor, range, start_anchor, end_anchor, block, checksum, verbatim, path",
        ),
        (
            operations(json!({"op": "delete_file", "path": "p", "anchor": "1:a3"})),
            "operation 0 has the unknown field \"anchor\": the known ones are op, verbatim, path",
        ),
        (
            edit(json!({"set_line": {"anchor": "1:a3", "verbatim": true}})),
            "operation 0, set_line has the unknown field \"verbatim\": the known ones are anchor, new_text, checksum",
        ),
        (
            edit(json!({"set_line": {"anchor": "1:a3"}, "checksum": "1-2:00000000"})),
            "operation 0 has the unknown field \"checksum\": the known ones are set_line, verbatim",
        ),
        (
            edit(json!({"op": "set", "tag": "1:a3", "content": "x", "path": "q"})),
            "operation 0 has the unknown field \"path\": the known ones are op, tag, content, checksum, verbatim",
        ),
        (
            edit(json!({"op": "set", "tag": {"line": 1, "hash": "a3", "end": 2}, "content": "x"})),
            "the field tag is an object",
        ),
        (
            operations(json!({"op": "move_file", "from": "p", "from_path": "q", "to": "r"})),
            "operation 0 has from and from_path: give one of them",
        ),
        (
            operations(json!({"op": "move_file", "from": "p", "to_path": "q", "to": "r"})),
            "operation 0 has to and to_path: give one of them",
        ),
    ];
    for (patch, part) in cases {
        let refused = read(patch.clone()).expect_err(part);
        assert!(refused[0].message.contains(part), "{patch}: {refused:?}");
        assert_eq!(refused[0].code, Code::InvalidOperation);
    }
    // A null field counts as omitted. The path of a text in memory is ignored.
    read(operations(with(set, "end_anchor", json!(null)))).unwrap();
    let text = json!([{"op": "delete", "path": "p", "anchor": "1:a3"}]).into();
    parse(Dialect::default_dialect(), PatchKind::Text, &text, &Cancel::default()).unwrap();
}

#[test]
fn foreign_shapes_mean_the_same_operations() {
    let anchor = |text| Anchor::parse(Dialect::default_dialect(), text).unwrap();
    let (a, b) = (anchor("1:a3"), anchor("2:b4"));
    let set = |lines: &[&str]| LineEdit::Replace {
        first: a.clone(),
        last: None,
        lines: lines.iter().map(|&line| line.into()).collect(),
        checksum: None,
        block: false,
    };
    let insert =
        |at: InsertAt, line: &str| LineEdit::Insert { at, lines: vec![line.into()], block: false };
    let cases = [
        (json!({"set_line": {"anchor": "1:a3", "new_text": "x"}}), set(&["x"])),
        (json!({"set_line": {"anchor": "1:a3", "new_text": ""}}), set(&[])),
        (json!({"set_line": {"anchor": "1:a3"}}), set(&[])),
        (json!({"replace_lines": {"start_anchor": "1:a3", "new_text": "x\ny"}}), set(&["x", "y"])),
        (
            json!({"replace_lines": {"start_anchor": "1:a3", "end_anchor": "2:b4"}}),
            LineEdit::Replace {
                first: a.clone(),
                last: Some(b.clone()),
                lines: vec![],
                checksum: None,
                block: false,
            },
        ),
        (
            json!({"insert_after": {"anchor": "1:a3", "text": ""}}),
            insert(InsertAt::After(a.clone()), ""),
        ),
        (
            json!({"replace": {"old_text": "x", "new_text": "y"}}),
            LineEdit::ReplaceText { old_text: "x".into(), new_text: "y".into(), all: false },
        ),
        (json!({"op": "set", "tag": "1:a3", "content": ["x"]}), set(&["x"])),
        (json!({"op": "set", "tag": {"line": 1, "hash": "a3"}, "content": ""}), set(&[])),
        (
            json!({"op": "replace", "first": "1:a3", "last": "2:b4", "content": []}),
            LineEdit::Replace {
                first: a.clone(),
                last: Some(b.clone()),
                lines: vec![],
                checksum: None,
                block: false,
            },
        ),
        (json!({"op": "append", "content": "x"}), insert(InsertAt::End, "x")),
        (
            json!({"op": "append", "after": "1:a3", "content": "x"}),
            insert(InsertAt::After(a.clone()), "x"),
        ),
        (json!({"op": "prepend", "content": "x"}), insert(InsertAt::Start, "x")),
        (
            json!({"op": "insert", "after": "1:a3", "before": "2:b4", "content": "x"}),
            insert(InsertAt::Between(a.clone(), b.clone()), "x"),
        ),
        (
            json!({"op": "insert", "before": "2:b4", "content": "x"}),
            insert(InsertAt::Before(b.clone()), "x"),
        ),
    ];
    for (shape, expected) in cases {
        assert_eq!(edit(shape.clone()), expected, "{shape}");
    }
    let whole = read(json!({"path": "a", "edits": [], "rename": "b"})).unwrap();
    assert_eq!(whole.files[0].action, FileAction::Move { to: "b".into() });
    let whole = read(json!({"path": "a", "delete": true})).unwrap();
    assert_eq!(whole.files[0].action, FileAction::Delete);
}

#[test]
fn mistakes_name_operation_field_and_expectation() {
    let set = |extra: serde_json::Value| {
        let mut operation = json!({"op": "set_line", "path": "p", "anchor": "1:a3", "text": "x"});
        for (key, value) in extra.as_object().unwrap() {
            operation[key] = value.clone();
        }
        operation
    };
    let cases = [
        (json!(7), "operation 1 is the number 7: expected an object"),
        (json!({}), "operation 1: the field op is missing"),
        (json!({"op": "frob"}), "unknown op \"frob\": expected one of set_line"),
        (json!({"op": "set_line", "path": "p", "anchor": "1:a3"}), "the field text is missing"),
        (set(json!({"text": 5})), "the field text is the number 5"),
        (set(json!({"text": ["a", 5]})), "the number 5 in its array"),
        (set(json!({"path": null})), "the field path is null"),
        (
            set(json!({"anchor": 10})),
            "the field anchor is the number 10: expected an anchor like 10:a3",
        ),
        (set(json!({"verbatim": "yes"})), "the field verbatim is the string"),
        (set(json!({"set_line": {}})), "combines several operations"),
        (
            json!({"op": "insert_after", "path": "p", "anchor": "1:a3", "text": null}),
            "at least one line",
        ),
        (
            json!({"op": "insert_after", "path": "p", "anchor": "1:a3", "text": []}),
            "at least one line",
        ),
        (json!({"op": "delete", "path": "p"}), "must name its lines once"),
        (
            json!({"op": "delete", "path": "p", "anchor": "1:a3", "range": "1:a3-2:b4"}),
            "must name its lines once",
        ),
        (json!({"op": "replace_text", "path": "p", "old_text": "", "new_text": "x"}), "not empty"),
        (json!({"op": "add_file", "path": "p"}), "the field content is missing"),
    ];
    for (operation, part) in cases {
        let good = set(json!({}));
        let failures = read(json!({"operations": [good, operation]})).unwrap_err();
        assert_eq!(failures.len(), 1);
        assert_eq!(
            (failures[0].operation, failures[0].code),
            (1, Code::InvalidOperation),
            "{operation}"
        );
        assert!(failures[0].message.contains(part), "{operation}: {}", failures[0].message);
    }
    for (shape, part) in [
        (
            json!({"set_line": {"anchor": "1:a3"}, "insert_after": {}}),
            "combines several operations",
        ),
        (json!({"op": "append", "content": ""}), "at least one line"),
        (json!({"op": "insert", "content": "x"}), "names no line"),
        (json!({"wrap": {}}), "has no known edit"),
    ] {
        let failures = read(json!({"path": "a", "edits": [shape]})).unwrap_err();
        assert_eq!(failures[0].code, Code::InvalidOperation);
        assert!(failures[0].message.contains(part), "{}", failures[0].message);
    }
}

#[test]
fn all_failures_are_collected() {
    let failures = read(json!({"operations": [
        {"op": "set_line", "path": "p", "anchor": "x", "text": ""},
        {"op": "frob"},
        {"op": "delete_file", "path": "p"},
    ]}))
    .unwrap_err();
    let codes: Vec<_> = failures.iter().map(|failure| (failure.operation, failure.code)).collect();
    assert_eq!(codes, [(0, Code::InvalidAnchor), (1, Code::InvalidOperation)]);
}

#[test]
fn patches_of_no_shape_and_over_the_limit() {
    for patch in
        [json!(null), json!([]), json!({}), json!({"operations": {}}), json!({"edits": []})]
    {
        assert_eq!(read(patch.clone()).unwrap_err()[0].code, Code::InvalidOperation, "{patch}");
    }
    let operation = json!({"op": "delete_file", "path": "p"});
    assert!(read(json!({"operations": vec![operation.clone(); MAX_OPERATIONS]})).is_ok());
    let over = read(json!({"operations": vec![operation; MAX_OPERATIONS + 1]})).unwrap_err();
    assert_eq!(over[0].code, Code::InvalidArgument);
}

#[test]
fn lone_surrogates_are_refused() {
    let operation = Value::Object(vec![
        ("op".into(), Value::String("set_line".into())),
        ("path".into(), Value::String("p".into())),
        ("anchor".into(), Value::String("1:a3".into())),
        ("text".into(), Value::IllFormed),
    ]);
    let patch = Value::Object(vec![("operations".into(), Value::Array(vec![operation]))]);
    let failures = parse(Dialect::default_dialect(), PatchKind::Files, &patch, &Cancel::default())
        .unwrap_err();
    assert_eq!(failures[0].code, Code::UnencodableText);
}

fn any_json() -> impl Strategy<Value = serde_json::Value> {
    let word = prop::sample::select(vec![
        "op",
        "path",
        "anchor",
        "text",
        "set_line",
        "delete",
        "range",
        "edits",
        "operations",
        "1:a3",
        "1:a3-2:b4",
        "insert_after",
        "old_text",
        "new_text",
        "EOF",
        "",
        "replace",
        "tag",
    ]);
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(|flag| json!(flag)),
        any::<f64>().prop_map(|number| json!(number)),
        word.clone().prop_map(|text| json!(text)),
        any::<String>().prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(4, 40, 6, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(|items| json!(items)),
            prop::collection::hash_map(word.clone(), inner, 0..6).prop_map(|map| json!(map)),
        ]
    })
}

proptest! {
    #[test]
    fn any_json_is_read_or_refused(patch in any_json(), operations in prop::collection::vec(any_json(), 0..4)) {
        let _ = read(patch);
        let _ = read(json!({"operations": operations.clone()}));
        let _ = read(json!({"path": "p", "edits": operations}));
    }
}

#[test]
fn snapshots_and_checksums_of_a_wrong_shape_are_named() {
    let dialect = Dialect::default_dialect();
    let refused = |patch: serde_json::Value| {
        let failures =
            parse(dialect, PatchKind::Files, &patch.into(), &Cancel::default()).unwrap_err();
        assert_eq!(failures[0].code, Code::InvalidOperation, "{}", failures[0].message);
        failures[0].message.clone()
    };
    for (snapshots, expected) in [
        (
            json!(["a"]),
            "the patch: the field snapshots is an array of 1: expected an object {path: snapshot}",
        ),
        (json!("a"), "snapshots is the string"),
        (
            json!({"a.txt": 5}),
            "the patch: the snapshot of \"a.txt\" is the number 5: expected 32 hexadecimal digits",
        ),
        (json!({"a.txt": "A".repeat(32)}), "expected 32 hexadecimal digits"),
        (json!({"a.txt": ""}), "expected 32 hexadecimal digits"),
    ] {
        let message = refused(json!({"operations": [], "snapshots": snapshots}));
        assert!(message.contains(expected), "{message}");
        refused(json!({"path": "a.txt", "edits": [], "snapshots": snapshots}));
    }
    let hash = "0123456789abcdef0123456789abcdef";
    let read = |snapshots| {
        let patch = json!({"operations": [], "snapshots": snapshots});
        parse(dialect, PatchKind::Files, &patch.into(), &Cancel::default()).unwrap().snapshots
    };
    assert_eq!(read(json!({"a.txt": hash})), [("a.txt".to_owned(), hash.to_owned())]);
    assert_eq!(read(json!(null)), []);

    let range = |checksum: serde_json::Value| json!({"operations": [{"op": "replace_range", "path": "a", "start_anchor": "5:a3", "end_anchor": "8:b1", "text": "x", "checksum": checksum}]});
    assert!(
        parse(dialect, PatchKind::Files, &range(json!("5-8:01234567")).into(), &Cancel::default())
            .is_ok()
    );
    for checksum in [
        "",
        "5:01234567",
        "5-8",
        "5-8:0123456",
        "5-8:0123456g",
        "8-5:01234567",
        "0-8:01234567",
        "+5-8:01234567",
    ] {
        let message = refused(range(json!(checksum)));
        assert!(message.contains("expected a checksum as a view has it"), "{message}");
    }
    assert!(refused(range(json!(5))).contains("checksum is the number 5"));
    let message = refused(range(json!("6-9:01234567")));
    assert!(
        message.contains("the checksum of lines 6 to 9, but changes lines 5 to 8"),
        "{message}"
    );
    let insert = json!({"operations": [{"op": "insert_after", "path": "a", "anchor": "5:a3", "text": "x", "checksum": "5-5:01234567"}]});
    assert!(refused(insert).contains("unknown field \"checksum\""));
}
