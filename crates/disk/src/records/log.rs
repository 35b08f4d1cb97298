//! The lines of a log: a checksum and a record each.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

use crate::bytes::snapshot;
use hashline_base::error::Error;

/// What the first record of a log begins with. The version follows, then a mark that no other log
/// has.
const HEAD: &str = "log ";

/// The version of what is written here, and of the records.
pub(super) const VERSION: &str = "1";

/// What a log had to tell since it was read last.
#[derive(Debug, Default)]
pub struct News {
    /// The log is another one than before, or the first that was read: this is all of it.
    pub is_new_log: bool,
    /// The records, oldest first.
    pub records: Vec<String>,
    /// Lines that are no records.
    pub damaged: u64,
    /// Somebody could not write what he had to, and cut the log: what was read from it before may
    /// not be the newest.
    pub is_cut: bool,
    /// Why nothing of the log was read. The next record takes its place.
    pub unread: Option<Error>,
}

/// The whole records of a part of a log, and how many bytes the lines have.
pub(super) fn records_in(bytes: &[u8]) -> (News, u64) {
    let (mut news, mut read_bytes) = (News::default(), 0);
    for line in bytes.split_inclusive(|&byte| byte == b'\n') {
        let Some(line) = line.strip_suffix(b"\n") else { break };
        read_bytes += line.len() as u64 + 1;
        match record(line) {
            Some(record) if record.starts_with(HEAD) => {}
            Some(record) => news.records.push(record.to_owned()),
            // Empty lines end what was left without an end.
            None => news.damaged += u64::from(!line.is_empty()),
        }
    }
    (news, read_bytes)
}

/// The version in the first line of a log, if it is not ours. A line that is damaged has none.
pub(super) fn other_version(line: &[u8]) -> Option<String> {
    let rest = record(line.strip_suffix(b"\n")?)?.strip_prefix(HEAD)?;
    let (version, _mark) = rest.split_once(' ').unwrap_or(("unknown", rest));
    (version != VERSION).then(|| version.to_owned())
}

/// The first record of a log: another one for every log.
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

/// The record in a line, if its checksum is true.
fn record(line: &[u8]) -> Option<&str> {
    let line = std::str::from_utf8(line).ok()?;
    let (checksum, record) = line.split_once(' ')?;
    (checksum == snapshot(record.as_bytes())).then_some(record)
}
