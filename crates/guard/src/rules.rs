//! What a single command does to files, by its name and its words.

mod specs;

use super::argv::{Arg, Parsed, Spec, parse};
use super::policy::lists;
use super::{CommandRule, FindingKind, Policy, awk, code, sed, wrap};
use specs::{AWK, FILE_COMMANDS, GREP, INTERPRETER, PATCH, PERL, READERS, RG, RUBY, SED, TRUNCATE};

/// Where a command's standard input comes from.
#[derive(Clone, Debug)]
pub enum Input {
    /// From wherever that of the whole line does.
    Outer,
    /// From another command, or a text in the line itself, which may be known.
    Data(Option<String>),
    /// From a file.
    File(String),
}

/// Something that a command does.
#[derive(Debug)]
pub struct Hit {
    pub kind: FindingKind,
    pub rule: CommandRule,
    /// The file, where it is known.
    pub target: Option<String>,
}

/// What the rules look at.
pub struct Call<'a> {
    pub name: &'a str,
    /// The words after the name.
    pub given: &'a [Arg],
    pub input: &'a Input,
    pub policy: &'a Policy,
}

/// The name of a command without its directory; `None` when it is known at run time alone.
pub fn name_of(arg: &Arg) -> Option<&str> {
    arg.is_static.then(|| arg.value.rsplit('/').next().unwrap_or_default())
}

/// A `-` for standard input, a device, or another command's output: no file to read or write.
pub fn is_no_file(value: &str, is_static: bool) -> bool {
    let is_device = value.starts_with("/dev/") && !value.starts_with("/dev/shm");
    let is_descriptor = value.starts_with("/proc/self/fd/");
    let is_command = !is_static && (value.starts_with("<(") || value.starts_with(">("));
    (is_static && matches!(value, "-" | "")) || is_device || is_descriptor || is_command
}

impl Call<'_> {
    /// What the command does itself, whatever it runs beside.
    pub fn hits(&self) -> Vec<Hit> {
        let mut hits = Vec::new();
        let git = wrap::git(self.given).filter(|_| self.name == "git");
        let excepted = |name: &str| self.policy.except.iter().any(|listed| listed == name);
        let full = git.as_ref().map(|(subcommand, _)| format!("git {subcommand}"));
        if excepted(self.name) || full.as_deref().is_some_and(excepted) {
            return hits;
        }
        self.extra(full.as_deref(), &mut hits);
        if let Some((_, letters, names)) = READERS.iter().find(|(name, ..)| *name == self.name) {
            let spec = Spec { letters, names, ..Spec::default() };
            self.reader(&parse(self.given, &spec), &mut hits);
        }
        if FILE_COMMANDS.contains(&self.name) && self.policy.file_commands {
            self.file_command(&mut hits);
        }
        match self.name {
            "grep" | "egrep" | "fgrep" | "zgrep" | "ggrep" => self.grep(&mut hits),
            "rg" => self.ripgrep(&mut hits),
            "sed" | "gsed" => self.sed(&mut hits),
            "awk" | "gawk" | "mawk" | "nawk" => self.awk(&mut hits),
            "perl" => self.in_place(&parse(self.given, &PERL), &["i"], &mut hits),
            "ruby" => self.in_place(&parse(self.given, &RUBY), &["i"], &mut hits),
            "yq" | "gojq" | "sd" => self.editor(&mut hits),
            "tee" | "sponge" | "ed" | "ex" | "red" => {
                let spec =
                    Spec { letters: if self.name == "tee" { "" } else { "cp" }, ..Spec::default() };
                self.writes(&parse(self.given, &spec).operands, CommandRule::Writer, &mut hits);
            }
            "truncate" => {
                self.writes(&parse(self.given, &TRUNCATE).operands, CommandRule::Writer, &mut hits);
            }
            "dd" => self.dd(&mut hits),
            "find" | "gfind" => self.find(&mut hits),
            "patch" | "gpatch" | "apply_patch" | "applypatch"
                if self.policy.patches
                    && !parse(self.given, &PATCH).has(&["dry-run", "version", "help"]) =>
            {
                hits.push(Hit { kind: FindingKind::Write, rule: CommandRule::Patch, target: None });
            }
            _ => {}
        }
        if let Some(("apply" | "am", parsed)) = &git
            && self.policy.patches
            && !parsed.has(&["check", "stat", "numstat", "summary", "abort", "help"])
        {
            hits.push(Hit { kind: FindingKind::Write, rule: CommandRule::Patch, target: None });
        }
        if self.policy.interpreters {
            self.interpreter(&mut hits);
        }
        hits
    }

    fn extra(&self, full: Option<&str>, hits: &mut Vec<Hit>) {
        let listed = |names: &[String]| {
            names.iter().any(|name| name == self.name || Some(name.as_str()) == full)
        };
        if listed(&self.policy.extra_writes) {
            hits.push(Hit { kind: FindingKind::Write, rule: CommandRule::Extra, target: None });
        }
        if listed(&self.policy.extra_reads) {
            let parsed = parse(self.given, &Spec::default());
            let own = usize::from(full.is_some());
            self.reads(parsed.operands.get(own..).unwrap_or_default(), CommandRule::Extra, hits);
        }
    }

    fn hit(&self, kind: FindingKind, rule: CommandRule, target: &str, hits: &mut Vec<Hit>) {
        let target = (!target.is_empty()).then(|| target.to_owned());
        hits.push(Hit { kind, rule, target });
    }

    /// A reader without operands, or with `-`, reads what it is fed.
    fn reader(&self, parsed: &Parsed<'_>, hits: &mut Vec<Hit>) {
        if parsed.has(&["help", "version"]) {
            return;
        }
        // `xxd in out`
        if self.name == "xxd"
            && let [_, output] = parsed.operands.as_slice()
        {
            self.writes(&[output], CommandRule::Writer, hits);
        }
        // `tail +5`
        let is_count = |arg: &Arg| {
            self.name.ends_with("tail") && arg.value.strip_prefix('+').is_some_and(is_number)
        };
        let files: Vec<_> = parsed.operands.iter().copied().filter(|arg| !is_count(arg)).collect();
        self.reads(&files, CommandRule::Reader, hits);
    }

    /// The files among the operands are read; without operands, the input is.
    fn reads(&self, operands: &[&Arg], rule: CommandRule, hits: &mut Vec<Hit>) {
        let may = |arg: &Arg| {
            is_no_file(&arg.value, arg.is_static) || lists(&self.policy.readable_paths, &arg.value)
        };
        if let Some(file) = operands.iter().find(|arg| !may(arg)) {
            self.hit(FindingKind::Read, rule, &file.value, hits);
        } else if operands.iter().all(|arg| matches!(arg.value.as_str(), "-" | "/dev/stdin")) {
            self.reads_input(hits);
        }
    }

    fn reads_input(&self, hits: &mut Vec<Hit>) {
        if let Input::File(target) = self.input
            && !is_no_file(target, true)
            && !lists(&self.policy.readable_paths, target)
        {
            self.hit(FindingKind::Read, CommandRule::Input, target, hits);
        }
    }

    /// Notes that the first operand that is a file is written; it stands for all of them.
    fn writes(&self, operands: &[&Arg], rule: CommandRule, hits: &mut Vec<Hit>) {
        let may = |arg: &Arg| {
            is_no_file(&arg.value, arg.is_static) || lists(&self.policy.writable_paths, &arg.value)
        };
        if let Some(file) = operands.iter().find(|arg| !may(arg)) {
            self.hit(FindingKind::Write, rule, &file.value, hits);
        }
    }

    fn grep(&self, hits: &mut Vec<Hit>) {
        let parsed = parse(self.given, &GREP);
        if parsed.has(&["help", "version", "V"]) {
            return;
        }
        let own = usize::from(!parsed.has(&["e", "f", "regexp", "file"]));
        let files = parsed.operands.get(own..).unwrap_or_default();
        if files.is_empty() && parsed.has(&["r", "R", "recursive", "dereference-recursive"]) {
            self.searches_here(hits);
        } else {
            self.reads(files, CommandRule::Search, hits);
        }
    }

    fn ripgrep(&self, hits: &mut Vec<Hit>) {
        let parsed = parse(self.given, &RG);
        let lists_only = ["files", "type-list", "version", "V", "help", "h", "pcre2-version"];
        if parsed.has(&lists_only) {
            return;
        }
        let own = usize::from(!parsed.has(&["e", "f", "regexp", "file"]));
        let files = parsed.operands.get(own..).unwrap_or_default();
        let has_pattern = own == 0 || !parsed.operands.is_empty();
        if files.is_empty() && has_pattern && matches!(self.input, Input::Outer) {
            self.searches_here(hits);
        } else {
            self.reads(files, CommandRule::Search, hits);
        }
    }

    /// A search of the working directory.
    fn searches_here(&self, hits: &mut Vec<Hit>) {
        if !lists(&self.policy.readable_paths, ".") {
            self.hit(FindingKind::Read, CommandRule::Search, "", hits);
        }
    }

    fn sed(&self, hits: &mut Vec<Hit>) {
        let parsed = parse(self.given, &SED);
        if parsed.has(&["help", "version"]) {
            return;
        }
        let given: Vec<_> = parsed.values(&["e", "expression"]).collect();
        let own = usize::from(!parsed.has(&["e", "f", "expression", "file"]));
        let first = parsed.operands.first().filter(|_| own == 1).map(|arg| arg.value.as_str());
        let files = parsed.operands.get(own..).unwrap_or_default();
        for program in given.into_iter().chain(first) {
            self.sed_program(program, hits);
        }
        if parsed.has(&["i", "I", "in-place"]) {
            // The last operand: elsewhere than on Linux the first one may be a suffix.
            match files.last() {
                Some(_) => self.writes(
                    &files.iter().rev().copied().collect::<Vec<_>>(),
                    CommandRule::InPlace,
                    hits,
                ),
                None => self.hit(FindingKind::Write, CommandRule::InPlace, "", hits),
            }
        } else {
            self.reads(files, CommandRule::Reader, hits);
        }
    }

    fn sed_program(&self, program: &str, hits: &mut Vec<Hit>) {
        for effect in sed::effects(program) {
            match effect {
                sed::Effect::Writes(file) if !lists(&self.policy.writable_paths, file) => {
                    self.hit(FindingKind::Write, CommandRule::Program, file, hits);
                }
                sed::Effect::Reads(file)
                    if !is_no_file(file, true) && !lists(&self.policy.readable_paths, file) =>
                {
                    self.hit(FindingKind::Read, CommandRule::Program, file, hits);
                }
                _ => {}
            }
        }
    }

    fn awk(&self, hits: &mut Vec<Hit>) {
        let parsed = parse(self.given, &AWK);
        if parsed.has(&["help", "version", "V"]) {
            return;
        }
        let own = usize::from(!parsed.has(&["f", "e", "file", "source"]));
        let program = parsed.operands.first().filter(|_| own == 1).map(|arg| arg.value.as_str());
        for program in parsed.values(&["e", "source"]).chain(program) {
            for file in awk::written(program) {
                if !lists(&self.policy.writable_paths, &file) {
                    self.hit(FindingKind::Write, CommandRule::Program, &file, hits);
                }
            }
            for file in awk::read(program) {
                self.hit(FindingKind::Read, CommandRule::Program, &file, hits);
            }
        }
        let operands = parsed.operands.get(own..).unwrap_or_default();
        let is_file = |arg: &&Arg| !is_assignment(&arg.value);
        let files: Vec<_> = operands.iter().copied().filter(is_file).collect();
        if parsed.values(&["i", "include"]).any(|library| library.starts_with("inplace")) {
            self.writes(&files, CommandRule::InPlace, hits);
        } else if files.is_empty() && program.is_some_and(is_begin_only) {
            // A program of `BEGIN` alone reads nothing.
        } else {
            self.reads(&files, CommandRule::Reader, hits);
        }
    }

    fn in_place(&self, parsed: &Parsed<'_>, names: &[&str], hits: &mut Vec<Hit>) {
        if !parsed.has(names) {
            return;
        }
        let own = usize::from(!parsed.has(&["e", "E"]));
        match parsed.operands.get(own..).unwrap_or_default() {
            [] => self.hit(FindingKind::Write, CommandRule::InPlace, "", hits),
            files => self.writes(files, CommandRule::InPlace, hits),
        }
    }

    /// Programs of which a file is an operand, and one option makes them write it.
    fn editor(&self, hits: &mut Vec<Hit>) {
        let parsed = parse(self.given, &Spec { letters: "fn", ..Spec::default() });
        match self.name {
            "sd" => {
                let files = parsed.operands.get(2..).unwrap_or_default();
                if !parsed.has(&["p", "preview"]) {
                    self.writes(files, CommandRule::InPlace, hits);
                }
            }
            _ if parsed.has(&["i", "inplace", "in-place"]) => {
                let files = parsed.operands.last().copied();
                self.writes(files.as_slice(), CommandRule::InPlace, hits);
            }
            _ => {}
        }
    }

    fn dd(&self, hits: &mut Vec<Hit>) {
        for arg in self.given {
            if let Some(file) = arg.value.strip_prefix("of=")
                && !is_no_file(file, arg.is_static)
                && !lists(&self.policy.writable_paths, file)
            {
                self.hit(FindingKind::Write, CommandRule::Writer, file, hits);
            }
        }
    }

    fn find(&self, hits: &mut Vec<Hit>) {
        let (files, deletes) = wrap::find_writes(self.given);
        self.writes(&files, CommandRule::Program, hits);
        if deletes && self.policy.file_commands {
            self.hit(FindingKind::Write, CommandRule::FileCommand, "", hits);
        }
    }

    fn file_command(&self, hits: &mut Vec<Hit>) {
        let spec = Spec {
            letters: "tSmog",
            names: &["target-directory", "suffix", "mode", "owner", "group"],
            ..Spec::default()
        };
        let parsed = parse(self.given, &spec);
        if parsed.has(&["help", "version", "dry-run"])
            || (self.name == "rsync" && parsed.has(&["n"]))
        {
            return;
        }
        let copies = matches!(self.name, "cp" | "install" | "rsync");
        let directory = parsed.values(&["t", "target-directory"]).next();
        match (copies, directory, parsed.operands.split_last()) {
            (true, Some(directory), _) => {
                if !lists(&self.policy.writable_paths, directory) {
                    self.hit(FindingKind::Write, CommandRule::FileCommand, directory, hits);
                }
            }
            // Of a copy only the last operand changes.
            (true, None, Some((last, _))) => self.writes(&[last], CommandRule::FileCommand, hits),
            _ => self.writes(&parsed.operands, CommandRule::FileCommand, hits),
        }
    }

    fn interpreter(&self, hits: &mut Vec<Hit>) {
        let Some(options) = code::code_options(self.name) else { return };
        let spec = match self.name {
            "perl" => PERL,
            "ruby" => RUBY,
            _ => INTERPRETER,
        };
        let parsed = parse(self.given, &spec);
        let mut texts: Vec<&str> = parsed.values(options).collect();
        if let [first, second, ..] = parsed.operands.as_slice()
            && self.name == "deno"
            && first.value == "eval"
        {
            texts.push(&second.value);
        }
        let takes_input = parsed.operands.first().is_none_or(|arg| arg.value == "-");
        if texts.is_empty()
            && takes_input
            && let Input::Data(Some(text)) = self.input
        {
            texts.push(text);
        }
        if texts.iter().any(|text| code::writes(text)) {
            self.hit(FindingKind::Write, CommandRule::Interpreter, "", hits);
        } else if texts.iter().any(|text| code::reads(text)) {
            self.hit(FindingKind::Read, CommandRule::Interpreter, "", hits);
        }
    }
}

/// The commands that a program of sed runs.
pub fn sed_commands<'a>(name: &str, given: &'a [Arg]) -> Vec<&'a str> {
    if !matches!(name, "sed" | "gsed") {
        return Vec::new();
    }
    let parsed = parse(given, &SED);
    let given = parsed.values(&["e", "expression"]);
    let first = parsed.operands.first().map(|arg| arg.value.as_str());
    let programs = given.chain(first);
    let runs = |effect| match effect {
        sed::Effect::Runs(command) => Some(command),
        _ => None,
    };
    programs.flat_map(sed::effects).filter_map(runs).collect()
}

fn is_number(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_assignment(text: &str) -> bool {
    let name = text.split_once('=').map(|(name, _)| name);
    name.is_some_and(|name| {
        !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
    })
}

fn is_begin_only(program: &str) -> bool {
    program.trim_start().starts_with("BEGIN") && !program.contains("getline")
}
