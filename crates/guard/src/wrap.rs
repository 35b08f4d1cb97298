//! Commands that run other commands: `sudo`, `xargs`, `bash -c`, `find -exec`.

use super::argv::{Arg, Parsed, Spec, is_assignment, name_of, parse};

/// What a command runs.
#[derive(Debug)]
pub enum Inner {
    /// One or more commands with their words.
    Commands(Vec<Vec<Arg>>),
    /// Shell text.
    Script(NestedScript),
    /// Shell text on its standard input.
    StandardInput,
}

/// Shell text that a command is given as a word, or in several that it joins.
#[derive(Debug)]
pub struct NestedScript {
    pub text: String,
    pub is_static: bool,
    /// The words; the text stands in the command line letter by letter if it is a single one.
    pub words: Vec<Arg>,
}

/// Commands in front of another: how their options read, and how many operands are theirs.
const PREFIXES: [(&str, Spec, usize); 31] = [
    ("sudo", front("ugpCDhRrTtU", SUDO_NAMES), 0),
    ("doas", front("uC", &[]), 0),
    ("env", front("uC", &["unset", "chdir"]), 0),
    ("nice", front("n", &["adjustment"]), 0),
    ("ionice", front("cnpPu", &["class", "classdata", "pid"]), 0),
    ("chrt", front("pTPD", &[]), 1),
    ("taskset", front("p", &[]), 1),
    ("nohup", front("", &[]), 0),
    ("setsid", front("", &[]), 0),
    ("time", front("fo", &["format", "output"]), 0),
    ("gtime", front("fo", &["format", "output"]), 0),
    ("stdbuf", front("ioe", &["input", "output", "error"]), 0),
    ("timeout", front("ks", &["kill-after", "signal"]), 1),
    ("gtimeout", front("ks", &["kill-after", "signal"]), 1),
    ("exec", front("a", &[]), 0),
    ("command", front("", &[]), 0),
    ("builtin", front("", &[]), 0),
    ("busybox", front("", &[]), 0),
    ("toybox", front("", &[]), 0),
    ("unbuffer", front("", &[]), 0),
    ("strace", front("oeabIpPsSuX", &["output", "trace"]), 0),
    ("chroot", front("", &["userspec", "groups"]), 1),
    ("flock", front("wE", &["timeout", "wait", "conflict-exit-code"]), 1),
    ("faketime", front("f", &[]), 1),
    ("caffeinate", front("tw", &[]), 0),
    ("systemd-inhibit", front("", &[]), 0),
    ("unshare", front("", &[]), 0),
    ("noglob", front("", &[]), 0),
    ("chronic", front("", &[]), 0),
    ("winpty", front("", &[]), 0),
    ("rtk", front("", &[]), 0),
];

const SUDO_NAMES: &[&str] =
    &["user", "group", "prompt", "host", "chdir", "role", "type", "other-user", "chroot"];

/// Two words that stand in front of a command.
const RUNNERS: [(&str, &str); 12] = [
    ("npx", ""),
    ("bunx", ""),
    ("uvx", ""),
    ("pnpm", "exec"),
    ("yarn", "exec"),
    ("uv", "run"),
    ("poetry", "run"),
    ("pipenv", "run"),
    ("pdm", "run"),
    ("hatch", "run"),
    ("bundle", "exec"),
    ("mise", "exec"),
];

const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "rbash"];

const XARGS: Spec = Spec {
    letters: "aEIJLnPRsd",
    attached: "eil",
    names: &["arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars", "replace"],
    operand_ends: true,
    single_dash: false,
};

const fn front(letters: &'static str, names: &'static [&'static str]) -> Spec {
    Spec { letters, attached: "", names, operand_ends: true, single_dash: false }
}

/// What a command runs; `None` when it is nothing, or nothing that can be known.
pub fn unwrap(args: &[Arg], listing: Option<&str>) -> Option<Inner> {
    let (first, given) = args.split_first()?;
    let name = name_of(first)?;
    if let Some((_, spec, own)) = PREFIXES.iter().find(|(prefix, ..)| *prefix == name) {
        return prefixed(name, given, spec, *own);
    }
    if SHELLS.contains(&name) {
        return shell(given);
    }
    match name {
        "eval" => joined(given),
        "trap" => given.first().filter(|arg| arg.value != "-").and_then(script),
        "xargs" | "gxargs" => Some(one(xargs(given, listing)?)),
        "parallel" => parallel(given),
        "watch" => joined(&given[parse(given, &front("n", &["interval"])).rest..]),
        "su" | "runuser" => user(given),
        "script" => script_command(given),
        "find" | "gfind" => Some(Inner::Commands(found(given))),
        "fd" | "fdfind" => fd(given),
        _ => {
            let (_, second) = RUNNERS.iter().find(|(runner, _)| *runner == name)?;
            let rest = match given.split_first() {
                Some((first, rest)) if first.value == *second => rest,
                _ if second.is_empty() => given,
                _ => return None,
            };
            let rest =
                &rest[parse(rest, &front("p", &["package", "with", "python", "extra"])).rest..];
            (!rest.is_empty()).then(|| one(rest.to_vec()))
        }
    }
}

fn one(command: Vec<Arg>) -> Inner {
    Inner::Commands(vec![command])
}

fn script(arg: &Arg) -> Option<Inner> {
    joined(std::slice::from_ref(arg))
}

/// Words that a command joins by blanks, and runs.
fn joined(words: &[Arg]) -> Option<Inner> {
    let words = match words.split_first() {
        Some((first, rest)) if first.value == "--" => rest,
        _ => words,
    };
    let texts: Vec<_> = words.iter().map(|word| word.value.as_str()).collect();
    Some(Inner::Script(NestedScript {
        text: texts.join(" "),
        is_static: words.iter().all(|word| word.is_static),
        words: words.to_vec(),
    }))
}

fn prefixed(name: &str, given: &[Arg], spec: &Spec, own: usize) -> Option<Inner> {
    // `env -S 'cat f'` splits its value into words.
    if name == "env"
        && let Some(at) =
            given.iter().position(|arg| arg.value == "-S" || arg.value == "--split-string")
    {
        return joined(given.get(at + 1..)?);
    }
    let parsed = parse(given, spec);
    // `command -v cat` looks for a command and runs none.
    if name == "command" && parsed.has(&["v", "V"]) {
        return None;
    }
    let operands = given.get(parsed.rest + own..)?;
    if name == "flock" && operands.first().is_some_and(|arg| arg.value == "-c") {
        return script(operands.get(1)?);
    }
    let takes_assignments = matches!(name, "env" | "sudo" | "doas");
    let assigned = operands.iter().take_while(|arg| takes_assignments && is_assignment(&arg.value));
    let command = &operands[assigned.count()..];
    (!command.is_empty()).then(|| one(command.to_vec()))
}

fn shell(given: &[Arg]) -> Option<Inner> {
    let spec = front("oO", &["rcfile", "init-file"]);
    let parsed = parse(given, &spec);
    if parsed.has(&["c"]) {
        return script(parsed.operands.first()?);
    }
    let is_fed = parsed.has(&["s"])
        || parsed
            .operands
            .first()
            .is_none_or(|arg| matches!(arg.value.as_str(), "-" | "/dev/stdin"));
    is_fed.then_some(Inner::StandardInput)
}

/// The command that `xargs` runs, with what it adds or puts in: names below a directory.
fn xargs(given: &[Arg], listing: Option<&str>) -> Option<Vec<Arg>> {
    let parsed = parse(given, &XARGS);
    let command = given.get(parsed.rest..)?;
    match parsed.values(&["I", "replace"]).next().filter(|mark| !mark.is_empty()) {
        Some(mark) => Some(command.iter().map(|arg| filled(arg, mark, listing)).collect()),
        None => with_unknown(command, listing),
    }
}

/// A command, and a name that it is given.
fn with_unknown(command: &[Arg], directory: Option<&str>) -> Option<Vec<Arg>> {
    let last = command.last()?;
    let mut command = command.to_vec();
    command.push(Arg::unknown(last.span, directory));
    Some(command)
}

/// The longest word that names are put into; a longer one is not known.
const FILLED_LIMIT_BYTES: usize = 16 * 1024;

/// A word in which a mark stands for a name.
fn filled(arg: &Arg, mark: &str, directory: Option<&str>) -> Arg {
    if !arg.value.contains(mark) {
        return arg.clone();
    }
    let name = Arg::unknown(arg.span, directory);
    let marks = arg.value.matches(mark).count();
    if arg.value.len() + marks * name.value.len() > FILLED_LIMIT_BYTES {
        return Arg::unknown(arg.span, None);
    }
    // A script in which it stands is still one.
    let is_static = arg.value.contains(' ') && arg.is_static;
    Arg { value: arg.value.replace(mark, &name.value), is_static, letters: None, ..arg.clone() }
}

fn parallel(given: &[Arg]) -> Option<Inner> {
    let spec = Spec { letters: "jaINnSdP", names: &["jobs", "arg-file", "joblog"], ..XARGS };
    let rest = parse(given, &spec).rest;
    let is_source = |arg: &Arg| matches!(arg.value.as_str(), ":::" | "::::" | ":::+");
    let end = given.iter().position(is_source).unwrap_or(given.len());
    let command = given.get(rest..end)?;
    if let [only] = command
        && only.value.contains(' ')
    {
        return script(only);
    }
    Some(one(with_unknown(command, None)?))
}

fn user(given: &[Arg]) -> Option<Inner> {
    let spec = Spec { letters: "cgGsuw", names: &["command", "shell", "user"], ..Spec::default() };
    let at = given.iter().position(|arg| matches!(arg.value.as_str(), "-c" | "--command" | "-lc"));
    match at {
        Some(at) => script(given.get(at + 1)?),
        // `runuser -u name -- command`
        None => {
            let rest = parse(given, &Spec { operand_ends: true, ..spec }).rest;
            let command = given.get(rest..).filter(|command| command.len() > 1)?;
            Some(one(command.to_vec()))
        }
    }
}

fn script_command(given: &[Arg]) -> Option<Inner> {
    let ends_in_c = |arg: &Arg| {
        let value = arg.value.as_str();
        value == "--command"
            || (value.starts_with('-') && !value.starts_with("--") && value.ends_with('c'))
    };
    let at = given.iter().position(ends_in_c)?;
    script(given.get(at + 1)?)
}

/// The commands of `-exec` and its kin.
fn found(given: &[Arg]) -> Vec<Vec<Arg>> {
    let runs = |arg: &Arg| matches!(arg.value.as_str(), "-exec" | "-execdir" | "-ok" | "-okdir");
    let start = given
        .iter()
        .map(|arg| arg.value.as_str())
        .find(|value| !value.starts_with(['-', '(', '!']));
    let mut commands = Vec::new();
    let mut rest = given;
    while let Some(at) = rest.iter().position(runs) {
        rest = &rest[at + 1..];
        let end = rest.iter().position(|arg| arg.value == ";").unwrap_or(rest.len());
        let plus = rest.windows(2).position(|pair| pair[0].value == "{}" && pair[1].value == "+");
        let end = plus.map_or(end, |plus| end.min(plus + 1));
        commands.push(rest[..end].iter().map(|arg| filled(arg, "{}", start)).collect());
        rest = &rest[end..];
    }
    commands
}

fn fd(given: &[Arg]) -> Option<Inner> {
    let runs = |arg: &Arg| matches!(arg.value.as_str(), "-x" | "--exec" | "-X" | "--exec-batch");
    let at = given.iter().position(runs)?;
    let rest = &given[at + 1..];
    let end = rest.iter().position(|arg| arg.value == ";").unwrap_or(rest.len());
    let command = &rest[..end];
    if command.iter().any(|arg| arg.value.contains('{')) {
        return Some(one(command.to_vec()));
    }
    let directory = given[..at].iter().filter(|arg| !arg.value.starts_with('-')).nth(1);
    Some(one(with_unknown(command, directory.map(|arg| arg.value.as_str()))?))
}

/// The subcommand of `git` and what it is given.
pub fn git(given: &[Arg]) -> Option<(&str, Parsed<'_>)> {
    let spec = front("Cc", &["git-dir", "work-tree", "namespace", "exec-path"]);
    let rest = parse(given, &spec).rest;
    let (subcommand, rest) = given.get(rest..)?.split_first()?;
    Some((subcommand.value.as_str(), parse(rest, &Spec::default())))
}
