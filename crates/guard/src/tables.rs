//! The commands that have rules, as data: how they access files, and how their options are parsed.

use std::collections::HashMap;
use std::sync::LazyLock;

use super::CommandRule::{self, FileCommand, InPlace, Reader, Search};
use super::argv::{Arg, Spec};

/// How a command uses its operands and its input.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// Shows its files, or its input.
    Shows(CommandRule),
    /// Writes its input to files.
    Writes,
    /// Copies a file: `dd`.
    Copies,
    /// Changes its files.
    Changes(CommandRule),
    /// Changes its files if its commands say so: screen editors.
    Edits,
    /// Prints its own words.
    Prints,
    /// Lists names of files.
    Lists,
    /// Runs code, which [`super::code`] analyses.
    Runs,
}

/// A command with rules.
#[derive(Clone, Copy, Debug)]
pub struct Tool {
    pub job: Job,
    pub spec: Spec,
    /// The number of leading operands that are not files: a pattern, a program.
    pub own: usize,
    /// Options that replace these operands.
    pub own_options: &'static [&'static str],
    /// Subcommands that may precede the operands.
    pub subcommands: &'static [&'static str],
    /// Options with which no content is shown, or nothing is changed.
    pub silent: &'static [&'static str],
    /// Options without which no file is changed. For a command that shows files, the value is the
    /// changed file.
    pub changing: &'static [&'static str],
}

const fn shows(letters: &'static str, names: &'static [&'static str]) -> Tool {
    let spec = Spec { letters, attached: "", names, operand_ends: false };
    Tool {
        job: Job::Shows(Reader),
        spec,
        own: 0,
        own_options: &[],
        subcommands: &[],
        silent: &["help", "version"],
        changing: &[],
    }
}

const fn searches(letters: &'static str, names: &'static [&'static str]) -> Tool {
    Tool {
        job: Job::Shows(Search),
        own: 1,
        own_options: &["e", "f", "regexp", "file"],
        ..shows(letters, names)
    }
}

const fn changes(own: usize, letters: &'static str) -> Tool {
    Tool { job: Job::Changes(InPlace), own, ..shows(letters, &[]) }
}

const fn single(tool: Tool, attached: &'static str) -> Tool {
    Tool { spec: Spec { attached, operand_ends: true, ..tool.spec }, ..tool }
}

#[rustfmt::skip]
const CONTEXT: &[&str] = &[
    "regexp", "file", "max-count", "after-context", "before-context", "context", "include",
    "exclude", "exclude-dir", "exclude-from", "label", "binary-files", "directories", "devices",
    "glob", "iglob", "type", "type-not", "threads", "max-columns", "encoding", "max-depth",
    "replace", "sort", "sortr", "color", "colors", "path-separator", "pre", "pre-glob", "engine",
    "max-filesize", "context-separator", "ignore-file", "type-add", "type-clear",
    "field-match-separator", "field-context-separator", "ignore", "ignore-dir",
];

/// Options with which grep and similar commands show no content.
#[rustfmt::skip]
const COUNTING: &[&str] = &[
    "q", "quiet", "silent", "c", "count", "l", "L", "files-with-matches", "files-without-match",
    "count-matches", "files", "type-list", "help", "version", "V",
];

/// Options with code for JavaScript interpreters.
const JS_CODE: &[&str] = &["e", "p", "eval", "print"];

const JQ: Tool = Tool {
    own: 1,
    own_options: &["f", "from-file"],
    silent: &["help", "version", "n", "null-input"],
    changing: &["i", "inplace", "in-place"],
    ..shows("fL", &["from-file", "arg", "argjson", "slurpfile", "rawfile", "indent", "tab"])
};

/// Command names, separated by blanks, and their rules.
#[rustfmt::skip]
const TOOLS: &[(&str, Tool)] = &[
    ("cat gcat rev ccat glow mdcat most pg", shows("", &[])),
    ("bat batcat", shows("Hrlm", &["language", "line-range", "highlight-line", "style", "theme", "pager", "paging", "color", "terminal-width", "wrap"])),
    ("tac gtac", shows("s", &["separator"])),
    ("nl gnl", shows("bdfhilnsvw", &["body-numbering", "number-format", "number-width", "starting-line-number"])),
    ("head ghead", shows("nc", &["lines", "bytes"])),
    ("tail gtail", Tool { silent: &["f", "F", "follow", "retry", "help", "version"], ..shows("ncs", &["lines", "bytes", "pid", "sleep-interval"]) }),
    ("less more view", shows("bhjkoOpPtTxyzn#", &["pattern", "prompt", "tag", "LOG-FILE", "lines"])),
    ("fold fmt gfold", shows("wgp", &["width", "goal", "prefix"])),
    ("pr", shows("DhlNoSsWwie", &["header", "length", "width", "indent"])),
    ("cut gcut", shows("bcdf", &["bytes", "characters", "delimiter", "fields", "output-delimiter"])),
    ("paste", shows("d", &["delimiters"])),
    ("column", shows("scoNRHdlC", &["separator", "output-separator", "table-columns", "output-width"])),
    ("expand unexpand", shows("t", &["tabs"])),
    ("sort gsort", Tool { changing: &["o", "output"], silent: &["c", "C", "check", "help", "version"], ..shows("kTSto", &["key", "output", "field-separator", "buffer-size", "temporary-directory", "parallel"]) }),
    ("uniq", shows("fsw", &["skip-fields", "skip-chars", "check-chars"])),
    ("tr gtr", Tool { own: usize::MAX, ..shows("", &[]) }),
    ("base64 base32", shows("wio", &["wrap"])),
    ("shuf join comm iconv", shows("niotf", &["from-code", "to-code", "head-count"])),
    ("jq gojq jaq", JQ),
    ("yq", Tool { subcommands: &["eval", "e", "eval-all", "ea", "r", "w"], ..JQ }),
    ("xq tomlq", JQ),
    ("envsubst", Tool { own: usize::MAX, ..shows("", &[]) }),
    ("sed gsed", Tool { own: 1, own_options: &["e", "f", "expression", "file"], changing: &["i", "I", "in-place"], spec: Spec { attached: "iI", ..shows("efl", &["expression", "file", "line-length"]).spec }, ..shows("", &[]) }),
    ("awk gawk mawk nawk", Tool { own: 1, own_options: &["f", "e", "file", "source"], ..single(shows("Fvfie", &["field-separator", "assign", "file", "include", "source"]), "") }),
    ("grep egrep fgrep ggrep", Tool { silent: COUNTING, ..searches("efmABCdD", CONTEXT) }),
    ("rg", Tool { silent: COUNTING, ..searches("efgtTmABCjMEdr", CONTEXT) }),
    ("ag ack", Tool { silent: &["l", "L", "c", "g", "f", "count", "files-with-matches", "help", "version"], ..searches("ABCmGp", CONTEXT) }),
    ("tee sponge", Tool { job: Job::Writes, ..shows("", &[]) }),
    ("dd", Tool { job: Job::Copies, ..shows("", &[]) }),
    ("ed red", Tool { job: Job::Edits, ..shows("p", &[]) }),
    ("ex vim nvim vi", Tool { job: Job::Edits, ..shows("cSuUtTw", &["cmd"]) }),
    ("sd", Tool { silent: &["p", "preview", "help", "version"], ..changes(2, "fn") }),
    ("rpl", Tool { silent: &["s", "dry-run", "help"], ..changes(2, "x") }),
    ("fastmod codemod", Tool { spec: Spec { names: &["extensions", "glob", "iglob", "dir"], ..changes(2, "eg").spec }, ..changes(2, "") }),
    ("ast-grep sg", Tool { subcommands: &["run", "scan", "rewrite"], changing: &["U", "update-all"], spec: Spec { names: &["pattern", "rewrite", "lang", "selector", "config", "rule", "strictness"], ..changes(0, "prlc").spec }, ..changes(0, "") }),
    ("comby", Tool { changing: &["i", "in-place"], ..changes(2, "df") }),
    ("crudini", Tool { changing: &["set", "del", "merge"], ..changes(0, "") }),
    ("cp install", Tool { job: Job::Changes(FileCommand), silent: &["help", "version", "dry-run"], ..shows("tSmog", &["target-directory", "suffix", "mode", "owner", "group"]) }),
    ("rsync", Tool { job: Job::Changes(FileCommand), silent: &["help", "version", "dry-run", "n"], ..shows("tSmog", &["target-directory", "suffix", "mode", "owner", "group"]) }),
    ("mv rm unlink shred rmdir truncate", Tool { job: Job::Changes(FileCommand), ..shows("tSsr", &["target-directory", "suffix", "size", "reference"]) }),
    ("echo printf", Tool { job: Job::Prints, ..shows("", &[]) }),
    ("find gfind ls tree", Tool { job: Job::Lists, ..shows("", &[]) }),
    ("fd fdfind", Tool { job: Job::Lists, own: 1, ..shows("", &[]) }),
    ("python pypy", Tool { job: Job::Runs, own_options: &["c"], ..single(shows("cmWX", &[]), "") }),
    ("node nodejs bun tsx ts-node", Tool { job: Job::Runs, own_options: JS_CODE, ..single(shows("epr", &["eval", "print", "require", "import", "input-type"]), "") }),
    ("deno", Tool { job: Job::Runs, own_options: JS_CODE, ..single(shows("", &["ext"]), "") }),
    ("php", Tool { job: Job::Runs, own_options: &["r"], ..single(shows("rdc", &[]), "") }),
    ("perl", Tool { job: Job::Runs, own: 1, own_options: &["e", "E"], changing: &["i"], ..single(shows("eEIMm", &[]), "ixFVD") }),
    ("ruby", Tool { job: Job::Runs, own: 1, own_options: &["e", "E"], changing: &["i"], ..single(shows("eIrCE", &[]), "ixFVD") }),
];

/// The rules of a command. A version in the name is ignored: `python3.12` is `python`.
pub fn tool(name: &str) -> Option<&'static Tool> {
    static TOOL_OF: LazyLock<ByName<Tool>> = LazyLock::new(|| by_name(TOOLS));
    let plain = name.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.' || c == '-');
    let versioned = || TOOL_OF.get(plain).filter(|tool| tool.job == Job::Runs);
    TOOL_OF.get(name).or_else(versioned).copied()
}

/// The rows of a table by name.
pub type ByName<T> = HashMap<&'static str, &'static T>;

/// Indexes rows by their names, which are separated by blanks.
pub fn by_name<T>(rows: &'static [(&str, T)]) -> ByName<T> {
    let names = |(names, row): &'static (&str, T)| names.split(' ').map(move |name| (name, row));
    rows.iter().flat_map(names).collect()
}

/// Commands of shells that run no program and name no file.
pub const BUILTINS: [&str; 24] = [
    ":", "[", "alias", "break", "cd", "continue", "declare", "echo", "exit", "export", "false",
    "local", "popd", "printf", "pushd", "read", "readonly", "return", "set", "shopt", "test",
    "true", "ulimit", "unset",
];

/// The options by which commands run in another directory: a letter, or a name.
const DIRECTORY_OPTIONS: [(&str, &[&str]); 14] = [
    ("make", &["-C", "--directory"]),
    ("gmake", &["-C", "--directory"]),
    ("ninja", &["-C"]),
    ("git", &["-C"]),
    ("cargo", &["-C"]),
    ("env", &["-C", "--chdir"]),
    ("npm", &["--prefix"]),
    ("pnpm", &["-C", "--dir", "--prefix"]),
    ("yarn", &["--cwd"]),
    ("bun", &["--cwd"]),
    ("uv", &["--directory"]),
    ("poetry", &["-C", "--directory"]),
    ("go", &["-C"]),
    ("cmake", &["--build"]),
];

/// Options and words by which commands run in directories that the command line does not name:
/// those of packages and projects.
const PROJECT_OPTIONS: [(&str, &[&str]); 10] = [
    ("npm", &["-w", "--workspace", "-ws", "--workspaces"]),
    ("pnpm", &["-F", "--filter", "--filter-prod", "-r", "--recursive", "-w", "--workspace-root"]),
    ("yarn", &["workspace", "workspaces"]),
    ("bun", &["-F", "--filter", "--workspaces"]),
    ("cargo", &["--manifest-path"]),
    ("mvn", &["-f", "--file", "-pl", "--projects"]),
    ("mvnw", &["-f", "--file", "-pl", "--projects"]),
    ("gradle", &["-p", "--project-dir"]),
    ("gradlew", &["-p", "--project-dir"]),
    ("rush", &["build", "test", "rebuild"]),
];

/// Commands that run others in the directories of packages.
const PROJECT_RUNNERS: [&str; 4] = ["lerna", "nx", "turbo", "wsrun"];

/// Whether a command runs in a directory of a package, which its command line does not name.
pub fn runs_in_package(command: &str, given: &[Arg]) -> bool {
    let options = PROJECT_OPTIONS.iter().find(|(name, _)| *name == command);
    let options = options.map_or(&[][..], |(_, options)| *options);
    // What follows is for a script.
    let own = given.iter().map(|arg| arg.value.as_str()).take_while(|value| *value != "--");
    let mut own = own.map(|value| value.split_once('=').map_or(value, |(option, _)| option));
    PROJECT_RUNNERS.contains(&command) || own.any(|value| options.contains(&value))
}

/// The directory that an option of a command names, and whether it is known before run time:
/// `make -C lib`, `npm --prefix=web test`.
pub fn directory_option<'a>(command: &str, given: &'a [Arg]) -> Option<(&'a str, bool)> {
    let (_, options) = DIRECTORY_OPTIONS.iter().find(|(name, _)| *name == command)?;
    given.iter().enumerate().find_map(|(at, arg)| {
        let value = arg.value.as_str();
        options.iter().find_map(|option| {
            let rest = value.strip_prefix(option)?;
            match rest.strip_prefix('=') {
                _ if rest.is_empty() => {
                    given.get(at + 1).map(|arg| (arg.value.as_str(), arg.is_static))
                }
                Some(path) => Some((path, arg.is_static)),
                None => (!option.starts_with("--")).then_some((rest, arg.is_static)),
            }
        })
    })
}
