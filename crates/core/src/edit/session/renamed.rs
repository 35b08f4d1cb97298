//! Finds the new name of a file that another process renamed.

use std::path::Path;

use crate::view::scope::Scope;
use hashline_disk::bytes::{Loaded, load_place};
use hashline_disk::fs::{FileKind, Lookup};
use hashline_memory::{SessionMemory, hash_of, says_enough};

/// Directories with more names are not searched.
const NAMES_LIMIT: usize = 4_096;

/// The most files of the same length that are read.
const READ_LIMIT: usize = 8;

/// The length of a byte order mark, which is not part of the text.
const MARK_BYTES: u64 = 3;

/// The path of a file in the same directory whose content is the last known text of a missing file.
pub fn renamed(scope: &Scope<'_>, memory: &SessionMemory, path: &str) -> Option<String> {
    let Lookup::Found(place) = scope.base.named(path).ok()? else { return None };
    let record = memory.record(place.canonical());
    let tip = record.file()?.lineages.last()?.tip;
    let known = &record.text(tip)?.text;
    // Many files have only a brace, or nothing.
    if !says_enough(known) {
        return None;
    }
    let length = known.len() as u64;
    let directory = scope.fs.open_dir(&place.directory()).ok()?;
    let mut names = scope.fs.list(&directory).ok()?;
    if names.len() > NAMES_LIMIT {
        return None;
    }
    names.sort();
    let mut read = 0;
    for name in names {
        if read == READ_LIMIT || scope.cancel.check().is_err() {
            return None;
        }
        let other = place.sibling(&name);
        let Ok(stamp) = scope.fs.stamp(&other) else { continue };
        let is_as_long = (length..=length + MARK_BYTES).contains(&stamp.size_bytes);
        if stamp.kind != FileKind::File || !is_as_long {
            continue;
        }
        read += 1;
        if let Ok(Loaded::Text(document)) = load_place(scope.fs, &other, &scope.load_options())
            && hash_of(document.text()) == tip
        {
            return Some(Path::new(path).with_file_name(name).to_str()?.to_owned());
        }
    }
    None
}
