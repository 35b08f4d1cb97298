//! Keeps what a patch writes, for an answer that is made after the host has worked on the files.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

use super::{AddedContents, Job, Report, ReportedFile, SessionParts};
use crate::edit::apply::lookup::{FileEdits, FileKey, Task};
use crate::edit::apply::options::PatchOptions;
use crate::edit::apply::planned_file::PlannedFile;
use crate::edit::outcome::Applied;
use crate::edit::plan::Region;
use crate::edit::structure::SyntaxCheck;
use crate::edit::written::{Written, WrittenFile, WrittenRegion};
use hashline_base::error::Result;
use hashline_disk::bytes::{Loaded, load_place};
use hashline_disk::fs::Place;
use hashline_memory::{LineSet, SessionMemory, Version};

/// The texts of a file, and what was changed.
struct Texts {
    name: Option<PathBuf>,
    before: Option<Version>,
    after: Option<Version>,
    regions: Vec<WrittenRegion>,
}

impl Job<'_> {
    /// The outcome with what the patch writes. To be called before the commit, which may change the
    /// texts of mapped files.
    pub(in crate::edit::apply) fn keep_written(
        &self,
        report: Report<'_>,
        session: SessionParts<'_>,
        added: &AddedContents,
        patch_options: &PatchOptions,
        undone_by: Option<u128>,
    ) -> Result<Applied> {
        let Report { applied, files, .. } = report;
        let unread = self.unread(added, session);
        let keep = |file| self.written_file(file, session, added, &unread);
        let written = Written {
            applied: applied.clone(),
            files: files.into_iter().map(keep).collect(),
            hunks: self.names.hunks(),
            answer: patch_options.answer.or(self.options.edit.answer),
            diff_context_lines: patch_options.diff_context_lines,
            undone_by,
            recovered: String::new(),
            is_silent: patch_options.is_silent,
            checks_syntax: self.options.syntax != Some(SyntaxCheck::Off),
        };
        self.scope.cancel.check()?;
        Ok(Applied { written: Some(Arc::new(written)), ..applied })
    }

    fn written_file(
        &self,
        file: ReportedFile<'_>,
        session: SessionParts<'_>,
        added: &AddedContents,
        unread: &HashMap<FileKey, LineSet>,
    ) -> WrittenFile {
        let ReportedFile { key, section, in_warning } = file;
        let memory = session.call_memory.memory;
        let mut source = key;
        let texts = match self.tasks.files.iter().find(|task| task.key() == key) {
            None => {
                let edited = self.edited_in_place().find(|(edits, _)| edits.key() == key);
                edited.map(|(edits, planned)| {
                    edited_texts(memory, edits.place.canonical().to_owned(), planned)
                })
            }
            Some(task) => match (&task.task, self.edits_of(task)) {
                (Task::Add { to, .. }, _) => Some(created_texts(to.path(), added[&key].version())),
                (Task::Move { to, .. }, Some((edits, planned))) => {
                    source = FileEdits::key(edits);
                    Some(edited_texts(memory, to.path(), planned))
                }
                (Task::Move { from, to, .. }, None) => {
                    Some(self.moved_texts(memory, from, to.path()))
                }
                (Task::Delete { .. }, _) => None,
            },
        };
        let none = || Texts { name: None, before: None, after: None, regions: Vec::new() };
        let Texts { name, before, after, regions } = texts.unwrap_or_else(none);
        let written: LineSet =
            regions.iter().map(|region| region.first..region.first + region.new_lines).collect();
        let unread = unread.get(&source).cloned().unwrap_or_default();
        WrittenFile {
            name,
            before,
            after,
            regions,
            known: written.without(&unread),
            section: section.into_owned(),
            in_warning,
        }
    }

    /// The text of a file that is moved and not edited; none if it is not text.
    fn moved_texts(&self, memory: &SessionMemory, from: &Place, to: PathBuf) -> Texts {
        let loaded = load_place(self.scope.fs, from, &self.scope.load_options_at(from.canonical()));
        let text = match loaded {
            Ok(Loaded::Text(document)) => Some(memory.version(document.text(), None)),
            _ => None,
        };
        Texts { name: Some(to), before: text.clone(), after: text, regions: Vec::new() }
    }
}

fn created_texts(name: PathBuf, after: Version) -> Texts {
    let region = WrittenRegion { old_lines: 0, first: 1, new_lines: after.count() };
    Texts { name: Some(name), before: None, after: Some(after), regions: vec![region] }
}

fn edited_texts(memory: &SessionMemory, name: PathBuf, planned: &PlannedFile) -> Texts {
    let mut shift = 0;
    let regions = planned.plan.regions.iter().map(|region| {
        let first = (region.after_line + 1).saturating_add_signed(shift);
        shift += Region::shift(region);
        WrittenRegion { old_lines: region.old_lines, first, new_lines: region.new_lines }
    });
    let regions = regions.collect();
    let (before, after) = (planned.version_before(memory), planned.after().version());
    Texts { name: Some(name), before: Some(before), after: Some(after), regions }
}
