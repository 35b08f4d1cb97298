//! The id of a plan: a hash of each file that a patch reads, and of what it does to the file.

use super::{AddedContents, Job};
use crate::edit::apply::lookup::{FileEdits, FileTask, Task};
use crate::edit::apply::planned_file::PlannedFile;
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;
use hashline_disk::bytes::snapshot;
use hashline_disk::commit::concurrent_with_plan;
use hashline_disk::fs::{Place, Stamp};

/// The digits of the hash of one file.
const DIGITS: usize = 16;

impl Job<'_> {
    /// The id of the plan: the hashes of its files, in the order of the patch.
    pub(in crate::edit::apply) fn plan_id(
        &self,
        added: &AddedContents,
        cancel: &Cancel,
    ) -> Result<String> {
        Ok(self.plan_of_files(added, cancel)?.into_iter().map(|(_, hash)| hash).collect())
    }

    /// Refuses a patch that does not do what a plan says, and names the first file that differs.
    pub(in crate::edit::apply) fn check_plan(
        &self,
        plan: &str,
        added: &AddedContents,
        cancel: &Cancel,
    ) -> Result<()> {
        let files = self.plan_of_files(added, cancel)?;
        let mut planned = plan;
        for (path, hash) in &files {
            planned =
                planned.strip_prefix(hash.as_str()).ok_or_else(|| concurrent_with_plan(path))?;
        }
        if planned.is_empty() {
            return Ok(());
        }
        Err(concurrent_with_plan(files.last().map_or("", |(path, _)| path)))
    }

    fn plan_of_files(
        &self,
        added: &AddedContents,
        cancel: &Cancel,
    ) -> Result<Vec<(String, String)>> {
        let edited = self.tasks.edits.iter().zip(self.files);
        let edited = edited.map(|(edits, file)| {
            let hash = edited_hash(edits, file, cancel)?;
            Ok((edits.place.shown().to_owned(), hash))
        });
        let whole = self.tasks.files.iter();
        let whole = whole.map(|one| Ok((one.path.clone(), self.whole_hash(one, added))));
        edited.chain(whole).collect()
    }

    fn whole_hash(&self, one: &FileTask<'_>, added: &AddedContents) -> String {
        let text = match &one.task {
            Task::Add { to, .. } => {
                format!("add {} {}", to.path().display(), added[&one.key()].snapshot())
            }
            // If it is edited as well, its content is compared with that.
            Task::Move { from, to, stamp, .. } => {
                let (name, to) = (from.canonical().display(), to.path());
                format!("move {name} {} {}", to.display(), version_of(from, stamp))
            }
            Task::Delete { place, stamp } => {
                let name = place.canonical().display();
                format!("delete {name} {}", version_of(place, stamp))
            }
        };
        shortened(&text)
    }
}

/// A file that is read without being changed counts, too: lines may be copied from it.
fn edited_hash(edits: &FileEdits<'_>, file: &PlannedFile, cancel: &Cancel) -> Result<String> {
    let before = file.document.snapshot(cancel)?;
    let after = file.snapshot_after();
    Ok(shortened(&format!("edit {} {before} {after}", edits.place.canonical().display())))
}

/// The version of a file that is not read: its stamp, or the hash of a document, which the host may
/// set again.
fn version_of(place: &Place, stamp: &Stamp) -> String {
    place
        .document()
        .map_or_else(|| format!("{stamp:?}"), |document| snapshot(&document.content.bytes))
}

fn shortened(text: &str) -> String {
    let mut hash = snapshot(text.as_bytes());
    hash.truncate(DIGITS);
    hash
}
