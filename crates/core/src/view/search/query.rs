//! A query as data (`serde`), and which options exclude each other.

use std::path::PathBuf;

use serde::de::Error;
use serde::{Deserialize, Deserializer};

use super::{SEARCH_FILES, SearchOutput, SearchQuery};
use crate::view::excerpt::Context;
use crate::view::pattern::Query;
use crate::view::symbols::parse_symbol;
use hashline_base::error::{Message, Result as CoreResult, Term};
use hashline_base::shape::{OneOrMany, size};

impl SearchQuery {
    /// Refuses options that would be ignored.
    pub(super) fn check(&self) -> CoreResult<()> {
        let refuse = |message| Err(hashline_base::error::Error::argument(message));
        if let Some(name) = &self.symbol {
            if let Some(option) = self.option_besides_symbol() {
                return refuse(
                    Message::from("symbol and ")
                        + option
                        + " are both given: definitions are found by their names, and shown whole if there is room",
                );
            }
            parse_symbol(name)?;
        }
        if self.max_files == 0 {
            return refuse(Message::from(Term::MaxFiles) + " is 0: a list shows at least one file");
        }
        match self.option_of_lists().filter(|_| self.output == SearchOutput::Lines) {
            Some(option) => refuse(option + " is for lists of files, and this search shows lines"),
            None => Ok(()),
        }
    }

    fn option_besides_symbol(&self) -> Option<Message> {
        let given = [
            (!self.search.search.is_empty(), "search".into()),
            (self.search.regex, "regex".into()),
            (self.search.case_sensitive, Term::CaseSensitive.into()),
            (self.context != Context::default(), "context".into()),
            (self.enclosing, "enclosing".into()),
            (self.output != SearchOutput::Lines, "output".into()),
        ];
        given.into_iter().find_map(|(is_given, option)| is_given.then_some(option))
    }

    fn option_of_lists(&self) -> Option<Message> {
        let given = [
            (self.skip > 0, "skip".into()),
            (self.sizes, "sizes".into()),
            (self.max_files != SEARCH_FILES, Term::MaxFiles.into()),
        ];
        given.into_iter().find_map(|(is_given, option)| is_given.then_some(option))
    }
}

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
            ..Query::default()
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
