//! `completions` and `man`: shell completions and manual pages, generated from the definition of
//! the command line.

use std::io;
use std::path::Path;

use clap::Command;
use clap::builder::PossibleValue;
use clap_complete::Shell;
use hashline_core::Error;

use crate::args::{Completions, Man, command_line};
use crate::call::Call;
use crate::exit::{Exit, Failure};

/// `hashline completions`
pub fn completions(call: &mut Call<'_>, args: &Completions) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command_line(), "hashline", &mut script);
    if args.shell == Shell::Fish {
        script.extend(fish_values(&command_line()).into_bytes());
    }
    call.out.bytes(&script)?;
    Ok(Exit::Done)
}

/// Completions of arguments with fixed values, such as agents, which clap omits for fish.
fn fish_values(command_line: &Command) -> String {
    let mut script = String::new();
    for command in command_line.get_subcommands() {
        for argument in command.get_positionals() {
            let values = argument.get_possible_values();
            let names: Vec<&str> = values.iter().map(PossibleValue::get_name).collect();
            if !names.is_empty() {
                script += &format!(
                    "complete -c hashline -n \"__fish_hashline_using_subcommand {}\" -f -a \"{}\"\n",
                    command.get_name(),
                    names.join(" ")
                );
            }
        }
    }
    script
}

/// `hashline man`
pub fn man(call: &mut Call<'_>, args: &Man) -> Result<Exit, Failure> {
    match &args.directory {
        Some(directory) => write_pages(directory)?,
        None => {
            let mut page = Vec::new();
            clap_mangen::Man::new(command_line()).render(&mut page)?;
            call.out.bytes(&page)?;
        }
    }
    Ok(Exit::Done)
}

/// Writes one page for the program and one for each command.
fn write_pages(directory: &Path) -> Result<(), Error> {
    let shown = directory.to_string_lossy();
    let fault = |cause: io::Error| Error::io("write", &shown, &cause);
    std::fs::create_dir_all(directory).map_err(fault)?;
    clap_mangen::generate_to(command_line(), directory).map_err(fault)
}
