//! A list of files: those that a query without a pattern names, or those with a match.

use serde::Serialize;

use super::files::{FileList, ListedFile};
use super::notes::short_size;
use super::{RowSink, SearchOutput, SearchQuery, SearchResult};
use crate::view::scope::Scope;
use hashline_base::error::Result;
use hashline_base::parallel;
use hashline_lines::rows::one_line;

/// Files that are added between two checks of the cancellation flag.
const BATCH_FILES: usize = 1024;

/// The files that a search lists, in place of matching lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundFiles {
    /// The files shown, sorted by path.
    pub files: Vec<FoundFile>,
    /// All files found, shown or not.
    pub file_count: u64,
    /// The matching lines of all files found, if they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_count: Option<u64>,
    /// If a limit cut the list: the `skip` of the query that continues it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next: Option<u64>,
}

/// A file of a list.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FoundFile {
    /// The path, as accepted by reads and edits with the same root.
    pub path: String,
    /// Its matching lines, if they are counted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_count: Option<u64>,
    /// Its size, if requested; `None` also if it was removed meanwhile.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

impl FoundFile {
    /// The row of the file in a text: its path, count and size.
    pub fn row(&self) -> String {
        let mut row = one_line(&self.path).into_owned();
        if let Some(count) = self.match_count {
            row += &format!(":{count}");
        }
        if let Some(bytes) = self.bytes {
            row += &format!(" ({})", short_size(bytes));
        }
        row
    }
}

impl SearchResult {
    /// Adds a file that was searched separately to the list, such as standard input.
    pub fn list_file(&mut self, query: &SearchQuery, file: FoundFile) {
        let mut list = PartialList::limited(query, usize::MAX);
        list.text = std::mem::take(&mut self.text);
        list.text_bytes = list.text.len();
        list.found = self.list.take().unwrap_or(list.found);
        if file.match_count.is_some() {
            list.found.match_count.get_or_insert(0);
        }
        list.push(file, &mut None);
        let (text, found) = list.finish();
        self.truncated |= found.next.is_some();
        (self.text, self.list) = (text, Some(found));
    }
}

/// A list under construction.
pub(super) struct PartialList {
    text: String,
    /// The size of the text, wherever it was written.
    text_bytes: usize,
    found: FoundFiles,
    skip: u64,
    max_files: u64,
    max_bytes: usize,
}

impl PartialList {
    pub(super) fn new(scope: &Scope<'_>, query: &SearchQuery) -> PartialList {
        PartialList::limited(query, scope.host.text_limit_units)
    }

    fn limited(query: &SearchQuery, max_bytes: usize) -> PartialList {
        let counts = query.output == SearchOutput::Count;
        PartialList {
            text: String::new(),
            text_bytes: 0,
            found: FoundFiles { match_count: counts.then_some(0), ..FoundFiles::default() },
            skip: query.skip,
            max_files: query.max_files,
            max_bytes: query.max_bytes.unwrap_or(usize::MAX).min(max_bytes),
        }
    }

    /// Adds the next file. It is counted even if it is not shown. Returns false if the sink stops.
    pub(super) fn push(&mut self, file: FoundFile, sink: &mut Option<RowSink<'_>>) -> bool {
        self.found.file_count += 1;
        if let (Some(total), Some(count)) = (&mut self.found.match_count, file.match_count) {
            *total += count;
        }
        if self.found.file_count > self.skip && self.found.next.is_none() {
            return self.show(file, sink);
        }
        true
    }

    /// Shows a file if it fits. The first one always fits into the bytes: so a list can be continued.
    fn show(&mut self, file: FoundFile, sink: &mut Option<RowSink<'_>>) -> bool {
        let (row, shown) = (file.row(), self.found.files.len() as u64);
        let newline = if shown > 0 { "\n" } else { "" };
        let more_bytes = newline.len() + row.len();
        let is_over = shown > 0 && self.text_bytes + more_bytes > self.max_bytes;
        if shown >= self.max_files || is_over {
            self.found.next = Some(self.skip.saturating_add(shown));
            return true;
        }
        self.text_bytes += more_bytes;
        self.found.files.push(file);
        match sink {
            Some(sink) => sink(&row, ""),
            None => {
                self.text.extend([newline, &row]);
                true
            }
        }
    }

    /// Adds all files of a walk; reads the sizes of those that may be shown.
    pub(super) fn add_all(
        &mut self,
        scope: &Scope<'_>,
        query: &SearchQuery,
        files: &FileList,
        sink: &mut Option<RowSink<'_>>,
    ) -> Result<()> {
        let listed = files.files();
        let skipped = usize::try_from(query.skip).unwrap_or(usize::MAX).min(listed.len());
        self.found.file_count = skipped as u64;
        let bytes = |file: &ListedFile| scope.base.size_bytes(&files.path(*file)).ok();
        for batch in listed[skipped..].chunks(BATCH_FILES) {
            scope.cancel.check()?;
            if self.found.next.is_some() {
                break;
            }
            let sizes = match query.sizes {
                true => parallel::map(batch, bytes),
                false => vec![None; batch.len()],
            };
            for (file, bytes) in batch.iter().zip(sizes) {
                let found = FoundFile { path: files.shown(*file), match_count: None, bytes };
                if !self.push(found, sink) {
                    return scope.cancel.check();
                }
            }
        }
        self.found.file_count = listed.len() as u64;
        scope.cancel.check()
    }

    pub(super) fn finish(self) -> (String, FoundFiles) {
        (self.text, self.found)
    }
}
