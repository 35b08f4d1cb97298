//! The contents of a store, each in a file that has its hash for a name.

use std::collections::HashSet;
use std::io;

use super::{LOG, RecordStore};
use crate::bytes::snapshot;
use crate::fs::{NewAccess, Place};
use hashline_base::error::{Error, Result};

/// Letters of a checksum, and of a content's name.
const HASH_LETTERS: usize = 32;

/// A content that is being written.
const UNFINISHED: &str = "content.new";

/// A content, as it was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredContent {
    /// It has its hash.
    Whole(Vec<u8>),
    /// It is not there, or larger than asked for.
    Missing,
    /// It is another one, or cannot be read.
    Damaged,
}

impl RecordStore {
    /// The contents that are there.
    pub(super) fn contents(&self) -> Result<Vec<(u128, Place)>> {
        let log = self.state.store_file_if_made(self.fs, &self.name, LOG)?;
        let Some(log) = log else { return Ok(Vec::new()) };
        let names = self.state.store_names(self.fs, &self.name)?;
        let contents = names.into_iter().filter_map(|name| {
            let letters = name.to_str().filter(|name| name.len() == HASH_LETTERS)?;
            Some((u128::from_str_radix(letters, 16).ok()?, log.sibling(name)))
        });
        Ok(contents.collect())
    }

    /// Drops all contents but some, and what a process left that died while it wrote one. Says
    /// what it could not drop, once the rest is gone. The lock is held.
    pub fn drop_contents(&mut self, keep: &HashSet<u128>) -> Result<()> {
        self.compared.retain(|hash, _| keep.contains(hash));
        let contents = self.contents()?.into_iter().filter(|(hash, _)| !keep.contains(hash));
        let unfinished = self.log()?.sibling(UNFINISHED);
        let places = contents.map(|(_, place)| place).chain([unfinished]);
        let unlink = |place: Place| match self.fs.unlink(&place) {
            Err(cause) if cause.kind() != io::ErrorKind::NotFound => {
                Err(Error::io("remove", place.shown(), &cause))
            }
            _ => Ok(()),
        };
        // All are tried.
        places.map(unlink).fold(Ok(()), Result::and)
    }

    /// How many bytes the contents have.
    pub fn contents_bytes(&self) -> Result<u64> {
        let contents = self.contents()?;
        let sizes = contents.iter().filter_map(|(_, place)| self.fs.stamp(place).ok());
        Ok(sizes.map(|stamp| stamp.size_bytes).sum())
    }

    /// Keeps a content under its hash, and says how many bytes were written for that. The lock is
    /// held.
    pub fn put(&mut self, hash: u128, content: &[u8]) -> Result<u64> {
        let fault = |cause| self.fault("write", &cause);
        let place = self.log()?.sibling(content_name(hash));
        if let Ok(stamp) = self.fs.stamp(&place) {
            let known = self.compared.get(&hash);
            if known.is_some_and(|known| known.is_same_content(&stamp))
                || (stamp.size_bytes == content.len() as u64 && self.holds(&place, content))
            {
                self.compared.insert(hash, stamp);
                return Ok(0);
            }
        }
        let fresh = place.sibling(UNFINISHED);
        let _ = self.fs.unlink(&fresh);
        let mut file = self.fs.create_new(&fresh, NewAccess::OwnerOnly).map_err(fault)?;
        if let Err(cause) = self.fs.write(&mut file, content) {
            // It may be in the way of others on a full disk.
            let _ = self.fs.unlink(&fresh);
            return Err(fault(cause));
        }
        let stamp = self.fs.stamp_of(&file).map_err(fault)?;
        drop(file);
        self.fs.rename(&fresh, &place).map_err(fault)?;
        self.compared.insert(hash, stamp);
        Ok(content.len() as u64)
    }

    fn holds(&self, place: &Place, content: &[u8]) -> bool {
        let mut found = Vec::with_capacity(content.len() + 1);
        let read = self
            .fs
            .open_state(place)
            .and_then(|mut file| self.fs.read(&mut file, content.len() as u64, &mut found));
        read.is_ok() && found == content
    }

    /// The content of a hash, up to so many bytes.
    pub fn get(&self, hash: u128, limit_bytes: u64) -> StoredContent {
        let log = self.state.store_file_if_made(self.fs, &self.name, LOG);
        let Ok(Some(log)) = log else { return StoredContent::Missing };
        let name = content_name(hash);
        let mut file = match self.fs.open_state(&log.sibling(&name)) {
            Ok(file) => file,
            Err(cause) if cause.kind() == io::ErrorKind::NotFound => return StoredContent::Missing,
            Err(_) => return StoredContent::Damaged,
        };
        let mut content = match self.fs.stamp_of(&file) {
            Ok(stamp) if stamp.size_bytes > limit_bytes => return StoredContent::Missing,
            Ok(stamp) => Vec::with_capacity(stamp.size_bytes as usize),
            Err(_) => return StoredContent::Damaged,
        };
        let read = self.fs.read(&mut file, limit_bytes, &mut content);
        if read.is_ok() && snapshot(&content) == name {
            StoredContent::Whole(content)
        } else {
            StoredContent::Damaged
        }
    }

    /// Removes a content that is damaged, so that it can be put there again. The lock is held.
    pub fn discard(&mut self, hash: u128, limit_bytes: u64) {
        if self.get(hash, limit_bytes) == StoredContent::Damaged
            && let Ok(log) = self.log()
        {
            self.compared.remove(&hash);
            let _ = self.fs.unlink(&log.sibling(content_name(hash)));
        }
    }
}

pub(super) fn content_name(hash: u128) -> String {
    format!("{hash:032x}")
}
