//! The settings that all files of one call share: root, dialect, limits, cancellation. The
//! workspace creates it.

use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use hashline_syntax::Budget;

use super::excerpt::ANSWER_LIMIT_BYTES;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Spelling, Term};
use hashline_disk::bytes::{Charset, LoadOptions};
use hashline_disk::fs::{Base, FileSystem};
use hashline_lines::dialect::Dialect;
use hashline_memory::SessionMemory;

/// The conventions of a binding and its language.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// How messages spell options.
    pub spelling: Spelling,
    /// The longest string it supports, in UTF-16 code units.
    pub text_limit_units: usize,
    /// How long the text of an edit's answer may be.
    pub answer_limit_bytes: usize,
    /// How long the text of a refusal may be.
    pub refusal_limit_bytes: usize,
}

impl Default for Host {
    fn default() -> Host {
        Host {
            spelling: Term::name,
            text_limit_units: usize::MAX,
            answer_limit_bytes: ANSWER_LIMIT_BYTES,
            refusal_limit_bytes: ANSWER_LIMIT_BYTES,
        }
    }
}

/// The encodings of files that are not UTF-8.
#[derive(Default)]
pub struct Encodings<'a> {
    memory: Option<&'a SessionMemory>,
    known: OnceLock<Vec<(PathBuf, Charset)>>,
}

impl<'a> Encodings<'a> {
    /// Encodings are guessed, unless the session knows in which one it showed a file.
    pub fn of_session(memory: &'a SessionMemory) -> Encodings<'a> {
        Encodings { memory: Some(memory), known: OnceLock::new() }
    }

    /// The files whose encodings are known, as they were when the call first asked.
    fn known(&self) -> &[(PathBuf, Charset)] {
        let Some(memory) = self.memory else { return &[] };
        self.known.get_or_init(|| memory.charsets())
    }
}

/// The settings of one call that reads, searches or edits.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The file system.
    pub fs: &'a dyn FileSystem,
    /// The base of relative paths, opened when the call started.
    pub base: &'a Base,
    pub dialect: &'static Dialect,
    /// The encoding of new files and of files without a byte order mark; `None` is UTF-8.
    pub charset: Option<Charset>,
    /// How other encodings are found.
    pub encodings: &'a Encodings<'a>,
    /// The largest file size that is accepted.
    pub max_file_bytes: u64,
    /// The conventions of the binding.
    pub host: Host,
    /// Checked between steps and within long ones.
    pub cancel: &'a Cancel,
    /// The budget for parsing files.
    pub budget: &'a Budget<'a>,
}

impl Scope<'_> {
    /// Whether the call is of a session.
    pub fn is_of_session(&self) -> bool {
        self.encodings.memory.is_some()
    }

    /// How this call loads files.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions {
            charset: self.charset,
            guesses: self.is_of_session(),
            known: None,
            max_file_bytes: self.max_file_bytes,
            cancel: self.cancel.clone(),
            releases_pages: false,
        }
    }

    /// How this call loads the file with a canonical path.
    pub fn load_options_at(&self, file: &Path) -> LoadOptions {
        let known = self.known_charsets().iter().find(|(known, _)| known == file);
        LoadOptions { known: known.map(|(_, charset)| *charset), ..self.load_options() }
    }

    /// How this call loads the file at a path.
    pub fn load_options_of(&self, path: &str) -> LoadOptions {
        LoadOptions { known: self.known_charset(path), ..self.load_options() }
    }

    /// The known encodings of files, unless the caller says the encoding of all.
    fn known_charsets(&self) -> &[(PathBuf, Charset)] {
        if self.charset.is_some() { &[] } else { self.encodings.known() }
    }

    /// The known encoding of the file at a path. Only paths with the name of such a file are
    /// resolved.
    pub fn known_charset(&self, path: &str) -> Option<Charset> {
        let known = self.known_charsets();
        if known.is_empty() {
            return None;
        }
        let name = Path::new(path).file_name()?;
        known.iter().find(|(known, _)| known.file_name() == Some(name))?;
        let place = self.base.existing(path).ok()?;
        known.iter().find(|(known, _)| known == place.canonical()).map(|(_, charset)| *charset)
    }
}
