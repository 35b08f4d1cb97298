//! `setup`: writes the configuration of each agent, keeps the rest of a file byte for byte, and
//! removes its own entries.

use std::path::Path;
use std::process::{Command, Stdio};
use std::{env::consts::EXE_SUFFIX, fs};

use serde_json::{Value, json};

use crate::support::{Answer, Project, answer, exists};

/// The agents, with their files for a user.
const AGENTS: [(&str, &[&str]); 7] = [
    ("claude", &[".claude.json", ".claude/settings.json"]),
    ("codex", &[".codex/config.toml"]),
    ("cursor", &[".cursor/mcp.json", ".cursor/hooks.json"]),
    ("gemini", &[".gemini/settings.json"]),
    ("opencode", &[".config/opencode/opencode.json"]),
    ("pi", &[".pi/agent/settings.json"]),
    ("omp", &[".omp/agent/mcp.json"]),
];

/// The plug-ins, which are found next to the program.
const PLUG_INS: [(&str, &str); 2] = [("opencode", "opencode-hashline"), ("pi", "pi-hashline")];

/// A program like this one, in the directory where a plug-in is installed.
fn installed(project: &Project, plug_in: &str) -> std::path::PathBuf {
    project.write(&format!("modules/{plug_in}/package.json"), b"{}");
    let program = project.path(&format!("modules/platform/hashline{EXE_SUFFIX}"));
    if !exists(&program) {
        project.write("modules/platform/.keep", b"");
        copy_program(&program);
    }
    program
}

/// Copies this program. Another process does it on Unix: a descriptor that this process has open for
/// writing would be inherited by a process that another test starts, and the copy could not be
/// executed until that one has called `exec` ("Text file busy").
fn copy_program(to: &Path) {
    let program = env!("CARGO_BIN_EXE_hashline");
    if cfg!(unix) {
        assert!(Command::new("cp").arg(program).arg(to).status().unwrap().success());
    } else {
        fs::copy(program, to).unwrap();
    }
}

/// The command, with the project as the home directory.
pub fn command(project: &Project, args: &[&str]) -> Command {
    let plain = project.command(args);
    let plug_in = PLUG_INS.iter().find(|(agent, _)| args.contains(agent));
    let mut command = match plug_in {
        Some((_, plug_in)) => Command::new(installed(project, plug_in)),
        None => Command::new(plain.get_program()),
    };
    command.args(args).current_dir(project.path(""));
    for (name, value) in plain.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    command.env("HOME", project.path("")).env("USERPROFILE", project.path(""));
    for name in VARIABLES {
        command.env_remove(name);
    }
    // An agent that is found would be run, too.
    if cfg!(unix) {
        command.env("PATH", "/usr/bin:/bin");
    }
    command
}

/// The variables that name other directories.
const VARIABLES: [&str; 9] = [
    "CLAUDE_CONFIG_DIR",
    "CODEX_HOME",
    "XDG_CONFIG_HOME",
    "PI_CODING_AGENT_DIR",
    "CLINE_DATA_DIR",
    "COPILOT_HOME",
    "APPDATA",
    "GEMINI_CLI_TRUST_WORKSPACE",
    "GEMINI_CLI_TRUSTED_FOLDERS_PATH",
];

pub fn run(project: &Project, args: &[&str]) -> Answer {
    answer(command(project, args).stdin(Stdio::null()).output().unwrap())
}

pub fn set_up(project: &Project, args: &[&str]) -> Answer {
    let answer = run(project, &[&["setup"], args].concat());
    assert_eq!(answer.code, Some(0), "{args:?}: {answer:?}");
    answer
}

#[test]
fn each_agent_is_set_up_tested_and_removed() {
    for (agent, files) in AGENTS {
        let project = Project::new(&[]);
        let shown = set_up(&project, &[agent, "--dry-run"]);
        assert!(files.iter().all(|file| !exists(&project.path(file))), "{agent}");
        let done = set_up(&project, &[agent]);
        assert_eq!(done.stdout, shown.stdout, "{agent}: the diff is what a dry run shows");
        for file in files {
            let content = project.content(file);
            assert!(content.contains("hashline"), "{agent}: {content}");
            assert!(done.stdout.contains(file), "{agent}: {}", done.stdout);
        }
        let works = done.stderr.contains("works: ") || done.stderr.contains("plug-in");
        assert!(works, "{agent}: {}", done.stderr);
        let contents: Vec<_> = files.iter().map(|file| project.content(file)).collect();
        let again = set_up(&project, &[agent]);
        assert_eq!(again.stdout, "", "{agent}");
        assert!(again.stderr.contains("no file was changed"), "{agent}: {}", again.stderr);
        let after: Vec<_> = files.iter().map(|file| project.content(file)).collect();
        assert_eq!(after, contents, "{agent}");
        set_up(&project, &[agent, "--remove"]);
        assert!(files.iter().all(|file| !exists(&project.path(file))), "{agent}");
        let nothing = set_up(&project, &[agent, "--remove"]);
        assert!(nothing.stderr.contains("no file was changed"), "{agent}: {}", nothing.stderr);
    }
}

#[test]
fn the_configuration_names_this_program_and_its_hook_answers() {
    let project = Project::new(&[]);
    let done = set_up(&project, &["claude"]);
    let program = env!("CARGO_BIN_EXE_hashline");
    let servers: Value = serde_json::from_str(&project.content(".claude.json")).unwrap();
    assert_eq!(servers["mcpServers"]["hashline"]["command"], program);
    let settings: Value = serde_json::from_str(&project.content(".claude/settings.json")).unwrap();
    let hook = &settings["hooks"]["PreToolUse"][0]["hooks"][0]["command"];
    assert!(hook.as_str().unwrap().starts_with(&format!("{program} hook claude ")), "{hook}");
    for event in ["PostToolUse", "PostToolUseFailure"] {
        let hook = &settings["hooks"][event][0]["hooks"][0]["command"];
        assert_eq!(*hook, format!("{program} hook claude --annotate"), "{event}");
    }
    let args = json!(["mcp", "--session-variable=CLAUDE_CODE_SESSION_ID"]);
    assert_eq!(servers["mcpServers"]["hashline"]["args"], args);
    assert!(done.stderr.contains("the hook works: it refused `cat README.md`"), "{done:?}");
    assert!(done.stderr.contains("the server works: it has the tools read, search, apply"));
}

/// A file with comments, other entries, a trailing comma, CRLF and tabs.
const JSON_FILES: [&str; 9] = [
    "{}",
    "{\n}\n",
    "{\"a\": 1}",
    "{\n  \"theme\": \"dark\"\n}\n",
    "// mine\n{\n\t\"hooks\": { // these\n\t\t\"PreToolUse\": [\n\t\t\t{\"matcher\": \"X\", \"hooks\": []},\n\t\t],\n\t},\n}\n",
    "{\r\n  \"permissions\": {\r\n    \"allow\": [\"Bash(ls:*)\"],\r\n    \"deny\": []\r\n  },\r\n  \"z\": 1.50\r\n}\r\n",
    "{\n    \"hooks\": {\n        \"PostToolUse\": [{\"matcher\": \"*\", \"hooks\": [{\"type\": \"command\", \"command\": \"hashline-like\"}]}]\n    }\n}",
    "\u{feff}{\n  \"a\": \"é\"\n}\n",
    "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"A\"},{\"matcher\":\"B\"}]},\"permissions\":{\"allow\":[\"Read\"]}}\n",
];

#[test]
fn the_rest_of_a_json_file_stays_and_a_removal_restores_every_byte() {
    for before in JSON_FILES {
        let file = ".claude/settings.json";
        let project = Project::new(&[(file, before)]);
        set_up(&project, &["claude"]);
        let after = project.content(file);
        assert!(
            after.contains(" hook claude ") && after.contains("mcp__hashline__read"),
            "{after}"
        );
        let kept = |line: &&str| after.contains(line.trim_end().trim_end_matches(['}', ']', ',']));
        let lines = before.lines().filter(|line| before.lines().count() > 1 && line.len() > 1);
        assert!(lines.clone().all(|line| kept(&line)), "{before}\n{after}");
        let again = set_up(&project, &["claude"]);
        assert!(again.stderr.contains("no file was changed"), "{after}{again:?}");
        set_up(&project, &["claude", "--remove"]);
        let is_bare = before.trim().trim_matches(['{', '}']).trim().is_empty();
        if is_bare {
            assert!(!exists(&project.path(file)), "a file with nothing in it goes");
        } else {
            assert_eq!(project.content(file), before);
        }
    }
}

const TOML_FILES: [&str; 6] = [
    "model = \"x\"\n",
    "# mine\nmodel = \"x\" # best\n\n[mcp_servers.other]\ncommand = \"a\"\nargs = [ \"b\" ]\n",
    "[features]\r\nhooks = true\r\n\r\n[[hooks.PreToolUse]]\r\nmatcher = \"X\"\r\n\r\n[[hooks.PreToolUse.hooks]]\r\ntype = \"command\"\r\ncommand = \"mine\"\r\n",
    "mcp_servers = { other = { command = \"a\" } }\n",
    "[mcp_servers]\n\n[hooks]\n[[hooks.PostToolUse]]\nmatcher = \"Y\"\n",
    "a = 1",
];

#[test]
fn the_rest_of_a_toml_file_stays_and_a_removal_restores_it() {
    for before in TOML_FILES {
        let file = ".codex/config.toml";
        let project = Project::new(&[(file, before)]);
        set_up(&project, &["codex"]);
        let after = project.content(file);
        assert!(after.contains(" hook codex ") && after.contains("hashline"), "{after}");
        for line in before.lines().filter(|line| !line.is_empty()) {
            assert!(after.contains(line.trim_end_matches(" }")), "{line}\n{after}");
        }
        let again = set_up(&project, &["codex"]);
        assert!(again.stderr.contains("no file was changed"), "{after}{again:?}");
        set_up(&project, &["codex", "--remove"]);
        let left = project.content(file);
        assert_eq!(left.trim_end(), before.trim_end(), "{after}");
    }
}

/// One `\r\n` in a file changed the ends of all its lines.
#[test]
fn regression_lines_of_a_toml_file_keep_their_own_ends() {
    let before = "a = 1\r\nb = \"\"\"x\\\r\n  y\"\"\" # c\n\n[mcp_servers.mine]\r\ncommand = \"x\"\nargs = [\r\n  \"y\",\n]\r\n\n[z]\nc = 2\r\n";
    let project = Project::new(&[(CODEX, before)]);
    set_up(&project, &["codex"]);
    let after = project.content(CODEX);
    assert!(after.starts_with(&before[..before.find("\n\n[z]").unwrap()]), "{after:?}");
    assert!(after.contains("\n\n[z]\nc = 2\r\n"), "{after:?}");
    assert!(after.contains("[mcp_servers.hashline]\r\n"), "{after:?}");
    set_up(&project, &["codex", "--remove"]);
    assert_eq!(project.content(CODEX), before);
}

#[test]
fn an_older_entry_is_updated_and_not_duplicated() {
    let old = r#"{
  "hooks": {
    "PreToolUse": [
      {"matcher": "Bash", "hooks": [{"type": "command", "command": "hashline hook claude --deny Edit"}]}
    ]
  }
}
"#;
    let project = Project::new(&[(".claude/settings.json", old)]);
    set_up(&project, &["claude"]);
    let settings: Value = serde_json::from_str(&project.content(".claude/settings.json")).unwrap();
    assert_eq!(settings["hooks"]["PreToolUse"].as_array().unwrap().len(), 1);
    assert!(settings.to_string().contains(env!("CARGO_BIN_EXE_hashline")));
}

#[test]
fn an_invalid_configuration_is_refused_and_not_changed() {
    for (agent, file, content, part) in [
        ("gemini", ".gemini/settings.json", "{\"mcpServers\": [", "settings.json"),
        ("gemini", ".gemini/settings.json", "[]\n", "not a JSON object"),
        ("gemini", ".gemini/settings.json", "{\"mcpServers\": 3}\n", "not an object"),
        ("gemini", ".gemini/settings.json", "{\"hooks\": {\"BeforeTool\": {}}}\n", "not a list"),
        ("codex", ".codex/config.toml", "a = = 1\n", "not TOML"),
        ("codex", ".codex/config.toml", "mcp_servers = 1\n", "by hand"),
    ] {
        let project = Project::new(&[(file, content)]);
        let answer = run(&project, &["setup", agent]);
        assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{content}: {answer:?}");
        assert!(answer.stderr.contains(part), "{content}: {}", answer.stderr);
        assert_eq!(project.content(file), content);
    }
}

#[test]
fn a_project_is_set_up_in_the_working_directory() {
    let project = Project::new(&[]);
    set_up(&project, &["gemini", "--project"]);
    set_up(&project, &["claude", "--project"]);
    assert!(project.content(".mcp.json").contains("hashline"));
    assert!(project.content(".claude/settings.json").contains(" hook claude "));
    assert!(!exists(&project.path(".claude.json")));
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_its_target_is_edited() {
    let project =
        Project::new(&[("dotfiles/gemini.json", "{\n  \"a\": 1\n}\n"), (".gemini/x", "")]);
    let link = project.path(".gemini/settings.json");
    std::os::unix::fs::symlink("../dotfiles/gemini.json", &link).unwrap();
    set_up(&project, &["gemini"]);
    assert!(link.is_symlink());
    assert!(project.content("dotfiles/gemini.json").contains("hashline"));
    set_up(&project, &["gemini", "--remove"]);
    assert_eq!(project.content("dotfiles/gemini.json"), "{\n  \"a\": 1\n}\n");
    // A link is not deleted, even if its target would be empty.
    project.write("dotfiles/gemini.json", b"");
    set_up(&project, &["gemini"]);
    set_up(&project, &["gemini", "--remove"]);
    assert!(link.is_symlink());
    assert_eq!(project.content("dotfiles/gemini.json"), "{}\n");
}

#[test]
fn concurrent_runs_add_every_entry_once() {
    let project = Project::new(&[(".gemini/settings.json", "{\n  \"a\": 1\n}\n")]);
    let start = || {
        let mut command = command(&project, &["setup", "gemini"]);
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let children: Vec<_> = (0..4).map(|_| start()).collect();
    for child in children {
        let answer = answer(child.wait_with_output().unwrap());
        assert_eq!(answer.code, Some(0), "{answer:?}");
    }
    let settings: Value = serde_json::from_str(&project.content(".gemini/settings.json")).unwrap();
    assert_eq!(settings["hooks"]["BeforeTool"].as_array().unwrap().len(), 1);
    assert_eq!(settings["a"], 1);
}

/// The values in a file of a project.
pub fn value(project: &Project, file: &str) -> Value {
    serde_json::from_str(&project.content(file)).unwrap()
}

pub const SETTINGS: &str = ".claude/settings.json";

#[test]
fn regression_a_permission_with_the_same_prefix_is_kept() {
    let before = "{\n  \"permissions\": {\n    \"allow\": [\n      \"mcp__hashline__read_json\"\n    ]\n  }\n}\n";
    let project = Project::new(&[(SETTINGS, before)]);
    set_up(&project, &["claude"]);
    let allowed = value(&project, SETTINGS)["permissions"]["allow"].clone();
    let expected = ["mcp__hashline__read_json", "mcp__hashline__read", "mcp__hashline__search"]
        .map(Value::from);
    assert_eq!(allowed.as_array().unwrap()[..], expected);
    set_up(&project, &["claude", "--remove"]);
    assert_eq!(project.content(SETTINGS), before);
}

#[test]
fn regression_a_plug_in_with_a_similar_name_is_kept() {
    let file = ".config/opencode/opencode.json";
    let before = "{\n  \"plugin\": [\"opencode-hashline-themes\", \"my-opencode-hashline\"]\n}\n";
    let project = Project::new(&[(file, before)]);
    set_up(&project, &["opencode"]);
    let plug_ins = value(&project, file)["plugin"].clone();
    assert_eq!(plug_ins.as_array().unwrap().len(), 3, "{plug_ins}");
    set_up(&project, &["opencode", "--remove"]);
    assert_eq!(project.content(file), before);
}

#[test]
fn regression_a_plug_in_keeps_its_options() {
    let file = ".config/opencode/opencode.json";
    let index = |project: &Project| {
        format!("file://{}/index.js", project.path("modules/opencode-hashline").display())
    };
    // A version that the user has pinned stays, too.
    for (old, is_pinned) in [("opencode-hashline", false), ("opencode-hashline@0.1.0", true)] {
        let before = json!({"plugin": ["a", [old, {"guard": false}]]});
        let project = Project::new(&[(file, &before.to_string())]);
        set_up(&project, &["opencode"]);
        let package = if is_pinned { old.to_owned() } else { index(&project) };
        let plug_ins = value(&project, file)["plugin"].clone();
        assert_eq!(plug_ins, json!(["a", [package, {"guard": false}]]));
        set_up(&project, &["opencode", "--remove"]);
        assert_eq!(value(&project, file), json!({"plugin": ["a"]}));
    }
}

/// A hook of hashline between others in one group.
fn group(matcher: &str) -> String {
    format!(
        r#"{{
  "hooks": {{
    "PreToolUse": [
      {{
        "matcher": "{matcher}",
        "hooks": [
          {{"type": "command", "command": "mine first"}},
          {{"type": "command", "command": "/old/hashline hook claude --deny=Edit"}},
          {{"type": "command", "command": "other hook claude --log"}}
        ]
      }}
    ]
  }}
}}
"#
    )
}

/// The other hooks in the group.
const OTHERS: [&str; 2] = ["mine first", "other hook claude --log"];

/// The commands of a group of hooks.
fn commands(group: &Value) -> Vec<&str> {
    let hooks = group["hooks"].as_array().unwrap();
    hooks.iter().map(|hook| hook["command"].as_str().unwrap()).collect()
}

#[test]
fn regression_other_hooks_of_the_same_group_are_kept() {
    let own = format!("{} hook claude ", env!("CARGO_BIN_EXE_hashline"));
    let fresh = Project::new(&[]);
    set_up(&fresh, &["claude"]);
    let same = value(&fresh, SETTINGS)["hooks"]["PreToolUse"][0]["matcher"].clone();
    for (matcher, groups) in [(same.as_str().unwrap(), 1), ("Bash|Read", 2)] {
        let project = Project::new(&[(SETTINGS, &group(matcher))]);
        set_up(&project, &["claude"]);
        let settings = value(&project, SETTINGS);
        let all = settings["hooks"]["PreToolUse"].as_array().unwrap();
        assert_eq!(all.len(), groups, "{settings}");
        assert_eq!(all[0]["matcher"], matcher);
        let others: Vec<_> =
            commands(&all[0]).into_iter().filter(|one| !one.starts_with(&own)).collect();
        assert_eq!(others, OTHERS, "{settings}");
        let last = commands(&all[groups - 1]);
        assert_eq!(last.iter().filter(|one| one.starts_with(&own)).count(), 1, "{settings}");
        assert!(set_up(&project, &["claude"]).stderr.contains("no file was changed"));
        set_up(&project, &["claude", "--remove"]);
        let settings = value(&project, SETTINGS);
        let all = settings["hooks"]["PreToolUse"].as_array().unwrap();
        assert_eq!(all.len(), 1, "{settings}");
        assert_eq!(commands(&all[0]), OTHERS, "{settings}");
    }
}

#[test]
fn regression_a_hook_of_a_program_with_the_same_suffix_is_kept() {
    let others = ["/opt/my-hashline hook claude --x", "log 'x'; hashline hook claude"];
    for other in others {
        let before = format!(
            "{{\"hooks\": {{\"PreToolUse\": [{{\"hooks\": [{{\"type\": \"command\", \"command\": \"{other}\"}}]}}]}}}}\n"
        );
        let project = Project::new(&[(SETTINGS, &before)]);
        set_up(&project, &["claude"]);
        let settings = value(&project, SETTINGS);
        assert_eq!(commands(&settings["hooks"]["PreToolUse"][0]), [other], "{settings}");
        set_up(&project, &["claude", "--remove"]);
        assert_eq!(project.content(SETTINGS), before);
    }
}

#[test]
fn regression_an_empty_value_of_the_user_is_not_removed() {
    for (agent, file, before) in [
        ("gemini", ".gemini/settings.json", r#"{"mcpServers": {"mine": {}}}"#),
        ("claude", SETTINGS, r#"{"permissions": {"allow": [], "deny": []}, "key": null}"#),
        ("cursor", ".cursor/mcp.json", r#"{"mcpServers": {"mine": {}}, "more": []}"#),
        ("pi", ".pi/agent/settings.json", r#"{"packages": [{}]}"#),
    ] {
        let project = Project::new(&[(file, before)]);
        set_up(&project, &[agent]);
        set_up(&project, &[agent, "--remove"]);
        let (mut after, mut before) =
            (value(&project, file), serde_json::from_str(before).unwrap());
        // A list that becomes empty is removed.
        for settings in [&mut after, &mut before] {
            let permissions = settings.get_mut("permissions").and_then(Value::as_object_mut);
            permissions.map(|permissions| permissions.remove("allow"));
        }
        assert_eq!(after, before, "{agent}");
    }
}

const CODEX: &str = ".codex/config.toml";

#[test]
fn regression_other_hooks_of_the_same_group_are_kept_in_toml() {
    let before = |own: &str| {
        format!(
            "[[hooks.PreToolUse]]\nmatcher = \"^(Bash|apply_patch)$\"\n\n\
             [[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"mine\" # this\n\n{own}\
             [[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"last\"\n"
        )
    };
    let own = "[[hooks.PreToolUse.hooks]]\ntype = \"command\"\ncommand = \"hashline hook codex --deny=Edit\"\n\n";
    let project = Project::new(&[(CODEX, &before(own))]);
    set_up(&project, &["codex"]);
    let after = project.content(CODEX);
    for part in ["command = \"mine\" # this\n", "command = \"last\"\n"] {
        assert!(after.contains(part), "{after}");
    }
    assert_eq!(after.matches(" hook codex ").count(), 1, "{after}");
    assert!(set_up(&project, &["codex"]).stderr.contains("no file was changed"));
    set_up(&project, &["codex", "--remove"]);
    assert_eq!(project.content(CODEX).trim_end(), before("").trim_end());
}

#[test]
fn regression_an_update_keeps_fields_of_the_user() {
    let old = "# servers\n[mcp_servers.hashline]\n# the one of the team\ncommand = \"/old/hashline\" # soon new\nargs = [\"mcp\"]\nstartup_timeout_sec = 20\n\n[mcp_servers.hashline.env]\nNO_COLOR = \"1\"\n";
    let project = Project::new(&[(CODEX, old)]);
    set_up(&project, &["codex"]);
    let after = project.content(CODEX);
    let expected = old.replace("/old/hashline", env!("CARGO_BIN_EXE_hashline"));
    assert!(after.starts_with(&expected), "{after}");

    let old = "{\n  \"mcpServers\": {\n    \"hashline\": {\n      // mine\n      \"command\": \"/old/hashline\",\n      \"args\": [\"mcp\"],\n      \"env\": {\"NO_COLOR\": \"1\"}\n    }\n  }\n}\n";
    let project = Project::new(&[(".cursor/mcp.json", old)]);
    set_up(&project, &["cursor"]);
    let expected = old.replace("/old/hashline", env!("CARGO_BIN_EXE_hashline"));
    assert_eq!(project.content(".cursor/mcp.json"), expected);
}

#[test]
fn regression_a_toml_file_with_a_byte_order_mark_is_set_up_and_keeps_it() {
    let before = "\u{feff}model = \"x\"\n";
    let project = Project::new(&[(CODEX, before)]);
    set_up(&project, &["codex"]);
    let after = project.content(CODEX);
    assert!(after.starts_with(before) && after.contains(" hook codex "), "{after:?}");
    set_up(&project, &["codex", "--remove"]);
    assert_eq!(project.content(CODEX), before);
}

#[test]
fn regression_an_empty_variable_counts_as_unset() {
    for (agent, files) in AGENTS {
        let project = Project::new(&[]);
        let mut command = command(&project, &["setup", agent]);
        for name in ["CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_CONFIG_HOME", "PI_CODING_AGENT_DIR"] {
            command.env(name, "");
        }
        let done = answer(command.stdin(Stdio::null()).output().unwrap());
        assert_eq!(done.code, Some(0), "{agent}: {done:?}");
        for file in files {
            assert!(exists(&project.path(file)), "{agent}: {done:?}");
        }
    }
}

#[test]
fn the_plug_in_and_the_setup_block_the_same_tools() {
    let shipped = include_str!("../../../../integrations/claude-code/hooks/hooks.json");
    let shipped: Value = serde_json::from_str(shipped).unwrap();
    let project = Project::new(&[]);
    set_up(&project, &["claude"]);
    let written = value(&project, SETTINGS);
    let [shipped, written] = [&shipped, &written].map(|of| &of["hooks"]["PreToolUse"][0]);
    let own = |group: &Value| group["matcher"].to_string().replace("plugin_hashline_", "");
    assert_eq!(own(shipped), own(written));
    let denied = |group: &Value| {
        let words = commands(group)[0].split(' ').find(|word| word.starts_with("--deny="));
        words.unwrap().to_owned()
    };
    assert_eq!(denied(shipped), denied(written));
}

/// pi did not start with `npm:pi-hashline` in its settings, which npm does not have, and opencode
/// started without a word and without the plug-in.
#[test]
fn regression_a_plug_in_that_is_not_installed_is_not_written_into_a_configuration() {
    for (agent, plug_in) in PLUG_INS {
        let project = Project::new(&[]);
        let mut missing = project.command(&["setup", agent]);
        missing.env("HOME", project.path("")).env("USERPROFILE", project.path(""));
        missing.env_remove("XDG_CONFIG_HOME").env_remove("PI_CODING_AGENT_DIR");
        let refused = answer(missing.stdin(Stdio::null()).output().unwrap());
        assert_eq!((refused.code, refused.stdout.as_str()), (Some(2), ""), "{refused:?}");
        for part in [plug_in, "no file was changed", &format!("npm run plugin -- {agent} DIR")] {
            assert!(refused.stderr.contains(part), "{part}: {refused:?}");
        }
        let files = AGENTS.iter().find(|(name, _)| *name == agent).unwrap().1;
        assert!(files.iter().all(|file| !exists(&project.path(file))), "{agent}");
        set_up(&project, &[agent]);
        assert!(project.content(files[0]).contains(&format!("modules/{plug_in}")));
    }
}

#[test]
fn oh_my_pi_gets_the_extension_instead_of_the_server() {
    let project = Project::new(&[
        ("modules/pi-hashline/package.json", "{}"),
        ("modules/pi-hashline/omp.js", ""),
        ("modules/platform/.keep", ""),
        (".omp/agent/mcp.json", r#"{"mcpServers": {"mine": {"command": "x"}}}"#),
    ]);
    let own = set_up(&project, &["omp"]);
    assert!(own.stderr.contains("the server works"), "the extension is missing: {own:?}");
    let program = project.path(&format!("modules/platform/hashline{EXE_SUFFIX}"));
    copy_program(&program);
    let run = |args: &[&str]| {
        let mut copy = Command::new(&program);
        copy.arg("setup").arg("omp").args(args).current_dir(project.path(""));
        copy.env("HOME", project.path("")).env("USERPROFILE", project.path(""));
        copy.env_remove("PI_CODING_AGENT_DIR");
        let answer = answer(copy.stdin(Stdio::null()).output().unwrap());
        assert_eq!(answer.code, Some(0), "{answer:?}");
        answer
    };
    let done = run(&[]);
    assert!(done.stderr.contains("the plug-in is loaded when the agent starts"), "{done:?}");
    let manifest = ".omp/agent/extensions/hashline/package.json";
    let written: Value = serde_json::from_str(&project.content(manifest)).unwrap();
    let extension = format!("{}/omp.js", project.path("modules/pi-hashline").display());
    assert_eq!(written, json!({"omp": {"extensions": [extension]}}));
    let servers = || project.content(".omp/agent/mcp.json");
    assert!(!servers().contains("hashline") && servers().contains("mine"), "{}", servers());
    assert!(run(&[]).stderr.contains("no file was changed"));
    run(&["--remove"]);
    assert!(!exists(&project.path(manifest)));
    assert!(servers().contains("mine"));
}

/// The server, which has no guard, replaced it.
#[test]
fn regression_a_program_without_the_extension_keeps_an_installed_one() {
    let project = Project::new(&[("elsewhere/pi-hashline/omp.js", "")]);
    let manifest = ".omp/agent/extensions/hashline/package.json";
    let extension = project.path("elsewhere/pi-hashline/omp.js");
    let content = json!({"omp": {"extensions": [extension.to_str().unwrap()]}}).to_string();
    project.write(manifest, content.as_bytes());
    let done = set_up(&project, &["omp"]);
    assert!(done.stderr.contains("no file was changed"), "{done:?}");
    assert_eq!(project.content(manifest), content);
    assert!(!exists(&project.path(".omp/agent/mcp.json")));
    // An extension that is gone cannot be loaded.
    fs::remove_file(extension).unwrap();
    set_up(&project, &["omp"]);
    assert!(project.content(".omp/agent/mcp.json").contains("hashline"));
    assert!(!exists(&project.path(manifest)));
}

/// It was "FILE_EXISTS: operation 0: … edit it, or set replace".
#[cfg(unix)]
#[test]
fn regression_a_link_to_nothing_is_refused_in_words_of_setup() {
    for (agent, file) in [("gemini", ".gemini/settings.json"), ("codex", ".codex/config.toml")] {
        let project = Project::new(&[]);
        let directory = file.split('/').next().unwrap();
        project.shell(&format!("mkdir {directory} && ln -s /nowhere/x {file}"));
        for options in [&[][..], &["--dry-run"], &["--remove"]] {
            let answer = run(&project, &[&["setup", agent], options].concat());
            assert_eq!(answer.code, Some(2), "{answer:?}");
            let why = "is a link to /nowhere/x, which does not exist, so no file was changed";
            assert!(answer.stderr.contains(why), "{answer:?}");
        }
    }
}

/// home-manager links read-only files. Not even root can create files in `/proc`.
#[cfg(target_os = "linux")]
#[test]
fn entries_for_a_file_that_cannot_be_written_are_printed() {
    let project = Project::new(&[]);
    let mut codex = command(&project, &["setup", "codex"]);
    codex.env("CODEX_HOME", "/proc/self");
    let answer = answer(codex.stdin(Stdio::null()).output().unwrap());
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(2), ""), "{answer:?}");
    for part in [
        "so no file was changed",
        "To set it up by hand, add:\n\n/proc/self/config.toml:\n[mcp_servers.hashline]\n",
        " hook codex --deny=Edit,Write",
    ] {
        assert!(answer.stderr.contains(part), "{part}: {answer:?}");
    }
}

/// It waited for a writer of the FIFO, and read a device until memory ran out.
#[cfg(unix)]
#[test]
fn regression_a_configuration_must_be_a_regular_file() {
    for (agent, files) in AGENTS {
        for script in ["mkfifo", "ln -s /dev/zero"] {
            let project = Project::new(&[]);
            for file in files {
                let directory = file.rsplit_once('/').map_or(".", |(directory, _)| directory);
                project.shell(&format!("mkdir -p {directory} && {script} {file}"));
            }
            for options in [&[][..], &["--dry-run"], &["--remove"]] {
                let answer = run(&project, &[&["setup", agent], options].concat());
                assert_eq!(answer.code, Some(2), "{agent} {script}: {answer:?}");
                let why = "it is a FIFO, socket or device, not a regular file";
                assert!(answer.stderr.contains(why), "{agent} {script}: {answer:?}");
            }
        }
    }
}

#[test]
fn commands_that_run_after_edits_are_written_into_the_entry_of_the_server() {
    for (agent, file) in [
        ("claude", ".claude.json"),
        ("codex", ".codex/config.toml"),
        ("cursor", ".cursor/mcp.json"),
        ("gemini", ".gemini/settings.json"),
        ("omp", ".omp/agent/mcp.json"),
    ] {
        let project = Project::new(&[]);
        let options = ["--after", "*.ts=prettier --write {}", "--after-timeout", "20"];
        set_up(&project, &[&[agent], &options[..]].concat());
        let content = project.content(file);
        assert!(content.contains("*.ts=prettier --write {}"), "{content}");
        assert!(content.contains("--after-timeout") && content.contains("20"), "{content}");
        // The same again changes nothing, and without the options they are removed.
        set_up(&project, &[&[agent], &options[..]].concat());
        assert_eq!(project.content(file), content);
        set_up(&project, &[agent]);
        assert!(!project.content(file).contains("--after"), "{}", project.content(file));
        set_up(&project, &[agent, "--remove"]);
        assert!(!exists(&project.path(file)));
    }
    let project = Project::new(&[]);
    for agent in ["opencode", "pi"] {
        let refused = run(&project, &["setup", agent, "--after", "prettier"]);
        assert_eq!(refused.code, Some(2));
        assert!(refused.stderr.contains("an option of the MCP server"), "{refused:?}");
    }
    let malformed = run(&project, &["setup", "claude", "--after", "'"]);
    assert!(malformed.stderr.contains("a quote is not closed"), "{malformed:?}");
    assert!(!exists(&project.path(".claude.json")));
}
