//! Checks a state directory: the hot journals in it, and whether its file system supports what
//! transactions need. The latter is tried.

use std::fs::File;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::StateDir;
use super::draft::temporary_name;
use super::journal::{FINISHED, parse_journal};
use super::recover::{RecoveryReport, is_well_formed, lock_hot_journal, read_journal, shown};
use crate::fs::{FileSystem, NewAccess, Place};
use hashline_base::error::Result;

/// The extension of files that are created for trials.
const TRIAL: &str = "trial";

/// The content of a state directory, and what its file system supports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StateReport {
    /// The directory.
    pub path: String,
    /// Hot journals, which the next patch or a recovery handles.
    pub waiting: Vec<String>,
    /// Journals of running processes.
    pub live: u64,
    /// Damaged journals, which no recovery will handle.
    pub damaged: Vec<String>,
    /// The results of the trials.
    pub trials: Vec<Trial>,
}

/// An operation that transactions need, tried in the state directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// The operation.
    pub name: &'static str,
    /// Whether transactions have no alternative to the operation.
    pub is_needed: bool,
    /// The error, if it failed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl StateReport {
    /// Whether transactions are safe in this directory.
    pub fn is_sound(&self) -> bool {
        self.damaged.is_empty()
            && !self.trials.iter().any(|trial| trial.is_needed && trial.failure.is_some())
    }
}

/// Checks a state directory, and creates it if it is missing. Recovers nothing.
pub fn examine_state(fs: &dyn FileSystem, state: &StateDir) -> Result<StateReport> {
    let path = state.path().to_string_lossy().into_owned();
    let mut report = StateReport { path, ..StateReport::default() };
    for name in state.journal_names(fs)? {
        if Path::new(&name).extension().is_some_and(|ending| ending == FINISHED) {
            examine_journal(fs, &state.journal_file(fs, "the journal", name)?, &mut report)?;
        }
    }
    let id = Path::new(&temporary_name()).with_extension(TRIAL);
    report.trials = trials(fs, &state.journal_file(fs, "a file on trial", id.into())?);
    Ok(report)
}

fn examine_journal(fs: &dyn FileSystem, place: &Place, report: &mut StateReport) -> Result<()> {
    let mut found = RecoveryReport::default();
    let file = lock_hot_journal(fs, place, &mut found)?;
    report.live += found.live;
    report.damaged.extend(found.damaged);
    if let Some(mut file) = file {
        let records = read_journal(fs, &mut file).map(|bytes| parse_journal(&bytes));
        let is_sound = records.is_ok_and(|read| read.is_some_and(|all| is_well_formed(&all)));
        let list = if is_sound { &mut report.waiting } else { &mut report.damaged };
        list.push(shown(place));
    }
    Ok(())
}

/// Tries every operation. If the trial file cannot be created, all operations that need it fail.
fn trials(fs: &dyn FileSystem, place: &Place) -> Vec<Trial> {
    let other = place.sibling(Path::new(place.name()).with_extension("other"));
    let mut trials = Vec::new();
    let mut tried = |name, is_needed, result: io::Result<()>| {
        let failure = result.err().map(|cause| cause.to_string());
        trials.push(Trial { name, is_needed, failure });
    };
    let file = fs.create_new(place, NewAccess::OwnerOnly).and_then(|mut file| {
        fs.write(&mut file, b"tried\n")?;
        Ok(file)
    });
    let with_file = |work: &dyn Fn(&File) -> io::Result<()>| match &file {
        Ok(file) => work(file),
        Err(cause) => Err(cause.kind().into()),
    };
    tried("write a file", true, with_file(&|_| Ok(())));
    tried("lock it", true, with_file(&|file| lock(fs, file)));
    tried("flush it", true, with_file(&|file| fs.sync(file)));
    tried("flush its directory", true, fs.sync_dir(place));
    // Transactions use second names only where names cannot be exchanged.
    let linked = fs.link(place, &other);
    let is_linked = linked.is_ok();
    tried("give it a second name", false, linked);
    if !is_linked {
        // The exchange below needs a second file.
        let _ = fs.create_new(&other, NewAccess::OwnerOnly);
    }
    let exchanged = fs.exchange(place, &other);
    tried("exchange two names", false, exchanged);
    tried("rename it over another", true, fs.rename(place, &other));
    // If both names are hard links to one file, the rename does nothing and both remain.
    let _ = fs.unlink(place);
    tried("rename it to a free name", true, fs.rename_new(&other, place));
    for name in [place, &other] {
        let _ = fs.unlink(name);
    }
    trials
}

fn lock(fs: &dyn FileSystem, file: &File) -> io::Result<()> {
    if fs.try_lock(file)? { Ok(()) } else { Err(io::ErrorKind::WouldBlock.into()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fs::OsFileSystem;

    #[test]
    fn a_sound_directory_passes_and_no_file_remains() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state");
        let state = StateDir::new(path.to_str()).unwrap();
        let report = examine_state(&OsFileSystem, &state).unwrap();
        assert!(report.is_sound(), "{report:?}");
        assert_eq!(report.trials.len(), 8);
        assert_eq!(std::fs::read_dir(path.join("journals")).unwrap().count(), 0);
    }

    #[test]
    fn a_damaged_journal_is_reported_and_not_removed() {
        let dir = tempfile::tempdir().unwrap();
        let state = StateDir::new(dir.path().to_str()).unwrap();
        examine_state(&OsFileSystem, &state).unwrap();
        let journal = dir.path().join("journals/x.journal");
        std::fs::write(&journal, "no journal\n").unwrap();
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            std::fs::set_permissions(&journal, std::fs::Permissions::from_mode(0o600)).unwrap();
        }
        let report = examine_state(&OsFileSystem, &state).unwrap();
        assert!(!report.is_sound());
        assert_eq!(report.damaged.len(), 1, "{report:?}");
        assert!(journal.exists());
    }
}
