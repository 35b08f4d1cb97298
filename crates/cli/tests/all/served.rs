//! `hook --if-served`: nothing is refused before the agent has the tools of its server.

use std::fs;
use std::path::PathBuf;

use crate::mcp::Client;
use crate::support::{Answer, Project, printed};
use serde_json::json;

fn project() -> Project {
    Project::new(&[("a.txt", "one\n")])
}

/// The server of Claude Code, as its plug-in starts it, before it is asked for its tools.
fn server(project: &Project) -> Client {
    let mut command = project.command(&["mcp", "--session-variable", "CLAUDE_CODE_SESSION_ID"]);
    command.env("CLAUDE_CODE_SESSION_ID", "conversation-1");
    let mut client = Client::of(command);
    client.shake_hands(&json!({}));
    client
}

fn hook(project: &Project, conversation: &str, tool: &str) -> Answer {
    let event = json!({
        "session_id": conversation, "cwd": project.path(""), "permission_mode": "default",
        "hook_event_name": "PreToolUse", "tool_name": tool,
        "tool_input": {"file_path": project.path("a.txt"), "command": "cat a.txt"},
    });
    project.run_with(&["hook", "claude", "--if-served", "--deny=Edit"], &event.to_string())
}

fn is_denied(answer: &Answer) -> bool {
    assert_eq!(answer.code, Some(0), "{answer:?}");
    let is_denied = answer.stdout.contains("\"deny\"");
    assert!(is_denied || *answer == printed("{}\n"), "{answer:?}");
    is_denied
}

#[test]
fn regression_nothing_is_refused_before_the_server_has_listed_its_tools() {
    let project = project();
    for tool in ["Edit", "Bash"] {
        assert!(!is_denied(&hook(&project, "conversation-1", tool)), "no server");
    }
    let mut client = server(&project);
    assert!(!is_denied(&hook(&project, "conversation-1", "Edit")), "no tools yet");
    client.request("tools/list", &json!({}));
    for tool in ["Edit", "Bash"] {
        assert!(is_denied(&hook(&project, "conversation-1", tool)));
    }
    client.leave();
    assert!(!is_denied(&hook(&project, "conversation-1", "Edit")), "the server has ended");
}

/// The directory of the files of servers.
fn servers(project: &Project) -> PathBuf {
    project.state().join("hashline/servers")
}

/// The files of the servers.
fn files(project: &Project) -> Vec<PathBuf> {
    fs::read_dir(servers(project)).unwrap().map(|entry| entry.unwrap().path()).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn another_conversation_of_the_same_process_is_served() {
    let project = project();
    let mut client = server(&project);
    client.request("tools/list", &json!({}));
    assert_eq!(files(&project).len(), 2);
    assert!(is_denied(&hook(&project, "conversation-2", "Edit")));
    let of_process = |path: &&PathBuf| path.to_string_lossy().contains("process-");
    fs::remove_file(files(&project).iter().find(of_process).unwrap()).unwrap();
    assert!(!is_denied(&hook(&project, "conversation-2", "Edit")));
    assert!(is_denied(&hook(&project, "conversation-1", "Edit")));
    // No server announces such a name.
    assert!(is_denied(&hook(&project, "../a", "Edit")));
    client.leave();
    assert_eq!(files(&project), Vec::<PathBuf>::new());
}

#[test]
fn a_file_of_a_server_that_was_killed_means_nothing() {
    let project = project();
    let directory = servers(&project);
    fs::create_dir_all(&directory).unwrap();
    fs::write(directory.join("conversation-conversation-1"), "").unwrap();
    assert!(!is_denied(&hook(&project, "conversation-1", "Edit")));
}
