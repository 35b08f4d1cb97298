//! `apply`: a patch on files.

use hashline_core::edit::apply::Manner;
use hashline_core::edit::outcome::{Applied, Outcome};

use super::Call;
use crate::args::Apply;
use crate::exit::{Exit, Failure};
use crate::input::patch;
use crate::{interrupt, mismatch};

/// `hashline apply`
pub fn apply(call: &mut Call<'_>, args: &Apply) -> Result<Exit, Failure> {
    let options = call.workspace.options();
    let patch = patch(&args.input, options.max_file_bytes)?;
    interrupt::asks(&call.cancel);
    let manner = Manner {
        recall: None,
        dry_run: args.dry_run,
        diff_context_lines: args.dry_run.then_some(args.context),
    };
    match call.workspace.apply_with(&patch, &manner, &call.cancel)? {
        Outcome::Rejected(rejected) => Ok(mismatch::tell(&rejected, options.dialect)),
        Outcome::Applied(applied) => {
            if args.dry_run {
                show_diff(call, &applied)?;
            } else if args.emit_updated {
                show_updated(call, &applied)?;
            }
            Ok(Exit::Done)
        }
    }
}

fn show_diff(call: &mut Call<'_>, applied: &Applied) -> Result<(), Failure> {
    for diff in applied.files.iter().filter_map(|file| file.diff.as_ref()) {
        call.out.text(&diff.text)?;
    }
    Ok(())
}

/// The changed regions with their new anchors.
fn show_updated(call: &mut Call<'_>, applied: &Applied) -> Result<(), Failure> {
    call.out.line("---")?;
    call.out.text(&applied.text)?;
    Ok(())
}
