//! The stages of a read, each alone and all together, in bytes per second.
//!
//! `cargo bench -p hashline-core --bench stages`, with a part of a name to measure only some.
//! A scan for newlines is the yardstick: what it takes is the least that any reader of lines
//! can take.

#[allow(missing_docs, reason = "shared with the example that counts instructions")]
mod corpus;
#[allow(missing_docs, reason = "shared with the examples")]
mod stage;

use std::hint::black_box;
use std::path::Path;

use criterion::measurement::WallTime;
use criterion::{BenchmarkGroup, Criterion, Throughput, criterion_group, criterion_main};
use hashline_core::internals::cancel::Cancel;
use hashline_core::internals::disk::fs::OsFileSystem;
use hashline_core::internals::text::dialect::Dialect;
use hashline_core::internals::text::normalize::compact::{CHUNK_LIMIT_BYTES, Compacted, Compactor};
use hashline_core::internals::text::simd::Level;
use hashline_core::internals::view::read::ReadRequest;
use hashline_core::internals::view::render::format_hashed;
use hashline_core::internals::workspace::{Workspace, WorkspaceOptions};
use stage::{hash, hash_one_by_one};

const SIZE_BYTES: usize = 8 << 20;

/// A real program, where the packages for development are installed.
const TYPESCRIPT: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../node_modules/@napi-rs/cli/node_modules/typescript/lib/typescript.js"
);

fn stages(criterion: &mut Criterion) {
    measure(criterion, "ascii", &corpus::ascii(SIZE_BYTES));
    measure(criterion, "cyrillic", &corpus::cyrillic(SIZE_BYTES));
    measure(criterion, "chinese", &corpus::chinese(SIZE_BYTES));
    measure(criterion, "one_long_line", &corpus::one_long_line(SIZE_BYTES));
    match std::fs::read_to_string(Path::new(TYPESCRIPT)) {
        Ok(text) => measure(criterion, "typescript", &text),
        Err(cause) => eprintln!("typescript: skipped, {TYPESCRIPT}: {cause}"),
    }
}

fn measure(criterion: &mut Criterion, name: &str, text: &str) {
    let mut group = criterion.benchmark_group(name);
    group.throughput(Throughput::Bytes(text.len() as u64));
    group.sample_size(20);
    let dialect = Dialect::default_dialect();
    let bytes = text.as_bytes();
    group.bench_function("newlines", |bencher| {
        bencher.iter(|| memchr::memchr_iter(b'\n', black_box(bytes)).fold(0, usize::wrapping_add));
    });
    for level in Level::available() {
        let name = level.name();
        group.bench_function(format!("normalize/{name}"), |bencher| {
            bencher.iter(|| normalize(dialect, level, black_box(bytes)));
        });
        group.bench_function(format!("hash/{name}"), |bencher| {
            bencher.iter(|| hash(dialect, level, black_box(bytes)));
        });
    }
    group.bench_function("hash/one_by_one", |bencher| {
        bencher.iter(|| hash_one_by_one(dialect, black_box(bytes)));
    });
    group.bench_function("render", |bencher| {
        bencher.iter(|| format_hashed(dialect, black_box(bytes), 1));
    });
    measure_view(&mut group, text);
    group.finish();
}

/// A view of the whole file.
fn measure_view(group: &mut BenchmarkGroup<'_, WallTime>, text: &str) {
    let file = tempfile::NamedTempFile::new().expect("a temporary file");
    std::fs::write(file.path(), text).expect("the text is written");
    let path = file.path().to_str().expect("a path in UTF-8").to_owned();
    let requests = [ReadRequest { path, ..ReadRequest::default() }];
    let options = WorkspaceOptions::unbounded();
    group.bench_function("view", |bencher| {
        bencher.iter(|| Workspace::on(&OsFileSystem, &options).read(&requests, &Cancel::default()));
    });
}

/// Normalizes all lines, some at a time, as hashing does.
fn normalize(dialect: &'static Dialect, level: Level, bytes: &[u8]) -> usize {
    let compactor = Compactor::of_lines(&dialect.normalization, level);
    let mut compacted = Compacted::default();
    bytes.chunks(CHUNK_LIMIT_BYTES).fold(0, |sum, chunk| {
        compactor.compact(chunk, &mut compacted);
        sum + compacted.bytes().len()
    })
}

criterion_group!(benches, stages);
criterion_main!(benches);
