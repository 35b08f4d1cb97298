//! What a file is after the host has worked on it.

use std::path::Path;

use crate::edit::outcome::DocumentText;
use crate::view::scope::Scope;
use hashline_base::error::Code;
use hashline_disk::bytes::{Loaded, with_file};
use hashline_lines::rows::one_line;
use hashline_memory::{SessionMemory, Version};

/// What a file is now.
pub enum FileNow {
    /// A text.
    Text(TextNow),
    /// It does not exist.
    Gone,
    /// It has no lines to show: the reason.
    Unreadable(String),
}

/// The text of a file now.
pub struct TextNow {
    /// The text.
    pub version: Version,
    /// The hash of its bytes.
    pub snapshot: String,
    /// Its content, if it is a document of the host.
    pub document: Option<DocumentText>,
}

/// Reads a file again. `name` is the file that was written: the path may lead to another one now.
pub fn file_now(scope: &Scope<'_>, memory: &SessionMemory, path: &str, name: &Path) -> FileNow {
    scope.base.forget();
    let read = || {
        let place = scope.base.existing(path)?;
        if place.canonical() != name {
            let path = one_line(path);
            return Ok(FileNow::Unreadable(format!("{path} is a link to another file")));
        }
        let document = place.document().map(|document| (&document.content).into());
        with_file(scope.fs, scope.base, path, &scope.load_options_at(name), |loaded| match loaded {
            Loaded::Text(text) => Ok(FileNow::Text(TextNow {
                version: memory.version(text.text(), None).in_charset(text.own_charset()),
                snapshot: text.snapshot(scope.cancel)?,
                document: document.clone(),
            })),
            Loaded::Binary(_) => {
                Ok(FileNow::Unreadable(format!("{} is a binary file", one_line(path))))
            }
        })
    };
    match read() {
        Ok(now) => now,
        Err(error) if error.code == Code::FileNotFound => FileNow::Gone,
        Err(error) => FileNow::Unreadable(error.spelled(scope.host.spelling).message.to_string()),
    }
}
