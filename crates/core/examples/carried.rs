//! How often anchors of an older text are found in a newer one, and rightly.
//!
//! ```text
//! cargo run --release -p hashline-core --example carried -- cases.jsonl
//! ```
//!
//! Each line of the file is a case, as `npm run misplacement -- --dump` writes them: `old` was
//! shown whole, `current` is the file now, and `operations` (line numbers of `old`) must make
//! `truth` of it.

#![allow(clippy::print_stdout, reason = "the output of a program")]

use std::error::Error;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::{Duration, Instant};

use hashline_core::Cancel;
use hashline_core::internals::edit::resolve::Spot;
use hashline_core::internals::edit::session::{Found, Locator, Target, Unseen};
use hashline_core::internals::memory::{Body, LineSet, Memory, MemoryLimits, Showing, Version};
use hashline_core::internals::text::dialect::Dialect;
use hashline_core::internals::text::hash::hash_line;
use hashline_core::internals::text::lines::{LineIndex, Unit};
use hashline_core::internals::view::anchor::Anchor;
use serde::Deserialize;

#[derive(Deserialize)]
struct Case {
    old: String,
    current: String,
    truth: String,
    operations: Vec<Operation>,
    scenario: String,
    source: String,
    change: String,
    path: String,
}

#[derive(Deserialize)]
struct Operation {
    first: Option<u32>,
    last: Option<u32>,
    after: Option<u32>,
    lines: Vec<String>,
}

#[derive(Clone, Copy, Default)]
struct Tally {
    right: u32,
    wrong: u32,
    refused: u32,
}

impl Tally {
    fn all(&self) -> u32 {
        self.right + self.wrong + self.refused
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("name a file of cases")?;
    let is_verbose = std::env::args().any(|arg| arg == "--wrong");
    let mut halves = [Tally::default(); 2];
    let mut time = Duration::ZERO;
    for line in BufReader::new(File::open(path)?).lines() {
        let case: Case = serde_json::from_str(&line?)?;
        let start = Instant::now();
        let result = applied(&case);
        time += start.elapsed();
        // All cases of one change of a file fall into the same half.
        let key = format!("{} {} {}", case.source, case.change, case.path);
        let half = key.bytes().fold(7u32, |sum, byte| sum.wrapping_mul(31) + u32::from(byte));
        let tally = &mut halves[(half >> 9) as usize % 2];
        match result {
            Some(text) if text == case.truth => tally.right += 1,
            Some(_) => {
                tally.wrong += 1;
                if is_verbose {
                    println!("wrong: {key} ({})", case.scenario);
                }
            }
            None => tally.refused += 1,
        }
    }
    for (name, tally) in [("first half", halves[0]), ("second half", halves[1])] {
        print(name, tally);
    }
    let [one, other] = halves;
    print(
        "all",
        Tally {
            right: one.right + other.right,
            wrong: one.wrong + other.wrong,
            refused: one.refused + other.refused,
        },
    );
    println!("{:.1} µs a case", time.as_secs_f64() * 1e6 / f64::from(one.all() + other.all()));
    Ok(())
}

fn print(name: &str, tally: Tally) {
    let percent = |count: u32| 100.0 * f64::from(count) / f64::from(tally.all());
    let (low, high) = wilson(tally.wrong, tally.all());
    println!(
        "{name}: {} cases, right {:.2} %, wrong {} ({:.4} %, {low:.4} to {high:.4} %), refused {:.2} %",
        tally.all(),
        percent(tally.right),
        tally.wrong,
        percent(tally.wrong),
        percent(tally.refused),
    );
}

/// The 95 % interval of a share, in percent.
fn wilson(count: u32, all: u32) -> (f64, f64) {
    let (count, all, z) = (f64::from(count), f64::from(all), 1.959_964_f64);
    let share = count / all;
    let middle = share + z * z / (2.0 * all);
    let half = z * (share * (1.0 - share) / all + z * z / (4.0 * all * all)).sqrt();
    let scale = (1.0 + z * z / all) / 100.0;
    (((middle - half) / scale).max(0.0), (middle + half) / scale)
}

/// The current text with the operations of a case applied, unless one is refused.
fn applied(case: &Case) -> Option<String> {
    let dialect = Dialect::by_name("pi").ok()?;
    let index = |text: &str| LineIndex::new(text.as_bytes(), Unit::Byte);
    let (old_index, new_index) = (index(&case.old), index(&case.current));
    let old = Body::new(case.old.as_bytes(), &old_index);
    let file = Path::new(&case.path);
    let mut memory = Memory::new(MemoryLimits::default());
    let shown = Version::of(case.old.as_bytes(), usize::MAX);
    memory.show(file, &shown, &LineSet::of(1, old.count()).into(), Showing::Asked);
    let record = memory.record(file);
    let current = Body::new(case.current.as_bytes(), &new_index);
    let cancel = Cancel::default();
    let mut locator = Locator::new(&record, current, dialect, Unseen::Refuse, None, &cancel);
    let anchor = |line: u32| {
        let text = old.line(u64::from(line)).map(String::from_utf8_lossy).unwrap_or_default();
        Anchor::of_line(line, hash_line(dialect, u64::from(line), &text))
    };
    let mut edits = Vec::new();
    for operation in &case.operations {
        let (first, last) = match (operation.first, operation.last, operation.after) {
            (Some(first), Some(last), _) => (anchor(first), anchor(last)),
            (.., Some(0)) => {
                edits.push((0, 0, &operation.lines));
                continue;
            }
            (.., Some(after)) => (anchor(after), anchor(after)),
            _ => return None,
        };
        let target = match operation.after {
            Some(_) => Target::After(&first),
            None => Target::Range(&first, &last),
        };
        let Found::Placed(placed) = locator.locate(&target) else {
            return None;
        };
        edits.push(match placed.spot {
            Spot::Lines(first, last) => (first as usize - 1, last as usize, &operation.lines),
            Spot::Gap(gap) => (gap as usize, gap as usize, &operation.lines),
        });
    }
    edits.sort_by_key(|&(first, last, _)| (first, last));
    let ending = if case.current.contains("\r\n") { "\r\n" } else { "\n" };
    let lines: Vec<&str> = case.current.split_inclusive('\n').collect();
    let (mut text, mut at) = (String::new(), 0);
    for (first, last, new) in edits {
        if first < at {
            return None;
        }
        text.extend(lines[at..first].iter().copied());
        for line in new {
            if !text.is_empty() && !text.ends_with('\n') {
                text.push_str(ending);
            }
            text.push_str(line);
            text.push_str(ending);
        }
        at = last;
    }
    text.extend(lines[at..].iter().copied());
    if !case.current.ends_with('\n') {
        // Without final newline before, without afterwards.
        text.truncate(text.strip_suffix(ending).map_or(text.len(), str::len));
    }
    Some(text)
}
