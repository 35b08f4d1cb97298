//! What the model is told: what a command does, and the call to make instead.

use super::hit::{Hit, Wish};
use super::policy::{Policy, Tools};
use super::{CommandRule, FindingKind};

/// The longest path or pattern that stands in a call; a longer one the model has to write itself.
const ARGUMENT_LIMIT_BYTES: usize = 200;

/// From this many lines on a count is as good as none.
const COUNT_LIMIT: u64 = 1_000_000;

/// The message of a finding; `path` is the file as the tools take it.
pub fn message(policy: &Policy, hit: &Hit, path: Option<&str>, command: &str) -> String {
    let named = format!("`{command}`");
    let who = if command.is_empty() { "This redirection" } else { &named };
    let target = hit.target.as_deref().map(|target| format!("`{}`", shortened(target)));
    let what = target.as_deref().unwrap_or("files");
    let Tools { read, search, edit } = &policy.tools;
    let (does, tool, how) = match (hit.kind, hit.rule) {
        (_, CommandRule::Search) => ("searches", search, "whose matches have anchors"),
        (FindingKind::Read, _) => ("reads", read, "which shows lines with anchors"),
        (FindingKind::Write, CommandRule::Patch) => {
            ("applies a patch to", edit, "with an operation for each change")
        }
        (FindingKind::Write, CommandRule::FileCommand) => {
            ("changes", edit, "with an operation on the whole file")
        }
        (FindingKind::Write, CommandRule::InPlace) => {
            ("changes", edit, "with `replace_text` or an edit by anchors")
        }
        (FindingKind::Write, _) => (
            "writes",
            edit,
            "with `add_file` for a new file, else `replace_text` or an edit by anchors",
        ),
    };
    let said = match hit.rule {
        CommandRule::Interpreter => format!("Code for {who} {does} {what}"),
        CommandRule::Output if !command.is_empty() => {
            format!("The output of {who} is written to {what}")
        }
        _ => format!("{who} {does} {what}"),
    };
    let call = if hit.kind == FindingKind::Read { call(tool, hit, path) } else { None };
    let call = call.map_or_else(String::new, |call| format!(": `{call}`"));
    format!("{said}: use the tool `{tool}` instead, {how}{call}.")
}

/// A tool with what it is to be called with, if that is known. A name with blanks is that of a
/// program and its command.
fn call(tool: &str, hit: &Hit, path: Option<&str>) -> Option<String> {
    // Of several files that are searched one alone would be too few.
    let is_one = !hit.has_more || !matches!(hit.wish, Wish::Pattern(_));
    let path = path.filter(|path| is_plain(path) && is_one);
    let mut fields = Vec::new();
    let mut words = Vec::new();
    if let Wish::Pattern(pattern) = &hit.wish {
        if !is_argument(pattern) {
            return None;
        }
        fields.push(format!("\"pattern\":{}", quoted(pattern)));
        words.push(format!("'{pattern}'"));
        fields.extend(path.map(|path| format!("\"paths\":[{}]", quoted(path))));
    } else {
        fields.extend(path.map(|path| format!("\"path\":{}", quoted(path))));
    }
    words.extend(
        path.map(|path| if path.contains(' ') { format!("'{path}'") } else { path.to_owned() }),
    );
    if let (Wish::Lines(start, count), true) = (&hit.wish, path.is_some()) {
        if *start > 1 {
            fields.push(format!("\"start_line\":{start}"));
            words.push(format!("--start-line {start}"));
        }
        if let Some(count) = count.filter(|count| *count < COUNT_LIMIT) {
            fields.push(format!("\"max_lines\":{count}"));
            words.push(format!("--lines {count}"));
        }
    }
    if fields.is_empty() {
        return None;
    }
    let is_program = tool.contains(' ');
    Some(if is_program {
        format!("{tool} {}", words.join(" "))
    } else {
        format!("{tool} {{{}}}", fields.join(","))
    })
}

/// Whether a text is short, and may stand in quotes and in the message.
fn is_argument(text: &str) -> bool {
    let is_short = !text.is_empty() && text.len() <= ARGUMENT_LIMIT_BYTES;
    is_short && !text.contains(['\'', '`']) && !text.chars().any(char::is_control)
}

/// Whether a path is one, and no pattern or variable.
fn is_plain(path: &str) -> bool {
    is_argument(path) && !path.contains(['"', '\\', '$', '*', '?', '[', '{'])
}

/// A text as JSON has it.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// A target as a message shows it.
fn shortened(target: &str) -> String {
    const LIMIT_CHARS: usize = 80;
    match target.char_indices().nth(LIMIT_CHARS) {
        Some((end, _)) => format!("{}…", &target[..end]),
        None => target.to_owned(),
    }
}
