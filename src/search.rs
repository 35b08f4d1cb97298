//! `searchHashed` and `searchHashedSync`.

use hashline_core::{self as core, Cancel, Context, Error, Query, Result as CoreResult, Workspace};
use napi::Env;
use napi_derive::napi;

use super::fault::Result;
use super::js::Js;
use super::options::{Field, Holder, optional, read_options};
use super::read;
use super::task::{self, Call, Prepared};
use super::text::{Text, Word};

/// What to search for, and where.
#[napi(object, object_to_js = false, object_from_js = false)]
pub struct SearchQuery<'env> {
    /// The text or pattern; a match lies within one line.
    #[napi(ts_type = "string")]
    pub search: Field<'env>,
    /// Files and directories: the root, or else the working directory, when left out.
    #[napi(ts_type = "string | readonly string[]")]
    pub paths: Option<Field<'env>>,
    /// Whether `search` is a regular expression (the syntax of Rust's `regex`, with
    /// look-around and back-references): false when left out.
    #[napi(ts_type = "boolean")]
    pub regex: Option<Field<'env>>,
    /// Whether letters match only their own case: false when left out.
    #[napi(ts_type = "boolean")]
    pub case_sensitive: Option<Field<'env>>,
    /// Lines shown before each match: 0 when left out.
    #[napi(ts_type = "number")]
    pub context_before: Option<Field<'env>>,
    /// Lines shown after each match: 0 when left out.
    #[napi(ts_type = "number")]
    pub context_after: Option<Field<'env>>,
    /// Globs of the files to search, as in a `.gitignore`, relative to where paths start; those
    /// that start with `!` exclude, and of several that match the last one decides.
    #[napi(ts_type = "string | readonly string[]")]
    pub globs: Option<Field<'env>>,
    /// The most matches shown of all files together: 1000 when left out.
    #[napi(ts_type = "number")]
    pub max_matches: Option<Field<'env>>,
    /// The most matches shown of each file.
    #[napi(ts_type = "number")]
    pub max_matches_per_file: Option<Field<'env>>,
    /// The most bytes of text shown, in whole lines. A first line that is longer is shown cut.
    #[napi(ts_type = "number")]
    pub max_bytes: Option<Field<'env>>,
    /// Whether hidden files and directories are searched: false when left out.
    #[napi(ts_type = "boolean")]
    pub hidden: Option<Field<'env>>,
    /// Whether to pass over what `.gitignore`, `.git/info/exclude` and, without `root`, git's
    /// ignore file of the user name: true when left out.
    #[napi(ts_type = "boolean")]
    pub gitignore: Option<Field<'env>>,
    /// Whether to pass over what `.ignore` files name: true when left out.
    #[napi(ts_type = "boolean")]
    pub ignore_files: Option<Field<'env>>,
    /// Whether those files count in the directories above a path too, up to the root: true when
    /// left out.
    #[napi(ts_type = "boolean")]
    pub parent_ignore_files: Option<Field<'env>>,
    /// Whether symbolic links met in directories are followed: false when left out.
    #[napi(ts_type = "boolean")]
    pub follow_links: Option<Field<'env>>,
    /// How far below a path to look; 1 is the files in the directory itself.
    #[napi(ts_type = "number")]
    pub max_depth: Option<Field<'env>>,
}

read_options!(SearchQuery {
    search: "search",
    paths: "paths",
    regex: "regex",
    case_sensitive: "caseSensitive",
    context_before: "contextBefore",
    context_after: "contextAfter",
    globs: "globs",
    max_matches: "maxMatches",
    max_matches_per_file: "maxMatchesPerFile",
    max_bytes: "maxBytes",
    hidden: "hidden",
    gitignore: "gitignore",
    ignore_files: "ignoreFiles",
    parent_ignore_files: "parentIgnoreFiles",
    follow_links: "followLinks",
    max_depth: "maxDepth"
});

/// What a search found.
#[napi(object, object_from_js = false)]
pub struct SearchResult {
    /// For each file a line `--- path ---`, then the lines with their anchors and `...` between
    /// groups.
    #[napi(ts_type = "string")]
    pub text: Text,
    /// The files shown, by path.
    pub files: Vec<FileMatches>,
    /// The matches shown.
    pub match_count: f64,
    /// Text files looked at, with matches or without.
    pub files_searched: f64,
    /// Files passed over because they are no text.
    pub binary_skipped: f64,
    /// Whether a limit left out anything; the rest of the files is then not searched, unless it
    /// was the limit of each file.
    pub truncated: bool,
    /// What could not be searched, by path.
    pub errors: Vec<SearchError>,
    /// Ignore files of which not everything counts, since it is too much, by path.
    pub warnings: Vec<SearchWarning>,
}

/// The matches in one file.
#[napi(object, object_from_js = false)]
pub struct FileMatches {
    /// The file, as reading and editing with the same root take it.
    pub path: String,
    /// The matching lines shown.
    pub match_lines: Vec<f64>,
    /// The matching lines of the file, shown or not.
    pub match_count: f64,
    /// Lines in the whole file.
    pub line_count: f64,
    /// Whether a limit left out matches or lines around them.
    pub truncated: bool,
}

/// Why something could not be searched.
#[napi(object, object_from_js = false)]
pub struct SearchError {
    /// What could not be searched.
    pub path: Option<String>,
    /// The stable code.
    #[napi(ts_type = "HashlineErrorCode")]
    pub code: Word,
    /// What, where and what instead.
    pub message: String,
}

/// What a search did otherwise than somebody may think who knows the files.
#[napi(object, object_from_js = false)]
pub struct SearchWarning {
    /// The file that it is about.
    pub path: String,
    /// What, and why; names the file.
    pub message: String,
}

/// Searches files, and directories with all below them, in parallel: the matching lines with
/// their anchors. What cannot be searched is told in the result and does not fail the rest.
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

/// As `searchHashed`, on the calling thread: throws where that rejects its promise.
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

    fn run(&self, cancel: &Cancel) -> CoreResult<Self::Output> {
        self.workspace.search(&self.query, cancel)
    }

    fn answer(result: Self::Output) -> SearchResult {
        result.into()
    }
}

fn prepare<'env>(query: Js<'env>, options: Js<'env>) -> Result<Prepared<'env, SearchCall>> {
    let (options, signal) = read::read_options(options)?;
    let query = search_query(SearchQuery::read(Holder::Query, query)?)?;
    Ok((SearchCall { query, workspace: Workspace::new(options) }, signal))
}

pub fn search_query(given: SearchQuery<'_>) -> Result<core::SearchQuery> {
    let defaults = core::SearchQuery::new(Query {
        search: given.search.text()?,
        regex: optional(given.regex, Field::flag)?.unwrap_or_default(),
        case_sensitive: optional(given.case_sensitive, Field::flag)?.unwrap_or_default(),
    });
    let flag = |field, default| {
        Ok::<_, super::fault::Fault>(optional(field, Field::flag)?.unwrap_or(default))
    };
    Ok(core::SearchQuery {
        paths: optional(given.paths, Field::texts)?.unwrap_or_default(),
        context: Context {
            before: optional(given.context_before, Field::count)?.unwrap_or_default(),
            after: optional(given.context_after, Field::count)?.unwrap_or_default(),
        },
        globs: optional(given.globs, Field::texts)?.unwrap_or_default(),
        max_matches: optional(given.max_matches, Field::count)?.unwrap_or(defaults.max_matches),
        max_matches_per_file: optional(given.max_matches_per_file, Field::count)?,
        max_bytes: optional(given.max_bytes, Field::size)?,
        hidden: flag(given.hidden, defaults.hidden)?,
        gitignore: flag(given.gitignore, defaults.gitignore)?,
        ignore_files: flag(given.ignore_files, defaults.ignore_files)?,
        parent_ignore_files: flag(given.parent_ignore_files, defaults.parent_ignore_files)?,
        follow_links: flag(given.follow_links, defaults.follow_links)?,
        max_depth: optional(given.max_depth, Field::size)?,
        ..defaults
    })
}

impl From<core::SearchResult> for SearchResult {
    fn from(result: core::SearchResult) -> SearchResult {
        SearchResult {
            text: result.text.into(),
            files: result.files.into_iter().map(FileMatches::from).collect(),
            match_count: result.match_count as f64,
            files_searched: result.files_searched as f64,
            binary_skipped: result.binary_skipped as f64,
            truncated: result.truncated,
            errors: result.errors.into_iter().map(SearchError::from).collect(),
            warnings: result.warnings.into_iter().map(SearchWarning::from).collect(),
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
        }
    }
}

impl From<Error> for SearchError {
    fn from(error: Error) -> SearchError {
        SearchError { path: error.path, code: Word(error.code.as_str()), message: error.message }
    }
}

impl From<core::SearchWarning> for SearchWarning {
    fn from(warning: core::SearchWarning) -> SearchWarning {
        SearchWarning { path: warning.path, message: warning.message }
    }
}
