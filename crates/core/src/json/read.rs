//! Reads a document with its anchors: above each line, the anchors of the values that start in it.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};

use super::canonical::all_hashes;
use super::path::PathStep;
use super::tree::{JsonGrammar, NodeId, Tree, ValueKind};
use crate::view::excerpt::Limits;
use crate::view::near::with_near_names;
use crate::view::scope::Scope;
use hashline_base::cancel::Cancel;
use hashline_base::error::{Code, Error, Message, Result, Term};
use hashline_base::shape::{path_or_object, size};
use hashline_disk::bytes::{
    Charset, Document, LoadOptions, Loaded, load_bytes, valid_utf8, with_file,
};
use hashline_disk::fs::unicode_path;
use hashline_lines::hash::floor_boundary;
use hashline_lines::lines::{Lines, Unit};

/// A read of one document.
#[derive(Clone, Debug, Default)]
pub struct JsonRequest {
    /// The file.
    pub path: PathBuf,
    /// The first line to show, from 1.
    pub start_line: Option<u64>,
    /// How much to show; lines with anchors count, too.
    pub limits: Limits,
    /// The label of the encoding, for a file without a byte order mark.
    pub encoding: Option<String>,
}

impl JsonRequest {
    /// Reads the whole document.
    pub fn new(path: impl Into<PathBuf>) -> JsonRequest {
        JsonRequest { path: path.into(), ..JsonRequest::default() }
    }

    /// The path as answers print it.
    pub(crate) fn name(&self) -> Cow<'_, str> {
        self.path.to_string_lossy()
    }
}

/// A request as data (`serde`).
#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct JsonRequestShape {
    path: String,
    start_line: Option<u64>,
    max_lines: Option<u64>,
    max_bytes: Option<u64>,
    encoding: Option<String>,
}

/// A request is an object or only a path.
impl<'de> Deserialize<'de> for JsonRequest {
    fn deserialize<D: Deserializer<'de>>(
        deserializer: D,
    ) -> std::result::Result<JsonRequest, D::Error> {
        let of_path = |path| JsonRequestShape { path, ..JsonRequestShape::default() };
        let given = path_or_object(deserializer, of_path)?;
        Ok(JsonRequest {
            path: given.path.into(),
            start_line: given.start_line,
            limits: Limits { max_lines: given.max_lines, max_bytes: given.max_bytes.map(size) },
            encoding: given.encoding,
        })
    }
}

/// A document with the anchors of its values.
#[derive(Clone, Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct JsonView {
    /// The path as requested.
    pub path: String,
    /// The lines of the file, joined by `\n`. Above each line is a comment for every value that
    /// starts in it: `// $.a.b:34`.
    pub text: String,
    /// Lines in the whole file.
    pub line_count: u64,
    /// The first line shown.
    pub start_line: u64,
    /// The last line shown; `start_line - 1` if none is.
    pub end_line: u64,
    /// The line to continue at, if the view was truncated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_line: Option<u64>,
    /// Whether a limit truncated the view.
    pub truncated: bool,
    /// Values in the whole document.
    pub value_count: u64,
    /// The name of the encoding.
    pub encoding: String,
    /// Whether the file starts with a byte order mark.
    pub bom: bool,
    /// The hash of the whole content.
    pub snapshot: String,
}

/// Reads a document. Fails if the file cannot be read or is not JSON.
pub fn read_json(scope: &Scope<'_>, request: &JsonRequest) -> Result<JsonView> {
    let load = prepare(scope, request)?;
    let name = request.name();
    with_file(scope.fs, scope.base, &name, &load, |loaded| view_loaded(scope, request, loaded))
        .map_err(|error| with_near_names(scope.base, &name, error))
}

/// Like [`read_json`], for bytes in memory; the path is only their name.
pub fn read_json_bytes(scope: &Scope<'_>, request: &JsonRequest, bytes: &[u8]) -> Result<JsonView> {
    let load = prepare(scope, request)?;
    view_loaded(scope, request, &load_bytes(&request.name(), bytes, &load)?)
}

/// Validates a request and returns how to load its file.
fn prepare(scope: &Scope<'_>, request: &JsonRequest) -> Result<LoadOptions> {
    scope.cancel.check()?;
    unicode_path("path", &request.path)?;
    let own = request.encoding.as_deref().map(Charset::by_label).transpose()?;
    let charset = own.or(scope.charset);
    let load = LoadOptions { charset, ..scope.load_options_of(&request.name()) };
    if request.start_line == Some(0) {
        return Err(Error::argument(
            Message::from(Term::StartLine) + " is 0: lines are numbered from 1",
        ));
    }
    Ok(load)
}

fn view_loaded(scope: &Scope<'_>, request: &JsonRequest, loaded: &Loaded) -> Result<JsonView> {
    match loaded {
        Loaded::Binary(_) => {
            let message = format!("{}: is a binary file, not JSON", request.name());
            Err(Error::at(Code::BinaryFile, &request.name(), message))
        }
        Loaded::Text(document) => view_document(scope, request, document),
    }
}

fn view_document(
    scope: &Scope<'_>,
    request: &JsonRequest,
    document: &Document,
) -> Result<JsonView> {
    let path = &*request.name();
    let about = |error: Error| match error.code {
        Code::Aborted => error,
        code => Error::at(code, path, format!("{path}: {}", error.message)),
    };
    let text = valid_utf8(document.text()).ok_or_else(|| {
        // Mapped bytes can change while they are read; then the view is invalid.
        Error::at(Code::ConcurrentChange, path, format!("{path}: was changed"))
    })?;
    let tree = Tree::parse(text, JsonGrammar::WithComments, scope.cancel).map_err(about)?;
    let shown = show(&tree, request, scope.cancel).map_err(about)?;
    if shown.text.len() > scope.host.text_limit_units
        && shown.text.encode_utf16().count() > scope.host.text_limit_units
    {
        let message =
            format!("{path}: the view is longer than a string can hold: read a part of it");
        return Err(Error::at(Code::FileTooLarge, path, message));
    }
    Ok(JsonView {
        path: path.to_owned(),
        encoding: document.charset().name(),
        bom: document.bom_bytes() > 0,
        snapshot: document.snapshot(scope.cancel)?,
        value_count: tree.count() as u64,
        ..shown
    })
}

/// Lines shown between two checks of the cancellation flag.
const LINES_PER_CANCEL_CHECK: u64 = 1 << 10;

/// Renders the lines from the first requested one on, within the limits.
fn show(tree: &Tree<'_>, request: &JsonRequest, cancel: &Cancel) -> Result<JsonView> {
    let hashes = all_hashes(tree, cancel)?;
    let text = tree.text();
    let start_line = request.start_line.unwrap_or(1);
    let mut walk = ValueWalk::new(tree);
    let mut rows = JsonRows::new(&request.limits);
    let (mut number, mut last, mut next) = (0, start_line - 1, None);
    for span in Lines::new(text.as_bytes(), Unit::Byte) {
        number += 1;
        if number % LINES_PER_CANCEL_CHECK == 0 {
            cancel.check()?;
        }
        let mut anchors = Vec::new();
        while let Some(id) = walk.next_before(span.end) {
            if number >= start_line && next.is_none() {
                let note = if walk.is_duplicate { DUPLICATE } else { "" };
                let indent = tree.indent_at(span.start);
                anchors.push(format!("{indent}// {}:{:02x}{note}", walk.path, hashes[id]));
            }
        }
        if number < start_line || next.is_some() {
            continue;
        }
        if rows.push(&anchors, &text[span.start..span.text_end]) {
            last = number;
        } else {
            next = Some(number);
        }
    }
    if start_line > number.max(1) {
        let message = format!("has {number} lines; line {start_line} does not exist");
        return Err(Error::new(Code::LineOutOfRange, message));
    }
    Ok(JsonView {
        truncated: next.is_some() || rows.is_cut,
        text: rows.text,
        line_count: number,
        start_line,
        end_line: last,
        next_line: next,
        ..JsonView::default()
    })
}

/// Follows the anchor of a value whose key is duplicated, so that its path is ambiguous.
const DUPLICATE: &str = " (this key is duplicated: edit it by line)";

/// The lines of a view, within limits.
struct JsonRows {
    text: String,
    count: u64,
    max_lines: u64,
    max_bytes: usize,
    is_cut: bool,
}

impl JsonRows {
    fn new(limits: &Limits) -> JsonRows {
        let max_lines = limits.max_lines.unwrap_or(u64::MAX);
        let max_bytes = limits.max_bytes.unwrap_or(usize::MAX);
        JsonRows { text: String::new(), count: 0, max_lines, max_bytes, is_cut: false }
    }

    /// Adds a line below its anchors, if they fit. Truncates the first line if it does not.
    fn push(&mut self, anchors: &[String], line: &str) -> bool {
        let bytes: usize = anchors.iter().map(|anchor| anchor.len() + 1).sum();
        let bytes = bytes + line.len() + usize::from(self.count > 0);
        let fits = self.count + (anchors.len() as u64) < self.max_lines
            && self.text.len() + bytes <= self.max_bytes;
        if fits {
            anchors.iter().for_each(|anchor| self.row(anchor));
            self.row(line);
        } else if self.count == 0 && self.max_lines > 0 && self.max_bytes > 0 {
            self.push_cut(anchors, line);
            return true;
        }
        fits && !self.is_cut
    }

    /// Adds a first line that alone exceeds the limits: as many of its anchors as fit, then as much
    /// of the line as fits.
    fn push_cut(&mut self, anchors: &[String], line: &str) {
        self.is_cut = true;
        let mut shown = 0;
        for anchor in anchors {
            let has_room =
                self.count + 2 <= self.max_lines && self.text.len() + anchor.len() < self.max_bytes;
            if !has_room {
                break;
            }
            self.row(anchor);
            shown += 1;
        }
        if shown < anchors.len() {
            let hidden = anchors.len() - shown;
            self.row(&format!("// … [+{hidden} anchors of the next line]"));
        }
        let room = self.max_bytes.saturating_sub(self.text.len());
        let end = floor_boundary(line.as_bytes(), room.max(1)).min(line.len());
        let end = if line.is_char_boundary(end) { end } else { 0 };
        match line.len() - end {
            0 => self.row(line),
            hidden => self.row(&format!("{}… [+{hidden} bytes]", &line[..end])),
        }
    }

    fn row(&mut self, row: &str) {
        if self.count > 0 {
            self.text.push('\n');
        }
        self.text.push_str(row);
        self.count += 1;
    }
}

/// Iterates over the values of a document, with their paths.
struct ValueWalk<'a, 't> {
    tree: &'a Tree<'t>,
    next: NodeId,
    path: String,
    /// Whether the key of the last value is duplicated in its object.
    is_duplicate: bool,
    open: Vec<Open<'t>>,
}

/// An object or array that contains the next value.
struct Open<'t> {
    /// The first value after it.
    end: NodeId,
    path_bytes: usize,
    /// The number of elements visited.
    index: usize,
    duplicates: HashSet<Cow<'t, str>>,
}

impl<'a, 't> ValueWalk<'a, 't> {
    fn new(tree: &'a Tree<'t>) -> ValueWalk<'a, 't> {
        let path = String::from("$");
        ValueWalk { tree, next: 0, path, is_duplicate: false, open: Vec::new() }
    }

    /// The next value, if the value or its key starts before `offset`.
    fn next_before(&mut self, offset: usize) -> Option<NodeId> {
        let (tree, id) = (self.tree, self.next);
        if id == tree.count() || tree.member_start(id) >= offset {
            return None;
        }
        self.next += 1;
        while self.open.last().is_some_and(|open| open.end <= id) {
            self.open.pop();
        }
        self.is_duplicate = false;
        if let Some(open) = self.open.last_mut() {
            self.path.truncate(open.path_bytes);
            let step = match tree.key(id) {
                Some(key) => {
                    self.is_duplicate = open.duplicates.contains(&key);
                    PathStep::Key(key.into_owned())
                }
                None => PathStep::Index(open.index),
            };
            open.index += 1;
            self.path += &step.to_string();
        }
        if tree.kind(id).is_container() {
            let end = tree.end_of_node(id);
            let duplicates = duplicates(tree, id);
            let path_bytes = self.path.len();
            self.open.push(Open { end, path_bytes, index: 0, duplicates });
        }
        Some(id)
    }
}

/// The duplicated keys of an object.
fn duplicates<'t>(tree: &Tree<'t>, id: NodeId) -> HashSet<Cow<'t, str>> {
    let mut duplicated = HashSet::new();
    if tree.kind(id) == ValueKind::Object {
        let mut seen = HashSet::new();
        for key in tree.children(id).filter_map(|child| tree.key(child)) {
            if !seen.insert(key.clone()) {
                duplicated.insert(key);
            }
        }
    }
    duplicated
}
