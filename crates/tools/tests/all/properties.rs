//! Any arguments are answered or refused, and a refused call writes nothing.

use hashline_core::host::Value;
use hashline_tools::{ToolKind, call_title};
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value as Json};

use crate::support::Project;

/// A project in which a read has shown the lines of two files.
fn project() -> Project {
    let project = Project::new(&[
        ("a.txt", "one\ntwo\nthree\n"),
        ("b.js", "function f() {\n  return 1\n}\n"),
        ("d.json", "{\n  \"a\": 1,\n  \"b\": [1, 2]\n}\n"),
    ]);
    project.call("read", &serde_json::json!({"path": "a.txt", "more_paths": ["b.js"]}));
    project
}

/// The field names of all schemas and operations, and strings that models write into fields.
fn words() -> (Vec<String>, Vec<String>) {
    let project = project();
    let mut names = vec![String::new(), "edits".into(), "file_path".into(), "😀".into()];
    let mut texts: Vec<String> = [
        "",
        "a.txt",
        "@b.js",
        "d.json",
        "none",
        "../x",
        "/",
        "1ed",
        "2nb",
        "3zo",
        "1ed|one",
        "$.a",
        "$.b:00",
        "0",
        "EOF",
        "1-3",
        "[",
        "{\"a\":1}",
        "```json\n[]\n```",
        "true",
        "\u{0}",
        "ü😀",
    ]
    .map(str::to_owned)
    .into();
    for kind in ToolKind::ALL {
        let schema = project.tools.describe(kind).input_schema;
        let operation = &schema["properties"]["operations"]["items"];
        for properties in [&schema["properties"], &operation["properties"]] {
            names.extend(properties.as_object().into_iter().flat_map(Map::keys).cloned());
        }
        let ops = operation["properties"]["op"]["enum"].as_array().into_iter().flatten();
        texts.extend(ops.map(|op| op.as_str().unwrap().to_owned()));
    }
    (names, texts)
}

/// Any values, and objects with known field names, some with a list of operations.
fn arguments() -> impl Strategy<Value = Json> {
    let (names, texts) = words();
    let object = |fields: Vec<(String, Json)>| Json::Object(fields.into_iter().collect());
    let leaf = prop_oneof![
        4 => select(texts).prop_map(Json::from),
        1 => any::<Option<bool>>().prop_map(Json::from),
        1 => any::<i64>().prop_map(Json::from),
        1 => (0..5).prop_map(Json::from),
        1 => any::<f64>().prop_map(Json::from),
    ];
    let fields =
        prop::collection::vec((select(names.clone()), leaf.clone()), 0..6).prop_map(object);
    let operations = prop::collection::vec(fields.clone(), 0..3);
    let call = (fields, operations).prop_map(|(mut call, operations)| {
        call["operations"] = operations.into();
        call
    });
    let any = leaf.prop_recursive(4, 40, 8, move |inner| {
        let fields = prop::collection::vec((select(names.clone()), inner.clone()), 0..8);
        prop_oneof![
            1 => prop::collection::vec(inner, 0..4).prop_map(Json::from),
            3 => fields.prop_map(object),
        ]
    });
    prop_oneof![1 => any, 1 => call]
}

fn check(kind: ToolKind, arguments: Value) {
    let project = project();
    let before = project.files();
    let result = project.run(hashline_tools::Names::default().of(kind), arguments);
    assert!(!result.text.is_empty());
    if result.is_error || !kind.writes() {
        assert_eq!(project.files(), before, "{}", result.text);
    }
    if result.is_error && kind.writes() {
        assert!(result.text.starts_with("Nothing was written.\n"), "{}", result.text);
    }
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_values_are_answered_or_refused(
        kind in select(&ToolKind::ALL[..]),
        arguments in arguments(),
    ) {
        check(kind, arguments.into());
    }

    /// Truncated or garbled JSON text.
    #[test]
    fn any_text_is_answered_or_refused(
        kind in select(&ToolKind::ALL[..]),
        arguments in arguments(),
        end in any::<prop::sample::Index>(),
        rest in select(&["", "\"", "}", "]", ",", "\\", "\\ud83d\"}", "\"a\":1}", "```", "1e999"][..]),
    ) {
        let text = arguments.to_string();
        let end = text.floor_char_boundary(end.index(text.len() + 1));
        let text = Value::String(text[..end].to_owned() + rest);
        let title = call_title(kind, &text);
        prop_assert!(!title.contains('\n'));
        check(kind, text);
    }
}
