//! Options and reports as data (`serde`).

use std::fmt;
use std::path::PathBuf;

use base64::prelude::{BASE64_STANDARD, Engine};
use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serializer};

use super::{Root, SessionLimits, SessionOptions, WorkspaceOptions};
use crate::edit::apply::{ApplyOptions, Durability, EditOptions};
use crate::edit::repair::RepairRules;
use crate::edit::report::{ANSWER_CONTEXT_MAX_LINES, AnswerForm, AnswerOptions};
use crate::edit::resolve::{RELOCATE_WINDOW_MAX_LINES, Relocate};
use crate::edit::session::Unseen;
use crate::edit::structure::SyntaxCheck;
use hashline_base::shape::{OneOrMany, Whole};
use hashline_lines::dialect::Dialect;
use hashline_memory::MemoryLimits;

/// Declares a shape with the options of every patch and further ones. (`serde` cannot refuse
/// unknown fields in a flattened struct.)
macro_rules! shape {
    ($name:ident { $($field:ident: $kind:ty),* $(,)? }) => {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase", deny_unknown_fields)]
        pub(super) struct $name {
            dialect: Option<&'static Dialect>,
            encoding: Option<String>,
            max_file_bytes: Option<u64>,
            relocate: Option<Relocate>,
            relocate_window: Option<Whole<0, RELOCATE_WINDOW_MAX_LINES>>,
            repairs: Option<RepairRules>,
            answer: Option<AnswerForm>,
            answer_context: Option<Whole<0, ANSWER_CONTEXT_MAX_LINES>>,
            durability: Option<Durability>,
            state_dir: Option<PathBuf>,
            lock_timeout_ms: Option<u64>,
            syntax: Option<SyntaxCheck>,
            $($field: Option<$kind>,)*
        }

        impl $name {
            /// The options of the workspace, except directories; `defaults` has the rest.
            fn workspace(&mut self, defaults: WorkspaceOptions) -> WorkspaceOptions {
                let (edit, apply) = (EditOptions::default(), ApplyOptions::default());
                WorkspaceOptions {
                    dialect: self.dialect.unwrap_or(defaults.dialect),
                    encoding: self.encoding.take(),
                    max_file_bytes: self.max_file_bytes.unwrap_or(defaults.max_file_bytes),
                    state_dir: self.state_dir.take(),
                    apply: ApplyOptions {
                        edit: EditOptions {
                            relocate: self.relocate.unwrap_or(edit.relocate),
                            relocate_window_lines: self
                                .relocate_window
                                .map_or(edit.relocate_window_lines, Whole::get),
                            repairs: self.repairs.take().unwrap_or(edit.repairs),
                            answer: AnswerOptions {
                                form: self.answer,
                                context_lines: self.answer_context.map(Whole::get),
                            },
                        },
                        durability: self.durability.unwrap_or(apply.durability),
                        lock_timeout_ms: self.lock_timeout_ms.unwrap_or(apply.lock_timeout_ms),
                        syntax: self.syntax,
                    },
                    ..defaults
                }
            }
        }
    };
}

shape!(WorkspaceShape { root: PathBuf });

shape!(SessionShape {
    cwd: PathBuf,
    root: Root,
    read_roots: OneOrMany<PathBuf>,
    disk: bool,
    unseen: Unseen,
    limits: SessionLimits,
    memory: MemoryLimits,
});

impl From<WorkspaceShape> for WorkspaceOptions {
    fn from(mut given: WorkspaceShape) -> WorkspaceOptions {
        let root = given.root.take().map_or(Root::Unbounded, Root::At);
        WorkspaceOptions { root, ..given.workspace(WorkspaceOptions::default()) }
    }
}

impl From<SessionShape> for SessionOptions {
    fn from(mut given: SessionShape) -> SessionOptions {
        let defaults = SessionOptions::default().workspace;
        let root = given.root.take().unwrap_or_default();
        // Without a disk, the directory of the process means nothing where there is a root.
        let starts_at_root = given.disk == Some(false) && matches!(root, Root::At(_));
        let cwd = given.cwd.take().or_else(|| (!starts_at_root).then(|| ".".into()));
        SessionOptions {
            workspace: WorkspaceOptions { root, cwd, ..given.workspace(defaults) },
            read_roots: given.read_roots.take().unwrap_or_default().0,
            disk: given.disk.unwrap_or(true),
            unseen: given.unseen.unwrap_or_default(),
            limits: given.limits.unwrap_or_default(),
            memory: given.memory.unwrap_or_default(),
        }
    }
}

/// A directory, or false for none.
impl<'de> Deserialize<'de> for Root {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Root, D::Error> {
        struct RootVisitor;

        impl Visitor<'_> for RootVisitor {
            type Value = Root;

            fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
                out.write_str("a directory, or false")
            }

            fn visit_str<E: serde::de::Error>(self, root: &str) -> Result<Root, E> {
                Ok(Root::At(root.into()))
            }

            fn visit_bool<E: serde::de::Error>(self, given: bool) -> Result<Root, E> {
                if given {
                    return Err(E::invalid_value(Unexpected::Bool(given), &self));
                }
                Ok(Root::Unbounded)
            }
        }

        deserializer.deserialize_any(RootVisitor)
    }
}

/// Bytes in Base64, because JSON has only text.
pub(super) fn base64<S: Serializer>(data: &[u8], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&BASE64_STANDARD.encode(data))
}
