//! `json-read`: a document with the anchors of its values.

use super::Call;
use crate::args::JsonRead;
use crate::exit::{Exit, Failure, say};

/// `hashline json-read`
pub fn read(call: &mut Call<'_>, args: &JsonRead) -> Result<Exit, Failure> {
    let view = call.workspace.read_json(&args.request(), &call.cancel)?;
    if call.shared.json {
        call.out.json(&view)?;
        return Ok(Exit::Done);
    }
    call.out.rows(&view.text)?;
    if let Some(next) = view.next_line {
        say(&format!(
            "{}: has {} lines; go on with --start-line {next}",
            view.path, view.line_count
        ));
    }
    Ok(Exit::Done)
}
