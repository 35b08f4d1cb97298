//! The policy: which findings are reported.

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{MapAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::{CommandRule, FindingKind, Verdict};

/// The policy of the guard. Names of fields and values are those of JavaScript.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase", default, deny_unknown_fields)]
pub struct Policy {
    /// Whether commands that show the contents of files are findings.
    pub reads: bool,
    /// Whether commands and redirections that write files are findings.
    pub writes: bool,
    /// Rules that are switched on or off. Others are on, except for `file-command`.
    #[serde(deserialize_with = "rules")]
    pub rules: BTreeMap<CommandRule, bool>,
    /// Directories that the tools serve. Without any, all paths that no other rule excludes.
    pub roots: Vec<String>,
    /// The directory where relative paths start; by default the first root.
    pub cwd: Option<String>,
    /// Whether a path is also outside if links lead out of the roots, or to a file that
    /// the tools cannot show. Requires roots.
    pub check_files: bool,
    /// Paths below the roots that are not reported, as lines of a `.gitignore`.
    pub ignored: Vec<String>,
    /// Names of additional commands that show files: with an operand, or a file as their input.
    pub extra_reads: Vec<String>,
    /// Names of additional commands that write files.
    pub extra_writes: Vec<String>,
    /// Names of commands that are not reported: `grep`, `git apply`. Their redirections still are.
    pub except: Vec<String>,
    /// Files and directories that may be read.
    pub readable_paths: Vec<String>,
    /// Files and directories that may be written.
    pub writable_paths: Vec<String>,
    /// The verdict on a command that cannot be parsed.
    pub unparsed: Unparsed,
    /// The names of the tools in messages.
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

/// Deserializes rules from an object whose keys are their names.
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
    /// Whether findings of this kind and rule are reported.
    pub(super) fn wants(&self, kind: FindingKind, rule: CommandRule) -> bool {
        let is_kind_on = match kind {
            FindingKind::Read => self.reads,
            FindingKind::Write => self.writes,
        };
        let is_on_at_first = rule != CommandRule::FileCommand;
        is_kind_on && self.rules.get(&rule).copied().unwrap_or(is_on_at_first)
    }
}

/// The verdict on a command that cannot be parsed and has no finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Unparsed {
    /// Report it as unparsed.
    #[default]
    Unparsed,
    /// Allow it.
    Allow,
    /// Treat it as a write.
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

/// The names of the tools that a model should use instead.
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
