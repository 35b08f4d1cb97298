//! A read of a session: several files on one page, within the limits of one call.

use parking_lot::Mutex;
use std::ops::Range;

use super::{IMAGE_LIMIT_BYTES, ReadImage, ReadOn, ReadReport, Session, SessionLimits, canonical};
use crate::edit::resolve::AmbiguousLines;
use crate::edit::session::{ambiguous_to_show, shown_lines};
use crate::view::excerpt::Limits;
use crate::view::fold::{Folding, fold_name};
use crate::view::near::MISSING_LIMIT;
use crate::view::read::{FileView, ReadRequest, TextView, ViewKind, read_hashed_near};
use crate::view::scope::Scope;
use crate::view::search::{DirectoryView, directory_view};
use crate::view::symbols::SymbolPlace;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use hashline_disk::bytes::{Charset, Document, Loaded};
use hashline_lines::dialect::Dialect;
use hashline_lines::rows::{file_header, one_line};
use hashline_memory::{MemoryUpdate, ShownLines, Version};

/// The maximum number of omitted files that are named.
const MAX_LISTED_FILES: usize = 10;

/// The maximum number of definitions with one name that are named.
const SYMBOLS_NAMED: usize = 20;

/// The content from which a view was made, kept until it is known that this view is returned.
#[derive(Default)]
enum ViewSource {
    #[default]
    Nothing,
    Text {
        text: Version,
        shown: ShownLines,
    },
    Image(&'static str, Vec<u8>),
}

/// The hash of a document's text, if it equals the snapshot, which hashes its bytes.
fn hash_of_view(document: &Document, shown: &TextView) -> Option<u128> {
    let is_same = document.is_plain() && document.bom_bytes() == 0;
    u128::from_str_radix(&shown.snapshot, 16).ok().filter(|_| is_same)
}

/// A file read for the page.
struct FileRead {
    view: FileView,
    source: ViewSource,
    /// The memory update, if the view goes on the page.
    update: Option<MemoryUpdate>,
}

/// Requested lines of a file: how many were added to a page, and how many there are.
#[derive(Clone, Copy, Default)]
pub(super) struct LinesAdded {
    pub(super) shown: u64,
    pub(super) existing: u64,
    /// The number of lines of the file; `None` if it is not text, or if the page is full already.
    pub(super) line_count: Option<u64>,
}

/// A part of a page.
#[derive(Clone, Copy)]
pub(super) struct Room {
    pub(super) lines: u64,
    /// Including the header of a file.
    pub(super) bytes: usize,
}

/// A page under construction.
pub(super) struct Reading<'s> {
    session: &'s Session,
    has_headers: bool,
    remaining: SessionLimits,
    remaining_image_bytes: usize,
    /// The number of missing files that can still get near names.
    missing_left: usize,
    /// Files that a limit omitted.
    omitted: Vec<String>,
    report: ReadReport,
    updates: Vec<MemoryUpdate>,
}

impl<'s> Reading<'s> {
    pub(super) fn new(session: &'s Session, has_headers: bool) -> Self {
        Reading {
            session,
            has_headers,
            remaining: session.options.limits,
            remaining_image_bytes: IMAGE_LIMIT_BYTES,
            missing_left: MISSING_LIMIT,
            omitted: Vec::new(),
            report: ReadReport::default(),
            updates: Vec::new(),
        }
    }

    /// A page with smaller limits than those of the session.
    pub(super) fn limited_to(mut self, max_lines: u64, max_bytes: usize) -> Self {
        let remaining = &mut self.remaining;
        remaining.max_lines = remaining.max_lines.min(max_lines);
        remaining.max_bytes = remaining.max_bytes.min(max_bytes);
        self
    }

    /// Adds one file, as far as it fits.
    pub(super) fn add(&mut self, request: &ReadRequest, cancel: &Cancel) -> Result<()> {
        let header = self.header(request);
        let Some(room) = self.room_below(&header) else {
            self.omit(request);
            return Ok(());
        };
        let read = self.read_file(request, room, cancel)?;
        if self.fits_only_alone(&read) {
            self.omit(request);
            return Ok(());
        }
        self.show(request, &header, read);
        Ok(())
    }

    /// Adds the requested lines of a file, as far as they fit into a part of the room that is left.
    /// Without any, the page stays as it is. `None` if the page is full already.
    pub(super) fn add_lines(
        &mut self,
        request: &ReadRequest,
        part: Room,
        cancel: &Cancel,
    ) -> Result<Option<LinesAdded>> {
        let header = self.header(request);
        let above = header.len() + usize::from(!self.is_empty());
        let part_bytes = part.bytes.saturating_sub(above);
        let room = self.room_below(&header).map(|room| room.min(part_bytes));
        let Some(room) = room.filter(|&room| room > 0 && part.lines > 0) else { return Ok(None) };
        let limits = Limits { max_lines: Some(part.lines), ..request.limits };
        let read = self.read_file(&ReadRequest { limits, ..request.clone() }, room, cancel)?;
        let Some(view) = read.view.as_text() else { return Ok(Some(LinesAdded::default())) };
        let shown = view.match_lines.as_ref().map_or(0, Vec::len) as u64;
        let (existing, line_count) = (view.match_count.unwrap_or_default(), Some(view.line_count));
        let added = LinesAdded { shown, existing, line_count };
        if shown == 0 || self.fits_only_alone(&read) {
            return Ok(Some(LinesAdded { shown: 0, ..added }));
        }
        self.show(request, &header, read);
        Ok(Some(added))
    }

    /// The room that is left.
    pub(super) fn room(&self) -> Room {
        Room { lines: self.remaining.max_lines, bytes: self.remaining.max_bytes }
    }

    /// Adds a line below the files.
    pub(super) fn add_note(&mut self, note: &str) {
        self.begin_block();
        self.report.text += note;
    }

    pub(super) fn is_empty(&self) -> bool {
        self.report.text.is_empty()
    }

    /// Records that a file changed after the output that names it was made.
    pub(super) fn note_changed(&mut self, path: &str) {
        let shown = one_line(path);
        self.add_note(&format!(
            "({shown} changed after the command started: its lines are shown as they are now.)"
        ));
        self.report.changed.push(path.to_owned());
    }

    fn header(&self, request: &ReadRequest) -> String {
        // Without hashes, each view starts with its own header.
        let has_header = self.has_headers && self.session.options.workspace.dialect.has_hashes();
        if has_header { file_header(&request.name()) + "\n" } else { String::new() }
    }

    /// The bytes that are left below a header; `None` if the page is full.
    fn room_below(&self, header: &str) -> Option<usize> {
        let mut room = self.remaining.max_bytes.saturating_sub(header.len());
        if room == 0 && self.report.text.is_empty() {
            // Ignore the size of a header that leaves no room on an otherwise empty page; otherwise
            // the next read would stop here, too.
            room = self.remaining.max_bytes;
        }
        (room > 0 && self.remaining.max_lines > 0).then_some(room)
    }

    /// Whether a view is one truncated line that may fit on a page of its own.
    fn fits_only_alone(&self, read: &FileRead) -> bool {
        let is_line_cut = read.view.as_text().is_some_and(|shown| shown.is_line_cut);
        is_line_cut && !self.report.text.is_empty()
    }

    fn show(&mut self, request: &ReadRequest, header: &str, read: FileRead) {
        let FileRead { mut view, source, update } = read;
        if view.error().is_some_and(|error| error.code == Code::FileNotFound) {
            self.missing_left = self.missing_left.saturating_sub(1);
        }
        let before = self.report.text.len();
        self.begin_block();
        self.report.text += header;
        let is_directory = matches!(view.kind, ViewKind::Directory(_));
        if header.is_empty() && self.has_headers && (view.text.is_empty() || is_directory) {
            self.report.text += &(file_header(&request.name()) + "\n");
        }
        let matches = view.as_text().and_then(|shown| shown.match_lines.as_ref());
        let matches = matches.map_or(0, Vec::len) as u64;
        let lines = match view.text.len() {
            0 => 0,
            // The number of remaining lines only matters if more files follow.
            _ if !self.has_headers => 0,
            _ => memchr::memchr_iter(b'\n', view.text.as_bytes()).count() as u64 + 1,
        };
        let span = self.describe(request, &mut view, source);
        let remaining = &mut self.remaining;
        remaining.max_lines = remaining.max_lines.saturating_sub(lines);
        remaining.max_bytes = remaining.max_bytes.saturating_sub(self.report.text.len() - before);
        remaining.max_matches = remaining.max_matches.saturating_sub(matches);
        self.report.views.push(view);
        self.report.spans.push(span);
        self.updates.extend(update);
    }

    /// Starts a new line, unless the page is empty.
    fn begin_block(&mut self) {
        if !self.report.text.is_empty() {
            self.report.text.push('\n');
        }
    }

    /// Returns the page and its memory updates.
    pub(super) fn finish(mut self) -> (ReadReport, Vec<MemoryUpdate>) {
        if !self.omitted.is_empty() {
            let more = self.omitted.len().saturating_sub(MAX_LISTED_FILES);
            self.omitted.truncate(MAX_LISTED_FILES);
            let named = self.omitted.join(", ");
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            self.begin_block();
            self.report.text +=
                &format!("(Not shown, because the limit of one call is reached: {named}{more}.)");
        }
        (self.report, self.updates)
    }

    fn omit(&mut self, request: &ReadRequest) {
        let start_line = request.start_line.unwrap_or(1);
        let kind = ViewKind::Unread { next_line: start_line, truncated: true };
        let view = FileView::bare(request, kind);
        self.omitted.push(format!("{} from line {start_line}", one_line(&view.path)));
        self.report.next.push(ReadOn { path: view.path.clone(), start_line });
        self.report.views.push(view);
        self.report.spans.push(0..0);
    }

    /// Reads one file within the remaining limits.
    fn read_file(
        &self,
        request: &ReadRequest,
        room_bytes: usize,
        cancel: &Cancel,
    ) -> Result<FileRead> {
        let has_no_window = is_unlimited(request);
        let mut request = request.clone();
        let (limits, remaining) = (&mut request.limits, &self.remaining);
        limits.max_lines = Some(limits.max_lines.unwrap_or(u64::MAX).min(remaining.max_lines));
        limits.max_bytes = Some(limits.max_bytes.unwrap_or(usize::MAX).min(room_bytes));
        if has_no_window {
            request.fold.get_or_insert(Folding::InsteadOfCut);
        }
        request.max_line_chars = Some(remaining.line_chars(request.max_line_chars));
        request.max_matches =
            Some(request.max_matches.unwrap_or(u64::MAX).min(remaining.max_matches));
        let workspace = self.session.reader_of(&request.name());
        workspace.scoped(cancel, |scope| {
            let mut read = self.read_in(scope, &request)?;
            let mut ambiguous = self.ambiguous(&read, cancel);
            let size_bytes = read.view.text.len() + ambiguous.size_bytes();
            if !ambiguous.is_empty() && Some(size_bytes) > request.limits.max_bytes {
                let max_bytes = request.limits.max_bytes.unwrap_or_default();
                request.limits.max_bytes =
                    Some(max_bytes.saturating_sub(ambiguous.size_bytes()).max(1));
                read = self.read_in(scope, &request)?;
                ambiguous = self.ambiguous(&read, cancel);
            }
            if let Some(MemoryUpdate::Shown { lines, .. }) = &mut read.update
                && !ambiguous.is_empty()
            {
                read.view.text = with_versions(scope.dialect, &read.view.text, &ambiguous);
                lines.versioned = ambiguous.lines().clone();
            }
            Ok(read)
        })
    }

    /// The lines of a view whose rows must name the version.
    fn ambiguous(&self, read: &FileRead, cancel: &Cancel) -> AmbiguousLines {
        let Session { options, state, .. } = self.session;
        let dialect = options.workspace.dialect;
        let of_update = |update| ambiguous_to_show(&state.memory, dialect, update, cancel);
        read.update.as_ref().map(of_update).unwrap_or_default()
    }

    fn read_in(&self, scope: &Scope<'_>, request: &ReadRequest) -> Result<FileRead> {
        let source = Mutex::new(ViewSource::Nothing);
        let witness = |_, loaded: &Loaded, view: &FileView| {
            let now = match loaded {
                Loaded::Text(document) => self.source_of(document, view),
                Loaded::Binary(binary) => match binary.image_type {
                    Some(kind) if binary.bytes().len() <= self.remaining_image_bytes => {
                        ViewSource::Image(kind, binary.bytes().to_vec())
                    }
                    _ => ViewSource::Nothing,
                },
            };
            *source.lock() = now;
        };
        let requests = std::slice::from_ref(request);
        let near = self.missing_left.min(1);
        let mut views = read_hashed_near(scope, requests, near, witness, |view| view)?;
        let view = views.pop().ok_or_else(|| Error::new(Code::Internal, "a read without view"))?;
        let is_no_file = view.error().is_some_and(|error| error.code == Code::NotAFile);
        let directory = if is_no_file { directory_view(scope, request)? } else { None };
        let view = directory.unwrap_or(view);
        let source = source.into_inner();
        let update = match (&source, view.error()) {
            // A file that was removed meanwhile is not remembered: it cannot be edited either.
            (ViewSource::Text { text, shown }, None) => {
                canonical(scope, &request.name()).ok().map(|file| {
                    let (text, lines) = (text.clone(), shown.clone());
                    MemoryUpdate::Shown { file, text, lines }
                })
            }
            _ => None,
        };
        Ok(FileRead { view, source, update })
    }

    fn source_of(&self, document: &Document, view: &FileView) -> ViewSource {
        let Some(shown) = view.as_text() else { return ViewSource::Nothing };
        let hash = hash_of_view(document, shown);
        let text = self.session.state.memory.version(document.text(), hash);
        let text = text.in_charset(document.own_charset());
        ViewSource::Text { text, shown: shown_lines(&shown.rows) }
    }

    /// Adds a view to the page, and images and the line to continue at to the report. Returns the
    /// range of the view's text. Moves the text out of the view if the page starts with it.
    fn describe(
        &mut self,
        request: &ReadRequest,
        view: &mut FileView,
        source: ViewSource,
    ) -> Range<usize> {
        let report = &mut self.report;
        let start = report.text.len();
        match (&view.kind, source) {
            (ViewKind::Text(shown), _) => {
                return start..self.describe_text(request, &mut view.text, shown);
            }
            (ViewKind::Directory(shown), _) => {
                return start..self.describe_directory(&view.text, shown);
            }
            (ViewKind::Image { .. }, ViewSource::Image(mime_type, data)) => {
                report.text += &format!("(image, {mime_type}, {} bytes)", data.len());
                self.remaining_image_bytes -= data.len();
                report.images.push(ReadImage { path: view.path.clone(), mime_type, data });
            }
            (ViewKind::Image { mime_type, .. }, _) => {
                let limit_mib = IMAGE_LIMIT_BYTES >> 20;
                report.text += &format!(
                    "({mime_type}: not shown; one call shows at most {limit_mib} MiB of images)"
                );
            }
            (ViewKind::Binary { .. }, _) => report.text += "(binary file: not shown)",
            (ViewKind::Error { error }, _) => {
                report.text += &format!("{}: {}", error.code.as_str(), error.message);
            }
            // The end of the page lists it.
            (ViewKind::Unread { .. }, _) => {}
        }
        start..start
    }

    /// Returns the end of the view's text.
    fn describe_directory(&mut self, text: &str, shown: &DirectoryView) -> usize {
        let page = &mut self.report.text;
        *page += text;
        let end = page.len();
        for note in shown.notes() {
            let newline = if page.is_empty() || page.ends_with('\n') { "" } else { "\n" };
            *page += &format!("{newline}({note})");
        }
        end
    }

    /// Returns the end of the view's text.
    fn describe_text(
        &mut self,
        request: &ReadRequest,
        text: &mut String,
        shown: &TextView,
    ) -> usize {
        let report = &mut self.report;
        let (start, lines) = (report.text.len(), shown.line_count);
        let mut end = start;
        match (&request.search, shown.match_count) {
            (Some(query), Some(0)) => {
                let search = one_line(&query.search);
                // The header of a dialect without hashes.
                if !text.is_empty() {
                    report.text += text;
                    report.text.push('\n');
                }
                report.text += &format!("(no match for {search} in {lines} lines)");
            }
            _ if lines == 0 => {
                // Only a header can precede it.
                report.text += text;
                end = report.text.len();
                report.text += if text.is_empty() { "(empty file)" } else { "\n(empty file)" };
            }
            // Most pages are one file, so avoid the copy.
            _ if start == 0 => {
                report.text = std::mem::take(text);
                end = report.text.len();
            }
            _ => {
                report.text += text;
                end = report.text.len();
            }
        }
        // The caller knows the lines it requested, and those of several definitions are listed.
        let is_listed = !request.lines.is_empty() || shown.symbols.len() > 1;
        if let Some(start_line) = shown.next_line.filter(|_| !is_listed) {
            report.next.push(ReadOn { path: request.name().into_owned(), start_line });
            if report.text.len() > start {
                report.text.push('\n');
            }
            let max_lines = request.limits.max_lines;
            let has_all = max_lines == Some(start_line.saturating_sub(shown.start_line));
            report.text += &match shown.match_count {
                Some(matches) => {
                    format!("({matches} lines match. Continue from line {start_line}.)")
                }
                // If the request's own line limit ended the view, the caller knows where to
                // continue.
                None if has_all => format!("({lines} lines)"),
                None => format!("({lines} lines. Continue from line {start_line}.)"),
            };
        }
        if shown.symbols.len() > 1 {
            report.text += &format!("\n({})", same_names(&shown.symbols));
        }
        if let Some(first) = shown.folds.first() {
            let folded: u64 = shown.folds.iter().map(|lines| lines.end - lines.start).sum();
            let name = fold_name(first);
            report.text += &format!(
                "\n(The file has {lines} lines, {folded} of them folded. To see some, read with open: [\"{name}\"].)"
            );
        }
        if let Some(note) = encoding_note(shown) {
            report.text += &format!("\n({note})");
        }
        end
    }
}

/// Where several definitions with one name are.
fn same_names(symbols: &[SymbolPlace]) -> String {
    let place = |one: &SymbolPlace| {
        format!("{} in lines {}-{}", one_line(&one.name), one.start_line, one.end_line)
    };
    let named: Vec<String> = symbols.iter().take(SYMBOLS_NAMED).map(place).collect();
    let more = if symbols.len() > SYMBOLS_NAMED { ", …" } else { "" };
    let (count, named) = (symbols.len(), named.join(", "));
    format!(
        "{count} definitions have this name: {named}{more}. Read one by its full name, or by its lines."
    )
}

/// What a reader must know of the encoding of a file.
fn encoding_note(shown: &TextView) -> Option<String> {
    let name = Charset::by_label(&shown.encoding).ok()?.standard_name();
    if shown.lossy {
        return Some(format!(
            "Some bytes are invalid in {name}: � shows them, and edits keep them. If the file has another encoding, read it with encoding."
        ));
    }
    let is_other = shown.is_guessed && name != Charset::Utf8.standard_name();
    is_other.then(|| format!("encoding: {name}; edits keep it"))
}

/// Adds the version to rows of a view.
fn with_versions(dialect: &Dialect, rows: &str, ambiguous: &AmbiguousLines) -> String {
    let mut out = String::with_capacity(rows.len() + ambiguous.size_bytes());
    rows.split_inclusive('\n').for_each(|row| ambiguous.push_row(dialect, row, &mut out));
    out
}

/// Whether a request has no window, limit or search.
fn is_unlimited(request: &ReadRequest) -> bool {
    request.start_line.is_none()
        && request.limits == Limits::default()
        && request.search.is_none()
        && request.lines.is_empty()
        && request.symbol.is_none()
        && request.columns.is_none()
}
