//! The calls with a session. Callers name sessions by numbers; an unknown number is refused. A closed
//! session is dropped when the last call that uses it returns.

use parking_lot::{Mutex, MutexGuard};
use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use hashline_core::host::output_text;
use hashline_core::{
    AnnotateOptions, Cancel, DocumentText, Error, JsonRequest, PatchOptions, Result, SearchQuery,
    Session, SessionOptions, StoreOptions,
};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::buffer::{Input, not_an_object, parsed_options, taken_options};
use crate::calls::{CONTEXT_LINES, data, patch, requests, spelling};

struct Sessions {
    open: Option<HashMap<u64, Arc<Session>>>,
    last: u64,
}

static SESSIONS: Mutex<Sessions> = Mutex::new(Sessions { open: None, last: 0 });

fn sessions() -> MutexGuard<'static, Sessions> {
    SESSIONS.lock()
}

fn register(session: Session) -> u64 {
    let mut sessions = sessions();
    sessions.last += 1;
    let number = sessions.last;
    sessions.open.get_or_insert_default().insert(number, Arc::new(session));
    number
}

pub(crate) fn session(number: u64) -> Result<Arc<Session>> {
    let session = sessions().open.as_ref().and_then(|open| open.get(&number).cloned());
    session.ok_or_else(|| Error::argument(format!("session {number} is not open")))
}

/// Where a session is stored, if it is.
#[derive(Deserialize)]
struct Store {
    store: Option<StoreOptions>,
}

/// The options of a session are those of the core and `store`.
pub(crate) fn open(options: Input<'_>) -> Result<u64> {
    let mut given: Map<String, Value> = options.object_or_default()?;
    for name in ["store", "limits", "memory"] {
        let value = given.get(name).filter(|value| !value.is_null());
        if let Some(kind) = value.and_then(|value| not_an_object(&value.to_string())) {
            let message = format!("options: {name} is {kind}: expected an object");
            return Err(Error::argument(message));
        }
    }
    let Store { store } = taken_options(&mut given, &["store"])?;
    let mut options: SessionOptions = parsed_options(given)?;
    options.workspace.host.spelling = spelling;
    let wrong = |error: Error| Error::argument(format!("options: {}", error.message));
    let options = options.resolved().map_err(wrong)?;
    Ok(register(match store {
        Some(store) => Session::open(options, &store)?,
        None => Session::new(options)?,
    }))
}

pub(crate) fn fork(number: u64) -> Result<u64> {
    Ok(register(session(number)?.fork()))
}

/// Closes a session; false if it is not open.
pub(crate) fn close(number: u64) -> bool {
    // The session is dropped after this statement has released the lock of the table.
    let closed = sessions().open.as_mut().and_then(|open| open.remove(&number));
    closed.is_some()
}

pub(crate) fn read(number: u64, input: Input<'_>) -> Result<Vec<u8>> {
    let (session, requests) = (session(number)?, requests(input)?);
    data(&session.read_with(&requests, &Cancel::default())?)
}

pub(crate) fn annotate(number: u64, output: Input<'_>, options: Input<'_>) -> Result<Vec<u8>> {
    let (session, output) = (session(number)?, output_text(output.bytes()?));
    let options: AnnotateOptions = options.object_or_default()?;
    data(&session.annotate(&output, &options, &Cancel::default())?)
}

pub(crate) fn read_json(number: u64, input: Input<'_>) -> Result<Vec<u8>> {
    let (session, request) = (session(number)?, input.json::<JsonRequest>()?);
    data(&session.read_json(&request, &Cancel::default())?)
}

pub(crate) fn search(number: u64, input: Input<'_>) -> Result<Vec<u8>> {
    let (session, query) = (session(number)?, input.object::<SearchQuery>()?);
    data(&session.search_with(&query, &Cancel::default())?)
}

pub(crate) fn apply(number: u64, input: Input<'_>, options: Input<'_>) -> Result<Vec<u8>> {
    let (session, patch) = (session(number)?, patch(input)?);
    let mut options: PatchOptions = options.object_or_default()?;
    options.diff_context_lines.get_or_insert(CONTEXT_LINES);
    data(&session.apply_with(&patch, &options, &Cancel::default())?)
}

pub(crate) fn observe(number: u64, text: Input<'_>, path: Input<'_>) -> Result<Vec<u8>> {
    let session = session(number)?;
    data(&session.observe(
        text.text()?,
        path.optional_text()?.map(Path::new),
        &Cancel::default(),
    )?)
}

pub(crate) fn forget(number: u64, path: Input<'_>) -> Result<Vec<u8>> {
    session(number)?.forget(path.optional_text()?.map(Path::new))?;
    data(&Value::Null)
}

/// The properties of a document.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DocumentOptions {
    version: Option<i64>,
    #[serde(default)]
    bytes: bool,
}

pub(crate) fn set_document(
    number: u64,
    path: Input<'_>,
    text: Input<'_>,
    options: Input<'_>,
) -> Result<Vec<u8>> {
    let DocumentOptions { version, bytes } = options.object_or_default()?;
    let text = match bytes {
        true => DocumentText::Bytes(text.bytes()?.to_vec()),
        false => text.text()?.into(),
    };
    session(number)?.set_document(path.text()?, text, version)?;
    data(&Value::Null)
}

pub(crate) fn close_document(number: u64, path: Input<'_>) -> Result<Vec<u8>> {
    data(&session(number)?.close_document(path.text()?)?)
}

pub(crate) fn documents(number: u64) -> Result<Vec<u8>> {
    data(&session(number)?.documents())
}

pub(crate) fn changed_files(number: u64) -> Result<Vec<u8>> {
    data(&session(number)?.changed_files())
}

pub(crate) fn notes(number: u64) -> Result<Vec<u8>> {
    data(&session(number)?.notes())
}

pub(crate) fn memory_bytes(number: u64) -> Result<Vec<u8>> {
    data(&session(number)?.memory_bytes())
}
