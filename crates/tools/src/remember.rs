//! Restores the memory of a session from the calls of an earlier run.

use std::path::Path;

use hashline_core::{Cancel, Error};

use crate::arguments::{Arguments, Fields, Repairs};
use crate::tool::ToolKind;
use crate::tools::{Given, Tools};
use crate::{apply, read};

impl Tools {
    /// Learns the lines that a call of an earlier run showed, and returns how many. The path is
    /// read from the arguments as [`Tools::run`] reads it. Without `kind`, the tool is inferred
    /// from the arguments.
    pub fn remember(&self, kind: Option<ToolKind>, given: Given, text: &str) -> Result<u64, Error> {
        let path = self.with_call(|call| {
            let mut repairs = Repairs::default();
            // A malformed call showed either nothing or rows under headers, which name their files.
            let arguments = Arguments::of(given, &mut repairs).ok()?;
            match kind.unwrap_or_else(|| kind_of(&arguments.fields)) {
                ToolKind::Read => read::only_file(call, arguments),
                ToolKind::Apply | ToolKind::ApplyJson => apply::only_file(call, arguments),
                // Answers of searches and of undone edits have headers; views of documents have no
                // line anchors.
                ToolKind::Search | ToolKind::ReadJson | ToolKind::Undo => None,
            }
        });
        self.session().observe(text, path.as_deref().map(Path::new), &Cancel::default())
    }
}

/// The tool that takes these arguments.
fn kind_of(fields: &Fields) -> ToolKind {
    let has = |names: &[&str]| names.iter().any(|name| fields.get(name).is_some());
    match () {
        () if has(&["operations", "edits", "op", "patch"]) => ToolKind::Apply,
        () if has(&["pattern", "query", "globs"]) => ToolKind::Search,
        () => ToolKind::Read,
    }
}
