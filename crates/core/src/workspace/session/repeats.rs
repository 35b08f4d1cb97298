//! Detects a call that is repeated although it changes nothing. Models do that, and stop only when
//! an answer says so.

use parking_lot::Mutex;
use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::edit::apply::PatchOptions;
use crate::edit::outcome::{Noop, Outcome};
use crate::edit::request::Patch;
use hashline_base::error::Code;
use hashline_lines::rows::one_line;

/// The number of equal calls in a row from which the answer has a note.
const REPEATS_BEFORE_NOTE: u32 = 3;

/// The maximum number of lines that the note lists.
const MAX_LISTED_LINES: usize = 3;

/// The last call of a session if it changed nothing, and how often it was sent in a row.
#[derive(Default)]
pub struct Repeats(Mutex<Option<(u64, u32)>>);

impl Repeats {
    /// Records a call that changed nothing; returns how often it was sent in a row.
    fn note_unchanged(&self, call: u64) -> u32 {
        let mut last = self.0.lock();
        let times = last.filter(|&(last, _)| last == call).map_or(0, |(_, times)| times) + 1;
        *last = Some((call, times));
        times
    }

    /// Records any other call.
    pub fn note_other(&self) {
        *self.0.lock() = None;
    }

    /// Records a patch. If it changed nothing and was repeated, adds a note to the answer.
    pub fn note_patch(&self, patch: &Patch, options: &PatchOptions, outcome: &mut Outcome) {
        match unchanged_call(patch, options, outcome) {
            Some(call) => add_repeat_note(outcome, self.note_unchanged(call)),
            None => self.note_other(),
        }
    }
}

/// Hashes formatted text.
struct TextHasher(DefaultHasher);

impl Write for TextHasher {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

/// Identifies a call that changed nothing, by its patch and error code. `None` if it changed
/// something, or if sending the same call again can succeed.
fn unchanged_call(patch: &Patch, options: &PatchOptions, outcome: &Outcome) -> Option<u64> {
    let code = match outcome {
        Outcome::Applied(applied) if applied.files.is_empty() && !applied.noops.is_empty() => "",
        Outcome::Applied(_) => return None,
        Outcome::Rejected(rejected) => match rejected.code {
            Code::ConcurrentChange
            | Code::LockTimeout
            | Code::NoSpace
            | Code::Io
            | Code::Internal => return None,
            code => code.as_str(),
        },
    };
    let mut hasher = TextHasher(DefaultHasher::new());
    (code, options.dry_run).hash(&mut hasher.0);
    write!(hasher, "{patch:?}").ok()?;
    Some(hasher.0.finish())
}

/// Adds a note to the answer if the call was repeated.
fn add_repeat_note(outcome: &mut Outcome, times: u32) {
    if times < REPEATS_BEFORE_NOTE {
        return;
    }
    match outcome {
        Outcome::Applied(applied) => {
            let note = unchanged_note(&applied.noops, times);
            applied.text += &format!("\n{note}");
            applied.stop = Some(note);
        }
        Outcome::Rejected(rejected) => {
            let code = rejected.code.as_str();
            rejected.text += &format!(
                "\nYou sent this call {times} times in a row, and each was refused with {code}. Do not send it again: change it as described here."
            );
        }
    }
}

fn unchanged_note(noops: &[Noop], times: u32) -> String {
    let mut files: Vec<(&str, Vec<String>)> = Vec::new();
    for Noop { path, line, .. } in noops.iter().take(MAX_LISTED_LINES) {
        let at = files.iter().position(|(known, _)| known == path).unwrap_or_else(|| {
            files.push((path, Vec::new()));
            files.len() - 1
        });
        files[at].1.extend(line.map(|line| line.to_string()));
    }
    let describe = |(path, lines): &(&str, Vec<String>)| {
        let at = match lines.len() {
            0 => "",
            1 => " in line ",
            _ => " in lines ",
        };
        format!("{} already has this text{at}{}", one_line(path), lines.join(" and "))
    };
    let descriptions: Vec<String> = files.iter().map(describe).collect();
    let more = if noops.len() > MAX_LISTED_LINES { ", and more" } else { "" };
    let read = one_line(files.first().map_or("", |(path, _)| path));
    format!(
        "You sent this call {times} times in a row, and it changes nothing: {}{more}. Do not send it again: continue, or read {read} if you expected different text.",
        descriptions.join(", ")
    )
}
