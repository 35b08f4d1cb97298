//! The answer to a patch after the host has worked on the files that it wrote.

use std::path::PathBuf;

use super::Session;
use super::turn::QueuePosition;
use crate::edit::outcome::{Applied, Outcome};
use crate::edit::session::CallMemory;
use crate::edit::settle::settle;
use crate::edit::written::{AfterWrite, Written};
use crate::workspace::turns::Access;
use hashline_base::cancel::Cancel;
use hashline_base::error::Result;

impl Session {
    /// Answers a patch that was applied with [`PatchOptions::keeps_written`] after the host has
    /// worked on its files, for example with a formatter. The files are read again: the anchors,
    /// counts and diffs of the answer are those of their texts now, compared with the texts before
    /// the patch. Only now the lines that the answer shows count as shown.
    ///
    /// The patch is written in any case, so this is cancelled only to end the process.
    ///
    /// [`PatchOptions::keeps_written`]: crate::PatchOptions::keeps_written
    pub fn settle(
        &self,
        written: &Written,
        after: &AfterWrite,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        self.settle_at(&self.enqueue(Access::Writes), written, after, cancel)
    }

    pub(super) fn settle_at(
        &self,
        position: &QueuePosition,
        written: &Written,
        after: &AfterWrite,
        cancel: &Cancel,
    ) -> Result<Outcome> {
        position.wait(cancel)?;
        // What the host did to the files of the patch is part of its answer. What it did to others
        // is reported as the change of another process.
        let names = written.files.iter().filter_map(|file| file.name.clone());
        self.show_now(&names.collect::<Vec<PathBuf>>());
        self.check_files();
        position.delivery.note();
        let memory = &self.state.memory;
        let (patches, unseen, as_of) =
            (Some(&self.state.patches), self.options.unseen, memory.now());
        let call_memory = CallMemory { memory, patches, unseen, as_of, learned: &[], cancel };
        let mut settled = self.workspace.scoped(cancel, |scope| {
            let settled = settle(scope, &call_memory, written, after);
            cancel.check().map(|()| settled)
        })?;
        let undo = self.undo_after(written, &settled.applied, &settled.updates);
        settled.updates.extend(undo);
        memory.learn_from_call(settled.updates, as_of, cancel);
        for (file, tree) in settled.trees {
            self.state.patches.trees().keep(file, tree);
        }
        let snapshots = |applied: &Applied| -> Vec<Option<String>> {
            applied.files.iter().map(|file| file.snapshot.clone()).collect()
        };
        if snapshots(&settled.applied) != snapshots(&written.applied) {
            position.change(self.change_of(&settled.applied));
        }
        self.note_written(&settled.applied);
        self.show_now(&settled.files);
        Ok(Outcome::Applied(settled.applied))
    }
}
