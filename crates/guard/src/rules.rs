//! How a single command accesses files, by its name and its words.

use std::borrow::Cow;
use std::collections::HashSet;

use super::access::{Access, Request};
use super::argv::{Arg, Opt, Parsed, Spec, is_assignment, parse};
use super::flow::Flow;
use super::paths::{Paths, Scope};
use super::policy::Policy;
use super::tables::{Job, Tool, tool};
use super::{CommandRule, FindingKind, awk, code, sed, wrap};

/// The output of a command.
#[derive(Debug, Default, PartialEq, Eq)]
pub enum Output {
    /// Its own output, which shows no file.
    #[default]
    Own,
    /// Its input, as it is or transformed, and the files that it shows.
    Input { as_is: bool },
    /// Words of the command line.
    Words(String),
    /// Text of the command line, transformed or from a file outside.
    Text,
    /// Names of files below a directory.
    Names(String),
}

/// The effect of a command.
#[derive(Debug, Default)]
pub struct Effect {
    /// Accesses that do not depend on where its output goes.
    pub accesses: Vec<Access>,
    /// Files that are shown in its output.
    pub shown: Vec<Access>,
    pub output: Output,
    /// The lines of its input that it passes on.
    pub passes: Request,
    /// The file outside that it copies text to.
    pub copies_text_to: Option<String>,
}

/// A command, for the rules.
pub struct Call<'a> {
    pub name: &'a str,
    /// The words after the name.
    pub given: &'a [Arg],
    pub input: &'a Flow,
    pub paths: &'a Paths<'a>,
    pub policy: &'a Policy,
    /// Files outside that the line has written text to.
    pub kept: &'a HashSet<String>,
}

impl Call<'_> {
    /// The effect of the command itself, besides that of a command that it runs.
    pub fn effect(&self) -> Effect {
        let git = wrap::git(self.given).filter(|_| self.name == "git");
        let full = git.as_ref().map(|(subcommand, _)| format!("git {subcommand}"));
        let is_listed = |names: &[String]| {
            names.iter().any(|name| name == self.name || Some(name.as_str()) == full.as_deref())
        };
        let mut effect = Effect::default();
        if let Some(tool) = tool(self.name) {
            self.known(tool, &mut effect);
        }
        self.patch(git.as_ref(), &mut effect.accesses);
        if is_listed(&self.policy.extra_writes) {
            effect.accesses.push(Access::new(FindingKind::Write, CommandRule::Extra, None));
        }
        if is_listed(&self.policy.extra_reads) {
            let parsed = parse(self.given, &Spec::default());
            let files = parsed.operands.get(usize::from(full.is_some())..).unwrap_or_default();
            self.shows(files, CommandRule::Extra, &Request::Any, &mut effect);
        }
        if is_listed(&self.policy.except) {
            effect.accesses.clear();
            effect.shown.clear();
        }
        effect
    }

    fn known(&self, tool: &Tool, effect: &mut Effect) {
        let parsed = parse(self.given, &tool.spec);
        match tool.job {
            Job::Shows(rule) => self.reader(tool, rule, &parsed, effect),
            Job::Writes => {
                // If the input is the output of a program, the file then contains just that.
                let appends = parsed.has(&["a", "append"]);
                self.takes(&parsed.operands, appends, &mut effect.accesses);
                if self.name == "tee" {
                    effect.output = Output::Input { as_is: true };
                }
            }
            Job::Copies => self.copier(effect),
            Job::Changes(rule) => self.changer(tool, rule, &parsed, effect),
            Job::Edits => self.editor(&parsed, effect),
            Job::Prints => effect.output = Output::Words(self.words()),
            Job::Lists => self.lister(tool, &parsed, effect),
            Job::Runs => self.interpreter(tool, &parsed, effect),
        }
    }

    /// The first of these words that is a file in scope, or at most as far out as `limit`. It
    /// represents all of them.
    fn served<'f>(&self, files: &[&'f Arg], kind: FindingKind, limit: Scope) -> Option<&'f Arg> {
        let scope = |arg: &Arg| self.paths.used(kind, &arg.value, arg.is_static);
        files.iter().copied().find(|arg| !is_standard(arg) && scope(arg) <= limit)
    }

    fn is_awk(&self) -> bool {
        matches!(self.name, "awk" | "gawk" | "mawk" | "nawk")
    }

    /// Whether the line has written text to this file outside.
    fn has_text(&self, file: &Arg) -> bool {
        let identity = self.paths.identity(&file.value, file.is_static);
        identity.is_some_and(|file| self.kept.contains(&file))
    }

    /// Adds an access to a file that is not an operand: it is named by an option, or in a program.
    fn access_file(
        &self,
        kind: FindingKind,
        rule: CommandRule,
        file: &str,
        accesses: &mut Vec<Access>,
    ) {
        if self.paths.used(kind, file, true) == Scope::Inside {
            accesses.push(Access::new(kind, rule, Some(file)));
        }
    }

    /// The command shows the files; without any, its input.
    fn shows(&self, files: &[&Arg], rule: CommandRule, request: &Request, effect: &mut Effect) {
        if let Some(file) = self.served(files, FindingKind::Read, Scope::Unknown) {
            let has_more = files.len() > 1;
            let access = Access::new(FindingKind::Read, rule, Some(&file.value));
            effect.shown.push(Access { request: request.clone(), has_more, ..access });
        }
        if files.is_empty()
            || files.iter().any(|arg| is_standard(arg) || arg.value.starts_with("<("))
        {
            let as_is = matches!(self.name, "cat" | "gcat");
            effect.output = Output::Input { as_is };
        }
    }

    /// The command changes the files; without any, the working directory.
    fn changes(&self, files: &[&Arg], rule: CommandRule, accesses: &mut Vec<Access>) {
        let here = files.is_empty() && self.paths.of(".", true) == Scope::Inside;
        let file = self.served(files, FindingKind::Write, Scope::Unknown);
        if here || file.is_some() {
            accesses.push(Access::new(
                FindingKind::Write,
                rule,
                file.map(|file| file.value.as_str()),
            ));
        }
    }

    fn reader(&self, tool: &Tool, rule: CommandRule, parsed: &Parsed<'_>, effect: &mut Effect) {
        let files = self.files_of(tool, parsed);
        let program = self.program(tool, parsed);
        if parsed.has(tool.silent) {
            if tool.silent.contains(&"null-input") && parsed.has(&["n", "null-input"]) {
                effect.output = Output::Words(program.join(" "));
            } else if parsed.has(&["l", "files", "files-with-matches"]) {
                effect.output = Output::Names(listed(&files));
            }
            return;
        }
        self.files_in(&program, effect);
        let is_inplace = |value: &str| value.starts_with("inplace");
        let is_awk_inplace = self.is_awk() && parsed.values(&["i", "include"]).any(is_inplace);
        if is_awk_inplace || parsed.has(tool.changing) {
            return self.changed(tool, parsed, &files, effect);
        }
        // Whether the whole program is in the command line.
        let is_known = !program.is_empty() && !parsed.has(&["f", "file"]);
        let is_all = |holds: fn(&str) -> bool| is_known && program.iter().all(|one| holds(one));
        // The output of a program that reads nothing is text of the command line.
        if self.is_awk() && files.is_empty() && is_all(awk::reads_nothing) {
            effect.output = Output::Words(program.join(" "));
            return;
        }
        let shows_nothing = match self.name {
            "jq" | "gojq" | "jaq" => program.first() == Some(&"empty"),
            _ => self.is_awk() && is_all(awk::shows_no_line),
        };
        if shows_nothing {
            return;
        }
        let request = self.request(rule, parsed, &program);
        let is_recursive = parsed.has(&["r", "R", "recursive", "dereference-recursive"]);
        let searches_here =
            is_recursive || (matches!(self.name, "rg" | "ag" | "ack") && !self.input.is_fed());
        if files.is_empty() && rule == CommandRule::Search && searches_here {
            self.access_file(FindingKind::Read, rule, ".", &mut effect.shown);
            let accesses = effect.shown.iter_mut();
            accesses.for_each(|access| (access.target, access.request) = (None, request.clone()));
            return;
        }
        self.shows(&files, rule, &request, effect);
        if files.is_empty() {
            effect.passes = request;
        }
        if files.iter().any(|file| self.has_text(file)) {
            effect.output = Output::Text;
        }
    }

    /// An option makes the command write: to the files, or to the one that the option names.
    fn changed(&self, tool: &Tool, parsed: &Parsed<'_>, files: &[&Arg], effect: &mut Effect) {
        if matches!(self.name, "sort" | "gsort") {
            let value = parsed.values(tool.changing).next().unwrap_or_default();
            return self.access_file(
                FindingKind::Write,
                CommandRule::Writer,
                value,
                &mut effect.accesses,
            );
        }
        // The last operand is reported. On systems other than Linux, the first one may be a suffix.
        let files: Vec<_> = files.iter().rev().copied().collect();
        self.changes(&files, CommandRule::InPlace, &mut effect.accesses);
    }

    /// The operands that are files.
    fn files_of<'a>(&self, tool: &Tool, parsed: &Parsed<'a>) -> Vec<&'a Arg> {
        let pairs = ["arg", "argjson", "slurpfile", "rawfile"];
        let pairs = parsed.options.iter().filter(|option| pairs.contains(&option.name)).count();
        let first = parsed.operands.first();
        let is_subcommand = first.is_some_and(|arg| tool.subcommands.contains(&arg.value.as_str()));
        let own = if parsed.has(tool.own_options) { 0 } else { tool.own };
        let own = own.saturating_add(usize::from(is_subcommand) + pairs);
        let is_file = |arg: &&Arg| match self.name {
            _ if self.is_awk() => !is_assignment(&arg.value),
            // `tail +5`
            "tail" | "gtail" => !arg.value.strip_prefix('+').is_some_and(is_number),
            _ => true,
        };
        parsed.operands.get(own..).unwrap_or_default().iter().copied().filter(is_file).collect()
    }

    /// The patterns or programs of a command.
    fn program<'a>(&self, tool: &Tool, parsed: &Parsed<'a>) -> Vec<&'a str> {
        if tool.own == 0 || tool.own == usize::MAX {
            return Vec::new();
        }
        let given = parsed.values(&["e", "expression", "source", "regexp"]);
        let first = parsed.operands.first().filter(|_| !parsed.has(tool.own_options));
        given.chain(first.map(|arg| arg.value.as_str())).collect()
    }

    /// The request that corresponds to a reader.
    fn request(&self, rule: CommandRule, parsed: &Parsed<'_>, program: &[&str]) -> Request {
        let value = |names| parsed.values(names).next();
        let lines = match (self.name, program) {
            ("head" | "ghead", _) => head(parsed).map(|last| (1, Some(last))),
            ("tail" | "gtail", _) => value(&["n", "lines"])
                .and_then(|value| Some((value.strip_prefix('+')?.parse().ok()?, None))),
            ("sed" | "gsed", [program]) => sed::lines(program),
            (_, [program]) if self.is_awk() => awk::lines(program),
            ("bat" | "batcat", _) => value(&["r", "line-range"])
                .and_then(|range| range.split_once(':'))
                .and_then(|(first, last)| Some((first.parse().ok()?, Some(last.parse().ok()?)))),
            (name, [pattern]) if rule == CommandRule::Search => {
                let is_fixed = name == "fgrep" || parsed.has(&["F", "fixed-strings"]);
                let is_basic = matches!(name, "grep" | "ggrep")
                    && !parsed.has(&["E", "P", "extended-regexp", "perl-regexp"]);
                let pattern = if is_basic { extended(pattern) } else { (*pattern).to_owned() };
                return if is_fixed { Request::Any } else { Request::Pattern(pattern) };
            }
            _ => None,
        };
        lines.map_or(Request::Any, |(first, last)| Request::range(first, last))
    }

    /// The files that programs of sed and awk name. What awk reads may be shown in its output.
    fn files_in(&self, programs: &[&str], effect: &mut Effect) {
        let files = match self.name {
            "sed" | "gsed" => sed::files,
            _ if self.is_awk() => awk::files,
            _ => return,
        };
        for (kind, file) in programs.iter().flat_map(|program| files(program)) {
            let is_shown = self.is_awk() && kind == FindingKind::Read;
            let accesses = if is_shown { &mut effect.shown } else { &mut effect.accesses };
            self.access_file(kind, CommandRule::Program, file, accesses);
        }
    }

    /// `dd` has files in its words: `if=f of=g`.
    fn copier(&self, effect: &mut Effect) {
        let file = |prefix: &str| {
            let value = |arg: &Arg| {
                Some(Arg { value: arg.value.strip_prefix(prefix)?.to_owned(), ..arg.clone() })
            };
            self.given.iter().find_map(value)
        };
        match (file("if="), file("of=")) {
            (None, Some(output)) => self.takes(&[&output], false, &mut effect.accesses),
            (Some(input), None) => {
                self.shows(&[&input], CommandRule::Reader, &Request::Any, effect);
            }
            _ => {}
        }
    }

    /// The input is written to the first of these files that the tools serve.
    fn takes(&self, files: &[&Arg], appends: bool, accesses: &mut Vec<Access>) {
        // Appending keeps the previous content of a file.
        if self.input.is_output() && !appends {
            for file in files {
                let file = self.paths.identity(&file.value, file.is_static);
                self.paths.capture(file.as_deref(), true);
            }
        }
        if self.input.is_text()
            && let Some(file) = self.served(files, FindingKind::Write, Scope::Inside)
        {
            accesses.push(Access::new(FindingKind::Write, CommandRule::Writer, Some(&file.value)));
        }
    }

    fn changer(&self, tool: &Tool, rule: CommandRule, parsed: &Parsed<'_>, effect: &mut Effect) {
        let files = self.files_of(tool, parsed);
        if parsed.has(tool.silent) || (!tool.changing.is_empty() && !parsed.has(tool.changing)) {
            return;
        }
        if rule == CommandRule::FileCommand {
            self.track_copies(parsed, effect);
            self.file_command(parsed, &mut effect.accesses);
        } else if self.name == "sd" && files.is_empty() {
            effect.output = Output::Input { as_is: false };
        } else {
            self.changes(&files, rule, &mut effect.accesses);
        }
    }

    /// `jq … a > /tmp/b && mv /tmp/b a`: text that the line has written outside the roots is moved
    /// to a path that the tools serve. A served file may also be copied outside, and come back
    /// transformed.
    fn track_copies(&self, parsed: &Parsed<'_>, effect: &mut Effect) {
        let Some((last, sources)) = parsed.operands.split_last() else { return };
        let has_text = sources.iter().any(|file| self.has_text(file));
        let target = self.served(&[last], FindingKind::Write, Scope::Inside);
        if target.is_none()
            && (has_text || self.served(sources, FindingKind::Read, Scope::Inside).is_some())
        {
            effect.copies_text_to = self.paths.identity(&last.value, last.is_static);
        }
        if let Some(file) = target.filter(|_| has_text) {
            effect.accesses.push(Access::new(
                FindingKind::Write,
                CommandRule::Writer,
                Some(&file.value),
            ));
        }
    }

    fn file_command(&self, parsed: &Parsed<'_>, accesses: &mut Vec<Access>) {
        let copies = matches!(self.name, "cp" | "install" | "rsync");
        let directory = parsed.word(&["t", "target-directory"]);
        let files = match (&directory, parsed.operands.split_last()) {
            (Some(directory), _) => vec![directory],
            // A copy changes only its last operand.
            (None, Some((last, [first, ..]))) if copies => {
                if is_standard(first) {
                    self.takes(&[last], false, accesses);
                }
                vec![*last]
            }
            _ => parsed.operands.clone(),
        };
        if let Some(file) = self.served(&files, FindingKind::Write, Scope::Unknown) {
            accesses.push(Access::new(
                FindingKind::Write,
                CommandRule::FileCommand,
                Some(&file.value),
            ));
        }
    }

    /// A screen editor in batch mode: its commands determine whether it writes.
    fn editor(&self, parsed: &Parsed<'_>, effect: &mut Effect) {
        let (commands, files): (Vec<&Arg>, Vec<&Arg>) =
            parsed.operands.iter().copied().partition(|arg| arg.value.starts_with('+'));
        let texts =
            parsed.values(&["c", "cmd"]).chain(commands.iter().map(|arg| arg.value.as_str()));
        let texts: Vec<_> = texts.chain(self.input.text.as_deref()).collect();
        let writes = |text: &str| {
            let mut words = text.split(|c: char| !c.is_ascii_alphabetic());
            words.any(|word| {
                matches!(word, "w" | "wq" | "x" | "wa" | "wqa" | "xa" | "update" | "write")
            })
        };
        let is_line_editor = matches!(self.name, "ed" | "red");
        let is_unknown = is_line_editor && self.input.text.is_none();
        let is_batch = is_line_editor
            || self.name == "ex"
            || parsed.has(&["headless", "E"])
            || (parsed.has(&["e"]) && parsed.has(&["s"]));
        if files.is_empty() {
        } else if is_unknown || texts.iter().any(|text| writes(text)) {
            self.changes(&files, CommandRule::InPlace, &mut effect.accesses);
        } else if is_batch {
            self.shows(&files, CommandRule::Reader, &Request::Any, effect);
        }
    }

    /// The output of `echo` and `printf`.
    fn words(&self) -> String {
        let given: Vec<_> = self.given.iter().map(|arg| arg.value.as_str()).collect();
        if self.name == "echo" {
            let is_option = |word: &&&str| matches!(**word, "-n" | "-e" | "-ne" | "-en");
            let skipped = given.iter().take_while(is_option).count();
            return given[skipped..].join(" ");
        }
        match given.as_slice() {
            ["%s" | "%s\\n", text] => (*text).to_owned(),
            [format, rest @ ..] => [format.replace("\\n", "\n"), rest.join(" ")].join(" "),
            [] => String::new(),
        }
    }

    fn lister(&self, tool: &Tool, parsed: &Parsed<'_>, effect: &mut Effect) {
        effect.output = Output::Names(listed(&self.files_of(tool, parsed)));
        if self.given.iter().any(|arg| arg.value == "-delete") {
            let start = parsed.operands.get(..1).unwrap_or_default();
            self.changes(start, CommandRule::FileCommand, &mut effect.accesses);
        }
    }

    fn interpreter(&self, tool: &Tool, parsed: &Parsed<'_>, effect: &mut Effect) {
        if matches!(self.name, "perl" | "ruby") && parsed.has(&["i", "n", "p"]) {
            let files = self.files_of(tool, parsed);
            return if parsed.has(tool.changing) {
                self.changes(&files, CommandRule::InPlace, &mut effect.accesses);
            } else {
                self.shows(&files, CommandRule::Reader, &Request::Any, effect);
            };
        }
        if parsed.values(&["m"]).any(|module| module == "json.tool") {
            return self.shows(&parsed.operands, CommandRule::Reader, &Request::Any, effect);
        }
        let (texts, is_static) = self.code(tool, parsed);
        // Files that the code gets as arguments, all of them outside.
        let mut words = parsed.operands.iter().filter(|arg| !is_standard(arg)).peekable();
        if texts.iter().any(|text| text.contains("argv"))
            && words.peek().is_some()
            && words.all(|arg| self.paths.of(&arg.value, arg.is_static) == Scope::Outside)
        {
            return;
        }
        let found = code::read(self.name, &texts, self.paths);
        let access = |kind, file: Option<String>| {
            Access::new(kind, CommandRule::Interpreter, file.as_deref())
        };
        let written = found.written.map(|file| access(FindingKind::Write, file));
        if found.prints_texts && is_static {
            effect.output = Output::Text;
        }
        let shown = found.shown.map(|file| access(FindingKind::Read, file));
        effect.shown.extend(shown.filter(|_| written.is_none()));
        effect.accesses.extend(written);
    }

    /// The code for an interpreter, from options or its input; and whether all of it is known
    /// before run time.
    fn code<'a>(&'a self, tool: &Tool, parsed: &Parsed<'a>) -> (Vec<Cow<'a, str>>, bool) {
        let given = parsed.options.iter().filter(|option| tool.own_options.contains(&option.name));
        let mut is_static = given.clone().all(Opt::is_static);
        // The value of such an option is an expression whose value is printed.
        let is_printed = |name: &str| matches!(name, "p" | "print");
        let given = given.filter_map(|option| Some((option.name, option.value?)));
        let text = |(name, value): (&str, &'a str)| {
            if is_printed(name) { format!("console.log({value})").into() } else { value.into() }
        };
        let mut texts: Vec<Cow<'a, str>> = given.map(text).collect();
        if let [first, second, ..] = parsed.operands.as_slice()
            && first.value == "eval"
        {
            texts.push(second.value.as_str().into());
            is_static &= second.is_static;
        }
        let ends = [parsed.operands.first(), parsed.operands.last()];
        let takes_input =
            ends.into_iter().flatten().any(|arg| is_standard(arg)) || ends[0].is_none();
        if texts.is_empty() && takes_input {
            texts.extend(self.input.text.as_deref().map(Cow::from));
        }
        (texts, is_static)
    }

    /// A patch in the command line.
    fn patch(&self, git: Option<&(&str, Parsed<'_>)>, accesses: &mut Vec<Access>) {
        let dry =
            ["dry-run", "version", "help", "check", "stat", "numstat", "summary", "abort", "h"];
        let is_patch = match (self.name, git) {
            ("apply_patch" | "applypatch", _) => {
                self.input.is_text() || self.given.iter().any(|arg| arg.value.contains("*** "))
            }
            ("patch" | "gpatch", _) => {
                let spec = Spec { letters: "popBdDFgrVYz", ..Spec::default() };
                self.input.has_literal_text && !parse(self.given, &spec).has(&dry)
            }
            (_, Some(("apply" | "am", parsed))) => self.input.has_literal_text && !parsed.has(&dry),
            _ => false,
        };
        if is_patch && self.paths.of(".", true) != Scope::Outside {
            accesses.push(Access::new(FindingKind::Write, CommandRule::Patch, None));
        }
    }
}

/// The number of lines that `head` shows, if it counts lines from the start.
fn head(parsed: &Parsed<'_>) -> Option<u64> {
    let digits = parsed.options.iter().map(|option| option.name).filter(|name| is_number(name));
    let digits: String = digits.collect();
    let count = if digits.is_empty() { "10" } else { &digits };
    let count = parsed.values(&["n", "lines"]).next().unwrap_or(count);
    count.parse().ok().filter(|_| !parsed.has(&["c", "bytes"]))
}

/// Whether an operand is standard input, not a file.
fn is_standard(arg: &Arg) -> bool {
    matches!(arg.value.as_str(), "-" | "" | "/dev/stdin" | "/dev/fd/0")
}

/// Converts a basic regular expression to an extended one, where operators such as `|` are written
/// without a backslash.
fn extended(pattern: &str) -> String {
    let mut out = String::with_capacity(pattern.len());
    let mut is_escaped = false;
    for next in pattern.chars() {
        if next == '\\' && !is_escaped {
            is_escaped = true;
            continue;
        }
        if is_escaped != "|(){}+?".contains(next) {
            out.push('\\');
        }
        out.push(next);
        is_escaped = false;
    }
    out.extend(is_escaped.then_some('\\'));
    out
}

/// The directory of the files that a command names.
fn listed(files: &[&Arg]) -> String {
    files.first().map_or_else(|| ".".to_owned(), |file| file.value.clone())
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}
