//! `hook --annotate`: the lines that the output of a shell command names, in the session of the
//! agent's server.

use std::process::Command;

use crate::mcp::Client;
use crate::support::{Answer, Project, printed};
use serde_json::{Value, json};

const LINES: &str = "line 1\nline 2\nline 3\n";

/// The rows of `a.txt:2`.
const ADDED: &str = "Lines that this output names, with their anchors:\n--- a.txt ---\n2hv|line 2";

/// A project whose agent names its conversation `conversation`.
fn project() -> Project {
    Project::new(&[("a.txt", LINES), ("sub/a.txt", "sub 1\nsub 2\n")])
}

/// The server of Claude Code, as its plug-in starts it.
fn server(project: &Project, args: &[&str]) -> Client {
    let mut command = project.command(&["mcp"]);
    command.args(args).env("CLAUDE_CODE_SESSION_ID", "conversation");
    client(command)
}

fn client(command: Command) -> Client {
    let mut client = Client::of(command);
    client.shake_hands(&json!({}));
    client
}

const OF_AGENT: &[&str] = &["--session-variable", "CLAUDE_CODE_SESSION_ID"];

/// What Claude Code sends after a shell call.
fn event(project: &Project, output: &str) -> Value {
    json!({
        "session_id": "conversation", "transcript_path": "/t", "cwd": project.path(""),
        "permission_mode": "default", "hook_event_name": "PostToolUse", "tool_name": "Bash",
        "tool_input": {"command": "make", "description": "Builds"}, "tool_use_id": "t1",
        "tool_response": {"stdout": output, "stderr": "", "interrupted": false, "isImage": false},
    })
}

fn hook(project: &Project, event: &Value) -> Answer {
    project.run_with(&["hook", "claude", "--annotate"], &event.to_string())
}

/// The text that a hook adds.
fn added(answer: &Answer) -> String {
    assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{answer:?}");
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    answer["hookSpecificOutput"]["additionalContext"].as_str().unwrap().to_owned()
}

#[test]
fn the_lines_that_a_command_names_can_be_edited_at_once() {
    let project = project();
    let mut client = server(&project, OF_AGENT);
    let answer = hook(&project, &event(&project, "a.txt:2:1: wrong\n"));
    assert_eq!(added(&answer), ADDED);
    let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(answer["hookSpecificOutput"]["hookEventName"], "PostToolUse");
    let done = client.set_line("a.txt", "2hv", "two");
    assert!(!done.is_error, "{}", done.text);
    assert_eq!(project.content("a.txt"), "line 1\ntwo\nline 3\n");
    // Lines that were not named were not shown.
    assert!(client.set_line("a.txt", "3tr", "three").text.contains("never shown"));
}

#[test]
fn claude_reports_the_output_of_a_failed_command_as_an_error() {
    let project = project();
    let mut client = server(&project, OF_AGENT);
    let mut failed = event(&project, "");
    failed["hook_event_name"] = "PostToolUseFailure".into();
    failed.as_object_mut().unwrap().remove("tool_response");
    failed["error"] = "Exit code 2\na.txt:2: wrong".into();
    let answer = hook(&project, &failed);
    assert_eq!(added(&answer), ADDED);
    assert!(answer.stdout.contains("\"PostToolUseFailure\""), "{}", answer.stdout);
    assert!(!client.set_line("a.txt", "2hv", "two").is_error);
}

#[test]
fn a_file_that_is_newer_than_the_command_is_named() {
    let project = project();
    let _client = server(&project, OF_AGENT);
    let mut event = event(&project, "a.txt:2: wrong\n");
    event["duration_ms"] = 3_600_000.into();
    let note = "(a.txt changed after the command started: its lines are shown as they are now.)";
    assert_eq!(added(&hook(&project, &event)), format!("{ADDED}\n{note}"));
    event["duration_ms"] = u64::MAX.into();
    assert_eq!(added(&hook(&project, &event)), ADDED);
}

#[test]
fn codex_sends_a_text_and_names_no_session() {
    let project = project();
    let mut client = server(&project, &["--session", "s"]);
    let event = json!({
        "session_id": "0199", "turn_id": "1", "transcript_path": null, "cwd": project.path(""),
        "hook_event_name": "PostToolUse", "model": "gpt-5", "permission_mode": "default",
        "tool_use_id": "call_1", "tool_name": "Bash", "tool_input": {"command": "cd sub && make"},
        "tool_response": "Exit code: 2\nOutput:\na.txt:2: wrong\n",
    });
    let hook = |session: &[&str]| {
        let args = [&["hook", "codex", "--annotate"], session].concat();
        project.run_with(&args, &event.to_string())
    };
    assert_eq!(hook(&[]), printed(""));
    let text = added(&hook(&["--session", "s"]));
    let row = text.lines().last().unwrap();
    assert!(text.contains("--- sub/a.txt ---") && row.ends_with("|sub 2"), "{text}");
    let done = client.set_line("sub/a.txt", row.split('|').next().unwrap(), "two");
    assert!(!done.is_error, "{}", done.text);
}

#[test]
fn only_the_lines_of_the_session_that_the_server_has_open_are_added() {
    let project = project();
    let event = event(&project, "a.txt:2:1: wrong\n");
    // Without a server, and with one that has another session, an edit would be refused.
    assert_eq!(hook(&project, &event), printed(""));
    let without = server(&project, &[]);
    assert_eq!(hook(&project, &event), printed(""));
    let named = server(&project, &["--session", "other"]);
    assert_eq!(hook(&project, &event), printed(""));
    // A name takes precedence, and an empty one means no session.
    let unnamed = server(&project, &[OF_AGENT, &["--session", ""]].concat());
    assert_eq!(hook(&project, &event), printed(""));
    let mut command = project.command(&[&["mcp"], OF_AGENT].concat());
    command.env_remove("CLAUDE_CODE_SESSION_ID");
    let unset = client(command);
    assert_eq!(hook(&project, &event), printed(""));
    for client in [without, named, unnamed, unset] {
        assert_eq!(client.leave().0, Some(0));
    }
}

#[test]
fn an_output_that_names_nothing_new_is_left_alone() {
    let project = project();
    let _client = server(&project, OF_AGENT);
    let shown = project.run(&["read", "a.txt", "--dialect", "lean"]).stdout;
    for output in [
        "",
        "all tests passed\n",
        "none.txt:2: x\n",
        "a.txt:999: x\n",
        &format!("{shown}a.txt:2: x\n"),
        // A FIFO or a device is not opened.
        "fifo:1: x\n/dev/zero:1: x\n",
    ] {
        #[cfg(unix)]
        project.shell("test -p fifo || mkfifo fifo");
        assert_eq!(hook(&project, &event(&project, output)), printed(""), "{output}");
    }
}

#[test]
fn long_outputs_are_bounded() {
    let project = project();
    let _client = server(&project, OF_AGENT);
    let many: String =
        (1..=2_000).map(|line| format!("line {line} {}\n", "x".repeat(80))).collect();
    project.write("many.txt", many.as_bytes());
    project.write("wide.txt", format!("{}\n", "w".repeat(1 << 20)).as_bytes());
    let places: String = (1..=2_000).map(|line| format!("many.txt:{line}: x\n")).collect();
    let filler = "filler\n".repeat(1 << 20);
    let text = added(&hook(&project, &event(&project, &format!("{places}{filler}"))));
    assert!(text.len() < 8_000 && text.lines().count() < 70, "{}", text.len());
    assert!(text.ends_with(" more places of the output are not shown.)"), "{text}");
    let text = added(&hook(&project, &event(&project, "wide.txt:1: x\na.txt:2: x\n")));
    assert!(text.len() < 8_000, "{}", text.len());
}

#[test]
fn an_event_that_cannot_be_used_is_ignored() {
    let project = project();
    let _client = server(&project, OF_AGENT);
    let good = event(&project, "a.txt:2:1: wrong\n");
    assert_eq!(added(&hook(&project, &good)), ADDED);
    let with = |key: &str, value: Value| {
        let mut event = good.clone();
        event[key] = value;
        event
    };
    for event in [
        json!(null),
        json!([]),
        with("hook_event_name", "PreToolUse".into()),
        with("hook_event_name", json!(5)),
        with("tool_name", "Read".into()),
        with("tool_response", json!(null)),
        with("tool_response", json!({"stdout": 5})),
        with("session_id", json!(null)),
        with("session_id", "".into()),
        with("session_id", "x".repeat(500).into()),
        with("session_id", "a\nb".into()),
        with("cwd", "/none/such".into()),
    ] {
        assert_eq!(hook(&project, &event), printed(""), "{event}");
    }
    for text in ["", "{", "{\"a\":1,\"a\":2}", "\u{0}"] {
        assert_eq!(project.run_with(&["hook", "claude", "--annotate"], text), printed(""));
    }
    for agent in ["cursor", "gemini", "opencode"] {
        let answer = project.run_with(&["hook", agent, "--annotate"], &good.to_string());
        assert_eq!(answer, printed(""), "{agent}");
    }
    // Without the option, the event gets the answer that leaves everything to the agent.
    assert_eq!(project.run_with(&["hook", "claude"], &good.to_string()), printed("{}\n"));
}

/// The variables of the guard and of annotations.
#[cfg(unix)]
#[test]
fn annotations_are_on_where_the_guard_is() {
    let project = project();
    let _client = server(&project, OF_AGENT);
    let event = event(&project, "a.txt:2:1: wrong\n");
    for (variables, is_on) in [
        ("", true),
        ("HASHLINE_GUARD=off", false),
        ("HASHLINE_ANNOTATE=off", false),
        ("HASHLINE_GUARD=off HASHLINE_ANNOTATE=on", true),
    ] {
        let script =
            format!("printf %s '{event}' | {variables} \"$hashline\" hook claude --annotate");
        let answer = project.shell(&script);
        assert_eq!(!answer.stdout.is_empty(), is_on, "{variables}: {answer:?}");
    }
}

/// Lines that the server cannot learn are not added.
#[cfg(unix)]
#[test]
fn a_store_that_cannot_be_written_adds_nothing() {
    let project = project();
    let _client = server(&project, OF_AGENT);
    let event = event(&project, "a.txt:2:1: wrong\n");
    let made = project.shell("cd \"$XDG_STATE_HOME\" && find . -type d");
    let store = made.stdout.lines().find(|line| line.contains("store-")).unwrap_or_else(|| {
        panic!("{made:?}");
    });
    project.shell(&format!("cd \"$XDG_STATE_HOME\" && rm -r '{store}' && : > '{store}'"));
    assert_eq!(hook(&project, &event), printed(""));
}
