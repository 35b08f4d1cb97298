//! How long it takes to find the newlines of a text, and to hash all its lines, by turns: what
//! `npm run bench` compares. `rates ROUNDS FILE...` prints an object of nanoseconds for each file.

#[allow(dead_code, missing_docs, reason = "shared with the benches")]
#[path = "../benches/stage/mod.rs"]
mod stage;

use std::hint::black_box;
use std::time::Instant;

use hashline_core::internals::text::dialect::Dialect;
use hashline_core::internals::text::simd::Level;
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

fn rates(text: &[u8], rounds: u32) -> Value {
    let (mut scan, mut portable, mut best) = (Vec::new(), Vec::new(), Vec::new());
    for _ in 0..rounds {
        scan.push(time(|| find_newlines(text)));
        portable.push(time(|| {
            stage::hash(Dialect::default_dialect(), Level::Portable, black_box(text))
        }));
        best.push(time(|| stage::hash(Dialect::default_dialect(), Level::best(), black_box(text))));
    }
    json!({"scan": scan, "portable": portable, "best": best, "level": Level::best().name()})
}

fn time(work: impl Fn() -> u64) -> u64 {
    let started = Instant::now();
    black_box(work());
    started.elapsed().as_nanos() as u64
}

fn find_newlines(text: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', black_box(text)).fold(0, |sum, at| sum.wrapping_add(at as u64))
}
