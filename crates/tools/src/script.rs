//! The tool that edits files by patches in oh-my-pi's language, where lines have no hashes.

use hashline_core::Dialect;
use hashline_core::host::{Value, WriteTurn, version_path};

use crate::apply::{OP, OPERATIONS, carry_out};
use crate::arguments::{Arguments, Trouble, malformed};
use crate::table::{Field, Kind};
use crate::title::SoFar;
use crate::tool::{Answer, Call, Names, Tool, ToolsOptions, Wording, Work};

/// The only argument.
pub const PATCH: Field =
    Field::new("patch", Kind::Text, "").required().or(&["input", "diff", "text"]);

pub static SCRIPT: Tool =
    Tool { title: "Apply", fields: &[PATCH], words, work: Work::Writes(apply, title) };

fn words(options: &ToolsOptions, _: &Dialect) -> Wording {
    let Names { read, search, apply, .. } = &options.names;
    Wording {
        description: format!(
            "Edits, moves and deletes files by a patch: all of it, or nothing. \
             A section begins with the header [path#TAG] that {read}, {search} and answers of {apply} show, and all numbers in it are those of that version. Its hunks:\n\
             PUT 3.=5: replaces lines 3 to 5 by the rows below that begin with +; PUT 3*: the block that begins at line 3.\n\
             PUT <3:, PUT >3:, PUT >3*:, PUT >$: insert such rows before line 3, after it, after its block, at the end.\n\
             CUT 3.=5 and CUT 3* delete lines; CUT 3.=5 @name keeps them, and PUT >9 @name puts them there, also in another section.\n\
             REM deletes the file, MV path moves it.\n\
             The answer has the new tag and the numbers of changed lines. A refusal shows the lines as they are: correct the patch and send all of it again.\n\n\
             To change line 2 and delete line 7 of a.js:\n\
             {{\"patch\": \"[a.js#1A2B]\\nPUT 2.=2:\\n+  log('Hello')\\nCUT 7.=7\"}}"
        ),
        snippet: format!("Edit files by patches over the versions that {read} and {search} show"),
        guidelines: vec![
            format!(
                "Change files with {apply} alone; put all edits that belong together into one patch."
            ),
            format!(
                "After {apply}, use the tag and the numbers of its answer; {read} again only what it did not show."
            ),
        ],
        advice: format!("Use {read} on the files for their tags."),
    }
}

fn apply(call: &Call<'_>, turn: WriteTurn, mut given: Arguments<'_>) -> Result<Answer, Trouble> {
    given.settle(SCRIPT.fields)?;
    if !call.allowed.is_all() {
        return Err(malformed(NOT_LIMITED.to_owned()));
    }
    let patch = given.text(PATCH.name, "a patch, which begins with [path#TAG]")?;
    let patch = Value::Object(vec![(PATCH.name.to_owned(), Value::String(patch))]);
    carry_out(call, turn, patch)
}

/// Why a harness cannot allow some operations alone.
pub const NOT_LIMITED: &str =
    "a patch can hold any operation, so that with this dialect all have to be allowed";

/// Whether arguments are a patch, and no edits, which have fields that are other names of one.
pub fn is_meant(given: &SoFar) -> bool {
    given.list(&OPERATIONS).iter().all(|one| SoFar::of_object(one).is_none())
        && given.word(&OP).is_none()
        && given.word(&PATCH).is_some()
}

/// The files of a call.
pub fn title(given: &SoFar) -> String {
    let patch = given.word(&PATCH).unwrap_or_default();
    let paths = patch.split('\n').filter_map(|row| version_path(row.trim_end()));
    let mut named: Vec<&str> = Vec::new();
    for path in paths {
        if !named.contains(&path) {
            named.push(path);
        }
    }
    named.join(", ")
}
