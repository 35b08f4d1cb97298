//! `setup` of every agent: the files that it writes, permissions, hooks of the user, and `--list`.

#[cfg(unix)]
use std::fs;
#[cfg(target_os = "linux")]
use std::path::Path;
use std::process::Stdio;

use serde_json::{Value, json};

use crate::setup::{SETTINGS, command, run, set_up, value};
use crate::support::{Answer, Project, answer, exists};

/// The agents whose configuration is the same with and without plug-ins.
#[cfg(target_os = "linux")]
const AGENTS: [&str; 20] = [
    "claude", "codex", "cursor", "gemini", "vscode", "cline", "roo", "kilo", "windsurf", "zed",
    "goose", "crush", "amp", "continue", "kiro", "qwen", "copilot", "junie", "droid", "warp",
];

/// The files that a setup has written, each after a line with its path.
#[cfg(target_os = "linux")]
fn written(project: &Project, files: &[&str]) -> String {
    let program = env!("CARGO_BIN_EXE_hashline");
    let directory = fs::canonicalize(project.path("")).unwrap().display().to_string();
    let file = |path: &&str| format!("--- {path}\n{}", project.content(path));
    let all: String = files.iter().map(file).collect();
    all.replace(program, "PROGRAM").replace(&directory, "PROJECT")
}

/// The paths in a diff of new files.
#[cfg(target_os = "linux")]
fn new_files<'d>(project: &Project, diff: &'d str) -> Vec<&'d str> {
    let root = format!("+++ b/{}", project.path("").display());
    let path = |line: &'d str| Some(line.strip_prefix(&root)?.trim_start_matches('/'));
    diff.lines().filter_map(path).collect()
}

#[cfg(target_os = "linux")]
#[test]
fn each_agent_gets_the_files_that_its_page_documents() {
    let mut all = String::new();
    for agent in AGENTS {
        for scope in ["--user", "--project"] {
            let project = Project::new(&[]);
            all += &format!("=== hashline setup {agent} {scope}\n");
            let done = run(&project, &["setup", agent, scope]);
            if done.code == Some(0) {
                let files = new_files(&project, &done.stdout);
                assert!(!files.is_empty(), "{done:?}");
                all += &written(&project, &files);
                set_up(&project, &[agent, scope, "--remove"]);
                assert!(files.iter().all(|file| !exists(&project.path(file))), "{agent}");
            } else {
                all += &done.stderr;
            }
        }
    }
    // To accept a change, copy the file that is named here.
    let seen = Path::new(env!("CARGO_TARGET_TMPDIR")).join("setup-agents.txt");
    if all != include_str!("../setup/agents.txt") {
        fs::write(&seen, &all).unwrap();
        panic!("{} is not crates/cli/tests/setup/agents.txt", seen.display());
    }
}

/// An agent with its file, the key of its servers, and what allows the edit tool: a place and a value.
type AgentFile = (&'static str, &'static str, &'static str, Option<(&'static str, &'static str)>);

const FILES: [AgentFile; 15] = [
    ("vscode", ".config/Code/User/mcp.json", "/servers", None),
    (
        "cline",
        ".cline/data/settings/cline_mcp_settings.json",
        "/mcpServers",
        Some(("/mcpServers/hashline/autoApprove", r#"["read","search","apply"]"#)),
    ),
    (
        "roo",
        ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json",
        "/mcpServers",
        Some(("/mcpServers/hashline/alwaysAllow", r#"["read","search","apply"]"#)),
    ),
    ("kilo", ".config/kilo/kilo.json", "/mcp", Some(("/permission/hashline_apply", r#""allow""#))),
    ("windsurf", ".codeium/windsurf/mcp_config.json", "/mcpServers", None),
    (
        "zed",
        ".config/zed/settings.json",
        "/context_servers",
        Some(("/agent/tool_permissions/tools/mcp:hashline:apply/default", r#""allow""#)),
    ),
    (
        "crush",
        ".config/crush/crush.json",
        "/mcp",
        Some(("/permissions/allowed_tools", r#"["mcp_hashline_apply"]"#)),
    ),
    ("amp", ".config/amp/settings.jsonc", "/amp.mcpServers", None),
    ("continue", ".continue/mcpServers/hashline.json", "/mcpServers", None),
    (
        "kiro",
        ".kiro/settings/mcp.json",
        "/mcpServers",
        Some(("/mcpServers/hashline/autoApprove", r#"["read","search","apply"]"#)),
    ),
    (
        "qwen",
        ".qwen/settings.json",
        "/mcpServers",
        Some(("/permissions/allow/2", r#""mcp__hashline__apply""#)),
    ),
    ("copilot", ".copilot/mcp-config.json", "/mcpServers", None),
    ("junie", ".junie/mcp/mcp.json", "/mcpServers", None),
    ("droid", ".factory/mcp.json", "/mcpServers", None),
    ("warp", ".warp/.mcp.json", "/mcpServers", None),
];

/// A JSON file without its comments.
fn without_comments(text: &str) -> Value {
    let lines: Vec<_> = text.lines().map(|line| line.split(" //").next().unwrap()).collect();
    serde_json::from_str(&lines.join("\n")).unwrap()
}

#[test]
fn comments_and_other_servers_of_every_agent_stay() {
    for (agent, file, keys, allowed) in FILES {
        if !cfg!(target_os = "linux") && file.starts_with(".config") {
            continue;
        }
        let key = keys.trim_start_matches('/');
        let before = format!(
            "{{\n\t\"a\": [1,2], // mine\n\t\"{key}\": {{ // these\n\t\t\"other\": {{\"command\": \"x\"}}\n\t}}\n}}\n"
        );
        let project = Project::new(&[(file, &before)]);
        set_up(&project, &[agent]);
        let after = project.content(file);
        let kept = before.trim_end().trim_end_matches(['}', '\n', '\t']);
        assert!(after.starts_with(kept), "{agent}: {after}");
        let entry = without_comments(&after).pointer(&format!("{keys}/hashline")).cloned();
        assert!(entry.unwrap().to_string().contains("mcp"), "{agent}: {after}");

        let allowing = run(&project, &["setup", agent, "--allow"]);
        match allowed {
            None => {
                assert_eq!(allowing.code, Some(2), "{agent}: {allowing:?}");
                assert!(allowing.stderr.contains("Omit --allow"), "{agent}: {allowing:?}");
            }
            Some((at, expected)) => {
                assert_eq!(allowing.code, Some(0), "{agent}: {allowing:?}");
                let after = without_comments(&project.content(file));
                let found = after.pointer(at).map(Value::to_string);
                assert_eq!(found.as_deref(), Some(expected), "{agent}: {after}");
                // A later run does not forbid it again, and has nothing to say about it.
                let later = set_up(&project, &[agent]);
                assert!(later.stderr.contains("no file was changed"), "{agent}: {later:?}");
                assert!(!later.stderr.contains("--allow"), "{agent}: {later:?}");
            }
        }
        set_up(&project, &[agent, "--remove"]);
        assert_eq!(project.content(file), before, "{agent}");
    }
}

#[test]
fn the_permission_that_stops_the_questions_is_named_and_set_on_request() {
    for (agent, file, named, at) in [
        (
            "claude",
            SETTINGS,
            "sets permissions → allow to mcp__hashline__apply",
            "/permissions/allow/2",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            "sets mcpServers → hashline → trust to true",
            "/mcpServers/hashline/trust",
        ),
    ] {
        let project = Project::new(&[]);
        let done = set_up(&project, &[agent]);
        assert!(done.stderr.contains(named), "{done:?}");
        assert_eq!(value(&project, file).pointer(at), None);
        let allowing = set_up(&project, &[agent, "--allow"]);
        assert!(value(&project, file).pointer(at).is_some(), "{}", project.content(file));
        assert!(!allowing.stderr.contains("--allow"), "{allowing:?}");
        set_up(&project, &[agent, "--remove"]);
        assert!(!exists(&project.path(file)), "{agent}");
    }
    let codex = Project::new(&[]);
    set_up(&codex, &["codex", "--allow"]);
    let config = codex.content(".codex/config.toml");
    assert!(
        config.contains("args = [\"mcp\"]\ndefault_tools_approval_mode = \"approve\"\n"),
        "{config}"
    );
    for agent in ["opencode", "pi"] {
        let refused = run(&codex, &["setup", agent, "--allow"]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains("needs no permission"), "{refused:?}");
    }
}

#[test]
fn hooks_of_the_user_on_edits_are_named_and_extended_on_request() {
    let claude = r#"{
  "hooks": {
    "PostToolUse": [
      // format
      {"matcher": "Edit|Write", "hooks": [{"type": "command", "command": "prettier"}]},
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "log"}]},
      {"matcher": "^(Write)$", "hooks": [{"type": "command", "command": "lint"}]},
      {"matcher": "NotebookEdit", "hooks": [{"type": "command", "command": "nb"}]}
    ]
  }
}
"#;
    let gemini = r#"{"hooks": {"AfterTool": [{"matcher": "replace|write_file", "hooks": [{"type": "command", "command": "prettier"}]}]}}
"#;
    let qwen = r#"{"hooks": {"PostToolUse": [{"matcher": "^(edit|write_file)$", "hooks": [{"type": "command", "command": "prettier"}]}]}}
"#;
    let codex = "[[hooks.PostToolUse]]\nmatcher = \"apply_patch\" # format\n\n[[hooks.PostToolUse.hooks]]\ntype = \"command\"\ncommand = \"prettier\"\n";
    for (agent, file, before, note, extended) in [
        (
            "claude",
            SETTINGS,
            claude,
            "the PostToolUse hook on Edit|Write (prettier) in ",
            "{\"matcher\": \"Edit|Write|mcp__hashline__apply\", \"hooks\"",
        ),
        (
            "gemini",
            ".gemini/settings.json",
            gemini,
            "the AfterTool hook on replace|write_file (prettier)",
            "\"replace|write_file|mcp_hashline_apply\"",
        ),
        (
            "qwen",
            ".qwen/settings.json",
            qwen,
            "the PostToolUse hook on ^(edit|write_file)$ (prettier)",
            "\"^(edit|write_file)$|mcp__hashline__apply\"",
        ),
        (
            "codex",
            ".codex/config.toml",
            codex,
            "the PostToolUse hook on apply_patch (prettier)",
            "matcher = \"apply_patch|mcp__hashline__apply\" # format\n",
        ),
    ] {
        let project = Project::new(&[(file, before)]);
        let done = set_up(&project, &[agent]);
        assert!(done.stderr.contains(note), "{done:?}");
        assert!(!done.stderr.contains("(log)") && !done.stderr.contains("(nb)"), "{done:?}");
        assert!(!project.content(file).contains(extended), "{agent}");
        let extending = set_up(&project, &[agent, "--extend-hooks"]);
        assert!(project.content(file).contains(extended), "{}", project.content(file));
        assert!(!extending.stderr.contains("does not run"), "{extending:?}");
        let again = set_up(&project, &[agent, "--extend-hooks"]);
        assert!(again.stderr.contains("no file was changed"), "{again:?}");
        set_up(&project, &[agent, "--remove"]);
        assert_eq!(project.content(file).trim_end(), before.trim_end(), "{agent}");
    }
    // Also those of the project, each once.
    let hook = |matcher: &str| json!({"hooks": {"PreToolUse": [{"matcher": matcher, "hooks": [{"command": "x"}]}]}});
    let (local, own) = (hook("Write").to_string(), hook("Edit").to_string());
    let project = Project::new(&[(SETTINGS, &own), ("p/.claude/settings.local.json", &local)]);
    for (directory, expected) in
        [("p", ["on Edit (x)", "on Write (x)"].as_slice()), ("", &["on Edit (x)"])]
    {
        let mut claude = command(&project, &["setup", "claude"]);
        let output = claude.current_dir(project.path(directory)).stdin(Stdio::null()).output();
        let done = answer(output.unwrap());
        assert!(expected.iter().all(|note| done.stderr.contains(note)), "{done:?}");
        assert_eq!(done.stderr.matches("does not run").count(), expected.len(), "{done:?}");
        let by_hand = done.stderr.matches("Or add mcp__hashline__apply to the matcher").count();
        assert_eq!(by_hand, expected.len() - 1, "{done:?}");
    }
    // A text of a file cannot change the terminal, and is not long.
    let command = format!("\\u001b[2J{}", "x".repeat(100_000));
    let hostile = format!(
        r#"{{"hooks": {{"Post\\u0007": [{{"matcher": "Edit", "hooks": [{{"command": "{command}"}}]}}, 1, {{"matcher": "Edit", "hooks": {{}}}}], "x": 3}}}}"#
    );
    let project = Project::new(&[(SETTINGS, &hostile)]);
    let done = set_up(&project, &["claude"]);
    assert!(done.stderr.contains(r"(\u{1b}[2Jxxx") && done.stderr.len() < 2_000, "{done:?}");
    assert!(!done.stderr.contains(['\u{1b}', '\u{7}']), "{done:?}");
    let refused = run(&Project::new(&[]), &["setup", "zed", "--extend-hooks"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    assert!(refused.stderr.contains("is for claude, codex, gemini, qwen, so no"), "{refused:?}");
}

/// The commands of the hooks before the edit tool, and of those before Claude Code's own tools.
fn claude_hooks(project: &Project) -> [Vec<String>; 2] {
    let groups = value(project, SETTINGS)["hooks"]["PreToolUse"].as_array().unwrap().clone();
    let commands = |is_ours: bool| {
        let groups =
            groups.iter().filter(|group| (group["matcher"] == "mcp__hashline__apply") == is_ours);
        let hooks = groups.flat_map(|group| group["hooks"].as_array().unwrap());
        let command = |hook: &Value| hook["command"].as_str().unwrap().to_owned();
        hooks.map(|hook| command(hook).replace(env!("CARGO_BIN_EXE_hashline"), "PROGRAM")).collect()
    };
    [commands(true), commands(false)]
}

#[test]
fn the_diff_of_an_edit_is_shown_on_request() {
    const HOOK: &str = "PROGRAM hook claude --OPTIONS --edit-tool=mcp__hashline__apply";
    let hook = |options: &str| vec![HOOK.replace("--OPTIONS", options)];
    let project = Project::new(&[]);
    for (options, expected) in [
        (["--show-diff"].as_slice(), "--show-diff"),
        (&[], "--show-diff"),
        (&["--ask-diff"], "--ask-diff"),
        (&["--ask-diff", "--show-diff"], "--show-diff --ask-diff"),
    ] {
        set_up(&project, &[&["claude"], options].concat());
        let [ours, own] = claude_hooks(&project);
        assert_eq!((ours, own.len()), (hook(expected), 1));
        assert!(own[0].contains("--deny=Edit,MultiEdit,Write"), "{own:?}");
    }
    let again = set_up(&project, &["claude", "--ask-diff", "--show-diff"]);
    assert!(again.stderr.contains("no file was changed"), "{again:?}");
    set_up(&project, &["claude", "--remove"]);
    assert!(!exists(&project.path(SETTINGS)));
    for option in ["--show-diff", "--ask-diff"] {
        let refused = run(&project, &["setup", "gemini", option]);
        assert_eq!(refused.code, Some(2), "{refused:?}");
        assert!(refused.stderr.contains(&format!("{option} is for claude")), "{refused:?}");
    }
}

/// The settings with one hook before the edit tool `tool`.
fn with_hook(tool: &str, command: &str) -> Project {
    let hooks = json!([{"type": "command", "command": command}]);
    let groups = json!([{"matcher": tool, "hooks": hooks}]);
    Project::new(&[(SETTINGS, &json!({"hooks": {"PreToolUse": groups}}).to_string())])
}

/// It was overwritten by the hook for commands, and later kept the path of an old program.
#[test]
fn regression_a_hook_for_diffs_is_updated_with_its_options() {
    for (options, expected) in [
        ("--ask-diff --edit-tool=mcp__hashline__apply", "--ask-diff"),
        ("--edit-tool mcp__hashline__apply '--ask-diff' --show-diff", "--show-diff --ask-diff"),
    ] {
        let command = format!("'/old tools/hashline' hook claude {options}");
        let project = with_hook("mcp__hashline__apply", &command);
        set_up(&project, &["claude"]);
        let [ours, own] = claude_hooks(&project);
        let expected = format!("PROGRAM hook claude {expected} --edit-tool=mcp__hashline__apply");
        assert_eq!((ours, own.len()), (vec![expected], 1));
        set_up(&project, &["claude", "--remove"]);
        assert!(!exists(&project.path(SETTINGS)), "{}", project.content(SETTINGS));
    }
}

/// An option was found anywhere in the text of a command, and the plug-in's hook was taken over.
#[test]
fn regression_a_hook_for_diffs_is_known_by_its_words_and_its_tool() {
    let deny = "hashline hook claude --deny=Edit --except=x--ask-diff";
    let project = with_hook("Bash", deny);
    set_up(&project, &["claude"]);
    let [ours, own] = claude_hooks(&project);
    assert_eq!((ours.len(), own.len()), (0, 1), "{own:?}");

    let tool = "mcp__plugin_hashline_hashline__apply";
    let command = format!("hashline hook claude --ask-diff --edit-tool={tool}");
    let project = with_hook(tool, &command);
    set_up(&project, &["claude"]);
    let [ours, own] = claude_hooks(&project);
    assert_eq!((ours.len(), own.len()), (0, 2), "{own:?}");
    set_up(&project, &["claude", "--show-diff"]);
    let [ours, own] = claude_hooks(&project);
    assert_eq!((ours.len(), own.len(), &own[0]), (1, 2, &command));
    set_up(&project, &["claude", "--remove"]);
    assert_eq!(claude_hooks(&project), [vec![], vec![command]]);
}

/// Earlier versions let the edit tool of Qwen Code run by `trust`, which still works.
#[test]
fn regression_the_permission_of_an_earlier_version_counts() {
    for (trust, is_named) in [(true, false), (false, true)] {
        let server = json!({"command": "/old/hashline", "args": ["mcp"], "trust": trust});
        let settings = json!({"mcpServers": {"hashline": server}}).to_string();
        let project = Project::new(&[(".qwen/settings.json", &settings)]);
        let done = set_up(&project, &["qwen"]);
        assert_eq!(done.stderr.contains("may ask before each edit"), is_named, "{done:?}");
        let servers = &value(&project, ".qwen/settings.json")["mcpServers"];
        assert_eq!(servers["hashline"]["command"], env!("CARGO_BIN_EXE_hashline"));
        assert_eq!(servers["hashline"]["trust"], trust);
        set_up(&project, &["qwen", "--remove"]);
        assert!(!exists(&project.path(".qwen/settings.json")));
    }
}

#[test]
fn a_plug_in_that_does_the_same_is_named() {
    for (plug_ins, is_named) in [
        (r#"{"hashline@hashline": true}"#, true),
        (r#"{"hashline@hashline": false, "other@hashline": true}"#, false),
    ] {
        let settings = format!(r#"{{"enabledPlugins": {plug_ins}}}"#);
        let done = set_up(&Project::new(&[(SETTINGS, &settings)]), &["claude"]);
        let command = "`claude plugin disable hashline@hashline`";
        assert_eq!(done.stderr.contains(command), is_named, "{done:?}");
    }
}

#[test]
fn a_directory_that_the_agent_does_not_trust_is_named() {
    let note = "Gemini CLI starts no server in a directory that it does not trust";
    let trusted = |path: &str, rule: &str| {
        let project = Project::new(&[]);
        let path = project.path(path);
        project.write(
            ".gemini/trustedFolders.json",
            json!({path.to_str().unwrap(): rule}).to_string().as_bytes(),
        );
        !set_up(&project, &["gemini"]).stderr.contains(note)
    };
    assert!(trusted("", "TRUST_FOLDER"));
    assert!(trusted("sub", "TRUST_PARENT"));
    assert!(!trusted("sub", "TRUST_FOLDER"));
    assert!(!trusted("", "DO_NOT_TRUST"));
    let project = Project::new(&[]);
    assert!(set_up(&project, &["gemini"]).stderr.contains(note));
    let off = r#"{"security": {"folderTrust": {"enabled": false}}}"#;
    let project = Project::new(&[(".gemini/settings.json", off)]);
    assert!(!set_up(&project, &["gemini"]).stderr.contains(note));

    // Qwen Code checks it only on request.
    let note = "Qwen Code starts no server in a directory that it does not trust";
    assert!(!set_up(&Project::new(&[]), &["qwen"]).stderr.contains(note));
    let project = Project::new(&[(".qwen/settings.json", &off.replace("false", "true"))]);
    assert!(set_up(&project, &["qwen"]).stderr.contains(note));
}

#[cfg(target_os = "linux")]
const GOOSE: &str = ".config/goose/config.yaml";

#[cfg(target_os = "linux")]
#[test]
fn a_yaml_file_with_other_entries_is_not_changed_and_the_entry_is_printed() {
    let project = Project::new(&[]);
    set_up(&project, &["goose"]);
    let own = project.content(GOOSE);
    let entry = own.strip_prefix("extensions:\n").unwrap();

    let before = "# mine\nGOOSE_MODEL: x\nextensions:\n  developer:\n    enabled: true\n";
    let project = Project::new(&[(GOOSE, before)]);
    let refused = run(&project, &["setup", "goose"]);
    assert_eq!(refused.code, Some(2), "{refused:?}");
    let step = format!("By hand, add under `extensions:`, in place of an older entry:\n\n{entry}");
    assert!(refused.stderr.contains(step.trim_end()), "{refused:?}");
    assert_eq!(project.content(GOOSE), before);
    assert!(set_up(&project, &["goose", "--remove"]).stderr.contains("no file was changed"));

    let pasted = format!("{before}{entry}").replace('\n', "\r\n");
    project.write(GOOSE, pasted.as_bytes());
    assert!(set_up(&project, &["goose"]).stderr.contains("already set up"));
    let refused = run(&project, &["setup", "goose", "--remove"]);
    assert!(refused.stderr.contains("By hand, delete the entry `hashline`"), "{refused:?}");
    assert_eq!(project.content(GOOSE), pasted);
}

/// A line of `--list`.
fn listed(answer: &Answer, agent: &str) -> String {
    let line = answer.stdout.lines().find(|line| line.starts_with(&format!("{agent} ")));
    line.unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn the_list_has_every_agent_and_what_is_found_and_set_up() {
    let project = Project::new(&[(".kiro/x", ""), (".factory/mcp.json", "{")]);
    set_up(&project, &["claude"]);
    let list = run(&project, &["setup", "--list"]);
    assert_eq!((list.code, list.stderr.as_str()), (Some(0), ""), "{list:?}");
    assert_eq!(list.stdout.lines().count(), 23);
    let page = include_str!("../../../../docs/agents.md");
    for line in list.stdout.lines() {
        let agent = line.split(' ').next().unwrap();
        assert!(page.contains(&format!("`{agent}`")), "docs/agents.md does not name {agent}");
    }
    assert!(listed(&list, "claude").starts_with("claude found set up server and hook "));
    assert!(listed(&list, "kiro").starts_with("kiro found - server "));
    assert!(listed(&list, "droid").starts_with("droid found - server "));
    assert!(listed(&list, "junie").starts_with("junie - - server "));
    assert!(listed(&list, "pi").starts_with("pi - - plug-in "));
    let rows: Vec<Value> =
        serde_json::from_str(&run(&project, &["setup", "--list", "--json"]).stdout).unwrap();
    assert!(rows.iter().all(|row| row["file"].is_string()), "{rows:?}");
    let claude = rows.iter().find(|row| row["agent"] == "claude").unwrap();
    assert_eq!((&claude["found"], &claude["isSetUp"]), (&json!(true), &json!(true)));
    assert_eq!(run(&project, &["setup"]).code, Some(2));
    assert_eq!(run(&project, &["setup", "claude", "--list"]).code, Some(2));
}

/// Runs `setup` where the agent is a shell script.
#[cfg(unix)]
fn with_script(agent: &str, script: &str) -> Answer {
    use std::os::unix::fs::PermissionsExt;
    let project = Project::new(&[]);
    project.write(&format!("bin/{agent}"), format!("#!/bin/sh\n{script}\n").as_bytes());
    let program = project.path(&format!("bin/{agent}"));
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let mut set_up = command(&project, &["setup", agent]);
    set_up.env("PATH", format!("{}:/usr/bin:/bin", project.path("bin").display()));
    let done = answer(set_up.stdin(Stdio::null()).output().unwrap());
    assert_eq!(done.code, Some(0), "{done:?}");
    done
}

#[cfg(unix)]
#[test]
fn the_agent_that_is_found_checks_its_configuration() {
    let script = r#"[ "$*" = "mcp list" ] && printf 'Servers:\n\033[32m\342\227\213\033[0m hashline: x - Disabled\n'"#;
    let done = with_script("gemini", script);
    let seen = "`gemini mcp list` prints: \u{25cb} hashline: x - Disabled\n";
    assert!(done.stderr.contains(seen), "{done:?}");
    let done = with_script("qwen", "echo 'No servers.'; echo; exit 1");
    let seen = "`qwen mcp list` does not list hashline. Its last line is: No servers.\n";
    assert!(done.stderr.contains(seen), "{done:?}");
}
