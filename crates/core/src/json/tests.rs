//! Examples of edits by path. `model` compares random edits with a naive model.

mod model;

use super::canonical::{canonical, hash};
use super::path::JsonAnchor;
use super::resolve::AnchorResolver;
use super::tree::DEPTH_LIMIT;
use super::tree::{JsonGrammar, Tree};
use super::*;
use hashline_base::error::Code;

fn parse(text: &str) -> Tree<'_> {
    Tree::parse(text, JsonGrammar::WithComments, &Cancel::default()).unwrap()
}

fn error(text: &str) -> String {
    let error =
        Tree::parse(text, JsonGrammar::WithComments, &Cancel::default()).map(|_| ()).unwrap_err();
    assert_eq!(error.code, Code::InvalidJson);
    error.message.into()
}

/// The current anchor of a path.
fn anchor(text: &str, path: &str) -> JsonAnchor {
    let tree = parse(text);
    let wanted = JsonAnchor::parse(&format!("{path}:00")).unwrap().path;
    let id = (0..tree.count()).find(|&id| path_of(&tree, id) == wanted);
    let hash = id.map_or(0, |id| hash(&canonical(&tree, id)));
    JsonAnchor { path: wanted, hash }
}

/// Parses `set $.a 1`, `key $ b 2` (insert under a key), `at $.list 0 3`, `end $.list 4` and
/// `delete $.a`.
fn edit_of(text: &str, edit: &str) -> JsonEdit {
    let (verb, rest) = edit.split_once(' ').unwrap();
    let (path, rest) = rest.split_once(' ').unwrap_or((rest, ""));
    let anchor = anchor(text, path);
    let split = || rest.split_once(' ').unwrap();
    let value = |text: &str| JsonValue::parse(text).unwrap();
    match verb {
        "set" => JsonEdit::Set { anchor, value: value(rest) },
        "delete" => JsonEdit::Delete { anchor },
        "key" => JsonEdit::Insert {
            anchor,
            slot: JsonSlot::Key(split().0.to_owned()),
            value: value(split().1),
        },
        "at" => JsonEdit::Insert {
            anchor,
            slot: JsonSlot::Index(split().0.parse().unwrap()),
            value: value(split().1),
        },
        _ => JsonEdit::Insert { anchor, slot: JsonSlot::End, value: value(rest) },
    }
}

fn apply(text: &str, edits: &[JsonEdit]) -> Result<String, Vec<JsonRefusal>> {
    let edits: Vec<_> = edits.iter().enumerate().collect();
    let planned = plan_json(text, &edits)?;
    let (mut out, mut at) = (String::new(), 0);
    for piece in planned.pieces {
        assert!(piece.range.start >= at, "pieces are disjoint and sorted");
        out += &text[at..piece.range.start];
        out += &piece.text;
        at = piece.range.end;
    }
    Ok(out + &text[at..])
}

#[track_caller]
fn check(before: &str, edits: &[&str], after: &str) {
    let edits: Vec<_> = edits.iter().map(|edit| edit_of(before, edit)).collect();
    let found = apply(before, &edits).unwrap();
    assert_eq!(found, after, "\n--- found\n{found}\n--- expected\n{after}");
    parse(after);
}

#[track_caller]
fn refuses(text: &str, edits: &[&str], code: Code, part: &str) {
    let edits: Vec<_> = edits.iter().map(|edit| edit_of(text, edit)).collect();
    let refused = apply(text, &edits).unwrap_err();
    let messages: Vec<(Code, String)> = refused
        .into_iter()
        .map(|refusal| match refusal {
            JsonRefusal::Operation(_, error) => (error.code, error.message.into()),
            JsonRefusal::Anchor { refusal, .. } => {
                (refusal.code, format!("{} {}", refusal.headline, refusal.truth))
            }
        })
        .collect();
    let is_reported =
        messages.iter().any(|(found, message)| *found == code && message.contains(part));
    assert!(is_reported, "{messages:?}");
}

#[test]
fn hashes_are_of_canonical_text() {
    let hash_of = |text: &str| format!("{:02x}", hash(&canonical(&parse(text), 0)));
    assert_eq!(hash_of("1"), "b2");
    assert_eq!(hash_of("1.0"), "76");
    let canonical_of = |text: &str| String::from_utf8(canonical(&parse(text), 0)).unwrap();
    assert_eq!(
        canonical_of("{ \"b\" : [1, 1.50,\n-0e+7], // c\n\"a\": null, }"),
        r#"{"a":null,"b":[1,1.50,-0e+7]}"#
    );
    assert_eq!(
        canonical_of(r#""\u0041\/\"\\\u00e9\n\u000b\u001F\ud83d\ude00\u007f""#),
        "\"A/\\\"\\\\é\\n\\u000b\\u001f😀\u{7f}\""
    );
    // Sorted by the bytes of the key, not by its spelling with escapes.
    assert_eq!(
        canonical_of(r#"{"\uff5e":1,"\ud83d\ude00":2,"b":3,"B":4,"\u0061":5}"#),
        "{\"B\":4,\"a\":5,\"b\":3,\"\u{ff5e}\":1,\"😀\":2}"
    );
}

#[test]
fn anchors_parse_to_what_they_print() {
    for text in ["$:00", "$.a.b:34", "$[0][12]:ff", r#"$["a b"]["x\"]:1"]._9:0a"#, r#"$[""].a:b2"#]
    {
        assert_eq!(JsonAnchor::parse(text).unwrap().to_string(), text);
    }
    for (text, read) in [
        ("  // $.a:3F", "$.a:3f"),
        (r#"$["a"]:3f (this key is duplicated)"#, "$.a:3f"),
        ("$.a : 3f", "$.a:3f"),
        (r#"$["\u00e9"]:3f"#, "$[\"é\"]:3f"),
    ] {
        assert_eq!(JsonAnchor::parse(text).unwrap().to_string(), read);
    }
    for text in [
        "",
        "$",
        "a:3f",
        "$.a",
        "$.a:3",
        "$.a:3g",
        "$.a:3fa",
        "$.:3f",
        "$.1:3f",
        "$.a-b:3f",
        "$[a]:3f",
        "$[-1]:3f",
        "$[\"a]:3f",
        "$['a']:3f",
        "$[99999999999999999999]:3f",
        "12:a3",
    ] {
        let error = JsonAnchor::parse(text).unwrap_err();
        assert_eq!(error.code, Code::InvalidAnchor, "{text}");
        assert!(error.message.contains("$.name[0]:34"), "{}", error.message);
    }
}

#[test]
fn invalid_json_is_refused_with_line_and_column() {
    for (text, part) in [
        ("", "line 1, column 1: there is no value: the text is empty"),
        ("// only this\n", "there is no value"),
        ("{\n  \"a\": NaN\n}", "line 2, column 8: expected a value, found NaN"),
        ("[-Infinity]", "line 1, column 2: infinity and NaN are not allowed"),
        ("{\"é\": 1 \"b\": 2}", "line 1, column 9: expected a comma or }, found \"b\""),
        ("{a: 1}", "expected a key in double quotes or }, found a"),
        ("{'a': 1}", "single-quoted strings"),
        ("[1,,2]", "expected a value or ], found ,"),
        ("[,]", "expected a value or ], found ,"),
        ("{\"a\" 1}", "expected a colon, found 1"),
        ("[1}", "expected a comma or ], found }"),
        ("[1]]", "line 1, column 4: expected nothing after the value, found ]"),
        ("{\"a\": [1, 2", "line 1, column 12: the text ends before the [ of line 1 is closed"),
        ("[01]", "expected a comma or ], found 1"),
        ("[1.]", "decimal point"),
        ("[0x1]", "hexadecimal"),
        ("\"a", "unterminated string"),
        ("\"a\tb\"", "column 3: a string holds the control character U+0009"),
        ("\"\\x41\"", "invalid escape"),
        ("[1 /* ", "unterminated comment"),
    ] {
        let message = error(text);
        assert!(
            message.starts_with("not valid JSON at line ") && message.contains(part),
            "{text:?}: {message}"
        );
    }
}

#[test]
fn deep_nesting_is_bounded() {
    let deep = |levels: usize| "[".repeat(levels) + &"]".repeat(levels);
    let text = deep(DEPTH_LIMIT);
    let tree = parse(&text);
    assert_eq!((tree.count(), canonical(&tree, 0).len()), (DEPTH_LIMIT, text.len()));
    assert!(error(&deep(DEPTH_LIMIT + 1)).contains("nested deeper than 512 levels"));
    assert!(error(&"[".repeat(100_000)).contains("nested deeper"));
    assert!(error(&"{\"a\":".repeat(100_000)).contains("nested deeper"));
    assert!(JsonValue::parse(&deep(100_000)).is_err());
}

const PACKAGE: &str = r#"{
  "name": "demo", // the name
  "version": "1.0.0",
  "files": ["a.js", "b.js"],
  "scripts": {
    "test": "node --test",
    "build": "tsc"
  },
  "empty": {},
  "id": 12345678901234567890,
  "list": [
    1,
    2.50
  ]
}
"#;

#[test]
fn set_replaces_only_the_value() {
    check(PACKAGE, &["set $.version \"1.0.1\""], &PACKAGE.replace("1.0.0", "1.0.1"));
    check(
        PACKAGE,
        &["set $.files [\"c.js\",\"d\"]"],
        &PACKAGE.replace("[\"a.js\", \"b.js\"]", "[\"c.js\", \"d\"]"),
    );
    check(
        PACKAGE,
        &["set $.list {\"a\":[1,{\"b\":[]}],\"c\":{}}"],
        &PACKAGE.replace(
            "[\n    1,\n    2.50\n  ]",
            "{\n    \"a\": [\n      1,\n      {\n        \"b\": []\n      }\n    ],\n    \"c\": {}\n  }",
        ),
    );
    check(
        PACKAGE,
        &["set $.empty 98765432109876543210.10e-5"],
        &PACKAGE.replace("{}", "98765432109876543210.10e-5"),
    );
    check("[1]", &["set $ {\"a\":[1,2]}"], "{\"a\": [1, 2]}");
    check("{\"a\":[1,2],\"b\":3}", &["set $.b [1,{\"c\":2}]"], "{\"a\":[1,2],\"b\":[1,{\"c\":2}]}");
    check("7\n", &["set $ {\"a\":1}"], "{\n  \"a\": 1\n}\n");
}

#[test]
fn set_to_an_equal_value_changes_nothing() {
    for edit in [
        "set $.files [\"a.js\",\"b.js\"]",
        "set $.scripts {\"build\":\"tsc\",\"test\":\"node --\\u0074est\"}",
    ] {
        let edit = edit_of(PACKAGE, edit);
        let planned = plan_json(PACKAGE, &[(7, &edit)]).unwrap();
        assert_eq!((planned.pieces.len(), planned.unchanged), (0, vec![7]));
    }
    check(PACKAGE, &["set $.list [1,2.5]"], &PACKAGE.replace("2.50", "2.5"));
}

#[test]
fn insert_follows_the_surrounding_style() {
    check(
        PACKAGE,
        &["key $ new [1,2]"],
        &PACKAGE.replace("  ]\n}", "  ],\n  \"new\": [\n    1,\n    2\n  ]\n}"),
    );
    check(PACKAGE, &["key $.empty a 1"], &PACKAGE.replace("{}", "{\n    \"a\": 1\n  }"));
    check(PACKAGE, &["end $.files \"c.js\""], &PACKAGE.replace("\"b.js\"]", "\"b.js\", \"c.js\"]"));
    check(
        PACKAGE,
        &["at $.files 0 \"c.js\""],
        &PACKAGE.replace("[\"a.js\"", "[\"c.js\", \"a.js\""),
    );
    check(
        PACKAGE,
        &["at $.files 1 \"c.js\""],
        &PACKAGE.replace("\"a.js\",", "\"a.js\", \"c.js\","),
    );
    check(PACKAGE, &["at $.list 0 0"], &PACKAGE.replace("    1,\n", "    0,\n    1,\n"));
    check(
        PACKAGE,
        &["at $.list 1 {\"x\":1}"],
        &PACKAGE.replace("    1,\n", "    1,\n    {\n      \"x\": 1\n    },\n"),
    );
    check(
        PACKAGE,
        &["at $.list 2 3", "end $.list 4"],
        &PACKAGE.replace("2.50\n", "2.50,\n    3,\n    4\n"),
    );
    check("{}\n", &["key $ a 1", "key $ b 2"], "{\n  \"a\": 1,\n  \"b\": 2\n}\n");
    check("[]", &["end $ 1", "at $ 0 2"], "[\n  1,\n  2\n]");
    check("{\"a\":{}}", &["key $.a b [1,2]"], "{\"a\":{\"b\":[1,2]}}");
    check("{ \"a\": 1 }", &["key $ b {\"c\":2}"], "{ \"a\": 1, \"b\": { \"c\": 2 } }");
    check(
        "{\r\n\t\"a\" : 1\r\n}\r\n",
        &["key $ b {\"c\":2}"],
        "{\r\n\t\"a\" : 1,\r\n\t\"b\" : {\r\n\t\t\"c\" : 2\r\n\t}\r\n}\r\n",
    );
    check("[\n  1, 2,\n  3, 4\n]", &["end $ 5"], "[\n  1, 2,\n  3, 4, 5\n]");
    check("[1,\n 2]", &["end $ 3"], "[1,\n 2,\n 3]");
    check("[{\n  \"a\": 1\n}]", &["end $ {\"a\":2}"], "[{\n  \"a\": 1\n}, {\n  \"a\": 2\n}]");
}

#[test]
fn insert_keeps_comments_and_trailing_commas() {
    check(
        "{\n  \"a\": 1, // one\n  \"b\": 2 // two\n  // the end\n}\n",
        &["key $ c 3"],
        "{\n  \"a\": 1, // one\n  \"b\": 2, // two\n  \"c\": 3\n  // the end\n}\n",
    );
    check("[\n  1, // one\n  2, // two\n]", &["end $ 3"], "[\n  1, // one\n  2, // two\n  3,\n]");
    check(
        "[\n  1, // one\n  // of two\n  2\n]",
        &["at $ 1 9"],
        "[\n  1, // one\n  9,\n  // of two\n  2\n]",
    );
    check("[ // first\n  1\n]", &["at $ 0 9"], "[ // first\n  9,\n  1\n]");
    check("[1, 2,]", &["end $ 3"], "[1, 2, 3,]");
    check("[ /* none */ ]", &["end $ 3"], "[ /* none */\n  3\n]");
    check("{\"a\":[/* none */]}", &["end $.a 3"], "{\"a\":[/* none */ 3]}");
    check("{\n  // none\n}", &["key $ a 3"], "{\n  // none\n  \"a\": 3\n}");
    check(
        "{\n  \"a\": 1 /* x\n  y */\n}",
        &["key $ b 3"],
        "{\n  \"a\": 1, /* x\n  y */\n  \"b\": 3\n}",
    );
}

#[test]
fn delete_removes_the_comma_and_the_line() {
    check(PACKAGE, &["delete $.version"], &PACKAGE.replace("  \"version\": \"1.0.0\",\n", ""));
    check(PACKAGE, &["delete $.name"], &PACKAGE.replace("\"name\": \"demo\", ", ""));
    check(
        PACKAGE,
        &["delete $.list"],
        &PACKAGE.replace("7890,\n  \"list\": [\n    1,\n    2.50\n  ]\n", "7890\n"),
    );
    check(PACKAGE, &["delete $.files[0]"], &PACKAGE.replace("\"a.js\", ", ""));
    check(PACKAGE, &["delete $.files[1]"], &PACKAGE.replace(", \"b.js\"", ""));
    check(
        PACKAGE,
        &["delete $.files[0]", "delete $.files[1]"],
        &PACKAGE.replace("\"a.js\", \"b.js\"", ""),
    );
    check(
        PACKAGE,
        &["delete $.list[1]", "delete $.list[0]"],
        &PACKAGE.replace("[\n    1,\n    2.50\n  ]", "[]"),
    );
    check("[1, 2, 3]", &["delete $[0]", "delete $[1]"], "[3]");
    check("[1, 2, 3]", &["delete $[1]", "delete $[2]"], "[1]");
    check("[ 1, 2, 3 ]", &["delete $[0]"], "[ 2, 3 ]");
    check("[ 1, 2, 3 ]", &["delete $[2]"], "[ 1, 2 ]");
    check("[\n  1,\n  2,\n]", &["delete $[1]"], "[\n  1,\n]");
    check("[1, 2,]", &["delete $[1]"], "[1,]");
    check("[1,\n 2]", &["delete $[1]"], "[1]");
    check("{\"a\":1,\"b\":{\"c\":2}}", &["delete $.b.c"], "{\"a\":1,\"b\":{}}");
    check("[\n  1, 2,\n  3, 4\n]", &["delete $[1]", "delete $[2]"], "[\n  1, 4\n]");
    check("{ \"a\": 1,\n  \"b\": 2 }", &["delete $.a"], "{\n  \"b\": 2 }");
}

#[test]
fn delete_keeps_comments() {
    check(
        "[\n  // one\n  1, // 1\n  2 // 2\n]",
        &["delete $[0]"],
        "[\n  // one\n  // 1\n  2 // 2\n]",
    );
    check(
        "[\n  // one\n  1, // 1\n  2 // 2\n]",
        &["delete $[1]"],
        "[\n  // one\n  1 // 1\n  // 2\n]",
    );
    check("[1 /* a */, /* b */ 2 /* c */]", &["delete $[0]"], "[/* a */ /* b */ 2 /* c */]");
    check("[1 /* a */, /* b */ 2 /* c */]", &["delete $[1]"], "[1 /* a */ /* b */ /* c */]");
    check("[1, // a\n 2]", &["delete $[1]"], "[1 // a\n ]");
    check("[ // a\n 1 ]", &["delete $[0]"], "[ // a\n  ]");
    check("{\"a\": /* in it */ 1}", &["delete $.a"], "{}");
}

#[test]
fn edits_apply_to_the_original_document() {
    check("[1, 2, 3]", &["delete $[1]", "at $ 2 9"], "[1, 9, 3]");
    check("[1, 2]", &["delete $[0]", "delete $[1]", "end $ 9"], "[9]");
    check("[\n  1,\n  2\n]", &["delete $[0]", "delete $[1]", "at $ 0 9"], "[\n  9\n]");
    check("[\n  1,\n  2\n]", &["delete $[1]", "end $ 9"], "[\n  1,\n  9\n]");
    check("[\n  1,\n  2\n]", &["set $[1] 3", "end $ 9"], "[\n  1,\n  3,\n  9\n]");
    check("{\"a\":1,\"b\":2}", &["delete $.a", "key $ a 3"], "{\"b\":2,\"a\":3}");
    check("[[1], [2]]", &["end $ [3]", "end $[1] 9", "delete $[0][0]"], "[[], [2, 9], [3]]");
    check(
        "[1, 2, 3, 4]",
        &["at $ 2 8", "at $ 0 7", "delete $[3]", "at $ 2 9"],
        "[7, 1, 2, 8, 9, 3]",
    );
}

#[test]
fn invalid_edits_are_refused() {
    refuses(PACKAGE, &["key $ name 1"], Code::KeyExists, "operation 0: $.name already exists");
    refuses(
        PACKAGE,
        &["key $ x 1", "key $ x 2"],
        Code::OverlappingEdits,
        "operations 0 and 1 both insert $.x",
    );
    refuses(PACKAGE, &["delete $"], Code::InvalidOperation, "$ is the whole document");
    refuses(
        PACKAGE,
        &["at $.list 3 1"],
        Code::InvalidOperation,
        "$.list has 2 elements: a value can be inserted at index 0 to 2, not 3",
    );
    refuses(PACKAGE, &["key $.list x 1"], Code::InvalidOperation, "$.list is an array");
    refuses(PACKAGE, &["at $ 0 1"], Code::InvalidOperation, "$ is an object: name a key");
    refuses(PACKAGE, &["end $ 1"], Code::InvalidOperation, "the field key is missing");
    refuses(PACKAGE, &["end $.name 1"], Code::InvalidOperation, "$.name is a string");
    refuses(
        PACKAGE,
        &["set $.name 1", "set $.name 2"],
        Code::OverlappingEdits,
        "both change $.name",
    );
    refuses(
        PACKAGE,
        &["set $.list[0] 1", "delete $.list"],
        Code::OverlappingEdits,
        "one changes $.list[0], inside $.list,",
    );
    refuses(
        PACKAGE,
        &["set $ 1", "end $.files 1"],
        Code::OverlappingEdits,
        "one changes $.files, inside $,",
    );
    refuses(
        PACKAGE,
        &["end $.files 1", "set $.files 1"],
        Code::OverlappingEdits,
        "one changes $.files, inside $.files,",
    );
}

#[test]
fn every_failed_anchor_is_reported() {
    let stale = |path: &str| JsonAnchor::parse(&format!("{path}:00")).unwrap();
    let delete = |path| JsonEdit::Delete { anchor: stale(path) };
    let edits = [
        delete("$.name"),
        delete("$.files[2]"),
        delete("$.nope.x"),
        delete("$.name.x"),
        delete("$.version"),
    ];
    let refused = apply(PACKAGE, &edits).unwrap_err();
    let messages: Vec<String> = refused
        .into_iter()
        .map(|refusal| match refusal {
            JsonRefusal::Anchor { refusal, .. } => {
                format!("{} {}", refusal.headline, refusal.truth)
            }
            JsonRefusal::Operation(_, error) => error.message.into(),
        })
        .collect();
    let name = anchor(PACKAGE, "$.name");
    assert_eq!(
        messages[0],
        format!(
            "Hash mismatch for $.name. Expected 00, current {:02x}. Updated anchor: {name}. Current value: \"demo\"",
            name.hash
        )
    );
    assert_eq!(
        messages[1],
        "$.files[2] does not exist. $.files is an array with 2 elements, [0] to [1]."
    );
    assert_eq!(
        messages[2],
        "$.nope.x does not exist. $ is an object with the keys \"name\", \"version\", \"files\", \"scripts\", \"empty\", \"id\", \"list\"."
    );
    assert_eq!(messages[3], "$.name.x does not exist. $.name is a string.");
    assert_eq!(messages.len(), 5);
}

#[test]
fn a_duplicate_key_is_ambiguous() {
    let text = r#"{"a": 1, "b": {"c": 2}, "\u0061": 3, "b": 4}"#;
    for path in ["$.a", "$.b.c"] {
        let tree = parse(text);
        let stale = JsonAnchor::parse(&format!("{path}:00")).unwrap();
        let refusal = AnchorResolver::new(&tree).resolve(&stale).unwrap_err();
        assert_eq!(refusal.code, Code::AmbiguousAnchor);
        assert!(refusal.truth.contains("2 times"), "{}", refusal.truth);
    }
    refuses(text, &["key $ a 1"], Code::KeyExists, "$.a");
    check(text, &["key $ d 5"], r#"{"a": 1, "b": {"c": 2}, "\u0061": 3, "b": 4, "d": 5}"#);
    assert!(
        JsonValue::parse(r#"[{"a":1,"\u0061":2}]"#).unwrap_err().message.contains("\"a\" twice")
    );
}

#[test]
fn values_keep_the_spelling_of_the_request() {
    let request = Value::from_json(
        r#"{"path": "a", "edits": [{"set_path": {"anchor": "$:00", "value": {"z": 12345678901234567890, "a": 1.0}}}]}"#,
    )
    .unwrap();
    let text = format!("{request:?}");
    assert!(text.contains(r#"Json("{\"z\": 12345678901234567890, \"a\": 1.0}")"#), "{text}");
}

#[test]
fn regression_a_duplicate_key_is_refused_with_its_location() {
    for (text, part) in [
        (
            r#"{"operations":[],"operations":[]}"#,
            r#"the outer object has the key "operations" twice"#,
        ),
        (r#"{"operations":[{},{"a":{"b":1},"a":2}]}"#, r#"operations[1] has the key "a" twice"#),
        (r#"[[1,{"x":{"k":[],"b":"}","k":{}}}]]"#, r#"[0][1].x has the key "k" twice"#),
        (r#"{"a":1,"\u0061":2}"#, r#"the key "a" twice"#),
        (r#"{"\ud83d":1,"\ud83d":2}"#, "twice"),
        (r#"{"":1,"":2}"#, r#"the key "" twice"#),
        (r#"{"a\"":",","a\"":2}"#, r#"the key "a\"" twice"#),
    ] {
        let error = unique_keys(text).unwrap_err();
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.contains(part), "{}", error.message);
    }
    let long = "k".repeat(5_000);
    let error = unique_keys(&format!("{{\"{long}\":1,\"{long}\":2}}")).unwrap_err();
    assert!(error.message.len() < 200, "{}", error.message);
}

#[test]
fn different_objects_may_have_equal_keys() {
    let deep = "[".repeat(100_000);
    for text in [
        "",
        "\"",
        "\"\\",
        "}]{",
        r#"[{"a":1},{"a":{"a":["a","a"]}}]"#,
        r#"{"a":"a","b":"a\\","c":"\"a\":1,\"a\":2"}"#,
        &deep,
    ] {
        unique_keys(text).unwrap();
    }
}

#[test]
fn values_agree_with_serde_json() {
    for text in ["null", " [1,-0.5e+3, 1E999]", "{\"\":\"\\u00fc\\n\",\"a\":{\"b\":[]}}", "0"] {
        let expected: Value = match serde_json::from_str::<serde_json::Value>(text) {
            Ok(value) => value.into(),
            Err(_) => Value::Array(vec![
                Value::Number(1.0),
                Value::Number(-500.0),
                Value::Number(f64::INFINITY),
            ]),
        };
        assert_eq!(Value::from_model(text).unwrap(), expected, "{text}");
    }
    for text in [
        "",
        "01",
        "1.",
        ".5",
        "+1",
        "[1,]",
        "{a:1}",
        "'a'",
        "\"\n\"",
        "\"\\x\"",
        "[",
        "1 2",
        "tru",
        "\"a",
        "{\"a\" 1}",
        "NaN",
        "\u{feff}1",
        "-",
    ] {
        let refused = Value::from_model(text).unwrap_err();
        assert_eq!(refused.code, Code::InvalidJson, "{text}");
    }
}

#[test]
fn a_lone_surrogate_is_an_ill_formed_value() {
    let read = |text| Value::from_model(text).unwrap();
    assert_eq!(read("\"\\ud83d\""), Value::IllFormed);
    assert_eq!(read("[\"\\ude00\\ud83d\"]"), Value::Array(vec![Value::IllFormed]));
    assert_eq!(read("\"\\ud83d\\ude00\""), Value::String("😀".into()));
    assert!(Value::from_json("\"\\ud83d\"").is_err());
    let part = Value::from_part("[\"a\\ud83d\", 1 2").unwrap();
    assert_eq!(part, Value::Array(vec![Value::String("a\u{fffd}".into()), Value::Number(1.0)]));
}
