//! `search`: matches in many files.

use hashline_core::view::search::SearchResult;

use super::Call;
use crate::args::Search;
use crate::exit::{Exit, Failure, complain, say};

/// `hashline search`
pub fn search(call: &mut Call<'_>, args: &Search) -> Result<Exit, Failure> {
    let found = call.workspace.search(&args.query(), &call.cancel)?;
    if call.shared.json {
        call.out.json(&found)?;
        return Ok(exit_of(&found));
    }
    call.out.rows(&found.text)?;
    for warning in &found.warnings {
        say(&warning.message);
    }
    for error in &found.errors {
        complain(error, false);
    }
    tell_what_is_left(&found);
    Ok(exit_of(&found))
}

fn exit_of(found: &SearchResult) -> Exit {
    if found.errors.is_empty() { Exit::Done } else { Exit::Trouble }
}

fn tell_what_is_left(found: &SearchResult) {
    if found.truncated {
        let (shown, files) = (found.match_count, found.files.len());
        say(&format!(
            "a limit left out matches: {shown} in {files} files are shown (--max-matches, --max-matches-per-file, --max-bytes)"
        ));
    }
}
