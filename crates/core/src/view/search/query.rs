//! A query as data (`serde`).

use std::path::PathBuf;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::{SearchOutput, SearchQuery};
use crate::view::excerpt::Context;
use crate::view::pattern::Query;
use hashline_base::shape::{OneOrMany, size};

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct QueryShape {
    search: Option<String>,
    symbol: Option<String>,
    output: Option<SearchOutput>,
    sizes: Option<bool>,
    max_files: Option<u64>,
    skip: Option<u64>,
    paths: Option<OneOrMany<PathBuf>>,
    regex: Option<bool>,
    case_sensitive: Option<bool>,
    context_before: Option<u64>,
    context_after: Option<u64>,
    globs: Option<OneOrMany>,
    max_matches: Option<u64>,
    max_matches_per_file: Option<u64>,
    max_bytes: Option<u64>,
    max_line_chars: Option<u64>,
    enclosing: Option<bool>,
    hidden: Option<bool>,
    gitignore: Option<bool>,
    ignore_files: Option<bool>,
    parent_ignore_files: Option<bool>,
    follow_links: Option<bool>,
    max_depth: Option<u64>,
    encoding: Option<String>,
}

impl<'de> Deserialize<'de> for SearchQuery {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let given = QueryShape::deserialize(deserializer)?;
        let QueryShape { search, symbol, paths, globs, .. } = &given;
        // A text that is undefined by mistake must not list all files.
        match search.is_none() && symbol.is_none() && paths.is_none() && globs.is_none() {
            true => Err(D::Error::custom(
                "nothing to search for: set search or symbol, or globs or paths to list files",
            )),
            false => Ok(given.into()),
        }
    }
}

impl From<QueryShape> for SearchQuery {
    fn from(given: QueryShape) -> SearchQuery {
        let output = match (&given.search, &given.symbol) {
            (None, None) => SearchOutput::List,
            _ => given.output.unwrap_or_default(),
        };
        let defaults = SearchQuery::new(Query {
            search: given.search.unwrap_or_default(),
            regex: given.regex.unwrap_or_default(),
            case_sensitive: given.case_sensitive.unwrap_or_default(),
        });
        SearchQuery {
            symbol: given.symbol,
            output,
            sizes: given.sizes.unwrap_or_default(),
            max_files: given.max_files.unwrap_or(defaults.max_files),
            skip: given.skip.unwrap_or_default(),
            paths: given.paths.unwrap_or_default().0,
            context: Context {
                before: given.context_before.unwrap_or_default(),
                after: given.context_after.unwrap_or_default(),
            },
            globs: given.globs.unwrap_or_default().0,
            max_matches: given.max_matches.unwrap_or(defaults.max_matches),
            max_matches_per_file: given.max_matches_per_file,
            max_bytes: given.max_bytes.map(size),
            max_line_chars: given.max_line_chars,
            enclosing: given.enclosing.unwrap_or_default(),
            hidden: given.hidden.unwrap_or(defaults.hidden),
            gitignore: given.gitignore.unwrap_or(defaults.gitignore),
            ignore_files: given.ignore_files.unwrap_or(defaults.ignore_files),
            parent_ignore_files: given.parent_ignore_files.unwrap_or(defaults.parent_ignore_files),
            follow_links: given.follow_links.unwrap_or(defaults.follow_links),
            max_depth: given.max_depth.map(size),
            encoding: given.encoding,
            ..defaults
        }
    }
}
