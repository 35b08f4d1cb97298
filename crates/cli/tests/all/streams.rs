//! Streams, signals and terminals.
#![cfg(unix)]

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::Duration;

use crate::support::{Answer, Project, answer};

const PATCH: &str = r#"{"path":"a","edits":[{"set_line":{"anchor":"1:02","new_text":"one"}}]}"#;

fn long_text() -> String {
    (1..=200_000).map(|number| format!("line {number}\n")).collect()
}

#[test]
fn a_closed_pipe_ends_quietly() {
    let project = Project::new(&[("a", &long_text())]);
    for command in ["read a", "search line . --max-matches 100000", "hash a", "read a --json"] {
        let script =
            format!("{{ $hashline {command}; echo code $? >&2; }} | head -c 10 >/dev/null");
        assert_eq!(project.shell(&script).stderr, "code 0\n", "{command}");
    }
}

#[test]
fn a_full_disk_is_reported() {
    if !fs::exists("/dev/full").unwrap() {
        eprintln!("skipped: there is no /dev/full here");
        return;
    }
    let project = Project::new(&[("a", "line 1\n")]);
    let commands = ["read a", "read a --json", "hash a", "search line", "doctor", "man"];
    let others = ["--help", "read --help", "--version"];
    for command in commands.into_iter().chain(others) {
        let answer = project.shell(&format!("$hashline {command} >/dev/full"));
        assert_eq!(answer.code, Some(2), "{command}");
        let expected = "cannot write to standard output: No space left";
        assert!(answer.stderr.contains(expected), "{command}: {}", answer.stderr);
    }
    for options in ["--emit-updated", "--json"] {
        project.write("a", b"line 1\n");
        let answer =
            project.shell(&format!("echo '{PATCH}' | $hashline apply {options} >/dev/full"));
        assert_eq!((answer.code, project.content("a").as_str()), (Some(2), "one\n"));
        let expected = "the patch was applied, but: cannot write to standard output: No space left";
        assert!(answer.stderr.contains(expected), "{options}: {}", answer.stderr);
    }
    // Standard error is not writable, but the exit code reports the failure.
    assert_eq!(project.shell("$hashline no-command 2>/dev/full").code, Some(2));
    assert_eq!(project.shell("$hashline read b 2>/dev/full").code, Some(2));
}

#[test]
fn regression_a_usage_log_without_a_reader_does_not_stop_a_command() {
    let project = Project::new(&[("a", "line 1\n")]);
    if !project.shell("mkfifo log").stderr.is_empty() {
        eprintln!("skipped: no FIFO can be made here");
        return;
    }
    let answer = project.shell("HASHLINE_USAGE_LOG=log $hashline hash a");
    assert_eq!((answer.code, answer.stdout.as_str()), (Some(0), "1:02\n"));
    assert!(answer.stderr.starts_with("hashline: HASHLINE_USAGE_LOG: log: "), "{}", answer.stderr);
}

/// Waits until the process handles SIGINT; returns false if the system does not report it.
fn is_ready_for_interrupts(child: &Child) -> bool {
    let status = format!("/proc/{}/status", child.id());
    for _ in 0..2_000 {
        let Ok(text) = fs::read_to_string(&status) else { return false };
        let caught = text.lines().find_map(|line| line.strip_prefix("SigCgt:"));
        let caught = caught.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
        // Signal 2 is the second bit.
        if caught.is_some_and(|mask| mask & 2 != 0) {
            return true;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    false
}

fn interrupt(child: &Child) {
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &id]).status().unwrap().success());
}

/// Interrupts an apply that is blocked, and returns its answer; `None` if the system does not
/// report signal handlers.
fn interrupted(mut child: Child) -> Option<Answer> {
    let is_ready = is_ready_for_interrupts(&child);
    if is_ready {
        interrupt(&child);
    } else {
        eprintln!("skipped: the system does not report signal handlers");
        child.kill().unwrap();
    }
    let ended = answer(child.wait_with_output().unwrap());
    is_ready.then_some(ended)
}

fn start(project: &Project, args: &[&str]) -> Child {
    let mut command = project.command(args);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

const QUIETLY: Answer = Answer { code: Some(130), stdout: String::new(), stderr: String::new() };

#[test]
fn an_interrupt_while_the_patch_is_read_ends_the_program() {
    let project = Project::new(&[("a", "line 1\n")]);
    let mut child = start(&project, &["apply"]);
    // An incomplete patch.
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(&PATCH.as_bytes()[..20]).unwrap();
    if let Some(ended) = interrupted(child) {
        assert_eq!(ended, QUIETLY);
    }
    assert_eq!(project.content("a"), "line 1\n");
    drop(stdin);
}

/// Holds the locks of the file `a`, whose first line is `line 1`; `None` if there are none.
fn hold_locks(project: &Project) -> Option<Vec<fs::File>> {
    // An edit creates the locks.
    let noop = r#"{"path":"a","edits":[{"set_line":{"anchor":"1:02","new_text":"line 1"}}]}"#;
    assert_eq!(project.run_with(&["apply"], noop).code, Some(0));
    let entries = fs::read_dir(project.state().join("hashline/locks")).into_iter().flatten();
    let held: Vec<_> =
        entries.map(|entry| fs::File::open(entry.unwrap().path()).unwrap()).collect();
    if held.is_empty() {
        eprintln!("skipped: locks are removed after use");
        return None;
    }
    held.iter().for_each(|file| file.lock().unwrap());
    Some(held)
}

#[test]
fn an_interrupt_of_a_waiting_apply_changes_nothing() {
    let project = Project::new(&[("a", "line 1\n")]);
    let Some(_held) = hold_locks(&project) else { return };
    let mut child = start(&project, &["apply", "--lock-timeout", "600000"]);
    child.stdin.take().unwrap().write_all(PATCH.as_bytes()).unwrap();
    if let Some(ended) = interrupted(child) {
        assert_eq!(ended, QUIETLY);
    }
    assert_eq!(project.content("a"), "line 1\n");
}

/// A server after its first answer, and its input.
fn serve(project: &Project) -> (Child, ChildStdin, BufReader<ChildStdout>) {
    let mut child = start(project, &["mcp"]);
    let mut stdin = child.stdin.take().unwrap();
    let mut stdout = BufReader::new(child.stdout.take().unwrap());
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}"#;
    let ready = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    writeln!(stdin, "{hello}").unwrap();
    let mut answer = String::new();
    stdout.read_line(&mut answer).unwrap();
    assert!(answer.contains("serverInfo"), "{answer}");
    writeln!(stdin, "{ready}").unwrap();
    (child, stdin, stdout)
}

#[test]
fn an_interrupt_ends_an_idle_server() {
    let project = Project::new(&[]);
    let (child, stdin, stdout) = serve(&project);
    interrupt(&child);
    assert_eq!(answer(child.wait_with_output().unwrap()), QUIETLY);
    drop((stdin, stdout));
}

#[test]
fn an_interrupt_of_a_server_with_a_waiting_edit_changes_nothing() {
    let project = Project::new(&[("a", "line 1\n")]);
    let Some(held) = hold_locks(&project) else { return };
    let (child, mut stdin, mut stdout) = serve(&project);
    let edit = r#"{"op":"set_line","path":"a","anchor":"1:02","text":"one"}"#;
    let call = |id: u32, name: &str, arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        )
    };
    writeln!(stdin, "{}", call(2, "read", r#"{"path":"a"}"#)).unwrap();
    let mut shown = String::new();
    stdout.read_line(&mut shown).unwrap();
    assert!(shown.contains("1:02|line 1"), "{shown}");
    writeln!(stdin, "{}", call(3, "apply", &format!(r#"{{"operations":[{edit}]}}"#))).unwrap();
    // A request that is answered while the edit waits shows that the edit has arrived.
    writeln!(stdin, r#"{{"jsonrpc":"2.0","id":4,"method":"ping"}}"#).unwrap();
    let mut pong = String::new();
    stdout.read_line(&mut pong).unwrap();
    assert!(pong.contains("\"id\":4"), "{pong}");
    interrupt(&child);
    let ended = answer(child.wait_with_output().unwrap());
    assert_eq!((ended.code, ended.stderr.as_str()), (Some(130), ""));
    assert_eq!(project.content("a"), "line 1\n");
    drop((held, stdin, stdout));
}

/// Messages on standard error appeared above rows that were still buffered.
#[test]
fn regression_messages_appear_after_the_rows_before_them() {
    let project = Project::new(&[("a", "line 1\n"), ("b", "line 1\n")]);
    let read = project.shell("$hashline read a missing b 2>&1").stdout;
    let at = |part: &str| read.find(part).unwrap_or_else(|| panic!("{part}: {read}"));
    assert!(at("--- a ---") < at("hashline: missing"), "{read}");
    assert!(at("hashline: missing") < at("--- b ---"), "{read}");
    let found = project.shell("$hashline search line a b missing --max-matches 1 2>&1").stdout;
    assert!(found.starts_with("--- a ---\n1:02|line 1\n"), "{found}");
    assert!(
        found.contains("hashline: missing") && found.contains("a limit omitted matches"),
        "{found}"
    );
}

/// Progress was shown while a pager showed rows and blocked the search.
#[test]
fn regression_progress_ends_before_the_first_row() {
    let project = Project::new(&[("a", &long_text()), ("b", &long_text())]);
    // The reader pauses, but stays connected.
    let search = "$hashline search line --max-matches 1000000 | { head -c 10; sleep 1; }";
    let Some(shown) = on_a_terminal(&project, search) else { return };
    // On a busy machine, progress may be shown before the first row.
    assert!(shown.ends_with("--- a ---\n"), "{shown:?}");
}

/// The output on a terminal of 80 columns; `None` without the program that creates one.
fn on_a_terminal(project: &Project, script: &str) -> Option<String> {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: the program script is not installed");
        return None;
    }
    let inner = format!("stty cols 80 rows 40; {script}");
    fs::write(project.path("inner.sh"), inner).unwrap();
    let shown = project.shell("TERM=xterm-256color script -qec 'sh inner.sh' /dev/null");
    assert_eq!(shown.code, Some(0), "{shown:?}");
    Some(shown.stdout.replace("\r\n", "\n"))
}

#[test]
fn a_terminal_gets_colours_and_a_view_of_diffs() {
    let project = Project::new(&[("a", "line 1\nline 2\n"), ("patch", PATCH)]);
    let dry_run = "$hashline apply -i patch --dry-run";
    let Some(view) = on_a_terminal(&project, dry_run) else { return };
    let plain = "a  edited  +1 -1\n1   - line 1\n  1 + one\n2 2   line 2\n";
    assert_eq!(without_colors(&view), plain);
    assert!(view.contains("\u{1b}[31m"), "{view:?}");
    for silent in
        ["NO_COLOR=1 $hashline apply -i patch --dry-run", &format!("{dry_run} --color never")]
    {
        assert_eq!(on_a_terminal(&project, silent).unwrap(), plain, "{silent}");
    }
    let rows = on_a_terminal(&project, "$hashline read a").unwrap();
    assert_eq!(rows, "\u{1b}[36m1:02|\u{1b}[0mline 1\n\u{1b}[36m2:b2|\u{1b}[0mline 2\n");
}

#[test]
fn a_terminal_gets_highlighted_matches() {
    let project = Project::new(&[("a", "two one two\nnone\n")]);
    let search = "$hashline search --dialect cli -e 't?wo|^' a --max-matches 1";
    let Some(shown) = on_a_terminal(&project, search) else { return };
    let mark = |text: &str| format!("\u{1b}[1m\u{1b}[31m{text}\u{1b}[0m");
    assert!(shown.contains(&format!("{} one {}\n", mark("two"), mark("two"))), "{shown:?}");
    let read = "$hashline read a --search ONE";
    assert!(on_a_terminal(&project, read).unwrap().contains(&mark("one")));
    for plain in [&format!("NO_COLOR=1 {search}"), &format!("{search} --color never")] {
        let shown = on_a_terminal(&project, plain).unwrap();
        assert!(shown.contains("|two one two\n") && !shown.contains('\u{1b}'), "{shown:?}");
    }
    let forced = project.run(&["search", "none", "a", "--color", "always"]);
    assert!(forced.stdout.contains(&mark("none")), "{}", forced.stdout);
}

#[test]
fn a_terminal_is_asked_for_standard_input() {
    let project = Project::new(&[("a", "line 1\n")]);
    // The input of a terminal ends with the character 4.
    let apply =
        "printf '{\"operations\":[]}\\n\\004' | script -qec '$hashline apply' /dev/null; true";
    fs::write(project.path("inner.sh"), apply).unwrap();
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: the program script is not installed");
        return;
    }
    let shown = project.shell("sh inner.sh").stdout;
    assert!(shown.contains("hashline: reading standard input; Ctrl-D ends it"), "{shown:?}");
    let piped = project.run_with(&["apply"], "{}");
    assert!(!piped.stderr.contains("reading standard input"), "{}", piped.stderr);
}

#[test]
fn a_terminal_shows_the_progress_of_a_long_search() {
    if Command::new("script").arg("--version").output().is_err() {
        eprintln!("skipped: the program script is not installed");
        return;
    }
    // The pattern takes the maximum number of steps in each file: far longer than the delay.
    let line = format!("{}\n", "a".repeat(40));
    let project = Project::new(&[]);
    for file in 0..40 {
        project.write(&format!("dir/{file}"), line.repeat(4_000).as_bytes());
    }
    let search = r"exec $hashline search -e '(?=(a+)+$)b' dir";
    fs::write(project.path("inner.sh"), search).unwrap();
    let mut terminal = Command::new("script")
        .args(["-qec", "sh inner.sh", "/dev/null"])
        .current_dir(project.path(""))
        .env("hashline", env!("CARGO_BIN_EXE_hashline"))
        .env("TERM", "xterm-256color")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut shown = Vec::new();
    let stdout = BufReader::new(terminal.stdout.take().unwrap());
    // The line is overwritten repeatedly, and has no newline.
    let is_shown = stdout.bytes().map_while(Result::ok).any(|byte| {
        shown.push(byte);
        shown.ends_with(b" of 40 files, ")
    });
    terminal.kill().unwrap();
    terminal.wait().unwrap();
    let shown = String::from_utf8_lossy(&shown);
    assert!(is_shown && shown.contains("\rsearched "), "{shown:?}");
}

#[test]
fn a_file_cannot_control_the_terminal() {
    let project = Project::new(&[("a", "\u{1b}]0;title\u{7}x\n")]);
    let Some(rows) = on_a_terminal(&project, "$hashline read a --color never") else { return };
    assert!(rows.ends_with("|^[]0;title^Gx\n"), "{rows:?}");
    // A pipe gets the bytes unchanged.
    assert!(project.run(&["read", "a"]).stdout.ends_with("|\u{1b}]0;title\u{7}x\n"));
}

fn without_colors(text: &str) -> String {
    let mut plain = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        plain += before;
        rest = after.split_once('m').map_or("", |(_, rest)| rest);
    }
    plain + rest
}
