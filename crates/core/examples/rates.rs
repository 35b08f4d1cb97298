//! Measures how long it takes to find the newlines of a text and to hash all its lines,
//! alternately; `npm run bench` compares the two. `rates ROUNDS FILE...` prints an object of
//! nanoseconds for each file.

#[allow(dead_code, missing_docs, reason = "shared with other examples")]
#[path = "support/stage.rs"]
mod stage;

use std::hint::black_box;
use std::time::Instant;

use hashline_lines::dialect::Dialect;
use hashline_lines::simd::Level;
use serde_json::{Map, Value, json};

fn main() {
    let mut arguments = std::env::args().skip(1);
    let rounds = arguments.next().and_then(|text| text.parse().ok()).expect("a number of rounds");
    let mut out = Map::new();
    for path in arguments {
        let text = std::fs::read(&path).expect("a file that can be read");
        out.insert(path, rates(&text, rounds));
    }
    #[allow(clippy::print_stdout, reason = "the figures are what this is run for")]
    {
        println!("{}", Value::Object(out));
    }
}

/// The times of the scan and of each level, by name, and the name of the best level.
fn rates(text: &[u8], rounds: u32) -> Value {
    let mut scan = Vec::new();
    let mut levels: Vec<(Level, Vec<u64>)> =
        Level::available().map(|level| (level, Vec::new())).collect();
    for round in 0..rounds {
        let mut find = || scan.push(time(|| find_newlines(text)));
        // Wide vectors can slow down the code after them, so the order alternates.
        if round % 2 == 0 {
            find();
        }
        for (level, times) in &mut levels {
            times.push(time(|| stage::hash(Dialect::default_dialect(), *level, black_box(text))));
        }
        if round % 2 == 1 {
            find();
        }
        levels.reverse();
    }
    let mut out = json!({"scan": scan, "best": Level::best().name()});
    for (level, times) in levels {
        out[level.name()] = times.into();
    }
    out
}

fn time(work: impl Fn() -> u64) -> u64 {
    let started = Instant::now();
    black_box(work());
    started.elapsed().as_nanos() as u64
}

fn find_newlines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', black_box(text)).fold(0, |sum, at| sum.wrapping_add(at as u64))
}
