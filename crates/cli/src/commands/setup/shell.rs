//! Command lines: quotes them for the shells of agents, and runs them.

use std::process::Command;

/// A command line for the shell of this system. The arguments need no quotes.
pub fn command_line(program: &str, args: &[&str]) -> String {
    let program = if cfg!(windows) { for_cmd(program) } else { for_sh(program) };
    [&[program.as_str()], args].concat().join(" ")
}

/// The process that runs a command line.
#[cfg(not(windows))]
pub fn command(line: &str) -> Command {
    let mut command = Command::new("sh");
    command.args(["-c", line]);
    command
}

/// The process that runs a command line. With `/s`, `cmd` removes the first and the last quote and
/// takes the text between them literally, without the usual escapes of quotes.
#[cfg(windows)]
pub fn command(line: &str) -> Command {
    use std::os::windows::process::CommandExt;
    let mut command = Command::new("cmd");
    command.args(["/d", "/s", "/c"]).raw_arg(format!("\"{line}\""));
    command
}

fn for_sh(program: &str) -> String {
    if program.chars().all(|c| c.is_ascii_alphanumeric() || "/:._-+@".contains(c)) {
        return program.to_owned();
    }
    format!("'{}'", program.replace('\'', r"'\''"))
}

/// On Windows a path cannot have a `"`.
fn for_cmd(program: &str) -> String {
    if program.chars().all(|c| c.is_ascii_alphanumeric() || r"/\:._-+".contains(c)) {
        return program.to_owned();
    }
    format!("\"{program}\"")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_quoted_where_a_shell_would_split_or_read_them() {
        for (path, sh, cmd) in [
            ("/usr/bin/hashline", "/usr/bin/hashline", "/usr/bin/hashline"),
            ("/my tools/it's", r"'/my tools/it'\''s'", "\"/my tools/it's\""),
            (r"C:\bin\hashline.exe", r"'C:\bin\hashline.exe'", r"C:\bin\hashline.exe"),
            (r"C:\A & B\h.exe", r"'C:\A & B\h.exe'", r#""C:\A & B\h.exe""#),
            ("/$HOME/ä", "'/$HOME/ä'", "\"/$HOME/ä\""),
        ] {
            assert_eq!((for_sh(path), for_cmd(path)), (sh.to_owned(), cmd.to_owned()));
        }
    }
}
