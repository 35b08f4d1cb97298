//! Long lines: which part is shown, what the marks say, and that every row starts with an anchor of
//! its line, for any text, encoding and limit. Compared with a naive implementation that goes
//! character by character.

use std::fs;

use hashline_core::Cancel;
use hashline_core::Columns;
use hashline_core::Outcome;
use hashline_core::Query;
use hashline_core::SearchQuery;
use hashline_core::{Code, Error};
use hashline_core::{Context, Limits};
use hashline_core::{FileView, ReadRequest};
use hashline_core::{
    ReadReport, Session, SessionLimits, SessionOptions, Workspace, WorkspaceOptions,
};
use hashline_lines::anchor::Anchor;
use hashline_lines::dialect::{DIALECTS, Dialect};
use hashline_lines::hash::hash_line;
use proptest::prelude::*;

use crate::support::facts;

fn literal(search: &str) -> Query {
    Query { search: search.to_owned(), regex: false, case_sensitive: true, ..Query::default() }
}

fn pattern(search: &str) -> Query {
    Query { regex: true, ..literal(search) }
}

fn view_of(dialect: &'static Dialect, content: &[u8], request: &ReadRequest) -> FileView {
    let options = WorkspaceOptions { dialect, ..WorkspaceOptions::unbounded() };
    let view = Workspace::new(options).read_bytes(request, content, &Cancel::default()).unwrap();
    assert!(view.error().is_none(), "{view:?}");
    view
}

fn streamed(dialect: &'static Dialect, content: &[u8], request: &ReadRequest) -> String {
    let options = WorkspaceOptions { dialect, ..WorkspaceOptions::unbounded() };
    let mut out = Vec::new();
    let pass_on = |piece: &[u8]| -> Result<(), Error> {
        out.extend_from_slice(piece);
        Ok(())
    };
    let workspace = Workspace::new(options);
    workspace.stream_bytes(request, content, &Cancel::default(), pass_on).unwrap();
    out.pop();
    String::from_utf8(out).unwrap()
}

/// A row with some characters of a line.
fn row(
    dialect: &'static Dialect,
    number: u64,
    line: &str,
    shown: std::ops::Range<usize>,
) -> String {
    let bytes = |chars: &[char]| chars.iter().map(|one| one.len_utf8()).sum::<usize>();
    let chars: Vec<char> = line.chars().collect();
    let (before, after) = (bytes(&chars[..shown.start]), bytes(&chars[shown.end..]));
    let mut row = dialect.anchor_text(number, hash_line(dialect, number, line));
    row.push(dialect.text_mark as char);
    if before > 0 {
        row += &format!("[{before} bytes+] …");
    }
    row.extend(&chars[shown]);
    if after > 0 {
        row += &format!("… [+{after} bytes]");
    }
    row
}

/// The range of characters of a line that is shown.
fn shown(line: &str, request: &ReadRequest, is_match: bool) -> std::ops::Range<usize> {
    let count = line.chars().count();
    if let Some(Columns { from, to }) = request.columns {
        return (from as usize - 1).min(count)..(to as usize).min(count);
    }
    let Some(limit) = request.max_line_chars.map(|limit| limit as usize) else { return 0..count };
    let search = request.search.as_ref().filter(|_| is_match).map(|query| query.search.as_str());
    let Some(search) = search else { return 0..limit.min(count) };
    let first = line[..line.find(search).unwrap()].chars().count();
    let found = search.chars().count();
    if count <= limit || first + found <= limit {
        return 0..limit.min(count);
    }
    let from = first - (limit.saturating_sub(found) / 2).min(first);
    if from + limit >= count { count - limit..count } else { from..from + limit }
}

/// The rows of a view with search, context and width, without limits of lines or bytes.
fn naive(dialect: &'static Dialect, text: &str, request: &ReadRequest) -> String {
    let mut lines: Vec<&str> = text.split('\n').collect();
    if text.ends_with('\n') || text.is_empty() {
        lines.pop();
    }
    let has_terminator = |at: usize| at + 1 < lines.len() || text.ends_with('\n');
    let line = |at: usize| match lines[at].strip_suffix('\r') {
        Some(line) if has_terminator(at) => line,
        _ => lines[at],
    };
    let is_match = |at: usize| {
        request.search.as_ref().is_some_and(|query| line(at).contains(query.search.as_str()))
    };
    let Context { before, after } = request.context;
    let is_shown = |at: &usize| {
        let near = at.saturating_sub(after as usize)..=at + before as usize;
        request.search.is_none()
            || near.into_iter().any(|near| near < lines.len() && is_match(near))
    };
    let mut rows: Vec<String> = Vec::new();
    let mut last = None;
    for at in (0..lines.len()).filter(is_shown) {
        if last.is_some_and(|last| at > last + 1) {
            rows.push("...".to_owned());
        }
        last = Some(at);
        let part = shown(line(at), request, is_match(at));
        rows.push(row(dialect, at as u64 + 1, line(at), part));
    }
    rows.join("\n")
}

/// Checks that a row, pasted as an anchor, matches its line, and that its hint agrees.
fn check_rows(dialect: &'static Dialect, text: &str, rows: &str) {
    let lines: Vec<&str> = text.split('\n').collect();
    for row in rows.split('\n').filter(|row| !row.is_empty() && *row != "...") {
        let anchor = Anchor::parse(dialect, row).unwrap();
        let line = lines[anchor.line as usize - 1];
        let line = match line.strip_suffix('\r') {
            Some(body) if lines.len() > anchor.line as usize => body,
            _ => line,
        };
        assert_eq!(anchor.hash, hash_line(dialect, u64::from(anchor.line), line), "{row}");
        let hint = anchor.hint;
        assert!(hint.is_none_or(|hint| hint.agrees(dialect, line.as_bytes())), "{row}");
    }
}

/// The bytes of a file, and the text read from them.
fn encoded(text: &str, kind: u8) -> (Vec<u8>, String) {
    let units = || ['\u{feff}'].into_iter().chain(text.chars()).collect::<String>();
    match kind {
        0 => (text.as_bytes().to_vec(), text.to_owned()),
        1 => (units().into_bytes(), text.to_owned()),
        2 => (units().encode_utf16().flat_map(u16::to_le_bytes).collect(), text.to_owned()),
        3 => (units().encode_utf16().flat_map(u16::to_be_bytes).collect(), text.to_owned()),
        _ => {
            // Replaces every `b` with a byte that is invalid in the encoding.
            let bytes: Vec<u8> =
                text.bytes().map(|byte| if byte == b'b' { 0xFF } else { byte }).collect();
            let shown = String::from_utf8_lossy(&bytes).into_owned();
            (bytes, shown)
        }
    }
}

proptest! {
    #[test]
    fn long_lines_agree_with_a_naive_implementation(
        lines in prop::collection::vec(("[ab é€\u{1f600}\t\r]{0,30}", any::<bool>()), 0..12),
        is_open in any::<bool>(),
        kind in 0u8..5,
        dialect in 0..DIALECTS.len(),
        max_line_chars in prop::option::of(0u64..34),
        columns in prop::option::of((1u64..34, 0u64..34)),
        search in prop::option::of("[ab é]{1,3}"),
        (before, after) in (0u64..3, 0u64..3),
        max_bytes in 0usize..600,
    ) {
        let dialect = &DIALECTS[dialect];
        prop_assume!(dialect.has_hashes());
        let mut text: String = lines
            .iter()
            .map(|(line, is_crlf)| format!("{line}{}", if *is_crlf { "\r\n" } else { "\n" }))
            .collect();
        if is_open {
            text.push_str("the end");
        }
        let (content, text) = encoded(&text, kind);
        let request = ReadRequest {
            max_line_chars,
            columns: columns.map(|(from, more)| Columns { from, to: from + more }),
            search: search.as_deref().map(literal),
            context: if search.is_some() { Context { before, after } } else { Context::default() },
            ..ReadRequest::default()
        };
        let view = view_of(dialect, &content, &request);
        let expected = naive(dialect, &text, &request);
        prop_assert_eq!(&view.text, &expected);
        let has_cut_rows = |rows: &str| {
            columns.is_none() && (rows.contains("… [+") || rows.contains(" bytes+] …"))
        };
        let shown = facts(&view);
        prop_assert_eq!((shown.truncated, shown.next_line), (has_cut_rows(&view.text), None));
        check_rows(dialect, &text, &view.text);
        prop_assert_eq!(streamed(dialect, &content, &request), expected);

        let limits = Limits { max_lines: None, max_bytes: Some(max_bytes) };
        let within = view_of(dialect, &content, &ReadRequest { limits, ..request });
        check_rows(dialect, &text, &within.text);
        let is_beginning = view.text.starts_with(&within.text);
        let shown = facts(&within);
        prop_assert!(is_beginning || shown.is_line_cut, "{}", within.text);
        prop_assert!(within.text.len() <= max_bytes.max(70), "{}", within.text);
        let is_less = within.text != view.text;
        let is_cut = shown.is_line_cut || has_cut_rows(&within.text);
        prop_assert_eq!(shown.truncated, is_less || is_cut);
    }
}

const NEEDLE: &str = "const needle = 1;";

/// One line of 180 KB, with the needle in its middle.
fn minified() -> String {
    format!("{}{NEEDLE}{}", "a();".repeat(20_000), "b();".repeat(25_000))
}

struct Scene {
    dir: tempfile::TempDir,
    session: Session,
}

impl Scene {
    fn new(files: &[(&str, &str)], limits: SessionLimits) -> Scene {
        let dir = tempfile::tempdir().unwrap();
        for (name, content) in files {
            let path = dir.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, content).unwrap();
        }
        let root = dir.path().into();
        let workspace = WorkspaceOptions { root, ..WorkspaceOptions::default() };
        let session =
            Session::new(SessionOptions { workspace, limits, ..SessionOptions::default() })
                .unwrap();
        Scene { dir, session }
    }

    fn read(&self, request: ReadRequest) -> ReadReport {
        self.session.read_with(&[request], &Cancel::default()).unwrap()
    }
}

fn request(path: &str) -> ReadRequest {
    ReadRequest::new(path)
}

#[test]
fn regression_a_long_line_hides_no_other_match() {
    let files = [("a.js", &*minified()), ("src/b.js", "let x\nconst needle = 2;\n")];
    let scene = Scene::new(&files, SessionLimits::default());
    let query = SearchQuery::new(literal("needle"));
    let found = scene.session.search_with(&query, &Cancel::default()).unwrap();
    let shown: Vec<_> = found.files.iter().map(|file| (&*file.path, &*file.match_lines)).collect();
    assert_eq!(shown, [("a.js", &[1][..]), ("src/b.js", &[2][..])]);
    assert!(!found.truncated && found.text.len() < 10_000, "{}", found.text.len());
    assert!(found.text.contains(NEEDLE), "{}", found.text);
    // Also within one file: no line is left to continue at.
    let report = scene.read(ReadRequest { search: Some(literal("needle")), ..request("a.js") });
    assert!(report.text.contains(NEEDLE) && report.next.is_empty(), "{}", report.text);
    assert!(!report.text.contains("Go on"), "{}", report.text);
}

#[test]
fn regression_a_long_line_leaves_room_for_the_lines_below() {
    let text = format!("{}\nbelow\n", minified());
    let scene = Scene::new(&[("a.js", &text)], SessionLimits::default());
    let report = scene.read(request("a.js"));
    let rows: Vec<&str> = report.text.lines().collect();
    assert_eq!(rows.len(), 2);
    assert!(rows[0].ends_with(&format!("… [+{} bytes]", minified().len() - 2000)), "{}", rows[0]);
    assert!(rows[1].ends_with("|below") && report.next.is_empty(), "{}", rows[1]);
    // The truncated row is an anchor, although its line is not shown in full.
    let anchor = rows[0].split('|').next().unwrap();
    let patch = serde_json::json!({"operations": [
        {"op": "insert_after", "path": "a.js", "anchor": anchor, "text": "between"}
    ]});
    scene.session.apply(patch).unwrap();
    let after = format!("{}\nbetween\nbelow\n", minified());
    assert!(fs::read_to_string(scene.dir.path().join("a.js")).unwrap() == after);
}

#[test]
fn regression_the_rest_of_a_long_line_is_read_by_columns() {
    let text = minified();
    let scene = Scene::new(&[("a.js", &text)], SessionLimits::default());
    let mut seen = String::new();
    for from in (1..=text.len() as u64).step_by(20_000) {
        let columns = Some(Columns { from, to: from + 19_999 });
        let report = scene.read(ReadRequest { columns, ..request("a.js") });
        let row = report.text.split_once('|').unwrap().1;
        let row = row.split_once(" bytes+] …").map_or(row, |(_, row)| row);
        seen += row.split_once("… [+").map_or(row, |(row, _)| row);
    }
    assert_eq!(seen, text);
}

#[test]
fn invalid_columns_are_refused() {
    for columns in [Columns { from: 0, to: 5 }, Columns { from: 3, to: 2 }] {
        let request = ReadRequest { columns: Some(columns), ..ReadRequest::default() };
        let workspace = Workspace::new(WorkspaceOptions::unbounded());
        let view = workspace.read_bytes(&request, b"abc", &Cancel::default()).unwrap();
        let error = view.error().unwrap();
        assert_eq!(error.code, Code::InvalidArgument);
        assert!(error.message.starts_with("columns must be "), "{}", error.message);
    }
}

#[test]
fn a_truncated_line_does_not_omit_a_file() {
    let limits = SessionLimits { max_line_chars: 10, ..SessionLimits::default() };
    let scene = Scene::new(&[("a", "x\n"), ("b", "a line of more than ten\n")], limits);
    let requests = [request("a"), request("b")];
    let report = scene.session.read_with(&requests, &Cancel::default()).unwrap();
    assert!(report.text.ends_with("|a line of … [+13 bytes]"), "{}", report.text);
    assert!(report.next.is_empty());
}

/// Every engine reports where the match is: literal search, automata on short and on long lines,
/// and backtracking.
#[test]
fn the_part_around_a_match_is_shown_for_every_engine() {
    let dialect = Dialect::default_dialect();
    for count in [1_000, 100_000, 600_000] {
        let line = format!("{}{NEEDLE}{}", "- ".repeat(count), "+ ".repeat(count));
        for query in [
            literal("needle"),
            Query { case_sensitive: false, ..literal("NEEDLE") },
            pattern(r"needle = \d"),
            pattern(r"needle = \d;$|needle = 1"),
            pattern(r"\bneedle\b"),
            pattern(r"(?<=const )needle"),
        ] {
            let name = format!("{} in {count}", query.search);
            if count == 600_000 && query.search.starts_with("(?<=") {
                // The engine fails at its limit before the match.
                continue;
            }
            for limits in [Limits::default(), Limits { max_lines: None, max_bytes: Some(300) }] {
                let max_line_chars = Some(if limits.max_bytes.is_some() { u64::MAX } else { 100 });
                let search = Some(query.clone());
                let request = ReadRequest { search, max_line_chars, limits, ..request("f") };
                let view = view_of(dialect, line.as_bytes(), &request);
                assert!(view.text.contains(NEEDLE), "{name}: {}", view.text);
                assert!(view.text.len() <= 300, "{name}: {}", view.text.len());
                check_rows(dialect, &line, &view.text);
            }
        }
    }
}

#[test]
fn regression_a_truncated_row_sent_back_as_text_does_not_replace_the_line() {
    let text = format!("{}\nthe mark is … [+12 bytes]\n", minified());
    let scene = Scene::new(&[("a.js", &text)], SessionLimits::default());
    let content = || fs::read_to_string(scene.dir.path().join("a.js")).unwrap();
    let found = scene.read(ReadRequest { search: Some(literal("needle")), ..request("a.js") });
    let whole = scene.read(request("a.js"));
    let rows: Vec<&str> = [&found, &whole].iter().flat_map(|one| one.text.lines()).collect();
    let cut: Vec<&&str> = rows.iter().filter(|row| row.starts_with("1:")).collect();
    assert!(cut[0].contains(" bytes+] …") && cut[1].contains("… [+"), "{cut:?}");

    let patch = |operation: &serde_json::Value| serde_json::json!({ "operations": [operation] });
    let apply = |operation: serde_json::Value| scene.session.apply(patch(&operation)).unwrap();
    let workspace = Workspace::new(scene.session.options().workspace.clone());
    let code = |outcome: Outcome| match outcome {
        Outcome::Rejected(rejected) => (rejected.code, rejected.text),
        Outcome::Applied(applied) => panic!("{}", applied.text),
    };
    for row in cut {
        let (anchor, shown) = row.split_once('|').unwrap();
        // Copied unchanged and with a change; as the whole text and among other rows.
        for one in [shown.to_owned(), shown.replace('a', "b"), format!("new\n{shown}")] {
            let edit = serde_json::json!(
                {"op": "set_line", "path": "a.js", "anchor": anchor, "text": one});
            // A session knows that the line was truncated, even without the mark.
            assert_eq!(code(apply(edit.clone())).0, Code::PartlyShown);
            let (code, text) = code(workspace.apply(patch(&edit)).unwrap());
            assert_eq!(code, Code::InvalidOperation);
            assert!(text.contains("mark of a cut row"), "{text}");
        }
    }
    assert_eq!(content(), text);

    // A line of the file that contains such a mark, and a new text that should contain one.
    let marked = whole.text.lines().nth(1).unwrap().split('|').next().unwrap();
    apply(serde_json::json!(
        {"op": "set_line", "path": "a.js", "anchor": marked, "text": "a mark: … [+9 bytes]"}));
    let first = whole.text.split('|').next().unwrap();
    apply(serde_json::json!({"op": "set_line", "path": "a.js", "anchor": first,
        "text": "x… [+9 bytes]", "verbatim": true}));
    assert_eq!(content(), "x… [+9 bytes]\na mark: … [+9 bytes]\n");
}
