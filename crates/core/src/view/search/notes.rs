//! What a search did not cover, in a line for the reader.

use hashline_lines::anchor::quote;

use super::SearchResult;

/// The maximum number of globs that a note names.
const GLOBS_NAMED: usize = 5;

impl SearchResult {
    /// A note that names the globs that match no file.
    pub fn unmatched_globs_note(&self) -> Option<String> {
        let globs = &self.unmatched_globs;
        let noun = if globs.len() == 1 { "glob" } else { "globs" };
        let named = globs.iter().take(GLOBS_NAMED).map(|glob| quote(glob));
        let more = if globs.len() > GLOBS_NAMED { ", …" } else { "" };
        let named = named.collect::<Vec<_>>().join(", ");
        (!globs.is_empty()).then(|| format!("no file matches the {noun} {named}{more}"))
    }
}
