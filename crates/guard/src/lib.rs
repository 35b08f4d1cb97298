//! The shell guard: finds the parts of a command line that read or write file contents, so that a
//! model can use a tool with anchors instead.
//!
//! The guard is a pure function from text to verdict. It depends on no other crate of the project,
//! runs nothing and accesses no file; where files matter, it asks the caller. It advises
//! well-meaning models and is not a sandbox: `docs/guard.md` says what it guarantees.

mod access;
mod argv;
mod awk;
mod bounds;
mod code;
mod flow;
mod grammar;
mod judge;
mod literal;
mod message;
mod paths;
mod policy;
mod rules;
mod scan;
mod sed;
#[cfg(test)]
mod steps;
mod streams;
mod tables;
mod word;
mod wrap;

use std::panic::{AssertUnwindSafe, catch_unwind};

use serde::{Deserialize, Serialize};

use bounds::StackSize;
use judge::Judged;
pub use policy::{Policy, Tools, Unparsed};

/// The verdict on a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Verdict {
    /// No part reads or writes files in a way that a tool does better.
    Allow,
    /// A part reads file contents.
    Read,
    /// A part writes a file.
    Write,
    /// It is not a valid shell command, or exceeds the limits.
    Unparsed,
}

impl Verdict {
    /// The published name.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::Allow => "allow",
            Verdict::Read => "read",
            Verdict::Write => "write",
            Verdict::Unparsed => "unparsed",
        }
    }
}

/// The effect of a part of a command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum FindingKind {
    /// It reads file contents.
    Read,
    /// It writes a file.
    Write,
}

impl FindingKind {
    /// The published name.
    pub fn name(self) -> &'static str {
        match self {
            FindingKind::Read => Verdict::Read.name(),
            FindingKind::Write => Verdict::Write.name(),
        }
    }
}

/// The rule by which a part of a command line was found.
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
    /// A command that writes a file by its purpose: `tee f`, `dd of=f`.
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
    /// A command that the policy lists.
    Extra,
}

impl CommandRule {
    /// All rules.
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

    /// The published names, in the same order.
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

    /// The published name.
    pub const fn name(self) -> &'static str {
        CommandRule::NAMES[self as usize]
    }
}

/// A range of bytes of the command line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CommandSpan {
    /// The offset of the first byte.
    pub start: usize,
    /// The offset after the last byte.
    pub end: usize,
}

/// A part of a command line that reads or writes files.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// Its effect.
    pub kind: FindingKind,
    /// The rule by which it was found.
    pub rule: CommandRule,
    /// The name of the command, without its directory; empty for a redirection without a command.
    pub command: String,
    /// The file, if it is known before run time.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// The span of the command and its arguments, or of the redirection. For a command inside a
    /// quoted script, the span of the quoted word.
    pub span: CommandSpan,
    /// For the model: the effect, and the tool to use instead.
    pub message: String,
}

/// The result of judging a command line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Judgement {
    /// The verdict.
    pub verdict: Verdict,
    /// The parts that read or write files, sorted by their spans.
    pub findings: Vec<Finding>,
}

/// Whether the tools can serve the file at a path.
pub type Serves<'f> = dyn Fn(&str) -> bool + Sync + 'f;

/// Judges a command line.
///
/// Findings take precedence over unparsed parts: `cat f; eval "("` is a read.
pub fn check(command: &str, policy: &Policy) -> Judgement {
    check_among(command, policy, &|_| true)
}

/// Judges a command line with knowledge of files. `serves` returns whether the tools can serve the
/// file or directory at an absolute path, if it exists. It is called only for paths that are
/// textually inside of [`Policy::roots`], and only if [`Policy::check_files`] is set.
pub fn check_among(command: &str, policy: &Policy, serves: &Serves<'_>) -> Judgement {
    let Judged { mut findings, is_whole, .. } = judged(command, policy, serves).unwrap_or_default();
    findings.sort_by_key(|finding| (finding.span.start, finding.span.end));
    let verdict = match findings.iter().map(|finding| finding.kind).max() {
        Some(FindingKind::Write) => Verdict::Write,
        Some(FindingKind::Read) => Verdict::Read,
        None if is_whole => Verdict::Allow,
        None => policy.unparsed.verdict(),
    };
    Judgement { verdict, findings }
}

/// The directory in which all programs of a command line run, if it starts in `cwd`: where `cd`, and
/// options such as `make -C`, lead. Without `cwd` it is relative, and empty at the start. `None` if
/// it is not known, or if there are several.
pub fn directory(command: &str, cwd: Option<&str>) -> Option<String> {
    let start = cwd.unwrap_or_default();
    let policy = Policy { cwd: cwd.map(str::to_owned), ..Policy::default() };
    let Judged { places, is_whole, .. } = judged(command, &policy, &|_| true)?;
    let mut places = places.into_iter();
    let place = places.next().unwrap_or_else(|| Some(start.to_owned()))?;
    // After `cd app ||`, the directory was not entered.
    let is_known = is_whole && places.next().is_none() && !command.contains("||");
    is_known.then_some(place)
}

/// Judges a command line; `None` if the parser panics.
fn judged(command: &str, policy: &Policy, serves: &Serves<'_>) -> Option<Judged> {
    let run =
        |room| catch_unwind(AssertUnwindSafe(|| judge::judge(command, policy, serves, room))).ok();
    run(StackSize::Small).and_then(|judged| {
        if judged.needs_large_stack { with_stack(|| run(StackSize::Large)) } else { Some(judged) }
    })
}

/// Runs `run` on a thread whose stack suffices for everything within the limits.
fn with_stack(run: impl FnOnce() -> Option<Judged> + Send) -> Option<Judged> {
    let name = "hashline-guard".to_owned();
    let thread = std::thread::Builder::new().name(name).stack_size(bounds::STACK_BYTES);
    std::thread::scope(|scope| thread.spawn_scoped(scope, run).ok()?.join().ok()?)
}
