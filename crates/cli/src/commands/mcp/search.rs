//! The tool that searches files.

use hashline_core::{Context, Dialect, Query, ReadTurn, SearchQuery, SearchResult};
use serde_json::{Value as Json, json};

use super::arguments::{Arguments, Trouble, plain_path};
use super::tool::{Answer, Call, Definition, MAX_LINES, Work, plural, without_text};

pub const SEARCH: Definition = Definition {
    name: "search",
    title: "Search",
    description,
    input_schema,
    other_names: &[
        ("query", "pattern"),
        ("search", "pattern"),
        ("file_path", "paths"),
        ("path", "paths"),
        ("include", "globs"),
        ("glob", "globs"),
        ("limit", "max_matches"),
        ("maxMatches", "max_matches"),
    ],
    work: Work::Reads(search),
};

const MAX_CONTEXT_LINES: u64 = 20;
const MAX_MATCHES: u64 = 200;

fn description(dialect: &Dialect) -> String {
    let (separator, mark) = (dialect.separator as char, dialect.text_mark as char);
    format!(
        "Searches files and directories for lines that match a regular expression; ignored and binary files are passed over. \
         Every line shown has its anchor, NUMBER{separator}HASH{mark}TEXT, so apply can edit it without a read first."
    )
}

fn input_schema() -> Json {
    json!({
        "type": "object",
        "properties": {
            "pattern": {
                "type": "string",
                "description": "A regular expression, matched within one line",
            },
            "literal": {"type": "boolean", "description": "Take the pattern as plain text"},
            "case_sensitive": {
                "type": "boolean",
                "description": "By default letters match either case",
            },
            "paths": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Files and directories; the working directory when left out",
            },
            "globs": {
                "type": "array",
                "items": {"type": "string"},
                "description": "Only files that match, like *.ts; ! in front excludes",
            },
            "context": {
                "type": "integer",
                "description": "Lines to show above and below each match",
            },
            "max_matches": {
                "type": "integer",
                "description": "The most matches to show, 200 at most",
            },
            "hidden": {"type": "boolean", "description": "Search hidden files, too"},
        },
        "required": ["pattern"],
    })
}

fn search(call: &Call, turn: &ReadTurn, mut given: Arguments<'_>) -> Result<Answer, Trouble> {
    let query = query(call, &mut given)?;
    let progress = |done, total| call.progress.tell(done, total);
    let found = call.session.search_telling(turn, &query, &call.cancel, &progress)?;
    Ok(answer(&query, &found))
}

fn query(call: &Call, given: &mut Arguments<'_>) -> Result<SearchQuery, Trouble> {
    let context = given.count("context", 0, MAX_CONTEXT_LINES)?.unwrap_or(0);
    // Each match may stand in a file of its own, with a header.
    let lines_of_match = 2 * context + if context > 0 { 3 } else { 2 };
    let max = MAX_MATCHES.min(MAX_LINES as u64 / lines_of_match);
    let mut paths = given.texts("paths")?;
    for (at, path) in paths.iter_mut().enumerate() {
        let field = format!("paths[{at}]");
        *path = plain_path(&call.base, std::mem::take(path), &field, given.repairs)?;
    }
    let pattern = Query {
        search: given.text("pattern", "what to search for")?,
        regex: !given.flag("literal")?,
        case_sensitive: given.flag("case_sensitive")?,
    };
    Ok(SearchQuery {
        paths,
        globs: given.texts("globs")?,
        context: Context { before: context, after: context },
        max_matches: given.count("max_matches", 1, max)?.unwrap_or(max),
        hidden: given.flag("hidden")?,
        ..SearchQuery::new(pattern)
    })
}

fn answer(query: &SearchQuery, found: &SearchResult) -> Answer {
    let is_error = found.match_count == 0 && found.files_searched == 0 && !found.errors.is_empty();
    let mut rows = Vec::new();
    if !is_error {
        rows.push(match found.text.as_str() {
            "" => nothing(query, found),
            text => text.to_owned(),
        });
    }
    rows.extend(found.truncated.then(|| go_on(found)));
    rows.extend(
        found.errors.iter().map(|error| format!("{}: {}", error.code.as_str(), error.message)),
    );
    rows.extend(found.warnings.iter().map(|warning| warning.message.clone()));
    let mut structured = without_text(found);
    if let Some(error) = found.errors.first().filter(|_| is_error) {
        structured["code"] = error.code.as_str().into();
    }
    Answer { text: rows.join("\n"), is_error, structured, ..Answer::default() }
}

fn nothing(query: &SearchQuery, found: &SearchResult) -> String {
    let pattern = Json::from(query.search.search.as_str());
    format!("(no match for {pattern} in {})", plural(found.files_searched, "file", "files"))
}

/// What a model can do about a search that a limit cut.
fn go_on(found: &SearchResult) -> String {
    let shown = plural(found.match_count, "match is", "matches are");
    let last = found.files.last().and_then(|file| Some((&file.path, file.match_lines.last()?)));
    let rest = match last {
        Some((path, line)) => format!(", or go on with read {path} from line {}", line + 1),
        None => String::new(),
    };
    format!("({shown} shown, and there are more. Narrow pattern, paths or globs{rest}.)")
}
