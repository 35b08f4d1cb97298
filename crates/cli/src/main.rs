//! The program `hashline`: the engine for people, shell scripts and agents without JavaScript.
//!
//! It parses the command line, calls a method of the core's `Workspace`, and prints the answer:
//! results on standard output, diagnostics on standard error. It ends with one of the codes of
//! [`exit`].

mod after;
mod args;
mod call;
mod commands;
mod diff_view;
mod exit;
mod files;
mod input;
mod interrupt;
mod mismatch;
mod output;
mod paint;
mod progress;
mod served;
mod usage;

use std::io::Write;

use clap::error::ErrorKind;
use hashline_core::Error;

use exit::{Exit, Failure};

fn main() -> std::process::ExitCode {
    let args = match args::parse() {
        Ok(args) => args,
        Err(error) => return print_clap(&error).into(),
    };
    args.shared.color.write_global();
    interrupt::ends_the_process();
    let record = usage::Record::begin();
    let exit = exit::report(commands::run(&args), args.shared.json);
    record.write(args.command.name(), exit);
    exit.into()
}

/// Prints the help, the version, or the error in the command line.
fn print_clap(error: &clap::Error) -> Exit {
    if !error.use_stderr() {
        let printed = error.print().and_then(|()| std::io::stdout().flush());
        return exit::report(printed.map(|()| Exit::Done).map_err(Failure::Output), false);
    }
    let as_json = std::env::args_os().take_while(|arg| arg != "--").any(|arg| arg == "--json");
    if as_json || error.kind() == ErrorKind::InvalidUtf8 {
        exit::complain(&usage_error(error), as_json);
    } else {
        // Errors of standard error cannot be reported.
        let _ = error.print();
    }
    Exit::Error
}

/// The error in the command line, as clap words it. clap does not name an argument that is not
/// UTF-8.
fn usage_error(error: &clap::Error) -> Error {
    if error.kind() != ErrorKind::InvalidUtf8 {
        return Error::argument(in_words_of_clap(error));
    }
    let arg = std::env::args_os().find(|arg| arg.to_str().is_none());
    let session = std::env::var_os(args::SESSION_VARIABLE).filter(|name| name.to_str().is_none());
    let message = match (arg, session) {
        (Some(arg), _) => format!(
            "the argument {arg:?} is not UTF-8, which paths and texts require. \
             Rename the file, or pass its content to standard input (-)."
        ),
        (None, Some(name)) => format!(
            "the variable {} is {name:?}, which is not UTF-8. \
             Set it to another name, or unset it.",
            args::SESSION_VARIABLE
        ),
        (None, None) => in_words_of_clap(error),
    };
    Error::argument(message)
}

fn in_words_of_clap(error: &clap::Error) -> String {
    let text = error.render().to_string();
    text.strip_prefix("error: ").unwrap_or(&text).trim_end().to_owned()
}
