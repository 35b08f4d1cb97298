//! Finds the files of a patch, and groups its operations by file.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::path::{Path, PathBuf};

use super::failures::Failures;
use super::noop;
use crate::edit::outcome::{Noop, NoopReason, Repair, Warning};
use crate::edit::plan::names::{Name, NameChange};
use crate::edit::recurring::Recurring;
use crate::edit::request::{FileAction, InsertAt, LineEdit, Operation, Operations};
use crate::edit::undo::{RestoredFile, RestoredLines, snapshot_of_place};
use crate::view::scope::Scope;
use hashline_base::error::{Code, Error, Mention, Message, Result, Term};
use hashline_disk::commit::LockKey;
use hashline_disk::fs::{
    Base, FileKind, FileSystem, Lookup, Place, Stamp, differ_in_case_only, not_a_file,
};
use hashline_lines::dialect::Dialect;

/// The operations of a patch, grouped by file.
#[derive(Default)]
pub(super) struct Tasks<'o> {
    /// Files whose content is edited, in the order of their first operation.
    pub(super) edits: Vec<FileEdits<'o>>,
    /// Operations on whole files, in the order of the request.
    pub(super) files: Vec<FileTask<'o>>,
    /// Operations that repeat others, or move a file onto itself.
    pub(super) noops: Vec<Noop>,
    /// Warnings about the patch itself.
    pub(super) warnings: &'o [Warning],
    /// Repairs of the contents of new files.
    pub(super) repairs: Vec<Repair>,
    /// Names without a file. They are locked, too: another call may be about to create one.
    missing: Vec<LockKey>,
}

/// The edits of one file.
pub(super) struct FileEdits<'o> {
    pub(super) place: Place,
    stamp: Stamp,
    pub(super) operations: Vec<&'o Operation>,
    /// The snapshots of the file that the patch carries.
    pub(super) snapshots: Vec<&'o str>,
    /// Names through which the edits reach the file, links included.
    names: Vec<PathBuf>,
}

/// Identifies a file of a patch by the first operation on it, and by whether the file is the
/// destination of that operation: an operation that moves lines has two files.
pub(super) type FileKey = (usize, bool);

impl FileEdits<'_> {
    pub(super) fn key(&self) -> FileKey {
        let first = self.operations[0];
        (first.index, matches!(first.action, LineEdit::Put(_)))
    }

    /// The lines that are put back, if the patch undoes another one.
    pub(super) fn restored(&self) -> Option<&RestoredLines> {
        match &self.operations.first()?.action {
            LineEdit::Restore(restored) => Some(restored),
            _ => None,
        }
    }

    /// Whether an anchor of its operations has the tag of a version.
    pub(super) fn has_tagged_anchor(&self) -> bool {
        let mut anchors = self.operations.iter().flat_map(|operation| operation.action.anchors());
        anchors.any(|anchor| anchor.tag.is_some())
    }

    /// Whether lines of it are moved or copied to other files.
    pub(super) fn has_outgoing_lines(&self) -> bool {
        let is_given = |operation: &&Operation| match &operation.action {
            LineEdit::Take(transfer) => transfer.to.is_some(),
            _ => false,
        };
        self.operations.iter().any(is_given)
    }
}

impl<'o> FileTask<'o> {
    /// A file that an operation on lines or contents creates.
    fn of(operation: &Operation, task: Task<'o>) -> FileTask<'o> {
        let path = operation.path.clone();
        FileTask { operation: operation.index, path, task, is_verbatim: operation.verbatim }
    }

    /// The destination, with the path as the request wrote it.
    pub(super) fn destination(&self) -> Option<(&Lookup, &str)> {
        match &self.task {
            Task::Add { to, .. } => Some((to, &self.path)),
            Task::Move { to, to_path, .. } => Some((to, to_path)),
            Task::Delete { .. } => None,
        }
    }

    /// The name that the patch frees.
    pub(super) fn freed(&self) -> Option<&Path> {
        match &self.task {
            Task::Move { from: place, .. } | Task::Delete { place, .. } => Some(place.canonical()),
            Task::Add { .. } => None,
        }
    }

    /// Whether a file with the name of the destination exists.
    pub(super) fn is_taken(&self) -> bool {
        match &self.task {
            Task::Add { to_exists, .. } | Task::Move { to_exists, .. } => *to_exists,
            Task::Delete { .. } => false,
        }
    }
}

impl FileTask<'_> {
    pub(super) fn key(&self) -> FileKey {
        let is_destination = matches!(self.task, Task::Add { content: NewContent::Lines(_), .. });
        (self.operation, is_destination)
    }

    /// Whether it is about a document, and so changes nothing on the disk.
    pub(super) fn is_off_disk(&self) -> bool {
        match &self.task {
            Task::Add { to, .. } => to.is_off_disk(),
            Task::Move { from, .. } => from.is_off_disk(),
            Task::Delete { place, .. } => place.is_off_disk(),
        }
    }
}

/// An operation on a whole file.
pub(super) struct FileTask<'o> {
    pub(super) operation: usize,
    pub(super) path: String,
    pub(super) task: Task<'o>,
    /// Whether its new name may be almost that of another file.
    pub(super) is_verbatim: bool,
}

/// The content of a new file.
pub(super) enum NewContent<'o> {
    /// A text.
    Text(String),
    /// Lines that these operations take from other files.
    Lines(Vec<&'o Operation>),
    /// A file as it was.
    File(&'o RestoredFile),
}

/// The kinds of operations on whole files, with the files that they name.
pub(super) enum Task<'o> {
    Add { to: Lookup, to_exists: bool, content: NewContent<'o> },
    Move { from: Place, stamp: Stamp, to: Lookup, to_path: String, to_exists: bool },
    Delete { place: Place, stamp: Stamp },
}

impl Tasks<'_> {
    /// Removes the `Put` halves of operations whose `Take` halves were dropped as duplicates, and
    /// then the files without operations.
    fn drop_repeated_halves(&mut self) {
        let repeated = repeated(&self.noops);
        for edits in &mut self.edits {
            edits.operations.retain(|operation| !repeated.contains(&operation.index));
        }
        self.edits.retain(|edits| !edits.operations.is_empty());
        for one in &mut self.files {
            if let Task::Add { content: NewContent::Lines(lines), .. } = &mut one.task {
                lines.retain(|line| !repeated.contains(&line.index));
            }
        }
    }

    /// The locks of everything that the patch reads, writes or names.
    pub(super) fn lock_keys(&self) -> Vec<LockKey> {
        let mut keys = self.missing.clone();
        for edits in self.edits.iter().filter(|edits| !edits.place.is_off_disk()) {
            keys.push(LockKey::of_file(&edits.stamp, edits.place.shown()));
            keys.push(LockKey::of_path(edits.place.canonical(), edits.place.shown()));
        }
        for one in self.files.iter().filter(|one| !one.is_off_disk()) {
            let mut path = |path: &Path| keys.push(LockKey::of_path(path, &one.path));
            match &one.task {
                Task::Add { to, .. } => path(&to.path()),
                Task::Move { from, to, stamp, .. } => {
                    path(from.canonical());
                    path(&to.path());
                    keys.push(LockKey::of_file(stamp, &one.path));
                }
                Task::Delete { place, stamp } => {
                    path(place.canonical());
                    keys.push(LockKey::of_file(stamp, &one.path));
                }
            }
        }
        keys.sort();
        keys
    }

    /// The errors for files that an undone patch would delete although they were changed since.
    /// `deleted` are operations, each with the snapshot of the content that the patch left.
    pub(super) fn changed_since(
        &self,
        scope: &Scope<'_>,
        deleted: &[(usize, String)],
    ) -> Vec<(usize, Error)> {
        let mut changed = Vec::new();
        for task in &self.files {
            let left = deleted.iter().find(|(operation, _)| *operation == task.operation);
            let (Some((operation, left)), Task::Delete { place, .. }) = (left, &task.task) else {
                continue;
            };
            if snapshot_of_place(scope, place).is_some_and(|now| now == *left) {
                continue;
            }
            let message = format!(
                "{}: the file changed after the patch that you want to undo. Delete or edit the file instead.",
                task.path
            );
            changed.push((*operation, Error::at(Code::ConcurrentChange, &task.path, message)));
        }
        changed
    }

    /// The errors for moves onto another name of the same inode that the patch frees: after a
    /// crash, recovery could not distinguish the two names.
    pub(super) fn moves_within_one_inode(&self) -> Vec<(usize, Error)> {
        let vacated = self.files.iter().filter_map(|task| match &task.task {
            Task::Move { from: place, stamp, .. } | Task::Delete { place, stamp } => {
                Some((place.canonical(), stamp))
            }
            Task::Add { .. } => None,
        });
        let vacated: HashMap<&Path, &Stamp> = vacated.collect();
        let refusal = |task: &FileTask<'_>| match &task.task {
            Task::Move { stamp, to, to_path, .. } => {
                vacated.get(to.path().as_path()).filter(|there| there.is_same_file(stamp))?;
                let (index, path) = (task.operation, &task.path);
                let message = Mention::Operation(index)
                    + format!(": {path} and {to_path} are the same file: delete {path} instead");
                Some((index, Error::at(Code::InvalidOperation, path, message)))
            }
            Task::Add { .. } | Task::Delete { .. } => None,
        };
        self.files.iter().filter_map(refusal).collect()
    }

    /// The errors for files that would be moved to the path of a document that the patch frees. They
    /// are on the disk, and the document hides that path from the session.
    pub(super) fn moves_onto_documents(&self) -> Vec<(usize, Error)> {
        let refusal = |task: &FileTask<'_>| match &task.task {
            Task::Move { from, to, to_path, .. } if to.is_off_disk() && !from.is_off_disk() => {
                let message = Mention::Operation(task.operation)
                    + format!(
                        ": {to_path} is an open document: move or delete it in one patch, then move {} there in the next",
                        task.path
                    );
                Some((task.operation, Error::at(Code::InvalidOperation, to_path, message)))
            }
            Task::Add { .. } | Task::Move { .. } | Task::Delete { .. } => None,
        };
        self.files.iter().filter_map(refusal).collect()
    }

    /// The errors for files below `state`: a patch that changed journals would break recovery.
    pub(super) fn below_state(&self, state: &Path) -> Vec<(usize, Error)> {
        let edits = self.edits.iter().map(|edits| {
            let operation = edits.operations.first().map_or(0, |operation| operation.index);
            (operation, edits.place.shown(), edits.place.canonical().to_owned())
        });
        let files = self.files.iter().flat_map(|task| {
            let paths = match &task.task {
                Task::Add { to, .. } => vec![to.path()],
                Task::Move { from, to, .. } => vec![from.canonical().to_owned(), to.path()],
                Task::Delete { place, .. } => vec![place.canonical().to_owned()],
            };
            paths.into_iter().map(|path| (task.operation, task.path.as_str(), path))
        });
        let refusal = |(operation, shown, path): (usize, &str, PathBuf)| {
            path.starts_with(state).then(|| {
                let what = format!(
                    "{shown}: is in the state directory {}, which patches cannot change (option ",
                    state.display()
                );
                let message = Message::from(what) + Term::StateDir + ")";
                (operation, Error::at(Code::InvalidOperation, shown, message))
            })
        };
        edits.chain(files).filter_map(refusal).collect()
    }

    /// The effects of the operations on file names.
    pub(super) fn name_changes(&self) -> Vec<(usize, NameChange)> {
        let change = |task: &FileTask<'_>| match &task.task {
            Task::Add { to, to_exists, content } => NameChange::Add {
                to: name(to, &task.path, *to_exists),
                comes_back: matches!(content, NewContent::File(_)),
            },
            Task::Move { from, to, to_path, to_exists, .. } => NameChange::Move {
                from: from.canonical().to_owned(),
                to: name(to, to_path, *to_exists),
            },
            Task::Delete { place, .. } => NameChange::Delete { from: place.canonical().to_owned() },
        };
        self.files.iter().map(|task| (task.operation, change(task))).collect()
    }

    /// The names under which files are edited.
    pub(super) fn edited_names(&self) -> Vec<(usize, PathBuf)> {
        let names = |edits: &FileEdits<'_>| {
            let operation = edits.operations[0].index;
            edits.names.iter().map(move |name| (operation, name.clone())).collect::<Vec<_>>()
        };
        self.edits.iter().flat_map(names).collect()
    }
}

fn name(lookup: &Lookup, shown: &str, exists: bool) -> Name {
    Name { path: lookup.path(), shown: shown.to_owned(), exists }
}

/// Resolves the paths of a patch.
pub(super) struct Lookups<'a> {
    fs: &'a dyn FileSystem,
    base: &'a Base,
    dialect: &'static Dialect,
}

/// The longest chain of symbolic links that is followed, as on Linux.
const LINKS_LIMIT: u32 = 40;

/// The first operation of each kind: by file, action and `verbatim`.
type FirstSeen<'o, K, A> = HashMap<(K, &'o A, bool), usize>;

impl<'a> Lookups<'a> {
    pub(super) fn new(fs: &'a dyn FileSystem, base: &'a Base, dialect: &'static Dialect) -> Self {
        Lookups { fs, base, dialect }
    }

    /// Groups the operations by file. Files that cannot be found become failures.
    pub(super) fn tasks<'o>(&self, patch: &'o Operations) -> (Tasks<'o>, Failures) {
        let mut tasks = Tasks { warnings: &patch.warnings, ..Tasks::default() };
        let mut failures = Failures::default();
        // Many edits of one file cost one lookup.
        let mut found: HashMap<&str, Result<usize>> = HashMap::new();
        let mut by_file: HashMap<(u64, u64), usize> = HashMap::new();
        for operation in &patch.edits {
            if let LineEdit::ReplaceFile { content } = &operation.action
                && patch.frees(&operation.path)
            {
                if let Err(error) = self.add_file(operation, content, &mut tasks) {
                    failures.push(operation.index, Some(&operation.path), error);
                }
                continue;
            }
            let found = found.entry(&operation.path).or_insert_with(|| {
                self.find(&operation.path, &mut tasks, &mut by_file).inspect_err(|error| {
                    self.note_missing(error, &operation.path, &mut tasks);
                })
            });
            match found.clone() {
                Ok(at) if lacks_position(operation) => {
                    let path = tasks.edits[at].place.shown().to_owned();
                    failures.push(operation.index, Some(&path), missing_position(operation, &path));
                }
                Ok(at) => tasks.edits[at].operations.push(operation),
                Err(error) if error.code == Code::FileNotFound && can_create_file(operation) => {
                    let added = match &operation.action {
                        LineEdit::ReplaceFile { content } => self
                            .refuse_dangling_link(&operation.path)
                            .and_then(|()| self.add_file(operation, content, &mut tasks)),
                        _ => self.add_file_of_lines(operation, &mut tasks),
                    };
                    if let Err(error) = added {
                        failures.push(operation.index, Some(&operation.path), error);
                    }
                }
                Err(error) => failures.push(operation.index, Some(&operation.path), error),
            }
        }
        for (path, snapshot) in &patch.snapshots {
            // Snapshots of other files are ignored.
            let at = match found.get(path.as_str()) {
                Some(known) => known.clone().ok(),
                None => self.edited_as(path, &tasks),
            };
            if let Some(at) = at {
                tasks.edits[at].snapshots.push(snapshot);
            }
        }
        for edits in &mut tasks.edits {
            tasks.noops.extend(remove_repeats(self.dialect, &mut edits.operations));
        }
        tasks.drop_repeated_halves();
        let mut seen = FirstSeen::new();
        for operation in &patch.files {
            if let Err(error) = self.whole_file(operation, &mut tasks, &mut seen) {
                self.note_missing(&error, &operation.path, &mut tasks);
                failures.push(operation.index, Some(&operation.path), error);
            }
        }
        if let Some(path) = &patch.path_without_operations
            && let Err(error) = self.file(path)
        {
            failures.push(0, Some(path), error);
        }
        (tasks, failures)
    }

    /// The index of the edited file that another spelling of its path names.
    fn edited_as(&self, path: &str, tasks: &Tasks<'_>) -> Option<usize> {
        let place = self.base.existing(path).ok()?;
        tasks.edits.iter().position(|edits| edits.place.canonical() == place.canonical())
    }

    /// The index of a file in `Tasks::edits`, where it is added if necessary. Different paths to
    /// one file, including hard links, give one entry.
    fn find(
        &self,
        path: &str,
        tasks: &mut Tasks<'_>,
        by_file: &mut HashMap<(u64, u64), usize>,
    ) -> Result<usize> {
        let (place, stamp) = self.file(path)?;
        let link = match self.base.named(path) {
            Ok(Lookup::Found(link)) => link.canonical().to_owned(),
            _ => place.canonical().to_owned(),
        };
        let edits = *by_file.entry((stamp.device, stamp.inode)).or_insert_with(|| {
            tasks.edits.push(FileEdits {
                place: place.clone(),
                stamp,
                operations: Vec::new(),
                snapshots: Vec::new(),
                names: Vec::new(),
            });
            tasks.edits.len() - 1
        });
        for name in [place.canonical(), link.as_path()] {
            if !tasks.edits[edits].names.iter().any(|known| known == name) {
                tasks.edits[edits].names.push(name.to_owned());
            }
        }
        Ok(edits)
    }

    /// The file at a path, after following links.
    fn file(&self, path: &str) -> Result<(Place, Stamp)> {
        let place = self.base.existing(path)?;
        let stamp = self.stamp(&place)?;
        match stamp.kind {
            FileKind::File => Ok((place, stamp)),
            other => Err(not_a_file(path, other.noun())),
        }
    }

    /// Records the locks of a name without a file: those of the name and of all targets of its
    /// links.
    fn note_missing(&self, error: &Error, path: &str, tasks: &mut Tasks<'_>) {
        if error.code != Code::FileNotFound {
            return;
        }
        let mut next = PathBuf::from(path);
        for _ in 0..LINKS_LIMIT {
            let Ok(named) = self.base.named_path(&next) else { break };
            if named.is_off_disk() {
                break;
            }
            tasks.missing.push(LockKey::of_path(&named.path(), path));
            let Lookup::Found(place) = named else { break };
            let Ok(target) = self.fs.read_link(&place) else { break };
            next = place.canonical().with_file_name(target);
        }
    }

    fn stamp(&self, place: &Place) -> Result<Stamp> {
        self.fs.stamp(place).map_err(|cause| Error::io("inspect", place.shown(), &cause))
    }

    /// The stamp of the entry at a name; `None` if there is none.
    fn stamp_if_exists(&self, lookup: &Lookup) -> Result<Option<Stamp>> {
        let Lookup::Found(place) = lookup else { return Ok(None) };
        match self.fs.stamp(place) {
            Ok(stamp) => Ok(Some(stamp)),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(None),
            Err(cause) => Err(Error::io("inspect", place.shown(), &cause)),
        }
    }

    fn whole_file<'o>(
        &self,
        operation: &'o Operation<FileAction>,
        tasks: &mut Tasks<'o>,
        seen: &mut FirstSeen<'o, PathBuf, FileAction>,
    ) -> Result<()> {
        let task = match &operation.action {
            FileAction::Add { content } => {
                let to = self.base.named(&operation.path)?;
                let to_exists = self.stamp_if_exists(&to)?.is_some();
                Task::Add { to, to_exists, content: NewContent::Text(content.clone()) }
            }
            FileAction::Restore(file) => {
                let to = self.base.named(&operation.path)?;
                let to_exists = self.stamp_if_exists(&to)?.is_some();
                Task::Add { to, to_exists, content: NewContent::File(file) }
            }
            FileAction::Move { to } => self.move_file(&operation.path, to)?,
            FileAction::Delete => {
                let (place, stamp) = self.entry(&operation.path)?;
                Task::Delete { place, stamp }
            }
        };
        let key = match &task {
            Task::Add { to, .. } => to.path(),
            Task::Move { from, .. } => from.canonical().to_owned(),
            Task::Delete { place, .. } => place.canonical().to_owned(),
        };
        if let Task::Move { from, to, .. } = &task
            && to.path() == from.canonical()
        {
            tasks.noops.push(noop(operation, NoopReason::Unchanged));
        } else if let Some(noop) = repeats(seen, key, operation) {
            tasks.noops.push(noop);
        } else {
            let path = operation.path.clone();
            let is_verbatim =
                operation.verbatim || matches!(operation.action, FileAction::Restore(_));
            tasks.files.push(FileTask { operation: operation.index, path, task, is_verbatim });
        }
        Ok(())
    }

    /// Creates a file that an operation would have replaced.
    fn add_file(&self, operation: &Operation, content: &str, tasks: &mut Tasks<'_>) -> Result<()> {
        let path = &operation.path;
        let to = self.base.named(path)?;
        let to_exists = self.stamp_if_exists(&to)?.is_some();
        let task = Task::Add { to, to_exists, content: NewContent::Text(content.to_owned()) };
        tasks.files.push(FileTask::of(operation, task));
        Ok(())
    }

    /// Refuses the name of a file that was not found, if it is a link.
    fn refuse_dangling_link(&self, path: &str) -> Result<()> {
        match self.stamp_if_exists(&self.base.named(path)?)? {
            Some(_) => Err(Error::io("find", path, &std::io::ErrorKind::NotFound.into())),
            None => Ok(()),
        }
    }

    /// Adds lines to a file that moved or copied lines create.
    fn add_file_of_lines<'o>(&self, operation: &'o Operation, tasks: &mut Tasks<'o>) -> Result<()> {
        let path = &operation.path;
        self.refuse_dangling_link(path)?;
        let to = self.base.named(path)?;
        let known = tasks.files.iter_mut().find_map(|task| match &mut task.task {
            Task::Add { to: known, content: NewContent::Lines(lines), .. }
                if known.path() == to.path() =>
            {
                Some(lines)
            }
            _ => None,
        });
        match known {
            Some(lines) => lines.push(operation),
            None => {
                let content = NewContent::Lines(vec![operation]);
                let task = Task::Add { to, to_exists: false, content };
                tasks.files.push(FileTask::of(operation, task));
            }
        }
        Ok(())
    }

    fn move_file(&self, path: &str, to_path: &str) -> Result<Task<'static>> {
        let (from, stamp) = self.entry(path)?;
        let to = self.base.named(to_path)?;
        // On a file system that ignores case, a new spelling finds the file itself.
        let is_self = |there: &Stamp| {
            there.is_same_file(&stamp) && differ_in_case_only(from.canonical(), &to.path())
        };
        let to_exists = self.stamp_if_exists(&to)?.is_some_and(|there| !is_self(&there));
        Ok(Task::Move { from, stamp, to, to_path: to_path.to_owned(), to_exists })
    }

    /// A name to remove: that of a file, or of a link itself.
    fn entry(&self, path: &str) -> Result<(Place, Stamp)> {
        let Lookup::Found(place) = self.base.named(path)? else {
            return Err(Error::io("find", path, &std::io::ErrorKind::NotFound.into()));
        };
        let stamp = self.stamp(&place)?;
        match stamp.kind {
            FileKind::File | FileKind::Link => Ok((place, stamp)),
            other => Err(not_a_file(path, other.noun())),
        }
    }
}

/// Whether an operation puts lines without a position.
fn lacks_position(operation: &Operation) -> bool {
    matches!(&operation.action, LineEdit::Put(transfer) if transfer.at.is_none())
}

/// Whether an operation can create the file: it has the whole content, or puts lines without a
/// position, or at the start or end of the file.
fn can_create_file(operation: &Operation) -> bool {
    match &operation.action {
        LineEdit::ReplaceFile { .. } => true,
        LineEdit::Put(transfer) => {
            matches!(transfer.at, None | Some(InsertAt::Start | InsertAt::End))
        }
        _ => false,
    }
}

fn missing_position(operation: &Operation, path: &str) -> Error {
    let message = Mention::Operation(operation.index)
        + format!(
            ": the field to_anchor is missing, but {path} exists: expected an anchor, BOF or EOF"
        );
    Error::at(Code::InvalidOperation, path, message)
}

/// The no-op, if an operation repeats an earlier one exactly.
fn repeats<'o, K: Eq + Hash, A: Eq + Hash>(
    seen: &mut FirstSeen<'o, K, A>,
    key: K,
    operation: &'o Operation<A>,
) -> Option<Noop> {
    match seen.entry((key, &operation.action, operation.verbatim)) {
        Entry::Occupied(first) => Some(noop(operation, NoopReason::Duplicate { of: *first.get() })),
        Entry::Vacant(place) => {
            place.insert(operation.index);
            None
        }
    }
}

/// Whether a repeated edit is applied only once. Repeated inserts are applied each time, except in
/// dialects whose original tool drops them. Only the `Take` half of a move is compared, because
/// equal anchors in two files name different lines.
fn can_repeat(dialect: &Dialect, action: &LineEdit) -> bool {
    match action {
        LineEdit::Put(_) => false,
        _ => dialect.recorded_repairs || !action.is_repeatable(),
    }
}

/// Removes repeated operations on one file.
fn remove_repeats(dialect: &Dialect, operations: &mut Vec<&Operation>) -> Vec<Noop> {
    // Only the few operations that name the same line are compared.
    let line =
        |operation: &Operation| operation.action.anchors().next().map_or(0, |anchor| anchor.line);
    let lines = Recurring::among(operations.iter().map(|operation| line(operation)));
    let (mut seen, mut noops) = (FirstSeen::new(), Vec::new());
    operations.retain(|&operation| {
        if !lines.has(line(operation)) || !can_repeat(dialect, &operation.action) {
            return true;
        }
        let repeat = repeats(&mut seen, (), operation);
        let is_first = repeat.is_none();
        noops.extend(repeat);
        is_first
    });
    noops
}

/// The operations on a text in memory without repeated ones.
pub(super) fn without_duplicates<'o>(
    dialect: &Dialect,
    operations: &'o [Operation],
) -> (Vec<&'o Operation>, Vec<Noop>) {
    let mut kept: Vec<&Operation> = operations.iter().collect();
    let noops = remove_repeats(dialect, &mut kept);
    let repeated = repeated(&noops);
    kept.retain(|operation| !repeated.contains(&operation.index));
    (kept, noops)
}

/// The indexes of repeated operations. Both halves of a move have the same index, so both are
/// dropped.
fn repeated(noops: &[Noop]) -> HashSet<usize> {
    noops.iter().map(|noop| noop.operation).collect()
}
