//! `check-syntax`: which files do not parse, and where.

use hashline_core::{Code, SyntaxReport, SyntaxState};

use super::Call;
use crate::args::CheckSyntax;
use crate::exit::{Exit, Failure, complain, say};

/// `hashline check-syntax`
pub fn check(call: &mut Call<'_>, args: &CheckSyntax) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    let mut reports = Vec::new();
    for file in &args.files {
        match call.files.workspace().check_syntax(file, &call.cancel) {
            Ok(report) => {
                if report.syntax == SyntaxState::Unclean && exit == Exit::Done {
                    exit = Exit::Mismatch;
                }
                if call.shared.json {
                    reports.push(report);
                } else {
                    tell(call, &report)?;
                }
            }
            Err(error) if error.code != Code::Aborted => {
                call.out.flush()?;
                complain(&error, false);
                exit = Exit::Trouble;
            }
            Err(error) => return Err(error.into()),
        }
    }
    if call.shared.json {
        call.out.json(&reports)?;
    }
    Ok(exit)
}

fn tell(call: &mut Call<'_>, report: &SyntaxReport) -> Result<(), Failure> {
    let path = hashline_core::host::one_line(&report.path);
    match (report.syntax, &report.message, report.line) {
        (SyntaxState::Unknown, ..) => {
            call.out.flush()?;
            say(&format!(
                "{path}: not parsed: the language is not known, or the file is too large"
            ));
        }
        (_, Some(message), Some(line)) => {
            call.out.line(&format!("{path}: line {line}: {message}"))?;
            call.out.rows(&report.text)?;
        }
        (SyntaxState::Unclean, ..) => call.out.line(&format!("{path}: does not parse"))?,
        _ => {}
    }
    Ok(())
}
