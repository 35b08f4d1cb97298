//! What counts as a finding.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{CommandRule, FindingKind, Verdict};

/// What counts as a finding. Names of fields and values are those of JavaScript.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Policy {
    /// Whether commands that show the contents of files are findings.
    pub reads: bool,
    /// Whether commands and redirections that write files are findings.
    pub writes: bool,
    /// Single rules, on or off. What is not named is on, but for `file-command`.
    #[serde(deserialize_with = "rules")]
    pub rules: BTreeMap<CommandRule, bool>,
    /// Directories that the tools serve; without any, all paths that no other rule excludes.
    pub roots: Vec<String>,
    /// Where relative paths start: the first root when it is left out.
    pub cwd: Option<String>,
    /// Whether a path is outside, too, if it is outside the roots through links or to a file that
    /// the tools cannot show. Needs roots.
    pub check_files: bool,
    /// Paths below the roots that are no findings, as lines of a `.gitignore`.
    pub ignored: Vec<String>,
    /// Names of more commands that show files: with an operand, or a file as their input.
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
            rules: BTreeMap::new(),
            roots: Vec::new(),
            cwd: None,
            check_files: false,
            ignored: Vec::new(),
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

/// Reads rules by their names, which are those of an object's fields.
fn rules<'de, D: Deserializer<'de>>(from: D) -> Result<BTreeMap<CommandRule, bool>, D::Error> {
    struct Rules;

    impl<'de> Visitor<'de> for Rules {
        type Value = BTreeMap<CommandRule, bool>;

        fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
            out.write_str("an object from rules to true or false")
        }

        fn visit_map<A: MapAccess<'de>>(self, mut rules: A) -> Result<Self::Value, A::Error> {
            let mut switched = BTreeMap::new();
            while let Some((rule, is_on)) = rules.next_entry()? {
                switched.insert(rule, is_on);
            }
            Ok(switched)
        }
    }

    from.deserialize_struct("CommandRules", &CommandRule::NAMES, Rules)
}

impl Policy {
    /// Whether findings of a kind by a rule are wanted.
    pub(super) fn wants(&self, kind: FindingKind, rule: CommandRule) -> bool {
        let is_kind_on = match kind {
            FindingKind::Read => self.reads,
            FindingKind::Write => self.writes,
        };
        let is_on_at_first = rule != CommandRule::FileCommand;
        is_kind_on && self.rules.get(&rule).copied().unwrap_or(is_on_at_first)
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
        Tools { read: "read".to_owned(), search: "search".to_owned(), edit: "apply".to_owned() }
    }
}
