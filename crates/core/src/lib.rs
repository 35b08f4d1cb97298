//! The engine of `hashline-native`: reads, searches and edits lines by their anchors.
//!
//! Each module imports only from those before it: `view` ← `json` ← `edit` ← `workspace`.
//! Callers import from the list below, and mostly need three things:
//!
//! - a [`Workspace`]: reads, searches and edits files, as [`WorkspaceOptions`] say;
//! - a [`Session`]: the same for one model, with a memory of what it was shown;
//! - an [`Error`], with a [`Code`] and a message.
//!
//! With `serde`, requests ([`ReadRequest`], [`SearchQuery`]) and options can be deserialized, and
//! answers ([`FileView`], [`SearchResult`], [`Outcome`], [`ReadReport`], [`RecoveryReport`])
//! serialized; their fields are in camelCase.
//!
//! This session reads a file and edits a line that it showed. (Each method has a form that takes
//! options and a [`Cancel`], with `_with` in its name.)
//!
//! ```
//! use hashline_core::{Outcome, PatchOperation, Session};
//!
//! let dir = tempfile::tempdir()?;
//! std::fs::write(dir.path().join("a.txt"), "one\ntwo\n")?;
//! // Nothing outside of the directory is read or written.
//! let session = Session::in_dir(dir.path())?;
//!
//! let shown = session.read("a.txt")?;
//! let row = shown.text.lines().nth(1).expect("the file has two lines");
//!
//! match session.apply(PatchOperation::set_line("a.txt", row, "TWO"))? {
//!     Outcome::Applied(applied) => println!("{}", applied.text),
//!     Outcome::Rejected(rejected) => panic!("nothing was changed: {}", rejected.text),
//! }
//! assert_eq!(std::fs::read_to_string(dir.path().join("a.txt"))?, "one\nTWO\n");
//!
//! let found = session.search("two")?;
//! assert_eq!(found.match_count, 1);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]
#![warn(clippy::mod_module_files)]
#![cfg_attr(not(test), deny(clippy::disallowed_methods))]

mod edit;
mod json;
mod view;
mod workspace;

pub use hashline_base::cancel::Cancel;
pub use hashline_base::error::{Code, Error, Result};
pub use hashline_disk::commit::{Conflict, RecoveryReport, StateReport, Trial};
pub use hashline_lines::anchor::quote;
pub use hashline_lines::dialect::{DIALECTS, Dialect};
pub use hashline_lines::hash::{mixes_line_number, verify as verify_hash};
pub use hashline_lines::rows::{format_hashed, hash_lines};
pub use hashline_memory::MemoryLimits;

pub use self::{
    edit::apply::{
        ApplyOptions, Durability, EditOptions, LOCK_TIMEOUT_MS, PatchOptions, SyntaxReport,
        apply_to_text,
    },
    edit::outcome::{
        Applied, Change, DiffHunk, DocumentChange, DocumentText, Failure, FileChange, FileDiff,
        Noop, NoopReason, Outcome, Rejected, Relocation, Repair, TextEdit, TextOutcome,
        TextPosition, TextRange, Warning, WarningCode,
    },
    edit::repair::{RepairRules, Rule},
    edit::report::{ANSWER_CONTEXT_MAX_LINES, AnswerForm, AnswerOptions},
    edit::request::{Patch, PatchOperation},
    edit::resolve::{RELOCATE_WINDOW_LINES, RELOCATE_WINDOW_MAX_LINES, Relocate},
    edit::session::Unseen,
    edit::structure::{SyntaxCheck, SyntaxState},
    edit::written::{AfterWrite, Diagnostic, Severity, Written},
    json::{JsonRequest, JsonView},
    view::excerpt::{Context, Limits},
    view::fold::{FOLD_LINES, Folding},
    view::pattern::Query,
    view::read::{FileView, LineEnding, MAX_MATCHES, ReadRequest, TextView, ViewKind},
    view::search::{
        DirectoryView, FileMatches, FoundFile, FoundFiles, PatternExplanation, RowSink,
        SEARCH_FILES, SEARCH_MATCHES, SearchOutput, SearchQuery, SearchResult, SearchWarning,
        Skipped, SkippedDirectories,
    },
    view::symbols::SymbolPlace,
    view::width::Columns,
    workspace::{
        AnnotateOptions, ChangedFile, IMAGE_LIMIT_BYTES, OpenDocumentInfo, PREVIEW_FILE_BYTES,
        Plan, ReadImage, ReadOn, ReadReport, Root, RunsIn, Session, SessionChange, SessionLimits,
        SessionOptions, StoreOptions, Subscription, UndoRequest, UndoablePatch, Workspace,
        WorkspaceOptions,
    },
};

/// The operations that a model can request.
pub mod request {
    pub use crate::edit::request::*;
}

/// For bindings, which convert values, texts and calls of another language or process. A Rust
/// program that works with files does not need it.
pub mod host {
    pub use crate::edit::outcome::reported_failures;
    pub use crate::edit::report::omitted_problems;
    pub use crate::json::{
        JsonFault, PartialValue, VALUE, Value, from_json, from_json_value, unique_keys,
    };
    pub use crate::view::excerpt::{ANSWER_LIMIT_BYTES, ANSWER_LIMIT_LINES};
    pub use crate::view::pattern::Pattern;
    pub use crate::view::places::{
        Directory, Mention, NamedPlace, OUTPUT_LIMIT_BYTES, mentions, output_text, path_of_url,
        read_places,
    };
    pub use crate::view::scope::Host;
    pub use crate::workspace::{Delivery, Mark, Start, Turn, serves, state_path};
    pub use hashline_base::call_threads::{CALLS, PoolJob};
    pub use hashline_base::error::{Message, Spelling, Term};
    pub use hashline_base::shape::LineNumber;
    pub use hashline_disk::bytes::{string_of, string_with_cancel, valid_utf8};
    pub use hashline_disk::fs::{open_input, read_start};
    pub use hashline_lines::anchor::RowAnchor;
    pub use hashline_lines::rows::{
        FormatOptions, GAP, file_header, one_line, recycle, version_path,
    };
    pub use hashline_omp::{PartHead, ScriptPart, script_parts};
}
