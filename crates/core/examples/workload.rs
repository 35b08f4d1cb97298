//! Runs one stage of a read once, on a fixed text; `npm run bench -- instructions` counts its
//! instructions. The stage `none` only generates the text; the script subtracts it.
//!
//! `workload STAGE LEVEL TEXT`, or `workload --list` for all combinations, one per line.

#[allow(dead_code, missing_docs, reason = "shared with other examples")]
#[path = "support/corpus.rs"]
mod corpus;
#[path = "support/stage.rs"]
#[allow(missing_docs, reason = "shared with other examples")]
mod stage;

use std::hint::black_box;
use std::io::Write;

use hashline_core::format_hashed;
use hashline_lines::dialect::Dialect;
use hashline_lines::simd::Level;
use stage::{hash, hash_one_by_one};

const SIZE_BYTES: usize = 1 << 20;

const STAGES: [&str; 4] = ["none", "hash", "hash_one_by_one", "render"];
const TEXTS: [&str; 4] = ["ascii", "cyrillic", "chinese", "one_long_line"];

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["--list"] => list(),
        [stage, level, text] => run(stage, level, text),
        _ => panic!("workload STAGE LEVEL TEXT, or workload --list"),
    }
}

/// Prints every combination that this processor can run. Only hashing depends on the level.
fn list() {
    let mut out = std::io::stdout().lock();
    for text in TEXTS {
        for stage in STAGES {
            for level in
                Level::available().filter(|&level| stage == "hash" || level == Level::best())
            {
                writeln!(out, "{stage} {} {text}", level.name()).expect("someone reads the list");
            }
        }
    }
}

fn run(stage: &str, level: &str, text: &str) {
    let level = Level::ALL.into_iter().find(|known| known.name() == level).expect("a level");
    let text = match text {
        "ascii" => corpus::ascii(SIZE_BYTES),
        "cyrillic" => corpus::cyrillic(SIZE_BYTES),
        "chinese" => corpus::chinese(SIZE_BYTES),
        "one_long_line" => corpus::one_long_line(SIZE_BYTES),
        other => panic!("{other:?} is not a text"),
    };
    let dialect = Dialect::default_dialect();
    let bytes = black_box(text.as_bytes());
    match stage {
        "none" => {}
        "hash" => {
            black_box(hash(dialect, level, bytes));
        }
        "hash_one_by_one" => {
            black_box(hash_one_by_one(dialect, bytes));
        }
        "render" => {
            black_box(format_hashed(dialect, bytes, 1));
        }
        other => panic!("{other:?} is not a stage"),
    }
}
