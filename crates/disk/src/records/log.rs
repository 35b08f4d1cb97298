//! The lines of a log: a checksum and a record each.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use crate::bytes::snapshot;
use hashline_base::error::Error;

/// The prefix of the first record of a log. The version follows, then a unique id.
const HEAD: &str = "log ";

/// The version of the format of the log and its records.
pub(super) const VERSION: &str = "1";

/// The changes of a log since it was last read.
#[derive(Debug, Default)]
pub struct LogUpdate {
    /// Whether the log is a different one, or was read for the first time: these are all its
    /// records.
    pub is_new_log: bool,
    /// The records, oldest first.
    pub records: Vec<String>,
    /// The number of lines that are not valid records.
    pub damaged: u64,
    /// Whether a writer invalidated the log because it could not write records: what was read
    /// before may be outdated.
    pub is_cut: bool,
    /// Why the log was not read. The next record replaces it.
    pub unread: Option<Error>,
}

/// The complete records in a part of a log, and the size of their lines.
pub(super) fn records_in(bytes: &[u8]) -> (LogUpdate, u64) {
    let (mut news, mut read_bytes) = (LogUpdate::default(), 0);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let Some(line) = line.strip_suffix(b"\n") else { break };
        read_bytes += line.len() as u64 + 1;
        match record(line) {
            Some(record) if record.starts_with(HEAD) => {}
            Some(record) => news.records.push(record.to_owned()),
            // Empty lines follow lines that were not finished.
            None => news.damaged += u64::from(!line.is_empty()),
        }
    }
    (news, read_bytes)
}

/// The version in the first line of a log, if it is not [`VERSION`]. `None` for a damaged line.
pub(super) fn other_version(line: &[u8]) -> Option<String> {
    let rest = record(line.strip_suffix(b"\n")?)?.strip_prefix(HEAD)?;
    let (version, _mark) = rest.split_once(' ').unwrap_or(("unknown", rest));
    (version != VERSION).then(|| version.to_owned())
}

/// The first record of a log, which is unique.
pub(super) fn head() -> String {
    static COUNT: AtomicU64 = AtomicU64::new(0);
    let since = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    let count = COUNT.fetch_add(1, Ordering::Relaxed);
    let mark = format!("{} {} {count}", since.as_nanos(), std::process::id());
    format!("{HEAD}{VERSION} {}", snapshot(mark.as_bytes()))
}

pub(super) fn push_line(text: &mut String, record: &str) {
    debug_assert!(!record.contains('\n'));
    *text += &snapshot(record.as_bytes());
    text.push(' ');
    *text += record;
    text.push('\n');
}

/// The record in a line, if its checksum is correct.
fn record(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    let (checksum, record) = line.split_once(' ')?;
    (checksum == snapshot(record.as_bytes())).then_some(record)
}
