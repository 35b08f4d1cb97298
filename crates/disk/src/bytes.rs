//! Loading a file: mapping or reading it, its size limit, encoding, byte order mark and kind.
//!
//! The result is a [`Document`]: the bytes of the file, and a UTF-8 view of its text that has the
//! same lines. Reading and hashing use the view, editing uses the bytes.

mod charset;
mod content;
mod guess;
mod offsets;
mod pieces;
#[cfg(target_os = "linux")]
mod sigbus;
mod strings;

use std::borrow::Cow;
use std::fs::File;
use std::sync::{Arc, OnceLock};

pub use charset::{Charset, Decoded};
use content::{Content, FileVersion, LoadFailure, Purpose};
pub use guess::{GUESS_LIMIT_BYTES, Utf8Tally};
pub use strings::{string_of, string_with_cancel, valid_utf8};

use crate::fs::{Base, FileKind, FileSystem, Opened, Place, Stamp, is_refused_link, not_a_file};
use crate::overlay::OpenDocument;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Mention, Message, Result, Term};
use hashline_lines::lines::Unit;

/// The default of the option `maxFileBytes`.
pub const MAX_FILE_BYTES: u64 = 1 << 30;

/// The number of bytes at the start of a file that decide whether it is binary: a NUL in them makes
/// it so.
pub const HEAD_BYTES: usize = 8 * 1024;

/// How often a file is read again because it changed while it was read.
const READ_ATTEMPTS: u32 = 8;

/// Options for loading files.
#[derive(Clone, Debug)]
pub struct LoadOptions {
    /// The encoding of files without a byte order mark. `None` is UTF-8, unless encodings are
    /// guessed.
    pub charset: Option<Charset>,
    /// Whether to guess the encoding of a file that is not UTF-8.
    pub guesses: bool,
    /// The encoding in which the file was shown, which counts before a guess.
    pub known: Option<Charset>,
    /// The limit on the size of a file; larger files are refused.
    pub max_file_bytes: u64,
    /// Checked between pieces of a file.
    pub cancel: Cancel,
    /// Releases the pages of a mapped file while it is scanned, for calls that scan many files
    /// once. A page that is read again is mapped again.
    pub releases_pages: bool,
}

impl LoadOptions {
    /// The encoding in which a file with NULs is text.
    fn text_charset(&self) -> Option<Charset> {
        self.charset.or(self.known.filter(|known| known.unit() != Unit::Byte))
    }
}

impl Default for LoadOptions {
    fn default() -> Self {
        LoadOptions {
            charset: None,
            guesses: false,
            known: None,
            max_file_bytes: MAX_FILE_BYTES,
            cancel: Cancel::default(),
            releases_pages: false,
        }
    }
}

/// A loaded file, by kind.
#[derive(Debug)]
pub enum Loaded {
    /// Text with lines.
    Text(Document),
    /// Anything else.
    Binary(Binary),
}

impl Loaded {
    /// Whether the file still starts with all that was loaded. It may have grown. Content in memory
    /// is always valid.
    pub fn is_still_valid(&self, fs: &dyn FileSystem) -> std::io::Result<bool> {
        Ok(self.content().version(fs)? != FileVersion::Other)
    }

    fn content(&self) -> &Content {
        match self {
            Loaded::Text(document) => &document.content,
            Loaded::Binary(binary) => &binary.content,
        }
    }
}

/// A file that is not text.
#[derive(Debug)]
pub struct Binary {
    /// The media type, when it is an image.
    pub image_type: Option<&'static str>,
    content: Content,
}

impl Binary {
    /// The hash of the whole content. This reads the whole file, of which loading reads only the
    /// start.
    pub fn snapshot(&self, cancel: &Cancel) -> Result<String> {
        Ok(hex(pieces::hash(self.content.bytes(), cancel)?))
    }

    /// The whole content.
    pub fn bytes(&self) -> &[u8] {
        self.content.bytes()
    }
}

/// A text file in memory.
#[derive(Debug)]
pub struct Document {
    content: Content,
    charset: Charset,
    bom_bytes: usize,
    /// The text as UTF-8; `None` if the bytes of the file are UTF-8 already.
    decoded: Option<Vec<u8>>,
    lossy: bool,
    origin: CharsetOrigin,
    /// Whether the encoding is unknown, computed on demand.
    is_unknown: OnceLock<bool>,
    /// The hash of the content, for files whose content could change without a new stamp.
    fingerprint: Option<u128>,
}

/// Where the encoding of a document is from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum CharsetOrigin {
    /// A byte order mark.
    Mark,
    /// The caller.
    Given,
    /// The bytes: UTF-8, or a guess.
    Guessed,
    /// It is UTF-8 by default.
    Default,
}

impl Document {
    /// A document for a string in memory.
    pub fn from_text(text: &[u8]) -> Document {
        Document::of(Content::copy_of(text), None)
    }

    /// The same bytes, decoded in another encoding unless a byte order mark names one.
    pub fn with_charset(self, charset: Charset) -> Document {
        Document::of(self.content, Some(charset))
    }

    fn of(content: Content, charset: Option<Charset>) -> Document {
        let options = LoadOptions { charset, ..LoadOptions::default() };
        Document::new(content, &options).expect("it is not cancelled")
    }

    fn new(content: Content, options: &LoadOptions) -> Result<Document> {
        let cancel = &options.cancel;
        let (charset, bom_bytes, origin) = match (Charset::sniff(content.bytes()), options.charset)
        {
            (Some((charset, bom_bytes)), _) => (charset, bom_bytes, CharsetOrigin::Mark),
            (None, Some(charset)) => (charset, 0, CharsetOrigin::Given),
            (None, None) if options.guesses => return Document::guessed(content, options),
            (None, None) => (Charset::Utf8, 0, CharsetOrigin::Default),
        };
        let Decoded { text, is_lossy: lossy } =
            pieces::decode(charset, &content.bytes()[bom_bytes..], cancel, &|bytes| {
                content.mark_scanned(bytes);
            })?;
        let decoded = match text {
            Cow::Borrowed(_) => None,
            Cow::Owned(text) => Some(text),
        };
        Ok(Document::decoded(content, (charset, origin), bom_bytes, decoded, lossy))
    }

    /// A document whose encoding is guessed, unless it is UTF-8.
    fn guessed(content: Content, options: &LoadOptions) -> Result<Document> {
        let (bytes, cancel) = (content.bytes(), &options.cancel);
        let is_utf8 = pieces::is_utf8(bytes, cancel, &|bytes| content.mark_scanned(bytes))?;
        let found = match options.known {
            None if is_utf8 => None,
            Some(known) if is_utf8 => {
                guess::ascii_in(known, bytes, cancel)?.map(|text| (known, text))
            }
            known => guess::guess(bytes, known, cancel)?,
        };
        let (charset, decoded, lossy) = match found {
            Some((charset, text)) => (charset, Some(text), false),
            None if is_utf8 => (Charset::Utf8, None, false),
            None => {
                let text = pieces::decode(Charset::Utf8, bytes, cancel, &|_| {})?.text;
                (Charset::Utf8, Some(text.into_owned()), true)
            }
        };
        Ok(Document::decoded(content, (charset, CharsetOrigin::Guessed), 0, decoded, lossy))
    }

    /// A document whose text is `decoded`, or the bytes after the byte order mark.
    fn decoded(
        content: Content,
        (charset, origin): (Charset, CharsetOrigin),
        bom_bytes: usize,
        decoded: Option<Vec<u8>>,
        lossy: bool,
    ) -> Document {
        let (is_unknown, fingerprint) = (OnceLock::new(), None);
        Document { content, charset, bom_bytes, decoded, lossy, origin, is_unknown, fingerprint }
    }

    /// The whole file, byte order mark included.
    pub fn raw(&self) -> &[u8] {
        self.content.bytes()
    }

    /// The file's bytes after the byte order mark.
    pub fn body(&self) -> &[u8] {
        &self.content.bytes()[self.bom_bytes..]
    }

    /// The length of the byte order mark, 0 without one.
    pub fn bom_bytes(&self) -> usize {
        self.bom_bytes
    }

    /// The text as UTF-8. Its lines correspond to those of [`Document::body`].
    pub fn text(&self) -> &[u8] {
        self.decoded.as_deref().unwrap_or_else(|| self.body())
    }

    /// Whether the text cannot change: it is decoded, or not mapped.
    pub fn is_stable(&self) -> bool {
        self.decoded.is_some() || !self.content.is_mapped()
    }

    /// Records that `bytes` more bytes were scanned ([`LoadOptions::releases_pages`]).
    pub fn mark_scanned(&self, bytes: usize) {
        self.content.mark_scanned(bytes);
    }

    /// Whether [`Document::text`] and [`Document::body`] are the same bytes.
    pub fn is_plain(&self) -> bool {
        self.decoded.is_none()
    }

    /// The encoding.
    pub fn charset(&self) -> Charset {
        self.charset
    }

    /// The encoding to remember for the file: one that its bytes alone may not say the next time.
    pub fn own_charset(&self) -> Option<Charset> {
        let is_own = match self.origin {
            CharsetOrigin::Mark | CharsetOrigin::Default => false,
            CharsetOrigin::Given => true,
            CharsetOrigin::Guessed => self.charset != Charset::Utf8,
        };
        is_own.then_some(self.charset)
    }

    /// Whether the encoding may be another one than the caller expects: it was guessed.
    pub fn is_guessed(&self) -> bool {
        self.origin == CharsetOrigin::Guessed
    }

    /// Whether the file was to be guessed, and is in an encoding that is not known.
    pub fn is_of_unknown_charset(&self, cancel: &Cancel) -> Result<bool> {
        let is_unguessed = self.is_guessed() && self.lossy && self.charset == Charset::Utf8;
        if !is_unguessed {
            return Ok(false);
        }
        if let Some(&known) = self.is_unknown.get() {
            return Ok(known);
        }
        let is_other = Utf8Tally::of(self.body(), cancel)?.is_other();
        Ok(*self.is_unknown.get_or_init(|| is_other))
    }

    /// The unit of line terminators in [`Document::body`].
    pub fn unit(&self) -> Unit {
        self.charset.unit()
    }

    /// Converts offsets in [`Document::text`], in ascending order, to offsets in
    /// [`Document::body`]. Refuses an offset next to bytes that are invalid in the encoding, where
    /// the result would be ambiguous.
    pub fn body_offsets(&self, offsets: &[usize]) -> Result<Vec<usize>> {
        match &self.decoded {
            None => Ok(offsets.to_vec()),
            Some(_) => offsets::in_body(self.charset, self.body(), offsets),
        }
    }

    /// Whether the file has sequences that are invalid in its encoding (shown as U+FFFD).
    pub fn lossy(&self) -> bool {
        self.lossy
    }

    /// The stamp of the opened file; `None` for a string in memory.
    pub fn stamp(&self) -> Option<&Stamp> {
        self.content.stamp()
    }

    /// The hash of the whole content: XXH3, 128 bits, in hexadecimal.
    pub fn snapshot(&self, cancel: &Cancel) -> Result<String> {
        Ok(hex(pieces::hash(self.raw(), cancel)?))
    }

    /// Whether the file at `place` still has the content that was loaded. Stamps decide, unless the
    /// file was changed shortly before it was loaded; then its content is read again.
    pub fn is_unchanged(&self, fs: &dyn FileSystem, place: &Place) -> std::io::Result<bool> {
        if !self.is_current(fs)? {
            return Ok(false);
        }
        let Some(fingerprint) = self.fingerprint else { return Ok(true) };
        match fs.open(place) {
            Ok(mut file) => Ok(hash_of_file(fs, &mut file, &Cancel::default())? == fingerprint),
            Err(cause) if is_refused_link(&cause) => Ok(false),
            Err(cause) if cause.kind() == std::io::ErrorKind::NotFound => Ok(false),
            Err(cause) => Err(cause),
        }
    }

    /// Whether the file is still the version that was loaded, according to its stamp. Mapped
    /// content must be checked after its last use, because it can change until then.
    pub fn is_current(&self, fs: &dyn FileSystem) -> std::io::Result<bool> {
        Ok(self.content.version(fs)? == FileVersion::Same)
    }
}

/// The coarsest timestamp granularity of file systems in use: that of FAT.
const TIMESTAMP_GRANULARITY_NS: i128 = 2_000_000_000;

/// Whether a file that was changed at this time could be changed again without a new timestamp.
/// This includes times in the future.
fn is_recent(stamp: &Stamp) -> bool {
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    let now_ns = now.map_or(0, |age| age.as_nanos() as i128);
    now_ns - stamp.modified_ns.max(stamp.changed_ns) < TIMESTAMP_GRANULARITY_NS
}

/// The hash of a content: XXH3, 128 bits, in hexadecimal.
pub fn snapshot(content: &[u8]) -> String {
    hex(twox_hash::XxHash3_128::oneshot(content))
}

/// A hash in the format of snapshots.
pub fn hex(hash: u128) -> String {
    format!("{hash:032x}")
}

/// The snapshot of a content that consists of pieces.
pub fn snapshot_of_pieces(pieces: &[&[u8]]) -> String {
    let mut state = twox_hash::xxhash3_128::Hasher::new();
    for piece in pieces {
        state.write(piece);
    }
    hex(state.finish_128())
}

/// How many bytes of a file are hashed at a time. A larger buffer needs fresh memory and leaves the
/// cache before it is hashed.
const HASH_CHUNK_BYTES: u64 = 1 << 16;

/// The snapshot of an open file, read from its start.
pub fn snapshot_of_file(
    fs: &dyn FileSystem,
    file: &mut File,
    cancel: &Cancel,
) -> std::io::Result<String> {
    fs.seek(file, 0)?;
    hash_of_file(fs, file, cancel).map(hex)
}

fn hash_of_file(fs: &dyn FileSystem, file: &mut File, cancel: &Cancel) -> std::io::Result<u128> {
    let mut state = twox_hash::xxhash3_128::Hasher::new();
    let mut chunk = Vec::with_capacity(HASH_CHUNK_BYTES as usize);
    loop {
        chunk.clear();
        fs.read(file, HASH_CHUNK_BYTES, &mut chunk)?;
        if cancel.is_cancelled() {
            return Err(std::io::ErrorKind::Interrupted.into());
        }
        if chunk.is_empty() {
            return Ok(state.finish_128());
        }
        state.write(&chunk);
    }
}

/// Loads the file at a place, again if it changes meanwhile.
pub fn load_place(fs: &dyn FileSystem, place: &Place, options: &LoadOptions) -> Result<Loaded> {
    if let Some(document) = place.document() {
        return load_document(document, place.shown(), options);
    }
    for _ in 0..READ_ATTEMPTS {
        let file = match fs.open(place) {
            Err(cause) if is_refused_link(&cause) => continue,
            other => other.map_err(|cause| Error::io("read", place.shown(), &cause))?,
        };
        match load(fs, file, place.shown(), options, Purpose::Edit) {
            Err(error) if error.code == Code::ConcurrentChange => {}
            Ok(Loaded::Text(mut document)) => {
                if document.stamp().is_some_and(is_recent) {
                    document.fingerprint = Some(pieces::hash(document.raw(), &options.cancel)?);
                }
                return Ok(Loaded::Text(document));
            }
            // A file that was truncated while it was read has NULs in place of its text.
            Ok(loaded) => match loaded.content().version(fs) {
                Ok(FileVersion::Same) => return Ok(loaded),
                Ok(_) => {}
                Err(cause) => return Err(Error::io("read", place.shown(), &cause)),
            },
            answer => return answer,
        }
    }
    Err(changing(place.shown()))
}

/// Runs `work` on the bytes of a file. Mapped bytes can change at any time, so a panic is not
/// necessarily a bug, and it fails only this file.
pub fn contained<T>(path: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
    result.unwrap_or_else(|_| {
        let message = format!(
            "{path}: this file could not be processed, because of a bug or because it changed meanwhile: try again"
        );
        Err(Error::at(Code::Internal, path, message))
    })
}

/// Opens and loads a file, and passes it to `each` until an answer comes from one version of it: a
/// file that changes meanwhile is loaded again. A file that only grows is used as it was loaded, if
/// it still starts with the same bytes.
pub fn with_file<T>(
    fs: &dyn FileSystem,
    base: &Base,
    path: &str,
    options: &LoadOptions,
    mut each: impl FnMut(&Loaded) -> Result<T>,
) -> Result<T> {
    let mut is_growing = false;
    for _ in 0..READ_ATTEMPTS {
        let loaded = match load_path(fs, base, path, options) {
            Err(error) if error.code == Code::ConcurrentChange => continue,
            other => other?,
        };
        let content = loaded.content();
        // Bytes are compared only for a file that was seen to grow.
        let hash = || pieces::hash(content.bytes(), &options.cancel);
        let before = is_growing.then(hash).transpose()?;
        let answer = contained(path, || each(&loaded));
        let version = content.version(fs).map_err(|cause| Error::io("read", path, &cause))?;
        match (version, before) {
            (FileVersion::Same, _) => return answer,
            (FileVersion::Grown, Some(before)) if before == hash()? => return answer,
            (FileVersion::Grown, _) => is_growing = true,
            (FileVersion::Other, _) => {}
        }
        options.cancel.check()?;
    }
    Err(changing(path))
}

/// Opens and loads a file to be shown, whole or in part. Its content may be mapped: a result made
/// from it is valid only if [`Loaded::is_still_valid`] returns true afterwards.
pub fn load_for_view(
    fs: &dyn FileSystem,
    base: &Base,
    path: &str,
    options: &LoadOptions,
) -> Result<Loaded> {
    for _ in 0..READ_ATTEMPTS {
        match load_path(fs, base, path, options) {
            Err(error) if error.code == Code::ConcurrentChange => options.cancel.check()?,
            other => return other,
        }
    }
    Err(changing(path))
}

/// Whether an open file is a directory, or its first bytes say that it would be loaded as text.
pub fn is_shown(
    fs: &dyn FileSystem,
    mut file: File,
    path: &str,
    options: &LoadOptions,
) -> Result<bool> {
    let failed = |cause| Error::io("read", path, &cause);
    let stamp = fs.stamp_of(&file).map_err(failed)?;
    if stamp.kind != FileKind::File || stamp.size_bytes > options.max_file_bytes {
        return Ok(stamp.kind == FileKind::Directory);
    }
    let mut probe = Vec::new();
    fs.read(&mut file, HEAD_BYTES as u64, &mut probe).map_err(failed)?;
    Ok(detect_binary(&probe, options.text_charset()).is_none())
}

/// Loads bytes that do not come from a file (but from a pipe) as if they were its content.
pub fn load_bytes(name: &str, bytes: &[u8], options: &LoadOptions) -> Result<Loaded> {
    let size_bytes = bytes.len() as u64;
    if size_bytes > options.max_file_bytes {
        return Err(too_large(name, size_bytes, options.max_file_bytes));
    }
    of_content(Content::copy_of(bytes), options)
}

/// Loads the file or document at a path once, to be shown.
fn load_path(
    fs: &dyn FileSystem,
    base: &Base,
    path: &str,
    options: &LoadOptions,
) -> Result<Loaded> {
    match base.open_or_document(path)? {
        Opened::File(file) => load(fs, file, path, options, Purpose::View),
        Opened::Document(document) => load_document(&document, path, options),
    }
}

/// Loads a document of the host as if its content were in a file.
fn load_document(document: &OpenDocument, path: &str, options: &LoadOptions) -> Result<Loaded> {
    options.cancel.check()?;
    let size_bytes = document.content.bytes.len() as u64;
    if size_bytes > options.max_file_bytes {
        return Err(too_large(path, size_bytes, options.max_file_bytes));
    }
    let content = Content::shared(Arc::clone(&document.content.bytes));
    // The encoding of files does not matter for a text.
    let is_text = document.content.is_text;
    let of_bytes = |charset: Option<Charset>| charset.filter(|_| !is_text);
    let (charset, known) = (of_bytes(options.charset), of_bytes(options.known));
    let guesses = options.guesses && !is_text;
    of_content(content, &LoadOptions { charset, guesses, known, ..options.clone() })
}

/// Loads an open file once.
fn load(
    fs: &dyn FileSystem,
    file: File,
    path: &str,
    options: &LoadOptions,
    purpose: Purpose,
) -> Result<Loaded> {
    let stamp = fs.stamp_of(&file).map_err(|cause| Error::io("read", path, &cause))?;
    if stamp.kind != FileKind::File {
        return Err(not_a_file(path, stamp.kind.noun()));
    }
    if stamp.size_bytes > options.max_file_bytes {
        return Err(too_large(path, stamp.size_bytes, options.max_file_bytes));
    }
    options.cancel.check()?;
    let content = Content::load(fs, file, stamp, options, purpose)
        .map_err(|failed| match failed {
            LoadFailure::Cancelled(error) => error,
            LoadFailure::Io(cause) => Error::io("read", path, &cause),
        })?
        .ok_or_else(|| changing(path))?;
    if content.bytes().len() as u64 > options.max_file_bytes {
        return Err(too_large(path, content.bytes().len() as u64, options.max_file_bytes));
    }
    of_content(content, options)
}

fn of_content(content: Content, options: &LoadOptions) -> Result<Loaded> {
    if let Some(image_type) = detect_binary(content.bytes(), options.text_charset()) {
        return Ok(Loaded::Binary(Binary { image_type, content }));
    }
    Ok(Loaded::Text(Document::new(content, options)?))
}

/// `None` for text; otherwise the media type if it is an image.
fn detect_binary(bytes: &[u8], charset: Option<Charset>) -> Option<Option<&'static str>> {
    let probe = &bytes[..bytes.len().min(HEAD_BYTES)];
    let wide = Charset::sniff(probe).is_some_and(|(found, _)| found != Charset::Utf8);
    if charset.is_some() || wide || memchr::memchr(0, probe).is_none() {
        return None;
    }
    let image = infer::get(probe).filter(|kind| kind.matcher_type() == infer::MatcherType::Image);
    Some(image.map(|kind| kind.mime_type()))
}

/// How a content that was written as text would be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Misreading {
    /// As a binary file.
    Binary,
    /// As a text in another encoding.
    In(Charset),
}

impl Misreading {
    /// How a content that is written in `charset` is read, if not in `charset`.
    pub fn of(bytes: &[u8], charset: Charset) -> Option<Misreading> {
        let head = &bytes[..bytes.len().min(HEAD_BYTES)];
        match Charset::sniff(head) {
            Some((found, _)) if found != charset => Some(Misreading::In(found)),
            _ if charset.unit() != Unit::Byte => None,
            _ => memchr::memchr(0, head).map(|_| Misreading::Binary),
        }
    }

    /// The refusal of an operation whose result would be misread.
    pub fn error(self, operation: usize, charset: Charset) -> Error {
        match self {
            Misreading::Binary => Error::new(
                Code::BinaryFile,
                Mention::Operation(operation)
                    + format!(
                        ": NUL (U+0000) would be in the first {HEAD_BYTES} bytes of the file, which would make it binary: it could not be read or edited again. Remove the NUL first with `replace_text`."
                    ),
            ),
            Misreading::In(found) => Error::new(
                Code::UnencodableText,
                Mention::Operation(operation)
                    + format!(
                        ": the file would start with the byte order mark of {}, and would be read in that encoding, not in {}",
                        found.name(),
                        charset.name()
                    ),
            ),
        }
    }
}

fn too_large(path: &str, size_bytes: u64, limit_bytes: u64) -> Error {
    Error::at(
        Code::FileTooLarge,
        path,
        Message::from(format!(
            "{path}: has {size_bytes} bytes, over the limit of {limit_bytes} (option "
        )) + Term::MaxFileBytes
            + ")",
    )
}

fn changing(path: &str) -> Error {
    Error::at(
        Code::ConcurrentChange,
        path,
        format!("{path}: another process changes it faster than it can be read; try again"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text_of(bytes: &[u8], charset: Option<Charset>) -> (String, bool, usize) {
        let document = Document::of(Content::copy_of(bytes), charset);
        let text = String::from_utf8(document.text().to_vec()).unwrap();
        (text, document.lossy(), document.bom_bytes())
    }

    /// The hashes that `xxhsum -H2` of the reference implementation prints.
    #[test]
    fn snapshots_are_xxh3_of_128_bits() {
        let known = [
            (0, "99aa06d3014798d86001c324468d497f"),
            (3, "46f66cb93538156515f7093b173d005c"),
            (16, "650fe308c566747df853dd94614dfa07"),
            (128, "b4f87b99d2db8a511e04fad9f0cacb4d"),
            (129, "6881633650cd8924c51bc887976aef63"),
            (240, "de57aab31e77a2ff93e173833f75ab66"),
            (241, "92b991a7192f3f080b3b630948ce4a00"),
            (1025, "70a4eb1b9691d77fc09fdfbc398c7d82"),
        ];
        for (size_bytes, expected) in known {
            let content: Vec<u8> = (0..size_bytes).map(|at| (at * 31 + 7) as u8).collect();
            assert_eq!(snapshot(&content), expected);
            for cut in [0, size_bytes / 3, size_bytes] {
                let (before, after) = content.split_at(cut);
                assert_eq!(snapshot_of_pieces(&[before, after]), expected, "{cut}");
            }
        }
    }

    #[test]
    fn strings_are_checked() {
        let checked =
            |bytes: &[u8]| string_with_cancel(bytes.to_vec(), &Cancel::default()).unwrap();
        let long = "a".repeat(100);
        for text in ["", "a", "\u{e9}", &long, &format!("{long}\u{1f600}")] {
            assert_eq!(checked(text.as_bytes()), (text.to_owned(), text.is_ascii()));
        }
        let invalid = [long.as_bytes(), b"\xE2\x82"].concat();
        assert_eq!(checked(&invalid), (format!("{long}\u{fffd}"), false));
    }

    #[test]
    fn encodings_are_decoded() {
        assert_eq!(text_of(b"a\xC3\xA9", None), ("aé".into(), false, 0));
        assert_eq!(text_of(b"\xEF\xBB\xBFa", None), ("a".into(), false, 3));
        assert_eq!(text_of(b"a\xFFb", None), ("a\u{fffd}b".into(), true, 0));
        assert_eq!(text_of(b"\xFF\xFEa\0\n\0", None), ("a\n".into(), false, 2));
        assert_eq!(text_of(b"\xFE\xFF\0a", None), ("a".into(), false, 2));
        assert_eq!(text_of(b"\xFF\xFEa\0\0\xD8", None), ("a\u{fffd}".into(), true, 2));
        let latin = Charset::by_label("latin1").unwrap();
        assert_eq!(text_of(b"a\xE9", Some(latin)), ("aé".into(), false, 0));
        let japanese = Charset::by_label("shift_jis").unwrap();
        assert_eq!(text_of(b"\x83\x5c\n", Some(japanese)), ("ソ\n".into(), false, 0));
    }

    #[test]
    fn binary_files_are_distinguished_from_text() {
        assert_eq!(detect_binary(b"abc", None), None);
        assert_eq!(detect_binary(b"a\0c", None), Some(None));
        assert_eq!(detect_binary(b"\xFF\xFEa\0", None), None);
        assert_eq!(detect_binary(b"a\0c", Some(Charset::Utf8)), None);
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
        assert_eq!(detect_binary(png, None), Some(Some("image/png")));
        let mut late = vec![b'a'; HEAD_BYTES];
        late.push(0);
        assert_eq!(detect_binary(&late, None), None);
    }
}
