//! The tool `search`: matching lines of files, with anchors, and lists of files.

use hashline_core::host::{Turn, Value};
use hashline_core::{
    Code, Context, Dialect, Error, FoundFiles, MAX_MATCHES, Query, SEARCH_FILES, SearchOutput,
    SearchQuery, SearchResult,
};
use serde_json::Value as Json;

use crate::arguments::{Arguments, CallError, MAX_COUNT, malformed, wrong};
use crate::bounds::{MAX_LINES, plural};
use crate::path::plain_path;
use crate::read::{UNLISTED_ENCODING, encoding};
use crate::table::{Field, Kind};
use crate::title::PartialArguments;
use crate::tool::{
    Answer, Call, Names, Tool, ToolText, ToolsOptions, line_form, locator_noun, without_text,
};

const PATTERN: Field =
    Field::new("pattern", Kind::Text, "Without: lists files").aliases(&["query", "search"]);
const SYMBOL: Field =
    Field::new("symbol", Kind::Text, "Definitions, like A.run").aliases(&["name"]);
const LITERAL: Field = Field::new("literal", Kind::Flag, "");
const CASE_SENSITIVE: Field =
    Field::new("case_sensitive", Kind::Flag, "").aliases(&["caseSensitive"]);
const PATHS: Field = Field::new("paths", Kind::Texts, "").aliases(&[
    "path",
    "file_path",
    "filePath",
    "file",
    "filename",
    "files",
]);
const GLOBS: Field =
    Field::new("globs", Kind::Texts, "Like *.ts; ! excludes").aliases(&["include", "glob"]);
const CONTEXT: Field = Field::new("context", Kind::Count, "");
const MATCHES: Field = Field::new("max_matches", Kind::Count, "At most {}")
    .counting(MAX_MATCHES)
    .aliases(&["limit", "maxMatches"]);
const ENCLOSING: Field = Field::new("enclosing", Kind::Flag, "");
// A path that a call names is searched although it is hidden.
const HIDDEN: Field = Field::unlisted("hidden", Kind::Flag);
const OUTPUT: Field = Field::new("output", Kind::Word(&["lines", "files", "count"]), "")
    .aliases(&["output_mode", "outputMode"]);
const SIZES: Field = Field::unlisted("sizes", Kind::Flag);
const SKIP: Field = Field::new("skip", Kind::Count, "").aliases(&["offset"]);

pub static SEARCH: Tool = Tool {
    title: "Search",
    fields: &[
        PATTERN,
        SYMBOL,
        LITERAL,
        CASE_SENSITIVE,
        PATHS,
        GLOBS,
        CONTEXT,
        MATCHES,
        ENCLOSING,
        HIDDEN,
        OUTPUT,
        SIZES,
        SKIP,
        UNLISTED_ENCODING,
    ],
    text: tool_text,
    run: search,
    title_of: title,
};

const MAX_CONTEXT_LINES: u64 = 20;

fn tool_text(options: &ToolsOptions, dialect: &Dialect) -> ToolText {
    let Names { read, search, apply, .. } = &options.names;
    let (line, locator) = (line_form(dialect), locator_noun(dialect));
    ToolText {
        description: format!(
            "Searches files for lines that match a regular expression; skips ignored ones. \
             Lines come as {line}, so {apply} can edit them without a {read}."
        ),
        snippet: format!("Search files for lines, each shown with {locator} that {apply} edits by"),
        guidelines: vec![format!("Search with {search} rather than grep, rg or find.")],
        advice: "Narrow pattern, paths or globs.".to_owned(),
    }
}

fn search(call: &Call<'_>, turn: Turn, mut given: Arguments<'_>) -> Result<Answer, CallError> {
    given.normalize(SEARCH.fields)?;
    let query = query(call, &mut given)?;
    let found = turn.search(&query, call.cancel, call.progress)?;
    Ok(answer(call.names, &query, &found))
}

pub fn query(call: &Call<'_>, given: &mut Arguments<'_>) -> Result<SearchQuery, CallError> {
    let context = given.count(CONTEXT.name, 0, MAX_CONTEXT_LINES)?.unwrap_or(0);
    // In the worst case each match is in another file, which adds a header.
    let lines_of_match = 2 * context + if context > 0 { 3 } else { 2 };
    let max = MAX_MATCHES.min(MAX_LINES as u64 / lines_of_match);
    let mut paths = given.texts(PATHS.name)?;
    for (at, path) in paths.iter_mut().enumerate() {
        let field = format!("{}[{at}]", PATHS.name);
        *path = plain_path(call, std::mem::take(path), &field, given.repairs)?;
    }
    let globs = given.texts(GLOBS.name)?;
    let symbol = given.optional_text(SYMBOL.name)?;
    // Some models fill in every field. A name that is empty by mistake must not list files.
    let symbol = symbol.filter(|name| !name.is_empty() || given.fields.get(PATTERN.name).is_none());
    let is_limited = !paths.is_empty() || !globs.is_empty();
    let (search, output) = pattern_and_output(given, symbol.as_deref(), is_limited)?;
    let is_literal = given.flag(LITERAL.name)?;
    if is_literal && symbol.is_some() {
        return Err(both(SYMBOL.name, LITERAL.name));
    }
    let pattern = Query {
        search,
        regex: !is_literal && symbol.is_none(),
        case_sensitive: given.flag(CASE_SENSITIVE.name)?,
        whole_word: false,
    };
    let is_list = output != SearchOutput::Lines;
    let limit = given.count(MATCHES.name, 1, if is_list { SEARCH_FILES } else { max })?;
    let skip = given.count(SKIP.name, 0, MAX_COUNT)?.unwrap_or(0);
    let sizes = given.flag(SIZES.name)?;
    let for_lists = [(skip > 0, SKIP.name), (sizes, SIZES.name)];
    if let Some((_, field)) = for_lists.iter().find(|(is_given, _)| *is_given && !is_list) {
        let message =
            format!("the field {field} is for lists of files: narrow pattern, paths or globs");
        return Err(malformed(message));
    }
    Ok(SearchQuery {
        symbol,
        paths: paths.into_iter().map(Into::into).collect(),
        globs,
        context: Context { before: context, after: context },
        max_matches: limit.unwrap_or(max),
        max_files: if is_list { limit.unwrap_or(MAX_MATCHES) } else { SEARCH_FILES },
        output,
        sizes,
        skip,
        enclosing: given.flag(ENCLOSING.name)?,
        hidden: given.flag(HIDDEN.name)?,
        encoding: encoding(given)?,
        ..SearchQuery::new(pattern)
    })
}

fn both(one: &str, other: &str) -> CallError {
    malformed(format!("the fields {one} and {other} are both given: use one of them"))
}

/// The pattern and what to show. Without a pattern, files are listed if the call says which, or that
/// it wants files.
fn pattern_and_output(
    given: &Arguments<'_>,
    symbol: Option<&str>,
    is_limited: bool,
) -> Result<(String, SearchOutput), CallError> {
    let output = match given.optional_text(OUTPUT.name)?.as_deref() {
        None | Some("") => None,
        Some("lines" | "content") => Some(SearchOutput::Lines),
        Some("files" | "files_with_matches") => Some(SearchOutput::Files),
        Some("count") => Some(SearchOutput::Count),
        Some(other) => {
            return Err(wrong(
                OUTPUT.name,
                &Value::String(other.to_owned()),
                "lines, files or count",
            ));
        }
    };
    let pattern = given.optional_text(PATTERN.name)?.filter(|pattern| !pattern.is_empty());
    match pattern {
        // Some models fill in every field.
        pattern if symbol.is_some() => match pattern.as_deref() {
            pattern if pattern.is_none() || pattern == symbol => {
                Ok((String::new(), output.unwrap_or_default()))
            }
            _ => Err(both(SYMBOL.name, PATTERN.name)),
        },
        Some(pattern) => Ok((pattern, output.unwrap_or_default())),
        None if is_limited || output == Some(SearchOutput::Files) => {
            Ok((String::new(), SearchOutput::List))
        }
        None => {
            let what = "what to search for, or globs or paths whose files to list";
            given.text(PATTERN.name, what).map(|pattern| (pattern, SearchOutput::Lines))
        }
    }
}

fn answer(names: &Names, query: &SearchQuery, found: &SearchResult) -> Answer {
    let is_error = !found.has_results() && found.files_searched == 0 && !found.errors.is_empty();
    let mut rows = Vec::new();
    let has_pattern = query.output != SearchOutput::List;
    if has_pattern && !is_error && !found.has_results() {
        rows.push(no_match(query, found));
    } else if !found.text.is_empty() {
        rows.extend(found.no_definition.then(|| no_match(query, found)));
        rows.push(found.text.clone());
    }
    let count = found.list_note().filter(|_| !is_error && (!has_pattern || found.has_results()));
    match &found.list {
        Some(list) => rows.extend(count.as_ref().map(|count| list_end(count, list))),
        None => rows.extend(found.truncated.then(|| next_step(names, found))),
    }
    let literal = format!("set {} to true", LITERAL.name);
    let regex = format!("omit {}", LITERAL.name);
    rows.extend(found.explanation_note(&literal, &regex).map(|note| format!("({note})")));
    rows.extend(found.encodings_note().map(|note| format!("({note})")));
    rows.extend(found.unmatched_globs_note().map(|note| format!("({note})")));
    rows.extend(found.skipped_note().filter(|_| !is_error).map(|note| format!("({note})")));
    let errors = found.errors.iter().filter(|error| is_error || !is_counted(query, error));
    rows.extend(errors.map(|error| format!("{}: {}", error.code.as_str(), error.message)));
    rows.extend(found.warnings.iter().map(|warning| warning.message.clone()));
    let mut structured = without_text(found);
    let code = found.errors.first().filter(|_| is_error).map(|error| error.code.as_str());
    if let Some(code) = code {
        structured["code"] = code.into();
    }
    let matches = plural(found.match_count, "match", "matches");
    let files = plural(found.files.len() as u64, "file", "files");
    let summary = found.list_note().unwrap_or_else(|| format!("{matches} in {files}"));
    Answer {
        text: rows.join("\n"),
        is_error,
        codes: found.errors.iter().map(|error| error.code).collect(),
        summary: code.map_or(summary, str::to_owned),
        structured,
        ..Answer::default()
    }
}

/// Whether a file was skipped because of its size: the note about what was skipped counts these.
fn is_counted(query: &SearchQuery, error: &Error) -> bool {
    let is_named = error.path.as_ref().is_some_and(|path| query.paths.contains(&path.into()));
    error.code == Code::FileTooLarge && !is_named
}

fn no_match(query: &SearchQuery, found: &SearchResult) -> String {
    let files = plural(found.files_searched, "file", "files");
    match &query.symbol {
        Some(name) => {
            let name = Json::from(name.as_str());
            let lines = if found.no_definition { ", but lines that contain it:" } else { "" };
            format!("(no definition of {name} in {files}{lines})")
        }
        None => format!("(no match for {} in {files})", Json::from(query.search.search.as_str())),
    }
}

/// The last row of a list: how many files there are, and how to see the others.
fn list_end(count: &str, list: &FoundFiles) -> String {
    match list.next {
        Some(next) => format!("({count}. Continue with {} {next}.)", SKIP.name),
        None => format!("({count})"),
    }
}

/// How a model can see the matches that a limit cut off.
fn next_step(names: &Names, found: &SearchResult) -> String {
    let shown = plural(found.match_count, "match is", "matches are");
    let last = found.files.last().and_then(|file| Some((file, file.match_lines.last()?)));
    let last = last.filter(|(file, line)| **line < file.line_count);
    let rest = match last {
        Some((file, line)) => {
            format!(", or go on with {} {} from line {}", names.read, file.path, line + 1)
        }
        None => String::new(),
    };
    format!("({shown} shown, and there are more. Narrow pattern, paths or globs{rest}.)")
}

fn title(given: &PartialArguments) -> String {
    let list = |field| match given.strings(field) {
        none if none.is_empty() => given.scalar(field).into_iter().collect(),
        list => list,
    };
    let (pattern, globs, paths) =
        (given.scalar(&SYMBOL).or_else(|| given.scalar(&PATTERN)), list(&GLOBS), list(&PATHS));
    let what = match pattern.filter(|pattern| !pattern.is_empty()) {
        Some(pattern) => Json::from(pattern).to_string(),
        None => globs.join(", "),
    };
    match (what.is_empty(), paths.is_empty()) {
        (_, true) => what,
        (true, false) => paths.join(", "),
        (false, false) => format!("{what} in {}", paths.join(", ")),
    }
}
