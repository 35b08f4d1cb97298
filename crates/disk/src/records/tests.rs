//! Tests of the store of records.

use std::collections::HashSet;

use super::contents::content_name;
use super::*;
use crate::bytes::snapshot;
use crate::fs::OsFileSystem;
use std::path::Path;

const TIMEOUT: Duration = Duration::from_secs(60);

fn state(dir: &Path) -> StateDir {
    StateDir::new(dir.to_str()).unwrap()
}

fn store(dir: &Path) -> RecordStore {
    RecordStore::open(&OsFileSystem, state(dir), "one").unwrap()
}

fn append(store: &mut RecordStore, records: &[&str]) {
    let _lock = store.lock().take(TIMEOUT, &Cancel::default()).unwrap();
    store.read().unwrap();
    let records: Vec<String> = records.iter().map(|one| (*one).to_owned()).collect();
    store.append(&records).unwrap();
}

#[test]
fn each_reader_reads_each_record_once() {
    let dir = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (store(dir.path()), store(dir.path()));
    assert!(one.read().unwrap().records.is_empty());
    append(&mut other, &["a", "b"]);
    assert_eq!(one.read().unwrap().records, ["a", "b"]);
    append(&mut other, &["c"]);
    assert_eq!(one.read().unwrap().records, ["c"]);
    assert!(other.read().unwrap().records.is_empty());
    assert_eq!(store(dir.path()).read().unwrap().records, ["a", "b", "c"]);
}

#[test]
fn a_truncated_or_damaged_line_is_ignored_and_others_are_read() {
    let dir = tempfile::tempdir().unwrap();
    let mut one = store(dir.path());
    append(&mut one, &["first", "second"]);
    let log = one.log().unwrap().canonical().to_owned();
    let whole = std::fs::read(&log).unwrap();
    let lines: Vec<usize> = memchr::memchr_iter(b'\n', &whole).map(|end| end + 1).collect();
    assert_eq!(lines.len(), 3);
    for end in lines[1] + 1..whole.len() - 1 {
        std::fs::write(&log, &whole[..end]).unwrap();
        let mut other = store(dir.path());
        assert_eq!(other.read().unwrap().records, ["first"], "{end}");
        append(&mut other, &["third"]);
        let news = store(dir.path()).read().unwrap();
        assert_eq!((news.records, news.damaged), (vec!["first".into(), "third".into()], 1));
    }
    for at in lines[0]..lines[1] - 1 {
        let mut damaged = whole.clone();
        damaged[at] ^= 1;
        std::fs::write(&log, &damaged).unwrap();
        let news = store(dir.path()).read().unwrap();
        assert_eq!(news.records, ["second"], "{at}");
    }
}

#[test]
fn a_log_that_replaces_another_is_read_from_its_start() {
    let dir = tempfile::tempdir().unwrap();
    let (mut one, mut other) = (store(dir.path()), store(dir.path()));
    append(&mut one, &["a", "b"]);
    other.read().unwrap();
    {
        let _lock = one.lock().take(TIMEOUT, &Cancel::default()).unwrap();
        one.put(1, b"kept").unwrap();
        one.put(2, b"dropped").unwrap();
        one.replace(&["whole".to_owned()]).unwrap();
        one.drop_contents(&HashSet::from([1])).unwrap();
    }
    assert!(one.read().unwrap().records.is_empty());
    let news = other.read().unwrap();
    assert_eq!(news.records, ["whole"]);
    assert_eq!(one.state.store_names(&OsFileSystem, "one").unwrap().len(), 2);
}

#[test]
fn contents_are_returned_only_if_they_have_their_hash() {
    let dir = tempfile::tempdir().unwrap();
    let mut one = store(dir.path());
    let hash = u128::from_str_radix(&snapshot(b"text"), 16).unwrap();
    assert_eq!(one.get(hash, 4), StoredContent::Missing);
    assert_eq!(one.put(hash, b"text").unwrap(), 4);
    assert_eq!(one.put(hash, b"text").unwrap(), 0);
    assert_eq!(one.get(hash, 4), StoredContent::Whole(b"text".to_vec()));
    assert_eq!(one.get(hash, 3), StoredContent::Missing);
    assert_eq!(one.contents_bytes().unwrap(), 4);
    let place = one.log().unwrap().sibling(content_name(hash));
    std::fs::write(place.canonical(), b"tex!").unwrap();
    assert_eq!(one.get(hash, 4), StoredContent::Damaged);
}

#[test]
fn a_store_whose_directory_was_removed_is_created_again() {
    let dir = tempfile::tempdir().unwrap();
    let state_dir = dir.path().join("state");
    let mut one = store(&state_dir);
    append(&mut one, &["a"]);
    std::fs::remove_dir_all(&state_dir).unwrap();
    assert!(one.read().unwrap().records.is_empty());
    append(&mut one, &["b"]);
    one.put(1, b"text").unwrap();
    assert_eq!(store(&state_dir).read().unwrap().records, ["b"]);
    // Another store replaces it.
    std::fs::remove_dir_all(&state_dir).unwrap();
    append(&mut store(&state_dir), &["c"]);
    assert_eq!(one.read().unwrap().records, ["c"]);
}

#[cfg(unix)]
#[test]
fn stores_are_private_and_old_ones_are_swept() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let mut one = store(dir.path());
    append(&mut one, &["a"]);
    let log = one.log().unwrap().canonical().to_owned();
    let mode = |path: &Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode(log.parent().unwrap()), mode(&log)), (0o700, 0o600));
    let day = Duration::from_secs(86_400);
    sweep(&OsFileSystem, &state(dir.path()), day);
    assert!(log.exists());
    let old = SystemTime::now() - 2 * day;
    let file = File::options().write(true).open(&log).unwrap();
    file.set_times(std::fs::FileTimes::new().set_modified(old)).unwrap();
    {
        let _in_use = one.lock().take(TIMEOUT, &Cancel::default()).unwrap();
        sweep(&OsFileSystem, &state(dir.path()), day);
        assert!(log.exists());
    }
    sweep(&OsFileSystem, &state(dir.path()), day);
    assert!(!log.parent().unwrap().exists());
}

/// The number of open descriptors of this process below a directory.
#[cfg(target_os = "linux")]
fn open_below(dir: &Path) -> usize {
    let dir = dir.canonicalize().unwrap();
    let open = std::fs::read_dir("/proc/self/fd").unwrap();
    let paths = open.filter_map(|entry| std::fs::read_link(entry.unwrap().path()).ok());
    paths.filter(|path| path.starts_with(&dir)).count()
}

#[cfg(target_os = "linux")]
#[test]
fn regression_a_store_keeps_nothing_open() {
    let dir = tempfile::tempdir().unwrap();
    let mut one = store(dir.path());
    append(&mut one, &["a"]);
    one.put(1, b"text").unwrap();
    one.get(1, 4);
    one.read().unwrap();
    assert_eq!(open_below(dir.path()), 0);
}

#[test]
fn regression_neither_reading_nor_sweeping_creates_a_directory() {
    let dir = tempfile::tempdir().unwrap();
    let mut one = store(dir.path());
    let place = one.log().unwrap().canonical().parent().unwrap().to_owned();
    std::fs::remove_dir(&place).unwrap();
    assert!(one.read().unwrap().records.is_empty());
    assert_eq!(one.get(1, 4), StoredContent::Missing);
    assert_eq!(one.contents_bytes().unwrap(), 0);
    sweep(&OsFileSystem, &state(dir.path()), Duration::ZERO);
    assert!(!place.exists());
}

/// The directory of a process that died, or never wrote anything.
#[cfg(unix)]
#[test]
fn regression_an_old_store_without_a_log_is_swept() {
    let dir = tempfile::tempdir().unwrap();
    let log = store(dir.path()).log().unwrap().canonical().to_owned();
    let place = log.parent().unwrap();
    let day = Duration::from_secs(86_400);
    sweep(&OsFileSystem, &state(dir.path()), day);
    assert!(place.exists());
    let old = std::fs::FileTimes::new().set_modified(SystemTime::now() - 2 * day);
    File::open(place).unwrap().set_times(old).unwrap();
    sweep(&OsFileSystem, &state(dir.path()), day);
    assert!(!place.exists());
}

#[test]
fn regression_nothing_is_written_after_unread_records() {
    let dir = tempfile::tempdir().unwrap();
    append(&mut store(dir.path()), &["a", "b", "c"]);
    let mut one = store(dir.path());
    let log = one.log().unwrap().canonical().to_owned();
    let whole = std::fs::read(&log).unwrap();
    // With this limit, reading to the end needs several calls.
    one.max_log_bytes = whole.len() as u64 - 1;
    assert_eq!(one.read().unwrap().records, ["a", "b"]);
    one.append(&["d".to_owned()]).unwrap_err();
    one.replace(&["d".to_owned()]).unwrap_err();
    assert_eq!(std::fs::read(&log).unwrap(), whole);
    assert_eq!(one.read().unwrap().records, ["c"]);
    one.append(&["d".to_owned()]).unwrap();
    assert_eq!(store(dir.path()).read().unwrap().records, ["a", "b", "c", "d"]);
    // After a read that fails, records of others must not be skipped.
    append(&mut store(dir.path()), &["e"]);
    let aside = log.with_file_name("aside");
    std::fs::rename(&log, &aside).unwrap();
    std::fs::create_dir(&log).unwrap();
    one.read().unwrap_err();
    std::fs::remove_dir(&log).unwrap();
    std::fs::rename(&aside, &log).unwrap();
    one.append(&["f".to_owned()]).unwrap_err();
    assert_eq!(one.read().unwrap().records, ["e"]);
    one.append(&["f".to_owned()]).unwrap();
}

#[test]
fn regression_a_log_of_another_version_is_not_changed() {
    let dir = tempfile::tempdir().unwrap();
    let mut one = store(dir.path());
    let log = one.log().unwrap().canonical().to_owned();
    for head in ["log 2 0123", "log 0123456789abcdef0123456789abcdef"] {
        let mut text = String::new();
        push_line(&mut text, head);
        push_line(&mut text, "something else");
        std::fs::write(&log, &text).unwrap();
        let error = one.read().unwrap_err();
        assert!(error.message.contains("its format is "), "{}", error.message);
        one.append(&["a".to_owned()]).unwrap_err();
        one.replace(&["a".to_owned()]).unwrap_err();
        assert_eq!(std::fs::read_to_string(&log).unwrap(), text);
    }
}

#[test]
fn regression_a_damaged_content_is_written_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut one = store(dir.path());
    let hash = u128::from_str_radix(&snapshot(b"text"), 16).unwrap();
    let place = one.log().unwrap().sibling(content_name(hash)).canonical().to_owned();
    // Damage that the next process detects.
    std::fs::write(&place, b"tex!").unwrap();
    assert_eq!(one.put(hash, b"text").unwrap(), 4);
    assert_eq!(one.get(hash, 4), StoredContent::Whole(b"text".to_vec()));
    // Damage that this process detects.
    std::fs::write(&place, b"te").unwrap();
    one.discard(hash, 4);
    assert!(!place.exists());
    one.put(hash, b"text").unwrap();
    one.discard(hash, 4);
    assert!(place.exists());
}

/// A process died while it created the log.
#[test]
fn a_log_without_a_complete_line_is_started_again() {
    let dir = tempfile::tempdir().unwrap();
    let mut one = store(dir.path());
    append(&mut one, &["a"]);
    let log = one.log().unwrap().canonical().to_owned();
    let whole = std::fs::read(&log).unwrap();
    let head = whole.iter().position(|&byte| byte == b'\n').unwrap();
    for end in 0..=head {
        std::fs::write(&log, &whole[..end]).unwrap();
        let mut other = store(dir.path());
        append(&mut other, &["b"]);
        let news = store(dir.path()).read().unwrap();
        assert_eq!((news.records, news.damaged), (vec!["b".to_owned()], 0), "{end}");
    }
}
