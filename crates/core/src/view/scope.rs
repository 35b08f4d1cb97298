//! What all files of one call have in common: where paths lead, how bytes become lines, and who
//! may call the whole off. Made by the workspace, handed down by reference.

use hashline_syntax::Budget;

use super::excerpt::ANSWER_LIMIT_BYTES;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Spelling, Term};
use hashline_disk::bytes::{Charset, LoadOptions};
use hashline_disk::fs::{Base, FileSystem};
use hashline_lines::dialect::Dialect;

/// What a face asks of all calls, for the language that it speaks.
#[derive(Clone, Copy, Debug)]
pub struct Host {
    /// How it writes options in messages.
    pub spelling: Spelling,
    /// The longest text that it can hand over, in UTF-16 code units.
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

/// What reads, searches and edits of one call share.
#[derive(Clone, Copy)]
pub struct Scope<'a> {
    /// The file system.
    pub fs: &'a dyn FileSystem,
    /// Where paths lead; opened when the call began.
    pub base: &'a Base,
    /// The dialect of the anchors.
    pub dialect: &'static Dialect,
    /// The encoding of files without byte order mark, and of new files; UTF-8 when `None`.
    pub charset: Option<Charset>,
    /// Larger files are refused.
    pub max_file_bytes: u64,
    /// What the face asks for.
    pub host: Host,
    /// Looked at between steps and within long ones.
    pub cancel: &'a Cancel,
    /// What may be spent on the structure of files.
    pub budget: &'a Budget<'a>,
}

impl Scope<'_> {
    /// How files of this call are loaded.
    pub fn load_options(&self) -> LoadOptions {
        LoadOptions {
            charset: self.charset,
            max_file_bytes: self.max_file_bytes,
            cancel: self.cancel.clone(),
            releases_pages: false,
        }
    }
}
