//! A query → the matches in many files, in directories and below.
//!
//! Files are searched in parallel, batch by batch in the order of their paths, and a limit
//! counts in that order too: neither timing nor the number of threads shows in the result.

mod found;
mod query;
mod rules;
mod shown;
mod walk;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::view::enclosing::Enclosing;
use crate::view::excerpt::{Context, Limits, Page, ShownRows};
use crate::view::pattern::{Pattern, Query};
use crate::view::read::{ViewStart, count_lines_while, into_string, show_matches};
use crate::view::scope::Scope;
use crate::view::width::Width;
use found::{FoundFile, FoundFiles};
use hashline_base::error::{Code, Error, Result};
use hashline_base::parallel;
use hashline_disk::bytes::{Document, LoadOptions, Loaded, with_file};
use hashline_lines::rows::{header_of_rows, header_size_bytes};
use walk::{Walked, walk};

/// Matches shown of all files together when the query sets no limit.
pub const SEARCH_MATCHES: u64 = 1000;

/// Files searched before the first look at the limits; each further batch is twice as large,
/// so that a common word stops early and a rare one seldom waits for the slowest file.
const FIRST_BATCH_FILES: usize = 64;
const LAST_BATCH_FILES: usize = 1024;

/// What to search for, and where.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "query::QueryShape")]
pub struct SearchQuery {
    /// The text or pattern.
    pub search: Query,
    /// Files and directories; the directory where relative paths start when there are none.
    pub paths: Vec<PathBuf>,
    /// Lines around each match.
    pub context: Context,
    /// Globs of the files to search, as of `.gitignore` relative to where paths start; those
    /// that start with `!` exclude, and of several that match the last one decides.
    pub globs: Vec<String>,
    /// How many matches are shown of all files together.
    pub max_matches: u64,
    /// How many matches are shown of each file.
    pub max_matches_per_file: Option<u64>,
    /// How long the text gets: whole lines. A first line that is longer is shown cut.
    pub max_bytes: Option<usize>,
    /// How many code points of a line are shown, of a match those around it.
    pub max_line_chars: Option<u64>,
    /// Show above each match the lines that open the blocks around it, where the language of the
    /// file is known.
    pub enclosing: bool,
    /// Search hidden files and directories too.
    pub hidden: bool,
    /// Pass over what `.gitignore`, `.git/info/exclude` and git's ignore file of the user
    /// name. The last one lies outside of any root, and does not count where there is one.
    pub gitignore: bool,
    /// Pass over what `.ignore` files name.
    pub ignore_files: bool,
    /// Look for those files in the directories above a path too, up to the root.
    pub parent_ignore_files: bool,
    /// Follow symbolic links met in directories.
    pub follow_links: bool,
    /// How far below a path to look; 1 is the files in the directory itself.
    pub max_depth: Option<usize>,
}

impl SearchQuery {
    /// A query with the defaults.
    pub fn new(search: impl Into<Query>) -> SearchQuery {
        SearchQuery {
            search: search.into(),
            paths: Vec::new(),
            context: Context::default(),
            globs: Vec::new(),
            max_matches: SEARCH_MATCHES,
            max_matches_per_file: None,
            max_bytes: None,
            max_line_chars: None,
            enclosing: false,
            hidden: false,
            gitignore: true,
            ignore_files: true,
            parent_ignore_files: true,
            follow_links: false,
            max_depth: None,
        }
    }
}

impl<Q: Into<Query>> From<Q> for SearchQuery {
    fn from(search: Q) -> SearchQuery {
        SearchQuery::new(search)
    }
}

/// The matches in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct FileMatches {
    /// The file, as reading and editing with the same root take it.
    pub path: String,
    /// The matching lines shown.
    pub match_lines: Vec<u64>,
    /// The matching lines of the file, shown or not.
    pub match_count: u64,
    /// Lines in the whole file.
    pub line_count: u64,
    /// Whether a limit left out matches or lines around them.
    pub truncated: bool,
    /// The lines shown.
    #[serde(skip)]
    pub rows: ShownRows,
}

/// What a search found.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    /// For each file a line `--- path ---`, then the lines with their anchors and `...`
    /// between groups; joined by `\n`.
    pub text: String,
    /// The files shown, by path.
    pub files: Vec<FileMatches>,
    /// The matches shown.
    pub match_count: u64,
    /// Text files looked at, with matches or without.
    pub files_searched: u64,
    /// Files passed over because they are no text.
    pub binary_skipped: u64,
    /// Whether a limit left out anything; the rest of the files is then not searched, unless
    /// it was the limit of each file.
    pub truncated: bool,
    /// Whether the rest of the files was not searched.
    #[serde(skip)]
    pub ran_out: bool,
    /// What could not be searched, by path.
    pub errors: Vec<Error>,
    /// Ignore files that do not count as they stand, and what no path can name, by path.
    pub warnings: Vec<SearchWarning>,
}

/// What a search did otherwise than somebody may think who knows the files.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SearchWarning {
    /// The file that it is about.
    pub path: String,
    /// What, and why; names the file.
    pub message: String,
}

/// Takes the rows of a file as soon as they are certain: the header, then the lines. What it
/// returns says whether to go on.
pub type RowSink<'a> = &'a mut dyn FnMut(&str, &str) -> bool;

/// Searches files and directories. What cannot be searched is reported in the result; fails
/// only for misuse and cancellation. `progress` is told now and then how many files of how many
/// are done. With a `sink` the result has no text: the sink gets it file by file. `witness` looks at
/// the text of each file with matches; what it returns comes in the order of the result's files.
pub fn search_hashed<W: Send + Sync>(
    scope: &Scope<'_>,
    query: &SearchQuery,
    progress: &dyn Fn(usize, usize),
    sink: Option<RowSink<'_>>,
    witness: impl Fn(&Document) -> W + Sync,
) -> Result<(SearchResult, Vec<W>)> {
    let cancel = scope.cancel;
    cancel.check()?;
    let pattern = Pattern::new(&query.search, cancel)?;
    let Walked { files, errors, warnings } = walk(scope.fs, scope.base, query, cancel)?;
    let result = SearchResult { errors, warnings, ..SearchResult::default() };
    let mut gathered = Gathered { result, witnessed: Vec::new(), text_bytes: 0, sink };
    let load = LoadOptions { releases_pages: true, ..scope.load_options() };
    let search = Search { scope, query, pattern, load, found: files, witness };
    search.search_in_batches(&mut gathered, progress)?;
    cancel.check()?;
    let Gathered { mut result, witnessed, .. } = gathered;
    result.errors =
        result.errors.into_iter().map(|error| error.spelled(scope.host.spelling)).collect();
    result
        .errors
        .sort_by(|one, other| (&one.path, &*one.message).cmp(&(&other.path, &*other.message)));
    result.errors.dedup_by(|one, other| one.message == other.message);
    Ok((result, witnessed))
}

/// So many cut rows fit into the text of a search, where characters take a byte, but for what
/// stands around them.
const ROWS_THAT_FIT: u64 = 8;

/// A row is not cut further than this for want of room.
const READABLE_CHARS: u64 = 200;

/// One search.
struct Search<'a, F> {
    scope: &'a Scope<'a>,
    query: &'a SearchQuery,
    pattern: Pattern,
    load: LoadOptions,
    found: FoundFiles,
    witness: F,
}

/// What a file turned out to hold.
enum FileOutcome<W> {
    /// It was removed since it was found.
    Gone,
    Binary,
    NoMatch,
    Hits(Hits<W>),
}

/// The matches of a file, ready for the result.
struct Hits<W> {
    header: String,
    text: String,
    matches: FileMatches,
    witnessed: W,
    /// The text is one line, cut.
    is_cut: bool,
    /// What was left of the limits of the whole search did not do for this file.
    ran_out: bool,
}

/// What was found so far.
struct Gathered<'a, W> {
    result: SearchResult,
    witnessed: Vec<W>,
    /// How long the text is, wherever it went.
    text_bytes: usize,
    sink: Option<RowSink<'a>>,
}

/// What is left of the limits of the whole search.
#[derive(Clone, Copy)]
struct LimitsLeft {
    matches: u64,
    bytes: usize,
}

impl<W: Send + Sync, F: Fn(&Document) -> W + Sync> Search<'_, F> {
    /// Searches batch by batch. What a batch found is put into the result while helpers are at the
    /// next one.
    fn search_in_batches(
        &self,
        gathered: &mut Gathered<'_, W>,
        progress: &dyn Fn(usize, usize),
    ) -> Result<()> {
        let files = self.found.files();
        let mut rest = files;
        let mut batch_files = FIRST_BATCH_FILES;
        let mut searched: (&[FoundFile], Vec<Result<FileOutcome<W>>>) = Default::default();
        let is_full = AtomicBool::new(false);
        loop {
            progress(files.len() - rest.len(), files.len());
            let (batch, later) = rest.split_at(batch_files.min(rest.len()));
            let room = self.room(gathered);
            let search = |file: &FoundFile| {
                if is_full.load(Ordering::Relaxed) {
                    return Ok(FileOutcome::Gone);
                }
                self.search_file(*file, room)
            };
            let (last_batch, outcomes) = searched;
            let outcomes = parallel::map_after(batch, search, || {
                let mut outcomes = last_batch.iter().zip(outcomes);
                let ends =
                    outcomes.any(|(file, outcome)| self.take(*file, outcome, gathered).is_break());
                gathered.result.ran_out = ends;
                is_full.store(ends, Ordering::Relaxed);
            });
            self.scope.cancel.check()?;
            if batch.is_empty() || is_full.load(Ordering::Relaxed) {
                return Ok(());
            }
            searched = (batch, outcomes);
            rest = later;
            batch_files = (batch_files * 2).min(LAST_BATCH_FILES);
        }
    }

    /// How much of a line is shown. Long lines are cut so that several fit: one alone would end a
    /// search that has room for little.
    fn max_line_chars(&self) -> Option<u64> {
        let fitting = self.query.max_bytes.map_or(u64::MAX, |bytes| bytes as u64 / ROWS_THAT_FIT);
        self.query.max_line_chars.map(|chars| chars.min(fitting.max(READABLE_CHARS)))
    }

    /// What the limits leave for the next file.
    fn room(&self, gathered: &Gathered<'_, W>) -> LimitsLeft {
        let max_bytes =
            self.query.max_bytes.unwrap_or(usize::MAX).min(self.scope.host.text_limit_units);
        let newline = usize::from(gathered.text_bytes > 0);
        LimitsLeft {
            matches: self.query.max_matches.saturating_sub(gathered.result.match_count),
            bytes: max_bytes.saturating_sub(gathered.text_bytes + newline),
        }
    }

    /// Adds what a file holds to the result; breaks once a limit of the whole search is hit.
    fn take(
        &self,
        file: FoundFile,
        outcome: Result<FileOutcome<W>>,
        gathered: &mut Gathered<'_, W>,
    ) -> ControlFlow<()> {
        let room = self.room(gathered);
        let outcome = match outcome {
            // Its batch started with more room than is left: the one file that crosses a limit is
            // searched once more, with exactly that.
            Ok(FileOutcome::Hits(hits)) if !hits.fit(room) => self.search_file(file, room),
            outcome => outcome,
        };
        let result = &mut gathered.result;
        match outcome {
            Ok(FileOutcome::Gone) => {}
            Ok(FileOutcome::Binary) => result.binary_skipped += 1,
            Ok(FileOutcome::NoMatch) => result.files_searched += 1,
            Ok(FileOutcome::Hits(hits)) => {
                result.files_searched += 1;
                result.truncated |= hits.matches.truncated;
                let ran_out = hits.ran_out;
                if !gathered.append(hits, room) || ran_out {
                    return ControlFlow::Break(());
                }
            }
            Err(error) => result.errors.push(error),
        }
        ControlFlow::Continue(())
    }

    fn search_file(&self, file: FoundFile, room: LimitsLeft) -> Result<FileOutcome<W>> {
        if self.scope.cancel.is_cancelled() {
            return Ok(FileOutcome::Gone);
        }
        let path = self.found.shown(file);
        let path = path.as_str();
        let outcome =
            with_file(self.scope.fs, self.scope.base, path, &self.load, |loaded| match loaded {
                Loaded::Binary(_) => Ok(FileOutcome::Binary),
                Loaded::Text(document) => self.search_document(document, path, room),
            });
        match outcome {
            Err(error) if error.code == Code::FileNotFound && !file.is_named() => {
                Ok(FileOutcome::Gone)
            }
            Err(error) if error.path.is_none() => {
                Err(error.within(format!("{path}: "), "").about(path))
            }
            outcome => outcome,
        }
    }

    fn search_document(
        &self,
        document: &Document,
        path: &str,
        room: LimitsLeft,
    ) -> Result<FileOutcome<W>> {
        let text = document.text();
        let header_bytes = header_size_bytes(self.scope.dialect, path);
        let limits = Limits {
            max_lines: None,
            max_bytes: Some(room.bytes.saturating_sub(header_bytes + 1)),
        };
        let per_file = self.query.max_matches_per_file.unwrap_or(u64::MAX);
        let enclosing = self.query.enclosing.then(|| Enclosing::new(path, text, self.scope.budget));
        let (mut shown, last) = show_matches(
            document,
            ViewStart { line: 1, offset: 0 },
            Page::new(self.scope.dialect, limits, 0)
                .with_width(Width::of(None, self.max_line_chars())),
            &self.pattern,
            (self.query.context, enclosing),
            room.matches.min(per_file),
            self.scope.cancel,
        )?;
        let match_count = shown.match_count.unwrap_or(0);
        if match_count == 0 {
            return Ok(FileOutcome::NoMatch);
        }
        let header = header_of_rows(self.scope.dialect, path, text, self.scope.cancel)?;
        let below = text.get(last.offset..).unwrap_or_default();
        let line_count = last.line - 1
            + count_lines_while(below, self.scope.cancel, &|bytes| document.mark_scanned(bytes))?;
        let match_lines = shown.match_lines.unwrap_or_default();
        let shown_matches = match_lines.len() as u64;
        let is_cut = shown.page.is_cut();
        let rows = shown.page.take_rows();
        Ok(FileOutcome::Hits(Hits {
            is_cut,
            ran_out: is_cut
                || shown.page.next_line().is_some()
                || (shown_matches < match_count && shown_matches == room.matches),
            text: into_string(self.scope, path, shown.page.into_text())?.0,
            header,
            matches: FileMatches {
                path: path.to_owned(),
                match_lines,
                match_count,
                line_count,
                truncated: is_cut || shown.next_line.is_some(),
                rows,
            },
            witnessed: (self.witness)(document),
        }))
    }
}

impl<W> Hits<W> {
    fn bytes(&self) -> usize {
        self.header.len() + 1 + self.text.len()
    }

    fn fit(&self, room: LimitsLeft) -> bool {
        self.matches.match_lines.len() as u64 <= room.matches && self.bytes() <= room.bytes
    }
}

impl<W> Gathered<'_, W> {
    /// Adds the matches of a file, where some are to be shown; false when they do not fit, or
    /// nobody wants more.
    fn append(&mut self, hits: Hits<W>, room: LimitsLeft) -> bool {
        // A cut line stands only where nothing else can be shown.
        if !hits.fit(room) || (hits.is_cut && self.text_bytes > 0) {
            self.result.truncated = true;
            return false;
        }
        if hits.matches.match_lines.is_empty() {
            return true;
        }
        let newline = usize::from(self.text_bytes > 0);
        self.text_bytes += newline + hits.bytes();
        self.result.match_count += hits.matches.match_lines.len() as u64;
        let goes_on = match &mut self.sink {
            Some(sink) => sink(&hits.header, &hits.text),
            None => {
                let text = &mut self.result.text;
                text.extend([&"\n"[..newline], &hits.header, "\n", &hits.text]);
                true
            }
        };
        self.result.files.push(hits.matches);
        self.witnessed.push(hits.witnessed);
        goes_on
    }
}
