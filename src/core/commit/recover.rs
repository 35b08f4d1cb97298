//! Recovery: what a dead process left is finished when its journal says `committed`, and
//! cleared away when it does not.
//!
//! Every action asks first whether the file is one that the journal knows: by device, inode,
//! size and time of change. What matches neither the old nor the new version was changed by
//! someone else and is left as it is; the version that the patch had for it is kept in the
//! state directory, and the report says so. Running a recovery twice, or half of one, is
//! harmless.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::journal::{FINISHED, JournalPath, JournalStep, Mark, Record, UNFINISHED, parse_journal};
use super::publish::overwrite;
use super::{LockKey, Locks, StateDir};
use crate::cancel::Cancel;
use crate::error::{Error, Result};
use crate::fs::{Base, FileSystem, Lookup, Place, Stamp};

/// A file that someone else changed between a crash and the recovery.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Conflict {
    /// The file, left as it is.
    pub path: String,
    /// Where the version of the patch is kept.
    pub kept: Vec<String>,
}

/// What a recovery found and did.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Patches that were finished: their files.
    pub finished: Vec<Vec<String>>,
    /// Patches that were cleared away, so that nothing of them is left: their files.
    pub undone: Vec<Vec<String>>,
    /// Files that someone else changed meanwhile.
    pub conflicts: Vec<Conflict>,
    /// Journals of processes that are alive.
    pub live: u64,
    /// Journals that are damaged or of another version; they are kept and not acted on.
    pub damaged: Vec<String>,
    /// Journals that could not be worked off, and why; they are kept.
    pub failed: Vec<Error>,
}

impl RecoveryReport {
    /// Whether there was nothing to recover.
    pub fn is_empty(&self) -> bool {
        *self == RecoveryReport { live: self.live, ..RecoveryReport::default() }
    }
}

/// Works off every journal of a dead process in the state directory.
pub fn recover_transactions(
    fs: &dyn FileSystem,
    state: &StateDir,
    deadline: Instant,
    cancel: &Cancel,
) -> Result<RecoveryReport> {
    let mut report = RecoveryReport::default();
    let directory = state.journals_path();
    let entries = match std::fs::read_dir(&directory) {
        Ok(entries) => entries,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(report),
        Err(cause) => return Err(Error::io("read", &directory.to_string_lossy(), &cause)),
    };
    let mut names: Vec<_> = entries.flatten().map(|entry| entry.file_name()).collect();
    names.sort();
    for name in names {
        cancel.check()?;
        let ending = Path::new(&name).extension();
        if ending.is_some_and(|ending| ending == FINISHED || ending == UNFINISHED) {
            let place = state.file("the journal", name)?;
            one_journal(fs, state, &place, deadline, cancel, &mut report)?;
        }
    }
    Ok(report)
}

/// Whether a dead process left a journal about one of the files of `keys`.
pub fn is_abandoned(state: &StateDir, keys: &[LockKey]) -> Result<bool> {
    let Ok(entries) = std::fs::read_dir(state.journals_path()) else {
        return Ok(false);
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if Path::new(&name).extension().is_none_or(|ending| ending != FINISHED) {
            continue;
        }
        let place = state.file("the journal", name)?;
        let Ok(file) = File::open(place.canonical()) else {
            continue;
        };
        if file.try_lock().is_err() {
            continue;
        }
        let mut bytes = Vec::new();
        if (&file).read_to_end(&mut bytes).is_ok()
            && let Some(Record::Begin { steps, .. }) = parse_journal(&bytes)
                .and_then(|mut all| (!all.is_empty()).then(|| all.swap_remove(0)))
        {
            let paths =
                steps.iter().flat_map(targets).map(|path| LockKey::of_path(&path.path(), ""));
            if paths.into_iter().any(|path| keys.iter().any(|key| key.is_same(&path))) {
                return Ok(true);
            }
        }
    }
    Ok(false)
}

fn one_journal(
    fs: &dyn FileSystem,
    state: &StateDir,
    place: &Place,
    deadline: Instant,
    cancel: &Cancel,
    report: &mut RecoveryReport,
) -> Result<()> {
    // A journal that is gone by now was its owner's, who is done.
    let Ok(file) = File::options().read(true).write(true).open(place.canonical()) else {
        return Ok(());
    };
    match file.try_lock() {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            report.live += 1;
            return Ok(());
        }
        Err(TryLockError::Error(cause)) => return Err(Error::io("lock", &shown(place), &cause)),
    }
    if !fs
        .stamp(place)
        .is_ok_and(|there| fs.stamp_of(&file).is_ok_and(|held| there.is_same_file(&held)))
    {
        return Ok(());
    }
    if place.canonical().extension().is_some_and(|ending| ending == UNFINISHED) {
        // Its owner died before it had done anything.
        return fs.unlink(place).map_err(|cause| Error::io("remove", &shown(place), &cause));
    }
    let mut bytes = Vec::new();
    fs.read(
        &mut file.try_clone().map_err(|cause| Error::io("read", &shown(place), &cause))?,
        u64::MAX,
        &mut bytes,
    )
    .map_err(|cause| Error::io("read", &shown(place), &cause))?;
    let Some(records) = parse_journal(&bytes) else {
        report.damaged.push(shown(place));
        return Ok(());
    };
    match work_off(fs, state, &records, deadline, cancel, report) {
        Ok(()) => {
            fs.unlink(place).map_err(|cause| Error::io("remove", &shown(place), &cause))?;
            fs.sync_dir(place).map_err(|cause| Error::io("flush", &shown(place), &cause))
        }
        Err(error) => {
            report.failed.push(error);
            Ok(())
        }
    }
}

fn shown(place: &Place) -> String {
    place.canonical().to_string_lossy().into_owned()
}

/// Finishes or clears away one transaction, under the locks of its files.
fn work_off(
    fs: &dyn FileSystem,
    state: &StateDir,
    records: &[Record],
    deadline: Instant,
    cancel: &Cancel,
    report: &mut RecoveryReport,
) -> Result<()> {
    let Some(Record::Begin { steps, directories, .. }) = records.first() else {
        return Ok(());
    };
    let base = Base::open(None)?;
    let mut recovery =
        Recovery { fs, state, base: &base, touched: Vec::new(), conflicts: Vec::new() };
    let _locks = Locks::take(state, recovery.lock_keys(steps), deadline, cancel)?;
    let files: Vec<String> = steps
        .iter()
        .flat_map(targets)
        .map(|path| path.path().to_string_lossy().into_owned())
        .collect();
    match records.last() {
        Some(Record::Committed { staged }) => {
            recovery.finish(steps, staged)?;
            report.finished.push(files);
        }
        _ => {
            recovery.clear(steps, directories)?;
            report.undone.push(files);
        }
    }
    report.conflicts.append(&mut recovery.conflicts);
    Ok(())
}

/// The names that a step gives a new state.
fn targets(step: &JournalStep) -> Vec<&JournalPath> {
    match step {
        JournalStep::Rewrite { target, .. }
        | JournalStep::RewriteInPlace { target, .. }
        | JournalStep::Create { target, .. }
        | JournalStep::Delete { target, .. } => vec![target],
        JournalStep::Rename { from, to, .. } | JournalStep::Replace { from, to, .. } => {
            vec![from, to]
        }
    }
}

/// The files that hold a step's new or old content.
fn temporaries(step: &JournalStep) -> Vec<&JournalPath> {
    match step {
        JournalStep::Rewrite { temporary, saved, .. } => vec![temporary, saved],
        JournalStep::RewriteInPlace { saved, ready, .. } => vec![saved, ready],
        JournalStep::Create { temporary, .. } => vec![temporary],
        JournalStep::Replace { temporary, parked, .. } => vec![temporary, parked],
        JournalStep::Delete { parked, .. } => vec![parked],
        JournalStep::Rename { parked, .. } => parked.iter().collect(),
    }
}

struct Recovery<'a> {
    fs: &'a dyn FileSystem,
    state: &'a StateDir,
    base: &'a Base,
    touched: Vec<Place>,
    conflicts: Vec<Conflict>,
}

impl Recovery<'_> {
    fn lock_keys(&self, steps: &[JournalStep]) -> Vec<LockKey> {
        let mut keys = Vec::new();
        for path in steps.iter().flat_map(targets) {
            let path = path.path();
            let shown = path.to_string_lossy();
            keys.push(LockKey::of_path(&path, &shown));
            if let Some((_, stamp)) = self.there(&path) {
                keys.push(LockKey::of_file(&stamp, &shown));
            }
        }
        keys
    }

    /// The place of a path of the journal; `None` when its directory is gone, or when the
    /// path leads elsewhere by now: then it is not ours to touch.
    fn place(&self, path: &Path) -> Option<Place> {
        match self.base.named(path.to_str()?) {
            Ok(Lookup::Found(place)) if place.canonical() == path => Some(place),
            _ => None,
        }
    }

    fn there(&self, path: &Path) -> Option<(Place, Stamp)> {
        let place = self.place(path)?;
        let stamp = self.fs.stamp(&place).ok()?;
        Some((place, stamp))
    }

    /// The place, if the file of `mark` is there.
    fn marked(&self, path: &JournalPath, mark: &Mark) -> Option<Place> {
        let (place, stamp) = self.there(&path.path())?;
        (Mark::of(&stamp) == *mark).then_some(place)
    }

    fn exists(&self, path: &JournalPath) -> Option<Place> {
        self.there(&path.path()).map(|(place, _)| place)
    }

    /// Nothing was changed yet: what was staged goes.
    fn clear(&mut self, steps: &[JournalStep], directories: &[JournalPath]) -> Result<()> {
        for path in steps.iter().flat_map(temporaries) {
            self.remove(path)?;
        }
        for path in directories.iter().rev() {
            if let Some(place) = self.exists(path) {
                // Not empty: someone else uses it by now.
                let _ = self.fs.remove_dir(&place);
            }
        }
        Ok(())
    }

    fn remove(&mut self, path: &JournalPath) -> Result<()> {
        let Some(place) = self.exists(path) else {
            return Ok(());
        };
        self.fs.unlink(&place).map_err(|cause| Error::io("remove", &shown(&place), &cause))?;
        self.touched.push(place);
        Ok(())
    }

    /// All new content is on the disk: what is not in place yet is put there, in the order in
    /// which the transaction would have.
    fn finish(&mut self, steps: &[JournalStep], staged: &[Option<Mark>]) -> Result<()> {
        for step in steps {
            if let JournalStep::Delete { target: from, old, parked }
            | JournalStep::Replace { from, old, parked, .. }
            | JournalStep::Rename { from, old, parked: Some(parked), .. } = step
                && self.exists(parked).is_none()
                && let Some(place) = self.marked(from, old)
            {
                // A file at `to` with the mark of `old` would be this very file: then it moved already.
                self.rename(&place, parked)?;
            }
        }
        for step in steps {
            if let JournalStep::Rename { from, old, to, parked: None } = step
                && let Some(place) = self.marked(from, old)
            {
                self.arrive(&place, to)?;
            }
        }
        for step in steps {
            if let JournalStep::Rename { to, parked: Some(parked), .. } = step
                && let Some(place) = self.exists(parked)
            {
                self.arrive(&place, to)?;
            }
        }
        for (at, step) in steps.iter().enumerate() {
            let new = staged.get(at).copied().flatten();
            match step {
                JournalStep::Create { target, temporary }
                | JournalStep::Replace { to: target, temporary, .. } => {
                    if let Some(place) = self.exists(temporary) {
                        self.arrive(&place, target)?;
                    }
                }
                JournalStep::Rewrite { target, old, temporary, .. } => {
                    self.rewrite(target, old, new.as_ref(), temporary)?;
                }
                JournalStep::RewriteInPlace { target, old, saved, ready } => {
                    self.rewrite_in_place(target, old, saved, ready)?;
                }
                _ => {}
            }
        }
        self.sync()?;
        for path in steps.iter().flat_map(temporaries) {
            self.remove(path)?;
        }
        self.sync()
    }

    fn rename(&mut self, from: &Place, to: &JournalPath) -> Result<()> {
        let Some(to) = self.place(&to.path()) else {
            return Ok(());
        };
        self.fs.rename_new(from, &to).map_err(|cause| Error::io("move", &shown(from), &cause))?;
        self.touched.extend([from.clone(), to]);
        Ok(())
    }

    /// Puts a waiting file under its new name, unless someone else has taken that.
    fn arrive(&mut self, waiting: &Place, to: &JournalPath) -> Result<()> {
        let Some(target) = self.place(&to.path()) else {
            return self.keep(&to.path(), std::slice::from_ref(waiting));
        };
        match self.fs.rename_new(waiting, &target) {
            Ok(()) => {
                self.touched.extend([waiting.clone(), target]);
                Ok(())
            }
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => {
                self.keep(&to.path(), std::slice::from_ref(waiting))
            }
            Err(cause) => Err(Error::io("move", &shown(&target), &cause)),
        }
    }

    fn rewrite(
        &mut self,
        target: &JournalPath,
        old: &Mark,
        new: Option<&Mark>,
        temporary: &JournalPath,
    ) -> Result<()> {
        // Without its temporary file the step was done, and all others were, too.
        let Some(waiting) = self.exists(temporary) else {
            return Ok(());
        };
        if new.is_some_and(|new| self.marked(target, new).is_some()) {
            return Ok(());
        }
        match self.marked(target, old) {
            Some(place) => {
                self.fs
                    .rename(&waiting, &place)
                    .map_err(|cause| Error::io("replace", &shown(&place), &cause))?;
                self.touched.push(place);
                Ok(())
            }
            None => self.keep(&target.path(), &[waiting]),
        }
    }

    /// A file that is rewritten in place may be old, new, or torn between the two. Each block
    /// of a torn one is old or new; anything else was written by someone else.
    fn rewrite_in_place(
        &mut self,
        target: &JournalPath,
        old: &Mark,
        saved: &JournalPath,
        ready: &JournalPath,
    ) -> Result<()> {
        let (Some(saved), Some(ready)) = (self.exists(saved), self.exists(ready)) else {
            return Ok(());
        };
        let place =
            self.there(&target.path()).filter(|(_, stamp)| Mark::of(stamp).is_same_file(old));
        let Some((place, _)) = place else {
            return self.keep(&target.path(), &[saved, ready]);
        };
        let fault = |cause: io::Error| Error::io("rewrite", &shown(&place), &cause);
        let content = |place: &Place| -> io::Result<Vec<u8>> {
            let mut bytes = Vec::new();
            self.fs.read(&mut self.fs.open(place)?, u64::MAX, &mut bytes)?;
            Ok(bytes)
        };
        let (now, before, after) = (
            content(&place).map_err(fault)?,
            content(&saved).map_err(fault)?,
            content(&ready).map_err(fault)?,
        );
        match is_torn(&now, &before, &after) {
            true => overwrite(self.fs, &ready, &place, true).map_err(fault),
            false => self.keep(&target.path(), &[saved, ready]),
        }
    }

    /// Keeps versions of the patch in the state directory, for a file that is not ours to touch.
    fn keep(&mut self, path: &Path, versions: &[Place]) -> Result<()> {
        let mut kept = Vec::new();
        for version in versions {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let stem = version.name().to_string_lossy().replace(super::TEMPORARY_PREFIX, "");
            let to = self.state.kept_path(&format!("{stem}-{name}"))?;
            let fault = |cause: io::Error| Error::io("keep", &shown(version), &cause);
            match std::fs::symlink_metadata(version.canonical()).map_err(fault)?.is_symlink() {
                true => std::fs::rename(version.canonical(), &to).map_err(fault)?,
                false => copy_out(self.fs, version, &to).map_err(fault)?,
            }
            kept.push(to.to_string_lossy().into_owned());
            self.fs.unlink(version).or_else(gone_is_fine).map_err(fault)?;
        }
        self.conflicts.push(Conflict { path: path.to_string_lossy().into_owned(), kept });
        Ok(())
    }

    fn sync(&mut self) -> Result<()> {
        let mut done = BTreeSet::new();
        for place in std::mem::take(&mut self.touched) {
            if done.insert(place.canonical().parent().map(PathBuf::from)) {
                self.fs
                    .sync_dir(&place)
                    .map_err(|cause| Error::io("flush", &shown(&place), &cause))?;
            }
        }
        Ok(())
    }
}

fn gone_is_fine(cause: io::Error) -> io::Result<()> {
    match cause.kind() {
        io::ErrorKind::NotFound => Ok(()),
        _ => Err(cause),
    }
}

fn copy_out(fs: &dyn FileSystem, from: &Place, to: &Path) -> io::Result<()> {
    let mut copy = File::create(to)?;
    super::stage::copy_content(fs, &fs.open(from)?, &mut copy)?;
    copy.sync_all()
}

/// What a disk writes as one.
const SECTOR_BYTES: usize = 512;

/// Whether every sector of `now` is that of the old or the new content, or still unwritten.
fn is_torn(now: &[u8], old: &[u8], new: &[u8]) -> bool {
    if now == old || now == new {
        return true;
    }
    if now.len() > old.len().max(new.len()) {
        return false;
    }
    // A kill can stop a write at any byte.
    let written = now.iter().zip(new).take_while(|(now, new)| now == new).count();
    let is_prefix = now.len() >= written && now.get(written..) == old.get(written..);
    let sector = |bytes: &[u8], at: usize| -> Vec<u8> {
        let start = at.min(bytes.len());
        bytes[start..(at + SECTOR_BYTES).min(bytes.len())].to_vec()
    };
    let is_mix = (0..now.len()).step_by(SECTOR_BYTES).all(|at| {
        let here = sector(now, at);
        let matches = |version: &[u8]| {
            let there = sector(version, at);
            there.starts_with(&here)
                || here.starts_with(&there) && here[there.len()..].iter().all(|&byte| byte == 0)
        };
        matches(old) || matches(new)
    });
    is_prefix || is_mix
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn torn_contents_are_told_from_foreign_ones() {
        let old = vec![b'o'; 2000];
        let new = vec![b'n'; 3000];
        for written in [0, 1, 511, 1024, 2000, 2999, 3000] {
            let mut now = new[..written].to_vec();
            now.extend_from_slice(old.get(written..).unwrap_or_default());
            assert!(is_torn(&now, &old, &new), "{written}");
        }
        let mut sectors = old.clone();
        sectors[512..1024].fill(b'n');
        assert!(is_torn(&sectors, &old, &new));
        let mut foreign = old.clone();
        foreign[700] = b'x';
        assert!(!is_torn(&foreign, &old, &new));
        assert!(!is_torn(&[b'n'; 3001], &old, &new));
    }
}
