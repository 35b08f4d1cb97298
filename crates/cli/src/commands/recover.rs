//! `recover`: finishes or rolls back patches that a dead process left unfinished.

use hashline_core::RecoveryReport;

use crate::call::Call;
use crate::exit::{Exit, Failure, complain, say};
use crate::interrupt;
use crate::progress::Progress;

/// `hashline recover`
pub fn recover(call: &mut Call<'_>) -> Result<Exit, Failure> {
    interrupt::asks(&call.cancel);
    let progress = Progress::begin("recovering");
    let report = call.files.workspace().recover(&call.cancel)?;
    drop(progress);
    let is_done = report.damaged.is_empty() && report.failed.is_empty();
    let exit = if is_done { Exit::Done } else { Exit::Error };
    show(call, &report).map_err(|failure| failure.after("the recovery is complete"))?;
    if call.shared.json {
        return Ok(exit);
    }
    for journal in &report.damaged {
        say(&format!(
            "{journal}: the journal is damaged, of another version or of another user. It is kept."
        ));
    }
    for error in &report.failed {
        complain(error, false);
    }
    Ok(exit)
}

/// Prints the report, and flushes it.
fn show(call: &mut Call<'_>, report: &RecoveryReport) -> Result<(), Failure> {
    if call.shared.json {
        call.out.json(report)?;
    } else {
        print(call, report)?;
    }
    Ok(call.out.flush()?)
}

fn print(call: &mut Call<'_>, report: &RecoveryReport) -> Result<(), Failure> {
    for (what, patches) in [("finished", &report.finished), ("undone", &report.undone)] {
        for files in patches {
            call.out.line(&format!("{what}: {}", files.join(", ")))?;
        }
    }
    for conflict in &report.conflicts {
        let kept = match conflict.kept.as_slice() {
            [] => String::new(),
            kept => format!("; the patch's version is in {}", kept.join(", ")),
        };
        call.out
            .line(&format!("skipped: {} was changed by another process{kept}", conflict.path))?;
    }
    if report.live > 0 {
        call.out.line(&format!("in progress: {}", report.live))?;
    }
    if report.is_empty() {
        call.out.line("nothing to recover")?;
    }
    Ok(())
}
