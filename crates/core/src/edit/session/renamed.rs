//! Under which name a file is now that others have renamed.

use std::path::Path;

use crate::view::scope::Scope;
use hashline_disk::bytes::{Loaded, load_place};
use hashline_disk::fs::{FileKind, Lookup};
use hashline_memory::{SessionMemory, hash_of};

/// In a directory with more names, none is looked for.
const NAMES_LIMIT: usize = 4_096;

/// At most this many files that are as long are read.
const READ_LIMIT: usize = 8;

/// How much longer a file can be than its text: by a byte order mark.
const MARK_BYTES: u64 = 3;

/// Of a file that is not found: the name, in the same directory, of one whose content is what the
/// model was shown last of it.
pub fn renamed(scope: &Scope<'_>, memory: &SessionMemory, path: &str) -> Option<String> {
    let Lookup::Found(place) = scope.base.named(path).ok()? else { return None };
    let record = memory.record(place.canonical());
    let tip = record.file()?.lineages.last()?.tip;
    let length = record.text(tip)?.text.len() as u64;
    let directory = scope.fs.open_dir(&place.directory()).ok()?;
    let mut names = scope.fs.list(&directory).ok()?;
    if names.len() > NAMES_LIMIT {
        return None;
    }
    names.sort();
    let mut read = 0;
    for name in names {
        let other = place.sibling(&name);
        let Ok(stamp) = scope.fs.stamp(&other) else { continue };
        let is_as_long = (length..=length + MARK_BYTES).contains(&stamp.size_bytes);
        if stamp.kind != FileKind::File || !is_as_long || read == READ_LIMIT {
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
