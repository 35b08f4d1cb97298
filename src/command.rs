//! `checkCommand`.

use hashline_core::command::{self as core, Judgement, Policy, Tools, Unparsed};
use napi::Env;
use napi_derive::napi;

use super::fault::{Result, returned};
use super::js::Js;
use super::options::{Field, Holder, optional, read_options};
use super::text::Word;

/// What `checkCommand` looks for.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct CommandPolicy<'env> {
    /// Whether reading file contents is a finding: true when left out.
    #[napi(ts_type = "boolean")]
    pub reads: Option<Field<'env>>,
    /// Whether writing files is a finding: true when left out.
    #[napi(ts_type = "boolean")]
    pub writes: Option<Field<'env>>,
    /// Whether `cp`, `mv`, `rm` and the like are findings, too: false when left out.
    #[napi(ts_type = "boolean")]
    pub file_commands: Option<Field<'env>>,
    /// Whether `patch`, `git apply` and the like are findings, too: false when left out.
    #[napi(ts_type = "boolean")]
    pub patches: Option<Field<'env>>,
    /// Whether code for an interpreter (`python -c`, `node -e`) is looked at, too: false when left
    /// out.
    #[napi(ts_type = "boolean")]
    pub interpreters: Option<Field<'env>>,
    /// More commands that read the files they are given.
    #[napi(ts_type = "readonly string[]")]
    pub extra_reads: Option<Field<'env>>,
    /// More commands that write files.
    #[napi(ts_type = "readonly string[]")]
    pub extra_writes: Option<Field<'env>>,
    /// Commands that are no findings: `'grep'`, `'git apply'`. Redirections stay findings.
    #[napi(ts_type = "readonly string[]")]
    pub except: Option<Field<'env>>,
    /// Files, and directories with all that is in them, that may be read.
    #[napi(ts_type = "readonly string[]")]
    pub readable_paths: Option<Field<'env>>,
    /// Files, and directories with all that is in them, that may be written: `'/tmp'`.
    #[napi(ts_type = "readonly string[]")]
    pub writable_paths: Option<Field<'env>>,
    /// The verdict on what cannot be read and has no finding: `'unparsed'` when left out.
    #[napi(ts_type = "'unparsed' | 'allow' | 'write'")]
    pub unparsed: Option<Field<'env>>,
    /// The names of tools in messages.
    #[napi(ts_type = "CommandTools")]
    pub tools: Option<Field<'env>>,
}

read_options!(CommandPolicy {
    reads: "reads",
    writes: "writes",
    file_commands: "fileCommands",
    patches: "patches",
    interpreters: "interpreters",
    extra_reads: "extraReads",
    extra_writes: "extraWrites",
    except: "except",
    readable_paths: "readablePaths",
    writable_paths: "writablePaths",
    unparsed: "unparsed",
    tools: "tools"
});

/// How the tools are called that a model should use instead of a command.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct CommandTools<'env> {
    /// The one that shows a file: `read` when left out.
    #[napi(ts_type = "string")]
    pub read: Option<Field<'env>>,
    /// The one that searches files: `search` when left out.
    #[napi(ts_type = "string")]
    pub search: Option<Field<'env>>,
    /// The one that edits files: `edit` when left out.
    #[napi(ts_type = "string")]
    pub edit: Option<Field<'env>>,
}

read_options!(CommandTools { read: "read", search: "search", edit: "edit" });

/// A command line, judged.
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
    /// The name of the command, without its directory; empty where a redirection stands alone.
    pub command: String,
    /// The file, as far as it is known before anything runs.
    pub target: Option<String>,
    /// Where it stands: the command with its words, or the redirection.
    pub span: CommandSpan,
    /// For the model: what it does, and the tool to use instead.
    pub message: String,
}

/// A part of the command line, as `slice` takes it.
#[napi(object, object_from_js = false)]
pub struct CommandSpan {
    /// The first code unit.
    pub start: u32,
    /// Behind the last code unit.
    pub end: u32,
}

/// Tells which parts of a shell command line read file contents or write files, so that a model
/// can be told which tool to use instead. Runs nothing and looks at no file.
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
        let command = Field::argument("command", command).text()?;
        let judgement = core::check(&command, &read_policy(policy)?);
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

fn read_policy(value: Js<'_>) -> Result<Policy> {
    let given = CommandPolicy::read(Holder::Policy, value)?;
    let defaults = Policy::default();
    let flag = |field, default| {
        Ok::<_, super::fault::Fault>(optional(field, Field::flag)?.unwrap_or(default))
    };
    let names =
        |field| Ok::<_, super::fault::Fault>(optional(field, Field::texts)?.unwrap_or_default());
    Ok(Policy {
        reads: flag(given.reads, defaults.reads)?,
        writes: flag(given.writes, defaults.writes)?,
        file_commands: flag(given.file_commands, defaults.file_commands)?,
        patches: flag(given.patches, defaults.patches)?,
        interpreters: flag(given.interpreters, defaults.interpreters)?,
        extra_reads: names(given.extra_reads)?,
        extra_writes: names(given.extra_writes)?,
        except: names(given.except)?,
        readable_paths: names(given.readable_paths)?,
        writable_paths: names(given.writable_paths)?,
        unparsed: optional(given.unparsed, |field| field.choice(&Unparsed::ALL))?
            .unwrap_or_default(),
        tools: optional(given.tools, |field| read_tools(field.value()))?.unwrap_or_default(),
    })
}

fn read_tools(value: Js<'_>) -> Result<Tools> {
    let given = CommandTools::read(Holder::PolicyTools, value)?;
    let defaults = Tools::default();
    Ok(Tools {
        read: optional(given.read, Field::text)?.unwrap_or(defaults.read),
        search: optional(given.search, Field::text)?.unwrap_or(defaults.search),
        edit: optional(given.edit, Field::text)?.unwrap_or(defaults.edit),
    })
}
