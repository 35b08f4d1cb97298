//! The tool `read`: pages of files, with anchors.

use std::borrow::Cow;

use hashline_core::host::{Turn, Value};
use hashline_core::{
    Columns, Dialect, FOLD_LINES, FileView, Folding, ReadReport, ReadRequest, TextView, ViewKind,
};
use serde_json::{Value as Json, json};

use crate::arguments::{Arguments, CallError, MAX_COUNT, Rule, TAKEN_AS_JSON, malformed};
use crate::bounds::plural;
use crate::path::{PathLines, listed_paths, path_and_lines};
use crate::table::{Field, Kind, PATH_NAMES};
use crate::title::PartialArguments;
use crate::tool::{
    Answer, Call, Names, Tool, ToolText, ToolsOptions, anchor_form, blank_form, line_form,
    locator_noun, without_text,
};

pub const PATH: Field = Field::new("path", Kind::Path, "").required().aliases(PATH_NAMES);
pub const START_LINE: Field =
    Field::new("start_line", Kind::Count, "").aliases(&["offset", "startLine"]);
pub const MAX_LINES: Field =
    Field::new("max_lines", Kind::Count, "").aliases(&["limit", "maxLines"]);
const MORE_PATHS: Field =
    Field::new("more_paths", Kind::Texts, "").aliases(&["paths", "files", "morePaths"]);
const COLUMNS: Field = Field::new("columns", Kind::Counts, "Like [2001, 4000]");

const SYMBOL: Field = Field::new("symbol", Kind::Text, "");
const FOLD: Field = Field::new("fold", Kind::Flag, "");
const OPEN: Field = Field::new("open", Kind::Texts, "");

/// For files that do not say their encoding.
pub const ENCODING: Field = Field::new("encoding", Kind::Name, "");

/// The same in tools whose calls rarely need it: what a read has shown is known.
pub const UNLISTED_ENCODING: Field = Field::unlisted(ENCODING.name, ENCODING.kind);

pub static READ: Tool = Tool {
    title: "Read",
    fields: &[PATH, SYMBOL, START_LINE, MAX_LINES, FOLD, OPEN, COLUMNS, ENCODING, MORE_PATHS],
    text: tool_text,
    run: read,
    title_of: title,
};

fn tool_text(options: &ToolsOptions, dialect: &Dialect) -> ToolText {
    let Names { read, search, apply, .. } = &options.names;
    let (line, anchor, limits) = (line_form(dialect), anchor_form(dialect), options.limits.words());
    let blank = blank_form(dialect);
    let rows = if dialect.has_hashes() {
        format!(
            "Each line comes as {line}, where {anchor} is its anchor{blank}: {apply} edits by these."
        )
    } else {
        format!(
            "[path#TAG] comes first, where TAG names the version, then each line as {line}: {apply} edits by these."
        )
    };
    let locator = locator_noun(dialect);
    let can_be_edited =
        if dialect.has_hashes() { "have anchors to edit by" } else { "can be edited" };
    ToolText {
        description: format!(
            "Reads files, and lists directories. {rows} \
             A source over {limits} is folded to definitions and rows like 14-80 … 67 lines; open shows those."
        ),
        snippet: format!("Read files, each line with {locator} that {apply} edits by"),
        guidelines: vec![format!(
            "Read files with {read} rather than cat, head, tail or sed: \
             only lines that {read} or {search} showed {can_be_edited}."
        )],
        advice: "Ask for fewer files at once, or continue with start_line.".to_owned(),
    }
}

fn read(call: &Call<'_>, turn: Turn, mut given: Arguments<'_>) -> Result<Answer, CallError> {
    given.normalize(READ.fields)?;
    let requests = requests(call, &mut given)?;
    Ok(answer(turn.read(&requests, call.cancel)?))
}

/// The requests of a call. Line range, columns and folds apply to the first file; the others are
/// shown as far as the limits allow.
pub fn requests(call: &Call<'_>, given: &mut Arguments<'_>) -> Result<Vec<ReadRequest>, CallError> {
    let mut paths = first_paths(call, given)?;
    paths.extend(
        given
            .texts(MORE_PATHS.name)?
            .into_iter()
            .enumerate()
            .map(|(at, path)| (format!("{}[{at}]", MORE_PATHS.name), path)),
    );
    if paths.is_empty() {
        // Fails with the error for the missing field.
        given.text(PATH.name, "the path of a file")?;
    }
    let start_line = given.count(START_LINE.name, 1, MAX_COUNT)?;
    let max_lines = given.count(MAX_LINES.name, 1, MAX_COUNT)?;
    let columns = given.pair(COLUMNS.name)?;
    let fold = given.flag(FOLD.name)?.then_some(Folding::To(FOLD_LINES));
    let open = given.texts(OPEN.name)?;
    let symbol = given.optional_text(SYMBOL.name)?.filter(|name| !name.is_empty());
    let encoding = encoding(given)?;
    let mut requests = Vec::with_capacity(paths.len());
    for (field, path) in paths {
        let (path, lines) = path_and_lines(call, path, &field, given.repairs)?;
        let mut request = ReadRequest { encoding: encoding.clone(), ..ReadRequest::new(path) };
        if let Some(PathLines { first, last }) = lines {
            request.start_line = Some(first);
            request.limits.max_lines = last.map(|last| last - first + 1);
        }
        requests.push(request);
    }
    if let Some(first) = requests.first_mut() {
        // Fields take precedence over lines in the path, of which the last one stays.
        if let (Some(start), Some(of_path)) = (start_line, first.start_line)
            && let Some(count) = first.limits.max_lines.filter(|_| max_lines.is_none())
        {
            let last = of_path + count - 1;
            if start > last {
                return Err(malformed(format!(
                    "start_line is {start}, after the last line of the path, {last}: give the lines once"
                )));
            }
            first.limits.max_lines = Some(last - start + 1);
        }
        first.start_line = start_line.or(first.start_line);
        first.limits.max_lines = max_lines.or(first.limits.max_lines);
        first.columns = columns.map(|[from, to]| Columns { from, to });
        (first.fold, first.open, first.symbol) = (fold, open, symbol);
    }
    Ok(requests)
}

/// The encoding that a call names.
pub fn encoding(given: &Arguments<'_>) -> Result<Option<String>, CallError> {
    Ok(given.optional_text(ENCODING.name)?.filter(|label| !label.is_empty()))
}

/// The paths in the field `path`, where models also write lists.
fn first_paths(
    call: &Call<'_>,
    given: &mut Arguments<'_>,
) -> Result<Vec<(String, String)>, CallError> {
    let name = PATH.name;
    if let Some(Value::Array(_)) = given.fields.given(name) {
        let paths = given.texts(name)?;
        let message = format!("taken as {name} and {}", MORE_PATHS.name);
        given.repairs.add(Rule::Unwrapped, name, message);
        let entry = |(at, path)| (format!("{name}[{at}]"), path);
        return Ok(paths.into_iter().enumerate().map(entry).collect());
    }
    let path = given.optional_text(name)?.filter(|path| !path.is_empty());
    if let Some(paths) = path.as_deref().and_then(|path| listed_paths(call, path)) {
        given.repairs.add(Rule::JsonText, name, TAKEN_AS_JSON);
        let entry = |(at, path)| (format!("{name}[{at}]"), path);
        return Ok(paths.into_iter().enumerate().map(entry).collect());
    }
    Ok(path.into_iter().map(|path| (name.to_owned(), path)).collect())
}

/// The image formats that vendors accept.
const SHOWABLE: &[&str] = &["image/png", "image/jpeg", "image/gif", "image/webp"];

fn answer(report: ReadReport) -> Answer {
    let ReadReport { text, views, images, next, .. } = report;
    let first_error = views.iter().find_map(FileView::error);
    let is_unseen =
        |view: &FileView| matches!(view.kind, ViewKind::Error { .. } | ViewKind::Unread { .. });
    let error = first_error.filter(|_| views.iter().all(is_unseen));
    let files: Vec<Json> = views.iter().map(without_text).collect();
    // The last line of a file can be cut: then there is no next page, but the view is truncated.
    let is_cut =
        !next.is_empty() || views.iter().filter_map(FileView::as_text).any(|shown| shown.truncated);
    let mut structured = json!({"files": files, "truncated": is_cut});
    if let Some(error) = error {
        structured["code"] = error.code.as_str().into();
    }
    Answer {
        text: mark_unshown_images(text),
        is_error: error.is_some(),
        codes: views.iter().filter_map(|view| Some(view.error()?.code)).collect(),
        images: images.into_iter().filter(|image| SHOWABLE.contains(&image.mime_type)).collect(),
        summary: views.iter().map(summary).collect::<Vec<_>>().join(", "),
        structured,
        ..Answer::default()
    }
}

/// The start of a session's row for an image.
const IMAGE: &str = "(image, ";

/// Marks the rows of images that are not returned. A rendered line starts with its number, so it is
/// never mistaken for such a row.
fn mark_unshown_images(text: String) -> String {
    if !text.contains(IMAGE) {
        return text;
    }
    let row = |row| unshown_image(row).map_or(Cow::Borrowed(row), Cow::Owned);
    text.split('\n').map(row).collect::<Vec<_>>().join("\n")
}

fn unshown_image(row: &str) -> Option<String> {
    let inside = row.strip_prefix(IMAGE)?.strip_suffix(')')?;
    let (kind, size) = inside.split_once(", ")?;
    (!SHOWABLE.contains(&kind)).then(|| {
        format!("(image, {kind}, {size}; not shown: only png, jpeg, gif and webp are shown)")
    })
}

fn summary(view: &FileView) -> String {
    let FileView { path, kind, .. } = view;
    match kind {
        ViewKind::Error { error } => format!("{path}: {}", error.code.as_str()),
        ViewKind::Unread { .. } => format!("{path}: not shown"),
        ViewKind::Text(shown) if shown.start_line == 1 && shown.end_line == shown.line_count => {
            format!("{path}: {}", plural(shown.line_count, "line", "lines"))
        }
        ViewKind::Text(TextView { start_line, end_line, line_count, .. }) => {
            format!("{path}: lines {start_line}–{end_line} of {line_count}")
        }
        ViewKind::Directory(shown) => {
            format!("{path}: {}", plural(shown.file_count, "file", "files"))
        }
        kind => format!("{path}: {}", kind.as_str()),
    }
}

pub fn title(given: &PartialArguments) -> String {
    let mut paths: Vec<String> = given.scalar(&PATH).into_iter().collect();
    paths.extend(given.strings(&PATH));
    paths.extend(match given.strings(&MORE_PATHS) {
        none if none.is_empty() => given.scalar(&MORE_PATHS).into_iter().collect(),
        more => more,
    });
    let Some((path, more)) = paths.split_first() else { return String::new() };
    let start = given.scalar(&START_LINE).map(|line| format!(":{line}")).unwrap_or_default();
    let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
    format!("{path}{start}{more}")
}

/// The file of a read, if the call named only one.
pub fn only_file(call: &Call<'_>, arguments: Arguments<'_>) -> Option<String> {
    let mut given = arguments;
    given.normalize(READ.fields).ok()?;
    let requests = requests(call, &mut given).ok()?;
    let (first, others) = requests.split_first()?;
    others
        .iter()
        .all(|request| request.path == first.path)
        .then(|| first.path.to_str().map(str::to_owned))
        .flatten()
}
