//! How long it takes to find the newlines of a text, and to hash all its lines, by turns: what
//! `npm run bench` compares. `rates ROUNDS FILE...` prints an object of nanoseconds for each file.

use std::hint::black_box;
use std::time::Instant;

use hashline_core::dialect::Dialect;
use hashline_core::hash::BlockHasher;
use hashline_core::simd::Level;
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
        portable.push(time(|| hash_lines(text, Level::Portable)));
        best.push(time(|| hash_lines(text, Level::best())));
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

fn hash_lines(text: &[u8], level: Level) -> u64 {
    let mut hasher = BlockHasher::with_level(Dialect::default_dialect(), level);
    let (mut rest, mut number, mut sum) = (black_box(text), 1, 0);
    while !rest.is_empty() {
        let block = hasher.hash_block(number, rest);
        sum = block.hashes.iter().fold(sum, |sum: u64, &hash| sum.wrapping_add(u64::from(hash)));
        number += block.hashes.len() as u64;
        rest = &rest[block.len_bytes()..];
    }
    sum
}
