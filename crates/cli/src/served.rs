//! Which agents have a running server whose tools they know: files in the state directory that the
//! server keeps locked. A hook that refuses other tools reads them, because an agent may begin to
//! work before its server has answered.
//!
//! There is a file for the conversation, and one for the agent's process, because an agent may begin
//! another conversation with the same server.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hashline_core::host::state_path;

/// The directory in the state directory.
const DIRECTORY: &str = "servers";

/// The longest name of a conversation; agents use UUIDs.
const MAX_NAME_CHARS: usize = 128;

/// How long a file of a server that was killed stays.
const RETENTION: Duration = Duration::from_secs(24 * 60 * 60);

/// How often a lock is tried that a hook holds for a moment.
const TRIES: usize = 100;

/// The files of a server, which are locked until it ends.
#[derive(Debug, Default)]
pub struct Announcement(Vec<(PathBuf, File)>);

impl Announcement {
    /// Announces a server for a conversation and for the process that started the server. A file
    /// that cannot be created is omitted.
    pub fn new(state_dir: Option<&Path>, conversation: Option<&str>) -> Announcement {
        let Ok(directory) = state_path(state_dir).map(|state| state.join(DIRECTORY)) else {
            return Announcement::default();
        };
        if fs::create_dir_all(&directory).is_err() {
            return Announcement::default();
        }
        sweep(&directory);
        let names = conversation.and_then(of_conversation).into_iter().chain(of_parent());
        let locked = |name: String| {
            let path = directory.join(name);
            let file = open(&path, true).ok()?;
            lock(&file).then_some((path, file))
        };
        Announcement(names.filter_map(locked).collect())
    }
}

impl Drop for Announcement {
    fn drop(&mut self) {
        for (path, _) in &self.0 {
            // Without the lock the file means nothing.
            let _ = fs::remove_file(path);
        }
    }
}

/// Whether the agent that started this process, or a conversation, has a server. A conversation
/// whose name no server can announce counts as one that has.
pub fn is_served(state_dir: Option<&Path>, conversation: Option<&str>) -> bool {
    let Ok(directory) = state_path(state_dir).map(|state| state.join(DIRECTORY)) else {
        return true;
    };
    let is_locked = |name: String| match open(&directory.join(name), false) {
        Ok(file) => !matches!(file.try_lock(), Ok(())),
        Err(error) => error.kind() != io::ErrorKind::NotFound,
    };
    let named = conversation.map(of_conversation);
    named.is_some_and(|name| name.is_none_or(is_locked)) || of_ancestors().any(is_locked)
}

fn open(path: &Path, creates: bool) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(creates).truncate(false).open(path)
}

/// Locks a file; false if another process than a hook holds it.
fn lock(file: &File) -> bool {
    for _ in 0..TRIES {
        match file.try_lock_shared() {
            Ok(()) => return true,
            Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
            Err(TryLockError::Error(_)) => return false,
        }
    }
    false
}

/// Removes the files of servers that were killed.
fn sweep(directory: &Path) {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten().take(4096);
    for path in entries.map(|entry| entry.path()) {
        let age = || fs::metadata(&path).ok()?.modified().ok()?.elapsed().ok();
        let is_old = age().is_some_and(|age| age > RETENTION);
        if is_old && open(&path, false).is_ok_and(|file| file.try_lock().is_ok()) {
            let _ = fs::remove_file(&path);
        }
    }
}

/// The file of a conversation, if its name is plain.
fn of_conversation(name: &str) -> Option<String> {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    let is_short = (1..=MAX_NAME_CHARS).contains(&name.len());
    (is_short && name.bytes().all(is_plain)).then(|| format!("conversation-{name}"))
}

fn of_process(id: u32) -> String {
    format!("process-{id}")
}

#[cfg(unix)]
fn of_parent() -> Option<String> {
    Some(of_process(std::os::unix::process::parent_id()))
}

#[cfg(not(unix))]
fn of_parent() -> Option<String> {
    None
}

/// The files of the processes that may be the agent: the parent, and the parent of a shell that runs
/// the hook.
fn of_ancestors() -> impl Iterator<Item = String> {
    #[cfg(unix)]
    let parent = Some(std::os::unix::process::parent_id());
    #[cfg(not(unix))]
    let parent = None;
    let above = parent.and_then(parent_of);
    parent.into_iter().chain(above).map(of_process)
}

/// The parent of another process, where `/proc` has it.
fn parent_of(id: u32) -> Option<u32> {
    let stat = fs::read(format!("/proc/{id}/stat")).ok()?;
    // The name of the program, in parentheses, may contain anything.
    let end = stat.iter().rposition(|&byte| byte == b')')?;
    let fields = std::str::from_utf8(stat.get(end + 1..)?).ok()?;
    fields.split_whitespace().nth(1)?.parse().ok()
}
