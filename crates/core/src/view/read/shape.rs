//! Requests and views as data (`serde`).

use std::fmt;
use std::ops::Range;

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{FileView, ReadRequest, ViewKind};
use crate::view::excerpt::{Context, Limits};
use crate::view::fold::{FOLD_LINES, Folding};
use crate::view::pattern::Query;
use crate::view::width::Columns;
use hashline_base::error::{Code, Error, Message};
use hashline_base::shape::{OneOrMany, path_or_object, size};

/// A request is an object or only a path.
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
    symbol: Option<String>,
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
            search: given.search.map(|search| Query { regex, case_sensitive, ..search.into() }),
            symbol: given.symbol,
            lines: Vec::new(),
            columns_at: Vec::new(),
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

/// The first field is the kind, which determines the other fields.
impl Serialize for FileView {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Shape<'a> {
            kind: &'a str,
            path: &'a str,
            text: &'a str,
            #[serde(flatten)]
            facts: &'a ViewKind,
        }
        let FileView { path, text, kind, .. } = self;
        Shape { kind: kind.as_str(), path, text, facts: kind }.serialize(serializer)
    }
}

/// The first and the last line of each fold.
pub fn folds<S: Serializer>(folds: &[Range<u64>], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_seq(folds.iter().map(|lines| (lines.start, lines.end - 1)))
}

/// An error without its path, which the view has.
#[derive(Serialize)]
#[serde(remote = "Error")]
pub struct ErrorShape {
    code: Code,
    message: Message,
}
