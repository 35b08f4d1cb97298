//! `hook` and `check`: recorded events of agents, and the answers that the agents accept.

use crate::support::{Project, printed};
use serde_json::{Value, json};

/// A refusal in the format of each agent.
fn denial(agent: &str, reason: &str) -> Value {
    match agent {
        "claude" | "codex" | "qwen" => json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse",
            "permissionDecision": "deny",
            "permissionDecisionReason": reason,
        }}),
        "cursor" => json!({"permission": "deny", "user_message": reason, "agent_message": reason}),
        "gemini" => json!({"decision": "deny", "reason": reason}),
        "opencode" => json!({"status": "deny", "reason": reason}),
        other => panic!("{other}: no agent"),
    }
}

/// The reason in a refusal.
fn reason(answer: &Value) -> &str {
    let deep = answer.pointer("/hookSpecificOutput/permissionDecisionReason");
    let reason = deep.or(answer.get("agent_message")).or(answer.get("reason"));
    reason.and_then(Value::as_str).unwrap_or_default()
}

fn check_recorded(recorded: &str) {
    let recorded: Value = serde_json::from_str(recorded).unwrap();
    let agent = recorded["agent"].as_str().unwrap();
    let project = Project::new(&[]);
    let cases = recorded["cases"].as_array().unwrap();
    assert!(cases.len() >= 3);
    for case in cases {
        let name = &case["name"];
        let mut args = vec!["hook", agent];
        args.extend(case["args"].as_array().unwrap().iter().filter_map(Value::as_str));
        let answer = project.run_with(&args, &case["event"].to_string());
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{agent}: {name}");
        let answer: Value = serde_json::from_str(&answer.stdout).unwrap();
        match case["refused"].as_str() {
            None => assert_eq!(answer, json!({}), "{agent}: {name}"),
            Some(part) => {
                assert_eq!(answer, denial(agent, reason(&answer)), "{agent}: {name}");
                assert!(reason(&answer).contains(part), "{agent}: {name}: {answer}");
                assert!(answer.to_string().contains("hashline"), "{agent}: {name}: {answer}");
            }
        }
    }
}

#[test]
fn claude() {
    check_recorded(include_str!("../hooks/claude.json"));
}

#[test]
fn codex() {
    check_recorded(include_str!("../hooks/codex.json"));
}

#[test]
fn cursor() {
    check_recorded(include_str!("../hooks/cursor.json"));
}

#[test]
fn gemini() {
    check_recorded(include_str!("../hooks/gemini.json"));
}

#[test]
fn qwen() {
    check_recorded(include_str!("../hooks/qwen.json"));
}

#[test]
fn opencode() {
    check_recorded(include_str!("../hooks/opencode.json"));
}

/// A patch in a shell command bypassed `--deny Edit,Write`.
#[test]
fn regression_a_patch_in_a_shell_is_an_edit() {
    let project = Project::new(&[]);
    let patch = "apply_patch <<'EOF'\n*** Begin Patch\n*** Add File: a\n+x\n*** End Patch\nEOF";
    for command in [json!(patch), json!(["bash", "-lc", patch])] {
        let event = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": "/home/u/p",
            "tool_input": {"command": command}});
        let answer =
            project.run_with(&["hook", "codex", "--deny", "Edit,Write"], &event.to_string());
        assert!(answer.stdout.contains("`apply_patch` applies a patch"), "{}", answer.stdout);
    }
}

/// Files outside of the project, and ignored files, are not guarded.
#[test]
fn a_hook_guards_the_files_of_the_project() {
    let project = Project::new(&[(".gitignore", "dist/\n*.snap\n"), ("a.txt", "a\n")]);
    let dir = project.path("").to_str().unwrap().trim_end_matches('/').to_owned();
    let is_denied = |command: &str, args: &[&str]| {
        let event = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": dir,
            "tool_input": {"command": command}});
        let answer = project.run_with(&[&["hook", "claude"], args].concat(), &event.to_string());
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{command}");
        answer.stdout != "{}\n"
    };
    assert!(is_denied("cat a.txt", &[]));
    assert!(is_denied(&format!("cat {dir}/a.txt"), &[]));
    assert!(is_denied("cd sub && cat ../a.txt", &[]));
    for command in
        ["cat /etc/hosts", "cat ../other", "cat dist/a.js", "cat x/a.snap", "cat ~/.npmrc"]
    {
        assert!(!is_denied(command, &[]), "{command}");
    }
    assert!(is_denied("cat /etc/hosts", &["--serves", "/etc"]));
    assert!(!is_denied("cat a.txt", &["--rule", "reader=off"]));
    assert!(!is_denied("cat a.txt", &["--ignored", "*.txt"]));
    assert!(is_denied("rm a.txt", &["--rule", "file-command=on"]));
    let wrong = project.run(&["check", "ls", "--rule", "readers=off"]);
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.stderr.contains("there is no rule \"readers\""), "{}", wrong.stderr);
}

/// `cat link` was refused in favour of `read`, but `read` refused the link, which leads out of the
/// project: the agent could not continue.
#[cfg(unix)]
#[test]
fn regression_the_shell_may_read_files_that_the_tools_refuse() {
    let project = Project::new(&[("p/a.txt", "a\n"), ("p/d/b.txt", "b\n"), ("out/c.txt", "c\n")]);
    std::fs::write(project.path("p/wide.txt"), b"a\0b\0\n\0").unwrap();
    std::fs::File::create(project.path("p/huge.txt")).unwrap().set_len((1 << 30) + 1).unwrap();
    project.shell("mkfifo p/fifo");
    for (target, link) in [("../out/c.txt", "ln"), ("../out", "lnd"), ("a.txt", "own"), ("d", "dd")]
    {
        std::os::unix::fs::symlink(target, project.path("p").join(link)).unwrap();
    }
    let dir = project.path("p").to_str().unwrap().to_owned();
    let is_denied = |command: &str| {
        let event = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": dir,
            "tool_input": {"command": command}});
        project.run_with(&["hook", "claude"], &event.to_string()).stdout != "{}\n"
    };
    for command in [
        "cat ln",
        "cat ./lnd/c.txt",
        "cd lnd && cat c.txt",
        "cat lnd/*.txt",
        "grep -rn c lnd",
        "sed -i s/c/d/ ln",
        "echo x > lnd/new",
        "echo x > lnd/more/new",
        "cat wide.txt",
        "head huge.txt",
        "cat fifo",
    ] {
        assert!(!is_denied(command), "{command}");
    }
    for command in [
        "cat own",
        "cat dd/b.txt",
        "cat missing",
        "echo x > dd/new",
        "echo x > new/new",
        "grep -rn c .",
        "grep -rn c dd",
        "cat ln own",
    ] {
        assert!(is_denied(command), "{command}");
    }
}

/// Claude Code asks for its plan by `Write`, outside the project. The hook denied that by the name
/// of the tool alone and named `apply`, which refuses files outside its root: nothing was left.
#[test]
fn regression_files_that_apply_cannot_edit_are_left_to_the_tools_of_the_agent() {
    let project = Project::new(&[("p/a.txt", "a\n"), ("plans/x.md", "x\n")]);
    let dir = project.path("p").to_str().unwrap().to_owned();
    let plan = project.path("plans/x.md").to_str().unwrap().to_owned();
    let is_denied = |agent: &str, event: Value| {
        let args = ["hook", agent, "--deny", "Edit,Write"];
        project.run_with(&args, &event.to_string()).stdout != "{}\n"
    };
    let write = |path: &str, mode: &str| {
        json!({"hook_event_name": "PreToolUse", "tool_name": "Write", "cwd": dir,
            "permission_mode": mode, "tool_input": {"file_path": path, "content": ""}})
    };
    assert!(is_denied("claude", write("a.txt", "default")));
    assert!(is_denied("claude", write("new/b.txt", "acceptEdits")));
    assert!(is_denied("claude", write(&format!("{dir}/a.txt"), "default")));
    assert!(!is_denied("claude", write(&plan, "default")));
    assert!(!is_denied("claude", write("../plans/x.md", "default")));
    assert!(!is_denied("claude", write("a.txt", "plan")));
    let patch = |paths: &[&str]| {
        let files = paths.iter().map(|path| format!("*** Update File: {path}\n@@\n-a\n+b\n"));
        let patch = format!("*** Begin Patch\n{}*** End Patch", files.collect::<String>());
        json!({"hook_event_name": "PreToolUse", "tool_name": "apply_patch", "cwd": dir,
            "tool_input": {"command": patch}})
    };
    assert!(is_denied("codex", patch(&["a.txt"])));
    assert!(is_denied("codex", patch(&[&plan, "a.txt"])));
    assert!(!is_denied("codex", patch(&[&plan])));
    let gemini = |path: &str| {
        json!({"hook_event_name": "BeforeTool", "tool_name": "write_file", "cwd": dir,
            "tool_input": {"file_path": path, "content": ""}})
    };
    assert!(is_denied("gemini", gemini("a.txt")));
    assert!(!is_denied("gemini", gemini(&plan)));
}

/// Gemini CLI may mean its plan by the name of a new file. A path into a directory, and a link to
/// a file that is missing, passed as well.
#[test]
fn regression_only_the_name_of_a_new_file_may_be_a_plan() {
    let project = Project::new(&[("p/notes.md", "x\n"), ("p/docs/a.txt", "a\n")]);
    #[cfg(unix)]
    std::os::unix::fs::symlink("missing", project.path("p/link.md")).unwrap();
    let dir = project.path("p").to_str().unwrap().to_owned();
    let is_denied = |path: &str| {
        let event = json!({"hook_event_name": "BeforeTool", "tool_name": "write_file", "cwd": dir,
            "tool_input": {"file_path": path, "content": ""}});
        let args = ["hook", "gemini", "--deny", "Edit,Write"];
        project.run_with(&args, &event.to_string()).stdout != "{}\n"
    };
    assert!(!is_denied("plan.md"));
    let below = format!("{dir}/plan.md");
    for path in
        ["notes.md", "docs/plan.md", "./plan.md", "../p/plan.md", "plan.txt", "plan.md/", &below]
    {
        assert!(is_denied(path), "{path}");
    }
    assert!(cfg!(not(unix)) || is_denied("link.md"));
}

/// The roots of the variable counted for commands alone.
#[cfg(unix)]
#[test]
fn regression_the_roots_of_the_variable_count_for_denied_tools() {
    let project = Project::new(&[("p/a.txt", "a\n"), ("q/b.txt", "b\n")]);
    let event = json!({"hook_event_name": "PreToolUse", "tool_name": "Write",
        "cwd": project.path(""), "tool_input": {"file_path": "p/a.txt", "content": ""}});
    let answer_with = |root: &str| {
        let policy = json!({"roots": [project.path(root)]});
        let hook = "\"$hashline\" hook claude --deny Write";
        project.shell(&format!("echo '{event}' | HASHLINE_GUARD='{policy}' {hook}"))
    };
    assert!(answer_with("p").stdout.contains("deny"));
    assert_eq!(answer_with("q"), printed("{}\n"));
}

/// They passed: only strings were checked.
#[test]
fn regression_an_unreadable_command_is_refused() {
    let project = Project::new(&[]);
    let event = |agent: &str, command: Value| match agent {
        "cursor" => json!({"hook_event_name": "beforeShellExecution", "command": command}),
        "gemini" => json!({"hook_event_name": "BeforeTool", "tool_name": "run_shell_command",
            "tool_input": {"command": command}}),
        "qwen" => json!({"hook_event_name": "PreToolUse", "tool_name": "run_shell_command",
            "tool_input": {"command": command}}),
        "opencode" => json!({"tool": "bash", "args": {"command": command}}),
        _ => json!({"hook_event_name": "PreToolUse", "tool_name": "Bash",
            "tool_input": {"command": command}}),
    };
    let answer_to = |agent: &str, event: &Value| -> Value {
        let answer = project.run_with(&["hook", agent], &event.to_string());
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{event}");
        serde_json::from_str(&answer.stdout).unwrap()
    };
    for agent in ["claude", "codex", "cursor", "gemini", "opencode", "qwen"] {
        for command in [json!(5), json!(null), json!([]), json!(["ls", 5]), json!({"a": "ls"})] {
            let answer = answer_to(agent, &event(agent, command.clone()));
            assert_eq!(answer, denial(agent, reason(&answer)), "{agent}: {command}");
            assert!(
                reason(&answer).contains("Pass the command as one string"),
                "{agent}: {answer}"
            );
        }
        // A list of words is a command line, too.
        let words = answer_to(agent, &event(agent, json!(["bash", "-lc", "cat a"])));
        assert!(reason(&words).contains("`cat` reads `a`"), "{agent}: {words}");
        assert_eq!(
            answer_to(agent, &event(agent, json!(["git", "commit", "-m", "it's"]))),
            json!({})
        );
    }
    for input in [json!(null), json!("cat a"), json!(["cat a"])] {
        let event =
            json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": input});
        let answer = answer_to("claude", &event);
        assert_eq!(answer, denial("claude", reason(&answer)), "{event}");
    }
    // Other tools pass with any input.
    let other = json!({"hook_event_name": "PreToolUse", "tool_name": "Task", "tool_input": null});
    assert_eq!(answer_to("claude", &other), json!({}));
}

#[test]
fn regression_a_command_without_a_tool_name_is_a_shell_call() {
    let project = Project::new(&[]);
    let input = json!({"command": "cat a"});
    let before = |agent: &str| match agent {
        "gemini" => json!({"hook_event_name": "BeforeTool", "tool_input": input}),
        "cursor" => json!({"hook_event_name": "preToolUse", "tool_input": input}),
        "opencode" => json!({"args": input}),
        _ => json!({"hook_event_name": "PreToolUse", "tool_input": input}),
    };
    let answer_to = |agent: &str, event: &Value| -> Value {
        let answer = project.run_with(&["hook", agent], &event.to_string());
        assert_eq!((answer.code, answer.stderr.as_str()), (Some(0), ""), "{event}");
        serde_json::from_str(&answer.stdout).unwrap()
    };
    for agent in ["claude", "codex", "cursor", "gemini", "opencode", "qwen"] {
        for tool in [None, Some(json!(5)), Some(json!(null)), Some(json!(""))] {
            let mut event = before(agent);
            if let Some(tool) = tool {
                let key = if agent == "opencode" { "tool" } else { "tool_name" };
                event[key] = tool;
            }
            let answer = answer_to(agent, &event);
            assert_eq!(answer, denial(agent, reason(&answer)), "{agent}: {event}");
            assert!(reason(&answer).contains("`cat` reads `a`"), "{agent}: {answer}");
        }
    }
    assert_ne!(answer_to("claude", &json!({"tool_name": "Bash", "tool_input": input})), json!({}));
    // Events without a command, or after a call, pass.
    let bare = json!({"hook_event_name": "PreToolUse", "tool_input": {"path": "a"}});
    let over = json!({"hook_event_name": "PostToolUse", "tool_input": input});
    for event in [bare, over, json!({}), json!([])] {
        assert_eq!(answer_to("claude", &event), json!({}), "{event}");
    }
}

#[test]
fn an_unreadable_event_is_an_error() {
    let project = Project::new(&[]);
    let answer = project.run_with(&["hook", "claude"], "{");
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""));
    assert!(answer.stderr.starts_with("hashline: the event is not JSON: "), "{}", answer.stderr);
}

#[test]
fn unparsed_commands_pass_unless_they_count_as_writes() {
    let project = Project::new(&[]);
    let event = json!({"tool": "bash", "args": {"command": "echo ( ("}}).to_string();
    assert_eq!(project.run_with(&["hook", "opencode"], &event), printed("{}\n"));
    let strict = project.run_with(&["hook", "opencode", "--unparsed", "write"], &event);
    let answer: Value = serde_json::from_str(&strict.stdout).unwrap();
    assert_eq!(answer["status"], "deny");
}

#[test]
fn check_prints_verdicts() {
    let project = Project::new(&[]);
    assert_eq!(project.run(&["check", "git log | head"]), printed("allow\n"));
    let read = project.run(&["check", "ls; cat a"]);
    assert_eq!((read.code, read.stderr.as_str()), (Some(2), ""));
    assert!(read.stdout.starts_with("read\nread: cat a: "), "{}", read.stdout);
    assert!(read.stdout.contains("`hashline read a`."), "{}", read.stdout);
    let piped = project.run_with(&["check", "-", "--json"], "echo x > a");
    let piped: Value = serde_json::from_str(&piped.stdout).unwrap();
    assert_eq!(
        (&piped["verdict"], &piped["findings"][0]["kind"]),
        (&json!("write"), &json!("write"))
    );
    assert_eq!(project.run(&["check", "cat a", "--allow-reads"]), printed("allow\n"));
    assert_eq!(project.run(&["check", "echo x > /tmp/a", "--writable", "/tmp"]).code, Some(0));
    assert_eq!(project.run(&["check", "( ("]).stdout, "unparsed\n");
}

#[test]
fn regression_a_policy_with_a_duplicate_key_is_refused() {
    let project = Project::new(&[]);
    let event = json!({"tool_name": "Bash", "tool_input": {"command": "cat a"}}).to_string();
    let policy = r#"{"rules": {"reader": true, "reader": false}}"#;
    let script = format!("echo '{event}' | HASHLINE_GUARD='{policy}' \"$hashline\" hook claude");
    let answer = project.shell(&script);
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{answer:?}");
    assert!(answer.stderr.contains("\"reader\""), "{}", answer.stderr);
}

/// The hook waited forever: for a writer of the FIFO, or for a line from the terminal.
#[cfg(unix)]
#[test]
fn regression_an_ignore_file_must_be_a_regular_file() {
    let project = Project::new(&[("a.txt", "a\n")]);
    let dir = project.path("").to_str().unwrap().to_owned();
    let event = json!({"hook_event_name": "PreToolUse", "tool_name": "Bash", "cwd": dir,
        "tool_input": {"command": "cat a.txt"}});
    for script in ["mkfifo .gitignore", "ln -s /dev/zero .gitignore", "ln -s /dev/tty .gitignore"] {
        project.shell(&format!("rm -f .gitignore; {script}"));
        let answer = project.run_with(&["hook", "claude"], &event.to_string());
        assert_eq!(answer.code, Some(0), "{script}: {answer:?}");
        assert!(answer.stdout.contains("deny"), "{script}: {answer:?}");
    }
}
