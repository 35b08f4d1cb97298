//! Requests and views as data (`serde`).

use std::fmt;

use serde::de::{Unexpected, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{FileView, LineEnding, ReadRequest, ViewKind};
use crate::error::{Code, Error};
use crate::shape::{OneOrMany, path_or_object, size};
use crate::view::excerpt::{Context, Limits};
use crate::view::fold::{FOLD_LINES, Folding};
use crate::view::pattern::Query;
use crate::view::width::Columns;

/// A request is an object, or a path.
impl<'de> Deserialize<'de> for ReadRequest {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let of_path = |path| RequestShape { path, ..RequestShape::default() };
        path_or_object(deserializer, of_path).map(Into::into)
    }
}

#[derive(Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct RequestShape {
    path: String,
    start_line: Option<u64>,
    max_lines: Option<u64>,
    max_bytes: Option<u64>,
    max_line_chars: Option<u64>,
    columns: Option<(u64, u64)>,
    fold: Option<FoldShape>,
    open: Option<OneOrMany>,
    search: Option<String>,
    regex: Option<bool>,
    case_sensitive: Option<bool>,
    context_before: Option<u64>,
    context_after: Option<u64>,
    max_matches: Option<u64>,
    encoding: Option<String>,
    checksum: Option<bool>,
}

/// `true`, `false` or a number of lines.
struct FoldShape(Option<Folding>);

impl<'de> Deserialize<'de> for FoldShape {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(FoldVisitor)
    }
}

struct FoldVisitor;

impl Visitor<'_> for FoldVisitor {
    type Value = FoldShape;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("true, false or a number of lines")
    }

    fn visit_bool<E>(self, is: bool) -> Result<FoldShape, E> {
        Ok(FoldShape(is.then_some(Folding::To(FOLD_LINES))))
    }

    fn visit_u64<E>(self, lines: u64) -> Result<FoldShape, E> {
        Ok(FoldShape(Some(Folding::To(lines))))
    }

    fn visit_f64<E: serde::de::Error>(self, lines: f64) -> Result<FoldShape, E> {
        Err(E::invalid_value(Unexpected::Float(lines), &"u64"))
    }
}

impl From<RequestShape> for ReadRequest {
    fn from(given: RequestShape) -> ReadRequest {
        let regex = given.regex.unwrap_or_default();
        let case_sensitive = given.case_sensitive.unwrap_or_default();
        ReadRequest {
            path: given.path.into(),
            start_line: given.start_line,
            limits: Limits { max_lines: given.max_lines, max_bytes: given.max_bytes.map(size) },
            max_line_chars: given.max_line_chars,
            columns: given.columns.map(|(from, to)| Columns { from, to }),
            fold: given.fold.and_then(|shape| shape.0),
            open: given.open.unwrap_or_default().0,
            search: given.search.map(|search| Query { search, regex, case_sensitive }),
            context: Context {
                before: given.context_before.unwrap_or_default(),
                after: given.context_after.unwrap_or_default(),
            },
            max_matches: given.max_matches,
            encoding: given.encoding,
            checksum: given.checksum.unwrap_or_default(),
        }
    }
}

/// A view: its kind says which fields there are.
#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "lowercase", rename_all_fields = "camelCase")]
enum ViewShape<'a> {
    Text {
        path: &'a str,
        text: &'a str,
        line_count: u64,
        start_line: u64,
        end_line: u64,
        #[serde(skip_serializing_if = "Option::is_none")]
        next_line: Option<u64>,
        truncated: bool,
        #[serde(skip_serializing_if = "Vec::is_empty")]
        folds: Vec<(u64, u64)>,
        #[serde(skip_serializing_if = "Option::is_none")]
        match_lines: Option<&'a [u64]>,
        #[serde(skip_serializing_if = "Option::is_none")]
        match_count: Option<u64>,
        line_ending: LineEnding,
        final_newline: bool,
        encoding: &'a str,
        bom: bool,
        lossy: bool,
        snapshot: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        checksum: Option<String>,
    },
    Binary {
        path: &'a str,
        text: &'a str,
        snapshot: &'a str,
    },
    Image {
        path: &'a str,
        text: &'a str,
        mime_type: &'a str,
        snapshot: &'a str,
    },
    Unread {
        path: &'a str,
        text: &'a str,
        #[serde(skip_serializing_if = "Option::is_none")]
        next_line: Option<u64>,
        truncated: bool,
    },
    Error {
        path: &'a str,
        text: &'a str,
        error: Option<ErrorShape<'a>>,
    },
}

#[derive(Serialize)]
struct ErrorShape<'a> {
    code: Code,
    message: &'a str,
}

impl<'a> From<&'a Error> for ErrorShape<'a> {
    fn from(error: &'a Error) -> ErrorShape<'a> {
        ErrorShape { code: error.code, message: &error.message }
    }
}

impl Serialize for FileView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let FileView { path, text, snapshot, .. } = self;
        let shape = match self.kind {
            ViewKind::Text => ViewShape::Text {
                path,
                text,
                line_count: self.line_count,
                start_line: self.start_line,
                end_line: self.end_line,
                next_line: self.next_line,
                truncated: self.truncated,
                folds: self.folds.iter().map(|lines| (lines.start, lines.end - 1)).collect(),
                match_lines: self.match_lines.as_deref(),
                match_count: self.match_count,
                line_ending: self.line_ending,
                final_newline: self.final_newline,
                encoding: &self.encoding,
                bom: self.bom,
                lossy: self.lossy,
                snapshot,
                checksum: self.checksum.map(|checksum| checksum.to_string()),
            },
            ViewKind::Binary => ViewShape::Binary { path, text, snapshot },
            ViewKind::Image => {
                let mime_type = self.mime_type.unwrap_or_default();
                ViewShape::Image { path, text, mime_type, snapshot }
            }
            ViewKind::Unread => ViewShape::Unread {
                path,
                text,
                next_line: self.next_line,
                truncated: self.truncated,
            },
            ViewKind::Error => {
                ViewShape::Error { path, text, error: self.error.as_ref().map(ErrorShape::from) }
            }
        };
        shape.serialize(serializer)
    }
}
