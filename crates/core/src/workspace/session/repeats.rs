//! Calls that are sent again and again though they change nothing: models do that, and only an
//! answer that says so ends it.

use parking_lot::Mutex;
use std::fmt::{self, Write};
use std::hash::{DefaultHasher, Hash, Hasher};

use crate::edit::apply::PatchOptions;
use crate::edit::outcome::{Noop, Outcome};
use crate::edit::request::Patch;
use hashline_base::error::Code;
use hashline_lines::rows::one_line;

/// The answer says so from this many equal calls in a row.
const TIMES: u32 = 3;

/// The most places that it names.
const PLACES_LIMIT: usize = 3;

/// The last call of a session, if it changed nothing, and how many times in a row it was sent.
#[derive(Default)]
pub struct Repeats(Mutex<Option<(u64, u32)>>);

impl Repeats {
    /// Notes a call that changed nothing; returns how many times in a row it was sent.
    fn note_idle(&self, call: u64) -> u32 {
        let mut last = self.0.lock();
        let times = last.filter(|&(last, _)| last == call).map_or(0, |(_, times)| times) + 1;
        *last = Some((call, times));
        times
    }

    /// Notes any other call.
    pub fn note_other(&self) {
        *self.0.lock() = None;
    }

    /// Notes a patch. If it changes nothing and was sent several times in a row, the answer says so.
    pub fn note_patch(&self, patch: &Patch, options: &PatchOptions, outcome: &mut Outcome) {
        match idle_call(patch, options, outcome) {
            Some(call) => say_times(outcome, self.note_idle(call)),
            None => self.note_other(),
        }
    }
}

/// Hashes what is written to it.
struct HashOfText(DefaultHasher);

impl Write for HashOfText {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        self.0.write(text.as_bytes());
        Ok(())
    }
}

/// Identifies a call that changed nothing by its patch and how it was refused. `None` if
/// it changed something, and for refusals after which the same call may be what helps.
fn idle_call(patch: &Patch, options: &PatchOptions, outcome: &Outcome) -> Option<u64> {
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
    let mut hasher = HashOfText(DefaultHasher::new());
    (code, options.dry_run).hash(&mut hasher.0);
    write!(hasher, "{patch:?}").ok()?;
    Some(hasher.0.finish())
}

/// Adds to an answer how many times in a row its call was sent.
fn say_times(outcome: &mut Outcome, times: u32) {
    if times < TIMES {
        return;
    }
    match outcome {
        Outcome::Applied(applied) => {
            let note = unchanged(&applied.noops, times);
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

fn unchanged(noops: &[Noop], times: u32) -> String {
    let mut files: Vec<(&str, Vec<String>)> = Vec::new();
    for Noop { path, line, .. } in noops.iter().take(PLACES_LIMIT) {
        let at = files.iter().position(|(known, _)| known == path).unwrap_or_else(|| {
            files.push((path, Vec::new()));
            files.len() - 1
        });
        files[at].1.extend(line.map(|line| line.to_string()));
    }
    let place = |(path, lines): &(&str, Vec<String>)| {
        let at = match lines.len() {
            0 => "",
            1 => " in line ",
            _ => " in lines ",
        };
        format!("{} already has this text{at}{}", one_line(path), lines.join(" and "))
    };
    let places: Vec<String> = files.iter().map(place).collect();
    let more = if noops.len() > PLACES_LIMIT { ", and more" } else { "" };
    let read = one_line(files.first().map_or("", |(path, _)| path));
    format!(
        "You sent this call {times} times in a row, and it changes nothing: {}{more}. Do not send it again: continue, or read {read} if you expected different text.",
        places.join(", ")
    )
}
