//! `checkCommand`.

use hashline_core::host::serves;
use hashline_guard::{self as core, Judgement, Policy};
use napi::Env;
use napi_derive::napi;

use super::error::returned;
use super::js::Js;
use super::options::Field;
use super::text::Word;

/// The result of checking a command line.
#[napi(object, object_from_js = false)]
pub struct CommandJudgement {
    /// `'write'` when a part of it writes a file, else `'read'` when one reads file contents, else
    /// `'unparsed'` when something in it cannot be read, else `'allow'`.
    #[napi(ts_type = "'allow' | 'read' | 'write' | 'unparsed'")]
    pub verdict: Word,
    /// The parts that read or write files, in the order of their places.
    pub findings: Vec<CommandFinding>,
}

/// A part of a command line that reads or writes files.
#[napi(object, object_from_js = false)]
pub struct CommandFinding {
    /// What it does.
    #[napi(ts_type = "'read' | 'write'")]
    pub kind: Word,
    /// By which rule it was found.
    #[napi(ts_type = "CommandRule")]
    pub rule: Word,
    /// The name of the command, without its directory; empty for a redirection without a command.
    pub command: String,
    /// The file, if it is known before the command runs.
    pub target: Option<String>,
    /// The position of the command with its words, or of the redirection.
    pub span: CommandSpan,
    /// For the model: what it does, and the tool to use instead.
    pub message: String,
}

/// A range of the command line, as `slice` takes it.
#[napi(object, object_from_js = false)]
pub struct CommandSpan {
    /// The first code unit.
    pub start: u32,
    /// The code unit after the last one.
    pub end: u32,
}

/// Reports which parts of a shell command line read file contents or write files, so that a model
/// can be pointed to the right tool. Runs nothing, and accesses files only for `checkFiles`.
///
/// Throws an error that has a `code` for misuse of the arguments.
#[napi(
    ts_args_type = "command: string, policy?: CommandPolicy",
    ts_return_type = "CommandJudgement"
)]
pub fn check_command<'env>(
    env: &'env Env,
    command: Js<'env>,
    policy: Js<'env>,
) -> napi::Result<Js<'env>> {
    returned(env, || {
        let command: String = Field::argument("command", command)?.read()?;
        let policy: Option<Policy> = Field::argument("policy", policy)?.read()?;
        let policy = policy.unwrap_or_default();
        let judgement = core::check_among(&command, &policy, &serves(&policy.roots));
        Ok(CommandJudgement::of(judgement, &command))
    })
}

impl CommandJudgement {
    fn of(judgement: Judgement, command: &str) -> CommandJudgement {
        let units = |bytes: usize| {
            let before = command.get(..bytes).unwrap_or(command);
            if before.is_ascii() { bytes as u32 } else { before.encode_utf16().count() as u32 }
        };
        let findings = judgement.findings.into_iter().map(|finding| CommandFinding {
            kind: Word(finding.kind.name()),
            rule: Word(finding.rule.name()),
            command: finding.command,
            target: finding.target,
            span: CommandSpan { start: units(finding.span.start), end: units(finding.span.end) },
            message: finding.message,
        });
        CommandJudgement { verdict: Word(judgement.verdict.name()), findings: findings.collect() }
    }
}
