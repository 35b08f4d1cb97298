//! A look at a state directory: what waits there for a recovery, and whether its file system has
//! what transactions need, by trying it.

use std::fs::File;
use std::io;
use std::path::Path;

use serde::Serialize;

use super::StateDir;
use super::draft::temporary_name;
use super::journal::{FINISHED, parse_journal};
use super::recover::{RecoveryReport, is_well_formed, lock_abandoned, read_journal, shown};
use crate::fs::{FileSystem, NewAccess, Place};
use hashline_base::error::Result;

/// How the names of the files end that are made on trial.
const TRIAL: &str = "trial";

/// What a state directory holds, and what its file system can do.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct StateReport {
    /// The directory.
    pub path: String,
    /// Journals of dead processes, which the next patch or a recovery works off.
    pub waiting: Vec<String>,
    /// Journals of processes that are alive.
    pub live: u64,
    /// Journals that nobody will work off.
    pub damaged: Vec<String>,
    /// What was tried.
    pub trials: Vec<Trial>,
}

/// Something that transactions do, tried in the state directory.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Trial {
    /// What was tried.
    pub name: &'static str,
    /// Whether there is no other way to do what it is for.
    pub is_needed: bool,
    /// Why it failed, if it did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failure: Option<String>,
}

impl StateReport {
    /// Whether transactions are safe here.
    pub fn is_sound(&self) -> bool {
        self.damaged.is_empty()
            && !self.trials.iter().any(|trial| trial.is_needed && trial.failure.is_some())
    }
}

/// Looks at a state directory, which is made if it is missing. Nothing is recovered.
pub fn examine_state(fs: &dyn FileSystem, state: &StateDir) -> Result<StateReport> {
    let path = state.path().to_string_lossy().into_owned();
    let mut report = StateReport { path, ..StateReport::default() };
    for name in state.journal_names(fs)? {
        if Path::new(&name).extension().is_some_and(|ending| ending == FINISHED) {
            look_at_journal(fs, &state.file(fs, "the journal", name)?, &mut report)?;
        }
    }
    let id = Path::new(&temporary_name()).with_extension(TRIAL);
    report.trials = trials(fs, &state.file(fs, "a file on trial", id.into())?);
    Ok(report)
}

fn look_at_journal(fs: &dyn FileSystem, place: &Place, report: &mut StateReport) -> Result<()> {
    let mut found = RecoveryReport::default();
    let file = lock_abandoned(fs, place, &mut found)?;
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

/// Tries everything in turn. What needs a file that could not be made fails with it.
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
    // Without it, what an exchange does is done by a rename.
    let linked = fs.link(place, &other);
    let is_linked = linked.is_ok();
    tried("give it a second name", false, linked);
    if !is_linked {
        // So that there is something to exchange it with.
        let _ = fs.create_new(&other, NewAccess::OwnerOnly);
    }
    let exchanged = fs.exchange(place, &other);
    tried("exchange two names", false, exchanged);
    tried("rename it over another", true, fs.rename(place, &other));
    // Renaming one name of a file to another name of the same file leaves both.
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
    fn a_sound_directory_passes_and_nothing_stays_behind() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("state");
        let state = StateDir::new(path.to_str()).unwrap();
        let report = examine_state(&OsFileSystem, &state).unwrap();
        assert!(report.is_sound(), "{report:?}");
        assert_eq!(report.trials.len(), 8);
        assert_eq!(std::fs::read_dir(path.join("journals")).unwrap().count(), 0);
    }

    #[test]
    fn a_damaged_journal_is_named_and_left() {
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
