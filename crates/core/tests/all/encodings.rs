//! Files that are not UTF-8, in sessions.

use std::fs;

use hashline_core::{Cancel, Code, JsonRequest, Outcome, PatchOptions, ReadReport, ReadRequest};
use hashline_core::{SearchQuery, Session, SessionOptions, StoreOptions, UndoRequest, Workspace};
use hashline_disk::bytes::{Charset, GUESS_LIMIT_BYTES};
use serde_json::{Value, json};

use crate::support::{Project, applied, facts, refused, show};

const JAPANESE: &str = "# 設定ファイル\nこれは日本語の文章です。\nname = 値\n";

fn encode(label: &str, text: &str) -> Vec<u8> {
    Charset::by_label(label).unwrap().encode(text).unwrap()
}

/// A line in two encodings, so that no guess is right, and more lines.
fn unknown(more: &str) -> Vec<u8> {
    [&encode("shift_jis", "日本語の文章")[..], b"\x81\x8d \xff\xfe\n", more.as_bytes()].concat()
}

fn project(label: &str, text: &str) -> Project {
    Project::new(&[("a.txt", &encode(label, text))])
}

/// The anchor of the line with a text.
fn anchor(report: &ReadReport, text: &str) -> String {
    let view =
        report.text.lines().find(|row| row.split_once('|').is_some_and(|(_, line)| line == text));
    view.unwrap_or_else(|| panic!("{text} is not in {}", report.text))
        .split_once('|')
        .unwrap()
        .0
        .to_owned()
}

fn set_line(session: &Session, old: &str, new: &str) -> Value {
    let anchor = anchor(&session.read("a.txt").unwrap(), old);
    json!({"op": "set_line", "path": "a.txt", "anchor": anchor, "text": new})
}

fn apply(session: &Session, operation: Value) -> Outcome {
    session.apply(patch(operation)).unwrap()
}

/// The patch with one operation, unless it is a patch already.
fn patch(operation: Value) -> Value {
    match operation.get("operations") {
        Some(_) => operation,
        None => json!({"operations": [operation]}),
    }
}

fn undo(session: &Session) {
    let (request, options) = (UndoRequest::default(), PatchOptions::default());
    let outcomes = session.undo(&request, &options, &Cancel::default()).unwrap();
    outcomes.into_iter().for_each(|outcome| drop(applied(outcome)));
}

fn encoding(session: &Session) -> (String, bool) {
    let report = session.read("a.txt").unwrap();
    let view = facts(&report.views[0]);
    (view.encoding.clone(), view.lossy)
}

#[test]
fn regression_a_session_shows_files_in_their_encoding() {
    let cyrillic = "Привет, мир! Это проверка кодировки.\n";
    let cases = [
        ("shift_jis", JAPANESE, "Shift_JIS"),
        ("euc-jp", JAPANESE, "EUC-JP"),
        ("gbk", "这是一个中文文件。\n内容很简单。\n", "GBK"),
        ("big5", "這是一個中文檔案。\n內容很簡單。\n", "Big5"),
        ("euc-kr", "이것은 한국어 파일입니다.\n", "EUC-KR"),
        ("windows-1251", cyrillic, "windows-1251"),
        ("koi8-u", cyrillic, "KOI8-U"),
        ("windows-1252", "café, naïve, Größe\n", "windows-1252"),
        ("windows-1252", "caf\u{e9}\n", "windows-1252"),
        ("windows-1250", "Příliš žluťoučký kůň úpěl ďábelské ódy\n", "windows-1250"),
    ];
    for (label, text, name) in cases {
        let project = project(label, text);
        let session = project.session(&[]);
        let report = session.read("a.txt").unwrap();
        let view = facts(&report.views[0]);
        assert_eq!(
            (view.encoding.as_str(), view.lossy),
            (name.to_lowercase().as_str(), false),
            "{name}"
        );
        text.lines().for_each(|line| drop(anchor(&report, line)));
        assert!(
            report.text.ends_with(&format!("\n(encoding: {name}; edits keep it)")),
            "{}",
            report.text
        );
        // Without a session, nothing is guessed.
        let plain = Workspace::new(project.options()).read("a.txt").unwrap();
        assert_eq!((facts(&plain).encoding.as_str(), facts(&plain).lossy), ("utf-8", true));
    }
}

#[test]
fn regression_japanese_text_is_added_in_the_encoding_of_the_file() {
    let project = project("shift_jis", JAPANESE);
    let session = project.session(&[]);
    let edit = set_line(&session, "name = 値", "name = 新しい値 ソ");
    applied(apply(&session, edit));
    let after = JAPANESE.replace("値", "新しい値 ソ");
    assert_eq!(project.bytes("a.txt"), encode("shift_jis", &after));
    assert_eq!(encoding(&session), ("shift_jis".into(), false));
    let replace =
        json!({"op": "replace_text", "path": "a.txt", "old_text": "日本語", "new_text": "英語"});
    applied(apply(&session, replace));
    assert_eq!(project.bytes("a.txt"), encode("shift_jis", &after.replace("日本語", "英語")));
    let whole = json!({"op": "add_file", "path": "a.txt", "replace": true, "content": "全部\n"});
    applied(apply(&session, whole));
    assert_eq!(project.bytes("a.txt"), encode("shift_jis", "全部\n"));
}

#[test]
fn text_that_the_encoding_lacks_is_refused_with_a_way_out() {
    let text = "café, naïve, Größe\n";
    let project = project("windows-1252", text);
    let session = project.session(&["a.txt"]);
    let edit = set_line(&session, text.trim_end(), "日本");
    let refusal = refused(apply(&session, edit));
    assert_eq!(refusal.code, Code::UnencodableText);
    assert!(refusal.text.contains("windows-1252: write it with other characters, or make the file UTF-8 (`delete_file` and `add_file`"), "{}", refusal.text);
    assert_eq!(project.bytes("a.txt"), encode("windows-1252", text));
    let way_out = json!({"operations": [
        {"op": "delete_file", "path": "a.txt"},
        {"op": "add_file", "path": "a.txt", "content": "日本\n"},
    ]});
    applied(apply(&session, way_out));
    assert_eq!(project.content("a.txt"), "日本\n");
    assert_eq!(encoding(&session), ("utf-8".into(), false));
}

/// The detector would say "windows-1252".
#[test]
fn damaged_utf8_is_not_guessed() {
    let cases: [&[u8]; 5] = [
        b"Gr\xc3\xb6\xc3\x9fe \xe9\nb\n",
        b"caf\xe9 \xc3\xa9\nb\n",
        b"price in \xe2\x82",
        b"\xff\nb\n",
        // Control characters of Latin-1.
        b"caf\x81 b\nb\n",
    ];
    for bytes in cases {
        let project = Project::new(&[("a.txt", bytes)]);
        let report = project.session(&[]).read("a.txt").unwrap();
        let view = facts(&report.views[0]);
        assert_eq!((view.encoding.as_str(), view.lossy), ("utf-8", true), "{bytes:x?}");
        assert!(
            report.text.contains("Some bytes are invalid in UTF-8: � shows them"),
            "{}",
            report.text
        );
    }
}

#[test]
fn regression_a_copied_replacement_character_overwrites_no_byte() {
    let bytes = b"Gr\xc3\xb6\xc3\x9fe \xe9x\nb\n";
    let project = Project::new(&[("a.txt", bytes)]);
    let session = project.session(&[]);
    let line = "Größe \u{fffd}x";
    let insert = json!({"op": "insert_after", "path": "a.txt", "anchor": "EOF", "text": line});
    let replace =
        json!({"op": "replace_text", "path": "a.txt", "old_text": "b\n", "new_text": "\u{fffd}\n"});
    let whole = json!({"op": "add_file", "path": "a.txt", "replace": true, "content": format!("{line}y\n")});
    for edit in [set_line(&session, line, "Größe \u{fffd}y"), insert, replace, whole] {
        let refusal = refused(apply(&session, edit));
        assert_eq!(refusal.code, Code::UnsupportedEncoding, "{}", refusal.text);
        assert!(refusal.text.contains("it would overwrite them. Edit the text next to it with `replace_text`, or read the file with its `encoding`"), "{}", refusal.text);
    }
    assert_eq!(project.bytes("a.txt"), bytes);
    // The ways out, and edits that do not touch the byte.
    let edits = json!({"operations": [
        {"op": "replace_text", "path": "a.txt", "old_text": "Größe", "new_text": "Maß"},
        set_line(&session, "b", "größer"),
    ]});
    applied(apply(&session, edits));
    assert_eq!(project.bytes("a.txt"), [b"Ma\xc3\x9f \xe9x\n", "größer\n".as_bytes()].concat());
    let mut verbatim = set_line(&session, "Maß \u{fffd}x", "\u{fffd}");
    verbatim["verbatim"] = true.into();
    applied(apply(&session, verbatim));
    assert_eq!(project.content("a.txt"), "\u{fffd}\ngrößer\n");
}

#[test]
fn regression_no_utf8_is_written_into_a_file_of_an_unknown_encoding() {
    let bytes = unknown("name\n");
    let project = Project::new(&[("a.txt", &bytes)]);
    let session = project.session(&[]);
    assert_eq!(encoding(&session), ("utf-8".into(), true));
    let refusal = refused(apply(&session, set_line(&session, "name", "né")));
    assert_eq!(refusal.code, Code::UnencodableText);
    assert!(refusal.text.contains("its encoding is unknown, so 'é' (U+00E9) cannot be written in it. Read the file with its `encoding`"), "{}", refusal.text);
    applied(apply(&session, set_line(&session, "name", "ascii")));
    let request =
        ReadRequest { encoding: Some("windows-1252".into()), ..ReadRequest::new("a.txt") };
    session.read(request).unwrap();
    applied(apply(&session, set_line(&session, "ascii", "né")));
    assert_eq!(project.bytes("a.txt"), [&bytes[..bytes.len() - 5], b"n\xe9\n"].concat());
    // All that is not UTF-8 goes, so the file becomes UTF-8.
    project.write("a.txt", &bytes);
    let fresh = project.session(&["a.txt"]);
    let whole = json!({"op": "add_file", "path": "a.txt", "replace": true, "content": "é\n"});
    applied(apply(&fresh, whole));
    assert_eq!(project.content("a.txt"), "é\n");
}

/// The remaining bytes do not say the encoding.
#[test]
fn an_edit_is_in_the_encoding_that_was_shown() {
    let project = project("windows-1252", "caf\u{e9}\nb\n");
    let store = StoreOptions { id: "one".into(), dir: Some(project.state.path().into()) };
    let open = || {
        let options = SessionOptions { workspace: project.options(), ..SessionOptions::default() };
        Session::open(options, &store).unwrap()
    };
    let session = open();
    applied(apply(&session, set_line(&session, "café", "plain")));
    assert_eq!(project.content("a.txt"), "plain\nb\n");
    // As another process.
    let other = open();
    assert_eq!(encoding(&other), ("windows-1252".into(), false));
    applied(apply(&other, set_line(&other, "b", "Größe")));
    assert_eq!(project.bytes("a.txt"), b"plain\nGr\xf6\xdfe\n");
    undo(&other);
    assert_eq!(project.bytes("a.txt"), b"plain\nb\n");
    undo(&session);
    assert_eq!(project.bytes("a.txt"), b"caf\xe9\nb\n");
    let moved = json!({"op": "move_file", "from": "a.txt", "to": "b.txt"});
    applied(apply(&session, moved));
    let add = json!({"op": "insert_after", "path": "b.txt", "anchor": "EOF", "text": "über"});
    applied(apply(&session, add));
    assert_eq!(project.bytes("b.txt"), b"caf\xe9\nb\n\xfcber\n");
}

#[test]
fn a_file_that_became_utf8_is_utf8() {
    let project = project("shift_jis", JAPANESE);
    let session = project.session(&["a.txt"]);
    project.write("a.txt", JAPANESE);
    let add = json!({"op": "insert_after", "path": "a.txt", "anchor": "EOF", "text": "値"});
    applied(apply(&session, add));
    assert_eq!(project.content("a.txt"), format!("{JAPANESE}値\n"));
    assert_eq!(encoding(&session), ("utf-8".into(), false));
}

#[test]
fn a_file_whose_content_becomes_ascii_keeps_its_encoding() {
    let project = project("shift_jis", JAPANESE);
    let session = project.session(&["a.txt"]);
    let replace = json!({"op": "add_file", "path": "a.txt", "content": "ascii\n", "replace": true});
    applied(apply(&session, replace));
    assert_eq!(encoding(&session), ("shift_jis".into(), false));
    let add = json!({"op": "insert_after", "path": "a.txt", "anchor": "EOF", "text": "値"});
    applied(apply(&session, add));
    assert_eq!(project.bytes("a.txt"), encode("shift_jis", "ascii\n値\n"));
}

#[test]
fn an_encoding_that_a_read_names_counts_for_later_calls() {
    let bytes = encode("iso-8859-5", "мир\n");
    let project = Project::new(&[("a.txt", &bytes), ("j.json", &b"{\"a\": \"\xe9\"}\n".to_vec())]);
    let session = project.session(&[]);
    let request = ReadRequest { encoding: Some("iso-8859-5".into()), ..ReadRequest::new("a.txt") };
    session.read(request).unwrap();
    assert_eq!(encoding(&session), ("iso-8859-5".into(), false));
    assert_eq!(session.search("мир").unwrap().match_count, 1);
    applied(apply(&session, set_line(&session, "мир", "мир и")));
    assert_eq!(project.bytes("a.txt"), encode("iso-8859-5", "мир и\n"));
    let json = session.read_json(&JsonRequest::new("j.json"), &Cancel::default()).unwrap();
    assert!(json.text.contains("\"é\"") && json.encoding == "windows-1252", "{}", json.text);
}

#[test]
fn a_stateful_encoding_is_read_when_named_and_never_edited() {
    let bytes = encode("iso-2022-jp", "日本\nb\n");
    let project = Project::new(&[("a.txt", &bytes)]);
    let session = project.session(&[]);
    assert_eq!(encoding(&session), ("utf-8".into(), false));
    let request = ReadRequest { encoding: Some("iso-2022-jp".into()), ..ReadRequest::new("a.txt") };
    assert!(session.read(request).unwrap().text.contains("日本"));
    let refusal = refused(apply(&session, set_line(&session, "b", "c")));
    assert_eq!(refusal.code, Code::UnsupportedEncoding);
    assert_eq!(project.bytes("a.txt"), bytes);
}

#[test]
fn regression_no_utf8_is_written_next_to_shifts_of_iso_2022_jp() {
    let bytes = encode("iso-2022-jp", "日本\nb\n");
    let project = Project::new(&[("a.txt", &bytes)]);
    let session = project.session(&[]);
    let refusal = refused(apply(&session, set_line(&session, "b", "é")));
    assert_eq!(refusal.code, Code::UnencodableText);
    let way_out =
        "Write only ASCII; or make the file UTF-8: read it with `encoding` \"iso-2022-jp\"";
    assert!(refusal.text.contains(way_out), "{}", refusal.text);
    assert_eq!(project.bytes("a.txt"), bytes);
    applied(apply(&session, set_line(&session, "b", "c")));
    assert_eq!(project.bytes("a.txt"), encode("iso-2022-jp", "日本\nc\n"));
    let mut verbatim = set_line(&session, "c", "é");
    verbatim["verbatim"] = json!(true);
    applied(apply(&session, verbatim));
    assert_eq!(
        project.bytes("a.txt"),
        [&encode("iso-2022-jp", "日本\n")[..], "é\n".as_bytes()].concat()
    );
    // A patch that replaces all of it.
    let whole = json!({"op": "add_file", "path": "b.txt", "replace": true, "content": "日本\né\n"});
    fs::write(project.dir.path().join("b.txt"), &bytes).unwrap();
    session.read("b.txt").unwrap();
    applied(apply(&session, whole));
    assert_eq!(project.content("b.txt"), "日本\né\n");
    // The sequences of terminals are not shifts.
    fs::write(project.dir.path().join("a.txt"), "\x1b[1mbold\x1b(B\x1b[m\nb\n").unwrap();
    applied(apply(&session, set_line(&session, "b", "é")));
}

#[test]
fn regression_a_search_finds_text_in_other_encodings() {
    let project = project("shift_jis", JAPANESE);
    project.write("b.txt", "日本語\n");
    let session = project.session(&[]);
    let found = session.search("日本語").unwrap();
    let encodings: Vec<_> =
        found.files.iter().map(|file| (file.path.as_str(), file.encoding.as_deref())).collect();
    assert_eq!(encodings, [("a.txt", Some("shift_jis")), ("b.txt", None)]);
    let row = found.text.lines().nth(1).unwrap();
    let edit = json!({"op": "set_line", "path": "a.txt", "anchor": row.split_once('|').unwrap().0, "text": "語"});
    applied(apply(&session, edit));
    let after = JAPANESE.replace("これは日本語の文章です。", "語");
    assert_eq!(project.bytes("a.txt"), encode("shift_jis", &after));
    let query = SearchQuery { encoding: Some("shift_jis".into()), ..SearchQuery::new("設定") };
    assert_eq!(session.search(query).unwrap().match_count, 1);
    assert_eq!(Workspace::new(project.options()).search("設定").unwrap().match_count, 0);
}

#[test]
fn lines_move_between_encodings() {
    let project = project("shift_jis", JAPANESE);
    project.write("b.txt", "値\nü\n");
    let session = project.session(&["a.txt", "b.txt"]);
    let report = session.read("b.txt").unwrap();
    let copy = |line: &str| json!({"op": "copy_lines", "path": "b.txt", "anchor": anchor(&report, line), "to": "a.txt", "to_anchor": "EOF"});
    assert_eq!(refused(apply(&session, copy("ü"))).code, Code::UnencodableText);
    applied(apply(&session, copy("値")));
    assert_eq!(project.bytes("a.txt"), encode("shift_jis", &format!("{JAPANESE}値\n")));
}

#[test]
fn lines_in_an_unknown_encoding_stay_out_of_utf8() {
    let unknown = unknown("ascii\n");
    let project = Project::new(&[("a.txt", &unknown[..]), ("b.txt", "値\n".as_bytes())]);
    let session = project.session(&["a.txt", "b.txt"]);
    let report = session.read("a.txt").unwrap();
    let rows: Vec<&str> =
        report.text.lines().map(|row| row.split_once('|').unwrap_or_default().0).collect();
    let copy = |anchor: &str, to: &str| json!({"op": "copy_lines", "path": "a.txt", "anchor": anchor, "to": to, "to_anchor": "EOF"});
    let refusal = refused(apply(&session, copy(rows[0], "b.txt")));
    assert!(refusal.text.contains("invalid in utf-8"), "{}", refusal.text);
    for (row, to) in [(1, "b.txt"), (0, "a.txt"), (0, "new.txt")] {
        applied(apply(&session, copy(rows[row], to)));
    }
    assert_eq!(project.content("b.txt"), "値\nascii\n");
    let row = session.read("b.txt").unwrap().text.split_once('|').unwrap().0.to_owned();
    let back = json!({"op": "copy_lines", "path": "b.txt", "anchor": row, "to": "a.txt", "to_anchor": "EOF"});
    let refusal = refused(apply(&session, back));
    assert!(refusal.text.contains("its encoding is unknown, so '値'"), "{}", refusal.text);
    assert_eq!(project.bytes("new.txt"), unknown[..unknown.len() - 6]);
}

#[test]
fn a_plan_is_applied_in_the_encoding_that_was_shown() {
    let project = project("shift_jis", JAPANESE);
    let session = project.session(&[]);
    let patch = patch(set_line(&session, "name = 値", "name = 新"));
    let dry_run = PatchOptions { dry_run: true, ..PatchOptions::default() };
    let planned =
        applied(session.apply_with(&patch.clone().into(), &dry_run, &Cancel::default()).unwrap());
    let planned = PatchOptions { plan: planned.plan, ..PatchOptions::default() };
    applied(session.apply_with(&patch.into(), &planned, &Cancel::default()).unwrap());
    assert_eq!(project.bytes("a.txt"), encode("shift_jis", &JAPANESE.replace('値', "新")));
}

#[test]
fn a_patch_can_name_the_encoding_of_a_new_file() {
    let project = Project::new::<str>(&[]);
    let session = project.session(&[]);
    let options = PatchOptions { encoding: Some("shift_jis".into()), ..PatchOptions::default() };
    let add = json!({"op": "add_file", "path": "a.txt", "content": "ascii\n"});
    applied(session.apply_with(&patch(add).into(), &options, &Cancel::default()).unwrap());
    applied(apply(&session, set_line(&session, "ascii", "値")));
    assert_eq!(project.bytes("a.txt"), encode("shift_jis", "値\n"));
    let unknown = PatchOptions { encoding: Some("klingon".into()), ..PatchOptions::default() };
    let error = session.apply_with(&json!({"operations": []}).into(), &unknown, &Cancel::default());
    assert_eq!(error.unwrap_err().code, Code::UnsupportedEncoding);
}

#[test]
fn marks_nuls_and_sizes_decide_before_a_guess() {
    let late = [&vec![b'a'; 2 << 20][..], b"\n", &encode("shift_jis", JAPANESE)].concat();
    let wide = [b"\xff\xfe", &encode("utf-16le", "日本\n")[..]].concat();
    let marked = b"\xef\xbb\xbfcaf\xe9\n".to_vec();
    let huge = [&vec![b'\n'; GUESS_LIMIT_BYTES][..], b"caf\xe9\n"].concat();
    for (bytes, name, lossy) in [
        (late, "shift_jis", false),
        (wide, "utf-16le", false),
        (marked, "utf-8", true),
        (huge, "utf-8", true),
    ] {
        let project = Project::new(&[("a.txt", &bytes)]);
        assert_eq!(encoding(&project.session(&[])), (name.into(), lossy));
    }
    let project = Project::new(&[("a.txt", b"caf\xe9\0\n")]);
    let report = project.session(&[]).read("a.txt").unwrap();
    assert_eq!(report.text, "(binary file: not shown)");
}

/// Undoing a patch restores bytes that no encoding has.
#[test]
fn invalid_bytes_come_back() {
    let bytes = b"Gr\xc3\xb6\xc3\x9fe \xe9x\nb\n";
    let project = Project::new(&[("a.txt", bytes)]);
    let session = project.session(&[]);
    show(&session, "a.txt", 1, 10);
    let edit = set_line(&session, "Größe \u{fffd}x", "Größe");
    applied(apply(&session, edit));
    undo(&session);
    assert_eq!(project.bytes("a.txt"), bytes);
}
