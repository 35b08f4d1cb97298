//! `hook --ask-diff`: the question before an edit of the agent's server.

use crate::mcp::Client;
use crate::support::Project;
use serde_json::{Value, json};

const APPLY: &str = "mcp__hashline__apply";

/// A project, its server, and the anchor of line 2.
fn served() -> (Project, Client, String) {
    let project = Project::new(&[("a.txt", "one\ntwo\n")]);
    let command = project.command(&["mcp", "--session", "conversation"]);
    let mut client = Client::of(command);
    client.shake_hands(&json!({}));
    let shown = client.read("a.txt").text;
    let anchor = shown.lines().nth(1).unwrap().split('|').next().unwrap().to_owned();
    (project, client, anchor)
}

/// The decision and the reason of the hook; `None` if it leaves the call to the agent.
fn asked(project: &Project, anchor: &str, text: &str, mode: &str) -> Option<(String, String)> {
    let answer = hook(project, &["--ask-diff"], anchor, text, mode);
    if answer == json!({}) {
        return None;
    }
    let field = |name: &str| answer["hookSpecificOutput"][name].as_str().unwrap().to_owned();
    Some((field("permissionDecision"), field("permissionDecisionReason")))
}

/// The answer of the hook.
fn hook(project: &Project, options: &[&str], anchor: &str, text: &str, mode: &str) -> Value {
    let operation = json!({"op": "set_line", "path": "a.txt", "anchor": anchor, "text": text});
    let event = json!({
        "session_id": "conversation", "cwd": project.path(""), "permission_mode": mode,
        "hook_event_name": "PreToolUse", "tool_name": APPLY,
        "tool_input": {"operations": [operation]},
    });
    let mut command = project.command(&["hook", "claude", "--edit-tool", APPLY]);
    command
        .args(options)
        .env("CLAUDE_CONFIG_DIR", project.path("claude"))
        .env_remove("CLAUDE_PROJECT_DIR");
    let answer = crate::support::answer_with(command, &event.to_string());
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    serde_json::from_str(&answer.stdout).unwrap()
}

#[test]
fn the_question_is_the_diff() {
    let (project, mut client, anchor) = served();
    let (decision, reason) = asked(&project, &anchor, "TWO\u{1b}[2J", "default").unwrap();
    assert_eq!(decision, "ask");
    assert!(reason.starts_with("a.txt +1 -1\n--- a/a.txt\n"), "{reason}");
    assert!(reason.ends_with("\n one\n-two\n+TWO^[[2J"), "{reason}");
    assert_eq!(project.content("a.txt"), "one\ntwo\n");
    assert!(!client.set_line("a.txt", &anchor, "TWO").is_error);
}

#[test]
fn the_diff_is_shown_in_any_mode() {
    let (project, mut client, anchor) = served();
    let both = &["--show-diff", "--ask-diff"][..];
    for (options, mode, is_asked) in [
        (&["--show-diff"][..], "default", false),
        (&["--show-diff"], "acceptEdits", false),
        (both, "default", true),
        (both, "acceptEdits", false),
    ] {
        let answer = hook(&project, options, &anchor, "TWO\u{1b}[2J", mode);
        let shown = answer["systemMessage"].as_str().unwrap();
        assert!(shown.starts_with("a.txt +1 -1\n") && shown.ends_with("+TWO^[[2J"), "{shown}");
        assert_eq!(answer.get("hookSpecificOutput").is_some(), is_asked, "{options:?} {mode}");
    }
    // What would be refused is left to the server, and counts as shown only by its answer.
    project.write("a.txt", b"one\ntwo and three\n");
    assert_eq!(hook(&project, &["--show-diff"], &anchor, "TWO", "default"), json!({}));
    let refused = client.set_line("a.txt", &anchor, "TWO");
    assert!(refused.is_error && refused.text.contains("|two and three"), "{}", refused.text);
}

#[test]
fn a_stale_anchor_is_refused_with_the_lines_which_can_then_be_edited() {
    let (project, mut client, anchor) = served();
    project.write("a.txt", b"one\ntwo and three\n");
    for mode in ["default", "bypassPermissions"] {
        let (decision, reason) = asked(&project, &anchor, "TWO", mode).unwrap();
        assert_eq!(decision, "deny");
        assert!(reason.starts_with("Nothing was written.\n"), "{reason}");
        let row = reason.lines().find(|line| line.ends_with("|two and three")).unwrap();
        let fresh = row.split('|').next().unwrap();
        assert_eq!(
            asked(&project, fresh, "TWO", mode).map(|(decision, _)| decision).as_deref(),
            (mode == "default").then_some("ask")
        );
        if mode == "bypassPermissions" {
            assert!(!client.set_line("a.txt", fresh, "TWO").is_error);
        }
    }
}

#[test]
fn what_the_agent_would_not_ask_is_not_asked() {
    let (project, _client, anchor) = served();
    for mode in ["plan", "acceptEdits", "bypassPermissions", "auto", "dontAsk"] {
        assert_eq!(asked(&project, &anchor, "TWO", mode), None, "{mode}");
    }
    for path in ["claude/settings.json", ".claude/settings.json", ".claude/settings.local.json"] {
        for (rule, is_allowed) in [
            (APPLY, true),
            ("mcp__hashline", true),
            ("mcp__hashline__*", true),
            ("mcp__hash", false),
            ("mcp__hashline__apply_json", false),
            ("Edit", false),
        ] {
            let settings = json!({"permissions": {"allow": [rule, 1], "deny": []}});
            project.write(path, settings.to_string().as_bytes());
            let is_asked = asked(&project, &anchor, "TWO", "default").is_some();
            assert_eq!(is_asked, !is_allowed, "{path}: {rule}");
        }
        project.write(path, b"{");
        assert!(asked(&project, &anchor, "TWO", "default").is_some());
    }
}

#[test]
fn without_the_session_of_a_server_the_call_is_left_to_the_agent() {
    let project = Project::new(&[("a.txt", "one\ntwo\n")]);
    assert_eq!(asked(&project, "2aa", "TWO", "default"), None);
}
