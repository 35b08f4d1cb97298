//! The options of a workspace: those that several calls have, and what holds for all of them.

use hashline_core::host::{Host, Term};
use hashline_core::{
    ANSWER_CONTEXT_MAX_LINES, AnswerForm, Durability, Error, RELOCATE_WINDOW_MAX_LINES, Relocate,
    RepairRules, SyntaxCheck, WorkspaceOptions,
};
use napi::ValueType;

use super::{Field, Holder, Row, Table, read, row};
use crate::fault::Result;
use crate::js::Js;
use crate::text::STRING_LIMIT_UNITS;

/// What holds the options of a workspace: parts of tables for it.
pub trait OfWorkspace: Sized + 'static {
    fn workspace(&mut self) -> &mut WorkspaceOptions;

    /// `DialectOptions`.
    const DIALECT: &'static [Row<Self>] = &[row!("dialect", Field::dialect => workspace().dialect)];

    /// `FileOptions`, without the above.
    const FILES: &'static [Row<Self>] = &[
        row!("encoding", Field::text => workspace().encoding),
        row!("maxFileBytes", Field::count => workspace().max_file_bytes),
    ];

    /// `EditOptions`, without the dialect.
    const EDIT: &'static [Row<Self>] = &[
        row!("relocate", relocate => workspace().apply.edit.relocate),
        row!("relocateWindow", window_lines => workspace().apply.edit.relocate_window_lines),
        row!("repairs", repair_rules => workspace().apply.edit.repairs),
        row!("answer", answer_form => workspace().apply.edit.answer.form),
        row!("answerContext", answer_context => workspace().apply.edit.answer.context_lines),
    ];

    /// `CommitOptions`, without the following.
    const COMMIT: &'static [Row<Self>] = &[
        row!("durability", durability => workspace().apply.durability),
        row!("syntax", syntax => workspace().apply.syntax),
    ];

    /// `StateOptions`.
    const STATE: &'static [Row<Self>] = &[
        row!("stateDir", Field::path => workspace().state_dir),
        row!("lockTimeoutMs", Field::count => workspace().apply.lock_timeout_ms),
    ];
}

impl OfWorkspace for WorkspaceOptions {
    fn workspace(&mut self) -> &mut WorkspaceOptions {
        self
    }
}

/// The option `root` of calls that are not those of a session.
pub const ROOT: &[Row<WorkspaceOptions>] = &[row!("root", Field::path => root)];

/// The options of a call, and its signal.
pub fn workspace_options<'env>(
    value: Js<'env>,
    table: Table<WorkspaceOptions>,
) -> Result<(WorkspaceOptions, Option<Field<'env>>)> {
    let mut options = workspace_defaults();
    let signal = read(Holder::Options, value, table, &mut options)?;
    Ok((options, signal))
}

/// What holds for every workspace of this face.
pub fn workspace_defaults() -> WorkspaceOptions {
    WorkspaceOptions {
        host: Host { spelling, text_limit_units: STRING_LIMIT_UNITS },
        ..WorkspaceOptions::unbounded()
    }
}

/// How JavaScript writes what messages of the core name.
pub fn spelling(term: Term) -> &'static str {
    match term {
        Term::LockTimeout => "lockTimeoutMs",
        Term::StateDir => "stateDir",
        Term::MaxFileBytes => "maxFileBytes",
        Term::StartLine => "startLine",
        Term::MaxLines => "maxLines",
        Term::MaxBytes => "maxBytes",
        Term::MaxFiles => "maxFiles",
        Term::MaxVersions => "maxVersions",
        Term::Recover => "recoverTransactions()",
    }
}

fn relocate(field: Field<'_>) -> Result<Relocate> {
    field.choice(&[
        ("guarded", Relocate::Guarded),
        ("unique", Relocate::Unique),
        ("off", Relocate::Off),
    ])
}

fn window_lines(field: Field<'_>) -> Result<u64> {
    field.whole(0, RELOCATE_WINDOW_MAX_LINES)
}

/// The option `answer`.
pub fn answer_form(field: Field<'_>) -> Result<AnswerForm> {
    field.choice(&[("region", AnswerForm::Region), ("brief", AnswerForm::Brief)])
}

/// The option `answerContext`.
pub fn answer_context(field: Field<'_>) -> Result<u64> {
    field.whole(0, ANSWER_CONTEXT_MAX_LINES)
}

fn durability(field: Field<'_>) -> Result<Durability> {
    field.choice(&[("power", Durability::Power), ("process", Durability::Process)])
}

fn syntax(field: Field<'_>) -> Result<SyntaxCheck> {
    field.choice(&[
        ("off", SyntaxCheck::Off),
        ("warn", SyntaxCheck::Warn),
        ("refuse", SyntaxCheck::Refuse),
    ])
}

fn repair_rules(field: Field<'_>) -> Result<RepairRules> {
    let expected = "true, false, or an object from rules to true or false";
    match field.value().kind()? {
        ValueType::Boolean => {
            Ok(if field.flag()? { RepairRules::default() } else { RepairRules::none() })
        }
        ValueType::Object if !field.value().is_array()? => switched_rules(field),
        _ => Err(field.wrong(expected)),
    }
}

fn switched_rules(field: Field<'_>) -> Result<RepairRules> {
    let mut rules = RepairRules::default();
    let (object, keys) = (field.value(), field.value().own_keys()?);
    for index in 0..keys.array_len()? {
        let key = keys.element(index)?;
        let (name, value) = (key.lossy_text()?, object.get_by(key)?);
        if value.kind()? == ValueType::Undefined {
            continue;
        }
        if value.kind()? != ValueType::Boolean {
            let is = value.describe()?;
            return Err(Error::argument(format!(
                "{field}[{name:?}] is {is}: expected true or false"
            ))
            .into());
        }
        rules
            .switch(&name, value.boolean()?)
            .map_err(|error| Error::argument(format!("{field}: {}", error.message)))?;
    }
    Ok(rules)
}
