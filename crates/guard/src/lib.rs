//! The shell guard: which parts of a command line read file contents or write files, so that a
//! model can be told to use a tool with anchors instead.
//!
//! Pure: text → verdict. Imports nothing of the layers, runs nothing and looks at no file; where
//! files matter it asks the caller. It
//! advises models that mean well and is no sandbox: what it promises is in `docs/guard.md`.

mod argv;
mod awk;
mod bounds;
mod code;
mod flow;
mod grammar;
mod hit;
mod judge;
mod lexis;
mod literal;
mod message;
mod place;
mod policy;
mod rules;
mod sed;
#[cfg(test)]
mod steps;
mod streams;
mod tables;
mod word;
mod wrap;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

use bounds::StackRoom;
use judge::Judged;
pub use policy::{Policy, Tools, Unparsed};

/// What is to be said of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// Nothing in it reads or writes files in a way that a tool does better.
    Allow,
    /// Something in it reads file contents.
    Read,
    /// Something in it writes a file.
    Write,
    /// It is no shell command that can be read, or larger than what is looked at.
    Unparsed,
}

impl Verdict {
    /// The word that callers see.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Read => "read",
            Verdict::Write => "write",
            Verdict::Unparsed => "unparsed",
        }
    }
}

/// What a part of a command line does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FindingKind {
    /// It reads file contents.
    Read,
    /// It writes a file.
    Write,
}

impl FindingKind {
    /// The word that callers see.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Read => Verdict::Read.name(),
            FindingKind::Write => Verdict::Write.name(),
        }
    }
}

/// By which rule a part of a command line was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CommandRule {
    /// A command that prints files: `cat f`.
    Reader,
    /// A command that searches files: `grep x f`.
    Search,
    /// A file as the input of such a command: `cat < f`, `$(< f)`.
    Input,
    /// A redirection into a file: `> f`.
    Output,
    /// A command whose job is to write a file: `tee f`, `dd of=f`.
    Writer,
    /// A file edited in place: `sed -i`, `perl -i`.
    InPlace,
    /// A file that a program of sed, awk or find writes: `sed 'w f'`.
    Program,
    /// `cp`, `mv`, `rm` and the like.
    FileCommand,
    /// `patch`, `git apply` and the like.
    Patch,
    /// Code given to an interpreter: `python -c "open('f', 'w')"`.
    Interpreter,
    /// A command that the policy names.
    Extra,
}

impl CommandRule {
    /// All of them.
    pub const ALL: [CommandRule; 11] = [
        CommandRule::Reader,
        CommandRule::Search,
        CommandRule::Input,
        CommandRule::Output,
        CommandRule::Writer,
        CommandRule::InPlace,
        CommandRule::Program,
        CommandRule::FileCommand,
        CommandRule::Patch,
        CommandRule::Interpreter,
        CommandRule::Extra,
    ];

    /// The words that callers see, in the same order.
    const NAMES: [&'static str; CommandRule::ALL.len()] = [
        "reader",
        "search",
        "input",
        "output",
        "writer",
        "in-place",
        "program",
        "file-command",
        "patch",
        "interpreter",
        "extra",
    ];

    /// The word that callers see.
    pub const fn name(self) -> &'static str {
        CommandRule::NAMES[self as usize]
    }
}

/// Bytes of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CommandSpan {
    /// The first one.
    pub start: usize,
    /// After the last one.
    pub end: usize,
}

/// A part of a command line that reads or writes files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What it does.
    pub kind: FindingKind,
    /// By which rule it was found.
    pub rule: CommandRule,
    /// The name of the command, without its directory; empty where a redirection stands alone.
    pub command: String,
    /// The file, as far as it is known before anything runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Where it stands: the command with its words, or the redirection. What is inside a quoted
    /// script has the place of that word.
    pub span: CommandSpan,
    /// For the model: what it does, and the tool to use instead.
    pub message: String,
}

/// A command line, judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    /// What is to be said of it.
    pub verdict: Verdict,
    /// Its parts that read or write files, in the order of their places.
    pub findings: Vec<Finding>,
}

/// Whether the tools can serve the file at a path.
pub type Serves<'f> = dyn Fn(&str) -> bool + Sync + 'f;

/// Judges a command line.
///
/// A finding counts more than what could not be read: `cat f; eval "("` is a read.
pub fn check(command: &str, policy: &Policy) -> Judgement {
    check_among(command, policy, &|_| true)
}

/// Judges a command line where the files are known: `serves` says whether the tools can serve the
/// file or directory at an absolute path, if there is one. It is asked only for paths that are
/// inside of [`Policy::roots`] by their text, and only if [`Policy::check_files`] says so.
pub fn check_among(command: &str, policy: &Policy, serves: &Serves<'_>) -> Judgement {
    // A panic of the parser is a line that cannot be read.
    let run =
        |room| catch_unwind(AssertUnwindSafe(|| judge::judge(command, policy, serves, room))).ok();
    let judged = run(StackRoom::Small).and_then(|judged| {
        if judged.needs_room { with_stack(|| run(StackRoom::Large)) } else { Some(judged) }
    });
    let Judged { mut findings, is_whole, .. } = judged.unwrap_or_default();
    findings.sort_by_key(|finding| (finding.span.start, finding.span.end));
    let verdict = match findings.iter().map(|finding| finding.kind).max() {
        Some(FindingKind::Write) => Verdict::Write,
        Some(FindingKind::Read) => Verdict::Read,
        None if is_whole => Verdict::Allow,
        None => policy.unparsed.verdict(),
    };
    Judgement { verdict, findings }
}

/// Runs on a thread whose stack is large enough for all that passes the bounds.
fn with_stack(run: impl FnOnce() -> Option<Judged> + Send) -> Option<Judged> {
    let name = "hashline-guard".to_owned();
    let thread = std::thread::Builder::new().name(name).stack_size(bounds::STACK_BYTES);
    std::thread::scope(|scope| thread.spawn_scoped(scope, run).ok()?.join().ok()?)
}
