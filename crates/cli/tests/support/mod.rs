//! Shared by the tests that run the program: a directory of files, and runs in it.

#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A directory with files, beside it one for state.
pub struct Project {
    dir: TempDir,
}

/// What a run of the program answered.
#[derive(Debug, PartialEq, Eq)]
pub struct Answer {
    pub code: Option<i32>,
    pub stdout: String,
    pub stderr: String,
}

impl Project {
    /// Files by name and content.
    pub fn new(files: &[(&str, &str)]) -> Project {
        let dir = tempfile::tempdir().unwrap();
        let project = Project { dir };
        fs::create_dir(project.path("")).unwrap();
        for (name, content) in files {
            project.write(name, content.as_bytes());
        }
        project
    }

    /// The path of a file in it.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("files").join(name)
    }

    /// The directory for state.
    pub fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Writes a file, and makes the directories above it.
    pub fn write(&self, name: &str, content: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    /// The content of a file.
    pub fn content(&self, name: &str) -> String {
        fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program with arguments, in this directory.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_hashline"));
        command.args(args);
        self.settle(&mut command);
        command
    }

    /// A script of the shell in which the program is `$hashline`.
    pub fn shell(&self, script: &str) -> Answer {
        let mut command = Command::new("sh");
        command.args(["-c", script]).env("hashline", env!("CARGO_BIN_EXE_hashline"));
        self.settle(&mut command);
        answer(command.stdin(Stdio::null()).output().unwrap())
    }

    fn settle(&self, command: &mut Command) {
        command
            .current_dir(self.path(""))
            .env("XDG_STATE_HOME", self.state())
            .env_remove("HASHLINE_USAGE_LOG")
            .env_remove("HASHLINE_SESSION")
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE");
    }

    /// Runs the program with nothing on standard input.
    pub fn run(&self, args: &[&str]) -> Answer {
        answer(self.command(args).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs the program with a text on standard input.
    pub fn run_with(&self, args: &[&str], input: &str) -> Answer {
        let mut command = self.command(args);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        // One that reads nothing may be gone by now.
        let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
        answer(child.wait_with_output().unwrap())
    }
}

/// What a finished run answered.
pub fn answer(output: Output) -> Answer {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Answer { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// What a run answers that prints `stdout` and nothing else.
pub fn printed(stdout: &str) -> Answer {
    Answer { code: Some(0), stdout: stdout.to_owned(), stderr: String::new() }
}

/// Whether a path is there.
pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
