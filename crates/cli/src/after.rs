//! The option `--after`: commands that run on each file that an edit has written, such as a
//! formatter or a linter. `command` parses them, `process` runs one, `messages` reads the lines of
//! linters.

mod command;
mod messages;
pub mod process;

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use hashline_core::{AfterWrite, Cancel};
use hashline_tools::{WrittenPath, note_of};

pub use command::AfterCommand;
use process::{Ended, Limits, run};

/// How long the commands of one edit may take together, in seconds, by default.
pub const TIMEOUT_SECONDS: u64 = 30;

/// The commands of a call of the program.
#[derive(Clone, Debug, Default)]
pub struct AfterCommands {
    commands: Vec<AfterCommand>,
    timeout: Duration,
}

/// How many lines of the output of a failed command a note has.
const NOTE_LINES: usize = 3;

impl AfterCommands {
    /// Commands that may take `timeout` together.
    pub fn new(commands: Vec<AfterCommand>, timeout: Duration) -> AfterCommands {
        AfterCommands { commands, timeout }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.commands.is_empty()
    }

    /// Runs the commands on written files, one after the other, in a directory. A command that
    /// fails does not keep the others from running; cancellation does.
    pub fn run(&self, files: &[WrittenPath], directory: &Path, cancel: &Cancel) -> AfterWrite {
        let mut after = AfterWrite::default();
        let started = Instant::now();
        let existing = files.iter().filter(|file| file.change != "deleted");
        let calls = existing.flat_map(|file| {
            let relative = relative(&file.path, directory);
            let own = self.commands.iter().filter(|one| one.is_for(&relative));
            own.map(|one| (one, file, relative.clone())).collect::<Vec<_>>()
        });
        let mut skipped = 0;
        for (command, WrittenPath { path, .. }, relative) in calls {
            let timeout = self.timeout.saturating_sub(started.elapsed());
            if cancel.is_cancelled() {
                after.notes.push("The edit is written, but --after was cancelled".to_owned());
                break;
            }
            if timeout.is_zero() {
                skipped += 1;
                continue;
            }
            let limits = Limits { timeout, cancel };
            let (ended, output) = run(&command.arguments(path), directory, limits);
            let diagnostics = messages::read(&output, directory);
            let name = format!("{} on {relative}", command.name());
            let has_messages = !diagnostics.is_empty();
            let said = if has_messages { "" } else { &output };
            after.notes.extend(note(&name, &ended, self.timeout, said));
            after.diagnostics.extend(diagnostics);
        }
        if skipped > 0 {
            let limit = self.timeout.as_secs_f64();
            after
                .notes
                .push(format!("{skipped} more runs of --after had no time within {limit} s"));
        }
        after
    }
}

/// The note about a command that did not succeed.
fn note(name: &str, ended: &Ended, limit: Duration, output: &str) -> Option<String> {
    let why = match ended {
        Ended::Succeeded => return None,
        Ended::Failed(status) => status.clone(),
        Ended::NotStarted(cause) => format!("cannot be started: {cause}"),
        Ended::TimedOut => {
            format!("was ended: --after takes at most {} s for an edit", limit.as_secs_f64())
        }
        Ended::Cancelled => "was cancelled".to_owned(),
    };
    let lines = output.lines().map(str::trim).filter(|line| !line.is_empty());
    let start = lines.take(NOTE_LINES).collect::<Vec<_>>().join(" / ");
    let said = if start.is_empty() { String::new() } else { format!(": {start}") };
    Some(note_of(&format!("The edit is written, but {name} {why}{said}")))
}

/// A path relative to a directory, with `/`; the path itself if it is elsewhere.
fn relative(path: &str, directory: &Path) -> String {
    let directories = [Some(directory.to_owned()), std::fs::canonicalize(directory).ok()];
    let beneath = |directory: &PathBuf| Path::new(path).strip_prefix(directory).ok();
    let found = directories.iter().flatten().find_map(beneath);
    let found = found.map_or_else(|| path.into(), |found| found.to_string_lossy());
    found.replace(std::path::MAIN_SEPARATOR, "/")
}
