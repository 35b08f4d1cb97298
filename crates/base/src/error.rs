//! Refusals and faults of the engine: a stable code for each kind, and a message that says what
//! happened, where, and what to do instead.

mod message;

use std::fmt;
use std::io;
use std::sync::Arc;

use serde::{Serialize, Serializer};

pub use message::{Mention, Message, Spelling, Term};

/// Declares the codes once, each with its published string.
macro_rules! codes {
    ($($(#[$doc:meta])* $variant:ident = $text:literal,)*) => {
        /// The stable code of a refusal or fault; the string form never changes.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Code { $($(#[$doc])* $variant,)* }

        impl Code {
            /// Every code, in the order of the protocol.
            pub const ALL: &'static [Code] = &[$(Code::$variant,)*];

            /// The published string of the code, e.g. `HASH_MISMATCH`.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $text,)* }
            }
        }
    };
}

codes! {
    /// An option or parameter of the call is missing, of the wrong type or out of range.
    InvalidArgument = "INVALID_ARGUMENT",
    /// An operation of a patch is not one of the known shapes.
    InvalidOperation = "INVALID_OPERATION",
    /// A text that should be an anchor is not a valid one.
    InvalidAnchor = "INVALID_ANCHOR",
    /// A file that is edited or read by path is not JSON.
    InvalidJson = "INVALID_JSON",
    /// A search pattern does not compile, or ran past its limit.
    InvalidPattern = "INVALID_PATTERN",
    /// The named line has another hash, or its text differs from the content hint.
    HashMismatch = "HASH_MISMATCH",
    /// Several lines near the named one have the hash.
    AmbiguousAnchor = "AMBIGUOUS_ANCHOR",
    /// A session never showed the line.
    NotShown = "NOT_SHOWN",
    /// A session showed only a part of a line that a text would replace.
    PartlyShown = "PARTLY_SHOWN",
    /// The named line is past the end of the file.
    LineOutOfRange = "LINE_OUT_OF_RANGE",
    /// Two operations of a patch touch the same line or the same path.
    OverlappingEdits = "OVERLAPPING_EDITS",
    /// A text repeats the lines next to where it is inserted.
    RepeatsNeighbours = "REPEATS_NEIGHBOURS",
    /// No block starts at a line that should be the first line of one.
    NoBlock = "NO_BLOCK",
    /// The file parses, but would no longer do so after the patch.
    BreaksSyntax = "BREAKS_SYNTAX",
    /// A file has no definition with the name.
    SymbolNotFound = "SYMBOL_NOT_FOUND",
    /// `old_text` of a `replace_text` does not occur.
    TextNotFound = "TEXT_NOT_FOUND",
    /// `old_text` of a `replace_text` without `all` occurs more than once.
    TextNotUnique = "TEXT_NOT_UNIQUE",
    /// A value would be inserted under a key that exists.
    KeyExists = "KEY_EXISTS",
    /// There is no file at the path.
    FileNotFound = "FILE_NOT_FOUND",
    /// A file would be created or moved onto one that exists.
    FileExists = "FILE_EXISTS",
    /// The path is a directory, FIFO, socket or device.
    NotAFile = "NOT_A_FILE",
    /// The operating system denies this user access to the path.
    PermissionDenied = "PERMISSION_DENIED",
    /// The path is outside the root.
    OutsideRoot = "OUTSIDE_ROOT",
    /// A line edit of a file that is not text.
    BinaryFile = "BINARY_FILE",
    /// The encoding is unknown, or can be read but not written.
    UnsupportedEncoding = "UNSUPPORTED_ENCODING",
    /// A text has a character that the file's encoding cannot hold, or a lone surrogate.
    UnencodableText = "UNENCODABLE_TEXT",
    /// The file is over the limit, or its view is longer than a string of the host can be.
    FileTooLarge = "FILE_TOO_LARGE",
    /// Another process changed the file between reading and writing.
    ConcurrentChange = "CONCURRENT_CHANGE",
    /// Another call held the file's lock for longer than the limit.
    LockTimeout = "LOCK_TIMEOUT",
    /// The caller cancelled the call.
    Aborted = "ABORTED",
    /// The disk or the quota is full.
    NoSpace = "NO_SPACE",
    /// Any other error of the file system.
    Io = "IO",
    /// A contained panic: a bug in the engine.
    Internal = "INTERNAL",
}

impl Serialize for Code {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

/// A refusal or fault: its code, a message for people and models, and the path it concerns.
#[derive(Clone, Serialize)]
pub struct Error {
    /// The stable code.
    pub code: Code,
    /// One sentence or more; includes the path if there is one.
    pub message: Message,
    /// The path as the caller wrote it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The error of the operating system.
    #[serde(skip)]
    cause: Option<Arc<io::Error>>,
}

impl fmt::Display for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.message)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Error { code, message, path, .. } = self;
        let mut shown = out.debug_struct("Error");
        shown.field("code", code).field("message", message).field("path", path).finish()
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        self.cause.as_deref().map(|cause| cause as _)
    }
}

/// Two errors are equal if they report the same; the cause is ignored.
impl PartialEq for Error {
    fn eq(&self, other: &Error) -> bool {
        (self.code, &self.message, &self.path) == (other.code, &other.message, &other.path)
    }
}

impl Eq for Error {}

/// The result of every fallible function of the core.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error without a path.
    pub fn new(code: Code, message: impl Into<Message>) -> Self {
        Error { code, message: message.into(), path: None, cause: None }
    }

    /// An error about a path, which the message already includes.
    pub fn at(code: Code, path: &str, message: impl Into<Message>) -> Self {
        Error::new(code, message).about(path)
    }

    /// A misuse of the interface: an argument is wrong or missing.
    pub fn argument(message: impl Into<Message>) -> Self {
        Error::new(Code::InvalidArgument, message)
    }

    /// This error, with text before and after its message.
    pub fn within(self, before: impl Into<Message>, after: impl Into<Message>) -> Self {
        Error { message: before.into() + self.message + after, ..self }
    }

    /// This error with another code.
    pub fn with_code(self, code: Code) -> Self {
        Error { code, ..self }
    }

    /// This error without its path.
    pub fn without_path(self) -> Self {
        Error { path: None, ..self }
    }

    /// This error about a path, which the message already includes.
    pub fn about(self, path: &str) -> Self {
        Error { path: Some(path.to_owned()), ..self }
    }

    /// This error, with options written as a front end spells them.
    pub fn spelled(mut self, spelling: Spelling) -> Self {
        self.message.spell(spelling);
        self
    }

    /// An error of the file system while doing `action` (a verb: "read", "rename") to `path`.
    pub fn io(action: &str, path: &str, cause: &io::Error) -> Self {
        let code = code_of(cause);
        let message = match code {
            Code::FileNotFound => format!("{path}: no such file"),
            Code::PermissionDenied => format!("{path}: permission denied (cannot {action})"),
            Code::NoSpace => format!("{path}: no space left to {action}"),
            _ => format!("{path}: cannot {action}: {cause}"),
        };
        // `io::Error` cannot be cloned.
        let cause = match cause.raw_os_error() {
            Some(number) => io::Error::from_raw_os_error(number),
            None => io::Error::new(cause.kind(), cause.to_string()),
        };
        Error { cause: Some(Arc::new(cause)), ..Error::at(code, path, message) }
    }
}

fn code_of(cause: &io::Error) -> Code {
    match cause.kind() {
        io::ErrorKind::NotFound => Code::FileNotFound,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
            Code::PermissionDenied
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
            Code::NoSpace
        }
        io::ErrorKind::IsADirectory | io::ErrorKind::NotADirectory => Code::NotAFile,
        io::ErrorKind::AlreadyExists => Code::FileExists,
        io::ErrorKind::InvalidFilename => Code::InvalidArgument,
        _ => Code::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_front_end_spells_terms_in_its_own_way() {
        // Text that comes from a path is never a term, even if it equals the name of one.
        let error =
            Error::at(Code::Io, "state_dir", Message::from("state_dir: set ") + Term::StateDir)
                .within(
                    Message::from(Term::Recover) + " said: ",
                    Message::from(", ") + Term::MaxBytes,
                );
        assert_eq!(error.message, "recover() said: state_dir: set state_dir, max_bytes");
        let spelling = |term| match term {
            Term::StateDir => "--state-dir",
            Term::Recover => "resume()",
            _ => "é",
        };
        let spelled = error.spelled(spelling);
        assert_eq!(spelled.message, "resume() said: state_dir: set --state-dir, é");
        assert_eq!(spelled.clone().spelled(|_| "again"), spelled);
    }

    #[test]
    fn regression_the_debug_form_of_an_error_is_for_people() {
        let error = Error::argument(Message::from(Term::MaxBytes) + " is 0");
        let shown = r#"Error { code: InvalidArgument, message: "max_bytes is 0", path: None }"#;
        assert_eq!(format!("{error:?}"), shown);
    }

    #[test]
    fn codes_are_unique_and_upper_case() {
        let mut texts: Vec<_> = Code::ALL.iter().map(|code| code.as_str()).collect();
        texts.sort_unstable();
        texts.dedup();
        assert_eq!(texts.len(), Code::ALL.len());
        assert!(texts.iter().all(|t| t.bytes().all(|b| b.is_ascii_uppercase() || b == b'_')));
    }

    #[test]
    fn io_errors_keep_their_meaning() {
        let cases = [
            (io::ErrorKind::NotFound, Code::FileNotFound),
            (io::ErrorKind::PermissionDenied, Code::PermissionDenied),
            (io::ErrorKind::StorageFull, Code::NoSpace),
            (io::ErrorKind::IsADirectory, Code::NotAFile),
            (io::ErrorKind::Interrupted, Code::Io),
        ];
        for (kind, code) in cases {
            let error = Error::io("read", "a.txt", &io::Error::from(kind));
            assert_eq!(error.code, code);
            assert!(error.message.starts_with("a.txt: "), "{}", error.message);
            let source = std::error::Error::source(&error).and_then(|source| source.downcast_ref());
            assert_eq!(source.map(io::Error::kind), Some(kind));
            assert_eq!(error.message, error.to_string());
        }
    }
}
