//! Commands that run other commands: `sudo`, `xargs`, `bash -c`, `find -exec`.

use std::sync::LazyLock;

use super::argv::{Arg, Parsed, Spec, is_assignment, name_of, parse, unknown_name, whole};
use super::tables::{ByName, by_name};

/// What a command runs.
#[derive(Debug)]
pub enum Inner {
    /// A command with its words, which reads the same input.
    Command(Vec<Arg>),
    /// Commands with their words, which do not read the input.
    Commands(Vec<Vec<Arg>>),
    /// Shell text: a word, or several joined words.
    Script(Arg),
    /// Shell text from its standard input.
    StandardInput,
}

/// A command before another command: the word that follows its name, its options, and the number of
/// its own operands.
type Prefix = (&'static str, Spec, usize);

/// Command names, separated by blanks, that precede another command.
#[rustfmt::skip]
const PREFIXES: &[(&str, Prefix)] = &[
    ("sudo", ("", prefix("ugpCDhRrTtU", &["user", "group", "prompt", "host", "chdir", "role", "type", "other-user", "chroot"]), 0)),
    ("doas", ("", prefix("uC", &[]), 0)),
    ("env", ("", prefix("uC", &["unset", "chdir"]), 0)),
    ("nice", ("", prefix("n", &["adjustment"]), 0)),
    ("ionice", ("", prefix("cnpPu", &["class", "classdata", "pid"]), 0)),
    ("chrt", ("", prefix("pTPD", &[]), 1)),
    ("taskset", ("", prefix("p", &[]), 1)),
    ("time gtime", ("", prefix("fo", &["format", "output"]), 0)),
    ("stdbuf", ("", prefix("ioe", &["input", "output", "error"]), 0)),
    ("timeout gtimeout", ("", prefix("ks", &["kill-after", "signal"]), 1)),
    ("exec", ("", prefix("a", &[]), 0)),
    ("strace", ("", prefix("oeabIpPsSuX", &["output", "trace"]), 0)),
    ("chroot", ("", prefix("", &["userspec", "groups"]), 1)),
    ("flock", ("", prefix("wE", &["timeout", "wait", "conflict-exit-code"]), 1)),
    ("faketime", ("", prefix("f", &[]), 1)),
    ("caffeinate", ("", prefix("tw", &[]), 0)),
    ("nohup setsid command builtin busybox toybox unbuffer systemd-inhibit unshare noglob chronic winpty rtk", ("", prefix("", &[]), 0)),
    ("npx bunx uvx", ("", RUNNER, 0)),
    ("pnpm yarn bundle mise", ("exec", RUNNER, 0)),
    ("uv poetry pipenv pdm hatch", ("run", RUNNER, 0)),
];

const RUNNER: Spec = prefix("p", &["package", "with", "python", "extra", "directory", "project"]);

const SHELLS: [&str; 8] = ["sh", "bash", "zsh", "dash", "ksh", "mksh", "ash", "rbash"];

const XARGS: Spec = Spec {
    attached: "eil",
    ..prefix(
        "aEIJLnPRsd",
        &["arg-file", "delimiter", "max-lines", "max-args", "max-procs", "max-chars", "replace"],
    )
};

const fn prefix(letters: &'static str, names: &'static [&'static str]) -> Spec {
    Spec { letters, attached: "", names, operand_ends: true }
}

/// What a command runs; `None` if it runs nothing, or it is unknown.
pub fn unwrap(args: &[Arg], listing: Option<&str>) -> Option<Inner> {
    let (first, given) = args.split_first()?;
    let name = name_of(first)?;
    static PREFIX_OF: LazyLock<ByName<Prefix>> = LazyLock::new(|| by_name(PREFIXES));
    if let Some((second, spec, own)) = PREFIX_OF.get(name) {
        let given = match given.split_first() {
            _ if second.is_empty() => given,
            Some((first, rest)) if first.value == *second => rest,
            _ => return None,
        };
        return prefixed(name, given, spec, *own);
    }
    if SHELLS.contains(&name) {
        return shell(given);
    }
    match name {
        "eval" => Some(joined(given)),
        "trap" => given.first().filter(|arg| arg.value != "-").map(script),
        "xargs" | "gxargs" => xargs(given, listing),
        "parallel" => parallel(given),
        "watch" => Some(joined(&given[parse(given, &prefix("n", &["interval"])).rest..])),
        "su" | "runuser" => by_option(given).or_else(|| user(given)),
        "script" => by_option(given),
        "find" | "gfind" => find(given, &["-exec", "-execdir", "-ok", "-okdir"], false),
        "fd" | "fdfind" => find(given, &["-x", "--exec", "-X", "--exec-batch"], true),
        _ => None,
    }
}

fn script(arg: &Arg) -> Inner {
    joined(std::slice::from_ref(arg))
}

/// Words that a command joins with spaces and runs as a script.
fn joined(words: &[Arg]) -> Inner {
    let is_end = |word: &Arg| word.value == "--";
    let words = &words[usize::from(words.first().is_some_and(is_end))..];
    let texts: Vec<_> = words.iter().map(|word| word.value.as_str()).collect();
    let letters = if let [only] = words { only.letters } else { None };
    Inner::Script(Arg {
        value: texts.join(" "),
        is_static: words.iter().all(|word| word.is_static),
        span: whole(words),
        letters,
        sources: Vec::new(),
    })
}

fn prefixed(name: &str, given: &[Arg], spec: &Spec, own: usize) -> Option<Inner> {
    // `env -S 'cat f'` splits its value into words.
    let split_at = |arg: &Arg| matches!(arg.value.as_str(), "-S" | "--split-string");
    if let Some(at) = given.iter().position(split_at).filter(|_| name == "env") {
        return Some(joined(given.get(at + 1..)?));
    }
    let parsed = parse(given, spec);
    // `command -v cat` only looks up the command.
    if name == "command" && parsed.has(&["v", "V"]) {
        return None;
    }
    let operands = given.get(parsed.rest + own..)?;
    if name == "flock" && operands.first().is_some_and(|arg| arg.value == "-c") {
        return operands.get(1).map(script);
    }
    let takes_assignments = matches!(name, "env" | "sudo" | "doas");
    let assigned = operands.iter().take_while(|arg| takes_assignments && is_assignment(&arg.value));
    let command = &operands[assigned.count()..];
    (!command.is_empty()).then(|| Inner::Command(command.to_vec()))
}

fn shell(given: &[Arg]) -> Option<Inner> {
    let parsed = parse(given, &prefix("oO", &["rcfile", "init-file"]));
    let first = parsed.operands.first();
    if parsed.has(&["c"]) {
        return first.copied().map(script);
    }
    let is_input = |arg: &&Arg| matches!(arg.value.as_str(), "-" | "/dev/stdin");
    (parsed.has(&["s"]) || first.is_none_or(is_input)).then_some(Inner::StandardInput)
}

/// The command that `xargs` runs. The names that `xargs` appends or inserts are unknown, but are in
/// the directory `listing`, if it is given.
fn xargs(given: &[Arg], listing: Option<&str>) -> Option<Inner> {
    let parsed = parse(given, &XARGS);
    let command = given.get(parsed.rest..)?;
    match parsed.values(&["I", "replace"]).next().filter(|mark| !mark.is_empty()) {
        Some(mark) => {
            let (name, mut room) = (unknown_name(listing), FILLED_LIMIT_BYTES);
            Some(Inner::Commands(vec![filled(command, mark, &name, &mut room)]))
        }
        None => with_unknown(command, listing),
    }
}

/// A command with an unknown name appended.
fn with_unknown(command: &[Arg], directory: Option<&str>) -> Option<Inner> {
    let last = command.last()?;
    Some(Inner::Commands(vec![[command, &[Arg::unknown(last.span, directory)]].concat()]))
}

/// The limit on the total size of words into which one command inserts names; words beyond it are
/// unknown.
const FILLED_LIMIT_BYTES: usize = 64 * 1024;

/// Replaces a mark in words by a name. Subtracts the size of the words from `room`.
fn filled(words: &[Arg], mark: &str, name: &str, room: &mut usize) -> Vec<Arg> {
    let fill = |arg: &Arg| {
        let marks = arg.value.matches(mark).count();
        if marks == 0 {
            return arg.clone();
        }
        let Some(left) = room.checked_sub(arg.value.len() + marks * name.len()) else {
            return Arg::unknown(arg.span, None);
        };
        *room = left;
        // A script that contains the mark is still a known script.
        let is_static = arg.value.contains(' ') && arg.is_static;
        let value = arg.value.replace(mark, name);
        #[cfg(test)]
        super::steps::count(value.len());
        Arg { value, is_static, letters: None, ..arg.clone() }
    };
    words.iter().map(fill).collect()
}

fn parallel(given: &[Arg]) -> Option<Inner> {
    let spec = Spec { letters: "jaINnSdP", names: &["jobs", "arg-file", "joblog"], ..XARGS };
    let is_source = |arg: &Arg| matches!(arg.value.as_str(), ":::" | "::::" | ":::+");
    let end = given.iter().position(is_source).unwrap_or(given.len());
    let command = given.get(parse(given, &spec).rest..end)?;
    match command {
        [only] if only.value.contains(' ') => Some(script(only)),
        _ => with_unknown(command, None),
    }
}

const USER: Spec = Spec { operand_ends: false, ..prefix("cgGsuw", &["command", "shell", "user"]) };

/// The command in an option of `su` and similar commands.
fn by_option(given: &[Arg]) -> Option<Inner> {
    parse(given, &USER).word(&["c", "command"]).map(|text| script(&text))
}

/// `runuser -u name -- command`
fn user(given: &[Arg]) -> Option<Inner> {
    let rest = given.get(parse(given, &Spec { operand_ends: true, ..USER }).rest..)?;
    (rest.len() > 1).then(|| Inner::Command(rest.to_vec()))
}

/// The commands that `find` and `fd` run, with names below the start directory. `adds` says whether
/// a name is appended if there is no mark; then the first operand is a pattern.
fn find(given: &[Arg], runs: &[&str], adds: bool) -> Option<Inner> {
    const MARK: &str = "{}";
    let runs = |arg: &Arg| runs.contains(&arg.value.as_str());
    let own = given.iter().take_while(|arg| !runs(arg)).map(|arg| arg.value.as_str());
    let start = own.filter(|value| !value.starts_with(['-', '(', '!'])).nth(usize::from(adds));
    let start = start.or(Some("."));
    let (name, mut room) = (unknown_name(start), FILLED_LIMIT_BYTES);
    let mut commands = Vec::new();
    let mut rest = given;
    while let Some(at) = rest.iter().position(runs) {
        rest = &rest[at + 1..];
        // Stop at the end of this command, regardless of how many follow.
        let is = |at: usize, text: &str| rest.get(at).is_some_and(|arg| arg.value == text);
        let is_end = |at: &usize| is(*at, ";") || (is(*at, "+") && is(at.wrapping_sub(1), MARK));
        let end = (0..rest.len()).find(is_end).unwrap_or(rest.len());
        #[cfg(test)]
        super::steps::count(end);
        let mut words = rest[..end].to_vec();
        if adds && !words.iter().any(|arg| arg.value.contains('{')) {
            let mark = |last: &Arg| Arg { value: MARK.to_owned(), ..Arg::unknown(last.span, None) };
            words.extend(words.last().map(mark));
        }
        commands.push(filled(&words, MARK, &name, &mut room));
        rest = &rest[end..];
    }
    (!commands.is_empty()).then_some(Inner::Commands(commands))
}

/// The subcommand of `git` and its arguments.
pub fn git(given: &[Arg]) -> Option<(&str, Parsed<'_>)> {
    let spec = prefix("Cc", &["git-dir", "work-tree", "namespace", "exec-path"]);
    let rest = parse(given, &spec).rest;
    let (subcommand, rest) = given.get(rest..)?.split_first()?;
    Some((subcommand.value.as_str(), parse(rest, &Spec::default())))
}
