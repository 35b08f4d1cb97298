//! A patch all of whose operations are valid: its report, its changes and its commit.

mod check;
mod describe;
mod documents;
mod inverse;
mod plan_id;
mod transfers;
mod written;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::controls::added_warning;
use super::lookup::{FileEdits, FileKey, FileTask, NewContent, Task, Tasks};
use super::new_text::NewText;
use super::options::{ApplyOptions, PatchOptions};
use super::planned_file::PlannedFile;
use super::transfer::{GatheredLines, TakenLines, gather};
use crate::edit::outcome::{Applied, FileChange, FileDiff, Warning, WarningCode};
use crate::edit::report::BreakMessage;
use crate::edit::report::{
    DELETED_LIMIT_BYTES, DIFF_LIMIT_REGIONS, HunkNames, Section, applied_text, created_hunks,
    deleted_hunks, edited_hunks, unshown_diff,
};
use crate::edit::session::CallMemory;
use crate::view::scope::Scope;
pub(super) use check::FileChecks;
pub(super) use describe::edited_change;
use describe::{AnswerParts, FileAnswer};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Mention, Result};
use hashline_disk::bytes::{Charset, Loaded, Misreading, load_place};
use hashline_disk::commit::{
    self, CommitError, CommitOptions, TransactionContext, Update, concurrent,
};
use hashline_disk::fs::{FileKind, Place, Stamp};
use hashline_lines::tag::Tag;
use hashline_memory::{LineSet, MemoryUpdate, ShownLines};
pub(super) use transfers::SessionParts;

/// The contents of files that the patch adds.
pub(super) type AddedContents = HashMap<FileKey, NewText>;

/// Who reads the report of success.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum AnswerReader {
    /// The model.
    Model,
    /// Not the model: only the lines that the patch wrote count as shown.
    NoModel,
    /// The model, after the host has worked on the files: then more is learned.
    NotYet,
}

impl AnswerReader {
    pub(super) fn of(options: &PatchOptions) -> AnswerReader {
        match options {
            PatchOptions { keeps_written: true, .. } => AnswerReader::NotYet,
            PatchOptions { is_silent: true, .. } => AnswerReader::NoModel,
            _ => AnswerReader::Model,
        }
    }
}

/// The lines that an answer shows or names, by file.
pub(super) type ShownInFiles = HashMap<FileKey, ShownLines>;

/// The report of a patch.
pub(super) struct Report<'t> {
    pub(super) applied: Applied,
    /// The lines of each file that the answer shows.
    pub(super) shown: ShownInFiles,
    /// The files of the answer, in its order.
    files: Vec<ReportedFile<'t>>,
}

/// A file of a report.
struct ReportedFile<'t> {
    key: FileKey,
    section: Section<'t>,
    /// The lines that a warning shows.
    in_warning: ShownLines,
}

/// The lines that a warning shows.
fn in_warning(broken: Option<&BreakMessage>) -> ShownLines {
    broken.map(|broken| broken.shown.clone()).unwrap_or_default()
}

/// A patch that is planned and ready to be written.
pub(super) struct Job<'a> {
    scope: &'a Scope<'a>,
    context: TransactionContext<'a>,
    options: &'a ApplyOptions,
    names: HunkNames<'a>,
    tasks: &'a Tasks<'a>,
    /// One for each of `tasks.edits`.
    files: &'a [PlannedFile],
    /// The indexes in `files` of files whose content changes, by path.
    edited: HashMap<&'a Path, usize>,
    /// The moves of files, by old path.
    moved: HashMap<&'a Path, &'a FileTask<'a>>,
}

impl<'a> Job<'a> {
    pub(super) fn new(
        scope: &'a Scope<'a>,
        context: TransactionContext<'a>,
        options: &'a ApplyOptions,
        names: HunkNames<'a>,
        tasks: &'a Tasks<'a>,
        files: &'a [PlannedFile],
    ) -> Self {
        let edited = tasks.edits.iter().zip(files).enumerate();
        let edited = edited.filter(|(_, (_, file))| !file.plan.regions.is_empty());
        let edited = edited.map(|(at, (edits, _))| (edits.place.canonical(), at)).collect();
        let moved = tasks.files.iter().filter_map(|task| match &task.task {
            Task::Move { from, .. } => Some((from.canonical(), task)),
            _ => None,
        });
        Job { scope, context, options, names, tasks, files, edited, moved: moved.collect() }
    }

    /// The contents of added files. Texts are encoded as the option says; lines of other files keep
    /// the encoding of their file.
    pub(super) fn added_contents(
        &self,
        charset: Option<Charset>,
        taken: &TakenLines,
    ) -> Result<AddedContents> {
        let charset = charset.unwrap_or(Charset::Utf8);
        let mut added = AddedContents::new();
        for one in &self.tasks.files {
            let Task::Add { content, .. } = &one.task else { continue };
            let content = match content {
                NewContent::Lines(operations) => gather(operations, taken)?,
                NewContent::File(file) => {
                    added.insert(one.key(), NewText::of_file(&file.content));
                    continue;
                }
                NewContent::Text(content) => {
                    let bytes = charset.encode(content).map_err(|character| {
                        let (operation, name) = (one.operation, charset.name());
                        let message = Mention::Operation(operation)
                            + format!(": the character {character:?} does not exist in {name}");
                        Error::at(Code::UnencodableText, &one.path, message)
                    })?;
                    GatheredLines { charset, bytes }
                }
            };
            if let Some(misread) = Misreading::of(&content.bytes, content.charset) {
                let error = misread.error(one.operation, content.charset);
                return Err(error.about(&one.path));
            }
            let GatheredLines { charset, bytes } = content;
            let is_plain = charset == Charset::Utf8;
            let own_charset = (!is_plain && Charset::sniff(&bytes).is_none()).then_some(charset);
            let text = NewText::of(bytes, charset, is_plain).in_charset(own_charset);
            added.insert(one.key(), text);
        }
        Ok(added)
    }

    /// The files that are edited and not moved.
    fn edited_in_place(&self) -> impl Iterator<Item = (&'a FileEdits<'a>, &'a PlannedFile)> {
        self.tasks.edits.iter().zip(self.files).filter(|(edits, file)| {
            !file.plan.regions.is_empty() && !self.moved.contains_key(edits.place.canonical())
        })
    }

    /// The plan for a file that is both moved and edited.
    fn edit_of(&self, one: &FileTask<'_>) -> Option<&'a PlannedFile> {
        self.edits_of(one).map(|(_, file)| file)
    }

    /// The plan for a file that is both moved and edited, with the operations.
    fn edits_of(&self, one: &FileTask<'_>) -> Option<(&'a FileEdits<'a>, &'a PlannedFile)> {
        let Task::Move { from, .. } = &one.task else { return None };
        self.edited.get(from.canonical()).map(|&at| (&self.tasks.edits[at], &self.files[at]))
    }

    /// Whether the patch names only one file. It is not enough that only one changes: lines can be
    /// copied from another file, and the operations on another file can be without effect.
    fn is_about_one_file(&self) -> bool {
        let edits = &self.tasks.edits;
        // The caller of an undo has not named the file.
        if edits.iter().any(|edits| edits.restored().is_some()) {
            return false;
        }
        let is_edited =
            |from: &Place| edits.iter().any(|edits| edits.place.canonical() == from.canonical());
        let whole = self
            .tasks
            .files
            .iter()
            .filter(|task| !matches!(&task.task, Task::Move { from, .. } if is_edited(from)));
        edits.len() + whole.count() == 1
    }

    /// Writes everything, or nothing.
    pub(super) fn commit(
        &self,
        added: &AddedContents,
        cancel: &Cancel,
    ) -> std::result::Result<(), CommitError> {
        self.commit_documents(added, || self.commit_files(added, cancel))
    }

    fn commit_files(
        &self,
        added: &AddedContents,
        cancel: &Cancel,
    ) -> std::result::Result<(), CommitError> {
        let updates = self.updates(added);
        if updates.is_empty() {
            return cancel.check().map_err(CommitError::Refused);
        }
        let options = CommitOptions {
            durability: self.options.durability,
            refuse_hard_links: self.scope.base.root_path().is_some(),
        };
        let is_current = || {
            let fs = self.context.fs;
            let edited = self.edited.values().map(|&at| (&self.tasks.edits[at], &self.files[at]));
            for (edits, file) in edited {
                let shown = edits.place.shown();
                let fault = |cause| Error::io("read", shown, &cause);
                if !file.document.is_unchanged(fs, &edits.place).map_err(fault)? {
                    return Err(concurrent(shown, "was changed"));
                }
            }
            Ok(())
        };
        commit::commit(self.context, &updates, options, cancel, &is_current)
    }

    fn updates<'c>(&'c self, added: &'c AddedContents) -> Vec<Update<'c>> {
        let mut updates = Vec::new();
        for (edits, file) in self.edited_in_place() {
            if let Some(&stamp) = file.document.stamp() {
                let content = file.content_after();
                updates.push(Update::Rewrite { place: edits.place.clone(), stamp, content });
            }
        }
        let mut deleted = self.deleted();
        for one in self.tasks.files.iter().filter(|one| !one.is_off_disk()) {
            updates.push(match &one.task {
                Task::Add { to, content: source, .. } => {
                    let content = added[&one.key()].content();
                    let path = to.path();
                    // A symbolic link has no attributes that a file could keep.
                    let is_file = |(_, stamp): &(&Place, Stamp)| stamp.kind == FileKind::File;
                    match deleted.get(path.as_path()).copied().filter(is_file) {
                        Some((place, stamp)) => {
                            deleted.remove(path.as_path());
                            Update::Recreate { place: place.clone(), stamp, content }
                        }
                        None => {
                            let rights = match source {
                                NewContent::File(file) => file.rights(),
                                NewContent::Text(_) | NewContent::Lines(_) => None,
                            };
                            Update::Create { to: to.clone(), content, rights }
                        }
                    }
                }
                Task::Move { from, stamp, to, .. } => {
                    let edit = self.edit_of(one);
                    let edited_stamp = edit.and_then(|file| file.document.stamp());
                    let stamp = *edited_stamp.unwrap_or(stamp);
                    let content = edit.map(PlannedFile::content_after);
                    Update::Move { from: from.clone(), stamp, to: to.clone(), content }
                }
                Task::Delete { .. } => continue,
            });
        }
        let delete =
            |(place, stamp): (&Place, Stamp)| Update::Delete { place: place.clone(), stamp };
        updates.extend(deleted.into_values().map(delete));
        updates
    }

    /// The names that the patch deletes, by path.
    fn deleted(&self) -> BTreeMap<&Path, (&Place, Stamp)> {
        let on_disk = self.tasks.files.iter().filter(|task| !task.is_off_disk());
        let deleted = on_disk.filter_map(|task| match &task.task {
            Task::Delete { place, stamp } => Some((place.canonical(), (place, *stamp))),
            Task::Add { .. } | Task::Move { .. } => None,
        });
        deleted.collect()
    }

    /// The report of the patch as if it were committed.
    pub(super) fn report<'t>(
        &self,
        added: &'t AddedContents,
        patch_options: &PatchOptions,
        checks: &'t FileChecks,
        session: Option<SessionParts<'t>>,
    ) -> Report<'t>
    where
        'a: 't,
    {
        let &PatchOptions { diff_context_lines, dry_run: is_dry_run, .. } = patch_options;
        let answer = patch_options.answer.or(self.options.edit.answer);
        let answer = if is_dry_run { answer.for_dry_run() } else { answer };
        let parts = AnswerParts { added, checks, session, answer, is_dry_run };
        let mut files = self.describe_files(&parts);
        let is_about_one_file = self.is_about_one_file();
        let mut applied = Applied { is_about_one_file, ..Applied::default() };
        let vouched = checks.values().filter(|check| check.checked.confirms_indentation);
        let vouched: HashSet<&str> = vouched.map(|check| check.from.as_str()).collect();
        let counts = |warning: &&Warning| {
            warning.code != WarningCode::Indentation || !vouched.contains(warning.path.as_str())
        };
        for file in self.files {
            applied.relocations.extend(file.relocations.iter().cloned());
            applied.repairs.extend(file.repairs.iter().cloned());
            applied.warnings.extend(file.warnings.iter().filter(counts).cloned());
            applied.noops.extend(file.noops.iter().cloned());
        }
        applied.repairs.extend(self.tasks.repairs.iter().cloned());
        applied.warnings.extend(self.tasks.warnings.iter().cloned());
        applied.warnings.extend(self.tasks.files.iter().filter_map(added_warning));
        applied.noops.extend(self.tasks.noops.iter().cloned());
        for file in &mut files {
            let Some(check) = checks.get(&file.key) else { continue };
            file.change.syntax = Some(check.checked.state);
            let message = file.broken.as_mut().map(|broken| std::mem::take(&mut broken.message));
            applied.warnings.extend(message.map(|message| check.warning(message)));
        }
        applied.warnings.iter_mut().for_each(|warning| self.names.write(&mut warning.message));
        applied.relocations.sort_by_key(|relocation| relocation.operation);
        applied.repairs.sort_by_key(|repair| repair.operation);
        applied.warnings.sort_by_key(|warning| warning.operation);
        applied.noops.sort_by_key(|noop| noop.operation);
        if let Some(context_lines) = diff_context_lines {
            for FileAnswer { key, change, .. } in &mut files {
                change.diff = Some(self.diff_of(*key, change, added, context_lines));
            }
        }
        let (mut keys, mut sections_of_files) = (Vec::new(), Vec::new());
        for FileAnswer { key, change, section, ambiguous, broken } in files {
            applied.files.push(change);
            sections_of_files.push((section, ambiguous));
            keys.push((key, broken));
        }
        let (text, shown) = applied_text(
            &applied,
            &sections_of_files,
            self.names,
            self.scope.host.answer_limit_bytes,
        );
        applied.text = text;
        let in_file = |((key, broken), mut shown): (_, ShownLines)| {
            if let Some(BreakMessage { shown: in_warning, .. }) = broken {
                shown.lines.extend(&in_warning.lines);
                shown.parts.extend(in_warning.parts);
            }
            (key, shown)
        };
        let sections = keys.iter().map(|(key, broken)| (*key, in_warning(broken.as_ref())));
        let sections = sections
            .zip(sections_of_files)
            .map(|((key, in_warning), (section, _))| ReportedFile { key, section, in_warning });
        let files = sections.collect();
        Report { applied, files, shown: keys.into_iter().zip(shown).map(in_file).collect() }
    }

    /// The diff of a file.
    fn diff_of(
        &self,
        key: FileKey,
        change: &FileChange,
        added: &AddedContents,
        context_lines: u64,
    ) -> FileDiff {
        let Some(one) = self.tasks.files.iter().find(|task| task.key() == key) else {
            let mut edited = self.edited_in_place();
            let file = edited.find(|(edits, _)| edits.key() == key);
            return self.edited_diff(
                &change.path,
                change,
                file.map(|(_, file)| file),
                context_lines,
            );
        };
        match &one.task {
            Task::Add { content: NewContent::File(file), .. }
                if file.content.len() > DELETED_LIMIT_BYTES || file.content.contains(&0) =>
            {
                let why = "its lines are not shown: it is large or binary";
                let text = unshown_diff(None, Some(&change.path), why);
                FileDiff { text, hunks: Vec::new() }
            }
            Task::Add { .. } => {
                let hunks = created_hunks(added[&key].text());
                FileDiff::of(None, Some(&change.path), hunks)
            }
            Task::Move { .. } => {
                self.edited_diff(&one.path, change, self.edit_of(one), context_lines)
            }
            Task::Delete { place, .. } => self.deleted_diff(place, &change.path),
        }
    }

    /// The diff of a file that is edited, or only moved. Very many changes are not shown.
    fn edited_diff(
        &self,
        from: &str,
        change: &FileChange,
        file: Option<&PlannedFile>,
        context_lines: u64,
    ) -> FileDiff {
        let (from, to) = (Some(from), Some(change.path.as_str()));
        if file.is_some_and(|file| file.plan.regions.len() > DIFF_LIMIT_REGIONS) {
            let text = unshown_diff(from, to, "its lines are not shown: there are too many");
            return FileDiff { text, hunks: Vec::new() };
        }
        let hunks = file.map(|file| edited_hunks(&file.report(self.scope.dialect), context_lines));
        FileDiff::of(from, to, hunks.unwrap_or_default())
    }

    /// The diff of a deleted file. If its lines cannot be shown, the diff gives the reason.
    fn deleted_diff(&self, place: &Place, path: &str) -> FileDiff {
        let unshown =
            |why: &str| FileDiff { text: unshown_diff(Some(path), None, why), hunks: Vec::new() };
        match load_place(self.scope.fs, place, &self.scope.load_options_at(place.canonical())) {
            Ok(Loaded::Text(document)) if document.text().len() <= DELETED_LIMIT_BYTES => {
                FileDiff::of(Some(path), None, deleted_hunks(document.text()))
            }
            Ok(Loaded::Text(_)) => unshown("its lines are not shown: there are too many"),
            Ok(Loaded::Binary(_)) => unshown("a binary file"),
            Err(error) => unshown(&format!("its lines are not shown: {}", error.code.as_str())),
        }
    }

    /// The updates of a session's memory that the commit makes necessary.
    pub(super) fn memory_updates(
        &self,
        session: SessionParts<'_>,
        reader: AnswerReader,
        added: &AddedContents,
        shown: &ShownInFiles,
    ) -> Vec<MemoryUpdate> {
        let transfers = session.transfers;
        let edited_update =
            |edits, file, shown| self.edited_update(session, edits, file, shown, reader);
        let shown_of = |key: FileKey| match reader {
            AnswerReader::NotYet => ShownLines::default(),
            _ => shown.get(&key).cloned().unwrap_or_default(),
        };
        let mut updates = Vec::new();
        for (edits, file) in self.edited_in_place() {
            let name = edits.place.canonical().to_owned();
            updates.push(edited_update((edits, file), name, shown_of(edits.key())));
        }
        // All old names are freed before new ones are taken: moves can chain and swap.
        let (mut moves, mut arrivals) = (Vec::new(), Vec::new());
        for one in &self.tasks.files {
            let mut known = shown_of(one.key());
            match &one.task {
                Task::Delete { place, .. } => {
                    updates.push(MemoryUpdate::Forgotten {
                        file: place.canonical().to_owned(),
                        keeps_undo: true,
                    });
                }
                Task::Move { from, to, .. } => {
                    moves.push((from.canonical().to_owned(), to.path()));
                    if let Some(edits) = self.edits_of(one) {
                        arrivals.push(edited_update(edits, to.path(), known));
                    }
                }
                Task::Add { to, content, .. } => {
                    let text = added[&one.key()].version();
                    let shown = transfers.shown(one.key());
                    let pasted = match content {
                        // The model need not know a file that it deleted.
                        NewContent::File(_) => LineSet::of(1, text.count()),
                        _ => transfers.pasted(one.key()),
                    };
                    known.extend(&shown);
                    arrivals.push(MemoryUpdate::Written {
                        file: to.path(),
                        text,
                        shown: known,
                        pasted,
                    });
                }
            }
        }
        updates.push(MemoryUpdate::Moved { moves });
        updates.extend(arrivals);
        updates
    }

    /// The update for an edited file; `file` is its name after the patch.
    fn edited_update(
        &self,
        session: SessionParts<'_>,
        (edits, planned): (&FileEdits<'_>, &PlannedFile),
        file: PathBuf,
        mut shown: ShownLines,
        reader: AnswerReader,
    ) -> MemoryUpdate {
        let SessionParts { call_memory, transfers } = session;
        let memory = call_memory.memory;
        let after = planned.after().version();
        let mut changes = transfers.changes(edits.key(), planned);
        changes.pasted.extend(&unread_parts(call_memory, edits, planned));
        if reader == AnswerReader::NoModel {
            shown = shown.common(&changes.written());
        }
        // A rendered line can be cut, but the model knows all of the text that it wrote.
        shown.extend(&shown.lines.common(&changes.written()));
        shown.extend(&transfers.shown(edits.key()));
        if !memory.knows(edits.place.canonical()) {
            // The memory has no lines of the file that the edit could have moved.
            return MemoryUpdate::Shown { file, text: after, lines: shown };
        }
        let knows_tags = !self.scope.dialect.has_hashes() || edits.has_tagged_anchor();
        changes.tag_before = knows_tags.then(|| Tag::of(planned.document.text()));
        let before = planned.version_before(memory);
        MemoryUpdate::Edited { file, before, after, changes, shown }
    }
}

/// New lines that contain old text which the model has not seen.
fn unread_parts(
    call_memory: &CallMemory<'_>,
    edits: &FileEdits<'_>,
    planned: &PlannedFile,
) -> LineSet {
    let regions = &planned.plan.regions;
    if regions.iter().all(|region| region.partly_old.is_empty()) {
        return LineSet::default();
    }
    let (name, hash) = (edits.place.canonical(), planned.body_before().hash);
    let known = call_memory.memory.known_lines(name, hash, call_memory.as_of);
    let is_restored = edits.restored().is_some();
    let mut shift = 0;
    let unread = regions.iter().flat_map(|region| {
        let first = region.after_line + 1;
        let now = first.saturating_add_signed(shift);
        shift += region.shift();
        let is_known = known.missing(first..first + region.old_lines).is_empty();
        let lines = region.partly_old.iter().filter(move |_| is_restored || !is_known);
        lines.map(move |&line| now + line..now + line + 1)
    });
    unread.collect()
}
