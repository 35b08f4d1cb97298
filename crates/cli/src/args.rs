//! The command line: commands, options, and their conversion into values of the core.

use clap::builder::PossibleValuesParser;
use clap::{
    Arg, ArgAction, Args as ClapArgs, CommandFactory, FromArgMatches, Parser, Subcommand,
    ValueEnum, ValueHint, value_parser,
};
mod ripgrep;

use std::path::{Path, PathBuf};
use std::time::Duration;

use hashline_core::host::{ANSWER_LIMIT_BYTES, Host, Term};
use hashline_core::{
    ANSWER_CONTEXT_MAX_LINES, AnswerForm, AnswerOptions, ApplyOptions, Columns, Context, DIALECTS,
    Dialect, Durability, EditOptions, Error, FOLD_LINES, Folding, JsonRequest, LOCK_TIMEOUT_MS,
    Limits, MAX_MATCHES, Query, RELOCATE_WINDOW_LINES, ReadRequest, Relocate, Result, Root,
    SEARCH_FILES, SEARCH_MATCHES, SearchOutput, SearchQuery, StoreOptions, SyntaxCheck,
    WorkspaceOptions,
};
use hashline_guard::{CommandRule, Policy, Tools, Unparsed};
use hashline_tools::Allowed;

use crate::after::{AfterCommand, AfterCommands, TIMEOUT_SECONDS};

/// The name of standard input.
pub const STANDARD_INPUT: &str = "-";

/// Read, search and edit files by line anchors
///
/// Every line that is shown has an anchor: its number and a short hash of its text. Edits name
/// lines by their anchors, so an edit of a line that has changed is refused.
#[derive(Debug, Parser)]
#[command(name = "hashline", version, max_term_width = 100, propagate_version = true)]
#[command(
    after_help = "Exit codes: 0 success, 1 an anchor did not match or a search found nothing, 2 any other error."
)]
pub struct Args {
    #[command(flatten)]
    pub shared: Shared,
    #[command(subcommand)]
    pub command: Command,
}

/// Commands that read no files of a workspace.
const WITHOUT_FILES: [&str; 4] = ["check", "hook", "completions", "man"];

/// The command line. Options for finding files are hidden for commands that read none.
pub fn command_line() -> clap::Command {
    let command = Args::command();
    let is_of_files =
        |arg: &&Arg| arg.is_global_set() && !["json", "color"].contains(&arg.get_id().as_str());
    let hidden: Vec<Arg> = command
        .get_arguments()
        .filter(is_of_files)
        .map(|arg| arg.clone().global(false).hide(true))
        .collect();
    WITHOUT_FILES.into_iter().fold(command, |command, name| {
        command.mut_subcommand(name, |command| command.args(hidden.clone()))
    })
}

/// Parses the command line of this process.
pub fn parse() -> std::result::Result<Args, clap::Error> {
    Args::from_arg_matches(&command_line().try_get_matches()?)
}

/// The dialect of commands without a session: that of other command-line programs.
const PLAIN_DIALECT: &str = "cli";

/// The options of all commands.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Options of all commands")]
pub struct Shared {
    /// Read and write only in this directory; relative paths start there
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    root: Option<String>,
    /// The dialect of anchors [default: cli, in a session lean]
    #[arg(long, global = true, value_name = "NAME")]
    #[arg(value_parser = PossibleValuesParser::new(DIALECTS.iter().map(|one| one.name)))]
    dialect: Option<String>,
    /// The encoding of files without byte order mark, by its WHATWG label [default: UTF-8]
    #[arg(long, global = true, value_name = "LABEL")]
    encoding: Option<String>,
    /// Refuse larger files
    #[arg(long, global = true, value_name = "BYTES", default_value_t = 1 << 30)]
    max_file_bytes: u64,
    /// The directory for journals and locks [default: the platform's directory for state]
    #[arg(long, global = true, value_name = "DIR", value_hint = ValueHint::DirPath)]
    state_dir: Option<String>,
    /// How long to wait for other processes that edit the same files, in milliseconds
    #[arg(long, global = true, value_name = "MS", default_value_t = LOCK_TIMEOUT_MS)]
    lock_timeout: u64,
    /// Print results as JSON
    #[arg(long, global = true)]
    pub json: bool,
    #[command(flatten)]
    pub color: colorchoice_clap::Color,
}

impl Shared {
    /// The options of the workspace; `apply` has those for patches.
    pub fn workspace_options(
        &self,
        apply: ApplyOptions,
        is_session: bool,
    ) -> Result<WorkspaceOptions> {
        Ok(WorkspaceOptions {
            root: self.root.as_ref().map_or(Root::Unbounded, Into::into),
            dialect: match &self.dialect {
                Some(name) => Dialect::by_name(name)?,
                None if is_session => Dialect::of_sessions(),
                None => Dialect::by_name(PLAIN_DIALECT)?,
            },
            encoding: self.encoding.clone(),
            max_file_bytes: self.max_file_bytes,
            state_dir: self.state_dir.as_ref().map(PathBuf::from),
            apply: ApplyOptions { lock_timeout_ms: self.lock_timeout, ..apply },
            host: Host { spelling, ..Host::default() },
            ..WorkspaceOptions::default()
        })
    }

    /// The directory for journals and locks, if it is given.
    pub fn state_dir(&self) -> Option<&Path> {
        self.state_dir.as_deref().map(Path::new)
    }

    /// The directory that limits reading and writing.
    pub fn root(&self) -> Option<&str> {
        self.root.as_deref()
    }
}

/// How messages of the core spell the options of this program.
pub fn spelling(term: Term) -> &'static str {
    match term {
        Term::LockTimeout => "--lock-timeout",
        Term::StateDir => "--state-dir",
        Term::MaxFileBytes => "--max-file-bytes",
        Term::StartLine => "--start-line",
        Term::MaxLines => "--lines",
        Term::MaxBytes => "--max-bytes",
        Term::MaxFiles => "--max-files",
        // The memory of a session has fixed limits here.
        Term::MaxVersions => term.name(),
        Term::CaseSensitive => "--case-sensitive",
        Term::Literal => "omit --regex",
        Term::Recover => "`hashline recover`",
    }
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Print files with an anchor before every line
    Read(Read),
    /// Find lines in files and directories, with their anchors
    Search(Search),
    /// Print only the anchors of a file
    Hash(Hash),
    /// Check anchors against a file
    Verify(Verify),
    /// Report which files do not parse, and where
    CheckSyntax(CheckSyntax),
    /// Edit files by a patch in JSON: all of it or nothing
    #[command(after_long_help = PATCH_HELP)]
    Apply(Apply),
    /// Print a JSON document with an anchor above every value
    JsonRead(JsonRead),
    /// Edit JSON documents by path, by a patch in JSON: all of it or nothing
    #[command(after_long_help = JSON_PATCH_HELP)]
    JsonApply(Apply),
    /// Undo the last patches of a session: each of them completely or not at all
    Undo(Undo),
    /// Check whether a shell command reads or writes files without the anchor tools
    Check(Check),
    /// Answer an agent that is about to call a tool
    Hook(Hook),
    /// Serve the Model Context Protocol on standard input and output, for an agent
    Mcp(Mcp),
    /// Set up an agent: its MCP server and hooks, in its own configuration
    Setup(Setup),
    /// Finish or roll back patches of processes that died
    Recover,
    /// Report on this program, and whether edits are safe here
    Doctor,
    /// Print completions for a shell
    Completions(Completions),
    /// Print the manual page, or write one page per command into a directory
    Man(Man),
}

impl Command {
    /// The session of the command; `None` for commands that do not end at once.
    pub fn kept(&self) -> Option<&Kept> {
        match self {
            Command::Read(read) => Some(&read.kept),
            Command::Search(search) => Some(&search.kept),
            Command::JsonRead(read) => Some(&read.kept),
            Command::Apply(apply) | Command::JsonApply(apply) => Some(&apply.kept),
            Command::Undo(undo) => Some(&undo.kept),
            _ => None,
        }
    }

    /// The name of the command.
    pub fn name(&self) -> &'static str {
        match self {
            Command::Read(_) => "read",
            Command::Search(_) => "search",
            Command::Hash(_) => "hash",
            Command::Verify(_) => "verify",
            Command::CheckSyntax(_) => "check-syntax",
            Command::Apply(_) => "apply",
            Command::JsonRead(_) => "json-read",
            Command::JsonApply(_) => "json-apply",
            Command::Undo(_) => "undo",
            Command::Check(_) => "check",
            Command::Hook(_) => "hook",
            Command::Mcp(_) => "mcp",
            Command::Setup(_) => "setup",
            Command::Recover => "recover",
            Command::Doctor => "doctor",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
        }
    }
}

/// The form of a patch, for `hashline help apply`.
const PATCH_HELP: &str = r#"A patch names lines by their anchors:

  {"path": "src/a.rs", "edits": [
    {"set_line": {"anchor": "4:01", "new_text": "..."}},
    {"replace_lines": {"start_anchor": "7:7f", "end_anchor": "9:0e", "new_text": "..."}},
    {"insert_after": {"anchor": "12:b2", "text": "..."}},
    {"replace": {"old_text": "...", "new_text": "...", "all": true}}]}

or, over several files: {"operations": [{"op": "set_line", "path": "src/a.rs", "anchor": "4:01",
"text": "..."}, ...]} with set_line, replace_range, insert_after, insert_before, delete,
move_lines, copy_lines, replace_text, add_file, move_file and delete_file. With "block": true,
replace_range (with only start_anchor), delete and insert_after apply to the whole function or
section that begins at the line."#;

/// The form of a patch of JSON documents, for `hashline help json-apply`.
const JSON_PATCH_HELP: &str = r#"A patch names values by their anchors, as json-read shows them:

  {"path": "package.json", "edits": [
    {"set_path": {"anchor": "$.version:a7", "value": "1.2.0"}},
    {"insert_at_path": {"anchor": "$.dependencies:27", "key": "a", "value": "^1.0.0"}},
    {"insert_at_path": {"anchor": "$.files:0c", "index": 0, "value": "lib"}},
    {"delete_path": {"anchor": "$.scripts.test:3b"}}]}"#;

#[derive(Debug, ClapArgs)]
pub struct Read {
    /// The files; - is standard input. A directory is listed
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::AnyPath)]
    pub files: Vec<String>,
    /// The first line to show
    #[arg(long, value_name = "N")]
    start_line: Option<u64>,
    /// The most lines to show
    #[arg(long, value_name = "N")]
    lines: Option<u64>,
    /// The most bytes to show, in whole lines; a longer first line is truncated
    #[arg(long, value_name = "N")]
    max_bytes: Option<usize>,
    /// The most characters to show of a line; with --search, those around the first match
    #[arg(long, value_name = "N")]
    max_line_chars: Option<u64>,
    /// The characters of each line to show, counted from 1: --columns 2001:4000
    #[arg(long, value_name = "FROM:TO", value_parser = columns)]
    columns: Option<Columns>,
    /// Fold bodies to show most definitions in few lines; --fold=LINES sets how many
    #[arg(long, value_name = "LINES", num_args = 0..=1, require_equals = true)]
    fold: Option<Option<u64>>,
    /// Also show folded lines: 14-80, or the anchor of the line above them
    #[arg(long, value_name = "ANCHOR")]
    open: Vec<String>,
    /// Show only lines with this text
    #[arg(id = SEARCH, long, value_name = "TEXT")]
    search: Option<String>,
    /// Show only the definition with this name, such as Parser.parse
    #[arg(long, value_name = "NAME", conflicts_with_all = ["start_line", "fold", "open", SEARCH])]
    symbol: Option<String>,
    #[command(flatten)]
    matching: Matching,
    /// The most matches to show per file
    #[arg(long, value_name = "N", requires = SEARCH, default_value_t = MAX_MATCHES)]
    max_matches: u64,
    #[command(flatten)]
    pub kept: Kept,
}

impl Read {
    /// The requests, one per file.
    pub fn requests(&self) -> Result<Vec<ReadRequest>> {
        let search = self.search.as_ref().map(|search| self.matching.query(search)).transpose()?;
        let request = |path: &String| ReadRequest {
            path: path.into(),
            start_line: self.start_line,
            limits: Limits { max_lines: self.lines, max_bytes: self.max_bytes },
            max_line_chars: self.max_line_chars,
            columns: self.columns,
            fold: self.fold.map(|lines| Folding::To(lines.unwrap_or(FOLD_LINES))),
            open: self.open.clone(),
            search: search.clone(),
            symbol: self.symbol.clone(),
            lines: Vec::new(),
            columns_at: Vec::new(),
            context: self.matching.context(),
            max_matches: Some(self.max_matches),
            encoding: None,
            checksum: false,
        };
        Ok(self.files.iter().map(request).collect())
    }
}

/// The id of the argument with the pattern, in each command that has one.
const SEARCH: &str = "search";

/// Parses `FROM:TO`; the core checks the values.
fn columns(text: &str) -> std::result::Result<Columns, String> {
    let number = |digits: &str| digits.parse().ok();
    let columns = text
        .split_once(':')
        .and_then(|(from, to)| Some(Columns { from: number(from)?, to: number(to)? }));
    columns.ok_or_else(|| "expected two whole numbers like 2001:4000".to_owned())
}

/// What counts as a match, and the lines shown around it.
#[derive(Debug, ClapArgs)]
struct Matching {
    /// The text is a regular expression, in the syntax of Rust, with look-around
    #[arg(long, short = 'e', requires = SEARCH, action = ArgAction::Count)]
    regex: u8,
    /// The text is literal (the default)
    #[arg(long, short = 'F', requires = SEARCH, overrides_with = "regex")]
    fixed_strings: bool,
    /// Match upper and lower case exactly
    #[arg(long, short = 's', requires = SEARCH)]
    case_sensitive: bool,
    /// Ignore case (the default)
    #[arg(long, short = 'i', requires = SEARCH, overrides_with_all = ["case_sensitive", "smart_case"])]
    ignore_case: bool,
    /// Ignore case, unless the text has an upper-case letter
    #[arg(long, short = 'S', requires = SEARCH, overrides_with = "case_sensitive")]
    smart_case: bool,
    /// Match whole words only
    #[arg(long = "word", short = 'w', alias = "word-regexp", requires = SEARCH)]
    whole_word: bool,
    /// Show line numbers; every anchor has one
    #[arg(long, short = 'n', requires = SEARCH)]
    line_number: bool,
    /// Show N lines after each match
    #[arg(short = 'A', long = "after", value_name = "N", requires = SEARCH)]
    after: Option<u64>,
    /// Show N lines before each match
    #[arg(short = 'B', long = "before", value_name = "N", requires = SEARCH)]
    before: Option<u64>,
    /// Show N lines before and after each match
    #[arg(short = 'C', long = "context", value_name = "N", requires = SEARCH, default_value_t = 0)]
    context: u64,
}

impl Matching {
    fn query(&self, search: &str) -> Result<Query> {
        if self.regex > 1 {
            return Err(Error::argument(
                "-e is given twice, but there is one pattern, an argument: \
                 search for several with -e 'first|second'",
            ));
        }
        Ok(Query {
            search: search.to_owned(),
            regex: self.regex > 0,
            case_sensitive: self.case_sensitive
                || (self.smart_case && ripgrep::has_uppercase(search, self.regex > 0)),
            whole_word: self.whole_word,
        })
    }

    fn context(&self) -> Context {
        Context {
            before: self.before.unwrap_or(self.context),
            after: self.after.unwrap_or(self.context),
        }
    }
}

#[derive(Debug, ClapArgs)]
pub struct Search {
    /// The text to find; literal unless --regex, ignoring case unless --case-sensitive
    #[arg(id = SEARCH, value_name = "PATTERN", required_unless_present = "files")]
    pattern: Option<String>,
    /// Files and directories; - is standard input [default: the start of relative paths]
    #[arg(value_name = "PATH", value_hint = ValueHint::AnyPath)]
    pub paths: Vec<String>,
    /// PATTERN is the name of a definition, such as Parser.parse
    #[arg(long, conflicts_with_all = ["regex", "case_sensitive", "after", "before", "context", "enclosing", "files", "files_with_matches", "count", "whole_word"])]
    symbol: bool,
    #[command(flatten)]
    matching: Matching,
    /// Search only files that match this glob; a glob that starts with ! excludes files
    #[arg(short, long = "glob", value_name = "GLOB")]
    globs: Vec<String>,
    /// Search only files of this type, such as rust or py, as ripgrep names them
    #[arg(short, long = "type", value_name = "TYPE", value_parser = glob_of_type)]
    types: Vec<String>,
    /// The most matches to show
    #[arg(long, value_name = "N", default_value_t = SEARCH_MATCHES)]
    max_matches: u64,
    /// The most matches to show per file
    #[arg(long, short, alias = "max-count", value_name = "N")]
    max_matches_per_file: Option<u64>,
    /// The most bytes to show
    #[arg(long, value_name = "N")]
    max_bytes: Option<usize>,
    /// The most characters to show of a line, around its first match
    #[arg(long, value_name = "N")]
    max_line_chars: Option<u64>,
    /// Also show the lines that open the blocks around each match
    #[arg(long)]
    enclosing: bool,
    /// List the files that would be searched; there is no pattern, only paths
    #[arg(long, conflicts_with_all = ["files_with_matches", "count"])]
    files: bool,
    /// Show only the paths of files with a match
    #[arg(long, short = 'l', conflicts_with = "count")]
    files_with_matches: bool,
    /// Show the path and the number of matching lines of each file with a match
    #[arg(long, short = 'c')]
    count: bool,
    /// Show the sizes of listed files
    #[arg(long)]
    sizes: bool,
    /// The most files to list
    #[arg(long, value_name = "N")]
    max_files: Option<u64>,
    /// The number of files to omit at the start of a list
    #[arg(long, value_name = "N", default_value_t = 0)]
    skip: u64,
    /// Search hidden files and directories too
    #[arg(long)]
    hidden: bool,
    /// Do not apply any file of ignored paths
    #[arg(long)]
    no_ignore: bool,
    /// -u is --no-ignore, and -uu is also --hidden
    #[arg(long, short, action = ArgAction::Count)]
    unrestricted: u8,
    /// Do not apply .gitignore, .git/info/exclude and the user's git ignore file
    #[arg(long)]
    no_gitignore: bool,
    /// Do not apply .ignore files
    #[arg(long)]
    no_ignore_files: bool,
    /// Do not apply ignore files of parent directories
    #[arg(long)]
    no_parent_ignore_files: bool,
    /// Follow symbolic links
    #[arg(long)]
    follow_links: bool,
    /// How many levels of directories to search; 1 is the files in the directory itself
    #[arg(long, value_name = "N")]
    max_depth: Option<usize>,
    #[command(flatten)]
    unsupported: ripgrep::Unsupported,
    #[command(flatten)]
    pub kept: Kept,
}

impl Search {
    fn output(&self) -> SearchOutput {
        match self {
            Search { files: true, .. } => SearchOutput::List,
            Search { files_with_matches: true, .. } => SearchOutput::Files,
            Search { count: true, .. } => SearchOutput::Count,
            _ => SearchOutput::Lines,
        }
    }

    /// The globs, with those of the types first, so that other globs can exclude files.
    fn globs(&self) -> Result<Vec<String>> {
        let including = self.globs.iter().find(|glob| !glob.starts_with('!'));
        match (including, self.types.first()) {
            (Some(glob), Some(_)) => Err(Error::argument(format!(
                "--type and --glob {glob:?} both include files: use one glob, such as 'src/**/*.rs'"
            ))),
            _ => Ok(self.types.iter().chain(&self.globs).cloned().collect()),
        }
    }

    /// The search query.
    pub fn query(&self) -> Result<SearchQuery> {
        self.unsupported.check(self.unrestricted)?;
        let ignores = !self.no_ignore && self.unrestricted == 0;
        let is_list = self.output() != SearchOutput::Lines;
        // Without a pattern, all arguments are paths.
        let first = self.pattern.as_ref().filter(|_| self.files);
        let pattern = self.pattern.as_deref().filter(|_| !self.files).unwrap_or_default();
        Ok(SearchQuery {
            paths: first.into_iter().chain(&self.paths).map(Into::into).collect(),
            output: self.output(),
            sizes: self.sizes,
            max_files: self.max_files.unwrap_or(if is_list { u64::MAX } else { SEARCH_FILES }),
            skip: self.skip,
            context: self.matching.context(),
            globs: self.globs()?,
            max_matches: self.max_matches,
            max_matches_per_file: self.max_matches_per_file,
            max_bytes: self.max_bytes,
            max_line_chars: self.max_line_chars,
            enclosing: self.enclosing,
            hidden: self.hidden || self.unrestricted > 1,
            gitignore: ignores && !self.no_gitignore,
            ignore_files: ignores && !self.no_ignore_files,
            parent_ignore_files: ignores && !self.no_parent_ignore_files,
            follow_links: self.follow_links,
            max_depth: self.max_depth,
            symbol: self.symbol.then(|| pattern.to_owned()),
            ..SearchQuery::new(self.matching.query(if self.symbol { "" } else { pattern })?)
        })
    }
}

/// The files of a type, as one glob.
fn glob_of_type(name: &str) -> std::result::Result<String, String> {
    let types = ignore::types::TypesBuilder::new().add_defaults().definitions();
    match types.iter().find(|known| known.name() == name) {
        Some(known) => Ok(format!("{{{}}}", known.globs().join(","))),
        None => Err("unknown type: use --glob, such as --glob '*.rs'".to_owned()),
    }
}

#[derive(Debug, ClapArgs)]
pub struct Hash {
    /// The file; - is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: String,
}

#[derive(Debug, ClapArgs)]
pub struct Verify {
    /// The file; - is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    pub file: String,
    /// Anchors, or rows as they were shown
    #[arg(required = true, value_name = "ANCHOR")]
    pub anchors: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub struct CheckSyntax {
    /// The files; - is standard input, in the language of its `#!` line or mode line
    #[arg(required = true, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub files: Vec<String>,
}

#[derive(Debug, ClapArgs)]
pub struct Apply {
    /// The file with the patch
    #[arg(short, long, value_name = "FILE", default_value = STANDARD_INPUT)]
    #[arg(value_hint = ValueHint::FilePath)]
    pub input: String,
    /// Print the changed regions with their new anchors
    #[arg(long)]
    pub emit_updated: bool,
    /// Print the changes as a unified diff, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// The unchanged lines that a diff shows around each change
    #[arg(long, value_name = "N", default_value_t = DIFF_CONTEXT_LINES)]
    pub context: u64,
    #[command(flatten)]
    pub kept: Kept,
    #[command(flatten)]
    pub editing: EditingArgs,
    #[command(flatten)]
    pub after: AfterArgs,
}

#[derive(Debug, ClapArgs)]
pub struct Undo {
    /// How many patches to undo, from the newest
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = value_parser!(u32).range(1..))]
    pub turns: u32,
    /// List the patches that can be undone, the newest first, and change nothing
    #[arg(long, conflicts_with_all = ["turns", "dry_run"])]
    pub list: bool,
    /// Remove the patches from the list instead, and leave the files as they are
    #[arg(long, conflicts_with_all = ["list", "dry_run"])]
    pub discard: bool,
    /// Print the changes that one undo would make as a unified diff, and write nothing
    #[arg(long, conflicts_with = "turns")]
    pub dry_run: bool,
    #[command(flatten)]
    pub kept: Kept,
}

#[derive(Debug, ClapArgs)]
pub struct JsonRead {
    /// The document; - is standard input
    #[arg(value_hint = ValueHint::FilePath)]
    file: String,
    /// The first line to show
    #[arg(long, value_name = "N")]
    start_line: Option<u64>,
    /// The most lines to show, including lines with anchors
    #[arg(long, value_name = "N")]
    lines: Option<u64>,
    /// The most bytes to show
    #[arg(long, value_name = "N")]
    max_bytes: Option<usize>,
    #[command(flatten)]
    pub kept: Kept,
}

impl JsonRead {
    /// The request.
    pub fn request(&self) -> JsonRequest {
        JsonRequest {
            path: self.file.as_str().into(),
            start_line: self.start_line,
            limits: Limits { max_lines: self.lines, max_bytes: self.max_bytes },
            encoding: None,
        }
    }
}

#[derive(Debug, ClapArgs)]
pub struct Check {
    /// The command line; - is standard input
    #[arg(allow_hyphen_values = true)]
    pub command: String,
    #[command(flatten)]
    pub guard: Guard,
}

/// The options of `setup`.
#[derive(Debug, ClapArgs)]
pub struct Setup {
    /// The agent
    #[arg(value_enum, required_unless_present = "list")]
    pub agent: Option<SetupAgent>,
    /// List the agents: which are found on this computer, and which are set up for this user
    #[arg(long, conflicts_with_all = ["agent", "user", "project", "dry_run", "remove", "allow", "extend_hooks", "show_diff", "ask_diff"])]
    pub list: bool,
    /// Set up the agent for this user (the default)
    #[arg(long, conflicts_with = "project")]
    user: bool,
    /// Set up the agent for this project only. The files then contain the absolute path of this
    /// program, so do not commit them
    #[arg(long)]
    pub project: bool,
    /// Print the changes, and write nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Remove what a setup has written
    #[arg(long)]
    pub remove: bool,
    /// Also let the edit tool run without a question, where the agent's configuration can
    #[arg(long, conflicts_with = "remove")]
    pub allow: bool,
    /// Also run your own hooks on Edit and Write after the edit tool: adds its name to their matchers
    /// (claude, codex, gemini, qwen)
    #[arg(long, conflicts_with = "remove")]
    pub extend_hooks: bool,
    /// Also show the diff of each edit, by a hook (claude)
    #[arg(long, conflicts_with = "remove")]
    pub show_diff: bool,
    /// Also show the diff in the question before an edit, by a hook (claude)
    #[arg(long, conflicts_with = "remove")]
    pub ask_diff: bool,
    #[command(flatten)]
    pub after: AfterArgs,
}

/// An agent that can be set up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SetupAgent {
    Claude,
    Codex,
    Cursor,
    Gemini,
    Opencode,
    Pi,
    Omp,
    Vscode,
    Cline,
    Roo,
    Kilo,
    Windsurf,
    Zed,
    Goose,
    Crush,
    Amp,
    Continue,
    Kiro,
    Qwen,
    Copilot,
    Junie,
    Droid,
    Warp,
}

#[derive(Debug, ClapArgs)]
pub struct Hook {
    /// The agent; its event is read from standard input
    #[arg(value_enum)]
    pub agent: Agent,
    /// Tools of the agent to deny, by name
    #[arg(long, value_name = "TOOL", value_delimiter = ',')]
    pub deny: Vec<String>,
    /// Answer the event after a shell call instead, with the lines that its output names (claude,
    /// codex). They are added to the session of `hashline mcp` if there is one: --session, or the
    /// agent's own
    #[arg(long, conflicts_with = "deny")]
    pub annotate: bool,
    /// Before an edit of `hashline mcp` ask with its diff, unless the agent would not ask, and refuse
    /// what would be refused (claude). --edit-tool names the tool, --session the session, by default
    /// the agent's own
    #[arg(long, conflicts_with_all = ["deny", "annotate"])]
    pub ask_diff: bool,
    /// Show the diff of an edit of `hashline mcp` to the person, and leave the permission to the
    /// agent (claude). Takes the options of --ask-diff, which can be given as well
    #[arg(long, conflicts_with_all = ["deny", "annotate"])]
    pub show_diff: bool,
    /// Refuse nothing before the agent has asked `hashline mcp` for its tools
    #[arg(long)]
    pub if_served: bool,
    #[command(flatten)]
    pub kept: Kept,
    #[command(flatten)]
    pub guard: Guard,
}

/// The agents whose events are supported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Agent {
    Claude,
    Codex,
    Cursor,
    Gemini,
    Opencode,
    Qwen,
}

/// The options of the guard.
#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Options of the guard")]
pub struct Guard {
    /// Allow commands to read files
    #[arg(long)]
    allow_reads: bool,
    /// Allow commands to write files
    #[arg(long)]
    allow_writes: bool,
    /// Switch a rule on or off: patch=off, file-command=on
    #[arg(long, value_name = "NAME=on|off", value_delimiter = ',', value_parser = switch)]
    rule: Vec<(CommandRule, bool)>,
    /// A directory that the tools serve [default for a hook: the agent's project]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    serves: Vec<String>,
    /// The start of relative paths [default: the first directory that is served]
    #[arg(long, value_name = "DIR", value_hint = ValueHint::DirPath)]
    cwd: Option<String>,
    /// Check the files: ignore those that the tools cannot show, and links out of the served
    /// directories. Always on for a hook
    #[arg(long, requires = "serves")]
    check_files: bool,
    /// Paths to ignore, as in a .gitignore; a hook adds those of the project
    #[arg(long, value_name = "PATTERN")]
    ignored: Vec<String>,
    /// Another command that reads files
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    extra_read: Vec<String>,
    /// Another command that writes files
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    extra_write: Vec<String>,
    /// A command that is always allowed
    #[arg(long, value_name = "NAME", value_delimiter = ',')]
    except: Vec<String>,
    /// A file or directory that commands may read
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    readable: Vec<String>,
    /// A file or directory that commands may write
    #[arg(long, value_name = "PATH", value_hint = ValueHint::AnyPath)]
    writable: Vec<String>,
    /// The verdict on a command that cannot be parsed; hooks only block write
    #[arg(long, value_enum, default_value_t = UnparsedArg::Unparsed)]
    unparsed: UnparsedArg,
    /// The tool for reading that messages name
    #[arg(long, value_name = "NAME", default_value = "hashline read")]
    read_tool: String,
    /// The tool for searching that messages name
    #[arg(long, value_name = "NAME", default_value = "hashline search")]
    search_tool: String,
    /// The tool for editing that messages name
    #[arg(long, value_name = "NAME", default_value = "hashline apply")]
    edit_tool: String,
}

impl Guard {
    /// The policy of the guard.
    pub fn policy(&self) -> Policy {
        Policy {
            reads: !self.allow_reads,
            writes: !self.allow_writes,
            rules: self.rule.iter().copied().collect(),
            roots: self.serves.clone(),
            cwd: self.cwd.clone(),
            check_files: self.check_files,
            ignored: self.ignored.clone(),
            extra_reads: self.extra_read.clone(),
            extra_writes: self.extra_write.clone(),
            except: self.except.clone(),
            readable_paths: self.readable.clone(),
            writable_paths: self.writable.clone(),
            unparsed: match self.unparsed {
                UnparsedArg::Unparsed => Unparsed::Unparsed,
                UnparsedArg::Allow => Unparsed::Allow,
                UnparsedArg::Write => Unparsed::Write,
            },
            tools: Tools {
                read: self.read_tool.clone(),
                search: self.search_tool.clone(),
                edit: self.edit_tool.clone(),
            },
        }
    }
}

// Rules have no help of their own: it would double the length of the help.
/// A rule of the guard and whether it is on: `patch=off`.
fn switch(text: &str) -> std::result::Result<(CommandRule, bool), String> {
    let (name, state) = text.split_once('=').unwrap_or((text, "on"));
    let names = || CommandRule::ALL.map(CommandRule::name).join(", ");
    let rule = CommandRule::ALL.into_iter().find(|rule| rule.name() == name);
    let rule = rule.ok_or_else(|| format!("there is no rule {name:?}: use one of {}", names()))?;
    match state {
        "on" => Ok((rule, true)),
        "off" => Ok((rule, false)),
        _ => Err(format!("the rule {name} is {state:?}: use on or off")),
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum UnparsedArg {
    Unparsed,
    Allow,
    Write,
}

#[derive(Debug, ClapArgs)]
pub struct Mcp {
    /// The directories to work in: paths start in the first, which is read and written; the others
    /// are only read [default: the roots that the agent names, otherwise the working directory]
    #[arg(value_name = "ROOT", value_hint = ValueHint::DirPath)]
    pub roots: Vec<String>,
    /// Another directory that may be read, such as one where an agent stores long outputs. It may
    /// start with ~/, and need not exist
    #[arg(long = "read-root", value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub read_roots: Vec<String>,
    /// Limit answers to this many bytes [default: what the client accepts, by its name]
    #[arg(long, value_name = "BYTES", value_parser = value_parser!(u64).range(1_000..=ANSWER_LIMIT_BYTES as u64))]
    max_answer_bytes: Option<u64>,
    /// Add structured content to answers; some agents show it instead of the text
    #[arg(long)]
    pub structured: bool,
    /// Also offer read_json and apply_json, which read and edit values of JSON documents
    #[arg(long)]
    json_tools: bool,
    /// Also offer undo_edit, which undoes the last edit of the session
    #[arg(long = "undo")]
    pub offers_undo: bool,
    /// The operations that the agent may use, such as set_line,insert_after. Tools without any of
    /// them are not offered [default: all]
    #[arg(long, value_name = "OPERATION,…", value_delimiter = ',')]
    operations: Option<Vec<String>>,
    /// Use the session that this environment variable names, if it is set: an agent's own name of
    /// the conversation, which its hooks know, too. --session takes precedence
    #[arg(long, value_name = "NAME")]
    session_variable: Option<String>,
    #[command(flatten)]
    kept: Kept,
    #[command(flatten)]
    pub editing: EditingArgs,
    #[command(flatten)]
    pub after: AfterArgs,
}

impl Mcp {
    /// Whether tools for JSON documents are offered: by option, or because their operations are.
    pub fn json_tools(&self) -> bool {
        self.json_tools || self.operations.is_some()
    }

    /// The store of the session, if there is one.
    pub fn store(&self) -> Option<StoreOptions> {
        let of_agent = || std::env::var(self.session_variable.as_ref()?).ok();
        let id = self.kept.session.clone().or_else(of_agent);
        Kept { session: id }.store()
    }

    /// How long an answer may be, if that is given.
    pub fn max_answer_bytes(&self) -> Option<usize> {
        self.max_answer_bytes.and_then(|bytes| usize::try_from(bytes).ok())
    }

    /// The operations that the agent may use.
    pub fn operations(&self) -> Result<Allowed> {
        let only = |names: &Vec<String>| Allowed::only(names);
        let refused = |error: Error| error.within("--operations: ", "");
        self.operations.as_ref().map_or_else(|| Ok(Allowed::default()), only).map_err(refused)
    }
}

/// The unchanged lines that a diff shows around each change by default.
pub const DIFF_CONTEXT_LINES: u64 = 3;

/// The environment variable that names a session.
pub const SESSION_VARIABLE: &str = "HASHLINE_SESSION";

/// The session that is stored on disk.
#[derive(Debug, ClapArgs)]
pub struct Kept {
    /// Use the session with this name, shared by all commands that name it: an anchor then means
    /// the line that was shown. An empty name means no session
    #[arg(long, value_name = "ID", env = SESSION_VARIABLE)]
    session: Option<String>,
}

impl Kept {
    /// The store of the session, if there is one.
    pub fn store(&self) -> Option<StoreOptions> {
        let id = self.session.clone().filter(|id| !id.is_empty())?;
        Some(StoreOptions { id, dir: None })
    }
}

#[derive(Debug, ClapArgs)]
pub struct Completions {
    /// The shell
    pub shell: clap_complete::Shell,
}

#[derive(Debug, ClapArgs)]
pub struct Man {
    /// The directory for hashline.1, hashline-read.1 and so on
    #[arg(value_name = "DIR", value_hint = ValueHint::DirPath)]
    pub directory: Option<PathBuf>,
}

/// The commands that run on written files.
#[derive(Clone, Debug, ClapArgs)]
pub struct AfterArgs {
    /// Run a command on each file that an edit has written, before it is answered, such as a
    /// formatter: --after 'prettier --write {}'. No shell interprets it, and {} is the path, which
    /// is otherwise the last argument. With a glob only on these files: --after '*.py=ruff format'
    #[arg(long = "after", value_name = "[GLOB=]COMMAND")]
    commands: Vec<AfterCommand>,
    /// How long the commands of one edit may take together
    #[arg(long = "after-timeout", value_name = "SECONDS", default_value_t = TIMEOUT_SECONDS)]
    #[arg(value_parser = value_parser!(u64).range(1..=86_400))]
    timeout_seconds: u64,
}

impl AfterArgs {
    /// The commands.
    pub fn commands(&self) -> AfterCommands {
        let timeout = Duration::from_secs(self.timeout_seconds);
        AfterCommands::new(self.commands.clone(), timeout)
    }

    /// The arguments that give these options to another call of this program.
    pub fn arguments(&self) -> Vec<String> {
        let option = |name: &str, value: String| [name.to_owned(), value];
        let commands = self.commands.iter();
        let commands = commands.map(|command| option("--after", command.text().to_owned()));
        let is_set = !self.commands.is_empty() && self.timeout_seconds != TIMEOUT_SECONDS;
        let timeout = is_set.then(|| option("--after-timeout", self.timeout_seconds.to_string()));
        commands.chain(timeout).flatten().collect()
    }
}

/// How anchors are resolved, and how patches are written.
#[derive(Debug, ClapArgs)]
pub struct EditingArgs {
    /// When an anchor is relocated to a line that has moved
    #[arg(long, value_enum, default_value_t = RelocateArg::Guarded)]
    relocate: RelocateArg,
    /// How many lines to search before and after
    #[arg(long, value_name = "LINES", default_value_t = RELOCATE_WINDOW_LINES)]
    relocate_window: u64,
    /// What happens if a file parses before the patch and not after it [default: warn in a session,
    /// otherwise off]
    #[arg(long, value_enum)]
    syntax: Option<SyntaxArg>,
    /// What a finished command survives
    #[arg(long, value_enum, default_value_t = DurabilityArg::Power)]
    durability: DurabilityArg,
    /// How an answer reports changed lines [default: brief in answers to a model, unless
    /// --answer-context is given; otherwise region]
    #[arg(long, value_enum)]
    answer: Option<AnswerArg>,
    /// The unchanged lines that an answer shows before and after each changed region [default: 1 in
    /// answers to a model, otherwise 2]
    #[arg(long, value_name = "LINES")]
    #[arg(value_parser = value_parser!(u64).range(..=ANSWER_CONTEXT_MAX_LINES))]
    answer_context: Option<u64>,
}

impl EditingArgs {
    /// The options of the core.
    pub fn apply_options(&self) -> ApplyOptions {
        let relocate = match self.relocate {
            RelocateArg::Guarded => Relocate::Guarded,
            RelocateArg::Unique => Relocate::Unique,
            RelocateArg::Off => Relocate::Off,
        };
        ApplyOptions {
            edit: EditOptions {
                relocate,
                relocate_window_lines: self.relocate_window,
                answer: AnswerOptions {
                    form: self.answer.map(|answer| match answer {
                        AnswerArg::Region => AnswerForm::Region,
                        AnswerArg::Brief => AnswerForm::Brief,
                    }),
                    context_lines: self.answer_context,
                },
                ..EditOptions::default()
            },
            syntax: self.syntax.map(|check| match check {
                SyntaxArg::Off => SyntaxCheck::Off,
                SyntaxArg::Warn => SyntaxCheck::Warn,
                SyntaxArg::Refuse => SyntaxCheck::Refuse,
            }),
            durability: match self.durability {
                DurabilityArg::Power => Durability::Power,
                DurabilityArg::Process => Durability::Process,
            },
            ..ApplyOptions::default()
        }
    }
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum RelocateArg {
    /// If exactly one line nearby has its hash, and the patch does not contradict it
    Guarded,
    /// If exactly one line nearby has its hash
    Unique,
    /// Never
    Off,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum AnswerArg {
    /// The lines with their new anchors
    Region,
    /// Only the new anchors
    Brief,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum SyntaxArg {
    /// Nothing happens
    Off,
    /// The answer has a warning
    Warn,
    /// The patch is refused
    Refuse,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum DurabilityArg {
    /// A power cut: all writes are flushed to the disk
    Power,
    /// The end of the process
    Process,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_well_formed() {
        command_line().debug_assert();
    }
}
