//! What a patch does to documents, whose new text the host gets instead of the disk.

use std::path::PathBuf;

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
        let content = edited_content(document, file);
        Some(change(Some(&content), edits_for(document, file), document.version))
    }

    /// What the host must do about a file that is created, moved or deleted, if it is a document.
    pub(super) fn whole_document(
        &self,
        one: &FileTask<'_>,
        added: &AddedContents,
    ) -> Option<DocumentChange> {
        let content = self.content_of(one, added);
        match &one.task {
            Task::Add { .. } => content.map(|content| change(Some(&content), Vec::new(), None)),
            Task::Move { from, .. } => {
                let document = from.document()?;
                let edits = self.edit_of(one).map(|file| edits_for(document, file));
                Some(change(content.as_ref(), edits.unwrap_or_default(), document.version))
            }
            Task::Delete { place, .. } => Some(change(None, Vec::new(), place.document()?.version)),
        }
    }

    /// The content of a document that is created or moved.
    fn content_of(&self, one: &FileTask<'_>, added: &AddedContents) -> Option<OpenContent> {
        match &one.task {
            Task::Add { to, .. } => to.is_off_disk().then(|| added[&one.key()].open_content(None)),
            Task::Move { from, .. } => {
                let document = from.document()?;
                let edited = self.edit_of(one).map(|file| edited_content(document, file));
                Some(edited.unwrap_or_else(|| document.content.clone()))
            }
            Task::Delete { .. } => None,
        }
    }

    /// The updates of documents.
    fn document_updates(&self, added: &AddedContents) -> Vec<(PathBuf, DocumentUpdate)> {
        // All old names are freed before new ones are taken.
        let (mut updates, mut arrivals) = (Vec::new(), Vec::new());
        for (edits, file) in self.edited_in_place() {
            if let Some(document) = edits.place.document() {
                let content = DocumentUpdate::Set(edited_content(document, file));
                updates.push((edits.place.canonical().to_owned(), content));
            }
        }
        for one in &self.tasks.files {
            if let Task::Move { from: gone, .. } | Task::Delete { place: gone, .. } = &one.task
                && gone.document().is_some()
            {
                updates.push((gone.canonical().to_owned(), DocumentUpdate::Remove));
            }
            if let (Task::Add { to, .. } | Task::Move { to, .. }, Some(content)) =
                (&one.task, self.content_of(one, added))
            {
                arrivals.push((to.path(), DocumentUpdate::Set(content)));
            }
        }
        updates.extend(arrivals);
        updates
    }

    /// Commits files, by `commit`, together with documents. A document that was set or closed since
    /// the patch resolved its path refuses it.
    pub(super) fn commit_documents(
        &self,
        added: &AddedContents,
        commit: impl FnOnce() -> Result<(), CommitError>,
    ) -> Result<(), CommitError> {
        let Some((overlay, seen)) = self.scope.base.overlay() else { return commit() };
        let edited = self.tasks.edits.iter().map(|edits| edits.place.canonical().to_owned());
        let whole = self.tasks.files.iter().flat_map(|one| match &one.task {
            Task::Add { to, .. } => vec![to.path()],
            Task::Move { from, to, .. } => vec![from.canonical().to_owned(), to.path()],
            Task::Delete { place, .. } => vec![place.canonical().to_owned()],
        });
        let read: Vec<PathBuf> = edited.chain(whole).collect();
        overlay.commit(&seen, &read, self.document_updates(added), commit)
    }
}

fn edited_content(document: &OpenDocument, file: &PlannedFile) -> OpenContent {
    file.after().open_content(Some(document.content.is_text))
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
