//! `applyHash` and `applyHashSync`, and the options of every edit.

use hashline_core::{
    self as core, Cancel, Dialect, Durability, Error, Outcome, RELOCATE_WINDOW_MAX_LINES, Relocate,
    RepairRules, Result as CoreResult, Value, Workspace, WorkspaceOptions,
};
use napi::{Env, ValueType};
use napi_derive::napi;

use super::fault::Result;
use super::js::Js;
use super::options::{Field, Holder, optional, read_options};
use super::outcome::{self, ApplyOutcome};
use super::read;
use super::task::{self, Call, Prepared};
use super::value::to_value;

/// How a text in memory is edited.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct EditOptions<'env> {
    /// The dialect of the anchors: `'pi'` when left out.
    #[napi(ts_type = "Dialect")]
    pub dialect: Option<Field<'env>>,
    /// What to do with an anchor whose line has another hash. `'guarded'` (when left out):
    /// look nearby, and follow the hash unless the patch itself speaks against it.
    /// `'unique'`: follow a hash that is unique nearby. `'off'`: refuse.
    #[napi(ts_type = "'guarded' | 'unique' | 'off'")]
    pub relocate: Option<Field<'env>>,
    /// How far from its number a line is looked for, in lines each way: 100 when left out,
    /// 1,000 at most.
    #[napi(ts_type = "number")]
    pub relocate_window: Option<Field<'env>>,
    /// Which repairs may be made to a model's text: the default ones (`true`, or left
    /// out), none (`false`), or the default ones with some switched on or off.
    #[napi(ts_type = "boolean | Partial<Record<RepairRule, boolean>>")]
    pub repairs: Option<Field<'env>>,
}

read_options!(EditOptions {
    dialect: "dialect",
    relocate: "relocate",
    relocate_window: "relocateWindow",
    repairs: "repairs"
});

/// How a patch is applied to files.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct ApplyOptions<'env> {
    /// The dialect of the anchors: `'pi'` when left out.
    #[napi(ts_type = "Dialect")]
    pub dialect: Option<Field<'env>>,
    /// Relative paths start here, and nothing outside is read or written. Without it paths
    /// are taken as the process would.
    #[napi(ts_type = "string")]
    pub root: Option<Field<'env>>,
    /// The WHATWG label of the encoding of files without byte order mark, and of new
    /// files: UTF-8 when left out.
    #[napi(ts_type = "string")]
    pub encoding: Option<Field<'env>>,
    /// Larger files are refused: 1 GiB when left out.
    #[napi(ts_type = "number")]
    pub max_file_bytes: Option<Field<'env>>,
    /// What to do with an anchor whose line has another hash. `'guarded'` (when left out):
    /// look nearby, and follow the hash unless the patch itself speaks against it.
    /// `'unique'`: follow a hash that is unique nearby. `'off'`: refuse.
    #[napi(ts_type = "'guarded' | 'unique' | 'off'")]
    pub relocate: Option<Field<'env>>,
    /// How far from its number a line is looked for, in lines each way: 100 when left out,
    /// 1,000 at most.
    #[napi(ts_type = "number")]
    pub relocate_window: Option<Field<'env>>,
    /// Which repairs may be made to a model's text: the default ones (`true`, or left
    /// out), none (`false`), or the default ones with some switched on or off.
    #[napi(ts_type = "boolean | Partial<Record<RepairRule, boolean>>")]
    pub repairs: Option<Field<'env>>,
    /// What a finished call is safe from: a power cut (`'power'`, when left out), or only
    /// the end of the process (`'process'`), which is faster.
    #[napi(ts_type = "'power' | 'process'")]
    pub durability: Option<Field<'env>>,
    /// Where journals and locks are kept, outside the edited files' tree: the platform's
    /// directory for state when left out. Only calls with the same one take turns and recover
    /// what another left half done.
    #[napi(ts_type = "string")]
    pub state_dir: Option<Field<'env>>,
    /// How long to wait for other calls that edit the same files, in milliseconds: 10,000 when
    /// left out. Then the patch is refused with `LOCK_TIMEOUT`.
    #[napi(ts_type = "number")]
    pub lock_timeout_ms: Option<Field<'env>>,
    /// Cancels the call, as long as it has not begun to change files: the promise is
    /// rejected with an `AbortError`.
    #[napi(ts_type = "AbortSignal")]
    pub signal: Option<Field<'env>>,
}

read_options!(ApplyOptions {
    dialect: "dialect",
    root: "root",
    encoding: "encoding",
    max_file_bytes: "maxFileBytes",
    relocate: "relocate",
    relocate_window: "relocateWindow",
    repairs: "repairs",
    durability: "durability",
    state_dir: "stateDir",
    lock_timeout_ms: "lockTimeoutMs",
    signal: "signal"
});

/// Applies a patch to files: all of it, or nothing.
///
/// A patch that cannot be applied is no error: the outcome says `'rejected'` and why, in a
/// text for the model with fresh anchors. The promise is rejected, with an error that has a
/// `code`, for misuse of the arguments, when cancelled, and for faults of the file system.
#[napi(
    ts_args_type = "patch: Patch, options?: ApplyOptions",
    ts_return_type = "Promise<ApplyOutcome>"
)]
pub fn apply_hash<'env>(
    env: &'env Env,
    patch: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::later(env, || prepare(patch, options))
}

/// As `applyHash`, on the calling thread: throws where that rejects its promise.
#[napi(
    ts_args_type = "patch: Patch, options?: Omit<ApplyOptions, 'signal'>",
    ts_return_type = "ApplyOutcome"
)]
pub fn apply_hash_sync<'env>(
    env: &'env Env,
    patch: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::now(env, || prepare(patch, options))
}

pub struct ApplyCall {
    patch: Value,
    workspace: Workspace<'static>,
}

impl Call for ApplyCall {
    type Output = Outcome;
    type Answer = ApplyOutcome;
    const WRITES: bool = true;

    fn run(&self, cancel: &Cancel) -> CoreResult<Outcome> {
        self.workspace.apply(&self.patch, cancel)
    }

    fn answer(outcome: Outcome) -> ApplyOutcome {
        outcome::apply_outcome(outcome)
    }
}

/// Reads the arguments of a call that applies a patch.
pub fn prepare<'env>(patch: Js<'env>, options: Js<'env>) -> Result<Prepared<'env, ApplyCall>> {
    let given = ApplyOptions::read(Holder::Options, options)?;
    let (dialect, edit) = edit_options(EditOptions {
        dialect: given.dialect,
        relocate: given.relocate,
        relocate_window: given.relocate_window,
        repairs: given.repairs,
    })?;
    let defaults = read::workspace_defaults();
    let options = WorkspaceOptions {
        dialect,
        root: optional(given.root, Field::text)?,
        encoding: optional(given.encoding, Field::text)?,
        max_file_bytes: optional(given.max_file_bytes, Field::count)?
            .unwrap_or(defaults.max_file_bytes),
        state_dir: optional(given.state_dir, Field::text)?,
        apply: commit_options(edit, given.durability, given.lock_timeout_ms)?,
        ..defaults
    };
    let patch = to_value("patch", patch)?;
    Ok((ApplyCall { patch, workspace: Workspace::new(options) }, given.signal))
}

/// The options of a commit, added to those of an edit.
pub fn commit_options(
    edit: core::EditOptions,
    durability: Option<Field<'_>>,
    lock_timeout_ms: Option<Field<'_>>,
) -> Result<core::ApplyOptions> {
    let choices = [("power", Durability::Power), ("process", Durability::Process)];
    Ok(core::ApplyOptions {
        edit,
        durability: optional(durability, |field| field.choice(&choices))?.unwrap_or_default(),
        lock_timeout_ms: optional(lock_timeout_ms, Field::count)?.unwrap_or(core::LOCK_TIMEOUT_MS),
    })
}

/// The options that edits of files and of texts in memory share.
pub fn edit_options(given: EditOptions<'_>) -> Result<(&'static Dialect, core::EditOptions)> {
    let defaults = core::EditOptions::default();
    let relocate =
        [("guarded", Relocate::Guarded), ("unique", Relocate::Unique), ("off", Relocate::Off)];
    let dialect = optional(given.dialect, Field::dialect)?;
    let options = core::EditOptions {
        relocate: optional(given.relocate, |field| field.choice(&relocate))?
            .unwrap_or(defaults.relocate),
        relocate_window_lines: optional(given.relocate_window, window)?
            .unwrap_or(defaults.relocate_window_lines),
        repairs: optional(given.repairs, repair_rules)?.unwrap_or(defaults.repairs),
    };
    Ok((dialect.unwrap_or(Dialect::default_dialect()), options))
}

fn window(field: Field<'_>) -> Result<u64> {
    field.whole(0, RELOCATE_WINDOW_MAX_LINES)
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
