//! Checks any text as a command line: no panics, a verdict within the guaranteed limits of the guard,
//! and valid spans in all findings. Two sources: raw bytes, and the words and operators of the shell
//! in any order.
//!
//! Prints each new maximum of the costs.

#![no_main]

#[path = "../../crates/guard/tests/pieces/mod.rs"]
mod pieces;

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use arbitrary::{Result, Unstructured};
use hashline_fuzz::cost::{Cost, Counting};
use hashline_guard::{CommandRule, Policy, Verdict, check};
use libfuzzer_sys::fuzz_target;
use pieces::PIECES;

#[global_allocator]
static COUNTING: Counting = Counting;

/// The slowdown by the instrumentation of branches and overflow checks: factors of five to six were
/// measured on the most expensive lines.
const SLOWDOWN: u64 = 5;

/// The maximum cost of checking one line. 16 of the 64 MiB that the guard guarantees are the stack of
/// its thread, which the allocator does not count.
const LIMIT: Cost = Cost { time: Duration::from_millis(50 * SLOWDOWN), bytes: (64 - 16) << 20 };

/// The maximum costs so far, in nanoseconds and bytes.
static MAX_COST: (AtomicU64, AtomicU64) = (AtomicU64::new(0), AtomicU64::new(0));

fuzz_target!(|data: &[u8]| {
    // Data that begins with a letter is used as text, so that seeds are readable.
    if data.first().is_some_and(u8::is_ascii_alphabetic) {
        return judge(&String::from_utf8_lossy(data));
    }
    if let Ok(command) = pieces(&mut Unstructured::new(data)) {
        judge(&command);
    }
});

fn pieces(input: &mut Unstructured<'_>) -> Result<String> {
    let mut command = String::new();
    while !input.is_empty() && command.len() < 70_000 {
        let piece = *input.choose(PIECES)?;
        let times = if input.ratio(1, 16)? { input.int_in_range(1..=2000)? } else { 1 };
        command.push_str(&piece.repeat(times));
    }
    Ok(command)
}

fn judge(command: &str) {
    let everything = Policy {
        rules: [(CommandRule::FileCommand, true)].into(),
        roots: vec!["/home/u/app".to_owned(), "/tmp/work".to_owned()],
        cwd: Some("/home/u/app/web".to_owned()),
        ignored: vec!["dist/".to_owned(), "*.snap".to_owned(), "/a/**/b".to_owned()],
        ..Policy::default()
    };
    for policy in [Policy::default(), everything] {
        let (judgement, cost) = Cost::of(|| check(command, &policy));
        // Other load of the machine can raise the cost: the minimum of several runs counts.
        let again = || (0..4).map(|_| Cost::of(|| check(command, &policy)).1);
        let cost = if cost.exceeds(&LIMIT) { again().fold(cost, Cost::min) } else { cost };
        assert!(!cost.exceeds(&LIMIT), "{cost:?} for {} bytes: {command:?}", command.len());
        report_maximum(&cost, command);
        for finding in &judgement.findings {
            assert!(command.get(finding.span.start..finding.span.end).is_some());
            assert!(!finding.message.is_empty());
        }
        let is_finding = matches!(judgement.verdict, Verdict::Read | Verdict::Write);
        assert_eq!(is_finding, !judgement.findings.is_empty());
    }
}

/// Prints costs that are new maximums.
fn report_maximum(cost: &Cost, command: &str) {
    let time = u64::try_from(cost.time.as_nanos()).unwrap_or(u64::MAX);
    let is_slowest = MAX_COST.0.fetch_max(time, Ordering::Relaxed) < time;
    let is_largest = MAX_COST.1.fetch_max(cost.bytes, Ordering::Relaxed) < cost.bytes;
    if is_slowest || is_largest {
        let which = if is_slowest { "slowest" } else { "largest" };
        eprintln!("{which} so far: {cost:?}, {} bytes", command.len());
    }
}
