//! The bytes of a file, in memory or mapped.
//!
//! Large files are mapped because a read copies every byte into fresh pages, which costs more than
//! all later work on them. Files below [`MAP_MIN_BYTES`] are read because a read into a warm buffer
//! is cheaper than a mapping. On any Unix, a file can shrink while it is mapped; that needs
//! `sigbus`, which exists only for Linux. On Windows, a mapped file cannot be truncated or
//! replaced, so a reader would make the writes of other processes fail.

use std::cell::RefCell;
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use super::LoadOptions;
use crate::fs::{FileSystem, Stamp};
use hashline_base::cancel::PIECE_BYTES;
use hashline_base::error::Error;

/// The minimum size of mapped files.
const MAP_MIN_BYTES: u64 = 1 << 20;

/// The same if pages are released. It is smaller, because a read buffer would stay in memory.
const MAP_RELEASED_MIN_BYTES: u64 = 256 << 10;

/// The maximum size of a buffer that is reused for the next file of the same thread.
const KEEP_BUFFER_BYTES: usize = MAP_MIN_BYTES as usize + 4096;

thread_local! {
    /// A buffer that is reused, because fresh memory costs a page fault every 4 KiB.
    static BUFFER: RefCell<Vec<u8>> = const { RefCell::new(Vec::new()) };
}

/// The number of bytes that are scanned before the pages of a mapping are released. About that much
/// of a large file is in memory during a search.
const RELEASE_BYTES: usize = 1 << 20;

/// The purpose of loading a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// To be shown.
    View,
    /// To be edited.
    Edit,
}

/// The bytes of a file.
#[derive(Debug)]
pub(super) struct Content {
    store: Storage,
    /// The version that the bytes belong to; `None` for bytes in memory.
    stamp: Option<Stamp>,
    /// The mapped file, which can still change.
    file: Option<File>,
}

#[derive(Debug)]
enum Storage {
    Owned(Vec<u8>),
    /// The content of a document.
    Shared(Arc<Vec<u8>>),
    Mapped(Mapping),
}

impl Content {
    pub(super) fn copy_of(text: &[u8]) -> Content {
        let mut bytes = BUFFER.take();
        bytes.clear();
        bytes.extend_from_slice(text);
        Content { store: Storage::Owned(bytes), stamp: None, file: None }
    }

    pub(super) fn shared(bytes: Arc<Vec<u8>>) -> Content {
        Content { store: Storage::Shared(bytes), stamp: None, file: None }
    }

    /// The content of `file`, whose stamp was just taken; at most one byte over the limit. `None`
    /// if the file changed meanwhile.
    pub(super) fn load(
        fs: &dyn FileSystem,
        mut file: File,
        stamp: Stamp,
        options: &LoadOptions,
        purpose: Purpose,
    ) -> Result<Option<Content>, LoadFailure> {
        let map_min_bytes =
            if options.releases_pages { MAP_RELEASED_MIN_BYTES } else { MAP_MIN_BYTES };
        let mapping = if stamp.size_bytes >= map_min_bytes {
            Mapping::new(&file, stamp.size_bytes, options.releases_pages)?
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
            FileVersion::Grown => purpose == Purpose::View && content.rereads_equal(fs)?,
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

    /// Whether a file that has grown since it was read still starts with the bytes that were read:
    /// another process may have overwritten them. Mapped bytes are checked later.
    fn rereads_equal(&mut self, fs: &dyn FileSystem) -> io::Result<bool> {
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
            Storage::Shared(bytes) => bytes,
            Storage::Mapped(mapping) => mapping.bytes(),
        }
    }

    /// Whether the bytes are a mapped file, which other processes can change.
    pub(super) fn is_mapped(&self) -> bool {
        matches!(self.store, Storage::Mapped(_))
    }

    /// Records that `bytes` more bytes were scanned.
    pub(super) fn mark_scanned(&self, bytes: usize) {
        if let Storage::Mapped(mapping) = &self.store {
            mapping.mark_scanned(bytes);
        }
    }

    pub(super) fn stamp(&self) -> Option<&Stamp> {
        self.stamp.as_ref()
    }

    /// Compares the file as it is now with the version that was loaded.
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
    /// The caller cancelled the call.
    Cancelled(Error),
    /// The file system reported an error.
    Io(io::Error),
}

impl From<io::Error> for LoadFailure {
    fn from(cause: io::Error) -> LoadFailure {
        LoadFailure::Io(cause)
    }
}

/// Reads a file, in pieces if it is long.
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

/// A file now, compared with the version that was loaded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FileVersion {
    /// The same version.
    Same,
    /// The file is longer: a log, or a file that was overwritten.
    Grown,
    /// A different version.
    Other,
}

impl Drop for Content {
    fn drop(&mut self) {
        if let Storage::Owned(bytes) = &mut self.store
            && bytes.capacity() <= KEEP_BUFFER_BYTES
        {
            let bytes = std::mem::take(bytes);
            // At the end of a thread, the buffer may be destroyed already; then this one is freed,
            // too.
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
    // Fields are dropped in declaration order: the watch must end before the mapping it watches.
    #[cfg(target_os = "linux")]
    watch: super::sigbus::FaultWatch,
    map: memmap2::Mmap,
    /// The number of bytes scanned; `None` if pages are not released.
    scanned_bytes: Option<AtomicUsize>,
}

impl Mapping {
    /// Maps the file; `None` if that is not safe.
    fn new(file: &File, size_bytes: u64, releases_pages: bool) -> io::Result<Option<Mapping>> {
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
        // SAFETY: The file may be changed by others while it is mapped. The bytes are then some mix
        // of versions, so no code relies on two reads agreeing: lengths come from the slice, UTF-8
        // is decoded with checks, and a result from a version that did not last is discarded
        // (`is_current`). A file that shrinks is caught by the watch below; where that fails, there
        // is no mapping.
        let map = unsafe { memmap2::MmapOptions::new().len(len).map(file) };
        let Ok(map) = map else { return Ok(None) };
        let scanned_bytes = releases_pages.then(AtomicUsize::default);
        #[cfg(target_os = "linux")]
        {
            let watch = super::sigbus::FaultWatch::new(&map);
            Ok(watch.map(|watch| Mapping { watch, map, scanned_bytes }))
        }
        #[cfg(not(target_os = "linux"))]
        Ok(Some(Mapping { map, scanned_bytes }))
    }

    fn bytes(&self) -> &[u8] {
        &self.map
    }

    /// Records that `bytes` more bytes were scanned, and periodically releases the pages.
    fn mark_scanned(&self, bytes: usize) {
        let Some(scanned_bytes) = &self.scanned_bytes else { return };
        let before = scanned_bytes.fetch_add(bytes, Ordering::Relaxed);
        if before / RELEASE_BYTES < before.saturating_add(bytes) / RELEASE_BYTES {
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
