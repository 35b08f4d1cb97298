//! The program `hashline`: the engine for people, shell scripts and agents without JavaScript.
//!
//! It parses a command line, calls a method of the core's `Workspace`, and prints the answer:
//! results on standard output, diagnostics on standard error, one of the exit codes of [`exit`].

mod args;
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
mod usage;

use std::io::Write;

use clap::Parser;

use args::Args;
use exit::{Exit, Failure};

fn main() -> std::process::ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return tell(&error).into(),
    };
    args.shared.color.write_global();
    interrupt::ends_the_process();
    let record = usage::Record::begin();
    let exit = exit::report(commands::run(&args), args.shared.json);
    record.write(args.command.name(), exit);
    exit.into()
}

/// Prints what stands in place of a command: the help, the version, or what is wrong with the
/// command line.
fn tell(error: &clap::Error) -> Exit {
    let printed = error.print().and_then(|()| std::io::stdout().flush());
    if error.use_stderr() {
        // Where standard error cannot be written, nobody can be told.
        return Exit::Trouble;
    }
    exit::report(printed.map(|()| Exit::Done).map_err(Failure::Output), false)
}
