//! Tests the contract of the C interface from Rust: answers, errors, refusals, threads and sessions.
//! `__test__/capi.test.mjs` has callers in C and Python.

use std::ffi::CStr;
use std::ptr;
use std::sync::Once;
use std::thread;

use hashline_capi::*;
use serde_json::{Value, json};

/// Returns the text of a buffer and frees the buffer.
fn take_text(buffer: &mut HashlineBuffer) -> String {
    assert!(!buffer.data.is_null());
    // SAFETY: The library filled it, with a NUL after its bytes.
    let bytes = unsafe { std::slice::from_raw_parts(buffer.data, buffer.len + 1) };
    assert_eq!(bytes.last(), Some(&0));
    let text = String::from_utf8(bytes[..buffer.len].to_vec()).unwrap();
    // SAFETY: The library filled it; the second call frees an empty buffer.
    unsafe {
        hashline_free(buffer);
        hashline_free(buffer);
    }
    assert!(buffer.data.is_null() && buffer.len == 0);
    text
}

/// Code, message and path.
type Failure = (String, String, Option<String>);

/// The first call of the library disables the output of panics, including those of failing tests:
/// restores it.
fn restore_panic_output() {
    static RESTORED: Once = Once::new();
    RESTORED.call_once(|| {
        hashline_session_close(0);
        drop(std::panic::take_hook());
    });
}

fn empty() -> (HashlineBuffer, HashlineError) {
    restore_panic_output();
    let none = || HashlineBuffer { data: ptr::null_mut(), len: 0 };
    (none(), HashlineError { code: ptr::null(), message: none(), path: none() })
}

fn failure(error: &mut HashlineError) -> Failure {
    // SAFETY: The names of codes are static.
    let code = unsafe { CStr::from_ptr(error.code) }.to_str().unwrap().to_owned();
    let path = (!error.path.data.is_null()).then(|| take_text(&mut error.path));
    (code, take_text(&mut error.message), path)
}

/// Makes a call with out parameters for its answer and its error.
fn called(
    call: impl FnOnce(*mut HashlineBuffer, *mut HashlineError) -> bool,
) -> Result<String, Failure> {
    let (mut answer, mut error) = empty();
    if call(&raw mut answer, &raw mut error) {
        assert!(error.code.is_null() && error.message.data.is_null() && error.path.data.is_null());
        return Ok(take_text(&mut answer));
    }
    assert!(answer.data.is_null());
    Err(failure(&mut error))
}

type TwoInputs = unsafe extern "C" fn(
    *const u8,
    usize,
    *const u8,
    usize,
    *mut HashlineBuffer,
    *mut HashlineError,
) -> bool;

fn two(function: TwoInputs, first: &str, second: &str) -> Result<String, Failure> {
    // SAFETY: All pointers are valid during the call.
    called(|answer, error| unsafe {
        function(first.as_ptr(), first.len(), second.as_ptr(), second.len(), answer, error)
    })
}

fn data(answer: Result<String, Failure>) -> Value {
    serde_json::from_str(&answer.unwrap()).unwrap()
}

fn refusal(answer: Result<String, Failure>) -> (String, String) {
    let (code, message, _) = answer.unwrap_err();
    (code, message)
}

#[test]
fn versions() {
    // SAFETY: The version is NUL-terminated and static.
    let version = unsafe { CStr::from_ptr(hashline_version()) };
    assert_eq!(version.to_str().unwrap(), env!("CARGO_PKG_VERSION"));
    assert_eq!(hashline_abi_version(), HASHLINE_ABI_VERSION);
}

#[test]
fn files_are_read_edited_searched_and_recovered() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "one\ntwo\n").unwrap();
    let options =
        json!({"root": dir.path(), "stateDir": dir.path().join("state"), "durability": "process"})
            .to_string();
    let rows = two(hashline_read_text, r#""a.txt""#, &options).unwrap();
    let views = data(two(hashline_read, r#"["a.txt", {"path": "b.txt"}]"#, &options));
    assert_eq!(views[0]["text"], rows);
    assert_eq!(views[1]["error"]["code"], "FILE_NOT_FOUND");
    let row = rows.lines().nth(1).unwrap();
    let edit = json!({"op": "set_line", "path": "a.txt", "anchor": row, "text": "TWO"});
    let outcome = data(two(hashline_apply, &json!({"operations": [edit]}).to_string(), &options));
    assert_eq!(outcome["status"], "applied");
    assert_eq!(std::fs::read_to_string(dir.path().join("a.txt")).unwrap(), "one\nTWO\n");
    let found = data(two(hashline_search, r#"{"search": "two"}"#, &options));
    assert_eq!(found["matchCount"], 1);
    // SAFETY: As in `two`.
    let report = data(called(|answer, error| unsafe {
        hashline_recover(options.as_ptr(), options.len(), answer, error)
    }));
    assert_eq!(report["finished"], json!([]));
}

#[test]
fn texts_in_memory() {
    let rows = two(hashline_format, "one\ntwo\n", r#"{"startLine": 7}"#).unwrap();
    let hashes = data(two(hashline_hash_lines, "one\ntwo\n", ""));
    let anchors: Vec<_> = rows.lines().map(|row| row.split('|').next().unwrap()).collect();
    let expected: Vec<_> = (7..)
        .zip(hashes.as_array().unwrap())
        .map(|(number, hash)| format!("{number}:{}", hash.as_str().unwrap()))
        .collect();
    assert_eq!(anchors, expected);
    let judgement = data(two(hashline_check_command, "é; cat a", "null"));
    assert_eq!(judgement["verdict"], "read");
    // Spans are byte offsets.
    assert_eq!(judgement["findings"][0]["span"], json!({"start": 4, "end": 9}));
}

#[test]
fn invalid_arguments_are_refused_with_a_reason() {
    let cases = [
        (two(hashline_read, "", ""), "requests is not JSON"),
        (two(hashline_read, r#"{"path": "a", "startline": 1}"#, ""), "unknown field `startline`"),
        (two(hashline_read, r#"["a", 1]"#, ""), "a path, or an object with a path"),
        (
            two(hashline_read, "[]", r#"{"dialect": "hex"}"#),
            "options: dialect: unknown dialect \"hex\"",
        ),
        (two(hashline_read, "[]", "[]"), "options is an array"),
        (two(hashline_search, "{}", ""), "query: nothing to search for"),
        (two(hashline_read, r#"[{"path": "a", "path": "b"}]"#, ""), "requests: "),
        (
            two(hashline_apply, r#"{"operations": [], "operations": []}"#, ""),
            "patch: the outer object has the key \"operations\" twice: give it once",
        ),
        (
            two(hashline_apply, r#"{"operations": []}"#, r#"{"dryRun": true, "dryRun": false}"#),
            "options: the outer object has the key \"dryRun\" twice",
        ),
        (two(hashline_apply, "{", ""), "patch: not valid JSON at line 1"),
        (
            two(hashline_format, "a", r#"{"startLine": 0}"#),
            "options: startLine: invalid value: integer `0`, expected a whole number from 1",
        ),
        (two(hashline_check_command, "a", r#"{"tools": 1}"#), "policy: tools: invalid type"),
    ];
    for (answer, part) in cases {
        let (code, message) = refusal(answer);
        assert_eq!(code, "INVALID_ARGUMENT", "{message}");
        assert!(message.contains(part), "{part:?} not in: {message}");
    }
}

#[test]
fn regression_a_refusal_names_the_option_that_is_wrong() {
    let whole = "expected a whole number from";
    for (options, start) in [
        (r#"{"relocateWindow":1001}"#, "options: relocateWindow: invalid value: integer `1001`"),
        (r#"{"answerContext":4}"#, "options: answerContext: invalid value: integer `4`"),
        (r#"{"dryRun":1}"#, "options: dryRun: invalid type: integer `1`, expected a boolean"),
        (r#"{"repairs":{"x":true}}"#, "options: repairs"),
    ] {
        let (_, message) = refusal(two(hashline_apply, r#"{"operations": []}"#, options));
        assert!(message.starts_with(start), "{message}");
    }
    for (options, start) in [
        (r#"{"limits":{"maxLines":"a"}}"#, "options: limits.maxLines: invalid type: string"),
        (r#"{"store":{"id":7}}"#, "options: store.id: invalid type: integer `7`"),
        (r#"{"store":{}}"#, "options: store: missing field `id`"),
        (r#"{"readRoots":["a",1]}"#, "options: readRoots[1]: invalid type"),
        (r#"{"relocate":"on"}"#, "options: relocate: unknown variant `on`"),
    ] {
        let (_, message, _) = open(options).unwrap_err();
        assert!(message.starts_with(start), "{message}");
    }
    let (_, message) = refusal(two(hashline_format, "a", r#"{"startLine":0}"#));
    assert!(message.starts_with("options: startLine: ") && message.contains(whole), "{message}");
    for (request, start) in [
        (r#"[{"path":"a"},{"path":"a","maxLines":-1}]"#, "requests: [1].maxLines: invalid value"),
        (
            r#"{"path":"a","fold":1.5}"#,
            "requests: fold: invalid type: floating point `1.5`, expected true, false or a number of lines",
        ),
    ] {
        let (_, message) = refusal(two(hashline_read, request, ""));
        assert!(message.starts_with(start), "{message}");
    }
    // Errors in the syntax of JSON have a line and a column.
    let (_, message) = refusal(two(hashline_read, r#"{"path": "a", "fold": }"#, ""));
    assert!(message.starts_with("requests: expected value at line 1 column 23"), "{message}");
}

#[test]
fn invalid_inputs_are_refused() {
    let byte = *b"\xff";
    let here = byte.as_ptr();
    let cases = [
        (ptr::null(), 0, "requests is null"),
        (ptr::null(), 5, "requests is null and has 5 bytes"),
        (here, usize::MAX, "expected at most 1073741824"),
        (here, HASHLINE_MAX_INPUT_BYTES + 1, "requests has 1073741825 bytes"),
        (here, 1, "requests is not UTF-8: the byte at 0"),
    ];
    for (data, len, part) in cases {
        // SAFETY: An input that is null or too long is not read.
        let answer = called(|answer, error| unsafe {
            hashline_read(data, len, ptr::null(), 0, answer, error)
        });
        let (code, message) = refusal(answer);
        assert_eq!(code, "INVALID_ARGUMENT");
        assert!(message.contains(part), "{part:?} not in: {message}");
    }
}

#[test]
fn regression_an_array_is_not_taken_for_an_object() {
    for (function, first, second, message) in [
        (hashline_search as TwoInputs, r#"["a"]"#, "", "query is an array: expected an object"),
        (hashline_search, "null", "", "query is null: expected an object"),
        (hashline_search, "\"a\"", "", "query is a string: expected an object"),
        (hashline_read, "\"a\"", "[]", "options is an array: expected an object"),
        (hashline_read, "\"a\"", "7", "options is a number: expected an object"),
        (hashline_format, "a", r#" ["omp", 5]"#, "options is an array: expected an object"),
        (hashline_hash_lines, "a", "[]", "options is an array: expected an object"),
        (hashline_check_command, "a", "[false]", "policy is an array: expected an object"),
    ] {
        assert_eq!(
            refusal(two(function, first, second)),
            ("INVALID_ARGUMENT".into(), message.into())
        );
    }
    for (options, message) in [
        ("[]", "options is an array: expected an object"),
        (r#"{"store": ["a", "b"]}"#, "options: store is an array: expected an object"),
        (r#"{"limits": []}"#, "options: limits is an array: expected an object"),
        (r#"{"memory": []}"#, "options: memory is an array: expected an object"),
        (r#"{"store": 1}"#, "options: store is a number: expected an object"),
    ] {
        assert_eq!(open(options).unwrap_err().1, message);
    }
    let session = open("").unwrap();
    let input = r#"{"operations": []}"#;
    // SAFETY: As in `two`.
    let refused = called(|answer, error| unsafe {
        hashline_session_apply(
            session,
            input.as_ptr(),
            input.len(),
            b"[true]".as_ptr(),
            6,
            answer,
            error,
        )
    });
    assert_eq!(refusal(refused).1, "options is an array: expected an object");
    // If the text is not valid JSON, that is the error.
    let (_, message) = refusal(two(hashline_search, "[1,", ""));
    assert!(message.contains("line 1 column 3"), "{message}");
}

#[test]
fn null_out_parameters() {
    let (mut answer, mut error) = empty();
    let (path, bad) = (r#""a.txt""#, "{");
    // SAFETY: Out parameters may be null.
    unsafe {
        let none = ptr::null_mut();
        let read = |text: &str, answer, error| {
            hashline_read(text.as_ptr(), text.len(), ptr::null(), 0, answer, error)
        };
        assert!(!read(path, none, &raw mut error));
        assert_eq!(failure(&mut error).0, "INVALID_ARGUMENT");
        assert!(!read(bad, &raw mut answer, ptr::null_mut()));
        assert!(answer.data.is_null());
        assert!(read(path, &raw mut answer, ptr::null_mut()));
        assert!(take_text(&mut answer).contains("FILE_NOT_FOUND"));
        assert!(!hashline_session_open(ptr::null(), 0, ptr::null_mut(), ptr::null_mut()));
        hashline_free(ptr::null_mut());
    }
}

#[test]
fn errors_name_their_file() {
    let (code, message, path) = two(hashline_read_json, r#""none.json""#, "").unwrap_err();
    assert_eq!((code.as_str(), path.as_deref()), ("FILE_NOT_FOUND", Some("none.json")));
    assert_eq!(message, "none.json: no such file");
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.bin"), b"\0\x01\x02\xff").unwrap();
    let options = json!({"root": dir.path(), "maxFileBytes": 3}).to_string();
    let (code, message, _) = two(hashline_read_text, r#""a.bin""#, &options).unwrap_err();
    assert_eq!(code, "FILE_TOO_LARGE");
    assert!(message.contains("maxFileBytes"), "{message}");
    let options = json!({"root": dir.path()}).to_string();
    let (code, ..) = two(hashline_read_text, r#""a.bin""#, &options).unwrap_err();
    assert_eq!(code, "BINARY_FILE");
}

fn open(options: &str) -> Result<u64, Failure> {
    let (mut session, (_, mut error)) = (0, empty());
    // SAFETY: As in `two`.
    let is_open = unsafe {
        let options = (options.as_ptr(), options.len());
        hashline_session_open(options.0, options.1, &raw mut session, &raw mut error)
    };
    if is_open { Ok(session) } else { Err(failure(&mut error)) }
}

type OneInput =
    unsafe extern "C" fn(u64, *const u8, usize, *mut HashlineBuffer, *mut HashlineError) -> bool;

fn one(function: OneInput, session: u64, input: &str) -> Result<String, Failure> {
    // SAFETY: As in `two`.
    called(|answer, error| unsafe { function(session, input.as_ptr(), input.len(), answer, error) })
}

fn session_apply(session: u64, patch: &Value, options: &str) -> Value {
    let patch = patch.to_string();
    // SAFETY: As in `two`.
    data(called(|answer, error| unsafe {
        let patch = (patch.as_ptr(), patch.len());
        let options = (options.as_ptr(), options.len());
        hashline_session_apply(session, patch.0, patch.1, options.0, options.1, answer, error)
    }))
}

#[test]
fn sessions() {
    let dir = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "one\ntwo\n").unwrap();
    let options = json!({"cwd": dir.path(), "stateDir": state.path(), "durability": "process"});
    let session = open(&options.to_string()).unwrap();
    let patch =
        json!({"path": "a.txt", "edits": [{"set_line": {"anchor": "2nb", "new_text": "x"}}]});
    assert_eq!(session_apply(session, &patch, "")["code"], "NOT_SHOWN");
    let other = {
        let (mut other, (_, mut error)) = (0, empty());
        // SAFETY: As in `two`.
        assert!(unsafe { hashline_session_fork(session, &raw mut other, &raw mut error) });
        other
    };
    let report = data(one(hashline_session_read, session, r#""a.txt""#));
    assert!(report["text"].as_str().unwrap().contains("2nb|two"));
    let outcome = session_apply(session, &patch, r#"{"dryRun": true, "context": 0}"#);
    assert_eq!(outcome["files"][0]["hunks"][0]["lines"], json!(["-two", "+x"]), "{outcome}");
    assert_eq!(std::fs::read_to_string(dir.path().join("a.txt")).unwrap(), "one\ntwo\n");
    assert_eq!(session_apply(session, &patch, "")["status"], "applied");
    assert_eq!(data(one(hashline_session_search, other, r#"{"search": "x"}"#))["matchCount"], 1);
    let rows = "--- a.txt ---\n1ed|one";
    let seen = two_of(hashline_session_observe, other, rows);
    assert_eq!(data(seen), 1);
    assert_eq!(data(one(hashline_session_forget, other, "a.txt")), Value::Null);
    // SAFETY: As in `two`.
    let notes = called(|answer, error| unsafe { hashline_session_notes(other, answer, error) });
    assert_eq!(data(notes), json!([]));
    std::fs::write(dir.path().join("a.txt"), "by another\n").unwrap();
    data(one(hashline_session_search, session, r#"{"search": "none"}"#));
    let changed = || {
        // SAFETY: As in `two`.
        let changed =
            |answer, error| unsafe { hashline_session_changed_files(session, answer, error) };
        data(called(changed))
    };
    assert_eq!((changed(), changed()), (json!(["a.txt"]), json!([])));
    assert!(hashline_session_close(session) && !hashline_session_close(session));
    let (code, message) = refusal(one(hashline_session_read, session, r#""a.txt""#));
    assert_eq!(code, "INVALID_ARGUMENT");
    assert!(message.contains(&format!("session {session} is not open")), "{message}");
    assert!(hashline_session_close(other) && !hashline_session_close(0));
    assert!(open(r#"{"unseen": "guess"}"#).unwrap_err().1.contains("unknown variant `guess`"));
    assert!(open(r#"{"store": {}}"#).unwrap_err().1.contains("missing field `id`"));
}

type ObserveFunction = unsafe extern "C" fn(
    u64,
    *const u8,
    usize,
    *const u8,
    usize,
    *mut HashlineBuffer,
    *mut HashlineError,
) -> bool;

/// Makes a call without its second input.
fn two_of(function: ObserveFunction, session: u64, text: &str) -> Result<String, Failure> {
    // SAFETY: As in `two`.
    called(|answer, error| unsafe {
        function(session, text.as_ptr(), text.len(), ptr::null(), 0, answer, error)
    })
}

#[test]
fn regression_a_path_without_quotes_is_explained() {
    for function in [hashline_read as TwoInputs, hashline_read_text, hashline_read_json] {
        let (code, message) = refusal(two(function, "src/a.c", "{}"));
        assert_eq!(code, "INVALID_ARGUMENT");
        assert!(
            message.contains(
                "is not JSON (it begins with \"src/a.c\"): expected a path in double quotes"
            ),
            "{message}"
        );
    }
}

fn call_tool(session: u64, name: &str, arguments: &str, options: &str) -> Result<String, Failure> {
    // SAFETY: All pointers are valid during the call.
    called(|answer, error| unsafe {
        hashline_session_call_tool(
            session,
            name.as_ptr(),
            name.len(),
            arguments.as_ptr(),
            arguments.len(),
            options.as_ptr(),
            options.len(),
            answer,
            error,
        )
    })
}

#[test]
fn tools_of_an_agent() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "one\ntwo\n").unwrap();
    let state = dir.path().join("state");
    let options =
        json!({"root": dir.path(), "cwd": dir.path(), "stateDir": state, "durability": "process"});
    let session = open(&options.to_string()).unwrap();
    let options = r#"{"names": {"apply": "edit"}, "operations": ["set_line", "replace_range"], "undo": true}"#;
    let tools = data(one(hashline_session_tools, session, options));
    let names: Vec<_> = tools.as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
    assert_eq!(names, ["read", "search", "edit", "undo_edit"]);
    let schema = tools[2]["inputSchema"].to_string();
    assert!(schema.contains("set_line") && !schema.contains("delete_file"), "{schema}");

    let read = data(call_tool(session, "read", r#"{"file_path": "a.txt"}"#, options));
    assert_eq!((&read["isError"], &read["diff"]), (&json!(false), &Value::Null));
    let row = read["text"].as_str().unwrap().lines().find(|line| line.ends_with("two")).unwrap();
    let edit =
        json!({"operations": [{"op": "set_line", "path": "a.txt", "anchor": row, "text": "2"}]});
    let planned = r#"{"names": {"apply": "edit"}, "dryRun": true}"#;
    let dry = data(call_tool(session, "edit", &edit.to_string(), planned));
    assert!(dry["diff"].as_str().unwrap().contains("\n-two\n+2\n"), "{dry}");
    assert_eq!(std::fs::read_to_string(dir.path().join("a.txt")).unwrap(), "one\ntwo\n");
    // As models write it: in a fence.
    let fenced = format!("```json\n{edit}\n```");
    let done = data(call_tool(session, "edit", &fenced, options));
    assert_eq!(done["isError"], false, "{done}");
    assert_eq!(std::fs::read_to_string(dir.path().join("a.txt")).unwrap(), "one\n2\n");

    let stale = data(call_tool(session, "edit", &edit.to_string(), options));
    assert!(stale["text"].as_str().unwrap().starts_with("Nothing was written."), "{stale}");
    for (name, arguments, options, expected) in [
        (
            "write",
            "{}",
            options,
            "there is no tool \"write\": use one of read, search, edit, undo_edit",
        ),
        ("read", "{}", r#"{"tools": 1}"#, "unknown field `tools`"),
        ("read", "{}", r#"{"operations": ["fly"]}"#, "options: "),
        ("read", "{}", r#"{"names": {"apply": "read"}}"#, "\"read\" is the name of two tools"),
        ("read", "{}", r#"{"names": {"apply": "a b"}}"#, "\"a b\" is not a name without spaces"),
    ] {
        let (code, message) = refusal(call_tool(session, name, arguments, options));
        assert!(code == "INVALID_ARGUMENT" && message.contains(expected), "{message}");
    }
    let failed = data(call_tool(session, "read", "no JSON", options));
    assert_eq!(failed["isError"], true, "{failed}");
    assert!(hashline_session_close(session));
}

fn set_document(session: u64, path: &str, text: &[u8], options: &str) -> Result<String, Failure> {
    // SAFETY: As in `two`.
    called(|answer, error| unsafe {
        hashline_session_set_document(
            session,
            path.as_ptr(),
            path.len(),
            text.as_ptr(),
            text.len(),
            options.as_ptr(),
            options.len(),
            answer,
            error,
        )
    })
}

#[test]
fn documents_of_a_session() {
    let session = open(r#"{"root": "/nowhere", "disk": false}"#).unwrap();
    let options = r#"{"version": 4}"#;
    assert_eq!(data(set_document(session, "a.txt", b"one\ntwo\n", options)), Value::Null);
    set_document(session, "b.txt", b"\xFF\xFEx\0\n\0", r#"{"bytes": true}"#).unwrap();
    let documents = || {
        // SAFETY: As in `two`.
        data(called(|answer, error| unsafe { hashline_session_documents(session, answer, error) }))
    };
    assert_eq!(documents(), json!([{"path": "a.txt", "version": 4}, {"path": "b.txt"}]));
    let report = data(one(hashline_session_read, session, r#"["a.txt", "b.txt"]"#));
    let text = report["text"].as_str().unwrap();
    let row = |end: &str| text.lines().find(|row| row.ends_with(end)).unwrap();
    let edit = |path: &str, end: &str| json!({"op": "set_line", "path": path, "anchor": row(end), "text": "2"});
    let patch = json!({"operations": [edit("a.txt", "|two"), edit("b.txt", "|x")]});
    let files = session_apply(session, &patch, "")["files"].take();
    assert_eq!((&files[0]["content"], &files[0]["version"]), (&json!("one\n2\n"), &json!(4)));
    let range = json!({"start": {"line": 1, "character": 0}, "end": {"line": 2, "character": 0}});
    assert_eq!(files[0]["textEdits"], json!([{"range": range, "newText": "2\n"}]));
    assert_eq!(files[1]["contentBase64"], "//4yAAoA");
    assert_eq!((&files[1]["document"], files[1].get("content")), (&json!(true), None));
    assert_eq!(data(one(hashline_session_close_document, session, "a.txt")), true);
    assert_eq!(data(one(hashline_session_close_document, session, "a.txt")), false);
    for (path, text, options, part) in [
        ("a.txt", &b"\xFF"[..], "", "text is not UTF-8"),
        ("a.txt", b"", r#"{"lines": 1}"#, "unknown field `lines`"),
        ("../a.txt", b"", "", "is outside the root"),
    ] {
        let (_, message) = refusal(set_document(session, path, text, options));
        assert!(message.contains(part), "{message}");
    }
    assert!(hashline_session_close(session));
}

#[test]
fn a_stored_session_can_be_reopened() {
    let dir = tempfile::tempdir().unwrap();
    let state = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "one\n").unwrap();
    let options = json!({
        "cwd": dir.path(), "stateDir": state.path(), "store": {"id": "kept"},
        "durability": "process",
    });
    let patch =
        json!({"path": "a.txt", "edits": [{"set_line": {"anchor": "1ed", "new_text": "x"}}]});
    let first = open(&options.to_string()).unwrap();
    one(hashline_session_read, first, r#""a.txt""#).unwrap();
    assert!(hashline_session_close(first));
    let second = open(&options.to_string()).unwrap();
    assert_eq!(session_apply(second, &patch, "")["status"], "applied");
    assert!(hashline_session_close(second));
}

#[test]
fn threads_share_sessions_and_functions() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a.txt"), "one\ntwo\n").unwrap();
    let session = open(&json!({"cwd": dir.path()}).to_string()).unwrap();
    let expected = one(hashline_session_read, session, r#""a.txt""#).unwrap();
    thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                for _ in 0..20 {
                    let read = one(hashline_session_read, session, r#""a.txt""#).unwrap();
                    assert_eq!(read, expected);
                    assert_eq!(data(two(hashline_hash_lines, "one\n", "")), json!(["60"]));
                }
            });
        }
    });
    assert!(hashline_session_close(session));
}

/// No file can contain them: they are refused, not replaced.
#[test]
fn lone_surrogates_are_refused() {
    let (code, _) = refusal(two(hashline_read, r#""\ud800""#, ""));
    assert_eq!(code, "INVALID_ARGUMENT");
    let operations = r#"[{"op": "replace_text", "old_text": "a", "new_text": "\ud800"}]"#;
    // SAFETY: As in `two`.
    let answer = called(|answer, error| unsafe {
        let (text, operations) = ("a\n", operations);
        hashline_apply_text(
            text.as_ptr(),
            text.len(),
            operations.as_ptr(),
            operations.len(),
            ptr::null(),
            0,
            answer,
            error,
        )
    });
    let (code, message) = refusal(answer);
    assert_eq!(code, "INVALID_ARGUMENT");
    assert!(message.contains("unpaired high surrogate"), "{message}");
}
