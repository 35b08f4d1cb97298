//! `check-syntax`: reports which files do not parse, and where.

use hashline_core::{Code, Error, SyntaxReport, SyntaxState};

use crate::args::{CheckSyntax, STANDARD_INPUT};
use crate::call::Call;
use crate::exit::{Exit, Failure, complain, say};
use crate::input::Piped;

/// `hashline check-syntax`
pub fn check(call: &mut Call<'_>, args: &CheckSyntax) -> Result<Exit, Failure> {
    let mut exit = Exit::Done;
    let mut reports = Vec::new();
    let mut piped = Piped::default();
    for file in &args.files {
        match report_of(call, file, &mut piped) {
            Ok(report) => {
                if report.syntax == SyntaxState::Unclean && exit == Exit::Done {
                    exit = Exit::Mismatch;
                }
                if call.shared.json {
                    reports.push(report);
                } else {
                    print(call, &report)?;
                }
            }
            Err(error) if error.code != Code::Aborted => {
                call.out.flush()?;
                complain(&error, false);
                exit = Exit::Error;
            }
            Err(error) => return Err(error.into()),
        }
    }
    if call.shared.json {
        call.out.json(&reports)?;
    }
    Ok(exit)
}

fn report_of(call: &Call<'_>, file: &str, piped: &mut Piped) -> Result<SyntaxReport, Error> {
    let workspace = call.files.workspace();
    if file != STANDARD_INPUT {
        return workspace.check_syntax(file, &call.cancel);
    }
    let bytes = piped.bytes(workspace.options().max_file_bytes)?;
    workspace.check_syntax_bytes(file, bytes, &call.cancel)
}

fn print(call: &mut Call<'_>, report: &SyntaxReport) -> Result<(), Failure> {
    let path = hashline_core::host::one_line(&report.path);
    match (report.syntax, &report.message, report.line) {
        (SyntaxState::Unknown, ..) => {
            call.out.flush()?;
            say(&format!(
                "{path}: not checked, because its language is unknown or the file is too large"
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
