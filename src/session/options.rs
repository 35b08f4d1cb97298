//! The options of a session, and of its calls.

use std::path::PathBuf;

use hashline_core::{
    Dialect, Error, MemoryLimits, PatchOptions, Root, SessionLimits, SessionOptions, StoreOptions,
    Unseen, WorkspaceOptions,
};
use napi::ValueType;

use crate::apply::DIFF_CONTEXT_LINES;
use crate::fault::Result;
use crate::js::Js;
use crate::options::{
    Field, Holder, OfWorkspace, Row, Table, read, read_inside, row, spelling, workspace_defaults,
};

/// `HashSessionOptions`.
const OPTIONS: Table<Given> = &[
    &[
        row!("cwd", Field::path => options.workspace.cwd),
        row!("root", root => options.workspace.root),
        row!("readRoots", Field::paths => options.read_roots),
    ],
    Given::DIALECT,
    &[
        row!("unseen", unseen => options.unseen),
        row!("limits", |field| read_inside(field, Holder::Inside("limits"), LIMITS) => options.limits),
        row!("memory", |field| read_inside(field, Holder::Inside("memory"), MEMORY) => options.memory),
        row!("store", store => store),
    ],
    Given::FILES,
    Given::EDIT,
    Given::COMMIT,
    Given::STATE,
];

/// `HashSessionLimits`.
const LIMITS: Table<SessionLimits> = &[&[
    row!("maxLines", Field::count => max_lines),
    row!("maxBytes", Field::size => max_bytes),
    row!("maxMatches", Field::count => max_matches),
    row!("maxLineChars", Field::count => max_line_chars),
]];

/// `HashSessionMemory`.
const MEMORY: Table<MemoryLimits> = &[&[
    row!("maxBytes", Field::size => bytes),
    row!("maxFiles", Field::size => files),
    row!("maxVersions", Field::size => versions),
]];

/// `HashSessionStore`.
const STORE: Table<Store> = &[&[row!("id", Field::text => id), row!("dir", Field::path => dir)]];

/// `SessionReadOptions`.
const READ: Table<()> = &[Row::SIGNAL];

/// `SessionApplyOptions`.
const APPLY: Table<PatchOptions> = &[
    Row::SIGNAL,
    &[row!("dryRun", Field::flag => dry_run), row!("context", Field::count => diff_context_lines)],
];

/// What a session is made of, before its directories are looked at.
struct Given {
    store: Option<StoreOptions>,
    options: SessionOptions,
}

impl OfWorkspace for Given {
    fn workspace(&mut self) -> &mut WorkspaceOptions {
        &mut self.options.workspace
    }
}

/// Where a session is kept, as it was written.
#[derive(Default)]
struct Store {
    id: Option<String>,
    dir: Option<PathBuf>,
}

/// The options of a session, and where it is kept, if anywhere.
pub fn session_options(value: Js<'_>) -> Result<(SessionOptions, Option<StoreOptions>)> {
    let workspace = WorkspaceOptions {
        root: Root::default(),
        cwd: Some(".".into()),
        dialect: Dialect::of_sessions(),
        ..workspace_defaults()
    };
    let options = SessionOptions { workspace, ..SessionOptions::default() };
    let mut given = Given { store: None, options };
    read(Holder::Options, value, OPTIONS, &mut given)?;
    let wrong = |error: Error| Error::argument(format!("{}.{}", Holder::Options, error.message));
    given.options.memory.check().map_err(|error| wrong(error.spelled(spelling)))?;
    Ok((given.options.resolved().map_err(wrong)?, given.store))
}

/// The signal of a read or a search.
pub fn read_options(value: Js<'_>) -> Result<Option<Field<'_>>> {
    read(Holder::Options, value, READ, &mut ())
}

/// The options of an apply, and its signal.
pub fn apply_options(value: Js<'_>) -> Result<(PatchOptions, Option<Field<'_>>)> {
    let diff_context_lines = Some(DIFF_CONTEXT_LINES);
    let mut options = PatchOptions { diff_context_lines, ..PatchOptions::default() };
    let signal = read(Holder::Options, value, APPLY, &mut options)?;
    Ok((options, signal))
}

/// The option `root`.
fn root(field: Field<'_>) -> Result<Root> {
    if !field.is(ValueType::Boolean)? {
        return Ok(Root::At(field.path()?));
    }
    if field.flag()? {
        return Err(field.wrong("a directory, or false"));
    }
    Ok(Root::Unbounded)
}

fn unseen(field: Field<'_>) -> Result<Unseen> {
    field.choice(&[("refuse", Unseen::Refuse), ("match", Unseen::Match)])
}

fn store(field: Field<'_>) -> Result<StoreOptions> {
    let given = read_inside(field, Holder::Inside("store"), STORE)?;
    let Some(id) = given.id else {
        return Err(Error::argument("options.store names no session: give it an id").into());
    };
    Ok(StoreOptions { id, dir: given.dir })
}
