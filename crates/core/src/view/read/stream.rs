//! Streams the lines of a file with their anchors, for a caller that writes them elsewhere and
//! never needs all of them at once.
//!
//! Output that was passed on cannot be withdrawn. So the version of the file is checked before each
//! piece; if it changed, the call fails. A file that is only appended to, such as a log, is
//! streamed up to its old end.

use super::{
    ReadRequest, TextView, ViewKind, ViewStart, header_above, line_out_of_range,
    offset_after_lines, prepare, view_loaded, whole_lines,
};
use crate::view::excerpt::{Limits, Page};
use crate::view::read::{FileView, count_lines_while};
use crate::view::scope::Scope;
use hashline_base::error::{Code, Error, Result};
use hashline_disk::bytes::{Document, Loaded, contained, load_bytes, load_for_view};
use hashline_lines::rows::{recycle, rendered_size_bound};

/// Calls `pass_on` with the lines of a request, in pieces of whole lines. The returned view has no
/// text. A request with a search, folds or a byte limit is rendered as a whole first.
pub fn stream_file(
    scope: &Scope<'_>,
    request: &ReadRequest,
    pass_on: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<FileView> {
    let (load, _) = prepare(scope, request)?;
    let loaded = load_for_view(scope.fs, scope.base, &request.name(), &load)?;
    stream(scope, request, &loaded, pass_on)
}

/// Like [`stream_file`], for bytes in memory.
pub fn stream_bytes(
    scope: &Scope<'_>,
    request: &ReadRequest,
    bytes: &[u8],
    pass_on: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<FileView> {
    let (load, _) = prepare(scope, request)?;
    let loaded = load_bytes(&request.name(), bytes, &load)?;
    stream(scope, request, &loaded, pass_on)
}

fn stream(
    scope: &Scope<'_>,
    request: &ReadRequest,
    loaded: &Loaded,
    pass_on: &mut dyn FnMut(&[u8]) -> Result<()>,
) -> Result<FileView> {
    let document = match loaded {
        Loaded::Text(document) if is_a_window(request) => document,
        other => {
            let (_, pattern) = prepare(scope, request)?;
            let mut view = view_loaded(scope, other, request, pattern.as_ref())?;
            check_version(scope, request, other)?;
            if !view.text.is_empty() {
                pass_on(view.text.as_bytes())?;
                pass_on(b"\n")?;
            }
            view.text.clear();
            return Ok(view);
        }
    };
    let window = contained(&request.name(), || window(scope, document, request))?;
    let header = contained(&request.name(), || header_above(scope, document, request))?;
    if let Some(header) = header {
        check_version(scope, request, loaded)?;
        pass_on((header + "\n").as_bytes())?;
    }
    let mut line = window.from.line;
    let mut rest = &document.text()[window.from.offset..window.end];
    while !rest.is_empty() {
        scope.cancel.check()?;
        let (piece, later) = rest.split_at(whole_lines(rest));
        let (rows, next) = contained(&request.name(), || Ok(rows(scope, request, piece, line)))?;
        check_version(scope, request, loaded)?;
        pass_on(&rows)?;
        recycle(rows);
        (line, rest) = (next, later);
    }
    let truncated = window.end < document.text().len();
    let kind = ViewKind::Text(TextView {
        start_line: window.from.line,
        end_line: line - 1,
        truncated,
        next_line: truncated.then_some(line),
        ..TextView::default()
    });
    Ok(FileView::bare(request, kind))
}

/// Whether the request is for consecutive lines, limited only by their number.
fn is_a_window(request: &ReadRequest) -> bool {
    request.search.is_none()
        && request.lines.is_empty()
        && request.symbol.is_none()
        && request.folding().is_none()
        && request.limits.max_bytes.is_none()
}

/// The part of a text to stream.
struct Window {
    from: ViewStart,
    end: usize,
}

fn window(scope: &Scope<'_>, document: &Document, request: &ReadRequest) -> Result<Window> {
    let (text, cancel) = (document.text(), scope.cancel);
    let line = request.start_line.unwrap_or(1);
    let offset = offset_after_lines(text, 0, line - 1, cancel)?;
    if line > 1 && offset == text.len() {
        let count = count_lines_while(text, cancel, &|_| {})?;
        // The last line can be empty and start at the end of the text.
        if line > count.max(1) {
            return Err(line_out_of_range(request, count, line));
        }
    }
    let end = match request.limits.max_lines {
        Some(lines) => offset_after_lines(text, offset, lines, cancel)?,
        None => text.len(),
    };
    Ok(Window { from: ViewStart { line, offset }, end })
}

/// Renders a piece, with a newline after each line; returns the number of the next line, too.
fn rows(scope: &Scope<'_>, request: &ReadRequest, piece: &[u8], line: u64) -> (Vec<u8>, u64) {
    let lines = memchr::memchr_iter(b'\n', piece).count() as u64 + 1;
    let size_bytes = rendered_size_bound(scope.dialect, piece.len(), lines, line + lines) + 1;
    let page = Page::new(scope.dialect, Limits::default(), size_bytes);
    let mut page = page.with_width(request.width());
    page.push_lines(line, piece);
    let next = page.last_line() + 1;
    let mut rows = page.into_text();
    rows.push(b'\n');
    (rows, next)
}

fn check_version(scope: &Scope<'_>, request: &ReadRequest, loaded: &Loaded) -> Result<()> {
    let path = &request.name();
    let is_there = loaded.is_still_valid(scope.fs).map_err(|cause| Error::io("read", path, &cause));
    if is_there? { Ok(()) } else { Err(changed(path)) }
}

fn changed(path: &str) -> Error {
    Error::at(
        Code::ConcurrentChange,
        path,
        format!("{path}: another process changed it while it was being read; read it again"),
    )
}
