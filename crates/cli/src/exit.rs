//! How the program ends: exit codes and error messages.

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
    /// A search found nothing, as in grep.
    NotFound,
    /// Any other error.
    Error,
    /// The user pressed Ctrl-C, and nothing was changed.
    Interrupted,
}

impl Exit {
    /// The code for the shell.
    pub fn code(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Mismatch | Exit::NotFound => 1,
            Exit::Error => 2,
            // 128 plus the number of SIGINT, as in shells.
            Exit::Interrupted => 130,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.code())
    }
}

/// Why a command failed.
#[derive(Debug)]
pub enum Failure {
    /// The engine refused, or failed.
    Engine(Error),
    /// Standard output cannot be written.
    Output(io::Error),
}

impl Failure {
    /// The error of a report about work that is done.
    pub fn after(self, done: &str) -> Failure {
        let mut error = match self {
            // The reader needs no more output.
            Failure::Output(cause) if cause.kind() == io::ErrorKind::BrokenPipe => {
                return Failure::Output(cause);
            }
            Failure::Output(cause) => unwritable(&cause),
            Failure::Engine(error) => error,
        };
        // Ctrl-C at this point only interrupts the output.
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

/// Reports a failure on standard error, and returns how the program ends.
pub fn report(result: Result<Exit, Failure>, as_json: bool) -> Exit {
    match result {
        Ok(exit) => exit,
        Err(Failure::Engine(error)) if error.code == Code::Aborted => Exit::Interrupted,
        Err(Failure::Engine(error)) => {
            complain(&error, as_json);
            Exit::Error
        }
        // The reader needs no more output.
        Err(Failure::Output(cause)) if cause.kind() == io::ErrorKind::BrokenPipe => Exit::Done,
        Err(Failure::Output(cause)) => {
            complain(&unwritable(&cause), as_json);
            Exit::Error
        }
    }
}

/// Reports an error on standard error, as a message or as data.
pub fn complain(error: &Error, as_json: bool) {
    match serde_json::to_string(error) {
        Ok(json) if as_json => print_to_stderr(&json),
        _ => say(&error.message),
    }
}

/// Writes a line to standard error. Errors cannot be reported and are ignored.
pub fn say(message: &str) {
    let _ = writeln!(io::stderr().lock(), "hashline: {message}");
}

/// Writes a text to standard error, unchanged.
pub fn print_to_stderr(text: &str) {
    let newline = if text.ends_with('\n') { "" } else { "\n" };
    let _ = write!(io::stderr().lock(), "{text}{newline}");
}
