//! Searches for definitions by name.

use std::ops::Range;

use super::{
    FileMatches, FileOutcome, Hits, READABLE_CHARS, RemainingLimits, Search, SearchQuery,
    SearchResult, guessed_encoding,
};
use crate::view::excerpt::{Context, Excerpt};
use crate::view::fold::FOLD_LINES;
use crate::view::pattern::Query;
use crate::view::read::{count_lines_while, into_string};
use crate::view::symbols::{SymbolPlace, places_in};
use hashline_base::error::Result;
use hashline_disk::bytes::{Document, snapshot};
use hashline_lines::rows::header_of_rows;
use hashline_syntax::{SYMBOLS_LIMIT_BYTES, SymbolName, language_of};

/// How many lines of definitions are shown whole, for all files together: as many as a folded view
/// has.
pub(super) const WHOLE_LINES: u64 = FOLD_LINES;

/// How many lines that contain a name without a definition are shown, in total and for each file.
const USES: u64 = 10;
const USES_PER_FILE: u64 = 3;

/// The limit on the size of these lines.
const USES_BYTES: usize = 4 << 10;

impl SearchQuery {
    /// The query for the lines that contain the name of the symbol as a word.
    pub(crate) fn for_uses(&self) -> Option<SearchQuery> {
        let name = SymbolName::parse(self.symbol.as_deref()?)?;
        let name = Query::text(name.last());
        let per_file = self.max_matches_per_file.unwrap_or(USES_PER_FILE);
        Some(SearchQuery {
            search: Query { case_sensitive: true, whole_word: true, ..name },
            symbol: None,
            max_matches: self.max_matches.min(USES),
            max_matches_per_file: Some(per_file.min(USES_PER_FILE)),
            max_bytes: Some(self.max_bytes.unwrap_or(USES_BYTES).min(USES_BYTES)),
            max_line_chars: Some(self.max_line_chars.unwrap_or(u64::MAX).min(READABLE_CHARS)),
            ..self.clone()
        })
    }
}

impl SearchResult {
    /// Adds the lines with a name that nothing defines.
    pub(crate) fn add_uses(&mut self, uses: SearchResult) {
        self.no_definition = uses.match_count > 0;
        (self.text, self.files) = (uses.text, uses.files);
        (self.match_count, self.truncated) = (uses.match_count, uses.truncated);
    }
}

/// The definitions in a text, which is not parsed again if it is shown within other limits.
pub(super) struct KnownPlaces {
    snapshot: String,
    places: Vec<SymbolPlace>,
}

impl KnownPlaces {
    fn is_of(&self, text: &[u8]) -> bool {
        self.snapshot == snapshot(text)
    }
}

impl<W: Send + Sync, F: Fn(&Document) -> W + Sync> Search<'_, F> {
    pub(super) fn find_definitions(
        &self,
        document: &Document,
        path: &str,
        (name, known): (&SymbolName, Option<&KnownPlaces>),
        room: RemainingLimits,
    ) -> Result<FileOutcome<W>> {
        let text = document.text();
        document.mark_scanned(text.len());
        if let Some(known) = known.filter(|known| known.is_of(text)) {
            return self.show_definitions(document, path, known.places.clone(), room);
        }
        let may_have_it = match language_of(path, text) {
            // Longer texts are not parsed.
            Some(language) if text.len() <= SYMBOLS_LIMIT_BYTES => {
                name.may_be_defined_in(text, language)
            }
            _ => name.is_in(text),
        };
        if !may_have_it {
            return Ok(FileOutcome::NoMatch);
        }
        let found = places_in(path, text, name, self.scope.budget);
        self.scope.cancel.check()?;
        let Some(mut places) = found else { return Ok(FileOutcome::UnknownStructure) };
        places.retain(|place| !place.is_secondary);
        if places.is_empty() {
            return Ok(FileOutcome::NoMatch);
        }
        self.show_definitions(document, path, places, room)
    }

    fn show_definitions(
        &self,
        document: &Document,
        path: &str,
        mut places: Vec<SymbolPlace>,
        room: RemainingLimits,
    ) -> Result<FileOutcome<W>> {
        let (text, match_count) = (document.text(), places.len() as u64);
        let limit = room.matches.min(self.query.max_matches_per_file.unwrap_or(u64::MAX));
        let known = KnownPlaces { snapshot: snapshot(text), places: places.clone() };
        places.truncate(limit.try_into().unwrap_or(usize::MAX));
        let mut excerpt = Excerpt::new(text, Context::default(), self.page(path, room), 1, 0);
        let (mut whole_lines, mut shown) = (0, 0);
        for place in &places {
            let count = place.end_line + 1 - place.start_line;
            let is_whole = whole_lines + count <= room.whole_lines;
            let fits = match is_whole {
                true => place.push_to(&mut excerpt, text, place.end_line),
                false => push_first_line(&mut excerpt, text, place),
            };
            if !fits {
                break;
            }
            whole_lines += if is_whole { count } else { 0 };
            shown += 1;
        }
        let mut page = excerpt.finish();
        let is_full = page.next_line().is_some() || page.is_cut();
        // A definition of which some lines fitted is shown, too.
        let last = page.last_line();
        places.retain(|place| place.own_line <= last);
        let match_lines: Vec<u64> = places.iter().map(|place| place.own_line).collect();
        let (rows, is_cut) = (page.take_rows(), page.is_cut());
        Ok(FileOutcome::Hits(Box::new(Hits {
            is_cut,
            ran_out: is_full || (shown < match_count && shown == room.matches),
            text: into_string(self.scope, path, page.into_text())?.0,
            header: header_of_rows(self.scope.dialect, path, text, self.scope.cancel)?,
            whole_lines,
            known: Some(known),
            matches: FileMatches {
                path: path.to_owned(),
                match_lines,
                match_count,
                line_count: count_lines_while(text, self.scope.cancel, &|_| {})?,
                truncated: is_full || shown < match_count,
                symbols: places,
                encoding: guessed_encoding(document),
                rows,
            },
            witnessed: (self.witness)(document),
        })))
    }
}

/// Shows the line where a definition starts, and a row for the lines below it.
fn push_first_line(excerpt: &mut Excerpt<'_>, text: &[u8], place: &SymbolPlace) -> bool {
    let rest: Range<u64> = place.own_line + 1..place.end_line + 1;
    let own = SymbolPlace { start_line: place.own_line, ..place.clone() };
    own.push_to(excerpt, text, place.own_line) && (rest.is_empty() || excerpt.push_fold(rest))
}
