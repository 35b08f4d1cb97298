//! The options of a session and of its calls.

use hashline_core::{
    AnnotateOptions, Error, PatchOptions, SessionOptions, StoreOptions, UndoRequest,
};
use serde::Deserialize;

use crate::apply::DIFF_CONTEXT_LINES;
use crate::error::Result;
use crate::js::Js;
use crate::options::{
    COMMIT, DIALECT, EDIT, FILES, Field, HOST, OptionNames, Options, SIGNAL, STATE,
};

/// `HashSessionOptions`.
const OPTIONS: OptionNames = &[
    &["cwd", "root", "readRoots", "disk"],
    DIALECT,
    &["unseen", "limits", "memory", "store"],
    FILES,
    EDIT,
    COMMIT,
    STATE,
];

/// `AnnotateOptions`.
const ANNOTATE: OptionNames =
    &[SIGNAL, &["cwd", "context", "since", "maxFiles", "maxLines", "maxBytes"]];

/// `SessionApplyOptions`.
const APPLY: OptionNames = &[SIGNAL, &["dryRun", "context"]];

/// `SessionUndoOptions`.
const UNDO: OptionNames = &[SIGNAL, &["turns", "discard", "dryRun", "context"]];

/// `DocumentOptions`.
const DOCUMENT: OptionNames = &[&["version"]];

/// The options of a document.
#[derive(Deserialize)]
pub struct DocumentOptions {
    pub version: Option<i64>,
}

/// The options of a document.
pub fn document_options(value: Js<'_>) -> Result<DocumentOptions> {
    Options::of(value, DOCUMENT)?.read()
}

/// The options of a session, and of its store, if it has one.
pub fn session_options(value: Js<'_>) -> Result<(SessionOptions, Option<StoreOptions>)> {
    let given = Options::of(value, OPTIONS)?;
    let mut options: SessionOptions = given.read()?;
    options.workspace.host = HOST;
    let store = given.one("store").map(Field::read).transpose()?;
    let wrong = |error: Error| Error::argument(format!("options.{}", error.message));
    Ok((options.resolved().map_err(wrong)?, store))
}

/// The signal of a read or a search.
pub fn read_options(value: Js<'_>) -> Result<Option<Field<'_>>> {
    Ok(Options::of(value, &[SIGNAL])?.signal())
}

/// The options of an annotation, and its signal.
pub fn annotate_options(value: Js<'_>) -> Result<(AnnotateOptions, Option<Field<'_>>)> {
    let given = Options::of(value, ANNOTATE)?;
    Ok((given.read()?, given.signal()))
}

/// The options of an apply, and its signal.
pub fn apply_options(value: Js<'_>) -> Result<(PatchOptions, Option<Field<'_>>)> {
    let given = Options::of(value, APPLY)?;
    let mut options: PatchOptions = given.read()?;
    options.diff_context_lines.get_or_insert(DIFF_CONTEXT_LINES);
    Ok((options, given.signal()))
}

/// What is undone, the options, and the signal.
pub fn undo_options(value: Js<'_>) -> Result<(UndoRequest, PatchOptions, Option<Field<'_>>)> {
    let given = Options::of(value, UNDO)?;
    let turns: Option<u32> = given.one("turns").map(Field::read).transpose()?;
    let discard = given.one("discard").map(Field::read).transpose()?.unwrap_or_default();
    let mut options: PatchOptions = given.read()?;
    options.diff_context_lines.get_or_insert(DIFF_CONTEXT_LINES);
    let request = UndoRequest { turns: turns.unwrap_or(1) as usize, discard };
    Ok((request, options, given.signal()))
}
