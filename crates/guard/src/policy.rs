//! What counts as a finding.

use serde::Deserialize;

use super::Verdict;

/// What counts as a finding. Names of fields and values are those of JavaScript.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Policy {
    /// Whether commands that read file contents are findings.
    pub reads: bool,
    /// Whether commands and redirections that write files are findings.
    pub writes: bool,
    /// Whether `cp`, `mv`, `rm` and the like count as writes.
    pub file_commands: bool,
    /// Whether `patch`, `git apply` and the like count as writes.
    pub patches: bool,
    /// Whether code given to an interpreter (`python -c`, `node -e`) is looked at.
    pub interpreters: bool,
    /// Names of more commands that read files: with an operand, or a file as their input.
    pub extra_reads: Vec<String>,
    /// Names of more commands that write files.
    pub extra_writes: Vec<String>,
    /// Names of commands that are no findings: `grep`, `git apply`. Redirections stay findings.
    pub except: Vec<String>,
    /// Files and directories that may be read.
    pub readable_paths: Vec<String>,
    /// Files and directories that may be written.
    pub writable_paths: Vec<String>,
    /// What is said of a command that cannot be read.
    pub unparsed: Unparsed,
    /// The names of tools in messages.
    pub tools: Tools,
}

impl Default for Policy {
    fn default() -> Policy {
        Policy {
            reads: true,
            writes: true,
            file_commands: false,
            patches: false,
            interpreters: false,
            extra_reads: Vec::new(),
            extra_writes: Vec::new(),
            except: Vec::new(),
            readable_paths: Vec::new(),
            writable_paths: Vec::new(),
            unparsed: Unparsed::default(),
            tools: Tools::default(),
        }
    }
}

/// The verdict on a command that cannot be read and has no finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unparsed {
    /// It is reported as such.
    #[default]
    Unparsed,
    /// It is allowed.
    Allow,
    /// It is taken for a write.
    Write,
}

impl Unparsed {
    /// All of them, as callers know them.
    pub const ALL: [(&'static str, Unparsed); 3] =
        [("unparsed", Unparsed::Unparsed), ("allow", Unparsed::Allow), ("write", Unparsed::Write)];

    pub(super) fn verdict(self) -> Verdict {
        match self {
            Unparsed::Unparsed => Verdict::Unparsed,
            Unparsed::Allow => Verdict::Allow,
            Unparsed::Write => Verdict::Write,
        }
    }
}

/// How the tools are called that a model should use instead.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Tools {
    /// Shows a file.
    pub read: String,
    /// Searches files.
    pub search: String,
    /// Edits files.
    pub edit: String,
}

impl Default for Tools {
    fn default() -> Tools {
        Tools { read: "read".to_owned(), search: "search".to_owned(), edit: "edit".to_owned() }
    }
}

/// Whether `path` is one of the listed files, or in one of the listed directories.
pub fn lists(paths: &[String], path: &str) -> bool {
    // Upwards nothing is in a directory any more.
    let leaves = path.split('/').any(|name| name == "..");
    !leaves
        && paths.iter().any(|listed| {
            let listed = listed.trim_end_matches('/');
            path.strip_prefix(listed).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        })
}
