//! No text makes a parse use more than 64 MB. The only test of its process, so that the counting
//! allocator measures nothing else.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};

use hashline_syntax::{Budget, LANGUAGES, Language, SYMBOLS_LIMIT_BYTES, Source, language_of};

const PARSE_LIMIT_BYTES: usize = 64 << 20;

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

/// The peak memory during one parse. Checks that all of it is freed afterwards.
fn peak_bytes(language: &'static Language, text: &str) -> usize {
    let name = language.name;
    let parse = |text| Source::parse_for_symbols(language, text, &Budget::unattended());
    // The first parse allocates static data, such as the patterns of masks.
    drop(parse(&text[..text.len().min(100)]));
    let before = HELD_BYTES.load(Ordering::Relaxed);
    PEAK_BYTES.store(before, Ordering::Relaxed);
    let source = parse(text);
    let peak = PEAK_BYTES.load(Ordering::Relaxed) - before;
    if let Some(source) = source {
        let held = HELD_BYTES.load(Ordering::Relaxed) - before;
        assert!(source.size_bytes() <= held, "{name}: {} of {held}", source.size_bytes());
        assert!(
            held <= source.size_bytes() + text.len() + 8192,
            "{name}: {} of {held}",
            source.size_bytes()
        );
    }
    let left = HELD_BYTES.load(Ordering::Relaxed).saturating_sub(before);
    assert!(left <= 4096, "{name}: {left} bytes are left");
    peak
}

#[test]
fn regression_a_torn_source_takes_no_gigabytes() {
    torn_sources();
    nests_of_every_language();
    lexical_sources();
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    stopped_scanners();
}

/// The states of scanners are C memory, which a parse that is aborted does not free.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
fn stopped_scanners() {
    const TIMES: usize = 100;
    // SAFETY: It only reads.
    let held_bytes = || unsafe { libc::mallinfo2() }.uordblks;
    for language in LANGUAGES {
        let text = "(a, b) = r\"x\" + c; ".repeat(3_000);
        // Either the parser polls, and frees its memory, or its allocator aborts.
        let stop = |at: usize| {
            let asked = AtomicUsize::new(0);
            let is_cancelled = || asked.fetch_add(1, Ordering::Relaxed) >= at % 20;
            drop(Source::parse(language, &*text, &Budget::new(&is_cancelled)));
        };
        (0..20).for_each(stop);
        let before = held_bytes();
        (0..TIMES).for_each(stop);
        let grown = held_bytes().saturating_sub(before);
        // The harness allocates a little when it reports that a test is slow; a state that each
        // parse left would be at least 16 bytes, a hundred times.
        assert!(grown < TIMES * 8, "{}: {grown} bytes are left", language.name);
    }
}

fn torn_sources() {
    let a_class = "class A { int f() { return ";
    for (name, context, nest) in [
        // One operation of the parser took 2.6 GB for 48 KB, and 240 KB ended the process.
        ("a.java", a_class, "A<\n"),
        ("a.ts", "", "A<B,"),
        ("a.tsx", "", "A<B,"),
        ("a.rs", "type A = ", "//\n"),
    ] {
        for size in [48_000, 240_000, SYMBOLS_LIMIT_BYTES] {
            let text = format!("{context}{}", nest.repeat((size - context.len()) / nest.len()));
            let peak = peak_bytes(language_of(name, b"").unwrap(), &text);
            assert!(peak <= PARSE_LIMIT_BYTES, "{name}: {peak} bytes for {} of text", text.len());
        }
    }
}

/// An open block at each byte took 48 bytes, besides its token and region; each text without an end
/// was a fault.
fn lexical_sources() {
    for (name, part) in [("a.cpp", "{"), ("a.cpp", "\"\n"), ("a.html", "<a>"), ("a.lua", "do ")] {
        let text = part.repeat(SYMBOLS_LIMIT_BYTES / part.len());
        let peak = peak_bytes(language_of(name, b"").unwrap(), &text);
        assert!(peak <= PARSE_LIMIT_BYTES, "{name}: {peak} bytes for {part:?}");
    }
}

/// A short version of `cargo run --release -p hashline-syntax --example sweep`.
fn nests_of_every_language() {
    for language in LANGUAGES {
        for nest in ["(", "[1,", "{a:", "A<", "- ", "if(a){"] {
            for end in ["", "\n)"] {
                let peak =
                    peak_bytes(language, &format!("{}{end}", nest.repeat(40_000 / nest.len())));
                assert!(peak <= PARSE_LIMIT_BYTES, "{}: {peak} for {nest:?}", language.name);
            }
        }
    }
}
