//! The structure of a text by its brackets, words and tags, for languages without a grammar: one
//! row of [`table`] for each. What a text means is not known, so a block is refused unless brackets
//! and indentation agree, and edits are judged by what they change.

mod blocks;
mod header;
mod outline;
mod scan;
pub(crate) mod table;
mod tags;
mod token;
mod view;
mod words;

use std::collections::{HashMap, HashSet};
use std::fmt;

use crate::budget::Meter;
use crate::pairs::{Closer, FAULTS_LIMIT, Found, Pairs, Wrong};
use crate::source::Source;
use crate::structure::Fault;
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
        let Scanned { mut tokens, unterminated, torn } = match lexicon.ends {
            Ends::Tags(kind) => tags::scan(text, kind, meter),
            _ => scan::scan(text, lexicon, meter),
        };
        words::classify(text, lexicon, &mut tokens);
        // HTML ignores the case of names.
        let lower = (lexicon.ends == Ends::Tags(Tags::Html)).then(|| text.to_ascii_lowercase());
        let names = lower.as_deref().unwrap_or(text);
        let mut best =
            Matcher::new(source, names, lexicon, &tokens, torn, Branch::First).run(meter);
        if !best.faults.is_empty() && best.has_alternatives {
            let other =
                Matcher::new(source, names, lexicon, &tokens, torn, Branch::Last).run(meter);
            if other.faults.len() < best.faults.len() {
                best = other;
            }
        }
        let ends = unterminated.iter().map(|&at| Found {
            wrong: Wrong::Unterminated,
            fault: Fault {
                line: source.row_of(at) as u32 + 1,
                what: "the text or comment that begins here does not end".into(),
                opened: None,
            },
        });
        let faults = ends.chain(best.faults).collect();
        for (token, region) in tokens.iter_mut().zip(best.regions_of_tokens) {
            token.region = region;
        }
        let (tokens, regions) = (tokens.into_boxed_slice(), best.regions.into_boxed_slice());
        Lexical { lexicon, tokens, regions, faults }
    }

    /// The first thing that is wrong.
    pub fn first_fault(&self) -> Option<&Fault> {
        self.faults.first().map(|found| &found.fault)
    }

    pub fn size_bytes(&self) -> usize {
        let faults: usize = self.faults.iter().map(Found::text_bytes).sum();
        size_of_val(&*self.tokens)
            + size_of_val(&*self.regions)
            + size_of_val(&*self.faults)
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
        unknown.or(more.last()).map(|&at| self.faults[at].fault.clone())
    }
}

/// Which branch of a condition of the preprocessor counts. The others only have to match
/// themselves: `#if A`, `if (a) {`, `#else`, `if (b) {`, `#endif`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Branch {
    First,
    Last,
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
    /// Where what follows is not known.
    torn: Option<usize>,
}

/// A branch that does not count.
struct Skipped {
    /// Its first token, and the one after it.
    start: usize,
    end: usize,
    /// Whether its brackets must match, because those of the branch that counts do.
    must_match: bool,
}

/// The result of matching.
struct Matched {
    regions: Vec<Region>,
    regions_of_tokens: Vec<u32>,
    faults: Vec<Found>,
    has_alternatives: bool,
}

impl<'s> Matcher<'s> {
    fn new(
        source: &'s Source,
        names: &'s [u8],
        lexicon: &'static Lexicon,
        tokens: &'s [Token],
        torn: Option<usize>,
        branch: Branch,
    ) -> Matcher<'s> {
        let has_conditions =
            lexicon.extras.iter().any(|one| matches!(one, Extra::Preprocessor | Extra::Directives));
        let skipped =
            if has_conditions { skipped(&source.text, tokens, branch) } else { Vec::new() };
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
        let mut faults = self.pairs.finish(self.source.row_of(last));
        faults.truncate(known.unwrap_or(faults.len()));
        Matched { regions: self.regions, regions_of_tokens, faults, has_alternatives }
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

/// The branches of conditions that do not count, outermost only.
fn skipped(text: &[u8], tokens: &[Token], branch: Branch) -> Vec<Skipped> {
    let mut open: Vec<Vec<usize>> = Vec::new();
    let mut skipped = Vec::new();
    for (at, token) in tokens.iter().enumerate().filter(|(_, token)| token.kind == Kind::Directive)
    {
        match directive(&text[token.range()]) {
            Some(Condition::If) => open.push(vec![at]),
            Some(Condition::Else) => {
                if let Some(branches) = open.last_mut() {
                    branches.push(at);
                }
            }
            Some(Condition::End) => {
                let Some(mut branches) = open.pop() else { continue };
                let is_dead = is_never(&text[tokens[branches[0]].range()]);
                let counted = match branch {
                    Branch::Last => branches.len() - 1,
                    Branch::First => usize::from(is_dead),
                };
                branches.push(at);
                let parts: Vec<(usize, usize)> =
                    branches.windows(2).map(|part| (part[0] + 1, part[1])).collect();
                let is_whole = |&(start, end): &(usize, usize)| {
                    tokens[start..end].iter().all(|token| token.kind != Kind::Directive)
                };
                let counts =
                    parts.get(counted).is_some_and(|part| is_whole(part) && matches(tokens, *part));
                let others = parts.iter().enumerate().filter(|(index, _)| *index != counted);
                skipped.extend(others.filter(|(_, part)| part.0 < part.1).map(|(_, &part)| {
                    let must_match = counts && !is_dead && is_whole(&part);
                    Skipped { start: part.0, end: part.1, must_match }
                }));
            }
            None => {}
        }
    }
    skipped.sort_unstable_by_key(|part| (part.start, usize::MAX - part.end));
    let mut until = 0;
    skipped.retain(|part| {
        let is_outermost = part.start >= until;
        until = until.max(part.end);
        is_outermost
    });
    skipped
}

/// Whether a part closes as many regions as it opens, and none around it.
fn matches(tokens: &[Token], (start, end): (usize, usize)) -> bool {
    let mut depth = 0_isize;
    let never_closes_more = tokens[start..end].iter().all(|token| {
        depth += match token.kind {
            Kind::Open => 1,
            Kind::Close => -1,
            _ => 0,
        };
        depth >= 0
    });
    never_closes_more && depth == 0
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Condition {
    If,
    Else,
    End,
}

/// What a directive does with conditions.
fn directive(line: &[u8]) -> Option<Condition> {
    let word = line.strip_prefix(b"#")?.trim_ascii_start();
    let length = word.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    match &word[..length] {
        b"if" | b"ifdef" | b"ifndef" => Some(Condition::If),
        b"else" | b"elif" | b"elseif" | b"elifdef" | b"elifndef" => Some(Condition::Else),
        b"endif" => Some(Condition::End),
        _ => None,
    }
}

/// Whether a condition is `0` or `false`.
fn is_never(line: &[u8]) -> bool {
    let words = line[1..].trim_ascii_start();
    let length = words.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
    let condition = words[length..].split(|&byte| byte == b'/').next().unwrap_or_default();
    matches!(condition.trim_ascii(), b"0" | b"(0)" | b"false")
}
