//! Definitions by name: `Class.method`, `module::Type::function`, the title of a section.

use crate::budget::{Budget, Meter};
use crate::items::items_at;
use crate::language::Language;
use crate::lookup::Wide;
use crate::parse::SYMBOLS_LIMIT_BYTES;
use crate::source::Source;
use crate::structure::{Definition, Symbol};

/// What separates the parts of a name, in any language.
const SEPARATORS: [&str; 4] = ["::", "->", ".", "#"];

/// How many definitions around one are compared, from the innermost.
const PATH_LIMIT: usize = 64;

/// The name of a definition, which the names of some definitions around it can precede, as in
/// `Class.method`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolName {
    text: String,
    parts: Vec<String>,
}

impl SymbolName {
    /// Reads a name; `None` if it has no part, as `""` and `"."`.
    pub fn parse(text: &str) -> Option<SymbolName> {
        let text = text.trim().trim_end_matches("()");
        let parts = parts_of_receiver(text).unwrap_or_else(|| parts(text));
        (!parts.is_empty()).then(|| SymbolName { text: text.to_owned(), parts })
    }

    /// The whole name.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The last part, which the text of a definition contains.
    pub fn last(&self) -> &str {
        let last = self.parts.last().map_or("", String::as_str);
        method(last).map_or(last, |(_, name)| name)
    }

    /// Whether its last two parts are equal: `Box::Box`.
    fn is_of_constructor(&self) -> bool {
        ends_with_equal(&self.parts)
    }

    /// Whether it names a definition within others: it has the same last part, and its other parts
    /// are among theirs, in the same order.
    fn matches(&self, around: &[&Definition], definition: &Definition) -> bool {
        let is_quoted = || definition.name.contains(['"', '\'']);
        if definition.name == self.text
            || (is_quoted() && parts_of(definition).join(".") == self.parts.join("."))
            // The titles of sections can have dots.
            || (self.text.ends_with(&definition.name) && joined(around, definition) == self.text)
        {
            return true;
        }
        let Some((last, before)) = self.parts.split_last() else { return false };
        let mut path = parts_of(definition);
        let name = path.pop().unwrap_or_default();
        let outer = match method(last) {
            _ if name == *last => None,
            Some((outer, method)) if name == method => Some(outer),
            _ => return false,
        };
        let around = around.iter().flat_map(|outer| parts_of(outer));
        let mut path = around.chain(path);
        let mut before = before.iter().map(String::as_str).chain(outer);
        before.all(|part| path.any(|of_path| of_path == part))
    }
}

impl Source {
    /// The definitions with a name in a text that are not secondary, as [`Source::symbols`]; `None`
    /// also if the text cannot be parsed. Only items that may have one are parsed, if possible.
    pub fn symbols_in(
        language: &'static Language,
        text: &[u8],
        name: &SymbolName,
        budget: &Budget<'_>,
    ) -> Option<Vec<Symbol>> {
        if text.len() > SYMBOLS_LIMIT_BYTES {
            return None;
        }
        let found = match found_in_items(language, text, name, budget) {
            Some(found) => found,
            None => Source::parse_for_symbols(language, text, budget)?.found(name, budget)?,
        };
        let found = found.into_iter().filter(|found| !found.symbol.is_secondary);
        Some(best(found.collect()))
    }

    /// The definitions with a name, sorted by their first lines; `None` if the search exceeds the
    /// budget. Tests, members and prototypes count only if nothing else has the name, and so do
    /// secondary definitions.
    pub fn symbols(&self, name: &SymbolName, budget: &Budget<'_>) -> Option<Vec<Symbol>> {
        self.found(name, budget).map(best)
    }

    fn found(&self, name: &SymbolName, budget: &Budget<'_>) -> Option<Vec<Found>> {
        let definitions = self.definitions_with(name.last(), budget)?;
        let meter = &budget.meter();
        let mut found: Vec<Found> = Vec::new();
        let mut around: Vec<&Definition> = Vec::new();
        for definition in &definitions {
            let depth = around.len().min(definition.depth as usize);
            let inner = &around[depth.saturating_sub(PATH_LIMIT)..depth];
            if name.matches(inner, definition) {
                let mut symbol = self.symbol(definition, joined(inner, definition), meter);
                symbol.is_secondary |= is_constructor(definition) && !name.is_of_constructor();
                let rank = (definition.is_test, definition.is_minor);
                let is_section = !self.headings.is_empty();
                found.push(Found { symbol, rank, is_section });
            }
            if !definition.is_alias {
                around.truncate(depth);
                around.push(definition);
            }
        }
        (!meter.is_spent()).then_some(found)
    }

    /// The whole lines of a definition, with the comments and attributes above it.
    fn symbol(&self, definition: &Definition, path: String, meter: &Meter<'_>) -> Symbol {
        let &Definition { first: start, last, ref bytes, .. } = definition;
        let block = self.find_block(start, meter, &Wide::default()).ok();
        let block = block.filter(|block| block.start == start && block.last >= last);
        let (first, last) = match block {
            Some(block) => (block.first, block.last),
            None => (self.first_line_above(start, meter).unwrap_or(start), last),
        };
        let (is_secondary, bytes) = (definition.is_secondary, bytes.clone());
        Symbol { path, is_secondary, first, start, last, bytes }
    }
}

/// A definition with the name.
struct Found {
    symbol: Symbol,
    /// Whether it is a test, and whether it is minor.
    rank: (bool, bool),
    /// Whether it is a section, which the next one does not continue.
    is_section: bool,
}

/// The definitions in the items of a text that may have one; `None` if it cannot be divided, or an
/// item has an error: it may be cut in the wrong place.
fn found_in_items(
    language: &'static Language,
    text: &[u8],
    name: &SymbolName,
    budget: &Budget<'_>,
) -> Option<Vec<Found>> {
    if !language.kinds.has_items {
        return None;
    }
    let places: Vec<usize> = name.possible_definitions(text, language).collect();
    let mut found = Vec::new();
    for item in items_at(text, &places)? {
        let above = item.bytes.start;
        let source = Source::parse_for_symbols(language, &text[item.bytes], budget)?;
        if !source.is_clean() {
            return None;
        }
        for mut one in source.found(name, budget)? {
            let Symbol { first, start, last, bytes, .. } = &mut one.symbol;
            [first, start, last].into_iter().for_each(|line| *line += item.lines_above);
            *bytes = bytes.start + above..bytes.end + above;
            found.push(one);
        }
    }
    Some(found)
}

/// The definitions that are preferred to the others.
fn best(mut found: Vec<Found>) -> Vec<Symbol> {
    let rank = |one: &Found| (one.symbol.is_secondary, one.rank);
    let best = found.iter().map(rank).min();
    found.retain(|one| Some(rank(one)) == best);
    let mut symbols: Vec<Symbol> = Vec::new();
    for Found { symbol, is_section, .. } in found {
        match symbols.last_mut() {
            // Overloads, and the constructor of a class with the same name.
            Some(above)
                if symbol.first <= above.last || !is_section && above.is_continued_by(&symbol) =>
            {
                above.last = above.last.max(symbol.last);
            }
            _ => symbols.push(symbol),
        }
    }
    symbols
}

impl Symbol {
    fn is_continued_by(&self, next: &Symbol) -> bool {
        next.path == self.path && next.first == self.last + 1
    }
}

fn joined(path: &[&Definition], definition: &Definition) -> String {
    let names = path.iter().copied().chain([definition]).flat_map(|one| {
        let mut names = parts(&one.name);
        // `impl From<T> for Pool` is `Pool`.
        if !one.is_secondary {
            names.splice(0..0, receiver(&one.qualifier));
        }
        names
    });
    names.collect::<Vec<_>>().join(".")
}

/// The type in `(s *Stack[T])`, the table in Lua's `app.stack:`.
fn receiver(qualifier: &str) -> Vec<String> {
    match qualifier.strip_suffix(':') {
        Some(table) => words(table),
        None => {
            qualifier.split('[').next().and_then(|kind| words(kind).pop()).into_iter().collect()
        }
    }
}

/// The parts of a method as Go prints and declares it: `(*Stack).Push`, `(s *Stack) Push`,
/// `*Stack.Push`.
fn parts_of_receiver(text: &str) -> Option<Vec<String>> {
    if let Some(name) = text.strip_prefix('*') {
        return Some(parts(name));
    }
    let (qualifier, name) = text.strip_prefix('(')?.split_once(')')?;
    let mut all = receiver(qualifier);
    all.extend(parts(name.trim_start_matches(['.', ' '])));
    (all.len() > 1).then_some(all)
}

/// The table and the name in `table:method`.
fn method(part: &str) -> Option<(&str, &str)> {
    let is_word = |text: &str| !words(text).is_empty() && !text.contains(char::is_whitespace);
    part.rsplit_once(':').filter(|(table, name)| is_word(table) && is_word(name))
}

/// Whether a definition is the body of a constructor outside of its class: `Box::Box() {}`.
fn is_constructor(definition: &Definition) -> bool {
    definition.name.contains("::") && ends_with_equal(&parts(&definition.name))
}

fn ends_with_equal(parts: &[String]) -> bool {
    matches!(parts, [.., class, name] if class == name)
}

fn words(text: &str) -> Vec<String> {
    let is_part = |char: char| char.is_alphanumeric() || char == '_';
    let words = text.split(|char| !is_part(char)).filter(|word| !word.is_empty());
    words.map(str::to_owned).collect()
}

/// The parts of a definition's own name, after those of its qualifier.
fn parts_of(definition: &Definition) -> Vec<String> {
    words(&definition.qualifier).into_iter().chain(parts(&definition.name)).collect()
}

/// The parts of a name. A title is one part, however many dots it has.
fn parts(name: &str) -> Vec<String> {
    // `impl Trait for &'a mut Type`.
    let name = match name.starts_with('&') {
        true => name.rsplit(char::is_whitespace).next().unwrap_or(name),
        false => name,
    };
    let (mut parts, mut rest) = (Vec::new(), name.trim_matches(['[', ']', '&', ' ']));
    if is_title(rest) {
        return vec![name.to_owned()];
    }
    while !rest.is_empty() {
        if let Some((part, after)) = quoted_part(rest) {
            parts.push(part.to_owned());
            rest = after;
            continue;
        }
        let ends = SEPARATORS.iter().filter_map(|by| Some((rest.find(by)?, by.len())));
        let (end, separator) = ends.min().unwrap_or((rest.len(), 0));
        let part = &rest[..end];
        // Type parameters are not part of the name.
        let part = part.find('<').filter(|&at| at > 0).map_or(part, |at| &part[..at]);
        if !part.is_empty() {
            parts.push(part.to_owned());
        }
        rest = &rest[end + separator..];
    }
    parts
}

/// The first part of a name in quotes, as the keys of TOML have, and what follows its separator.
fn quoted_part(name: &str) -> Option<(&str, &str)> {
    let quote = name.chars().next().filter(|first| matches!(first, '"' | '\''))?;
    let (part, after) = name[1..].split_once(quote)?;
    let rest = match after {
        "" => "",
        after => SEPARATORS.iter().find_map(|by| after.strip_prefix(by))?,
    };
    (!part.is_empty()).then_some((part, rest))
}

/// Whether a name has whitespace outside of parts in quotes.
fn is_title(name: &str) -> bool {
    let mut rest = name;
    while !rest.is_empty() {
        if let Some((_, after)) = quoted_part(rest) {
            rest = after;
            continue;
        }
        let end = SEPARATORS.iter().filter_map(|by| Some(rest.find(by)? + by.len())).min();
        let (part, after) = rest.split_at(end.unwrap_or(rest.len()));
        if part.contains(char::is_whitespace) {
            return true;
        }
        rest = after;
    }
    false
}
