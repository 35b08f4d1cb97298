//! How the program ends: its exit codes, and what standard error says of a failure.

use std::io::{self, Write};
use std::process::ExitCode;

use hashline_core::{Code, Error};

/// The exit codes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done, or there was nothing to do.
    Done,
    /// An anchor did not match: try again with the fresh ones.
    Mismatch,
    /// Everything else.
    Trouble,
    /// The user pressed Ctrl-C, and nothing was changed.
    Interrupted,
}

impl Exit {
    /// The number that the shell sees.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Mismatch => 1,
            Exit::Trouble => 2,
            // 128 and the number of SIGINT, as shells have it.
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why a command came to nothing.
#[derive(Debug)]
pub enum Failure {
    /// The engine refused, or failed.
    Engine(Error),
    /// Standard output cannot be written.
    Output(io::Error),
}

impl Failure {
    /// The failure to tell of work that is done.
    pub fn after(self, done: &str) -> Failure {
        let mut error = match self {
            // Its reader has seen enough.
            Failure::Output(cause) if cause.kind() == io::ErrorKind::BrokenPipe => {
                return Failure::Output(cause);
            }
            Failure::Output(cause) => unwritable(&cause),
            Failure::Engine(error) => error,
        };
        // Whoever interrupts now has interrupted no more than the report.
        if error.code == Code::Aborted {
            error.code = Code::Io;
        }
        Failure::Engine(error.within(format!("{done}, but: "), ""))
    }
}

fn unwritable(cause: &io::Error) -> Error {
    Error::new(Code::Io, format!("cannot write to standard output: {cause}"))
}

impl From<Error> for Failure {
    fn from(error: Error) -> Failure {
        Failure::Engine(error)
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Failure {
        Failure::Output(error)
    }
}

/// Says on standard error why a command failed, and how the program ends.
pub fn report(result: Result<Exit, Failure>, as_json: bool) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(Failure::Engine(error)) if error.code == Code::Aborted => Exit::Interrupted,
        Err(Failure::Engine(error)) => {
            complain(&error, as_json);
            Exit::Trouble
        }
        // Its reader has seen enough.
        Err(Failure::Output(cause)) if cause.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        Err(Failure::Output(cause)) => {
            complain(&unwritable(&cause), as_json);
            Exit::Trouble
        }
    }
}

/// Tells an error on standard error, as a message or as data.
pub fn complain(error: &Error, as_json: bool) {
    match serde_json::to_string(error) {
        Ok(json) if as_json => print_to_stderr(&json),
        _ => say(&error.message),
    }
}

/// A line on standard error. Where that cannot be written, nobody can be told.
pub fn say(message: &str) {
    let _ = writeln!(io::stderr().lock(), "hashline: {message}");
}

/// A text on standard error, as it is.
pub fn print_to_stderr(text: &str) {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    let _ = write!(io::stderr().lock(), "{text}{newline}");
}
