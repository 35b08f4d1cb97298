//! The contents of a store: files that are named by their hash.

use std::collections::HashSet;
use std::io;

use super::{LOG, RecordStore};
use crate::bytes::snapshot;
use crate::fs::{NewAccess, Place};
use hashline_base::error::{Error, Result};

/// The length of a checksum, and of the name of a content.
const HASH_LETTERS: usize = 32;

/// The name of a content that is being written.
const UNFINISHED: &str = "content.new";

/// The result of reading a content.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoredContent {
    /// The content has its hash.
    Whole(Vec<u8>),
    /// The content does not exist, or is larger than the limit.
    Missing,
    /// The content does not have its hash, or cannot be read.
    Damaged,
}

impl RecordStore {
    /// The hashes and files of all contents.
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

    /// Removes all contents except `keep`, and unfinished ones of dead processes. Returns the first
    /// error after trying all files. Requires the lock.
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
        places.map(unlink).fold(Ok(()), Result::and)
    }

    /// The total size of the contents.
    pub fn contents_bytes(&self) -> Result<u64> {
        let contents = self.contents()?;
        let sizes = contents.iter().filter_map(|(_, place)| self.fs.stamp(place).ok());
        Ok(sizes.map(|stamp| stamp.size_bytes).sum())
    }

    /// Stores a content under its hash and returns the number of bytes written. Requires the lock.
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
            // Free the disk space for others.
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

    /// The content with a hash, up to `limit_bytes`.
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

    /// Removes a damaged content, so that it can be stored again. Requires the lock.
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
