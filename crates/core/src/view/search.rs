//! A query → the matches in many files and directories.
//!
//! Files are searched in parallel, in batches sorted by path, and limits count in the same order.
//! So neither timing nor the number of threads affects the result.

mod definitions;
mod directory;
mod display;
mod explanation;
mod files;
mod globs;
mod list;
mod notes;
mod query;
mod rules;
mod skipped;
mod walk;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};

use crate::view::enclosing::Enclosing;
use crate::view::excerpt::{Context, Limits, Page, ShownRows};
use crate::view::pattern::{Pattern, Query};
use crate::view::read::{ViewStart, count_lines_while, into_string, show_matches};
use crate::view::scope::Scope;
use crate::view::symbols::{SymbolPlace, parse_symbol};
use crate::view::width::Width;
use definitions::KnownPlaces;
use files::{FileList, ListedFile};
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use hashline_base::parallel;
use hashline_disk::bytes::{Charset, Document, LoadOptions, Loaded, with_file};
use hashline_lines::rows::{header_of_rows, header_size_bytes};
use hashline_syntax::SymbolName;
use list::PartialList;
use walk::{Walked, walk};

pub use directory::{DirectoryView, directory_view};
pub use explanation::PatternExplanation;
pub(crate) use explanation::{Unexplained, literal_lines, with_literal_lines};
pub use list::{FoundFile, FoundFiles};
pub use skipped::{Skipped, SkippedDirectories};

/// The default limit of matches for all files together.
pub const SEARCH_MATCHES: u64 = 1000;

/// The default limit of files in a list.
pub const SEARCH_FILES: u64 = 1000;

/// The number of files in the first batch; each further batch is twice as large. So a common word
/// stops early, and a rare one seldom waits for the slowest file.
const FIRST_BATCH_FILES: usize = 64;
const LAST_BATCH_FILES: usize = 1024;

/// What the text of a search shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SearchOutput {
    /// The matching lines with their anchors.
    #[default]
    Lines,
    /// The paths of the files with a match. A file is searched up to its first match.
    Files,
    /// The path and the number of matching lines of each file with a match.
    Count,
    /// The paths of the files that would be searched; there is no pattern.
    #[serde(skip)]
    List,
}

/// What to search for, and where.
#[derive(Clone, Debug)]
pub struct SearchQuery {
    /// The text or pattern; empty with `symbol` and with [`SearchOutput::List`].
    pub search: Query,
    /// Searches for definitions with this name, such as `Class.method`, instead of for text. They
    /// are shown whole while they have at most 200 lines together, otherwise by their first lines.
    pub symbol: Option<String>,
    /// What is shown.
    pub output: SearchOutput,
    /// Whether a list has the sizes of its files.
    pub sizes: bool,
    /// How many files a list shows, at least one.
    pub max_files: u64,
    /// How many files of a list to omit before the first one shown.
    pub skip: u64,
    /// Files and directories, searched even if ignored or hidden; empty means the base of relative
    /// paths.
    pub paths: Vec<PathBuf>,
    /// The number of lines around each match.
    pub context: Context,
    /// Globs of the files to search, with the syntax of `.gitignore`, relative to the base of
    /// paths. A glob that starts with `!` excludes; the last matching glob decides. Spellings that
    /// can match nothing there are understood: `./src/*.ts`, absolute paths below the base, `src/`,
    /// and globs relative to `paths`; also `*.ts,*.tsx` and `src`, if they match no file.
    pub globs: Vec<String>,
    /// How many matches to show for all files together.
    pub max_matches: u64,
    /// How many matches to show for each file.
    pub max_matches_per_file: Option<u64>,
    /// The maximum size of the text; it ends with a whole line. A first line that is longer is
    /// truncated.
    pub max_bytes: Option<usize>,
    /// How many code points of each line to show; for a matching line, those around the match.
    pub max_line_chars: Option<u64>,
    /// Shows the lines that open the blocks around each match, if the language of the file is
    /// known.
    pub enclosing: bool,
    /// Searches hidden files and directories, too.
    pub hidden: bool,
    /// Skips files ignored by `.gitignore`, `.git/info/exclude` and the user's global git ignore
    /// file. The global file is outside of any root, so it is ignored if there is a root.
    pub gitignore: bool,
    /// Skips files ignored by `.ignore` files.
    pub ignore_files: bool,
    /// Also reads ignore files in the parent directories of a path, up to the root.
    pub parent_ignore_files: bool,
    /// Follows symbolic links in directories.
    pub follow_links: bool,
    /// The maximum depth below a path; 1 is the files in the directory itself.
    pub max_depth: Option<usize>,
    /// The label of the encoding of files without a byte order mark; overrides that of the
    /// workspace.
    pub encoding: Option<String>,
}

impl SearchQuery {
    /// A query with the defaults.
    pub fn new(search: impl Into<Query>) -> SearchQuery {
        SearchQuery {
            search: search.into(),
            symbol: None,
            output: SearchOutput::Lines,
            sizes: false,
            max_files: SEARCH_FILES,
            skip: 0,
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
            encoding: None,
        }
    }

    /// A query without a pattern, which lists files, with the defaults.
    pub fn list() -> SearchQuery {
        SearchQuery { output: SearchOutput::List, ..SearchQuery::new("") }
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
    /// The path, as accepted by reads and edits with the same root.
    pub path: String,
    /// The matching lines shown.
    pub match_lines: Vec<u64>,
    /// The matching lines of the file, shown or not.
    pub match_count: u64,
    /// Lines in the whole file.
    pub line_count: u64,
    /// Whether a limit omitted matches or context.
    pub truncated: bool,
    /// With `symbol`, the definitions shown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<SymbolPlace>,
    /// The name of the encoding, if a session found that it is not UTF-8.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub encoding: Option<String>,
    /// The lines shown.
    #[serde(skip)]
    pub rows: ShownRows,
}

/// The result of a search.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SearchResult {
    /// For each file a line `--- path ---`, then the lines with their anchors, with `...` between
    /// groups; joined by `\n`. For each file of a list its path, with its count and size.
    pub text: String,
    /// The files whose matches are shown, sorted by path.
    pub files: Vec<FileMatches>,
    /// The files of a list, in place of matches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list: Option<FoundFiles>,
    /// Whether nothing defines the `symbol` of the query; the matches are lines that contain it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub no_definition: bool,
    /// The matches shown.
    pub match_count: u64,
    /// Text files searched, with or without matches.
    pub files_searched: u64,
    /// The same as [`Skipped::binary`].
    pub binary_skipped: u64,
    /// Whether a limit omitted anything. The remaining files are not searched then, unless it was
    /// the limit for each file.
    pub truncated: bool,
    /// Whether the remaining files were not searched.
    #[serde(skip)]
    pub ran_out: bool,
    /// Files and directories that could not be searched, sorted by path.
    pub errors: Vec<Error>,
    /// Ignore files that were not applied in full, and paths that no request can name, sorted by
    /// path.
    pub warnings: Vec<SearchWarning>,
    /// What was not searched, by reason.
    pub skipped: Skipped,
    /// Globs of the query that match no file.
    pub unmatched_globs: Vec<String>,
    /// What the pattern means, if it may be meant in another way: there are no matches, or it has a
    /// word as a set of characters.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub explanation: Option<PatternExplanation>,
    /// The largest file size that was accepted.
    #[serde(skip)]
    pub max_file_bytes: u64,
}

impl SearchResult {
    /// Whether there are no matches, and no limit omitted any.
    pub(crate) fn found_nothing(&self) -> bool {
        !self.has_results() && !self.truncated
    }

    /// Whether any matches or files are shown or counted.
    pub fn has_results(&self) -> bool {
        self.match_count > 0 || self.list.as_ref().is_some_and(|list| list.file_count > 0)
    }
}

/// Something the caller might not expect, such as an ignore file that was truncated.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct SearchWarning {
    /// The file concerned.
    pub path: String,
    /// What happened and why, with the path.
    pub message: String,
}

/// Receives the rows of a file as soon as they are final: the header, then the lines; or its row in
/// a list, then nothing. Returns whether to continue.
pub type RowSink<'a> = &'a mut dyn FnMut(&str, &str) -> bool;

/// Searches files and directories. Reports what cannot be searched in the result; fails only for
/// invalid arguments and cancellation. `progress` is called periodically with the number of files
/// searched and the total. With a `sink`, the result has no text: the sink receives it file by file.
/// `witness` is called with the text of each file with matches; its results are in the order of the
/// result's files. Also returns the files in which a pattern without a match can be explained.
pub fn search_hashed<W: Send + Sync>(
    scope: &Scope<'_>,
    query: &SearchQuery,
    progress: &dyn Fn(usize, usize),
    sink: Option<RowSink<'_>>,
    witness: impl Fn(&Document) -> W + Sync,
) -> Result<(SearchResult, Vec<W>, Option<Unexplained>)> {
    let cancel = scope.cancel;
    cancel.check()?;
    query.check()?;
    let wanted = Wanted::new(query, cancel)?;
    let Walked { files, errors, warnings, skipped, unmatched_globs } =
        walk(scope.fs, scope.base, query, cancel)?;
    let result = SearchResult {
        errors,
        warnings,
        skipped,
        unmatched_globs,
        max_file_bytes: scope.max_file_bytes,
        ..SearchResult::default()
    };
    let list = (query.output != SearchOutput::Lines).then(|| PartialList::new(scope, query));
    let mut partial =
        PartialResult { result, list, witnessed: Vec::new(), text_bytes: 0, whole_lines: 0, sink };
    let load = load_options(scope, query)?;
    let mut unexplained = None;
    match wanted {
        Some(wanted) => {
            let search = Search { scope, query, wanted, load, files, witness };
            search.search_in_batches(&mut partial, progress)?;
            partial.finish_list();
            cancel.check()?;
            let has_nothing = partial.result.found_nothing();
            let Search { files, load, .. } = search;
            unexplained =
                (has_nothing && query.symbol.is_none()).then_some(Unexplained { files, load });
        }
        None => {
            if let Some(list) = &mut partial.list {
                list.add_all(scope, query, &files, &mut partial.sink)?;
            }
            partial.finish_list();
        }
    }
    let PartialResult { mut result, witnessed, .. } = partial;
    result.errors = sorted_errors(scope, result.errors);
    result.errors.dedup_by(|one, other| one.message == other.message);
    Ok((result, witnessed, unexplained))
}

/// How the files of a search are loaded.
fn load_options(scope: &Scope<'_>, query: &SearchQuery) -> Result<LoadOptions> {
    let charset = query.encoding.as_deref().map(Charset::by_label).transpose()?.or(scope.charset);
    Ok(LoadOptions { charset, releases_pages: true, ..scope.load_options() })
}

/// Searches one place. Explains a pattern without a match and an invalid one, and shows the lines
/// with a name that nothing defines.
pub fn search_and_explain(
    scope: &Scope<'_>,
    query: &SearchQuery,
    progress: &dyn Fn(usize, usize),
    mut sink: Option<RowSink<'_>>,
) -> Result<SearchResult> {
    let mut search = |query: &SearchQuery| {
        let sink = sink.as_mut().map(|sink| &mut **sink as RowSink<'_>);
        search_hashed(scope, query, progress, sink, |_| ())
    };
    match search(query) {
        Ok((mut result, _, unexplained)) => {
            if let Some(uses) = query.for_uses().filter(|_| result.found_nothing()) {
                result.add_uses(search(&uses)?.0);
            }
            result.explain_matches(query);
            if let Some(unexplained) = unexplained {
                result.explain_no_match(scope, query, &unexplained)?;
            }
            Ok(result)
        }
        Err(error) => Err(match literal_lines(scope, query, &error)? {
            Some(lines) => with_literal_lines(error, lines),
            None => error,
        }),
    }
}

/// Errors in the spelling of the host, by path.
fn sorted_errors(scope: &Scope<'_>, errors: Vec<Error>) -> Vec<Error> {
    let mut errors: Vec<Error> =
        errors.into_iter().map(|error| error.spelled(scope.host.spelling)).collect();
    errors.sort_by(|a, b| (&a.path, &*a.message).cmp(&(&b.path, &*b.message)));
    errors
}

/// At least about this number of truncated lines should fit into the text of a search.
const ROWS_THAT_FIT: u64 = 8;

/// The shortest length to which lines are truncated to make room.
const READABLE_CHARS: u64 = 200;

struct Search<'a, F> {
    scope: &'a Scope<'a>,
    query: &'a SearchQuery,
    wanted: Wanted,
    load: LoadOptions,
    files: FileList,
    witness: F,
}

/// What is searched for.
enum Wanted {
    Lines(Pattern),
    Definitions(SymbolName),
}

impl Wanted {
    /// `None` if all files are listed.
    fn new(query: &SearchQuery, cancel: &Cancel) -> Result<Option<Wanted>> {
        Ok(match &query.symbol {
            Some(name) => Some(Wanted::Definitions(parse_symbol(name)?)),
            None if query.output == SearchOutput::List => None,
            None => Some(Wanted::Lines(Pattern::new(&query.search, cancel)?)),
        })
    }
}

/// The outcome for one file, and whether some of its bytes are invalid in its encoding.
type Searched<W> = (FileOutcome<W>, bool);

/// The outcome for one file.
enum FileOutcome<W> {
    /// It was removed after it was listed.
    Gone,
    Binary,
    NoMatch,
    /// It contains the name of the symbol, but its structure is not known.
    UnknownStructure,
    /// A file for a list.
    Listed(FoundFile),
    Hits(Box<Hits<W>>),
}

/// The matches of a file.
struct Hits<W> {
    header: String,
    text: String,
    matches: FileMatches,
    witnessed: W,
    /// The lines of definitions that are shown whole.
    whole_lines: u64,
    known: Option<KnownPlaces>,
    /// Whether the text is a single line that the byte limit truncated.
    is_cut: bool,
    /// Whether the remaining limits of the whole search truncated it.
    ran_out: bool,
}

/// The result so far.
struct PartialResult<'a, W> {
    result: SearchResult,
    list: Option<PartialList>,
    witnessed: Vec<W>,
    /// The size of the text, wherever it was written.
    text_bytes: usize,
    /// The lines of definitions that are shown whole.
    whole_lines: u64,
    sink: Option<RowSink<'a>>,
}

/// The remaining limits of the whole search.
#[derive(Clone, Copy)]
struct RemainingLimits {
    matches: u64,
    bytes: usize,
    /// The lines of definitions that can be shown whole.
    whole_lines: u64,
}

impl<W: Send + Sync, F: Fn(&Document) -> W + Sync> Search<'_, F> {
    /// Searches batch by batch. Adds the result of a batch while other threads search the next one.
    fn search_in_batches(
        &self,
        partial: &mut PartialResult<'_, W>,
        progress: &dyn Fn(usize, usize),
    ) -> Result<()> {
        let files = self.files.files();
        let mut rest = files;
        let mut batch_files = FIRST_BATCH_FILES;
        let mut searched: (&[ListedFile], Vec<Result<Searched<W>>>) = Default::default();
        let is_full = AtomicBool::new(false);
        loop {
            progress(files.len() - rest.len(), files.len());
            let (batch, later) = rest.split_at(batch_files.min(rest.len()));
            let room = self.remaining_limits(partial);
            let search = |file: &ListedFile| {
                if is_full.load(Ordering::Relaxed) {
                    return Ok((FileOutcome::Gone, false));
                }
                self.search_file(*file, None, room)
            };
            let (last_batch, outcomes) = searched;
            let outcomes = parallel::map_after(batch, search, || {
                let mut outcomes = last_batch.iter().zip(outcomes);
                let ends = outcomes
                    .any(|(file, outcome)| self.add_outcome(*file, outcome, partial).is_break());
                partial.result.ran_out = ends;
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

    /// How much of a line to show. Long lines are truncated so that several fit; otherwise one line
    /// could use up all the room.
    fn max_line_chars(&self) -> Option<u64> {
        let fitting = self.query.max_bytes.map_or(u64::MAX, |bytes| bytes as u64 / ROWS_THAT_FIT);
        self.query.max_line_chars.map(|chars| chars.min(fitting.max(READABLE_CHARS)))
    }

    /// The limits for the next file.
    fn remaining_limits(&self, partial: &PartialResult<'_, W>) -> RemainingLimits {
        let max_bytes =
            self.query.max_bytes.unwrap_or(usize::MAX).min(self.scope.host.text_limit_units);
        let newline = usize::from(partial.text_bytes > 0);
        RemainingLimits {
            matches: self.query.max_matches.saturating_sub(partial.result.match_count),
            bytes: max_bytes.saturating_sub(partial.text_bytes + newline),
            whole_lines: definitions::WHOLE_LINES.saturating_sub(partial.whole_lines),
        }
    }

    /// Adds the outcome for one file; breaks once a limit of the whole search is reached.
    fn add_outcome(
        &self,
        file: ListedFile,
        outcome: Result<Searched<W>>,
        partial: &mut PartialResult<'_, W>,
    ) -> ControlFlow<()> {
        let room = self.remaining_limits(partial);
        let outcome = match outcome {
            // The batch started with more room than now remains. Search the one file that crosses a
            // limit again, with the exact room.
            Ok((FileOutcome::Hits(hits), _)) if !hits.fit(room) => {
                self.search_file(file, hits.known.as_ref(), room)
            }
            outcome => outcome,
        };
        let result = &mut partial.result;
        let is_lossy = outcome.as_ref().is_ok_and(|&(_, is_lossy)| is_lossy);
        result.skipped.lossy += u64::from(is_lossy);
        match outcome.map(|(outcome, _)| outcome) {
            Ok(FileOutcome::Gone) => {}
            Ok(FileOutcome::Binary) => {
                result.binary_skipped += 1;
                result.skipped.binary += 1;
            }
            Ok(FileOutcome::NoMatch) => result.files_searched += 1,
            Ok(FileOutcome::UnknownStructure) => {
                result.files_searched += 1;
                result.skipped.unknown_structure += 1;
            }
            Ok(FileOutcome::Listed(found)) => {
                result.files_searched += 1;
                if let Some(list) = &mut partial.list
                    && !list.push(found, &mut partial.sink)
                {
                    return ControlFlow::Break(());
                }
            }
            Ok(FileOutcome::Hits(hits)) => {
                result.files_searched += 1;
                result.truncated |= hits.matches.truncated;
                let ran_out = hits.ran_out;
                if !partial.append(*hits, room) || ran_out {
                    return ControlFlow::Break(());
                }
            }
            Err(error) => {
                let is_too_large = error.code == Code::FileTooLarge && !file.is_named();
                result.skipped.too_large += u64::from(is_too_large);
                result.errors.push(error);
            }
        }
        ControlFlow::Continue(())
    }

    fn search_file(
        &self,
        file: ListedFile,
        known: Option<&KnownPlaces>,
        room: RemainingLimits,
    ) -> Result<Searched<W>> {
        if self.scope.cancel.is_cancelled() {
            return Ok((FileOutcome::Gone, false));
        }
        let path = self.files.shown(file);
        let path = path.as_str();
        let load = load_of(self.scope, path, &self.load);
        let outcome =
            with_file(self.scope.fs, self.scope.base, path, &load, |loaded| match loaded {
                Loaded::Binary(_) => Ok((FileOutcome::Binary, false)),
                Loaded::Text(document) => match &self.wanted {
                    Wanted::Lines(pattern) if self.query.output == SearchOutput::Lines => {
                        self.search_document(document, path, pattern, room)
                    }
                    Wanted::Lines(pattern) => self.count_matches(document, path, pattern),
                    Wanted::Definitions(name) => {
                        self.find_definitions(document, path, (name, known), room)
                    }
                }
                .map(|outcome| (outcome, document.lossy())),
            });
        match outcome {
            Err(error) if error.code == Code::FileNotFound && !file.is_named() => {
                Ok((FileOutcome::Gone, false))
            }
            Err(error) if error.path.is_none() => {
                Err(error.within(format!("{path}: "), "").about(path))
            }
            outcome => outcome,
        }
    }

    /// An empty page for the rows of a file.
    fn page(&self, path: &str, room: RemainingLimits) -> Page {
        let header_bytes = header_size_bytes(self.scope.dialect, path);
        let max_bytes = Some(room.bytes.saturating_sub(header_bytes + 1));
        Page::new(self.scope.dialect, Limits { max_lines: None, max_bytes }, 0)
            .with_width(Width::of(None, self.max_line_chars()))
    }

    /// Counts the matching lines, or finds the first one, for a list.
    fn count_matches(
        &self,
        document: &Document,
        path: &str,
        pattern: &Pattern,
    ) -> Result<FileOutcome<W>> {
        let progress = |bytes| document.mark_scanned(bytes);
        let lines = pattern.matching_lines(document.text(), 0, self.scope.cancel);
        let mut lines = lines.with_progress(&progress);
        if lines.next().transpose()?.is_none() {
            return Ok(FileOutcome::NoMatch);
        }
        let mut found = FoundFile { path: path.to_owned(), ..FoundFile::default() };
        if self.query.output == SearchOutput::Count {
            found.match_count = Some(1 + lines.try_fold(0, |count, line| line.map(|_| count + 1))?);
        }
        if self.query.sizes {
            found.bytes = Some(document.raw().len() as u64);
        }
        Ok(FileOutcome::Listed(found))
    }

    fn search_document(
        &self,
        document: &Document,
        path: &str,
        pattern: &Pattern,
        room: RemainingLimits,
    ) -> Result<FileOutcome<W>> {
        let text = document.text();
        let per_file = self.query.max_matches_per_file.unwrap_or(u64::MAX);
        let enclosing = self.query.enclosing.then(|| Enclosing::new(path, text, self.scope.budget));
        let (mut shown, last) = show_matches(
            document,
            ViewStart { line: 1, offset: 0 },
            self.page(path, room),
            pattern,
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
        Ok(FileOutcome::Hits(Box::new(Hits {
            whole_lines: 0,
            known: None,
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
                symbols: Vec::new(),
                encoding: guessed_encoding(document),
                rows,
            },
            witnessed: (self.witness)(document),
        })))
    }
}

/// How a file of a search is loaded.
fn load_of<'l>(scope: &Scope<'_>, path: &str, load: &'l LoadOptions) -> Cow<'l, LoadOptions> {
    match scope.known_charset(path) {
        None => Cow::Borrowed(load),
        known => Cow::Owned(LoadOptions { known, ..load.clone() }),
    }
}

/// The name of the encoding of a text, if it was found that it is not UTF-8.
fn guessed_encoding(document: &Document) -> Option<String> {
    let is_guessed = document.is_guessed() && document.charset() != Charset::Utf8;
    is_guessed.then(|| document.charset().name())
}

impl<W> Hits<W> {
    fn bytes(&self) -> usize {
        self.header.len() + 1 + self.text.len()
    }

    fn fit(&self, room: RemainingLimits) -> bool {
        self.matches.match_lines.len() as u64 <= room.matches
            && self.bytes() <= room.bytes
            && self.whole_lines <= room.whole_lines
    }
}

impl<W> PartialResult<'_, W> {
    /// Moves the list, if there is one, to the result.
    fn finish_list(&mut self) {
        if let Some((text, found)) = self.list.take().map(PartialList::finish) {
            self.result.truncated |= found.next.is_some();
            self.result.text = text;
            self.result.list = Some(found);
        }
    }

    /// Adds the matches of a file, if any are to be shown. Returns false if they do not fit or the
    /// sink stops.
    fn append(&mut self, hits: Hits<W>, room: RemainingLimits) -> bool {
        // Show a truncated line only if it would be the only output.
        if !hits.fit(room) || (hits.is_cut && self.text_bytes > 0) {
            self.result.truncated = true;
            return false;
        }
        if hits.matches.match_lines.is_empty() {
            return true;
        }
        let newline = usize::from(self.text_bytes > 0);
        self.text_bytes += newline + hits.bytes();
        self.whole_lines += hits.whole_lines;
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
