//! Renders a file: a window of its lines, or the matches in it.

mod folded;
mod lines;
mod shape;
mod shared;
mod stream;
mod symbol;

use std::borrow::Cow;
use std::ops::Range;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::view::enclosing::Enclosing;
use crate::view::excerpt::{Context, Excerpt, Limits, Page, ShownRows};
use crate::view::fold::{FOLD_LINES, Folding};
use crate::view::near::with_near_names;
use crate::view::pattern::{Pattern, Query};
use crate::view::scope::Scope;
use crate::view::search::DirectoryView;
use crate::view::symbols::SymbolPlace;
use crate::view::width::{Columns, Width};
use hashline_base::cancel::{Cancel, PIECE_BYTES};
use hashline_base::error::{Code, Error, Message, Result, Term};
use hashline_base::parallel;
use hashline_disk::bytes::{
    Charset, Document, LoadOptions, Loaded, load_bytes, string_with_cancel, with_file,
};
use hashline_disk::fs::unicode_path;
use hashline_lines::checksum::Checksum;
use hashline_lines::lines::{Lines, Unit};
use hashline_lines::rows::{header_of_rows, recycled_buffer_bytes, rendered_size_bound};

pub(crate) use lines::count_lines_while;
use lines::{line_ending, offset_after_lines, offset_of_line};
use shared::CountedText;
pub use stream::{stream_bytes, stream_file};

/// The default limit of matches for one file, or for all files of a search.
pub const MAX_MATCHES: u64 = 200;

/// A read of one file.
#[derive(Clone, Debug, Default)]
pub struct ReadRequest {
    /// The file.
    pub path: PathBuf,
    /// The first line, from 1.
    pub start_line: Option<u64>,
    /// How much to show.
    pub limits: Limits,
    /// How many code points of each line to show. Longer lines end with the number of omitted
    /// characters.
    pub max_line_chars: Option<u64>,
    /// The columns to show of each line; `max_line_chars` is ignored then.
    pub columns: Option<Columns>,
    /// How much to fold; `None` does not fold.
    pub fold: Option<Folding>,
    /// Folds to open: lines as `14-80`, or the anchor of the line above a fold. A view with opened
    /// folds is folded.
    pub open: Vec<String>,
    /// Shows only the matches.
    pub search: Option<Query>,
    /// Shows only the definition with this name, such as `Class.method`; if there are several, the
    /// first line of each.
    pub symbol: Option<String>,
    /// Shows only these lines of the file, in ascending order. Lines that do not exist are ignored.
    pub lines: Vec<u64>,
    /// Lines with a column, from 1. If such a line is not shown whole, the part around it is.
    pub columns_at: Vec<(u64, u64)>,
    /// The number of lines around each match, and around each of `lines`: fewer if they do not fit.
    pub context: Context,
    /// How many matches to show; `None` means [`MAX_MATCHES`].
    pub max_matches: Option<u64>,
    /// The label of the encoding, for a file without a byte order mark.
    pub encoding: Option<String>,
    /// Whether the view includes the checksum of its lines.
    pub checksum: bool,
}

impl ReadRequest {
    /// Reads a whole file.
    pub fn new(path: impl Into<PathBuf>) -> ReadRequest {
        ReadRequest { path: path.into(), ..ReadRequest::default() }
    }

    /// The path as answers print it.
    pub(crate) fn name(&self) -> Cow<'_, str> {
        self.path.to_string_lossy()
    }

    fn folding(&self) -> Option<Folding> {
        let usual = (!self.open.is_empty()).then_some(Folding::To(FOLD_LINES));
        self.fold.filter(|&fold| usual.is_none() || fold != Folding::InsteadOfCut).or(usual)
    }

    fn width(&self) -> Width {
        Width::of(self.columns, self.max_line_chars)
    }
}

impl From<&str> for ReadRequest {
    fn from(path: &str) -> ReadRequest {
        ReadRequest::new(path)
    }
}

impl From<&Path> for ReadRequest {
    fn from(path: &Path) -> ReadRequest {
        ReadRequest::new(path)
    }
}

impl From<PathBuf> for ReadRequest {
    fn from(path: PathBuf) -> ReadRequest {
        ReadRequest::new(path)
    }
}

/// The line terminators of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum LineEnding {
    /// No line has a terminator.
    #[default]
    None,
    /// Every terminator is `\n`.
    Lf,
    /// Every terminator is `\r\n`.
    CrLf,
    /// Both.
    Mixed,
}

impl LineEnding {
    /// The name in answers.
    pub fn as_str(self) -> &'static str {
        match self {
            LineEnding::None => "none",
            LineEnding::Lf => "lf",
            LineEnding::CrLf => "crlf",
            LineEnding::Mixed => "mixed",
        }
    }
}

/// A view of one file. As data (`serde`) it is one object that starts with its kind.
#[derive(Clone, Debug)]
pub struct FileView {
    /// The path as requested.
    pub path: String,
    /// The lines with their anchors, joined by `\n`; empty if the file is not text. For a directory,
    /// a row for each name, indented in its directory; directories end in `/`. In a dialect
    /// without hashes, a header with the tag of the file precedes them.
    pub text: String,
    /// Whether `text` is known to be ASCII, so that a binding need not scan it again.
    pub is_ascii: bool,
    /// The kind of file, with what is known about it.
    pub kind: ViewKind,
}

/// The kind of file, with what is known about it.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
#[non_exhaustive]
pub enum ViewKind {
    /// Text with anchors.
    Text(TextView),
    /// Neither text nor image.
    Binary {
        /// The hash of the whole content.
        snapshot: String,
    },
    /// An image.
    Image {
        /// Its media type.
        mime_type: &'static str,
        /// The hash of the whole content.
        snapshot: String,
    },
    /// A directory; only reads of sessions list it.
    Directory(DirectoryView),
    /// Not read, because a limit of the call was reached before.
    Unread {
        /// The line to continue at.
        next_line: u64,
        /// Always `true`.
        truncated: bool,
    },
    /// The file is missing, is not a regular file, or cannot be read as requested.
    Error {
        /// The reason.
        #[serde(with = "shape::ErrorShape")]
        error: Error,
    },
}

/// The properties of a text and of the part shown.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct TextView {
    /// Lines in the whole file.
    pub line_count: u64,
    /// The first line shown; in a view without lines, the line where it starts.
    pub start_line: u64,
    /// The last line shown; `start_line - 1` if none is.
    pub end_line: u64,
    /// The line to continue at, if the view was truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_line: Option<u64>,
    /// Whether a limit truncated the view or any line in it.
    pub truncated: bool,
    /// Whether the view is a single line that the byte limit truncated.
    #[serde(skip)]
    pub is_line_cut: bool,
    /// The lines shown.
    #[serde(skip)]
    pub rows: ShownRows,
    /// The folded lines.
    #[serde(skip_serializing_if = "Vec::is_empty", serialize_with = "shape::folds")]
    pub folds: Vec<Range<u64>>,
    /// The numbers of the matching lines shown, with `search`; of those requested, with `lines`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_lines: Option<Vec<u64>>,
    /// The number of matching lines from `start_line` on, shown or not, with `search`; of the
    /// requested lines that exist, with `lines`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub match_count: Option<u64>,
    /// With `symbol`, the definitions that have the name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub symbols: Vec<SymbolPlace>,
    /// The line terminators.
    pub line_ending: LineEnding,
    /// Whether the last line has a terminator.
    pub final_newline: bool,
    /// The name of the encoding.
    pub encoding: String,
    /// Whether a session found the encoding, and not a caller or a byte order mark.
    #[serde(skip)]
    pub is_guessed: bool,
    /// Whether the file starts with a byte order mark.
    pub bom: bool,
    /// Whether invalid sequences were replaced with U+FFFD.
    pub lossy: bool,
    /// The hash of the whole content.
    pub snapshot: String,
    /// The checksum of the lines shown, if requested and if they are consecutive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub checksum: Option<Checksum>,
}

impl ViewKind {
    /// The name in answers.
    pub fn as_str(&self) -> &'static str {
        match self {
            ViewKind::Text(_) => "text",
            ViewKind::Binary { .. } => "binary",
            ViewKind::Image { .. } => "image",
            ViewKind::Directory(_) => "directory",
            ViewKind::Unread { .. } => "unread",
            ViewKind::Error { .. } => "error",
        }
    }
}

impl FileView {
    /// A view without lines.
    pub(crate) fn bare(request: &ReadRequest, kind: ViewKind) -> FileView {
        let path = request.name().into_owned();
        FileView { path, text: String::new(), is_ascii: false, kind }
    }

    /// The view of a text; `None` for any other kind.
    pub fn as_text(&self) -> Option<&TextView> {
        if let ViewKind::Text(shown) = &self.kind { Some(shown) } else { None }
    }

    /// The reason why there is no view; `None` if there is one.
    pub fn error(&self) -> Option<&Error> {
        if let ViewKind::Error { error } = &self.kind { Some(error) } else { None }
    }
}

/// The first requests of a call, whose missing files get near names.
const NEAR_REQUESTS: usize = 64;

/// Reads many files in parallel. Views are in the order of the requests. A file that cannot be read
/// has an error in its view. Fails only if cancelled.
///
/// `convert` runs on the thread that made the view. `witness` is called with the index of the
/// request, each view, and the file version it was made from. If a file changes during the call, it
/// can be called several times for one request; the last call counts.
pub fn read_hashed<T: Send>(
    scope: &Scope<'_>,
    requests: &[ReadRequest],
    witness: impl Fn(usize, &Loaded, &FileView) + Sync,
    convert: impl Fn(FileView) -> T + Sync,
) -> Result<Vec<T>> {
    read_hashed_near(scope, requests, NEAR_REQUESTS, witness, convert)
}

/// Like [`read_hashed`]; missing files of only the first `near` requests get near names.
pub fn read_hashed_near<T: Send>(
    scope: &Scope<'_>,
    requests: &[ReadRequest],
    near: usize,
    witness: impl Fn(usize, &Loaded, &FileView) + Sync,
    convert: impl Fn(FileView) -> T + Sync,
) -> Result<Vec<T>> {
    let numbered: Vec<_> = requests.iter().enumerate().collect();
    let view = |&(at, request): &(usize, &ReadRequest)| {
        scope.cancel.check()?;
        let witness = |loaded: &Loaded, view: &FileView| witness(at, loaded, view);
        let view = read_one(scope, request, witness).map_err(|error| match at < near {
            true => with_near_names(scope.base, &request.name(), error),
            false => error,
        });
        view_or_error(scope, request, view).map(&convert)
    };
    let views = parallel::map(&numbered, view).into_iter().collect();
    scope.cancel.check()?;
    views
}

fn read_one(
    scope: &Scope<'_>,
    request: &ReadRequest,
    witness: impl Fn(&Loaded, &FileView),
) -> Result<FileView> {
    let (load, pattern) = prepare(scope, request)?;
    with_file(scope.fs, scope.base, &request.name(), &load, |loaded| {
        let view = view_loaded(scope, loaded, request, pattern.as_ref())?;
        witness(loaded, &view);
        Ok(view)
    })
}

/// Like [`read_hashed`] for one file, for bytes in memory; the path is only their name.
pub fn read_bytes(scope: &Scope<'_>, request: &ReadRequest, bytes: &[u8]) -> Result<FileView> {
    let view = || {
        let (load, pattern) = prepare(scope, request)?;
        let loaded = load_bytes(&request.name(), bytes, &load)?;
        view_loaded(scope, &loaded, request, pattern.as_ref())
    };
    view_or_error(scope, request, view())
}

/// Turns an error into a view with that error, except for cancellation.
fn view_or_error(
    scope: &Scope<'_>,
    request: &ReadRequest,
    view: Result<FileView>,
) -> Result<FileView> {
    match view {
        Err(error) if error.code != Code::Aborted => {
            let error = error.spelled(scope.host.spelling);
            Ok(FileView::bare(request, ViewKind::Error { error }))
        }
        other => other,
    }
}

/// Validates a request; returns how to load its file, and its pattern.
fn prepare(scope: &Scope<'_>, request: &ReadRequest) -> Result<(LoadOptions, Option<Pattern>)> {
    unicode_path("path", &request.path)?;
    let own = request.encoding.as_deref().map(Charset::by_label).transpose()?;
    let charset = own.or(scope.charset);
    let load = LoadOptions { charset, ..scope.load_options_of(&request.name()) };
    let pattern =
        request.search.as_ref().map(|search| Pattern::new(search, scope.cancel)).transpose()?;
    if request.start_line == Some(0) {
        return Err(Error::argument(
            Message::from(Term::StartLine) + " is 0: lines are numbered from 1",
        ));
    }
    if let Some(Columns { from, to }) = request.columns
        && (from == 0 || to < from)
    {
        return Err(Error::argument(format!(
            "columns must be [from, to] with 1 ≤ from ≤ to; got [{from}, {to}]"
        )));
    }
    folded::check(request)?;
    symbol::check(request)?;
    Ok((load, pattern))
}

fn view_loaded(
    scope: &Scope<'_>,
    loaded: &Loaded,
    request: &ReadRequest,
    pattern: Option<&Pattern>,
) -> Result<FileView> {
    match loaded {
        Loaded::Binary(binary) => {
            let snapshot = binary.snapshot(scope.cancel)?;
            let kind = match binary.image_type {
                Some(mime_type) => ViewKind::Image { mime_type, snapshot },
                None => ViewKind::Binary { snapshot },
            };
            Ok(FileView::bare(request, kind))
        }
        Loaded::Text(document) => view_document(scope, document, request, pattern),
    }
}

/// Renders a document; prepends the tag of the file if the dialect has one.
fn view_document(
    scope: &Scope<'_>,
    document: &Document,
    request: &ReadRequest,
    pattern: Option<&Pattern>,
) -> Result<FileView> {
    let Some(header) = header_above(scope, document, request)? else {
        return view_lines(scope, document, request, pattern);
    };
    let mut request = request.clone();
    if let Some(max_bytes) = &mut request.limits.max_bytes {
        *max_bytes = max_bytes.saturating_sub(header.len() + 1).max(1);
    }
    let mut view = view_lines(scope, document, &request, pattern)?;
    view.is_ascii &= header.is_ascii();
    let newline = if view.text.is_empty() { "" } else { "\n" };
    view.text = header + newline + &view.text;
    Ok(view)
}

/// The header of a view in a dialect without hashes.
fn header_above(
    scope: &Scope<'_>,
    document: &Document,
    request: &ReadRequest,
) -> Result<Option<String>> {
    let Scope { dialect, cancel, .. } = scope;
    cancel.check()?;
    let header = || header_of_rows(dialect, &request.name(), document.text(), cancel);
    (!dialect.has_hashes()).then(header).transpose()
}

fn view_lines(
    scope: &Scope<'_>,
    document: &Document,
    request: &ReadRequest,
    pattern: Option<&Pattern>,
) -> Result<FileView> {
    let &Scope { dialect, cancel, .. } = scope;
    let text = document.text();
    let start_line = request.start_line.unwrap_or(1);
    let width = request.width();
    let is_whole = pattern.is_none()
        && request.lines.is_empty()
        && request.symbol.is_none()
        && start_line == 1
        && request.folding().is_none()
        && request.limits == Limits::default()
        && width == Width::Whole;
    // The size of a page of source code with 30 bytes per line, anchors included.
    let usual_bytes = text.len() + text.len() / 4;
    if is_whole && usual_bytes < recycled_buffer_bytes() {
        // A buffer of this size avoids counting the lines first. If it is too small it grows, and
        // the larger buffer is kept for the next view.
        let page = Page::new(dialect, request.limits, usual_bytes);
        let shown = show_window(text, ViewStart { line: 1, offset: 0 }, text.len(), page, cancel)?;
        return finish_view(scope, document, request, shown.page.last_line(), 1, shown);
    }
    if is_whole
        && parallel::are_shared(text.len())
        && let Some(shown) = show_whole(scope, text)?
    {
        return finish_view(scope, document, request, shown.page.last_line(), 1, shown);
    }
    let line_count = count_lines_while(text, cancel, &|_| {})?;
    if let Some(name) = &request.symbol {
        let shown = symbol::show(scope, text, line_count, request, name)?;
        return finish_view(scope, document, request, line_count, start_line, shown);
    }
    if start_line > line_count.max(1) {
        return Err(line_out_of_range(request, line_count, start_line));
    }
    let start = offset_of_line(text, start_line, cancel)?;
    let lines_left = (line_count + 1).saturating_sub(start_line);
    let from = ViewStart { line: start_line, offset: start };
    if let Some(folding @ Folding::To(_)) = request.folding()
        && let Some(shown) = folded::show(scope, document, request, folding, from)?
    {
        return finish_view(scope, document, request, line_count, start_line, shown);
    }
    let shown = match pattern {
        None if !request.lines.is_empty() => {
            let page = || Page::new(dialect, request.limits, 0).with_width(width);
            show_lines(text, line_count, page, request, cancel)?
        }
        None => {
            let lines = request.limits.max_lines.map_or(lines_left, |max| max.min(lines_left));
            let end = if lines == lines_left {
                text.len()
            } else {
                offset_after_lines(text, start, lines, cancel)?
            };
            let size_bytes = match width {
                Width::Whole => rendered_size_bound(dialect, end - start, lines, line_count),
                _ => 0,
            };
            let page = Page::new(dialect, request.limits, size_bytes).with_width(width);
            show_window(text, from, end, page, cancel)?
        }
        Some(pattern) => {
            let page = Page::new(dialect, request.limits, 0).with_width(width);
            let max_matches = request.max_matches.unwrap_or(MAX_MATCHES);
            show_matches(
                document,
                from,
                page,
                pattern,
                (request.context, None),
                max_matches,
                cancel,
            )?
            .0
        }
    };
    let shown = match request.folding() {
        Some(Folding::InsteadOfCut) if shown.next_line.is_some() => {
            folded::show(scope, document, request, Folding::InsteadOfCut, from)?.unwrap_or(shown)
        }
        _ => shown,
    };
    finish_view(scope, document, request, line_count, start_line, shown)
}

/// The error for a first line after the end of the text.
fn line_out_of_range(request: &ReadRequest, line_count: u64, line: u64) -> Error {
    let path = &request.name();
    let message = format!("{path}: has {line_count} lines; line {line} does not exist");
    Error::at(Code::LineOutOfRange, path, message)
}

/// A line number and its offset.
#[derive(Clone, Copy)]
pub(crate) struct ViewStart {
    pub(crate) line: u64,
    pub(crate) offset: usize,
}

/// The rendered part of a view.
pub(crate) struct Shown {
    pub(crate) page: Page,
    pub(crate) next_line: Option<u64>,
    pub(crate) folds: Vec<Range<u64>>,
    pub(crate) match_lines: Option<Vec<u64>>,
    pub(crate) match_count: Option<u64>,
    pub(crate) symbols: Vec<SymbolPlace>,
}

impl Shown {
    /// Consecutive lines.
    fn of_window(page: Page) -> Shown {
        let (folds, match_lines, match_count) = (Vec::new(), None, None);
        let (next_line, symbols) = (page.next_line(), Vec::new());
        Shown { next_line, page, folds, match_lines, match_count, symbols }
    }
}

/// Renders all lines of a large text on several threads. `None` if the text changed meanwhile.
fn show_whole(scope: &Scope<'_>, text: &[u8]) -> Result<Option<Shown>> {
    let &Scope { dialect, cancel, .. } = scope;
    let counted = CountedText::of(dialect, text, cancel)?;
    let rendered = counted.render(cancel)?;
    let page = rendered.map(|text| Page::of_rendered(dialect, counted.line_count, text));
    Ok(page.map(Shown::of_window))
}

/// Renders the lines up to the offset `end`, which is derived from `max_lines`, as far as they fit.
fn show_window(
    text: &[u8],
    from: ViewStart,
    end: usize,
    mut page: Page,
    cancel: &Cancel,
) -> Result<Shown> {
    let (mut line, mut rest) = (from.line, &text[from.offset..end]);
    let mut fits = true;
    while fits && !rest.is_empty() {
        cancel.check()?;
        let piece;
        (piece, rest) = rest.split_at(whole_lines(rest));
        let before = page.shown_lines();
        fits = page.push_lines(line, piece);
        line += page.shown_lines() - before;
    }
    if fits && end < text.len() {
        // There are more lines: sets the page's `next_line`.
        page.push(page.shown_lines() + from.line, b"");
    }
    Ok(Shown::of_window(page))
}

/// Renders the lines that a request names, with the most context with which all of them fit. A
/// compiler names the end of a file as the line after the last one, for which the last one is shown.
fn show_lines(
    text: &[u8],
    line_count: u64,
    page: impl Fn() -> Page,
    request: &ReadRequest,
    cancel: &Cancel,
) -> Result<Shown> {
    let mut lines: Vec<u64> = request.lines.clone();
    lines.iter_mut().for_each(|line| *line -= u64::from(*line == line_count + 1));
    lines.retain(|line| (1..=line_count).contains(line));
    lines.sort_unstable();
    lines.dedup();
    let mut starts = Vec::with_capacity(lines.len());
    let (mut number, mut offset) = (1, 0);
    for &line in &lines {
        offset = offset_after_lines(text, offset, line - number, cancel)?;
        number = line;
        starts.push((line, offset));
    }
    let Context { before, after } = request.context;
    let max_lines = request.limits.max_lines.unwrap_or(u64::MAX);
    let (mut least, mut most) = (0, before.max(after).min(max_lines).min(line_count));
    let (mut page_shown, mut shown) = show_places(text, &starts, page(), request, most, cancel)?;
    let is_partial = |page: &Page, shown: usize| page.next_line().is_some() || shown < lines.len();
    if most > 0 && is_partial(&page_shown, shown) {
        (page_shown, shown) = show_places(text, &starts, page(), request, least, cancel)?;
        // If they do not fit without context either, no more context can make them fit.
        while most - least > 1 && !(least == 0 && is_partial(&page_shown, shown)) {
            let middle = least + (most - least) / 2;
            let found = show_places(text, &starts, page(), request, middle, cancel)?;
            if is_partial(&found.0, found.1) {
                most = middle;
            } else {
                least = middle;
                (page_shown, shown) = found;
            }
        }
    }
    let next_line = page_shown.next_line().or_else(|| lines.get(shown).copied());
    let match_count = Some(lines.len() as u64);
    lines.truncate(shown);
    let match_lines = Some(lines);
    Ok(Shown { next_line, match_lines, match_count, ..Shown::of_window(page_shown) })
}

/// Renders lines at their offsets with at most `context` lines around each. Also returns how many of
/// them fit.
fn show_places(
    text: &[u8],
    starts: &[(u64, usize)],
    page: Page,
    request: &ReadRequest,
    context: u64,
    cancel: &Cancel,
) -> Result<(Page, usize)> {
    cancel.check()?;
    let Context { before, after } = request.context;
    let context = Context { before: before.min(context), after: after.min(context) };
    let mut excerpt = Excerpt::new(text, context, page, 1, 0);
    let mut shown = 0;
    for &(line, offset) in starts {
        let Some(span) = Lines::starting_at(text, Unit::Byte, offset).next() else { break };
        let column = request.columns_at.iter().find(|(of, _)| *of == line);
        let matched = column.filter(|_| excerpt.may_cut(span)).map(|&(_, column)| {
            Width::Columns(Columns { from: column.max(1), to: column.max(1) })
                .part(span.text(text), None)
        });
        if !excerpt.push_match(line, span, matched) {
            break;
        }
        shown += 1;
    }
    Ok((excerpt.finish(), shown))
}

/// The length of whole lines of about one piece.
fn whole_lines(text: &[u8]) -> usize {
    let after = |at| memchr::memchr(b'\n', &text[at..]).map(|newline| at + newline + 1);
    let piece_end = text.len().min(PIECE_BYTES) - 1;
    after(piece_end).unwrap_or(text.len())
}

/// Renders the matches from a line on, at most `max_matches`, and counts all of them. Also returns
/// the line of the last match. With `enclosing`, the lines that open the blocks around a match are
/// shown above it.
pub(crate) fn show_matches(
    document: &Document,
    from: ViewStart,
    page: Page,
    pattern: &Pattern,
    (context, mut enclosing): (Context, Option<Enclosing<'_>>),
    max_matches: u64,
    cancel: &Cancel,
) -> Result<(Shown, ViewStart)> {
    let text = document.text();
    let progress = |bytes| document.mark_scanned(bytes);
    let mut excerpt = Excerpt::new(text, context, page, from.line, from.offset);
    let mut lines = Vec::new();
    let mut count = 0;
    let mut first_omitted = None;
    let (mut number, mut offset) = (from.line, from.offset);
    let mut matching = pattern.matching_lines(text, from.offset, cancel).with_progress(&progress);
    while let Some(span) = matching.next() {
        let span = span?;
        // A mapped file can change between two reads; then the view is discarded.
        let between = text.get(offset..span.start).unwrap_or_default();
        for piece in between.chunks(PIECE_BYTES) {
            number += memchr::memchr_iter(b'\n', piece).count() as u64;
            progress(piece.len());
        }
        offset = span.start;
        count += 1;
        if first_omitted.is_some() {
            continue;
        }
        if lines.len() as u64 == max_matches {
            first_omitted = Some(number);
            continue;
        }
        let opening_lines =
            enclosing.as_mut().map_or_else(Vec::new, |blocks| blocks.opening_lines(number));
        let is_above = |&line: &u64| line < number.saturating_sub(context.before);
        opening_lines.into_iter().filter(is_above).all(|line| excerpt.push_enclosing(line));
        let matched = if excerpt.may_cut(span) { matching.match_range(span)? } else { None };
        if excerpt.push_match(number, span, matched) {
            lines.push(number);
        } else {
            first_omitted = Some(number);
        }
    }
    let page = excerpt.finish();
    let next_line = page.next_line().or(first_omitted);
    let (match_lines, match_count) = (Some(lines), Some(count));
    let shown = Shown { next_line, match_lines, match_count, ..Shown::of_window(page) };
    Ok((shown, ViewStart { line: number, offset }))
}

fn finish_view(
    scope: &Scope<'_>,
    document: &Document,
    request: &ReadRequest,
    line_count: u64,
    start_line: u64,
    mut shown: Shown,
) -> Result<FileView> {
    let cancel = scope.cancel;
    let first_line = shown.page.first_line().unwrap_or(start_line);
    let end_line = match shown.page.shown_lines() {
        0 => first_line - 1,
        _ => shown.page.last_line(),
    };
    let wants_checksum = request.checksum
        && shown.match_lines.is_none()
        && shown.folds.is_empty()
        && end_line >= first_line;
    let checksum = if wants_checksum {
        let start = offset_of_line(document.text(), first_line, cancel)?;
        let shown = document.text().get(start..).unwrap_or_default();
        Some(Checksum::of(first_line, end_line, shown))
    } else {
        None
    };
    let next_line = shown.next_line;
    let (is_cut, has_cut_rows) = (shown.page.is_cut(), shown.page.has_cut_rows());
    let rows = shown.page.take_rows();
    let (text, is_ascii) = into_string(scope, &request.name(), shown.page.into_text())?;
    let kind = ViewKind::Text(TextView {
        line_count,
        start_line: first_line,
        end_line,
        next_line,
        truncated: next_line.is_some() || is_cut || has_cut_rows,
        is_line_cut: is_cut,
        rows,
        folds: shown.folds,
        match_lines: shown.match_lines,
        match_count: shown.match_count,
        symbols: shown.symbols,
        line_ending: line_ending(document.text(), cancel)?,
        final_newline: document.text().ends_with(b"\n"),
        encoding: document.charset().name(),
        is_guessed: document.is_guessed(),
        bom: document.bom_bytes() > 0,
        lossy: document.lossy(),
        snapshot: document.snapshot(cancel)?,
        checksum,
    });
    Ok(FileView { text, is_ascii, ..FileView::bare(request, kind) })
}

/// Validates the output, because a mapped file can change between two reads. Also returns whether
/// it is ASCII.
pub(crate) fn into_string(scope: &Scope<'_>, path: &str, text: Vec<u8>) -> Result<(String, bool)> {
    let limit_units = scope.host.text_limit_units;
    if text.len() > limit_units {
        let mut units = 0;
        for piece in scope.cancel.pieces(&text) {
            units += piece?.iter().map(|&byte| utf16_units(byte)).sum::<usize>();
        }
        if units > limit_units {
            return Err(Error::at(
                Code::FileTooLarge,
                path,
                Message::from(format!(
                    "{path}: its view has {units} characters, more than a string can hold ({limit_units}); read it in parts ("
                )) + Term::StartLine
                    + ", "
                    + Term::MaxLines
                    + ", "
                    + Term::MaxBytes
                    + ")",
            ));
        }
    }
    string_with_cancel(text, scope.cancel)
}

/// The UTF-16 code units of the character that starts with this UTF-8 byte; 0 for a continuation
/// byte.
fn utf16_units(byte: u8) -> usize {
    match byte {
        0x80..=0xBF => 0,
        0xF0.. => 2,
        _ => 1,
    }
}
