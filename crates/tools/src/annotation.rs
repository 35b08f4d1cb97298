//! What a host appends to the output of a shell command: the lines that the output names, with
//! anchors.

use std::collections::HashSet;
use std::path::PathBuf;

use hashline_core::host::Turn;
use hashline_core::{AnnotateOptions, Cancel, Error, ReadReport, RunsIn};
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
    let options = AnnotateOptions {
        cwd: call.cwd.clone(),
        runs_in: runs_in(call),
        omits_absent: true,
        since_ms: call.since_ms,
        context: 0,
        max_files: MAX_FILES,
        max_lines: MAX_LINES,
        max_bytes: MAX_BYTES,
    };
    let report = turn.annotate(output, &options, cancel)?;
    Ok(match report.views.is_empty() {
        // What is not shown, if anything is.
        true => report.text,
        false if repeats(output, &report) => String::new(),
        false => format!("{HEADING}\n{}", report.text),
    })
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

/// Where a command runs, by its text.
fn runs_in(call: &ShellCall) -> RunsIn {
    let cwd = call.cwd.as_deref().map(|cwd| cwd.to_string_lossy());
    let line = call.command.as_deref().unwrap_or_default();
    match hashline_guard::directory(line, cwd.as_deref()) {
        Some(place) if place.is_empty() || cwd.as_deref() == Some(&place) => RunsIn::Cwd,
        Some(place) => RunsIn::Directory(place.into()),
        None => RunsIn::Unknown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place_of(command: &str, cwd: Option<&str>) -> RunsIn {
        let (command, cwd) = (Some(command.to_owned()), cwd.map(PathBuf::from));
        runs_in(&ShellCall { command, cwd, since_ms: None })
    }

    fn directory_of(command: &str, cwd: &str) -> String {
        match place_of(command, Some(cwd)) {
            RunsIn::Directory(path) => path.to_string_lossy().replace('\\', "/"),
            _ => cwd.to_owned(),
        }
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
            assert_eq!(directory_of(command, "/p"), expected, "{command}");
        }
        assert_eq!(place_of("cd app && make", None), RunsIn::Directory("app".into()));
        assert_eq!(place_of("make", None), RunsIn::Cwd);
    }

    #[test]
    fn regression_another_directory_is_not_taken_for_this_one() {
        for command in [
            "tsc; cd pkg; tsc",
            "cd pkg || tsc",
            "cd \"$HOME/pkg\" && tsc",
            "cd \"pkg/$name\" && tsc",
            "cd pkg* && tsc",
            "cd ~/pkg && tsc",
            "env -C \"$dir\" tsc",
            "env -C pkg tsc; tsc",
            "npm run build -w ui",
            "npm run build --workspace=@s/ui",
            "npm test --workspaces",
            "npm test -ws",
            "pnpm --filter ui build",
            "pnpm -r build",
            "pnpm -F ./ui build",
            "yarn workspace ui build",
            "yarn workspaces foreach run build",
            "bun run --filter '*' build",
            "cargo test --manifest-path pkg/Cargo.toml",
            "cargo test --manifest-path=pkg/Cargo.toml",
            "mvn -f pkg/pom.xml test",
            "mvn -pl core test",
            "nx run ui:build",
            "npx nx build ui",
            "npx turbo build",
            "lerna run build",
            "gradle -p pkg test",
            "./gradlew test -p pkg",
            "make -C \"$dir\"",
            "make; make -C pkg",
            "cd 'pkg && tsc",
        ] {
            assert_eq!(place_of(command, None), RunsIn::Unknown, "{command}");
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
            "yarn --cwd pkg build",
            "uv run --directory pkg pytest",
            "uv --directory=pkg run pytest",
            "env -C pkg CI=1 tsc",
            "env CI=1 make -C pkg",
            "poetry run make -C pkg",
            "poetry -C pkg run pytest",
            "bun --cwd pkg test",
            "go -C pkg build ./...",
            "cmake --build pkg -j4",
        ] {
            assert_eq!(place_of(command, None), RunsIn::Directory("pkg".into()), "{command}");
        }
        for command in
            ["make", "rg -C 3 x", "grep -nC3 x", "cd pkg", "cargo test --cdylib", "echo cd pkg"]
        {
            assert_eq!(place_of(command, None), RunsIn::Cwd, "{command}");
        }
    }
}
