//! The tool `undo_edit`: undoes the last edit of the session.

use hashline_core::host::Turn;
use hashline_core::{Dialect, Outcome, PatchOptions, UndoRequest};

use crate::apply::{DIFF_CONTEXT_LINES, answer_of, answer_options};
use crate::arguments::{Arguments, CallError};
use crate::title::PartialArguments;
use crate::tool::{Answer, Call, Names, Tool, ToolText, ToolsOptions};

pub static UNDO: Tool =
    Tool { title: "Undo", fields: &[], text: tool_text, run: undo, title_of: title };

fn tool_text(options: &ToolsOptions, _: &Dialect) -> ToolText {
    let Names { read, apply, undo, .. } = &options.names;
    ToolText {
        description: format!(
            "Undoes the last call of {apply} that changed files: all of it, or nothing. \
             Created files are removed; deleted and moved files are restored. Changes by others are kept; if they changed the same lines, the undo is refused. \
             Another call undoes the edit before, and an undone edit cannot be redone."
        ),
        snippet: format!("Undo the last edit of {apply}"),
        guidelines: vec![format!(
            "Undo a wrong edit with {undo}, instead of writing the old lines again."
        )],
        advice: format!("Use {read} on the files for their anchors."),
    }
}

fn title(_: &PartialArguments) -> String {
    "the last edit".to_owned()
}

fn undo(call: &Call<'_>, turn: Turn, mut given: Arguments<'_>) -> Result<Answer, CallError> {
    given.normalize(UNDO.fields)?;
    let of_session = call.session.options().workspace.apply.edit.answer;
    let options = PatchOptions {
        answer: answer_options(call.options.answer.or(of_session)),
        dry_run: call.options.dry_run,
        plan: call.options.plan.clone(),
        diff_context_lines: Some(DIFF_CONTEXT_LINES),
        ..PatchOptions::default()
    };
    let Some(outcome) = turn.undo(&UndoRequest::default(), &options, call.cancel)?.pop() else {
        let text = "There is no edit to undo.".to_owned();
        return Ok(Answer { text, summary: "nothing to undo".to_owned(), ..Answer::default() });
    };
    let left = match &outcome {
        Outcome::Applied(_) if !call.options.dry_run => left(call),
        _ => String::new(),
    };
    let answer = answer_of(outcome);
    Ok(Answer { text: answer.text + &left, ..answer })
}

/// What further calls would undo.
fn left(call: &Call<'_>) -> String {
    let left = call.session.undoable();
    // They are undone in sequence.
    let count = left.iter().take_while(|patch| patch.refused.is_none()).count();
    let Some(next) = left.first().filter(|_| count > 0) else { return String::new() };
    let edits = match count {
        1 => "1 earlier edit".to_owned(),
        count => format!("{count} earlier edits"),
    };
    format!("\n({edits} can be undone; the next one changed {}.)", next.files_in_short())
}
