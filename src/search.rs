//! `searchHashed` and `searchHashedSync`.

use hashline_core::{self as core, Cancel, Error, Result as CoreResult, Workspace};
use napi::Env;
use napi_derive::napi;

use super::error::Result;
use super::js::Js;
use super::options::{Field, workspace_options};
use super::read;
use super::task::{self, Call, Prepared};
use super::text::{Text, Word};

/// The result of a search.
#[napi(object, object_from_js = false)]
pub struct SearchResult {
    /// For each file a line `--- path ---`, then the lines with their anchors and `...` between
    /// groups. For each file of a list its path, with its count and size.
    #[napi(ts_type = "string")]
    pub text: Text,
    /// The files whose matches are shown, by path.
    pub files: Vec<FileMatches>,
    /// Without `search`, and with the outputs `'files'` and `'count'`: the files, in place of
    /// matches.
    pub list: Option<FoundFiles>,
    /// With `symbol`: true if nothing defines it. The matches are then lines that contain it.
    pub no_definition: Option<bool>,
    /// The matches shown.
    pub match_count: f64,
    /// Text files that were searched, with matches or without.
    pub files_searched: f64,
    /// The same as `skipped.binary`.
    pub binary_skipped: f64,
    /// Whether a limit omitted anything. The remaining files are then not searched, unless it was
    /// the limit per file.
    pub truncated: bool,
    /// Errors, by path.
    pub errors: Vec<SearchError>,
    /// Ignore files that are truncated at a limit, and files whose names are not UTF-8, by path.
    pub warnings: Vec<SearchWarning>,
    /// What was not searched, by reason.
    pub skipped: Skipped,
    /// Globs of the query that match no file.
    pub unmatched_globs: Vec<String>,
    /// What the pattern means, if it may be meant in another way: there are no matches, or it has a
    /// word as a set of characters.
    pub explanation: Option<PatternExplanation>,
}

/// The files that a search lists.
#[napi(object, object_from_js = false)]
pub struct FoundFiles {
    /// The files shown, by path.
    pub files: Vec<FoundFile>,
    /// All files found, shown or not.
    pub file_count: f64,
    /// The matching lines of all files found, if they are counted.
    pub match_count: Option<f64>,
    /// If a limit cut the list: the `skip` of the query that continues it.
    pub next: Option<f64>,
}

/// A file of a list.
#[napi(object, object_from_js = false)]
pub struct FoundFile {
    /// The path, as reads and edits with the same root accept it.
    pub path: String,
    /// Its matching lines, if they are counted.
    pub match_count: Option<f64>,
    /// Its size, with `sizes`; not if it was removed meanwhile.
    pub bytes: Option<f64>,
}

/// The other readings of a pattern.
#[napi(object, object_from_js = false)]
pub struct PatternExplanation {
    /// What the pattern means.
    pub meaning: String,
    /// The lines that contain the pattern as literal text; counted only if the pattern has no match.
    pub literal_matches: Option<f64>,
    /// The pattern as `grep` reads it, if that is another one.
    pub grep_pattern: Option<String>,
    /// The lines that match it.
    pub grep_matches: Option<f64>,
    /// The lines that match a literal text as a regular expression, if it is rather one.
    pub regex_matches: Option<f64>,
}

/// What a search did not cover. Files in a skipped directory are not counted.
#[napi(object, object_from_js = false)]
pub struct Skipped {
    /// Directories that ignore files exclude.
    pub ignored_directories: SkippedDirectories,
    /// Hidden directories, without those of version control such as `.git`.
    pub hidden_directories: SkippedDirectories,
    /// Files that ignore files exclude.
    pub ignored_files: f64,
    /// Hidden files.
    pub hidden_files: f64,
    /// Symbolic links that were not followed.
    pub links: f64,
    /// Files that are not text.
    pub binary: f64,
    /// Files over the size limit; `errors` names them.
    pub too_large: f64,
    /// Files that contain the name of the symbol, but whose structure is not known.
    pub unknown_structure: f64,
    /// Files with bytes that are invalid in their encoding: only the other bytes were searched.
    pub lossy: f64,
}

/// The directories that were skipped for a reason.
#[napi(object, object_from_js = false)]
pub struct SkippedDirectories {
    /// How many.
    pub count: f64,
    /// The paths of at most five.
    pub names: Vec<String>,
    /// Whether there are more names.
    pub has_more: bool,
}

/// The matches in one file.
#[napi(object, object_from_js = false)]
pub struct FileMatches {
    /// The path, as reads and edits with the same root accept it.
    pub path: String,
    /// The matching lines shown.
    pub match_lines: Vec<f64>,
    /// The matching lines of the file, shown or not.
    pub match_count: f64,
    /// Lines in the whole file.
    pub line_count: f64,
    /// Whether a limit omitted matches or lines around them.
    pub truncated: bool,
    /// With `symbol`: the definitions shown.
    pub symbols: Option<Vec<read::SymbolPlace>>,
    /// The name of the encoding, if a session found that it is not UTF-8.
    pub encoding: Option<String>,
}

/// Why something could not be searched.
#[napi(object, object_from_js = false)]
pub struct SearchError {
    /// What could not be searched.
    pub path: Option<String>,
    /// The stable code.
    #[napi(ts_type = "HashlineErrorCode")]
    pub code: Word,
    /// What happened, where, and what to do instead.
    pub message: String,
}

/// Something the caller might not expect, such as an ignore file that was truncated.
#[napi(object, object_from_js = false)]
pub struct SearchWarning {
    /// The file that the warning is about.
    pub path: String,
    /// What happened, and why; names the file.
    pub message: String,
}

/// Searches files, and directories recursively, in parallel: returns the matching lines with their
/// anchors, or lists files. Paths that cannot be searched are named in the result and do not fail the others.
///
/// Rejects with an error that has a `code` for misuse of the arguments, a pattern that does
/// not compile, and when cancelled.
#[napi(
    ts_args_type = "query: SearchQuery, options?: SearchOptions",
    ts_return_type = "Promise<SearchResult>"
)]
pub fn search_hashed<'env>(
    env: &'env Env,
    query: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::later(env, || prepare(query, options))
}

/// As `searchHashed`, but synchronous: throws where `searchHashed` rejects its promise.
#[napi(
    ts_args_type = "query: SearchQuery, options?: Omit<SearchOptions, 'signal'>",
    ts_return_type = "SearchResult"
)]
pub fn search_hashed_sync<'env>(
    env: &'env Env,
    query: Js<'env>,
    options: Js<'env>,
) -> napi::Result<Js<'env>> {
    task::now(env, || prepare(query, options))
}

struct SearchCall {
    query: core::SearchQuery,
    workspace: Workspace<'static>,
}

impl Call for SearchCall {
    type Output = core::SearchResult;
    type Answer = SearchResult;
    const WRITES: bool = false;

    fn run(&mut self, cancel: &Cancel) -> CoreResult<Self::Output> {
        self.workspace.search_with(&self.query, cancel)
    }

    fn answer(result: Self::Output) -> SearchResult {
        result.into()
    }
}

fn prepare<'env>(query: Js<'env>, options: Js<'env>) -> Result<Prepared<'env, SearchCall>> {
    let (options, signal) = workspace_options(options, read::OPTIONS)?;
    let query = search_query(query)?;
    Ok((SearchCall { query, workspace: Workspace::new(options) }, signal))
}

pub fn search_query(value: Js<'_>) -> Result<core::SearchQuery> {
    Field::argument("query", value)?.read()
}

impl From<core::SearchResult> for SearchResult {
    fn from(result: core::SearchResult) -> SearchResult {
        SearchResult {
            text: result.text.into(),
            files: result.files.into_iter().map(FileMatches::from).collect(),
            list: result.list.map(FoundFiles::from),
            no_definition: result.no_definition.then_some(true),
            match_count: result.match_count as f64,
            files_searched: result.files_searched as f64,
            binary_skipped: result.binary_skipped as f64,
            truncated: result.truncated,
            errors: result.errors.into_iter().map(SearchError::from).collect(),
            warnings: result.warnings.into_iter().map(SearchWarning::from).collect(),
            skipped: result.skipped.into(),
            unmatched_globs: result.unmatched_globs,
            explanation: result.explanation.map(PatternExplanation::from),
        }
    }
}

impl From<core::FoundFiles> for FoundFiles {
    fn from(list: core::FoundFiles) -> FoundFiles {
        FoundFiles {
            files: list.files.into_iter().map(FoundFile::from).collect(),
            file_count: list.file_count as f64,
            match_count: list.match_count.map(|count| count as f64),
            next: list.next.map(|next| next as f64),
        }
    }
}

impl From<core::FoundFile> for FoundFile {
    fn from(file: core::FoundFile) -> FoundFile {
        FoundFile {
            path: file.path,
            match_count: file.match_count.map(|count| count as f64),
            bytes: file.bytes.map(|bytes| bytes as f64),
        }
    }
}

impl From<core::PatternExplanation> for PatternExplanation {
    fn from(explanation: core::PatternExplanation) -> PatternExplanation {
        PatternExplanation {
            meaning: explanation.meaning,
            literal_matches: explanation.literal_matches.map(|count| count as f64),
            grep_pattern: explanation.grep_pattern,
            grep_matches: explanation.grep_matches.map(|count| count as f64),
            regex_matches: explanation.regex_matches.map(|count| count as f64),
        }
    }
}

impl From<core::Skipped> for Skipped {
    fn from(skipped: core::Skipped) -> Skipped {
        Skipped {
            ignored_directories: skipped.ignored_directories.into(),
            hidden_directories: skipped.hidden_directories.into(),
            ignored_files: skipped.ignored_files as f64,
            hidden_files: skipped.hidden_files as f64,
            links: skipped.links as f64,
            binary: skipped.binary as f64,
            too_large: skipped.too_large as f64,
            unknown_structure: skipped.unknown_structure as f64,
            lossy: skipped.lossy as f64,
        }
    }
}

impl From<core::SkippedDirectories> for SkippedDirectories {
    fn from(directories: core::SkippedDirectories) -> SkippedDirectories {
        SkippedDirectories {
            count: directories.count as f64,
            names: directories.names,
            has_more: directories.has_more,
        }
    }
}

impl From<core::FileMatches> for FileMatches {
    fn from(matches: core::FileMatches) -> FileMatches {
        let lines = matches.match_lines.into_iter();
        FileMatches {
            path: matches.path,
            match_lines: lines.map(|line| line as f64).collect(),
            match_count: matches.match_count as f64,
            line_count: matches.line_count as f64,
            truncated: matches.truncated,
            symbols: read::symbols_of(matches.symbols),
            encoding: matches.encoding,
        }
    }
}

impl From<Error> for SearchError {
    fn from(error: Error) -> SearchError {
        SearchError {
            path: error.path,
            code: Word(error.code.as_str()),
            message: error.message.into(),
        }
    }
}

impl From<core::SearchWarning> for SearchWarning {
    fn from(warning: core::SearchWarning) -> SearchWarning {
        SearchWarning { path: warning.path, message: warning.message }
    }
}
