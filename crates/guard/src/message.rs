//! The message for the model: the effect of a command, and the call to use instead.

use super::access::{Access, Request};
use super::policy::{Policy, Tools};
use super::{CommandRule, FindingKind};

/// The limit on a path or pattern in a call. If it is longer, the call is not spelled out.
const ARGUMENT_LIMIT_BYTES: usize = 200;

/// A count of this many lines or more is omitted.
const COUNT_LIMIT: u64 = 1_000_000;

/// The message of a finding; `path` is the file as the tools expect it.
pub fn message(policy: &Policy, access: &Access, path: Option<&str>, command: &str) -> String {
    let named = format!("`{command}`");
    let who = if command.is_empty() { "This redirection" } else { &named };
    let target = access.target.as_deref().map(|target| format!("`{}`", shortened(target)));
    let what = target.as_deref().unwrap_or("files");
    let Tools { read, search, edit } = &policy.tools;
    let (does, tool, how) = match (access.kind, access.rule) {
        (_, CommandRule::Search) => ("searches", search, "whose matches have anchors"),
        (FindingKind::Read, _) => ("reads", read, "which shows lines with anchors"),
        (_, CommandRule::Patch) => {
            ("applies a patch to", edit, "with an operation for each change")
        }
        (_, CommandRule::FileCommand) => ("changes", edit, "with an operation on the whole file"),
        (_, CommandRule::InPlace) => ("changes", edit, "with `replace_text` or an edit by anchors"),
        _ => (
            "writes",
            edit,
            "with `add_file` for a new file, else `replace_text` or an edit by anchors",
        ),
    };
    let said = match access.rule {
        CommandRule::Interpreter => format!("Code for {who} {does} {what}"),
        CommandRule::Output if !command.is_empty() => {
            format!("The output of {who} is written to {what}")
        }
        _ => format!("{who} {does} {what}"),
    };
    let call = if access.kind == FindingKind::Read { call(tool, access, path) } else { None };
    let call = call.map_or_else(String::new, |call| format!(": `{call}`"));
    format!("{said}: use the tool `{tool}` instead, {how}{call}.")
}

/// A tool with its arguments, if they are known. A tool name with spaces is a program with its
/// command.
fn call(tool: &str, access: &Access, path: Option<&str>) -> Option<String> {
    // For a search of several files, a single one would be too few.
    let is_one = !access.has_more || !matches!(access.request, Request::Pattern(_));
    let path = path.filter(|path| is_plain(path) && is_one);
    let pattern =
        if let Request::Pattern(pattern) = &access.request { Some(pattern) } else { None };
    if pattern.is_some_and(|pattern| !is_argument(pattern)) {
        return None;
    }
    // Each as a JSON field, and as words of a command line.
    let mut given = Vec::new();
    given
        .extend(pattern.map(|text| (format!("\"pattern\":{}", quoted(text)), format!("'{text}'"))));
    given.extend(path.map(|path| match quoted(path) {
        json if pattern.is_some() => (format!("\"paths\":[{json}]"), word(path)),
        json => (format!("\"path\":{json}"), word(path)),
    }));
    if let (Request::Lines(start, count), Some(_)) = (&access.request, path) {
        let start = Some(start).filter(|start| **start > 1);
        let count = count.filter(|count| *count < COUNT_LIMIT);
        given.extend(start.map(|n| (format!("\"start_line\":{n}"), format!("--start-line {n}"))));
        given.extend(count.map(|n| (format!("\"max_lines\":{n}"), format!("--lines {n}"))));
    }
    let (fields, words): (Vec<_>, Vec<_>) = given.into_iter().unzip();
    let json = || format!("{tool} {{{}}}", fields.join(","));
    let line = || format!("{tool} {}", words.join(" "));
    (!words.is_empty()).then(|| if tool.contains(' ') { line() } else { json() })
}

fn word(path: &str) -> String {
    if path.contains(' ') { format!("'{path}'") } else { path.to_owned() }
}

/// Whether a text is short, and can be quoted in the message.
fn is_argument(text: &str) -> bool {
    let is_short = !text.is_empty() && text.len() <= ARGUMENT_LIMIT_BYTES;
    is_short && !text.contains(['\'', '`']) && !text.chars().any(char::is_control)
}

/// Whether a path is literal, not a pattern or a variable.
fn is_plain(path: &str) -> bool {
    is_argument(path) && !path.contains(['"', '\\', '$', '*', '?', '[', '{'])
}

/// A text as a JSON string.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A target, shortened for a message.
fn shortened(target: &str) -> String {
    const LIMIT_CHARS: usize = 80;
    match target.char_indices().nth(LIMIT_CHARS) {
        Some((end, _)) => format!("{}…", &target[..end]),
        None => target.to_owned(),
    }
}
