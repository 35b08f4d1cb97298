//! Parses generated nested texts in all languages, unclosed and closed, and reports the worst: the
//! peak memory, and the processor time of a whole call (parse, first fault, outline, blocks, an
//! edit, and freeing everything). Fails if a limit is exceeded.
//!
//! `cargo run --release -p hashline-syntax --example sweep [-- LANGUAGE…]`

#![allow(clippy::print_stdout, reason = "it is a command")]

use std::alloc::{GlobalAlloc, Layout, System};
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use hashline_syntax::{Budget, LANGUAGES, Language, SOURCE_LIMIT_BYTES, Source};

/// The limit for one parse, with its text and tables.
const PARSE_LIMIT_BYTES: usize = 64 << 20;

/// The limit for one call, with a margin for a busy machine.
const CALL_LIMIT: Duration = Duration::from_millis(1_500);

/// The size of all texts at first; the worst are measured again at full size.
const SMALL_BYTES: usize = 6 << 10;

/// How many of the worst are measured at full size, by memory and by time, for each language.
const WORST: usize = 12;

struct Counting;

static HELD_BYTES: AtomicUsize = AtomicUsize::new(0);
static PEAK_BYTES: AtomicUsize = AtomicUsize::new(0);

// SAFETY: All calls are forwarded to the system allocator.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        let held = HELD_BYTES.fetch_add(layout.size(), Ordering::Relaxed) + layout.size();
        PEAK_BYTES.fetch_max(held, Ordering::Relaxed);
        // SAFETY: The caller guarantees it.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        HELD_BYTES.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: The caller guarantees it.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const PIECES: [&str; 60] = [
    "(",
    "[",
    "{",
    "<",
    "A<",
    "A<B,",
    "a(",
    "a[",
    "!",
    "~",
    "+",
    "-",
    "*",
    "&",
    "--a:",
    "a=>",
    "a?b:",
    "a=",
    "a.",
    "a,",
    "a:",
    "a ",
    "if(a)",
    "if a {",
    "else ",
    "f(a<",
    "#[a(",
    "<a>",
    "`${",
    "f\"{",
    "\"",
    "'",
    "//",
    "/*",
    "*/",
    "- ",
    "? ",
    "\n",
    "\n ",
    "}",
    ")",
    "]",
    "|a| ",
    "async ",
    "\"#{",
    "\"${",
    "$(",
    "<<A\n",
    "do ",
    "if a\n",
    "case a in ",
    "{{",
    "{%",
    "{#if a}",
    "<a b=\"",
    "= /",
    "%w[",
    "#if A\n{\n#else\n",
    "$a$",
    "--[[",
];

/// Texts between two pieces.
const SECONDS: [&str; 6] = ["", "(", "{", "a", "1,", "\n"];

fn contexts(language: &str) -> &'static [&'static str] {
    match language {
        "Java" => &["", "class A { int f() { return "],
        "Rust" => &["", "fn f() { let a = ", "type A = "],
        "Go" => &["", "package a\nfunc f() { a = "],
        "JavaScript" | "TypeScript" | "TSX" => &["", "function f() { a = ", "class A { a: "],
        "Python" => &["", "def f():\n  return "],
        "C" | "C++" | "C#" | "Dart" => &["", "int f() { return "],
        "CSS" => &["", "a { b: "],
        "JSON" | "YAML" | "TOML" => &["", "a = [", "{\"a\": "],
        "PHP" => &["", "<?php "],
        "Shell" | "Dockerfile" => &["", "RUN if a; then "],
        _ => &[""],
    }
}

struct Measured {
    peak_bytes: usize,
    /// The processor time of the call.
    time: Duration,
    nest: String,
    is_parsed: bool,
}

fn main() -> ExitCode {
    let chosen: Vec<String> = std::env::args().skip(1).collect();
    let mut is_good = true;
    for language in LANGUAGES {
        if chosen.is_empty() || chosen.iter().any(|name| name == language.name) {
            is_good &= sweep(language);
        }
    }
    if is_good { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn sweep(language: &'static Language) -> bool {
    let nests = nests(language);
    let mut small: Vec<(usize, Measured)> = nests
        .iter()
        .enumerate()
        .map(|(at, nest)| (at, measure(language, nest, SMALL_BYTES)))
        .collect();
    small.sort_by_key(|(_, one)| std::cmp::Reverse(one.peak_bytes));
    let mut worst: Vec<usize> = small.iter().take(WORST).map(|(at, _)| *at).collect();
    small.sort_by_key(|(_, one)| std::cmp::Reverse(one.time));
    worst.extend(small.iter().take(WORST).map(|(at, _)| *at));
    worst.sort_unstable();
    worst.dedup();
    let mut whole: Vec<Measured> =
        worst.iter().map(|&at| measure(language, &nests[at], SOURCE_LIMIT_BYTES)).collect();
    whole.extend(small.into_iter().map(|(_, one)| one));
    let is_good = |one: &&Measured| one.peak_bytes <= PARSE_LIMIT_BYTES && one.time <= CALL_LIMIT;
    let parsed = whole.iter().filter(|one| one.is_parsed).count();
    println!("{}: {} nests, {parsed} of them parsed", language.name, whole.len());
    let most = whole.iter().max_by_key(|one| one.peak_bytes);
    let longest = whole.iter().max_by_key(|one| one.time);
    for one in most.into_iter().chain(longest) {
        let mb = one.peak_bytes as f64 / 1e6;
        println!("  {mb:6.1} MB  {:5} ms  {}", one.time.as_millis(), one.nest);
    }
    for one in whole.iter().filter(|one| !is_good(one)) {
        println!("  ABOVE A LIMIT: {} bytes, {:?}: {}", one.peak_bytes, one.time, one.nest);
    }
    whole.iter().all(|one| is_good(&one))
}

/// The processor time of all threads.
fn processor_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

/// A context, a repeated unit, and the end.
type Nest = (&'static str, String, &'static str);

fn nests(language: &Language) -> Vec<Nest> {
    let mut nests = Vec::new();
    for &context in contexts(language.name) {
        for one in PIECES {
            for other in SECONDS {
                let ends = ["", "\n)"];
                nests.extend(ends.map(|end| (context, format!("{one}{other}"), end)));
            }
        }
    }
    nests
}

fn measure(language: &'static Language, nest: &Nest, size: usize) -> Measured {
    let (context, unit, end) = nest;
    let room = size - context.len() - end.len() - 40;
    let text = format!("{context}{}{end}", unit.repeat(room / unit.len()));
    let text = match language.name {
        "Vue" | "Svelte" => format!("<script>{text}</script>"),
        _ => text,
    };
    let length = text.len();
    let before = HELD_BYTES.load(Ordering::Relaxed);
    PEAK_BYTES.store(before, Ordering::Relaxed);
    let started = processor_time();
    // The minimum for a thread of the addon.
    let work = thread::Builder::new().stack_size(512 << 10);
    let (is_parsed, peak) = work.spawn(move || call(language, &text)).unwrap().join().unwrap();
    let time = processor_time() - started;
    let nest = format!("{context:?} {unit:?} {end:?}, {length} bytes");
    Measured { peak_bytes: peak.saturating_sub(before), time, nest, is_parsed }
}

/// Does what a call does with a file. Returns whether it was parsed, and the peak memory with one
/// tree.
fn call(language: &'static Language, text: &str) -> (bool, usize) {
    let budget = Budget::unattended();
    let source = Source::parse(language, text, &budget);
    let Some(source) = source else { return (false, PEAK_BYTES.load(Ordering::Relaxed)) };
    source.fault(&budget);
    source.outline(&budget);
    let lines = source.lines();
    for line in [1, lines / 2, lines] {
        let _ = source.block(line, &budget);
        source.enclosing(line, &budget);
    }
    let peak = PEAK_BYTES.load(Ordering::Relaxed);
    let mut changed = text.to_owned();
    changed.push(' ');
    source.reparse(&changed, &budget).ok();
    (true, peak)
}
