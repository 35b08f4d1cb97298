//! What a host appends to the output of a shell command: the lines that the output names, with
//! anchors.

use std::collections::HashSet;
use std::path::PathBuf;

use hashline_core::host::Turn;
use hashline_core::{AnnotateOptions, Cancel, Error, ReadReport};
use serde::Deserialize;

/// What is known about the command of an output.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, rename_all = "camelCase", deny_unknown_fields)]
pub struct ShellCall {
    /// The command line: its `cd` and options such as `make -C` are followed.
    pub command: Option<String>,
    /// Where it ran.
    pub cwd: Option<PathBuf>,
    /// When it started, in milliseconds after the epoch.
    #[serde(rename = "since")]
    pub since_ms: Option<u64>,
}

/// Precedes the lines.
const HEADING: &str = "Lines that this output names, with their anchors:";

/// The limits are far below those of all hosts: a line that the host cuts would count as shown.
/// Claude Code may cut additional context at 8,000 characters, and Codex at about 10,000.
const MAX_FILES: usize = 20;
const MAX_LINES: u64 = 60;
const MAX_BYTES: usize = 6 << 10;

/// The lines that the output of a shell command names, for the model; they count as shown. Empty if
/// it names none, or if it shows all of them with these anchors itself.
pub fn annotation(
    turn: Turn,
    output: &str,
    call: &ShellCall,
    cancel: &Cancel,
) -> Result<String, Error> {
    let (cwd, is_known) = directory(call, output);
    let options = AnnotateOptions {
        cwd,
        is_elsewhere: !is_known,
        since_ms: call.since_ms,
        context: 0,
        max_files: MAX_FILES,
        max_lines: MAX_LINES,
        max_bytes: MAX_BYTES,
    };
    let report = turn.annotate(output, &options, cancel)?;
    let is_empty = report.views.is_empty() || repeats(output, &report);
    Ok(if is_empty { String::new() } else { format!("{HEADING}\n{}", report.text) })
}

/// Whether an output has all the lines of a report, as a read prints them.
fn repeats(output: &str, report: &ReadReport) -> bool {
    let spans = report.spans.iter().filter_map(|span| report.text.get(span.clone()));
    let mut missing: HashSet<&str> = spans.flat_map(str::lines).collect();
    for line in output.lines() {
        missing.remove(line);
    }
    missing.is_empty()
}

/// Where a command runs, and whether that is known: by its text, or where `make` says that it enters
/// a directory.
fn directory(call: &ShellCall, output: &str) -> (Option<PathBuf>, bool) {
    let entered: HashSet<&str> = output.lines().filter_map(entered_directory).collect();
    match entered.iter().next() {
        Some(only) if entered.len() == 1 => return (Some(PathBuf::from(only)), true),
        Some(_) => return (call.cwd.clone(), false),
        None => {}
    }
    let cwd = call.cwd.as_deref().map(|cwd| cwd.to_string_lossy());
    let line = call.command.as_deref().unwrap_or_default();
    match hashline_guard::directory(line, cwd.as_deref()) {
        Some(place) if place.is_empty() => (call.cwd.clone(), true),
        Some(place) => (Some(place.into()), true),
        None => (call.cwd.clone(), false),
    }
}

/// `make[1]: Entering directory '/home/dev/app'`
fn entered_directory(line: &str) -> Option<&str> {
    let (program, path) = line.split_once(": Entering directory ")?;
    let is_make = program.starts_with("make") || program.starts_with("gmake");
    Some(path.trim().trim_matches(['\'', '`', '"'])).filter(|_| is_make)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directory_of(command: &str, cwd: Option<&str>) -> Option<String> {
        let (command, cwd) = (Some(command.to_owned()), cwd.map(PathBuf::from));
        let call = ShellCall { command, cwd, since_ms: None };
        directory(&call, "").0.map(|path| path.to_string_lossy().replace('\\', "/"))
    }

    #[test]
    fn a_cd_of_a_command_is_followed() {
        for (command, expected) in [
            ("cd app && npm test", "/p/app"),
            ("cd app; cd lib\nmake", "/p/app/lib"),
            ("  (cd 'my app' && make)", "/p/my app"),
            ("cd \"my app\"&&make", "/p/my app"),
            ("cd -- app && make", "/p/app"),
            ("cd /other && make", "/other"),
            ("make", "/p"),
            ("cd", "/p"),
            ("cd app", "/p"),
            ("cd app || make", "/p"),
            ("cd app | make", "/p"),
            ("cd - && make", "/p"),
            ("cd ~/app && make", "/p"),
            ("cd \"$app\" && make", "/p"),
            ("cd 'app", "/p"),
            ("cd \"é", "/p"),
            ("cdé app && make", "/p"),
            ("echo cd app && make", "/p"),
        ] {
            assert_eq!(directory_of(command, Some("/p")).as_deref(), Some(expected), "{command}");
        }
        assert_eq!(directory_of("cd app && make", None).as_deref(), Some("app"));
        assert_eq!(directory_of("make", None), None);
    }

    #[test]
    fn regression_another_directory_is_not_taken_for_this_one() {
        let known = |command: &str, output: &str| {
            let call = ShellCall { command: Some(command.into()), ..ShellCall::default() };
            directory(&call, output)
        };
        for command in [
            "tsc; cd pkg; tsc",
            "cd pkg || tsc",
            "cd \"$HOME/pkg\" && tsc",
            "cd \"pkg/$name\" && tsc",
            "cd pkg* && tsc",
            "cd ~/pkg && tsc",
            "env -C pkg tsc",
            "make -C \"$dir\"",
            "make; make -C pkg",
            "cd 'pkg && tsc",
        ] {
            assert_eq!(known(command, ""), (None, false), "{command}");
        }
        for command in [
            "export CI=1; cd pkg && tsc",
            "set -e; cd pkg; tsc",
            "pushd pkg && tsc",
            "cd pkg 2>/dev/null && tsc",
            "time (cd pkg && tsc)",
            "bash -c \"cd pkg && tsc\"",
            "npm --prefix pkg run build",
            "npm --prefix=pkg test",
            "make -C pkg",
            "make -Cpkg 2>&1 | tail -5",
            "git -C pkg grep -n x",
        ] {
            assert_eq!(known(command, ""), (Some("pkg".into()), true), "{command}");
        }
        for command in
            ["make", "rg -C 3 x", "grep -nC3 x", "cd pkg", "cargo test --cdylib", "echo cd pkg"]
        {
            assert_eq!(known(command, ""), (None, true), "{command}");
        }
        let output = "make[1]: Entering directory '/p/b'\ny.c:2:1: error\n";
        assert_eq!(known("make -C b", output), (Some("/p/b".into()), true));
        let other = format!("{output}make[1]: Entering directory '/p/c'\n");
        assert!(!known("make", &other).1);
    }
}
