//! A command line, as the shells of agents read it and as one of them runs it.

use std::process::Command;

/// A program and its arguments, which need no quotes, for the shell of this system.
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

/// The process that runs a command line. With `/s`, `cmd` takes off the first quote and the last,
/// and reads what is between as it stands; the usual escapes of quotes mean nothing to it.
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

/// No path has a `"` in it on Windows.
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
