//! The engine behind `hashline-native`: lines with anchors, read, searched and edited.
//!
//! Four layers, each of which imports only from those before it: [`text`] ← [`disk`] ← [`view`]
//! ← [`edit`]. Beside them stand the kinds of refusals ([`error`]), cancellation
//! ([`cancel`]) and threads ([`threads`]); over them, what faces hold: a [`workspace`].
//!
//! A session reads a file, and edits the line that it showed:
//!
//! ```
//! use hashline_core::cancel::Cancel;
//! use hashline_core::edit::outcome::Outcome;
//! use hashline_core::view::read::ReadRequest;
//! use hashline_core::workspace::{Session, SessionOptions, WorkspaceOptions};
//! use serde_json::json;
//!
//! let dir = tempfile::tempdir()?;
//! std::fs::write(dir.path().join("a.txt"), "one\ntwo\n")?;
//! let session = Session::new(SessionOptions {
//!     workspace: WorkspaceOptions {
//!         root: dir.path().to_str().map(str::to_owned),
//!         state_dir: dir.path().join("state").to_str().map(str::to_owned),
//!         ..WorkspaceOptions::default()
//!     },
//!     ..SessionOptions::default()
//! });
//! let request = ReadRequest { path: "a.txt".into(), ..ReadRequest::default() };
//! let report = session.read(&session.reading(), &[request], &Cancel::default())?;
//! let row = report.text.lines().nth(1).expect("the file has two lines");
//! let patch = json!({"operations": [
//!     {"op": "set_line", "path": "a.txt", "anchor": row, "text": "TWO"},
//! ]});
//! let outcome =
//!     session.apply(&session.writing(), &patch.into(), false, 3, &Cancel::default())?;
//! assert!(matches!(outcome, Outcome::Applied(_)));
//! assert_eq!(std::fs::read_to_string(dir.path().join("a.txt"))?, "one\nTWO\n");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![deny(missing_docs)]
#![warn(clippy::mod_module_files)]

pub mod cancel;
pub mod command;
pub mod disk;
pub mod edit;
pub mod error;
mod shape;
pub mod text;
pub mod threads;
pub mod view;
pub mod workspace;
