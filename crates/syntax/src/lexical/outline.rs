//! Definitions by the words before their names, and the lines between brackets as folds.

use super::blocks::HEAD_LIMIT;
use super::table::{Attributes, Ends, Fact, Tags};
use super::token::{Kind, NONE};
use super::view::View;
use super::{Lexical, tags};
use crate::budget::Meter;
use crate::outline::Foldable;
use crate::source::Source;
use crate::structure::{Definition, Outline};

/// How often each token is read for the ends of definitions, on average. Otherwise definitions without
/// an end would each read the rest of the text.
const READS_LIMIT: usize = 16;

/// Words before parentheses that do not name functions.
const STATEMENTS: &[&[u8]] = &[
    b"if",
    b"for",
    b"foreach",
    b"while",
    b"switch",
    b"catch",
    b"return",
    b"sizeof",
    b"using",
    b"lock",
    b"fixed",
    b"new",
    b"throw",
    b"await",
    b"assert",
    b"decltype",
    b"alignas",
    b"noexcept",
    b"when",
    b"else",
    b"do",
    b"static_assert",
    b"nameof",
    b"typeof",
    b"checked",
    b"super",
    b"on",
];

impl Lexical {
    /// Definitions and folds.
    pub fn outline(&self, source: &Source, meter: &Meter<'_>) -> Outline {
        let view = View { source, lexical: self, meter };
        let mut definitions = Vec::new();
        let mut folds = Foldable::default();
        let mut containers = vec![false; self.regions.len()];
        let mut around: Vec<(u32, usize)> = Vec::new();
        let mut comments: Option<(usize, usize)> = None;
        let mut left = self.tokens.len() * READS_LIMIT;
        for at in 0..self.tokens.len() {
            if !meter.step() {
                break;
            }
            view.fold(at, &mut comments, &mut folds);
            let Some((head, name)) = view.definition(at, &containers) else { continue };
            let first = view.row(head) as u32 + 1;
            let end = view.end_of_definition(head, at, &mut left);
            let last = view.last_row(end) as u32 + 1;
            let start = view.token(head).start();
            while around.last().is_some_and(|&(end, _)| end < first) {
                around.pop();
            }
            if let Some(body) = view.body(at) {
                let word = view.text(at);
                let words = self.lexicon.containers;
                containers[body] = words.iter().any(|one| one.as_bytes() == word);
            }
            let (qualifier, name) = view.divided(name);
            definitions.push(Definition {
                qualifier,
                name,
                is_secondary: false,
                is_minor: false,
                is_alias: false,
                bytes: start..view.token(end).end().max(start),
                first,
                last: last.max(first),
                is_test: false,
                depth: around.len() as u32,
            });
            around.push((last, definitions.len() - 1));
        }
        if let Some((first, last)) = comments {
            folds.add(first + 1, last);
        }
        folds.finish(Outline { definitions, folds: Vec::new() })
    }
}

impl View<'_> {
    /// Adds the lines that can be folded at a token.
    fn fold(self, at: usize, comments: &mut Option<(usize, usize)>, folds: &mut Foldable) {
        let (first, last) = (self.row(at), self.last_row(at));
        if self.kind(at) == Kind::Comment && self.begins_row(at) {
            match comments {
                Some(run) if run.1 + 1 == first => run.1 = last,
                _ => {
                    if let Some((first, last)) = comments.replace((first, last)) {
                        folds.add(first + 1, last);
                    }
                }
            }
            return;
        }
        match self.kind(at) {
            Kind::Text => folds.add(first + 1, last.saturating_sub(1)),
            Kind::Open => {
                if let Some(close) = self.partner(at) {
                    folds.add(last + 1, self.row(close).saturating_sub(1));
                }
            }
            _ => {}
        }
    }

    /// The region of the body of a definition whose word is a token.
    fn body(self, at: usize) -> Option<usize> {
        let around = self.around(at);
        let mut next = at;
        for _ in 0..HEAD_LIMIT {
            next = self.next_code(next)?;
            if self.around(next) != around || self.is(next, ";") {
                return None;
            }
            if self.kind(next) == Kind::Open {
                if self.is(next, "{") {
                    return Some(self.token(next).region as usize);
                }
                next = self.partner(next)?;
            }
        }
        None
    }

    /// The start and name of the definition whose word, or the parenthesis after whose name, is a
    /// token.
    fn definition(self, at: usize, containers: &[bool]) -> Option<(usize, String)> {
        match self.lexical.lexicon.ends {
            Ends::Tags(kind) => self.element(at, kind),
            _ if self.kind(at) == Kind::Directive => self.macro_name(at),
            _ if self.has(Fact::Rules) => self.rule(at),
            _ if self.is(at, "(") => self.function(at, containers),
            _ => self.named(at),
        }
    }

    /// An element with an `id`.
    fn element(self, at: usize, kind: Tags) -> Option<(usize, String)> {
        let mark = match kind {
            Tags::Xml => "name=\"",
            _ => " id=\"",
        };
        if self.kind(at) != Kind::Open || self.row(at) == self.row(self.partner(at)?) {
            return None;
        }
        let text = String::from_utf8_lossy(self.text(at));
        let (_, rest) = text.split_once(mark)?;
        let name = rest.split('"').next().filter(|name| !name.is_empty())?;
        let tag = String::from_utf8_lossy(tags::name_of(&self.source.text, self.token(at)));
        let name = if kind == Tags::Xml { name.to_owned() } else { format!("{tag}#{name}") };
        Some((at, name))
    }

    fn macro_name(self, at: usize) -> Option<(usize, String)> {
        let text = self.text(at).strip_prefix(b"#")?.trim_ascii_start();
        let rest = text.strip_prefix(b"define")?.trim_ascii_start();
        let length =
            rest.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count();
        let is_function = rest.get(length) == Some(&b'(');
        (is_function && length > 0)
            .then(|| (at, String::from_utf8_lossy(&rest[..length]).into_owned()))
    }

    /// A rule of a style sheet of several lines.
    fn rule(self, at: usize) -> Option<(usize, String)> {
        let close = self.partner(at).filter(|_| self.is(at, "{"))?;
        let head = self.start_of_statement(at);
        if self.row(head) == self.row(close) || head == at {
            return None;
        }
        let text = String::from_utf8_lossy(
            &self.source.text[self.token(head).start()..self.token(at).start()],
        );
        let name = text
            .lines()
            .next()?
            .trim()
            .trim_start_matches("@mixin ")
            .trim_start_matches("@function ");
        Some((head, name.split('(').next()?.chars().take(100).collect()))
    }

    /// `Type name(…) {` in a type or namespace, without a word before the name.
    fn function(self, at: usize, containers: &[bool]) -> Option<(usize, String)> {
        let around = self.around(at);
        let has_functions = !self.lexical.lexicon.containers.is_empty()
            && (around == 0 || containers.get(around as usize) == Some(&true));
        let is_shell = self.has(Fact::Commands);
        let name = self.previous_code(at).filter(|&one| self.kind(one) == Kind::Word)?;
        if !has_functions && !is_shell || STATEMENTS.contains(&self.text(name)) {
            return None;
        }
        if is_shell {
            let is_empty = self.partner(at) == Some(at + 1) && self.begins_row(name);
            let body = self.next_code(at + 1)?;
            let is_function =
                is_empty && self.kind(body) == Kind::Open && !self.is(name, "function");
            return is_function.then(|| (name, self.name_at(name)));
        }
        let mut next = self.partner(at)?;
        for _ in 0..HEAD_LIMIT {
            next = self.next_code(next)?;
            if self.around(next) != around || matches!(self.text(next), b";" | b",") {
                return None;
            }
            let is_arrow =
                self.is(next, "=") && self.get(next + 1).is_some() && self.is(next + 1, ">");
            if self.is(next, "{") || is_arrow {
                let head = self.start_of_statement(name);
                let is_value = (head..name)
                    .any(|one| self.is(one, "=") || self.is(one, "return") || self.is(one, "new"));
                let first = self.qualified(name);
                if self.is_initializer(first) {
                    return None;
                }
                let name = String::from_utf8_lossy(
                    &self.source.text[self.token(first).start()..self.token(name).end()],
                );
                return (!is_value).then(|| (head, name.into_owned()));
            }
            if self.is(next, "=") {
                return None;
            }
            if self.kind(next) == Kind::Open {
                next = self.partner(next)?;
            }
        }
        None
    }

    /// Whether a member that is initialized has this name: `Shape() : area_(1) {`.
    fn is_initializer(self, name: usize) -> bool {
        let Some(before) = self.previous_code(name) else { return false };
        let is_label = || {
            let label = self.previous_code(before);
            label.is_some_and(|one| {
                matches!(self.text(one), b"public" | b"private" | b"protected" | b"slots")
            })
        };
        self.is(before, ",") || self.is(before, ":") && !is_label()
    }

    /// The start of a name with the types before it: `Shape::area`, `~Shape`.
    fn qualified(self, name: usize) -> usize {
        let mut first = name;
        while let Some(before) = first.checked_sub(1) {
            let is_joined = self.token(before).end() == self.token(first).start();
            let is_part = matches!(self.text(before), b":" | b"~")
                || self.kind(before) == Kind::Word && matches!(self.text(first), b":" | b"<");
            let parameters = || self.start_of_parameters(before).filter(|_| self.is(first, ":"));
            first = match parameters() {
                Some(open) if is_joined => open,
                _ if is_joined && is_part => before,
                _ => break,
            };
        }
        if matches!(self.text(first), b":" | b"<") { name } else { first }
    }

    /// The `<` of the type parameters that end with a `>`.
    fn start_of_parameters(self, end: usize) -> Option<usize> {
        let mut depth = 0_usize;
        for at in (end.saturating_sub(HEAD_LIMIT)..=end).rev() {
            match self.text(at) {
                b">" => depth += 1,
                b"<" if depth == 1 => return Some(at),
                b"<" => depth = depth.checked_sub(1)?,
                _ if depth == 0 => return None,
                b";" | b"{" | b"}" => return None,
                _ => {}
            }
        }
        None
    }

    /// A definition by the word before its name.
    fn named(self, at: usize) -> Option<(usize, String)> {
        let lexicon = self.lexical.lexicon;
        if !matches!(self.kind(at), Kind::Word | Kind::Open) {
            return None;
        }
        let text = self.text(at);
        let is_sql = self.has(Fact::Clauses);
        let is_word = |word: &&&str| {
            word.as_bytes() == text || is_sql && word.as_bytes().eq_ignore_ascii_case(text)
        };
        lexicon.definitions.iter().find(is_word)?;
        let head = self.start_of_statement(at);
        let is_assigned = || {
            self.has(Fact::AssignedFunctions)
                && self.previous_code(at).is_some_and(|one| self.is(one, "="))
        };
        if is_assigned() {
            let name = self.previous_code(self.previous_code(at)?)?;
            let first = self.first_of_statement_row(name);
            return (self.around(first) == self.around(at)).then(|| {
                let range = self.token(first).start()..self.token(name).end();
                let name = String::from_utf8_lossy(&self.source.text[range]).into_owned();
                (first, name.trim_start_matches("local ").to_owned())
            });
        }
        // `template <class T, class U>`
        let before = self.previous_code(at);
        let is_parameter = before.is_some_and(|one| self.is(one, "<") || self.is(one, ","));
        if is_parameter || !(head..at).all(|one| self.may_precede_definition(one)) {
            return None;
        }
        let name = self.first_of_name(at)?;
        Some((head, self.name_at(name)))
    }

    /// Whether a token can be between the start of a definition and its word.
    fn may_precede_definition(self, at: usize) -> bool {
        let text = self.text(at);
        let has_attributes = matches!(
            self.lexical.lexicon.attributes,
            Attributes::Brackets | Attributes::HashBrackets | Attributes::At
        );
        match self.kind(at) {
            Kind::Word => !STATEMENTS.contains(&text),
            Kind::Mark => {
                matches!(text, b"<" | b">" | b"," | b":" | b".")
                    || has_attributes && matches!(text, b"@" | b"#" | b"?")
            }
            _ => true,
        }
    }

    /// The first token of the name after a word.
    fn first_of_name(self, at: usize) -> Option<usize> {
        let mut next = at + 1;
        // Swift's `init(…)` is its own name.
        if self.is(at, "init") {
            return Some(at);
        }
        for _ in 0..8 {
            self.get(next)?;
            let text = self.text(next);
            match self.kind(next) {
                Kind::Word
                    if matches!(
                        text,
                        b"class"
                            | b"struct"
                            | b"IF"
                            | b"NOT"
                            | b"EXISTS"
                            | b"if"
                            | b"not"
                            | b"exists"
                    ) =>
                {
                    next += 1;
                }
                Kind::Word | Kind::Text => return Some(next),
                // Type parameters before the name, references.
                Kind::Mark if text == b"<" => {
                    let end =
                        (next..self.len().min(next + HEAD_LIMIT)).find(|&one| self.is(one, ">"))?;
                    next = end + 1;
                }
                Kind::Mark if text == b"&" || text == b"@" => next += 1,
                Kind::Mark if self.has(Fact::MarksInNames) => return Some(next),
                Kind::Open if self.is(next, "[") && self.has(Fact::BracketsBeforeNames) => {
                    next = self.partner(next)? + 1;
                }
                _ => return None,
            }
        }
        None
    }

    /// A name with its parts: `Outer.Inner`, `self.find`, `"aws_vpc" "main"`.
    fn name_at(self, first: usize) -> String {
        let mut last = first;
        while let Some(next) = self.get(last + 1) {
            let is_joined = next.start() == self.token(last).end();
            let is_part = next.kind == Kind::Word
                || self.is(last + 1, ".")
                || self.is(last + 1, ":") && self.is_colon_of_name(last + 1)
                || next.kind == Kind::Mark
                    && self.has(Fact::MarksInNames)
                    && !self.is(last + 1, ";");
            let is_label = self.kind(first) == Kind::Text
                && next.kind == Kind::Text
                && self.row(last + 1) == self.row(first);
            if !(is_joined && is_part || is_label) {
                break;
            }
            last += 1;
        }
        let range = self.token(first).start()..self.token(last).end();
        let text = String::from_utf8_lossy(&self.source.text[range]).replace("\" \"", ".");
        let text = text.trim_end_matches([':', '.', ',']).trim_matches(['"', '\'', '`']);
        text.lines().next().unwrap_or_default().chars().take(100).collect()
    }

    /// Whether a `:` joins two parts of a name, and does not precede the base of a class.
    fn is_colon_of_name(self, at: usize) -> bool {
        let is_colon = |at: usize| self.get(at).is_some() && self.is(at, ":");
        is_colon(at - 1)
            || is_colon(at + 1)
            || self.has(Fact::ColonMethods)
            || self.has(Fact::Commands)
    }

    /// The qualifier and the name of a definition: `M:` and `run` of `M:run`.
    fn divided(self, name: String) -> (String, String) {
        match name.rfind(':').filter(|_| self.has(Fact::ColonMethods)) {
            Some(colon) => (name[..=colon].to_owned(), name[colon + 1..].to_owned()),
            None => (String::new(), name),
        }
    }

    /// The first token of a statement, after its comments and attributes.
    fn start_of_statement(self, at: usize) -> usize {
        let around = self.around(at);
        let mut first = at;
        for _ in 0..HEAD_LIMIT {
            let Some(before) = self.previous_code(first) else { break };
            if self.kind(before) == Kind::Open
                && self.partner(before).is_none_or(|close| close > at)
            {
                break;
            }
            let is_new_row = self.last_row(before) < self.row(first);
            let is_end = match self.lexical.lexicon.ends {
                Ends::Semicolons => {
                    self.is(before, ";")
                        || self.is(before, "}") && !self.is_interpolation(before)
                        || self.is(before, ":") && is_new_row
                        || self.source.text[self.token(before).end()..self.token(first).start()]
                            .contains(&b'#')
                }
                _ => self.is(before, ";") || is_new_row && !self.continues(before, first),
            };
            if is_end {
                break;
            }
            first = match self.partner(before).filter(|_| self.kind(before) == Kind::Close) {
                Some(open) => open,
                None => before,
            };
            if self.around(first) != around {
                break;
            }
        }
        while let Some(end) = self.leading_end(first).filter(|&end| end < at) {
            first = end + 1;
        }
        first
    }

    /// Whether a bracket closes `#{`.
    fn is_interpolation(self, close: usize) -> bool {
        let open = self.partner(close).and_then(|open| open.checked_sub(1));
        open.is_some_and(|mark| self.is(mark, "#"))
    }

    /// The last token of a definition, also in a text with faults.
    fn end_of_definition(self, head: usize, at: usize, left: &mut usize) -> usize {
        if let Ok(end) = self.end_of_statement(head, left) {
            return end.max(at);
        }
        let region = self.body(at).map(|body| self.lexical.regions[body].close);
        region.filter(|&close| close != NONE).map_or(at, |close| close as usize)
    }
}
