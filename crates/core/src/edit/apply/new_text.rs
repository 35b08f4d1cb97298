//! The new content of a file, which is built and hashed only once for the parser, the answer, the
//! memory and the commit.

use std::sync::{Arc, OnceLock};

use hashline_disk::bytes::{Charset, Document, hex, snapshot};
use hashline_disk::commit::Content;
use hashline_disk::overlay::OpenContent;
use hashline_memory::{Version, hash_of};

/// The new content of a file.
pub(super) struct NewText {
    /// The bytes of the file.
    bytes: Arc<Vec<u8>>,
    /// The text as the model sees it: UTF-8 without byte order mark. It usually shares memory with
    /// `bytes`.
    text: Arc<Vec<u8>>,
    /// The hash of the text.
    hash: u128,
    /// The hash of the bytes.
    snapshot: String,
    /// Whether the bytes are UTF-8.
    is_plain: bool,
    /// The encoding to remember for the file.
    own_charset: Option<Charset>,
    /// The text with its lines, once it is needed.
    version: OnceLock<Version>,
}

impl NewText {
    /// The bytes of a file in an encoding. `is_plain` says that they are UTF-8 already.
    pub(super) fn of(bytes: Vec<u8>, charset: Charset, is_plain: bool) -> NewText {
        // An edit can make a line that starts with U+FEFF the first one.
        let bom_bytes = Charset::sniff(&bytes).map_or(0, |(_, bom_bytes)| bom_bytes);
        let bytes = Arc::new(bytes);
        let text = match (is_plain, bom_bytes) {
            (true, 0) => Arc::clone(&bytes),
            (true, _) => Arc::new(bytes[bom_bytes..].to_vec()),
            (false, _) => {
                Arc::new(Document::from_text(&bytes).with_charset(charset).text().to_vec())
            }
        };
        let hash = hash_of(&text);
        let snapshot = if Arc::ptr_eq(&bytes, &text) { hex(hash) } else { snapshot(&bytes) };
        let (own_charset, version) = (None, OnceLock::new());
        NewText { bytes, text, hash, snapshot, is_plain, own_charset, version }
    }

    /// The text with the encoding to remember for the file.
    pub(super) fn in_charset(self, own_charset: Option<Charset>) -> NewText {
        NewText { own_charset, ..self }
    }

    /// A file as it was.
    pub(super) fn of_file(bytes: &[u8]) -> NewText {
        let is_plain = std::str::from_utf8(bytes).is_ok();
        let charset = Charset::sniff(bytes).map_or(Charset::Utf8, |(charset, _)| charset);
        NewText::of(bytes.to_vec(), charset, is_plain)
    }

    /// The text.
    pub(super) fn text(&self) -> &Arc<Vec<u8>> {
        &self.text
    }

    /// The hash of the text.
    pub(super) fn hash(&self) -> u128 {
        self.hash
    }

    /// The snapshot of the file.
    pub(super) fn snapshot(&self) -> &str {
        &self.snapshot
    }

    /// The content for the commit.
    pub(super) fn content(&self) -> Content<'_> {
        Content { pieces: vec![&self.bytes], snapshot: Some(&self.snapshot) }
    }

    /// The content for a document of the host; `is_text` if it is held as text, `None` if it is new.
    pub(super) fn open_content(&self, is_text: Option<bool>) -> OpenContent {
        let is_text = is_text.unwrap_or(self.is_plain);
        OpenContent { bytes: Arc::clone(&self.bytes), is_text }
    }

    /// The text as a version for the memory.
    pub(super) fn version(&self) -> Version {
        let version = || {
            let version = Version::shared(Arc::clone(&self.text), self.hash);
            version.in_charset(self.own_charset)
        };
        self.version.get_or_init(version).clone()
    }
}
