//! The files that a call names, for a host that loads them before the call.

use hashline_core::host::Value;
use serde::Serialize;

use crate::arguments::{Arguments, CallError, Fields, Repairs};
use crate::json::READ_JSON;
use crate::operations::{LINE_FIELDS, PatchReader, VALUE_FIELDS};
use crate::path::plain_path;
use crate::read::{self, PATH, READ};
use crate::script;
use crate::search::{self, SEARCH};
use crate::tool::{Call, ToolKind};
use crate::tools::{Given, Tools};

/// The files that a call names.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct NamedFiles {
    /// Absolute paths, without those that no call can reach. For a search, also directories.
    pub paths: Vec<String>,
    /// The globs of a search.
    pub globs: Vec<String>,
}

impl Tools {
    /// The files that a call names. Nothing for malformed arguments, which the call reports.
    pub fn named_files(&self, kind: ToolKind, given: Given) -> NamedFiles {
        let dialect = self.session().options().workspace.dialect;
        let is_script = kind == ToolKind::Apply && !dialect.has_hashes();
        let (names, globs) = self
            .with_call(|call| {
                let mut repairs = Repairs::default();
                let given = Arguments::of(given, &mut repairs)?;
                match kind {
                    ToolKind::Read => of_read(call, given),
                    ToolKind::ReadJson => of_json(call, given),
                    ToolKind::Search => of_search(call, given),
                    ToolKind::Apply if is_script => script::named_paths(given),
                    ToolKind::Apply => PatchReader::patch(call, LINE_FIELDS, given).map(of_patch),
                    ToolKind::ApplyJson => {
                        PatchReader::patch(call, VALUE_FIELDS, given).map(of_patch)
                    }
                    ToolKind::Undo => {
                        let last = call.session.undoable().into_iter().next();
                        Ok((last.map(|last| last.files).unwrap_or_default(), Vec::new()))
                    }
                }
            })
            .unwrap_or_default();
        let mut paths: Vec<String> = Vec::new();
        for name in names {
            let path = self.session().absolute_path(&name).ok();
            let path = path.map(|path| path.to_string_lossy().into_owned());
            paths.extend(path.filter(|path| !paths.contains(path)));
        }
        NamedFiles { paths, globs }
    }
}

/// Names of files, and globs.
type Names = (Vec<String>, Vec<String>);

fn of_read(call: &Call<'_>, mut given: Arguments<'_>) -> Result<Names, CallError> {
    given.normalize(READ.fields)?;
    let requests = read::requests(call, &mut given)?;
    let paths = requests.into_iter().filter_map(|one| one.path.into_os_string().into_string().ok());
    Ok((paths.collect(), Vec::new()))
}

fn of_json(call: &Call<'_>, mut given: Arguments<'_>) -> Result<Names, CallError> {
    given.normalize(READ_JSON.fields)?;
    let path = given.text(PATH.name, "the path of a file")?;
    Ok((vec![plain_path(call, path, PATH.name, given.repairs)?], Vec::new()))
}

fn of_search(call: &Call<'_>, mut given: Arguments<'_>) -> Result<Names, CallError> {
    given.normalize(SEARCH.fields)?;
    let query = search::query(call, &mut given)?;
    let paths = query.paths.into_iter().filter_map(|path| path.into_os_string().into_string().ok());
    let mut paths: Vec<String> = paths.collect();
    if paths.is_empty() {
        paths.push(".".to_owned());
    }
    Ok((paths, query.globs))
}

/// The paths in a patch, in any of its shapes.
fn of_patch(patch: Value) -> Names {
    let mut paths = Vec::new();
    let Value::Object(fields) = patch else { return Names::default() };
    let fields = Fields(fields);
    let mut add = |fields: &Fields| {
        let named = ["path", "from", "from_path", "to", "to_path", "rename"];
        paths.extend(named.iter().filter_map(|name| fields.string(name).map(str::to_owned)));
    };
    add(&fields);
    if let Some(Value::Array(operations)) = fields.get("operations") {
        for operation in operations {
            if let Value::Object(fields) = operation {
                add(&Fields(fields.clone()));
            }
        }
    }
    (paths, Vec::new())
}
