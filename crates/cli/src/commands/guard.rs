//! `check`: prints the guard's verdict on a shell command.

use hashline_core::Error;
use hashline_core::host::serves;
use hashline_guard::{Verdict, check_among};

use crate::args::{Check, STANDARD_INPUT};
use crate::call::Call;
use crate::exit::{Exit, Failure};
use crate::input::standard_input;

/// `hashline check`
pub fn check(call: &mut Call<'_>, args: &Check) -> Result<Exit, Failure> {
    let command = match args.command.as_str() {
        STANDARD_INPUT => {
            let bytes = standard_input(call.files.workspace().options().max_file_bytes)?;
            String::from_utf8(bytes)
                .map_err(|_| Error::argument("the command on standard input is not UTF-8"))?
        }
        command => command.to_owned(),
    };
    let policy = args.guard.policy();
    let judgement = check_among(&command, &policy, &serves(&policy.roots));
    if call.shared.json {
        call.out.json(&judgement)?;
    } else {
        call.out.line(judgement.verdict.name())?;
        for finding in &judgement.findings {
            let text = command.get(finding.span.start..finding.span.end).unwrap_or_default();
            let message = &finding.message;
            call.out.line(&format!("{}: {text}: {message}", finding.kind.name()))?;
        }
    }
    Ok(if judgement.verdict == Verdict::Allow { Exit::Done } else { Exit::Error })
}
