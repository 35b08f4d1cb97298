//! The entries of hashline in a file of an agent: how they are recognized and updated.

use serde_json::{Value, json};

/// A value that `setup` owns.
pub struct Entry {
    /// The keys that lead to it, or to the array that contains it.
    pub keys: &'static [&'static str],
    pub value: Value,
    pub kind: Kind,
}

/// The kind of an entry.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The value of the last key. It may have more fields of the user.
    Key,
    /// A string in an array, recognized by its value.
    Text,
    /// An array element that names the package of a plug-in, of any version and at any place.
    Package(&'static str),
    /// An array element with the hook for an agent, alone or in a group. The hook that shows diffs
    /// is another one, which may be in the same array.
    Hook { agent: &'static str, shows_diff: bool },
    /// A value that the file needs, and that is not changed if it exists.
    Needed,
}

/// How much of an array element `setup` owns.
#[derive(Debug, PartialEq, Eq)]
pub enum Share {
    Nothing,
    All,
    /// Some hooks of a group, by index. The others belong to the user.
    Hooks(Vec<usize>),
}

/// The field with the hooks of a group, and the field with the command of a hook.
pub const HOOKS: &str = "hooks";
pub const COMMAND: &str = "command";

impl Entry {
    /// Whether the entry is an element of the array that its keys lead to.
    pub fn is_element(&self) -> bool {
        matches!(self.kind, Kind::Text | Kind::Package(_) | Kind::Hook { .. })
    }

    /// How much of an element `setup` owns, including older forms.
    pub fn share_of(&self, element: &Value) -> Share {
        let is_ours = match self.kind {
            Kind::Key | Kind::Needed | Kind::Text => *element == self.value,
            Kind::Package(name) => package_text(element).is_some_and(|text| names(text, name)),
            Kind::Hook { agent, shows_diff } => {
                let hooks = hooks(element);
                let is_own = |hook: &Value| self.is_hook(hook, agent, shows_diff);
                let own: Vec<_> = (0..hooks.len()).filter(|at| is_own(&hooks[*at])).collect();
                if !own.is_empty() && own.len() < hooks.len() {
                    return Share::Hooks(own);
                }
                !own.is_empty()
            }
        };
        if is_ours { Share::All } else { Share::Nothing }
    }

    /// The updated value of an entry. Fields that the user added are kept, and so is a version of a
    /// plug-in that the user pinned.
    pub fn updated(&self, old: &Value) -> Value {
        match (self.kind, old) {
            // If the plug-in is not installed here, only its name is known.
            (Kind::Package(name), old)
                if self.value == name || package_text(old).is_some_and(|it| pins(it, name)) =>
            {
                old.clone()
            }
            (Kind::Package(_), Value::Array(parts)) => {
                let options = parts.iter().skip(1).cloned();
                std::iter::once(self.value.clone()).chain(options).collect()
            }
            (Kind::Package(_), Value::Object(_)) => overlay(old, &json!({SOURCE: self.value})),
            _ => overlay(old, &self.value),
        }
    }

    /// The hook of this entry, without the group.
    pub fn hook(&self) -> &Value {
        self.value.get(HOOKS).map_or(&self.value, |hooks| &hooks[0])
    }

    /// The options that show diffs in the hooks of a document that are the one of this entry.
    pub fn diff_options(&self, document: &Value) -> Vec<&'static str> {
        let Kind::Hook { agent, shows_diff } = self.kind else { return Vec::new() };
        let elements = self.keys.iter().fold(document, |value, key| &value[*key]).as_array();
        let found = elements.into_iter().flatten().flat_map(hooks);
        let words: Vec<_> = found
            .filter(|hook| self.is_hook(hook, agent, shows_diff))
            .flat_map(|hook| words(command(hook).unwrap_or_default()))
            .collect();
        DIFF_OPTIONS.into_iter().filter(|option| words.iter().any(|word| word == option)).collect()
    }

    /// Whether a hook runs `hashline hook AGENT` from any directory, or the command of this entry.
    /// A hook that shows diffs is that of one edit tool: the plug-in's has another name.
    fn is_hook(&self, hook: &Value, agent: &str, shows_diff: bool) -> bool {
        let own = command(self.hook()).unwrap_or_default();
        command(hook).is_some_and(|line| {
            let words = words(line);
            let has_diff = words.iter().any(|word| DIFF_OPTIONS.contains(&word.as_str()));
            let is_same_tool = || edit_tool(&words) == edit_tool(&self::words(own));
            line == own
                || (runs_hook(line, agent)
                    && has_diff == shows_diff
                    && (!shows_diff || is_same_tool()))
        })
    }
}

/// The hooks of a group, or the hook that is alone.
fn hooks(element: &Value) -> &[Value] {
    let group = element.get(HOOKS).and_then(Value::as_array);
    group.map_or(std::slice::from_ref(element), Vec::as_slice)
}

fn command(hook: &Value) -> Option<&str> {
    hook.get(COMMAND)?.as_str()
}

/// The words of a command line; none if a quote has no end.
fn words(line: &str) -> Vec<String> {
    shlex::split(line).unwrap_or_default()
}

/// The edit tool that the words of a hook name.
fn edit_tool(words: &[String]) -> Option<&str> {
    let at = words.iter().position(|word| word.starts_with(EDIT_TOOL))?;
    let value = words[at][EDIT_TOOL.len()..].strip_prefix('=');
    value.or_else(|| words.get(at + 1).map(String::as_str))
}

/// A value with the fields of another one set. Lists of the same length are merged element by
/// element.
pub fn overlay(old: &Value, new: &Value) -> Value {
    match (old, new) {
        (Value::Object(fields), Value::Object(own)) => {
            let mut fields = fields.clone();
            for (key, value) in own {
                let value =
                    fields.get(key).map_or_else(|| value.clone(), |old| overlay(old, value));
                fields.insert(key.clone(), value);
            }
            Value::Object(fields)
        }
        (Value::Array(old), Value::Array(new)) if old.len() == new.len() => {
            old.iter().zip(new).map(|(old, new)| overlay(old, new)).collect()
        }
        _ => new.clone(),
    }
}

/// The option of `hashline hook` that names the edit tool.
pub const EDIT_TOOL: &str = "--edit-tool";

/// The options of `hashline hook` that show the diff of an edit.
pub const SHOW_DIFF: &str = "--show-diff";
pub const ASK_DIFF: &str = "--ask-diff";
const DIFF_OPTIONS: [&str; 2] = [SHOW_DIFF, ASK_DIFF];

/// Whether a command runs `hashline hook` for any agent.
pub fn is_own_command(command: &str) -> bool {
    runs(command, " hook")
}

/// Whether a command runs `hashline hook AGENT` and nothing before it.
fn runs_hook(command: &str, agent: &str) -> bool {
    runs(command, &format!(" hook {agent}"))
}

fn runs(command: &str, mark: &str) -> bool {
    command.match_indices(mark).any(|(at, _)| {
        let (word, rest) = (&command[..at], &command[at + mark.len()..]);
        is_program(word.trim_start()) && (rest.is_empty() || rest.starts_with(' '))
    })
}

/// Whether a word of a command line, possibly quoted, is the path of this program.
fn is_program(word: &str) -> bool {
    let within = |quote| word.strip_prefix(quote)?.strip_suffix(quote);
    let quoted = within('"').or_else(|| within('\''));
    let path = quoted.unwrap_or(word);
    let is_word =
        quoted.is_some() || !path.contains(|c: char| c.is_whitespace() || ";&|".contains(c));
    // The form of a quote within quotes for `sh`.
    let has_end = path.replace(r"'\''", "").contains(['"', '\'']);
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    is_word && !has_end && name.strip_suffix(".exe").unwrap_or(name) == "hashline"
}

/// The field with the package name, if pi stores options as well.
const SOURCE: &str = "source";

/// The text that names a package: `NAME`, `[NAME, OPTIONS]` or `{"source": NAME}`.
fn package_text(element: &Value) -> Option<&str> {
    let text = match element {
        Value::Array(parts) => parts.first()?,
        Value::Object(fields) => fields.get(SOURCE)?,
        text => text,
    };
    text.as_str()
}

/// Whether a text names a package, such as `npm:NAME@1.0`, `file:///modules/NAME/index.js` or
/// `https://host/NAME-1.0.tgz`.
pub fn names(text: &str, package: &str) -> bool {
    version(text, package).is_some()
}

/// Whether such a text names one version of the package.
fn pins(text: &str, package: &str) -> bool {
    version(text, package).is_some_and(|version| !version.is_empty())
}

/// The version in a text that names a package; empty if it names none.
fn version<'t>(text: &'t str, package: &str) -> Option<&'t str> {
    text.split(['/', '\\', ':']).find_map(|part| {
        let rest = part.strip_prefix(package)?;
        let rest = rest.strip_prefix(".git").unwrap_or(rest);
        if rest.is_empty() {
            return Some(rest);
        }
        // Another package may begin with this name.
        let is_version = |it: &&str| it.starts_with(|first: char| first.is_ascii_digit());
        rest.strip_prefix(['@', '#']).or_else(|| rest.strip_prefix('-').filter(is_version))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_known_in_every_form_with_its_version() {
        for (text, expected) in [
            ("p", Some("")),
            ("npm:p@1.0", Some("1.0")),
            ("p@latest", Some("latest")),
            ("git:github.com/o/p@v1", Some("v1")),
            ("git+https://github.com/o/p.git#abc", Some("abc")),
            ("https://host/o/p.git", Some("")),
            ("https://host/p-1.0.0.tgz", Some("1.0.0.tgz")),
            ("file:///opt/p-1.0/index.js", Some("1.0")),
            (r"C:\modules\p\index.js", Some("")),
            ("p-themes", None),
            ("my-p", None),
            ("p2", None),
        ] {
            assert_eq!(version(text, "p"), expected, "{text}");
        }
    }

    #[test]
    fn a_hook_is_known_by_its_program() {
        for program in [
            "hashline",
            " /opt/bin/hashline",
            "'/my tools/it'\\''s/hashline'",
            r"C:\bin\hashline.exe",
            r#""C:\A & B\hashline.exe""#,
        ] {
            assert!(runs_hook(&format!("{program} hook pi --x"), "pi"), "{program}");
            assert!(!runs_hook(&format!("{program} hook pi2"), "pi"), "{program}");
        }
        for other in
            ["my-hashline", "echo hashline", "a;hashline", "'a';'b/hashline'", "", "hashline x"]
        {
            assert!(!runs_hook(&format!("{other} hook pi"), "pi"), "{other}");
        }
    }
}
