//! Previews of calls that are still arriving.

use hashline_core::host::Value;
use hashline_core::{Cancel, Code};
use hashline_tools::{OmissionReason, Preview, ToolKind};
use serde_json::json;

use crate::support::Project;

fn preview(project: &Project, text: &str) -> Preview {
    let given = Ok(Value::String(text.to_owned()));
    project.tools.preview(ToolKind::Apply, given, false, &Cancel::default())
}

fn new_lines(preview: &Preview) -> Vec<&str> {
    let hunks = preview.files.iter().flat_map(|file| &file.diff.hunks);
    let lines = hunks.flat_map(|hunk| &hunk.lines);
    lines.filter(|line| line.starts_with('+')).map(String::as_str).collect()
}

/// The anchors of `a.txt`, as a read shows them.
fn anchors(project: &Project) -> Vec<String> {
    let shown = project.call("read", &json!({"path": "a.txt"})).text;
    shown.lines().filter_map(|row| Some(row.split_once('|')?.0.to_owned())).collect()
}

#[test]
fn a_preview_of_every_prefix_only_grows() {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\nfour\n")]);
    let at = anchors(&project);
    let text = json!({"path": "a.txt", "operations": [
        {"op": "set_line", "anchor": at[0], "text": "ONE \"é\" \\"},
        {"op": "delete", "anchor": "2zz"},
        {"op": "replace_range", "start_anchor": at[0], "end_anchor": at[2], "text": "no"},
        {"op": "insert_after", "anchor": at[3], "text": "five"},
    ]})
    .to_string();
    let mut before: Vec<String> = Vec::new();
    for (end, _) in text.char_indices().chain([(text.len(), ' ')]) {
        let now = preview(&project, &text[..end]);
        let lines = new_lines(&now);
        assert!(before.iter().all(|line| lines.contains(&line.as_str())), "{}", &text[..end]);
        before = lines.into_iter().map(str::to_owned).collect();
    }
    assert_eq!(before, ["+ONE \"é\" \\", "+five"]);
    let refused = preview(&project, &text).refused;
    let operations: Vec<_> = refused.iter().map(|one| one.operation).collect();
    assert_eq!(operations, [Some(1), Some(2)]);
    assert_eq!(refused[1].code, Code::OverlappingEdits);
    assert_eq!(project.content("a.txt"), "one\ntwo\nthree\nfour\n");
}

#[test]
fn a_preview_of_lines_that_were_not_shown_does_not_show_them() {
    let project = Project::new(&[("a.txt", "one\ntwo\nthree\n")]);
    let at = anchors(&Project::new(&[("a.txt", "one\ntwo\nthree\n")]));
    let call = json!({"operations": [
        {"op": "set_line", "path": "a.txt", "anchor": at[1], "text": "TWO"},
    ]});
    for _ in 0..5 {
        assert_eq!(preview(&project, &call.to_string()).refused.len(), 1);
    }
    let refused = project.call("apply", &call);
    assert!(refused.is_error && !refused.text.contains("in a row"), "{}", refused.text);
    // The refusal has shown the lines.
    assert!(!project.call("apply", &call).is_error);
}

#[test]
fn text_over_the_limit_is_cut_and_other_values_have_an_empty_preview() {
    let project = Project::new(&[("a.txt", "one\n")]);
    let at = anchors(&project);
    let first = json!({"op": "set_line", "path": "a.txt", "anchor": at[0], "text": "ONE"});
    let text = format!("{{\"operations\":[{first},{{\"text\":\"{}", "é".repeat(1 << 20));
    let long = preview(&project, &text);
    assert_eq!(new_lines(&long), ["+ONE"]);
    assert_eq!(long.omitted[0].reason, OmissionReason::ArgumentsTooLarge);
    for text in ["", " ", "null", "[]", "5", "\"", "{", "{\"operations\":", "\\"] {
        let empty = preview(&project, text);
        assert!(empty.files.is_empty() && empty.refused.is_empty(), "{text}");
    }
    let read = Ok(Value::String("{\"path\":\"a.txt\"}".to_owned()));
    let empty = project.tools.preview(ToolKind::Read, read, false, &Cancel::default());
    assert!(empty.files.is_empty() && empty.refused.is_empty());
}
