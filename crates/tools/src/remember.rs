//! What an old call showed → the memory of a session, to go on where a conversation ended.

use std::path::Path;

use hashline_core::{Cancel, Error};

use crate::arguments::{Arguments, Fields, Repairs};
use crate::tool::ToolKind;
use crate::tools::{Given, Tools};
use crate::{apply, read};

impl Tools {
    /// Learns from a call of an earlier run what it showed, with the path taken from the arguments
    /// as [`Tools::run`] takes it. Returns how many lines were learned. Which tool was called is
    /// taken from the arguments, too, where that is not known.
    pub fn remember(&self, kind: Option<ToolKind>, given: Given, text: &str) -> Result<u64, Error> {
        let path = self.looking(|call| {
            let mut repairs = Repairs::default();
            // A call that was malformed showed nothing, or what has headers.
            let arguments = Arguments::of(given, &mut repairs).ok()?;
            match kind.unwrap_or_else(|| kind_of(&arguments.fields)) {
                ToolKind::Read => read::file_of(call, arguments),
                ToolKind::Apply | ToolKind::ApplyJson => apply::file_of(call, arguments),
                // Answers of searches have headers, views of documents no anchors of lines.
                ToolKind::Search | ToolKind::ReadJson => None,
            }
        });
        self.session().observe(text, path.as_deref().map(Path::new), &Cancel::default())
    }
}

/// Which tool takes such arguments.
fn kind_of(fields: &Fields) -> ToolKind {
    let has = |names: &[&str]| names.iter().any(|name| fields.get(name).is_some());
    match () {
        () if has(&["operations", "edits", "op", "patch"]) => ToolKind::Apply,
        () if has(&["pattern", "query"]) => ToolKind::Search,
        () => ToolKind::Read,
    }
}
