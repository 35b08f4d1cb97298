//! A command of `--after`: `[GLOB=]COMMAND`. No shell interprets it: it is split into words as a
//! shell does, and `{}` becomes the path of the file within a word.

use std::str::FromStr;

/// Where the path of the file goes.
const PLACE: &str = "{}";

/// A command that runs on written files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AfterCommand {
    /// The files on which it runs; `None` means all.
    glob: Option<String>,
    /// The program and its arguments, at least one.
    words: Vec<String>,
    /// As it was written.
    text: String,
}

impl FromStr for AfterCommand {
    type Err = String;

    fn from_str(text: &str) -> Result<AfterCommand, String> {
        let (glob, command) = match text.split_once('=') {
            Some((glob, command)) if !glob.is_empty() && !glob.contains(char::is_whitespace) => {
                (Some(glob.to_owned()), command)
            }
            _ => (None, text),
        };
        let words = shlex::split(command).ok_or("a quote is not closed")?;
        if words.first().is_none_or(String::is_empty) {
            return Err("expected a command, such as 'prettier --write {}'".to_owned());
        }
        Ok(AfterCommand { glob, words, text: text.to_owned() })
    }
}

impl AfterCommand {
    /// The command as it was written.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The program, for messages.
    pub fn name(&self) -> &str {
        &self.words[0]
    }

    /// Whether it runs on a file. A glob without `/` is compared with the name of the file.
    pub fn is_for(&self, path: &str) -> bool {
        let Some(glob) = &self.glob else { return true };
        let name = path.rsplit('/').next().unwrap_or(path);
        let compared = if glob.contains('/') { path } else { name };
        fast_glob::glob_match(glob.trim_start_matches("./"), compared)
    }

    /// The program and its arguments for a file. Without `{}`, the path is the last argument.
    pub fn arguments(&self, path: &str) -> Vec<String> {
        let (program, rest) = self.words.split_first().expect("a command has a program");
        let mut arguments = vec![program.clone()];
        arguments.extend(rest.iter().map(|word| word.replace(PLACE, path)));
        if !rest.iter().any(|word| word.contains(PLACE)) {
            arguments.push(path.to_owned());
        }
        arguments
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn arguments(command: &str, path: &str) -> Vec<String> {
        AfterCommand::from_str(command).unwrap().arguments(path)
    }

    #[test]
    fn a_path_is_one_argument_whatever_it_contains() {
        let path = "/a b/$(touch x); `y`'\"{}\n.ts";
        assert_eq!(arguments("fmt --write {}", path), ["fmt", "--write", path]);
        assert_eq!(arguments("fmt", path), ["fmt", path]);
        assert_eq!(arguments("fmt --file={} 'a b'", "/p"), ["fmt", "--file=/p", "a b"]);
    }

    #[test]
    fn globs_choose_files() {
        let is_for =
            |command: &str, path: &str| AfterCommand::from_str(command).unwrap().is_for(path);
        assert!(is_for("*.{ts,tsx}=x", "src/a.tsx") && !is_for("*.{ts,tsx}=x", "src/a.js"));
        assert!(is_for("src/**/*.ts=x", "src/deep/a.ts") && !is_for("src/**/*.ts=x", "a.ts"));
        assert!(is_for("x --option=1", "a"));
        assert!(is_for("=x", "a"));
    }

    #[test]
    fn malformed_commands_are_refused() {
        for text in ["", "  ", "*.ts=", "fmt 'open", "''"] {
            AfterCommand::from_str(text).unwrap_err();
        }
    }
}
