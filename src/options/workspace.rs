//! The workspace options that calls have, and the settings of all workspaces.

use hashline_core::WorkspaceOptions;
use hashline_core::host::{ANSWER_LIMIT_BYTES, Host, Term};

use super::{Field, OptionNames, Options};
use crate::error::Result;
use crate::js::Js;
use crate::text::STRING_LIMIT_UNITS;

/// `DialectOptions`.
pub const DIALECT: &[&str] = &["dialect"];

/// The option `root` of calls outside of a session.
pub const ROOT: &[&str] = &["root"];

/// `FileOptions`, without `dialect` and `root`.
pub const FILES: &[&str] = &["encoding", "maxFileBytes"];

/// `EditOptions`, without the dialect.
pub const EDIT: &[&str] = &["relocate", "relocateWindow", "repairs", "answer", "answerContext"];

/// `CommitOptions`, without `StateOptions`.
pub const COMMIT: &[&str] = &["durability", "syntax"];

/// `StateOptions`.
pub const STATE: &[&str] = &["stateDir", "lockTimeoutMs"];

/// The settings of every workspace in this front end.
pub const HOST: Host = Host {
    spelling,
    text_limit_units: STRING_LIMIT_UNITS,
    answer_limit_bytes: ANSWER_LIMIT_BYTES,
    refusal_limit_bytes: ANSWER_LIMIT_BYTES,
};

impl Options<'_> {
    /// The options of the call's workspace.
    pub fn workspace(&self) -> Result<WorkspaceOptions> {
        Ok(WorkspaceOptions { host: HOST, ..self.read()? })
    }
}

/// The options of a call, and its signal.
pub fn workspace_options<'env>(
    value: Js<'env>,
    names: OptionNames,
) -> Result<(WorkspaceOptions, Option<Field<'env>>)> {
    let options = Options::of(value, names)?;
    Ok((options.workspace()?, options.signal()))
}

/// How JavaScript spells the terms in messages of the core.
fn spelling(term: Term) -> &'static str {
    match term {
        Term::LockTimeout => "lockTimeoutMs",
        Term::StateDir => "stateDir",
        Term::MaxFileBytes => "maxFileBytes",
        Term::StartLine => "startLine",
        Term::MaxLines => "maxLines",
        Term::MaxBytes => "maxBytes",
        Term::MaxFiles => "maxFiles",
        Term::CaseSensitive => "caseSensitive",
        Term::Literal => term.name(),
        Term::MaxVersions => "maxVersions",
        Term::Recover => "recoverTransactions()",
    }
}
