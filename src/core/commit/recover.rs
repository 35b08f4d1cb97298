//! Recovery: what a dead process left is finished when its journal says `committed`, and
//! cleared away when it does not.
//!
//! Every action asks first whether the file is one that the journal knows: by inode, size
//! and time of change. What matches neither the old nor the new version was changed by
//! someone else and is left as it is; the version that the patch had for it is kept in the
//! state directory, and the report says so. Running a recovery twice, or half of one, is
//! harmless.

use std::collections::BTreeSet;
use std::fs::{File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Instant;

use super::journal::{FINISHED, JournalPath, JournalStep, Mark, Record, UNFINISHED, parse_journal};
use super::publish::overwrite;
use super::{LockKey, Locks, StateDir};
use crate::cancel::Cancel;
use crate::error::{Code, Error, Result};
use crate::fs::{Base, FileKind, FileSystem, Lookup, Place, Stamp};

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
    if !report.is_empty() {
        super::lock::sweep(state);
    }
    Ok(report)
}

/// Whether there is a journal about one of the files of `keys`, whose locks the caller holds:
/// then it is that of a dead process, and perhaps being recovered by another.
pub fn is_abandoned(state: &StateDir, keys: &[LockKey]) -> Result<bool> {
    let Ok(entries) = std::fs::read_dir(state.journals_path()) else { return Ok(false) };
    for entry in entries.flatten() {
        let is_file = entry.file_type().is_ok_and(|kind| kind.is_file());
        if !is_file || entry.path().extension().is_none_or(|ending| ending != FINISHED) {
            continue;
        }
        // One that is gone by now was worked off.
        let Ok(bytes) = std::fs::read(entry.path()) else { continue };
        let records = parse_journal(&bytes).unwrap_or_default();
        let Some(Record::Begin { steps, .. }) = records.first() else { continue };
        let paths = steps.iter().flat_map(targets).map(|path| LockKey::of_path(&path.path(), ""));
        let files = steps.iter().filter_map(old_mark).map(|old| LockKey::of_inode(old.file(), ""));
        if paths.chain(files).any(|named| keys.iter().any(|key| key.is_same(&named))) {
            return Ok(true);
        }
    }
    Ok(false)
}

/// The version that a step replaces.
fn old_mark(step: &JournalStep) -> Option<&Mark> {
    match step {
        JournalStep::Rewrite { old, .. }
        | JournalStep::RewriteInPlace { old, .. }
        | JournalStep::Rename { old, .. }
        | JournalStep::Replace { old, .. }
        | JournalStep::Delete { old, .. } => Some(old),
        JournalStep::Create { .. } => None,
    }
}

fn one_journal(
    fs: &dyn FileSystem,
    state: &StateDir,
    place: &Place,
    deadline: Instant,
    cancel: &Cancel,
    report: &mut RecoveryReport,
) -> Result<()> {
    match fs.stamp(place) {
        // A FIFO would block whoever opens it.
        Ok(stamp) if stamp.kind != FileKind::File => {
            report.damaged.push(shown(place));
            return Ok(());
        }
        Ok(_) => {}
        // Its owner, or another recovery, is done with it.
        Err(_) => return Ok(()),
    }
    let file = match File::open(place.canonical()) {
        Ok(file) => file,
        Err(cause) if cause.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(cause) => {
            report.failed.push(Error::io("open", &shown(place), &cause));
            return Ok(());
        }
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
        Err(error) if error.code == Code::Aborted => Err(error),
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
    let staged = records.iter().find_map(|record| match record {
        Record::Committed { staged } => Some(staged),
        _ => None,
    });
    recovery.check_reachable(steps, staged.is_some())?;
    match staged {
        Some(staged) => {
            if !matches!(records.last(), Some(Record::Published)) {
                recovery.finish(steps, staged)?;
            }
            recovery.remove_leftovers(steps, staged)?;
            report.finished.push(files);
        }
        None => {
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

    /// A directory that cannot be looked into, or is elsewhere by now, must not be taken for
    /// one whose files are gone. Before the commit it may not have been made.
    fn check_reachable(&self, steps: &[JournalStep], is_committed: bool) -> Result<()> {
        for path in steps.iter().flat_map(|step| targets(step).into_iter().chain(temporaries(step)))
        {
            let path = path.path();
            let shown = path.to_string_lossy();
            let unreachable = |why: &str| {
                let message = format!("{shown}: cannot be recovered while its directory {why}");
                Err(Error::at(Code::Io, &shown, message))
            };
            let Some(text) = path.to_str() else {
                return unreachable("has a name that is no UTF-8");
            };
            match self.base.named(text) {
                Ok(Lookup::Found(place)) if place.canonical() == path => {
                    match self.fs.stamp(&place) {
                        Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                            return Err(Error::io("look at", &shown, &cause));
                        }
                        _ => {}
                    }
                }
                Ok(Lookup::Missing { .. }) if !is_committed => {}
                Ok(_) => return unreachable("is missing or leads elsewhere"),
                Err(error) => return Err(error),
            }
        }
        Ok(())
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
        self.report_changed_sources(steps);
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
        self.sync()
    }

    /// Files that were to go or to move, and that someone else changed before they did: they
    /// stay as they are.
    fn report_changed_sources(&mut self, steps: &[JournalStep]) {
        let arrives = |path: &JournalPath| {
            steps.iter().any(|step| match step {
                JournalStep::Create { target: to, .. }
                | JournalStep::Rename { to, .. }
                | JournalStep::Replace { to, .. } => to == path,
                _ => false,
            })
        };
        for step in steps {
            let (from, old, waiting) = match step {
                JournalStep::Delete { target, old, parked } => (target, old, vec![parked]),
                JournalStep::Replace { from, old, parked, .. } => (from, old, vec![parked]),
                JournalStep::Rename { from, old, to, parked } => {
                    (from, old, parked.iter().chain([to]).collect())
                }
                _ => continue,
            };
            let is_under_way = waiting.into_iter().any(|path| self.marked(path, old).is_some());
            let is_changed = self.exists(from).is_some() && self.marked(from, old).is_none();
            if is_changed && !is_under_way && !arrives(from) {
                let path = from.path().to_string_lossy().into_owned();
                self.conflicts.push(Conflict { path, kept: Vec::new() });
            }
        }
    }

    /// Everything is in place: what is left under temporary names goes.
    fn remove_leftovers(&mut self, steps: &[JournalStep], staged: &[Option<Mark>]) -> Result<()> {
        for (at, step) in steps.iter().enumerate() {
            let new = staged.get(at).copied().flatten();
            for path in temporaries(step) {
                self.remove_known(step, path, new.as_ref())?;
            }
        }
        self.sync()
    }

    /// Removes a version that the journal knows. Any other was a rival's, displaced just
    /// before the crash: it goes back where it was, or is kept.
    fn remove_known(
        &mut self,
        step: &JournalStep,
        path: &JournalPath,
        new: Option<&Mark>,
    ) -> Result<()> {
        let Some((place, stamp)) = self.there(&path.path()) else { return Ok(()) };
        let mark = Mark::of(&stamp);
        let is_known = old_mark(step) == Some(&mark) || new == Some(&mark);
        let home = match step {
            JournalStep::Delete { target, .. } | JournalStep::Rewrite { target, .. } => target,
            JournalStep::Replace { from, .. } | JournalStep::Rename { from, .. } => from,
            JournalStep::Create { .. } | JournalStep::RewriteInPlace { .. } => {
                return self.remove(path);
            }
        };
        match is_known {
            true => self.remove(path),
            false => self.arrive(&place, home),
        }
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
            // Unless someone else removed it.
            return match self.marked(target, old) {
                Some(place) => {
                    let shown = shown(&place);
                    let missing = temporary.path();
                    let message =
                        format!("{shown}: its new content, {}, is missing", missing.display());
                    Err(Error::at(Code::Io, &shown, message))
                }
                None => Ok(()),
            };
        };
        let placed = new.and_then(|new| self.marked(target, new));
        let fault = |place: &Place, cause: &io::Error| Error::io("replace", &shown(place), cause);
        let place = match (placed, self.marked(target, old)) {
            (Some(place), _) => place,
            (None, Some(place)) => {
                match self.fs.exchange(&waiting, &place) {
                    Err(cause) if cause.kind() == io::ErrorKind::Unsupported => {
                        self.fs.rename(&waiting, &place).map_err(|cause| fault(&place, &cause))?;
                    }
                    other => other.map_err(|cause| fault(&place, &cause))?,
                }
                place
            }
            (None, None) => return self.keep(&target.path(), &[waiting]),
        };
        self.touched.push(place.clone());
        // What came out is the old version, or a rival's, who was there just before: then
        // theirs goes back, and the patch's is kept.
        let displaced = self.there(&temporary.path()).map(|(_, stamp)| Mark::of(&stamp));
        if displaced.is_some_and(|displaced| displaced != *old) {
            self.fs.exchange(&waiting, &place).map_err(|cause| fault(&place, &cause))?;
            return self.keep(&target.path(), &[waiting]);
        }
        Ok(())
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
            let name: String = path
                .file_name()
                .unwrap_or_default()
                .to_string_lossy()
                .chars()
                .take(KEPT_NAME_LIMIT_CHARS)
                .collect();
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

/// How much of a file's name goes into that of its kept version, which is longer.
const KEPT_NAME_LIMIT_CHARS: usize = 50;

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
