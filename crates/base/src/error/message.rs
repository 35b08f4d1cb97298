//! Messages that name options. Each front end spells an option in its own way (`lockTimeoutMs`,
//! `--lock-timeout`). A message therefore records where it names an option, and the front end
//! inserts its spelling there.

use std::fmt;
use std::ops::{Add, AddAssign, Deref, Range};

use serde::{Serialize, Serializer};

/// An option or call that each front end spells in its own way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Term {
    /// The option that limits how long a call waits for a lock.
    LockTimeout,
    /// The option for the directory of journals and locks.
    StateDir,
    /// The option that limits the size of files.
    MaxFileBytes,
    /// The option for the first line of a view.
    StartLine,
    /// The limit on the lines of a view.
    MaxLines,
    /// The limit on the bytes of a view, or of a memory.
    MaxBytes,
    /// The limit on the files of a list, or of a memory.
    MaxFiles,
    /// The option that makes the case of letters count.
    CaseSensitive,
    /// What to do to search for a pattern as literal text.
    Literal,
    /// The limit on the versions of a file in a memory.
    MaxVersions,
    /// The call that recovers interrupted patches.
    Recover,
}

impl Term {
    /// The name in this crate.
    pub fn name(self) -> &'static str {
        match self {
            Term::LockTimeout => "lock_timeout_ms",
            Term::StateDir => "state_dir",
            Term::MaxFileBytes => "max_file_bytes",
            Term::StartLine => "start_line",
            Term::MaxLines => "max_lines",
            Term::MaxBytes => "max_bytes",
            Term::MaxFiles => "max_files",
            Term::CaseSensitive => "case_sensitive",
            Term::Literal => "set regex to false",
            Term::MaxVersions => "max_versions",
            Term::Recover => "recover()",
        }
    }
}

/// How a front end spells terms.
pub type Spelling = fn(Term) -> &'static str;

/// A part of a message that callers may write in another way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mention {
    /// An option or a call of the engine.
    Term(Term),
    /// `operation 3`
    Operation(usize),
    /// `Operation 3`
    OperationAtStart(usize),
    /// `operations 3 and 5`
    Operations(usize, usize),
    /// `one operation`
    OneOperation,
}

impl fmt::Display for Mention {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Mention::Term(term) => out.write_str(term.name()),
            Mention::Operation(index) => write!(out, "operation {index}"),
            Mention::OperationAtStart(index) => write!(out, "Operation {index}"),
            Mention::Operations(one, other) => write!(out, "operations {one} and {other}"),
            Mention::OneOperation => out.write_str("one operation"),
        }
    }
}

/// A text that records where it mentions something. Built by adding: `Message::from("set ") +
/// Term::StateDir`.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Message {
    pub(super) text: String,
    pub(super) mentions: Vec<(Range<usize>, Mention)>,
}

impl From<String> for Message {
    fn from(text: String) -> Message {
        Message { text, mentions: Vec::new() }
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Message {
        Message::from(text.to_owned())
    }
}

impl From<Mention> for Message {
    fn from(mention: Mention) -> Message {
        let text = mention.to_string();
        Message { mentions: vec![(0..text.len(), mention)], text }
    }
}

impl From<Term> for Message {
    fn from(term: Term) -> Message {
        Mention::Term(term).into()
    }
}

impl<T: Into<Message>> Add<T> for Message {
    type Output = Message;

    fn add(mut self, rest: T) -> Message {
        let rest = rest.into();
        let shift = self.text.len();
        let mentions = rest.mentions.into_iter();
        self.mentions.extend(mentions.map(|(at, one)| (at.start + shift..at.end + shift, one)));
        self.text += &rest.text;
        self
    }
}

impl<T: Into<Message>> Add<T> for Mention {
    type Output = Message;

    fn add(self, rest: T) -> Message {
        Message::from(self) + rest
    }
}

impl From<Message> for String {
    fn from(message: Message) -> String {
        message.text
    }
}

impl Deref for Message {
    type Target = str;

    fn deref(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Message {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

impl fmt::Debug for Message {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.text.fmt(out)
    }
}

impl PartialEq<&str> for Message {
    fn eq(&self, other: &&str) -> bool {
        self.text == *other
    }
}

impl PartialEq<String> for Message {
    fn eq(&self, other: &String) -> bool {
        self.text == *other
    }
}

impl AddAssign<&str> for Message {
    fn add_assign(&mut self, rest: &str) {
        self.text += rest;
    }
}

impl Serialize for Message {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl Message {
    /// Replaces each mention for which `name` returns a text. A replaced mention becomes plain
    /// text.
    pub fn write(&mut self, name: impl Fn(Mention) -> Option<String>) {
        let (text, mentions) = (std::mem::take(&mut self.text), std::mem::take(&mut self.mentions));
        let mut from = 0;
        for (at, mention) in mentions {
            self.text += &text[from..at.start];
            let start = self.text.len();
            match name(mention) {
                Some(name) => self.text += &name,
                None => {
                    self.text += &text[at.clone()];
                    self.mentions.push((start..self.text.len(), mention));
                }
            }
            from = at.end;
        }
        self.text += &text[from..];
    }

    /// Replaces the terms with the spelling of a front end.
    pub fn spell(&mut self, spelling: Spelling) {
        self.write(|mention| match mention {
            Mention::Term(term) => Some(spelling(term).to_owned()),
            _ => None,
        });
    }

    /// Whether the message mentions an operation.
    pub fn has_operation(&self) -> bool {
        self.mentions.iter().any(|(_, one)| !matches!(one, Mention::Term(_)))
    }

    /// Whether the message contains `mention`.
    pub fn has(&self, mention: Mention) -> bool {
        self.mentions.iter().any(|(_, one)| *one == mention)
    }

    /// Cuts the text to `limit_bytes` and appends the number of bytes removed.
    pub fn truncate(&mut self, limit_bytes: usize) {
        if self.text.len() <= limit_bytes {
            return;
        }
        let end = self.text.floor_char_boundary(limit_bytes);
        let mark = format!("… [+{} bytes]", self.text.len() - end);
        self.text.truncate(end);
        self.text += &mark;
        self.mentions.retain(|(at, _)| at.end <= end);
    }

    /// The text as a string slice.
    pub fn as_str(&self) -> &str {
        &self.text
    }
}
