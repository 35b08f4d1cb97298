//! A command of `--after`: `[GLOB=]COMMAND`. No shell interprets it: it is split into words as a
//! shell does, and `{}` becomes the path of the file within a word.

use std::str::FromStr;

use globset::{GlobBuilder, GlobMatcher};

/// Where the path of the file goes.
const PLACE: &str = "{}";

/// A command that runs on written files.
#[derive(Clone, Debug)]
pub struct AfterCommand {
    /// The files on which it runs; `None` means all.
    glob: Option<Glob>,
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
        let glob = glob.map(|glob| Glob::of(&glob)).transpose()?;
        let words = shlex::split(command).ok_or("a quote is not closed")?;
        if words.first().is_none_or(String::is_empty) {
            return Err("expected a command, such as 'prettier --write {}'".to_owned());
        }
        Ok(AfterCommand { glob, words, text: text.to_owned() })
    }
}

/// Chooses files by their paths. Without `/`, it is compared with the name of the file.
#[derive(Clone, Debug)]
struct Glob {
    matcher: GlobMatcher,
    has_directory: bool,
}

impl Glob {
    fn of(text: &str) -> Result<Glob, String> {
        let is_name = |text: &str| {
            let mut characters = text.chars();
            characters.next().is_some_and(|first| first.is_ascii_alphabetic() || first == '_')
                && characters.all(|other| other.is_ascii_alphanumeric() || other == '_')
        };
        if is_name(text) {
            return Err(format!(
                "{text}=… is neither a glob nor sets a variable. For a variable, use env {text}=…; for the file {text}, the glob ./{text}"
            ));
        }
        let glob = GlobBuilder::new(text.trim_start_matches("./")).literal_separator(true).build();
        let matcher = glob.map_err(|cause| format!("the glob is invalid: {cause}"))?;
        Ok(Glob {
            matcher: matcher.compile_matcher(),
            has_directory: text.trim_start_matches("./").contains('/'),
        })
    }

    fn is_for(&self, path: &str) -> bool {
        let name = path.rsplit('/').next().unwrap_or(path);
        self.matcher.is_match(if self.has_directory { path } else { name })
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

    /// Whether it runs on a file.
    pub fn is_for(&self, path: &str) -> bool {
        self.glob.as_ref().is_none_or(|glob| glob.is_for(path))
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
        for text in ["", "  ", "*.ts=", "fmt 'open", "''", "[=x", "{a,b=x", "NODE_ENV=test x"] {
            AfterCommand::from_str(text).unwrap_err();
        }
    }
}
