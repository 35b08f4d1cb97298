//! A text with its lines and its hash: borrowed, owned by the memory, or only the hash.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use twox_hash::XxHash3_128;

use hashline_disk::bytes::Charset;
use hashline_lines::lines::{LineIndex, Lines, Unit};
use hashline_lines::tag::Tag;

/// A text as the model sees it (UTF-8, without byte order mark), with its lines and its hash. Two
/// bodies with the same hash count as the same text where the texts cannot be compared.
#[derive(Clone, Copy)]
pub struct Body<'a> {
    /// The text.
    pub text: &'a [u8],
    /// Its lines.
    pub index: &'a LineIndex,
    /// XXH3 of the text, 128 bits: the number that `hashline_disk::bytes::snapshot` writes as text.
    pub hash: u128,
}

impl<'a> Body<'a> {
    /// A text and its lines.
    pub fn new(text: &'a [u8], index: &'a LineIndex) -> Self {
        Body { text, index, hash: hash_of(text) }
    }

    /// The number of lines.
    pub fn count(&self) -> u64 {
        self.index.count()
    }

    /// A line's text, without its terminator.
    pub fn line(&self, number: u64) -> Option<&'a [u8]> {
        Some(self.index.span(self.text, number)?.text(self.text))
    }

    /// The texts of all lines.
    pub fn lines(&self) -> impl Iterator<Item = &'a [u8]> + use<'a> {
        lines_of(self.text)
    }
}

/// The lines of a text without their terminators.
pub(super) fn lines_of(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    Lines::new(text, Unit::Byte).map(move |span| span.text(text))
}

/// A text that memory owns.
#[derive(Debug)]
pub(super) struct KeptText {
    text: Arc<Vec<u8>>,
    index: LineIndex,
    hash: u128,
}

impl KeptText {
    pub(super) fn body(&self) -> Body<'_> {
        Body { text: &self.text, index: &self.index, hash: self.hash }
    }

    /// Its size in memory.
    pub(super) fn bytes(&self) -> usize {
        self.text.len() + self.index.size_bytes()
    }
}

/// A version of a file: a copy of its text or, if that is too large for the memory, only its hash
/// and line count.
#[derive(Clone, Debug)]
pub struct Version {
    pub(super) hash: u128,
    pub(super) count: u64,
    pub(super) kept: Option<Arc<KeptText>>,
    /// Its tag, if the model is shown tags: a patch may name it after the text was dropped.
    pub(super) tag: Option<Tag>,
    /// The encoding of the file, if its bytes alone may not say it the next time.
    pub(super) charset: Option<Charset>,
}

impl Version {
    fn without_copy(hash: u128, count: u64) -> Version {
        Version { hash, count, kept: None, tag: None, charset: None }
    }

    /// The version with the encoding of the file.
    #[must_use]
    pub fn in_charset(self, charset: Option<Charset>) -> Version {
        Version { charset, ..self }
    }

    /// Copies a text if it is within the limit. The copy is hashed, because a mapped file can
    /// change between two reads.
    pub fn of(text: &[u8], limit_bytes: usize) -> Version {
        if text.len() > limit_bytes {
            let index = LineIndex::new(text, Unit::Byte);
            let body = Body::new(text, &index);
            return Version::without_copy(body.hash, body.count());
        }
        Version::owned(text.to_vec())
    }

    /// Copies a text that cannot change meanwhile, with its lines and hash.
    pub(super) fn copy_of(body: Body<'_>, limit_bytes: usize) -> Version {
        let Body { text, index, hash } = body;
        if text.len() > limit_bytes {
            return Version::without_copy(hash, index.count());
        }
        Version::kept(Arc::new(KeptText {
            text: Arc::new(text.into()),
            index: index.clone(),
            hash,
        }))
    }

    /// Takes ownership of a text.
    pub fn owned(text: Vec<u8>) -> Version {
        let hash = hash_of(&text);
        Version::shared(Arc::new(text), hash)
    }

    /// A shared text, with its hash.
    pub fn shared(text: Arc<Vec<u8>>, hash: u128) -> Version {
        let index = LineIndex::new(&text, Unit::Byte);
        Version::kept(Arc::new(KeptText { text, index, hash }))
    }

    pub(super) fn kept(kept: Arc<KeptText>) -> Version {
        let (hash, count) = (kept.hash, kept.index.count());
        Version { kept: Some(kept), ..Version::without_copy(hash, count) }
    }

    /// Computes the tag of the text, unless it is known.
    pub(super) fn note_tag(&mut self) {
        self.tag = self.tag.or_else(|| Some(Tag::of(self.body()?.text)));
    }

    /// The text and its lines, unless it was too large.
    pub fn body(&self) -> Option<Body<'_>> {
        self.kept.as_deref().map(KeptText::body)
    }

    /// Calls `run` with the body. `text` is the text of this version, in case there is no copy.
    pub fn with_body<T>(&self, text: &[u8], run: impl FnOnce(&Body<'_>) -> T) -> T {
        match self.body() {
            Some(body) => run(&body),
            None => run(&Body::new(text, &LineIndex::new(text, Unit::Byte))),
        }
    }

    /// The number of its lines.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The hash of its text.
    pub fn hash(&self) -> u128 {
        self.hash
    }

    /// Its size in memory.
    pub(super) fn bytes(&self) -> usize {
        self.kept.as_deref().map_or(0, KeptText::bytes)
    }
}

/// The hash that identifies a text.
pub fn hash_of(text: &[u8]) -> u128 {
    XxHash3_128::oneshot(text)
}

/// Refers to a text by its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct TextRef {
    #[serde(with = "hex")]
    pub(super) hash: u128,
    pub(super) lines: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) tag: Option<Tag>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) charset: Option<Charset>,
}

impl TextRef {
    /// Refers to a version.
    pub(super) fn of(text: &Version) -> TextRef {
        let &Version { hash, count: lines, tag, charset, .. } = text;
        TextRef { hash, lines, tag, charset }
    }

    /// A version without a copy of the text.
    pub(super) fn version(&self) -> Version {
        let &TextRef { hash, lines, tag, charset } = self;
        Version { tag, charset, ..Version::without_copy(hash, lines) }
    }
}

/// Hashes as 32 hexadecimal digits: JSON has no 128-bit numbers.
pub mod hex {
    use serde::de::Error;
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes a hash.
    pub fn serialize<S: Serializer>(hash: &u128, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format!("{hash:032x}"))
    }

    /// Reads a hash.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<u128, D::Error> {
        let text = String::deserialize(from)?;
        u128::from_str_radix(&text, 16).map_err(D::Error::custom)
    }
}
