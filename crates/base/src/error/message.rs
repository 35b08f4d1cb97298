//! Messages that name options. Each face writes an option in its own way (`lockTimeoutMs`,
//! `--lock-timeout`). So a message remembers where it names one, and the face puts its spelling
//! there.

use std::ops::{Add, Range};

/// What a message names and faces write in their own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// The option that says how long to wait for others.
    LockTimeout,
    /// The option that says where journals and locks are.
    StateDir,
    /// The option that bounds the size of files.
    MaxFileBytes,
    /// The first line of a view.
    StartLine,
    /// The most lines of a view.
    MaxLines,
    /// The most bytes of a view, or of a memory.
    MaxBytes,
    /// The most files of a memory.
    MaxFiles,
    /// The most versions of a file in a memory.
    MaxVersions,
    /// The call that recovers what was interrupted.
    Recover,
}

impl Term {
    /// As this crate calls it.
    pub fn name(self) -> &'static str {
        match self {
            Term::LockTimeout => "lock_timeout_ms",
            Term::StateDir => "state_dir",
            Term::MaxFileBytes => "max_file_bytes",
            Term::StartLine => "start_line",
            Term::MaxLines => "max_lines",
            Term::MaxBytes => "max_bytes",
            Term::MaxFiles => "max_files",
            Term::MaxVersions => "max_versions",
            Term::Recover => "recover()",
        }
    }
}

/// How a face writes terms.
pub type Spelling = fn(Term) -> &'static str;

/// A text, and where it names terms. Made by adding: `Message::from("set ") + Term::StateDir`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Message {
    pub(super) text: String,
    pub(super) terms: Terms,
}

impl From<String> for Message {
    fn from(text: String) -> Message {
        Message { text, terms: Terms::default() }
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Message {
        Message::from(text.to_owned())
    }
}

impl From<Term> for Message {
    fn from(term: Term) -> Message {
        let text = term.name().to_owned();
        Message { terms: Terms(vec![(0..text.len(), term)]), text }
    }
}

impl<T: Into<Message>> Add<T> for Message {
    type Output = Message;

    fn add(mut self, rest: T) -> Message {
        let rest = rest.into();
        let shift = self.text.len();
        let terms = rest.terms.0.into_iter();
        self.terms.0.extend(terms.map(|(at, term)| (at.start + shift..at.end + shift, term)));
        self.text += &rest.text;
        self
    }
}

/// Where a text names terms, from its start to its end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms(Vec<(Range<usize>, Term)>);

impl Terms {
    /// Puts a face's spelling in their place, after which they are words like all others.
    pub fn spell(&mut self, text: &mut String, spelling: Spelling) {
        for (at, term) in self.0.drain(..).rev() {
            text.replace_range(at, spelling(term));
        }
    }
}
