//! `json-read`: prints a document with the anchors of its values; and prints the changes of
//! `json-apply`.

use hashline_core::host::{GAP, file_header};
use hashline_core::{Applied, JsonRequest};

use crate::args::JsonRead;
use crate::call::Call;
use crate::exit::{Exit, Failure, say};
use crate::input::{is_standard_input, standard_input};

/// `hashline json-read`
pub fn read(call: &mut Call<'_>, args: &JsonRead) -> Result<Exit, Failure> {
    let request = args.request();
    let view = if is_standard_input(&request.path) {
        let workspace = call.files.workspace();
        let bytes = standard_input(workspace.options().max_file_bytes)?;
        workspace.read_json_bytes(&request, &bytes, &call.cancel)?
    } else {
        call.files.read_json(&request, &call.cancel)?
    };
    if call.shared.json {
        call.out.json(&view)?;
        return Ok(Exit::Done);
    }
    call.out.rows(&view.text)?;
    if let Some(next) = view.next_line {
        say(&format!(
            "{}: the file has {} lines. Continue with --start-line {next}.",
            view.path, view.line_count
        ));
    }
    Ok(Exit::Done)
}

/// The changed regions of documents with their new anchors: the lines that their diffs show.
pub fn show_updated(call: &mut Call<'_>, applied: &Applied) -> Result<(), Failure> {
    call.out.rows("---")?;
    let has_headers = !applied.is_about_one_file;
    for file in &applied.files {
        if has_headers {
            call.out.rows(&file_header(&file.path))?;
        }
        let hunks = file.diff.iter().flat_map(|diff| &diff.hunks);
        for (at, hunk) in hunks.filter(|hunk| hunk.new_lines > 0).enumerate() {
            if at > 0 {
                call.out.rows(GAP)?;
            }
            let rows = rows_of(call, &file.path, hunk.new_start, hunk.new_lines)?;
            call.out.rows(&rows)?;
        }
    }
    Ok(())
}

/// The rows of `count` lines: those from the first line on, without those after the last one.
fn rows_of(call: &Call<'_>, path: &str, first: u64, count: u64) -> Result<String, Failure> {
    let from = |start_line| {
        let request = JsonRequest { start_line: Some(start_line), ..JsonRequest::new(path) };
        call.files.read_json(&request, &call.cancel)
    };
    let view = from(first)?;
    let next = first + count;
    if next > view.line_count {
        return Ok(view.text);
    }
    let behind = from(next)?.text;
    Ok(view.text.strip_suffix(&behind).unwrap_or(&view.text).to_owned())
}
