//! What a patch does to documents, whose new text the host gets instead of the disk.

use std::path::{Path, PathBuf};

use super::{AddedContents, Job};
use crate::edit::apply::lookup::{FileEdits, FileTask, Task};
use crate::edit::apply::planned_file::PlannedFile;
use crate::edit::outcome::{DocumentChange, TextEdit};
use crate::edit::report::text_edits;
use hashline_disk::commit::CommitError;
use hashline_disk::overlay::{DocumentUpdate, OpenContent, OpenDocument};

impl<'a> Job<'a> {
    /// What the host must do about an edited file, if it is a document.
    pub(super) fn edited_document(
        edits: &FileEdits<'_>,
        file: &PlannedFile,
    ) -> Option<DocumentChange> {
        let document = edits.place.document()?;
        let content = file.after().open_content(Some(document.content.is_text));
        Some(change(Some(&content), edits_for(document, file), document.version))
    }

    /// What the host must do about a file that is created, moved or deleted, if it is a document.
    pub(super) fn whole_document(
        &self,
        one: &FileTask<'_>,
        added: &AddedContents,
    ) -> Option<DocumentChange> {
        match &one.task {
            Task::Add { to, .. } => to
                .is_off_disk()
                .then(|| change(Some(&added[&one.key()].open_content(None)), Vec::new(), None)),
            Task::Move { from, .. } => {
                let document = from.document()?;
                let (content, edits) = match self.edit_of(one) {
                    Some(file) => {
                        let content = file.after().open_content(Some(document.content.is_text));
                        (content, edits_for(document, file))
                    }
                    None => (document.content.clone(), Vec::new()),
                };
                Some(change(Some(&content), edits, document.version))
            }
            Task::Delete { place, .. } => Some(change(None, Vec::new(), place.document()?.version)),
        }
    }

    /// The updates of documents.
    fn document_updates(&self, added: &AddedContents) -> Vec<(PathBuf, DocumentUpdate)> {
        // All old names are freed before new ones are taken.
        let (mut updates, mut arrivals) = (Vec::new(), Vec::new());
        for (edits, file) in self.edited_in_place() {
            if let Some(document) = edits.place.document() {
                let content = file.after().open_content(Some(document.content.is_text));
                let path = edits.place.canonical().to_owned();
                updates.push((path, DocumentUpdate::Set(content)));
            }
        }
        for one in &self.tasks.files {
            match &one.task {
                Task::Add { to, .. } if to.is_off_disk() => {
                    let content = added[&one.key()].open_content(None);
                    arrivals.push((to.path(), DocumentUpdate::Set(content)));
                }
                Task::Move { from, to, .. } => {
                    let Some(document) = from.document() else { continue };
                    let is_text = Some(document.content.is_text);
                    let edited = self.edit_of(one).map(|file| file.after().open_content(is_text));
                    let content = edited.unwrap_or_else(|| document.content.clone());
                    updates.push((from.canonical().to_owned(), DocumentUpdate::Remove));
                    arrivals.push((to.path(), DocumentUpdate::Set(content)));
                }
                Task::Delete { place, .. } if place.document().is_some() => {
                    updates.push((place.canonical().to_owned(), DocumentUpdate::Remove));
                }
                Task::Add { .. } | Task::Delete { .. } => {}
            }
        }
        updates.extend(arrivals);
        updates
    }

    /// Commits files, by `commit`, together with documents.
    pub(super) fn commit_documents(
        &self,
        added: &AddedContents,
        commit: impl FnOnce() -> Result<(), CommitError>,
    ) -> Result<(), CommitError> {
        let Some((overlay, seen)) = self.scope.base.overlay() else { return commit() };
        let updates = self.document_updates(added);
        let read: Vec<&Path> = self
            .tasks
            .edits
            .iter()
            .filter_map(|edits| edits.place.document().map(|_| edits.place.canonical()))
            .collect();
        if updates.is_empty() && read.is_empty() {
            return commit();
        }
        overlay.commit(&seen, &read, updates, commit)
    }
}

fn change(
    content: Option<&OpenContent>,
    text_edits: Vec<TextEdit>,
    version: Option<i64>,
) -> DocumentChange {
    DocumentChange { document: true, content: content.map(Into::into), text_edits, version }
}

/// The edits of a document that the host holds as text.
fn edits_for(document: &OpenDocument, file: &PlannedFile) -> Vec<TextEdit> {
    if document.content.is_text { text_edits(&file.document, &file.plan) } else { Vec::new() }
}
