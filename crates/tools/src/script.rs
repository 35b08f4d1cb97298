//! The tool `apply` in dialects without hashes: it takes patches in oh-my-pi's language. Patches
//! only edit existing files; a new file is created by path and content, as oh-my-pi's own tool does
//! it.

use hashline_core::host::{Turn, Value, version_path};
use hashline_core::{Code, Dialect};

use crate::apply::{OP, OPERATIONS, apply_patch};
use crate::arguments::{Arguments, CallError, Fields, malformed};
use crate::operations::REPLACE;
use crate::path::{check_new_path, plain_path};
use crate::read::{UNLISTED_ENCODING, encoding};
use crate::table::{Field, Kind, PATH_NAMES};
use crate::title::PartialArguments;
use crate::tool::{Answer, Call, Names, Tool, ToolText, ToolsOptions};

pub const PATCH: Field = Field::new("patch", Kind::Text, "").aliases(&["input", "diff", "text"]);

const NEW_PATH: Field =
    Field::new("path", Kind::Path, "In place of patch: a file to create").aliases(PATH_NAMES);

const CONTENT: Field = Field::new("content", Kind::Text, "Of that file").aliases(&[
    "contents",
    "file_text",
    "fileText",
]);

const REPLACES: Field =
    Field::new(REPLACE, Kind::Flag, "Overwrite that file if it exists").aliases(&["overwrite"]);

pub static SCRIPT: Tool = Tool {
    title: "Apply",
    fields: &[PATCH, NEW_PATH, CONTENT, REPLACES, UNLISTED_ENCODING],
    text: tool_text,
    run: apply,
    title_of: title,
};

fn tool_text(options: &ToolsOptions, _: &Dialect) -> ToolText {
    let Names { read, search, apply, .. } = &options.names;
    ToolText {
        description: format!(
            "Edits, moves and deletes files by a patch: all of it, or nothing. Creates a file by path and content. \
             A section begins with the header [path#TAG] that {read}, {search} and answers of {apply} show, and all numbers in it are those of that version. Its hunks:\n\
             PUT 3.=5: replaces lines 3 to 5 by the rows below that begin with +; PUT 3*: the block that begins at line 3.\n\
             PUT <3:, PUT >3:, PUT >3*:, PUT >$: insert such rows before line 3, after it, after its block, at the end.\n\
             CUT 3.=5 and CUT 3* delete lines; CUT 3.=5 @name keeps them, and PUT >9 @name puts them there, also in another section.\n\
             REM deletes the file, MV path moves it.\n\
             The answer has the new tag and the numbers of changed lines. A refusal shows the lines as they are: correct the patch and send all of it again.\n\n\
             To change line 2 and delete line 7 of a.js:\n\
             {{\"patch\": \"[a.js#1A2B]\\nPUT 2.=2:\\n+  log('Hello')\\nCUT 7.=7\"}}"
        ),
        snippet: format!(
            "Edit files by patches over the versions that {read} and {search} show, and create files"
        ),
        guidelines: vec![
            format!(
                "Change files only with {apply}; put all edits that belong together into one patch."
            ),
            format!(
                "After {apply}, use the tag and the numbers of its answer; {read} again only what it did not show."
            ),
        ],
        advice: format!("Use {read} on the files for their tags."),
    }
}

/// The patch in the arguments of a call.
pub fn patch(call: &Call<'_>, given: &mut Arguments<'_>) -> Result<Value, CallError> {
    given.normalize(SCRIPT.fields)?;
    if !call.allowed.is_all() {
        return Err(malformed(NOT_LIMITED.to_owned()));
    }
    Ok(match new_file(call, given)? {
        Some(operation) => {
            Value::Object(vec![(OPERATIONS.name.to_owned(), Value::Array(vec![operation]))])
        }
        None => {
            let patch = given.text(PATCH.name, "a patch, which begins with [path#TAG]")?;
            Value::Object(vec![(PATCH.name.to_owned(), Value::String(patch))])
        }
    })
}

fn apply(call: &Call<'_>, turn: Turn, mut given: Arguments<'_>) -> Result<Answer, CallError> {
    let patch = patch(call, &mut given)?;
    let names_no_version = given.fields.string(PATCH.name).is_some_and(has_bare_header);
    let mut answer = apply_patch(call, turn, patch, encoding(&given)?)?;
    if answer.codes.contains(&Code::FileNotFound) || answer.is_error && names_no_version {
        let apply = &call.names.apply;
        answer.text += &format!("\nTo create a file, call {apply} with its path and content.");
    }
    Ok(answer)
}

/// Whether a patch has a header without a tag, as a model writes for a file that does not exist.
fn has_bare_header(patch: &str) -> bool {
    let is_bare = |row: &str| row.starts_with('[') && row.ends_with(']') && !row.contains('#');
    patch.lines().any(|row| is_bare(row.trim_end()))
}

/// The operation that creates a file, if the call has a path and content.
fn new_file(call: &Call<'_>, given: &mut Arguments<'_>) -> Result<Option<Value>, CallError> {
    let (path, content) = (given.optional_text(NEW_PATH.name)?, given.optional_text(CONTENT.name)?);
    let path = path.filter(|path| !path.is_empty());
    let has_patch = given.optional_text(PATCH.name)?.is_some_and(|patch| !patch.is_empty());
    match (path, content) {
        (None, None) => Ok(None),
        // Models fill in an empty content next to a patch.
        (_, content) if has_patch && content.as_ref().is_none_or(String::is_empty) => Ok(None),
        (Some(path), Some(content)) if !has_patch => {
            let path = plain_path(call, path, NEW_PATH.name, given.repairs)?;
            check_new_path(call, &path, NEW_PATH.name)?;
            let fields = [("op", "add_file"), (NEW_PATH.name, &path), (CONTENT.name, &content)];
            let field =
                |(name, text): (&str, &str)| (name.to_owned(), Value::String(text.to_owned()));
            let replaces = given.flag(REPLACE)?;
            let flag = (REPLACE.to_owned(), Value::Bool(replaces));
            Ok(Some(Value::Object(fields.map(field).into_iter().chain([flag]).collect())))
        }
        _ => Err(malformed("give either patch, or path and content to create a file".to_owned())),
    }
}

/// Why a host cannot limit the operations.
pub const NOT_LIMITED: &str = "this dialect cannot limit operations, because a patch can contain any of them: omit the option `operations`";

/// Whether arguments are a patch or a new file. Arguments with operations are not, although their
/// fields can have the names of these.
pub fn is_meant(given: &PartialArguments) -> bool {
    given.list(&OPERATIONS).iter().all(|item| PartialArguments::of_object(item).is_none())
        && given.scalar(&OP).is_none()
        && (given.scalar(&PATCH).is_some() || given.scalar(&CONTENT).is_some())
}

/// The files that a call names.
pub fn title(given: &PartialArguments) -> String {
    let Some(patch) = given.scalar(&PATCH) else {
        return given.scalar(&NEW_PATH).unwrap_or_default();
    };
    paths_of(&patch).join(", ")
}

/// The paths in the headers of a patch, each once.
fn paths_of(patch: &str) -> Vec<&str> {
    let mut named: Vec<&str> = Vec::new();
    for path in patch.split('\n').filter_map(|row| version_path(row.trim_end())) {
        if !named.contains(&path) {
            named.push(path);
        }
    }
    named
}

/// The files that a call names, without globs.
pub fn named_paths(mut given: Arguments<'_>) -> Result<(Vec<String>, Vec<String>), CallError> {
    given.normalize(SCRIPT.fields)?;
    let Fields(fields) = &given.fields;
    let mut paths = Vec::new();
    for (name, value) in fields {
        let Value::String(text) = value else { continue };
        if *name == PATCH.name {
            paths.extend(paths_of(text).into_iter().map(str::to_owned));
            let moved = text.lines().filter_map(|row| row.trim().strip_prefix("MV "));
            paths.extend(moved.map(|to| to.trim_matches(['"', '\'']).to_owned()));
        } else if *name == NEW_PATH.name {
            paths.push(text.clone());
        }
    }
    Ok((paths, Vec::new()))
}
