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

use clap::Parser;

use args::Args;
use exit::Exit;

fn main() -> std::process::ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            // Whoever closed the pipe does not want the help.
            let _ = error.print();
            return if error.use_stderr() { Exit::Trouble } else { Exit::Done }.into();
        }
    };
    args.shared.color.write_global();
    interrupt::ends_the_process();
    let record = usage::Record::begin();
    let exit = exit::report(commands::run(&args), args.shared.json);
    record.write(args.command.name(), exit);
    exit.into()
}
