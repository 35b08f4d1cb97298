//! The bytes of a file: read into memory, or mapped.
//!
//! Why map: on a large file a read copies every byte into fresh pages, which costs more than
//! all the work that follows. Why not always: below [`MAP_MIN_BYTES`] a read into a warm
//! buffer is cheaper than a mapping. On every Unix a file can shrink under its mapping, which
//! needs `sigbus`; only Linux has it. Windows lets nobody shrink or replace a file that is
//! mapped: there, a reader would make somebody else's writing fail.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::LoadOptions;
use crate::fs::{FileSystem, Stamp};
use hashline_base::cancel::PIECE_BYTES;
use hashline_base::error::Error;

/// Files of at least this size are mapped, where files are.
const MAP_MIN_BYTES: u64 = 1 << 20;

/// The same where pages are given back: a buffer for as much would stay in memory.
const MAP_GIVEN_BACK_MIN_BYTES: u64 = 256 << 10;

/// Buffers up to this size are kept for the next file of the same thread.
const KEEP_BUFFER_BYTES: usize = MAP_MIN_BYTES as usize + 4096;

thread_local! {
    /// A warm buffer: fresh memory costs a page fault every 4 KiB.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// How much is looked at before the pages of a mapping are given back. About so much of a large
/// file stays in memory while it is searched.
const GIVE_BACK_BYTES: usize = 1 << 20;

/// What a file is loaded for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Use {
    /// To be shown.
    View,
    /// To be edited.
    Edit,
}

/// The bytes of a file.
#[derive(Debug)]
pub(super) struct Content {
    store: Storage,
    /// The version the bytes belong to; `None` in memory.
    stamp: Option<Stamp>,
    /// The file behind a mapping, which can still change.
    file: Option<File>,
}

#[derive(Debug)]
enum Storage {
    Owned(Vec<u8>),
    Mapped(Mapping),
}

impl Content {
    pub(super) fn copy_of(text: &[u8]) -> Content {
        let mut bytes = BUFFER.take();
        bytes.clear();
        bytes.extend_from_slice(text);
        Content { store: Storage::Owned(bytes), stamp: None, file: None }
    }

    /// The content of `file`, whose stamp was just taken; at most one byte over the limit.
    /// `None` when the file changed meanwhile.
    pub(super) fn load(
        fs: &dyn FileSystem,
        mut file: File,
        stamp: Stamp,
        options: &LoadOptions,
        use_of: Use,
    ) -> Result<Option<Content>, LoadFailure> {
        let map_min_bytes =
            if options.gives_back { MAP_GIVEN_BACK_MIN_BYTES } else { MAP_MIN_BYTES };
        let mapping = if stamp.size_bytes >= map_min_bytes {
            Mapping::new(&file, stamp.size_bytes, options.gives_back)?
        } else {
            None
        };
        let store = match mapping {
            Some(mapping) => Storage::Mapped(mapping),
            None => {
                let mut bytes = BUFFER.take();
                bytes.clear();
                bytes.reserve(stamp.size_bytes as usize + 1);
                read(fs, &mut file, stamp.size_bytes, options, &mut bytes)?;
                Storage::Owned(bytes)
            }
        };
        let mut content = Content { store, stamp: Some(stamp), file: Some(file) };
        let is_one_version = match content.version(fs)? {
            FileVersion::Same => true,
            FileVersion::Grown => use_of == Use::View && content.is_read_alike(fs)?,
            FileVersion::Other => false,
        };
        if !is_one_version {
            return Ok(None);
        }
        if matches!(content.store, Storage::Owned(_)) {
            content.file = None;
        }
        Ok(Some(content))
    }

    /// Whether bytes that were read from a file which then was longer are still there: somebody
    /// may have written over them. Of mapped bytes nothing is known yet.
    fn is_read_alike(&mut self, fs: &dyn FileSystem) -> io::Result<bool> {
        let (Storage::Owned(bytes), Some(file)) = (&self.store, &mut self.file) else {
            return Ok(true);
        };
        let mut again = Vec::with_capacity(bytes.len());
        fs.seek(file, 0)?;
        fs.read(file, bytes.len() as u64, &mut again)?;
        Ok(again == *bytes)
    }

    pub(super) fn bytes(&self) -> &[u8] {
        match &self.store {
            Storage::Owned(bytes) => bytes,
            Storage::Mapped(mapping) => mapping.bytes(),
        }
    }

    /// Whether the bytes are those of a file, which others can change.
    pub(super) fn is_mapped(&self) -> bool {
        matches!(self.store, Storage::Mapped(_))
    }

    /// Says that so much of it was looked at.
    pub(super) fn passed(&self, bytes: usize) {
        if let Storage::Mapped(mapping) = &self.store {
            mapping.passed(bytes);
        }
    }

    pub(super) fn stamp(&self) -> Option<&Stamp> {
        self.stamp.as_ref()
    }

    /// What the file is by now, beside the version that was loaded.
    pub(super) fn version(&self, fs: &dyn FileSystem) -> io::Result<FileVersion> {
        if matches!(&self.store, Storage::Mapped(mapping) if mapping.has_faulted()) {
            return Ok(FileVersion::Other);
        }
        let (Some(stamp), Some(file)) = (&self.stamp, &self.file) else {
            return Ok(FileVersion::Same);
        };
        Ok(match fs.stamp_of(file)? {
            now if now.is_same_version(stamp) => FileVersion::Same,
            now if now.is_same_file(stamp) && now.size_bytes > stamp.size_bytes => {
                FileVersion::Grown
            }
            _ => FileVersion::Other,
        })
    }
}

/// Why a file was not loaded.
pub(super) enum LoadFailure {
    /// The caller asked.
    Cancelled(Error),
    /// The file system.
    Io(io::Error),
}

impl From<io::Error> for LoadFailure {
    fn from(cause: io::Error) -> LoadFailure {
        LoadFailure::Io(cause)
    }
}

/// Reads a file, a long one in pieces.
fn read(
    fs: &dyn FileSystem,
    file: &mut File,
    size_bytes: u64,
    options: &LoadOptions,
    out: &mut Vec<u8>,
) -> Result<(), LoadFailure> {
    let limit_bytes = options.max_file_bytes.saturating_add(1);
    if size_bytes <= PIECE_BYTES as u64 {
        return Ok(fs.read(file, limit_bytes, out)?);
    }
    loop {
        options.cancel.check().map_err(LoadFailure::Cancelled)?;
        let before = out.len();
        let left_bytes = limit_bytes - before as u64;
        fs.read(file, left_bytes.min(PIECE_BYTES as u64), out)?;
        if out.len() == before {
            return Ok(());
        }
    }
}

/// What a file is, beside what was loaded of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileVersion {
    /// The same version.
    Same,
    /// Longer: a log, or something else was written over it.
    Grown,
    /// Another one.
    Other,
}

impl Drop for Content {
    fn drop(&mut self) {
        if let Storage::Owned(bytes) = &mut self.store
            && bytes.capacity() <= KEEP_BUFFER_BYTES
        {
            let bytes = std::mem::take(bytes);
            // At the end of a thread the buffer may be gone already; then this one goes too.
            let _ = BUFFER.try_with(|buffer| {
                if bytes.capacity() > buffer.borrow().capacity() {
                    *buffer.borrow_mut() = bytes;
                }
            });
        }
    }
}

/// A whole file in the address space, read-only.
#[derive(Debug)]
struct Mapping {
    // Fields are dropped in order: the watch ends before what it watches.
    #[cfg(target_os = "linux")]
    watch: super::sigbus::FaultWatch,
    map: memmap2::Mmap,
    /// How much was looked at, where pages are given back.
    passed_bytes: Option<AtomicUsize>,
}

impl Mapping {
    /// Maps the file; `None` where that would not be safe.
    fn new(file: &File, size_bytes: u64, gives_back: bool) -> io::Result<Option<Mapping>> {
        let Ok(len) = usize::try_from(size_bytes) else {
            return Ok(None);
        };
        #[cfg(target_os = "linux")]
        if !super::sigbus::install() {
            return Ok(None);
        }
        if !cfg!(target_os = "linux") {
            return Ok(None);
        }
        // SAFETY: The file may be changed by others while it is mapped. The bytes are then
        // some mix of versions, which is why no code relies on two looks at them agreeing:
        // lengths come from the slice, UTF-8 is decoded with checks, and what was made of a
        // version that did not last is thrown away (`is_current`). A file that shrinks is
        // caught by the watch below; where that fails there is no mapping.
        let map = unsafe { memmap2::MmapOptions::new().len(len).map(file) };
        let Ok(map) = map else { return Ok(None) };
        let passed_bytes = gives_back.then(AtomicUsize::default);
        #[cfg(target_os = "linux")]
        {
            let watch = super::sigbus::FaultWatch::new(&map);
            Ok(watch.map(|watch| Mapping { watch, map, passed_bytes }))
        }
        #[cfg(not(target_os = "linux"))]
        Ok(Some(Mapping { map, passed_bytes }))
    }

    fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Says that so much was looked at. Now and then the pages are let go.
    fn passed(&self, bytes: usize) {
        let Some(passed_bytes) = &self.passed_bytes else { return };
        let before = passed_bytes.fetch_add(bytes, Ordering::Relaxed);
        if before / GIVE_BACK_BYTES < before.saturating_add(bytes) / GIVE_BACK_BYTES {
            #[cfg(target_os = "linux")]
            // SAFETY: The bytes of a read-only, shared mapping are those of the file before and
            // after. Where the handler of SIGBUS has put zeros, they are zeros before and after.
            // An error means that the pages stay.
            let _ = unsafe { self.map.unchecked_advise(memmap2::UncheckedAdvice::DontNeed) };
        }
    }

    fn has_faulted(&self) -> bool {
        #[cfg(target_os = "linux")]
        return self.watch.has_faulted();
        #[cfg(not(target_os = "linux"))]
        false
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests;
