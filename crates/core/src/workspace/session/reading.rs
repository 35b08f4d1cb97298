//! One read of a session: several files on one page, within the limits of one call.

use parking_lot::Mutex;
use std::ops::Range;

use super::{IMAGE_LIMIT_BYTES, ReadImage, ReadOn, ReadReport, Session, SessionLimits, canonical};
use crate::edit::session::shown_lines;
use crate::view::excerpt::Limits;
use crate::view::fold::{Folding, fold_name};
use crate::view::read::{FileView, ReadRequest, TextView, ViewKind, read_hashed};
use crate::view::scope::Scope;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Result};
use hashline_disk::bytes::{Document, Loaded};
use hashline_lines::rows::{file_header, one_line};
use hashline_memory::{MemoryUpdate, Showing, ShownLines, Version};

/// How many of the files that a limit left out are named.
const MAX_NAMED_FILES: usize = 10;

/// What a view was made of, kept until the view is known to be the one that is returned.
#[derive(Default)]
enum Seen {
    #[default]
    Nothing,
    Text {
        text: Version,
        shown: ShownLines,
    },
    Image(&'static str, Vec<u8>),
}

/// The hash of a document's text, where that of its bytes was told and is the same.
fn hash_of_view(document: &Document, shown: &TextView) -> Option<u128> {
    let is_same = document.is_plain() && document.bom_bytes() == 0;
    u128::from_str_radix(&shown.snapshot, 16).ok().filter(|_| is_same)
}

/// A file that was looked at for a page.
struct Looked {
    view: FileView,
    seen: Seen,
    /// What the view teaches, if it goes onto the page.
    update: Option<MemoryUpdate>,
}

/// A page that is being filled.
pub(super) struct Reading<'s> {
    session: &'s Session,
    has_headers: bool,
    left: SessionLimits,
    image_bytes_left: usize,
    /// Files that a limit left out.
    left_out: Vec<String>,
    report: ReadReport,
    updates: Vec<MemoryUpdate>,
}

impl<'s> Reading<'s> {
    pub(super) fn new(session: &'s Session, has_headers: bool) -> Self {
        Reading {
            session,
            has_headers,
            left: session.options.limits,
            image_bytes_left: IMAGE_LIMIT_BYTES,
            left_out: Vec::new(),
            report: ReadReport::default(),
            updates: Vec::new(),
        }
    }

    /// Adds one file, as far as there is room.
    pub(super) fn add(&mut self, request: &ReadRequest, cancel: &Cancel) -> Result<()> {
        // Without hashes, each view begins with a header of its own.
        let has_header = self.has_headers && self.session.options.workspace.dialect.has_hashes();
        let header = if has_header { file_header(&request.name()) + "\n" } else { String::new() };
        let mut room = self.left.max_bytes.saturating_sub(header.len());
        if room == 0 && self.report.text.is_empty() {
            // A header that leaves no room does not count on a page that has nothing else: the
            // next read would end where this one does.
            room = self.left.max_bytes;
        }
        if room == 0 || self.left.max_lines == 0 {
            self.leave_out(request);
            return Ok(());
        }
        let Looked { mut view, seen, update } = self.look(request, room, cancel)?;
        let shown = view.as_text();
        if shown.is_some_and(|shown| shown.is_line_cut) && !self.report.text.is_empty() {
            // A line that fits on a page of its own is not to be cut at the end of this one.
            self.leave_out(request);
            return Ok(());
        }
        let before = self.report.text.len();
        self.begin_block();
        self.report.text += &header;
        if header.is_empty() && self.has_headers && view.text.is_empty() {
            self.report.text += &(file_header(&request.name()) + "\n");
        }
        let matches = shown.and_then(|shown| shown.match_lines.as_ref()).map_or(0, Vec::len) as u64;
        let lines = match view.text.len() {
            0 => 0,
            // No other file follows, so nobody asks how many lines are left.
            _ if !self.has_headers => 0,
            _ => memchr::memchr_iter(b'\n', view.text.as_bytes()).count() as u64 + 1,
        };
        let span = self.describe(request, &mut view, seen);
        let left = &mut self.left;
        left.max_lines = left.max_lines.saturating_sub(lines);
        left.max_bytes = left.max_bytes.saturating_sub(self.report.text.len() - before);
        left.max_matches = left.max_matches.saturating_sub(matches);
        self.report.views.push(view);
        self.report.spans.push(span);
        self.updates.extend(update);
        Ok(())
    }

    /// Begins a block, which has to begin on a line of its own.
    fn begin_block(&mut self) {
        if !self.report.text.is_empty() {
            self.report.text.push('\n');
        }
    }

    /// The page, and what it teaches.
    pub(super) fn finish(mut self) -> (ReadReport, Vec<MemoryUpdate>) {
        if !self.left_out.is_empty() {
            let more = self.left_out.len().saturating_sub(MAX_NAMED_FILES);
            self.left_out.truncate(MAX_NAMED_FILES);
            let named = self.left_out.join(", ");
            let more = if more > 0 { format!(" and {more} more") } else { String::new() };
            self.begin_block();
            self.report.text +=
                &format!("(Not shown, because the limit of one call is reached: {named}{more}.)");
        }
        (self.report, self.updates)
    }

    fn leave_out(&mut self, request: &ReadRequest) {
        let start_line = request.start_line.unwrap_or(1);
        let kind = ViewKind::Unread { next_line: start_line, truncated: true };
        let view = FileView::bare(request, kind);
        self.left_out.push(format!("{} from line {start_line}", one_line(&view.path)));
        self.report.next.push(ReadOn { path: view.path.clone(), start_line });
        self.report.views.push(view);
        self.report.spans.push(0..0);
    }

    /// Looks at one file, with what is left of the limits.
    fn look(&self, request: &ReadRequest, room_bytes: usize, cancel: &Cancel) -> Result<Looked> {
        let has_no_window = is_unlimited(request);
        let mut request = request.clone();
        let (limits, left) = (&mut request.limits, &self.left);
        limits.max_lines = Some(limits.max_lines.unwrap_or(u64::MAX).min(left.max_lines));
        limits.max_bytes = Some(limits.max_bytes.unwrap_or(usize::MAX).min(room_bytes));
        if has_no_window {
            request.fold.get_or_insert(Folding::InsteadOfCut);
        }
        request.max_line_chars = Some(left.line_chars(request.max_line_chars));
        request.max_matches = Some(request.max_matches.unwrap_or(u64::MAX).min(left.max_matches));
        let workspace = self.session.reader_of(&request.name());
        workspace.scoped(cancel, |scope| self.look_in(scope, &request))
    }

    fn look_in(&self, scope: &Scope<'_>, request: &ReadRequest) -> Result<Looked> {
        let seen = Mutex::new(Seen::Nothing);
        let witness = |_, loaded: &Loaded, view: &FileView| {
            let now = match loaded {
                Loaded::Text(document) => self.seen_of(document, view),
                Loaded::Binary(binary) => match binary.image_type {
                    Some(kind) if binary.bytes().len() <= self.image_bytes_left => {
                        Seen::Image(kind, binary.bytes().to_vec())
                    }
                    _ => Seen::Nothing,
                },
            };
            *seen.lock() = now;
        };
        let mut views = read_hashed(scope, std::slice::from_ref(request), witness, |view| view)?;
        let view = views.pop().ok_or_else(|| Error::new(Code::Internal, "a read without view"))?;
        let seen = seen.into_inner();
        let update = match (&seen, view.error()) {
            // A file that is gone by now is not remembered: it cannot be edited either.
            (Seen::Text { text, shown }, None) => {
                canonical(scope, &request.name()).ok().map(|file| {
                    let (text, lines) = (text.clone(), shown.clone());
                    MemoryUpdate::Shown { file, text, lines, showing: Showing::Asked }
                })
            }
            _ => None,
        };
        Ok(Looked { view, seen, update })
    }

    fn seen_of(&self, document: &Document, view: &FileView) -> Seen {
        let Some(shown) = view.as_text() else { return Seen::Nothing };
        let hash = hash_of_view(document, shown);
        let text = self.session.state.memory.version(document.text(), hash);
        Seen::Text { text, shown: shown_lines(&shown.rows) }
    }

    /// Tells the model of one view; images and where to go on go to the report, too. Returns where
    /// the view's text stands. A page that begins with it takes it from the view.
    fn describe(&mut self, request: &ReadRequest, view: &mut FileView, seen: Seen) -> Range<usize> {
        let report = &mut self.report;
        let start = report.text.len();
        match (&view.kind, seen) {
            (ViewKind::Text(shown), _) => {
                return start..self.describe_text(request, &mut view.text, shown);
            }
            (ViewKind::Image { .. }, Seen::Image(mime_type, data)) => {
                report.text += &format!("(image, {mime_type}, {} bytes)", data.len());
                self.image_bytes_left -= data.len();
                report.images.push(ReadImage { path: view.path.clone(), mime_type, data });
            }
            (ViewKind::Image { mime_type, .. }, _) => {
                let limit_mib = IMAGE_LIMIT_BYTES >> 20;
                report.text += &format!(
                    "({mime_type}: not shown: one call shows images of up to {limit_mib} MiB)"
                );
            }
            (ViewKind::Binary { .. }, _) => report.text += "(binary file: not shown)",
            (ViewKind::Error { error }, _) => {
                report.text += &format!("{}: {}", error.code.as_str(), error.message);
            }
            // It is named at the end of the page.
            (ViewKind::Unread { .. }, _) => {}
        }
        start..start
    }

    /// Returns where its text ends.
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
                // Without hashes, the header.
                if !text.is_empty() {
                    report.text += text;
                    report.text.push('\n');
                }
                report.text += &format!("(no match for {search} in {lines} lines)");
            }
            _ if lines == 0 => {
                // A header there is all that the view can have.
                report.text += text;
                end = report.text.len();
                report.text += if text.is_empty() { "(empty file)" } else { "\n(empty file)" };
            }
            // The usual page is one file: to copy it would cost more than to remember it.
            _ if start == 0 => {
                report.text = std::mem::take(text);
                end = report.text.len();
            }
            _ => {
                report.text += text;
                end = report.text.len();
            }
        }
        if let Some(start_line) = shown.next_line {
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
                // Whoever set the limit can count where it was reached.
                None if has_all => format!("({lines} lines)"),
                None => format!("({lines} lines. Continue from line {start_line}.)"),
            };
        }
        if let Some(first) = shown.folds.first() {
            let folded: u64 = shown.folds.iter().map(|lines| lines.end - lines.start).sum();
            let name = fold_name(first);
            report.text += &format!(
                "\n(The file has {lines} lines, {folded} of them folded. To see some, read with open: [\"{name}\"].)"
            );
        }
        end
    }
}

/// Whether a request asks for a file as a whole.
fn is_unlimited(request: &ReadRequest) -> bool {
    request.start_line.is_none()
        && request.limits == Limits::default()
        && request.search.is_none()
        && request.columns.is_none()
}
