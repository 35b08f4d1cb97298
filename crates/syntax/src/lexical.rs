//! The structure of a text by its brackets, words and tags, for languages without a grammar: one
//! row of [`table`] for each. What a text means is not known, so a block is refused unless brackets
//! and indentation agree, and edits are judged by what they change.

mod blocks;
mod conditions;
mod header;
mod outline;
mod parts;
mod scan;
pub(crate) mod table;
mod tags;
mod token;
mod view;
mod words;

use std::collections::{HashMap, HashSet};
use std::fmt;

use memchr::memmem;

use crate::budget::Meter;
use crate::pairs::{self, Closer, FAULTS_LIMIT, Found, Pairs, Wrong, Wrongs, closing_bracket};
use crate::source::Source;
use crate::structure::Fault;
use conditions::{Condition, Conditions, Counted, Skipped, directive, is_never};
pub(crate) use header::is_cpp;
use scan::Scanned;
use table::{Ends, Extra, Lexicon, Tags};
use token::{Kind, NONE, Region, Token};

/// The tokens of a text, the regions between those that match, and what is wrong.
pub(crate) struct Lexical {
    lexicon: &'static Lexicon,
    tokens: Box<[Token]>,
    regions: Box<[Region]>,
    /// Texts that do not end, then pairs; each in the order of the text.
    faults: Box<[Found]>,
    /// Where a text or comment begins whose end is not known.
    torn: Option<usize>,
    /// What can be valid, so that only an edit that brings it is reported.
    doubts: Box<[Found]>,
}

impl fmt::Debug for Lexical {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Lexical").field("faults", &self.faults).finish_non_exhaustive()
    }
}

impl Lexical {
    /// The structure of a text; incomplete if the budget is spent.
    pub fn of(source: &Source, lexicon: &'static Lexicon, meter: &Meter<'_>) -> Lexical {
        let text = &source.text[..];
        let Scanned { mut tokens, unterminated, surplus, torn } = match lexicon.ends {
            Ends::Tags(kind) => tags::scan(text, kind, meter),
            _ => scan::scan(text, lexicon, meter),
        };
        let missing = words::classify(text, lexicon, &mut tokens);
        // HTML ignores the case of names.
        let lower = (lexicon.ends == Ends::Tags(Tags::Html)).then(|| text.to_ascii_lowercase());
        let names = lower.as_deref().unwrap_or(text);
        let mut best =
            Matcher::new(source, names, lexicon, &tokens, torn, Counted::First).run(meter);
        if !best.faults.is_empty() && best.has_alternatives {
            let other =
                Matcher::new(source, names, lexicon, &tokens, torn, Counted::Last).run(meter);
            if other.faults.len() < best.faults.len() {
                best = other;
            }
        }
        let mut faults = faults_of_scan(source, &unterminated, &surplus);
        faults.extend(best.faults);
        faults.extend(parts::missing_marks(source, &tokens, &missing, torn));
        for (token, region) in tokens.iter_mut().zip(best.regions_of_tokens) {
            token.region = region;
        }
        let (tokens, regions) = (tokens.into_boxed_slice(), best.regions.into_boxed_slice());
        let doubts = best.doubts.into_boxed_slice();
        let mut lexical = Lexical { lexicon, tokens, regions, faults: [].into(), doubts, torn };
        if torn.is_none() {
            faults.extend(lexical.missing_parts(source, meter));
        }
        faults.truncate(FAULTS_LIMIT);
        lexical.faults = faults.into_boxed_slice();
        lexical
    }

    /// The first thing that is wrong.
    pub fn first_fault(&self) -> Option<&Fault> {
        self.faults.first().map(|found| &found.fault)
    }

    pub fn size_bytes(&self) -> usize {
        let faults: usize = self.faults.iter().chain(&self.doubts).map(Found::text_bytes).sum();
        size_of_val(&*self.tokens)
            + size_of_val(&*self.regions)
            + size_of_val(&*self.faults)
            + size_of_val(&*self.doubts)
            + faults
    }

    /// The first fault of an edited text that the text before does not have.
    pub fn new_fault(&self, after: &Source, before: &Lexical, old: &Source) -> Option<Fault> {
        if self.faults.len() >= FAULTS_LIMIT || before.faults.len() >= FAULTS_LIMIT {
            return None;
        }
        let key = |source: &'_ Source, found: &Found| {
            let line = found.fault.opened.unwrap_or(found.fault.line) as usize - 1;
            (found.wrong.clone(), source.row(line).trim_ascii().to_vec())
        };
        let known: Vec<_> = before.faults.iter().map(|fault| key(old, fault)).collect();
        let found: Vec<_> = self.faults.iter().map(|fault| key(after, fault)).collect();
        // An edit near an old fault can change its description, so only more of a kind count.
        let mut more: HashMap<&Wrong, isize> = HashMap::new();
        found.iter().for_each(|(wrong, _)| *more.entry(wrong).or_default() += 1);
        known.iter().for_each(|(wrong, _)| *more.entry(wrong).or_default() -= 1);
        let more: Vec<usize> = (0..found.len()).filter(|&at| more[&found[at].0] > 0).collect();
        let known: HashSet<_> = known.iter().collect();
        let unknown = more.iter().find(|&&at| !known.contains(&found[at]));
        let fault = unknown.or(more.last()).map(|&at| self.faults[at].fault.clone());
        fault.or_else(|| self.new_doubt(before, old))
    }

    /// The first thing that may be wrong in an edited text, and was not so before: another branch of a
    /// condition with other brackets than the first one, or an end tag that is omitted for the first
    /// time.
    fn new_doubt(&self, before: &Lexical, old: &Source) -> Option<Fault> {
        let count = |of: &Lexical, wrong: &Wrong| {
            of.doubts.iter().filter(|doubt| doubt.wrong == *wrong).count()
        };
        let is_new = |doubt: &&Found| {
            let known = count(before, &doubt.wrong);
            match &doubt.wrong {
                Wrong::Omitted(tag) => {
                    known == 0
                        && memmem::find(&old.text.to_ascii_lowercase(), tag.as_bytes()).is_some()
                }
                _ => known < count(self, &doubt.wrong),
            }
        };
        self.doubts.iter().find(is_new).map(|doubt| doubt.fault.clone())
    }
}

/// The texts that do not end, and the brackets that close nothing in code that is one token.
fn faults_of_scan(source: &Source, unterminated: &[usize], surplus: &[usize]) -> Vec<Found> {
    let ends = unterminated.iter().map(|&at| Found {
        wrong: Wrong::Unterminated,
        fault: Fault {
            line: source.row_of(at) as u32 + 1,
            what: "the text or comment that begins here does not end".into(),
            opened: None,
        },
    });
    let surplus = surplus.iter().filter_map(|&at| {
        let bracket = Closer::Bracket(closing_bracket(source.text[at])?);
        Some(pairs::surplus(bracket, source.row_of(at)))
    });
    ends.chain(surplus).collect()
}

/// Matches the tokens of a text.
struct Matcher<'s> {
    source: &'s Source,
    /// The text with names that are equal if they match.
    names: &'s [u8],
    lexicon: &'static Lexicon,
    tokens: &'s [Token],
    pairs: Pairs<'s>,
    regions: Vec<Region>,
    skipped: Vec<Skipped>,
    /// What may be wrong.
    doubts: Vec<Found>,
    /// Where what follows is not known.
    torn: Option<usize>,
}

/// The result of matching.
struct Matched {
    regions: Vec<Region>,
    regions_of_tokens: Vec<u32>,
    faults: Vec<Found>,
    doubts: Vec<Found>,
    has_alternatives: bool,
}

impl<'s> Matcher<'s> {
    fn new(
        source: &'s Source,
        names: &'s [u8],
        lexicon: &'static Lexicon,
        tokens: &'s [Token],
        torn: Option<usize>,
        counted: Counted,
    ) -> Matcher<'s> {
        let has_conditions =
            lexicon.extras.iter().any(|one| matches!(one, Extra::Preprocessor | Extra::Directives));
        let Conditions { skipped, different } = if has_conditions {
            Conditions::of(source, tokens, counted)
        } else {
            Conditions::default()
        };
        // Growing it would take twice the memory.
        let opening = tokens.iter().filter(|token| token.kind == Kind::Open).count();
        let mut regions = Vec::with_capacity(opening + 1);
        regions.push(Region { open: NONE, close: NONE, parent: 0 });
        Matcher {
            source,
            names,
            lexicon,
            tokens,
            pairs: Pairs::new(source),
            regions,
            skipped,
            doubts: different,
            torn,
        }
    }

    fn run(mut self, meter: &Meter<'_>) -> Matched {
        let mut regions_of_tokens = Vec::with_capacity(self.tokens.len());
        let mut skipped = std::mem::take(&mut self.skipped).into_iter().peekable();
        let has_alternatives = skipped.peek().is_some();
        let mut end = None;
        // The number of faults before the part that is not known.
        let mut known = None;
        for (at, &token) in self.tokens.iter().enumerate() {
            if !meter.step() {
                break;
            }
            if self.torn.is_some_and(|torn| torn <= token.start()) {
                known.get_or_insert(self.pairs.faults.len());
            }
            if end == Some(at) {
                self.pairs.leave_alternative(self.source.row_of(token.start()));
                end = None;
            }
            if let Some(part) = skipped.next_if(|part| part.start == at) {
                self.pairs.enter_alternative(part.must_match);
                end = Some(part.end);
            }
            let around = self.pairs.innermost().unwrap_or(0);
            regions_of_tokens.push(match token.kind {
                Kind::Open => self.open(at as u32, token, around),
                Kind::Close => self.close(at as u32, token).unwrap_or(around),
                _ => around,
            });
        }
        regions_of_tokens.resize(self.tokens.len(), 0);
        let last = self.tokens.last().map_or(0, |token| token.end().saturating_sub(1));
        let known = known.or(self.torn.map(|_| self.pairs.faults.len()));
        let Wrongs { mut faults, omitted } = self.pairs.finish(self.source.row_of(last));
        self.doubts.extend(omitted);
        faults.truncate(known.unwrap_or(faults.len()));
        Matched {
            regions: self.regions,
            regions_of_tokens,
            faults,
            doubts: self.doubts,
            has_alternatives,
        }
    }

    fn open(&mut self, at: u32, token: Token, parent: u32) -> u32 {
        let id = self.regions.len() as u32;
        self.regions.push(Region { open: at, close: NONE, parent });
        let closer = self.closer(token);
        let is_optional = match (self.lexicon.ends, closer) {
            (Ends::Tags(kind), Closer::Tag(name)) => tags::is_optional(kind, name),
            _ => false,
        };
        self.pairs.open(closer, token.start(), id, is_optional);
        id
    }

    fn close(&mut self, at: u32, token: Token) -> Option<u32> {
        let id = self.pairs.close(self.closer(token), token.start())?;
        self.regions[id as usize].close = at;
        Some(id)
    }

    /// What closes the region that a token opens or closes.
    fn closer(&self, token: Token) -> Closer<'s> {
        let text = &self.source.text[token.range()];
        if matches!(self.lexicon.ends, Ends::Tags(_)) && text.len() > 1 {
            let name = tags::name_of(self.names, token);
            return if text[0] == b'{' { Closer::Template(name) } else { Closer::Tag(name) };
        }
        match text[0] {
            b'(' | b')' => Closer::Bracket(')'),
            b'[' | b']' => Closer::Bracket(']'),
            b'{' | b'}' => Closer::Bracket('}'),
            b'$' => Closer::Tag(text),
            _ => {
                let mut pairs = self.lexicon.words.iter();
                let is_it = |pair: &&table::WordPair| {
                    [pair.open, pair.close].iter().any(|word| word.as_bytes() == text)
                };
                Closer::Word(pairs.find(is_it).map_or("", |pair| pair.close))
            }
        }
    }
}
