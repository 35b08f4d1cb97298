//! Shared by the tests of the program: a directory of files, and runs in it.

#![allow(dead_code, reason = "each test binary uses a part of this")]

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A directory with files, and a state directory next to it.
pub struct Project {
    dir: TempDir,
}

/// The answer of a run.
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

    /// The path of a file.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("files").join(name)
    }

    /// The state directory.
    pub fn state(&self) -> PathBuf {
        self.dir.path().join("state")
    }

    /// Writes a file, and creates its directories.
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

    /// A shell script in which `$hashline` is the program.
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

    /// Runs the program without standard input.
    pub fn run(&self, args: &[&str]) -> Answer {
        answer(self.command(args).stdin(Stdio::null()).output().unwrap())
    }

    /// Runs the program with a text as standard input.
    pub fn run_with(&self, args: &[&str], input: &str) -> Answer {
        answer_with(self.command(args), input)
    }
}

/// The answer of a command with a text as standard input.
pub fn answer_with(mut command: Command, input: &str) -> Answer {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // A program that does not read its input may have ended.
    let _ = child.stdin.take().unwrap().write_all(input.as_bytes());
    answer(child.wait_with_output().unwrap())
}

/// The answer of a finished run.
pub fn answer(output: Output) -> Answer {
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    Answer { code: output.status.code(), stdout: text(output.stdout), stderr: text(output.stderr) }
}

/// The answer of a run that succeeds and prints only `stdout`.
pub fn printed(stdout: &str) -> Answer {
    Answer { code: Some(0), stdout: stdout.to_owned(), stderr: String::new() }
}

/// Whether a path exists.
pub fn exists(path: &Path) -> bool {
    path.symlink_metadata().is_ok()
}
