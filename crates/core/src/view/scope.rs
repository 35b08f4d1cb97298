//! The settings that all files of one call share: root, dialect, limits, cancellation. The
//! workspace creates it.

use hashline_syntax::Budget;

use super::excerpt::ANSWER_LIMIT_BYTES;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Spelling, Term};
use hashline_disk::bytes::{Charset, LoadOptions};
use hashline_disk::fs::{Base, FileSystem};
use hashline_lines::dialect::Dialect;

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
    /// How this call loads files.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions {
            charset: self.charset,
            max_file_bytes: self.max_file_bytes,
            cancel: self.cancel.clone(),
            releases_pages: false,
        }
    }
}
