//! Records the decision of a recovery in the journal, so that a repeated recovery comes to the same
//! one. A read-only journal is not changed.

use std::fs::File;
use std::io;

use super::recovery::Recovery;
use super::shown;
use crate::commit::journal::JournalRecord;
use hashline_base::error::{Error, Result};

impl Recovery<'_> {
    /// Cuts off the records after the first `records`. After `begin` alone, only staged files
    /// remain to be removed. Unlike a new record, this needs no disk space.
    pub(super) fn cut_journal_after(&self, records: usize) -> Result<()> {
        let journal = &self.journal;
        let Some(end) = records.checked_sub(1).and_then(|last| journal.ends.get(last)) else {
            return Ok(());
        };
        if journal.size_bytes == *end {
            return Ok(());
        }
        match self.open_journal()? {
            Some(file) => self.cut(&file, *end).map_err(|cause| self.fault(&cause)),
            None => Ok(()),
        }
    }

    /// Writes the `published` record. From then on, a recovery only removes leftovers. Without disk
    /// space for the record, a repeated recovery detects the state by itself.
    pub(super) fn record_published(&self) -> Result<()> {
        let end = self.journal.ends.last().copied().unwrap_or_default();
        let line = JournalRecord::Published.line()?;
        let Some(mut file) = self.open_journal()? else { return Ok(()) };
        let fault = |cause: io::Error| self.fault(&cause);
        if self.journal.size_bytes != end {
            // Cut off an unfinished record.
            self.cut(&file, end).map_err(fault)?;
        }
        self.fs.seek(&mut file, end).map_err(fault)?;
        let written = self.fs.write(&mut file, &line).and_then(|()| self.fs.sync(&file));
        written.or_else(|_| self.cut(&file, end)).map_err(fault)
    }

    fn open_journal(&self) -> Result<Option<File>> {
        match self.fs.open_for_rewrite(self.journal.place) {
            Ok(file) => Ok(Some(file)),
            Err(cause)
                if matches!(
                    cause.kind(),
                    io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem
                ) =>
            {
                Ok(None)
            }
            Err(cause) => Err(self.fault(&cause)),
        }
    }

    fn cut(&self, file: &File, end: u64) -> io::Result<()> {
        self.fs.set_len(file, end)?;
        self.fs.sync(file)
    }

    fn fault(&self, cause: &io::Error) -> Error {
        Error::io("write", &shown(self.journal.place), cause)
    }
}
