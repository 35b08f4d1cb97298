//! The block at a line. It is refused unless its brackets match and its lines are indented as those
//! of one statement.

use super::table::{Attributes, Ends, Fact};
use super::token::Kind;
use super::view::View;
use super::{Condition, Lexical, directive};
use crate::block::NoBlockReason;
use crate::budget::Meter;
use crate::lookup::COMMENTS_LIMIT;
use crate::source::Source;
use crate::structure::{Block, Fault};

/// Words of statements whose parts SQL separates with `;`, too.
const PROCEDURES: &[&str] = &["begin", "declare", "procedure", "trigger", "go", "delimiter"];

/// First words of such statements in functions.
const CLAUSES: &[&str] = &[
    "if",
    "else",
    "elsif",
    "elseif",
    "until",
    "repeat",
    "loop",
    "while",
    "for",
    "foreach",
    "case",
    "when",
    "exception",
    "end",
];

/// How many heredocs of one line are read.
const HEREDOCS_LIMIT: usize = 100;

/// The limit on the tokens of the head of a block that are read.
pub(super) const HEAD_LIMIT: usize = 64;

impl Lexical {
    /// The block that starts at a line, or that the comment or attribute there belongs to.
    pub fn block(
        &self,
        source: &Source,
        line: u32,
        meter: &Meter<'_>,
    ) -> Result<Block, NoBlockReason> {
        let view = View { source, lexical: self, meter };
        let row = line as usize - 1;
        let at = source.first_byte(row).ok_or(NoBlockReason::Blank)?;
        if !self.faults.is_empty() {
            return view.element_at(at).ok_or(NoBlockReason::Error);
        }
        let first = view.after(at);
        let token = view.get(first).ok_or(NoBlockReason::Nothing)?;
        if token.start() < at && token.kind != Kind::Comment {
            return Err(NoBlockReason::Nothing);
        }
        let Some(last) = view.leading_end(first) else { return view.block_at(first) };
        let owner = view.after_leading(last).map(|at| view.block_at(at));
        match owner {
            Some(Ok(block)) if block.first <= line => Ok(block),
            Some(Err(reason)) if reason != NoBlockReason::Nothing => Err(reason),
            _ => view.comment_block(first, row),
        }
    }

    /// The first line of the comments and attributes above what starts at a line.
    pub fn first_line_above(&self, source: &Source, line: u32, meter: &Meter<'_>) -> Option<u32> {
        let view = View { source, lexical: self, meter };
        let at = view.after(source.first_byte(line.checked_sub(1)? as usize)?);
        view.get(at)?;
        Some(view.first_row(at) as u32 + 1)
    }

    /// The first lines of the blocks around a line, outermost first.
    pub fn enclosing(&self, source: &Source, line: u32, meter: &Meter<'_>) -> Vec<u32> {
        let view = View { source, lexical: self, meter };
        let row = line as usize - 1;
        let at = view.after(source.first_byte(row).unwrap_or_else(|| source.start_of(row)));
        let mut region = match view.get(at) {
            Some(token) if token.kind == Kind::Open => view.around(at),
            Some(token) => token.region,
            None => 0,
        };
        let mut rows = Vec::new();
        while region != 0 && meter.step() {
            let opened = self.regions[region as usize];
            let start = view.row(view.head_of(opened.open as usize));
            if start < row && rows.last() != Some(&(start as u32 + 1)) {
                rows.push(start as u32 + 1);
            }
            region = opened.parent;
        }
        rows.reverse();
        rows
    }
}

/// A statement whose end is searched.
struct Statement {
    /// Its first token.
    start: usize,
    /// Whether commas and lines can end it.
    is_list: bool,
    has_lines: bool,
}

impl View<'_> {
    /// The first token of the line of the statement that a bracket belongs to.
    pub fn head_of(self, open: usize) -> usize {
        let begins = self.begins_row(open) && self.is(open, "{");
        let before = if begins { self.previous_code(open) } else { None };
        let is_head = |&at: &usize| {
            !matches!(self.kind(at), Kind::Open) && !matches!(self.text(at), b"," | b";" | b"}")
        };
        self.first_of_statement_row(before.filter(is_head).unwrap_or(open))
    }

    /// An element of a text that has errors only outside of it, if its tags are in lines of their own
    /// that are equally indented.
    fn element_at(self, offset: usize) -> Option<Block> {
        let at = self.after(offset);
        let is_start = matches!(self.lexical.lexicon.ends, Ends::Tags(_))
            && self
                .get(at)
                .is_some_and(|start| start.start() == offset && start.kind == Kind::Open);
        let close = self.partner(at).filter(|_| is_start)?;
        let block = self.block_at(at).ok()?;
        let is_plain = self.begins_row(close) && self.column(close) == self.column(at);
        let mut faults = self.lexical.faults.iter().map(|found| &found.fault);
        let is_outside = |fault: &Fault| {
            fault.line < block.first && fault.opened.is_none() || {
                let opened = fault.opened.unwrap_or(fault.line);
                opened.max(fault.line) < block.first || opened.min(fault.line) > block.last
            }
        };
        (is_plain && faults.all(is_outside)).then_some(block)
    }

    /// What comments and attributes precede, unless there is an empty line in between.
    fn after_leading(self, mut last: usize) -> Option<usize> {
        for _ in 0..COMMENTS_LIMIT {
            let next = last + 1;
            self.get(next).filter(|_| self.meter.step())?;
            if self.row(next) > self.last_row(last) + 1 {
                return None;
            }
            match self.leading_end(next) {
                Some(end) => last = end,
                None => return Some(next),
            }
        }
        None
    }

    /// A comment of several lines that belongs to no block.
    fn comment_block(self, at: usize, row: usize) -> Result<Block, NoBlockReason> {
        let (first, last) = (self.row(at), self.last_row(at));
        if first == last || first != row || self.kind(at) != Kind::Comment {
            return Err(NoBlockReason::Nothing);
        }
        if !self.source.ends_line(self.token(at).end()) {
            return Err(NoBlockReason::Shared);
        }
        let line = first as u32 + 1;
        Ok(Block { first: line, start: line, last: last as u32 + 1 })
    }

    /// The block that begins with a token.
    fn block_at(self, at: usize) -> Result<Block, NoBlockReason> {
        if !self.begins_row(at) || !self.begins_statement(at) || self.is_continued(at) {
            return Err(NoBlockReason::Nothing);
        }
        let end = self.end_of_statement(at, &mut { usize::MAX })?;
        let (start, last) = (self.row(at), self.last_row(end));
        let first = self.first_row(at);
        if start == last && !self.has_attribute(first, start) {
            return Err(NoBlockReason::Nothing);
        }
        if !self.ends_row(end) {
            return Err(NoBlockReason::Shared);
        }
        let is_known = self.lexical.torn.is_none_or(|torn| self.token(end).end() <= torn);
        if !is_known || !self.has_whole_conditions(at, end) || !self.is_indented_as_one(at, end) {
            return Err(NoBlockReason::Unclear);
        }
        let first = first as u32 + 1;
        Ok(Block { first, start: start as u32 + 1, last: last as u32 + 1 })
    }

    fn begins_statement(self, at: usize) -> bool {
        let text = self.text(at);
        match self.kind(at) {
            Kind::Close | Kind::Comment => false,
            Kind::Text => matches!(self.lexical.lexicon.ends, Ends::Tags(_)) && text[0] == b'<',
            Kind::Open if text == b"do" => false,
            // It may belong to the line above.
            Kind::Open
                if matches!(text, b"(" | b"[") && self.lexical.lexicon.ends == Ends::Lines =>
            {
                !self.lexical.lexicon.words.is_empty() || self.is_list(self.around(at))
            }
            Kind::Open if text == b"{" && !self.has(Fact::Commands) => {
                let before = self.previous_code(at);
                before.is_some_and(|one| matches!(self.text(one), b"," | b"(" | b"[" | b"{"))
            }
            // `function a`, then `{`.
            Kind::Open if text == b"{" => self
                .previous_code(at)
                .and_then(|name| self.previous_code(name))
                .is_none_or(|word| !self.is(word, "function") && !self.is(word, "(")),
            Kind::Mark => matches!(text, b"@" | b"#" | b"*" | b"~" | b"!" | b"$" | b"%"),
            Kind::Word if self.lexical.lexicon.parts.iter().any(|part| part.as_bytes() == text) => {
                self.is_modifier(at)
            }
            Kind::Word => !matches!(self.lexical.lexicon.ends, Ends::Tags(_)),
            _ => true,
        }
    }

    /// Whether there are attributes in the lines before one.
    fn has_attribute(self, first: usize, start: usize) -> bool {
        let start = self.source.start_of(start);
        (self.after(self.source.start_of(first))..self.len())
            .take_while(|&at| self.token(at).start() < start)
            .any(|at| self.kind(at) != Kind::Comment)
    }

    /// Whether a token continues the statement before it.
    fn is_continued(self, at: usize) -> bool {
        let row = self.first_row(at);
        let at = if row < self.row(at) { self.after(self.source.start_of(row)) } else { at };
        let Some(before) = self.previous_code(at) else { return false };
        let ends = self.lexical.lexicon.ends;
        let around = self.around(at);
        let is_opening = self.kind(before) == Kind::Open && self.around(before) != around;
        if is_opening || matches!(ends, Ends::Tags(_)) || self.is(before, ";") {
            return false;
        }
        let is_html = self.kind(before) == Kind::Text && self.text(before).starts_with(b"<");
        // Kotlin: `class A`, then `private constructor() {`.
        let is_constructor = (at..self.len().min(at + 4)).any(|one| self.is(one, "constructor"));
        match ends {
            _ if is_constructor && !self.is(before, "}") => true,
            _ if self.is(before, ",") => !self.is_list(around),
            Ends::Semicolons => !matches!(self.text(before), b"}" | b":") && !is_html,
            _ => {
                let is_deeper =
                    || self.column(at) > self.column(self.first_of_statement_row(before));
                let is_indented = self.source.language.is_indented;
                let is_first = || is_indented && is_deeper() && self.opens_lines(before, at);
                !self.lines_end_in(around)
                    || !is_first() && (self.continues(before, at) || is_indented && is_deeper())
            }
        }
    }

    /// Whether indented lines are a block after a token at the end of a line.
    fn opens_lines(self, before: usize, at: usize) -> bool {
        let word = self.lexical.lexicon.openers.iter().any(|word| self.is(before, word));
        self.last_row(before) < self.row(at)
            && (word || self.is(before, ">") && self.is_arrow(before) && self.is(before - 1, "="))
    }

    /// Whether a word that may begin a part of a statement is a modifier: `private int x()`,
    /// `case class A`.
    fn is_modifier(self, at: usize) -> bool {
        let text = self.text(at);
        let next = self.get(at + 1).map(|_| self.text(at + 1)).unwrap_or_default();
        match text {
            // A function of Gradle with this name.
            b"default" | b"case" | b"public" | b"private" | b"protected"
                if next == b"{" && self.lexical.lexicon.ends == Ends::Lines =>
            {
                true
            }
            b"case" => matches!(next, b"class" | b"object"),
            b"do" => self.lexical.lexicon.ends == Ends::Semicolons,
            b"public" | b"private" | b"protected" => {
                next != b":" && self.row(at) == self.row((at + 1).min(self.len() - 1))
            }
            _ => false,
        }
    }

    /// The last token of the statement that begins with a token. `left` is the number of tokens that
    /// may be read.
    pub fn end_of_statement(self, start: usize, left: &mut usize) -> Result<usize, NoBlockReason> {
        let ends = self.lexical.lexicon.ends;
        if let Ends::Tags(_) | Ends::Semicolons = ends
            && self.kind(start) == Kind::Directive
        {
            return Ok(start);
        }
        if let Ends::Tags(_) = ends {
            return match self.kind(start) {
                Kind::Open => self.partner(start).ok_or(NoBlockReason::Unclear),
                _ => Ok(start),
            };
        }
        let around = self.around(start);
        let statement = Statement {
            start,
            is_list: self.is_list(around),
            has_lines: self.lines_end_in(around),
        };
        let (mut at, mut angles) = (start, 0_isize);
        loop {
            if *left == 0 || !self.meter.step() {
                return Err(NoBlockReason::TooLong);
            }
            *left -= 1;
            if self.kind(at) == Kind::Open {
                at = self.partner(at).ok_or(NoBlockReason::Unclear)?;
            }
            match self.text(at) {
                b"<" => angles += 1,
                b">" if !self.is_arrow(at) => angles -= 1,
                _ => {}
            }
            let Some(next) = self.next_code(at) else { return Ok(at) };
            let is_html = self.kind(next) == Kind::Text && self.text(next).starts_with(b"?>");
            if self.kind(next) == Kind::Close || is_html {
                return Ok(at);
            }
            if statement.is_list && self.is(next, ",") {
                return if angles > 0 { Err(NoBlockReason::Unclear) } else { Ok(at) };
            }
            if let Some(end) = self.end_between(&statement, at, next)? {
                return Ok(end);
            }
            at = next;
        }
    }

    /// The end of a statement if it ends after a token or with the next one.
    fn end_between(
        self,
        statement: &Statement,
        at: usize,
        next: usize,
    ) -> Result<Option<usize>, NoBlockReason> {
        let is_directive = |one: usize| self.kind(one) == Kind::Directive;
        if self.has(Fact::DirectivesEnd) && (at + 1..next).any(is_directive) {
            return Err(NoBlockReason::Unclear);
        }
        let is_new_row = self.row(next) > self.last_row(at);
        if self.is(next, ";") && !self.has(Fact::NoSemicolons) {
            if is_new_row && self.lexical.lexicon.ends == Ends::Lines {
                return Ok(Some(at));
            }
            let continues = self.continues_after_semicolon(statement.start, next);
            return Ok((!continues).then_some(next));
        }
        if is_new_row { self.end_before_row(statement, at, next) } else { Ok(None) }
    }

    /// The last token of a statement that may end between a token and the next one, which is in
    /// another line; `None` if it continues there.
    fn end_before_row(
        self,
        statement: &Statement,
        at: usize,
        next: usize,
    ) -> Result<Option<usize>, NoBlockReason> {
        let (ends, start) = (self.lexical.lexicon.ends, statement.start);
        let is_deeper = self.source.language.is_indented && self.column(next) > self.column(start);
        let is_label = self.is(at, ":") && ends == Ends::Semicolons;
        let is_clause = ends == Ends::Lines && self.is(at, ">") && self.is_arrow(at);
        let is_heredoc = self.is_heredoc(next);
        if is_label || is_clause && !is_deeper || is_heredoc && self.ends_open(at) {
            return Err(NoBlockReason::Unclear);
        }
        if let Some(end) = self.end_marker(start, next) {
            return Ok(Some(end));
        }
        let may_end = match ends {
            Ends::Semicolons => self.kind(at) == Kind::Close && self.is(at, "}"),
            _ => statement.has_lines,
        };
        let continues = || self.continues(at, next) || self.is_rest(start, next) || is_deeper;
        Ok((may_end && !is_heredoc && !continues()).then_some(at))
    }

    /// Whether a token is the text of a heredoc that begins in the line before.
    fn is_heredoc(self, at: usize) -> bool {
        let is_body = |at: usize| self.kind(at) == Kind::Text && self.column(at) == 0;
        if !is_body(at) {
            return false;
        }
        let mut before = (0..at).rev().take(HEREDOCS_LIMIT);
        let Some(last) = before.find(|&before| !is_body(before)) else { return false };
        let row = self.last_row(last);
        let mut line = (0..=last).rev().take_while(|&one| self.last_row(one) == row);
        line.any(|one| self.kind(one) == Kind::Text && self.text(one).starts_with(b"<<"))
    }

    /// The last token of `end name`, which ends a statement of Scala.
    fn end_marker(self, start: usize, next: usize) -> Option<usize> {
        let is_marker = self.source.language.is_indented
            && self.is(next, "end")
            && self.column(next) == self.column(start)
            && self.get(next + 1).is_some_and(|name| name.kind == Kind::Word)
            && self.last_row(next + 1) == self.row(next);
        let ends_row = || self.get(next + 2).is_none_or(|_| self.row(next + 2) > self.row(next));
        (is_marker && ends_row()).then_some(next + 1)
    }

    fn is_arrow(self, at: usize) -> bool {
        let before = &self.source.text[..self.token(at).start()];
        matches!(before.last(), Some(b'-' | b'='))
    }

    /// Whether a new line has the rest of a statement: `while (x)` of `do { … }`, `do` of `for x in
    /// y`, a body whose `{` is below its head.
    fn is_rest(self, start: usize, next: usize) -> bool {
        let is_loop = matches!(self.text(start), b"for" | b"while" | b"until" | b"select");
        let has_words = !self.lexical.lexicon.words.is_empty();
        let is_head = || !has_words || self.has(Fact::Commands) && self.is(next - 1, ")");
        self.is(start, "do") && self.is(next, "while")
            || self.lexical.lexicon.ends == Ends::Lines
                && self.is(next, "{")
                && self.column(next) == self.column(start)
                && is_head()
            || is_loop && self.kind(next) == Kind::Open && self.is(next, "do")
            || self.source.language.is_indented
                && (is_loop || self.is(start, "if"))
                && self.column(next) == self.column(start)
                && [&b"yield"[..], b"do", b"then"].contains(&self.text(next))
    }

    fn continues_after_semicolon(self, start: usize, at: usize) -> bool {
        let next = self.next_code(at);
        next.is_some_and(|next| {
            self.is(next, "else") && self.around(next) == self.around(at)
                || self.is_rest(start, next)
        })
    }

    /// Whether commas separate what is in a region.
    fn is_list(self, region: u32) -> bool {
        let Some(open) = self.opening(region) else { return false };
        if !self.is(open, "{") {
            return matches!(self.text(open), b"(" | b"[");
        }
        // A line can be the whole text.
        let head = self.head_of(open).max(open.saturating_sub(HEAD_LIMIT));
        let is_enum = (head..open).any(|at| self.is(at, "enum") || self.is(at, "new"));
        let before = self.previous_code(open);
        let is_value = before.is_some_and(|one| {
            self.kind(one) == Kind::Open
                || matches!(self.text(one), b"=" | b"," | b":" | b"return" | b"%")
                || self.is(one, ">") && self.is_arrow(one)
        });
        let is_match =
            || self.has(Fact::ArmsWithCommas) && (head..open).any(|at| self.is(at, "match"));
        is_enum || is_value || is_match() || self.has(Fact::BracesAreLists)
    }

    /// Whether a line can end a statement in a region: not within parentheses.
    fn lines_end_in(self, region: u32) -> bool {
        self.opening(region).is_none_or(|open| !matches!(self.text(open), b"(" | b"["))
    }

    fn opening(self, region: u32) -> Option<usize> {
        (region != 0).then(|| self.lexical.regions[region as usize].open as usize)
    }

    /// Whether only `,`, `;` and a comment follow a token in its line; in shells, only a comment.
    fn ends_row(self, end: usize) -> bool {
        let row = self.last_row(end);
        for at in end + 1..self.len() {
            if self.row(at) > row {
                break;
            }
            let is_comment = self.kind(at) == Kind::Comment && self.last_row(at) == row;
            // `;;` of shells ends the pattern around the statement.
            let is_separator = matches!(self.text(at), b"," | b";") && !self.has(Fact::Commands);
            if !is_comment && !is_separator {
                return false;
            }
        }
        true
    }

    /// Whether all conditions of the preprocessor that begin in a block end in it.
    fn has_whole_conditions(self, start: usize, end: usize) -> bool {
        let mut depth = 0_usize;
        for at in (start..=end).filter(|&at| self.kind(at) == Kind::Directive) {
            match directive(self.text(at)) {
                Some(Condition::If) => depth += 1,
                Some(Condition::Else) if depth == 0 => return false,
                Some(Condition::End) if depth == 0 => return false,
                Some(Condition::End) => depth -= 1,
                _ => {}
            }
        }
        depth == 0
    }

    /// Whether the lines of a block are deeper than its first one, except its brackets and parts,
    /// and the line after it is not.
    fn is_indented_as_one(self, start: usize, end: usize) -> bool {
        let base = self.column(start);
        if let Ends::Tags(_) = self.lexical.lexicon.ends {
            return true;
        }
        if self.has(Fact::Clauses) {
            return !self.has_clauses(start, end);
        }
        let is_flat = [&b"namespace"[..], b"extern", b"inline"].contains(&self.text(start));
        let mut is_head = self.is(start, "template") || self.has(Fact::Rules);
        for at in start + 1..=end {
            if !self.meter.step() {
                return false;
            }
            is_head &= !self.is(at, "{");
            let is_code = !matches!(self.kind(at), Kind::Comment | Kind::Directive);
            // A heredoc has its own indentation.
            let is_heredoc = self.kind(at) == Kind::Text && self.last_row(at) > self.row(at);
            if !is_code || is_heredoc || !self.begins_row(at) {
                continue;
            }
            if !self.is_indented_right(at, base, at == end, is_flat || is_head) {
                return false;
            }
        }
        let next = self.next_code(end).filter(|&next| self.begins_row(next));
        next.is_none_or(|next| {
            let column = self.column(next);
            self.kind(next) == Kind::Close
                || column <= base && !(column == base && self.is_omitted_part(next))
        })
    }

    /// Whether a part of a block that begins a line has the right indentation.
    fn is_indented_right(self, at: usize, base: usize, is_last: bool, is_flat: bool) -> bool {
        let column = self.column(at);
        let is_part = match self.kind(at) {
            Kind::Close => true,
            Kind::Open => matches!(self.text(at), b"{" | b"do"),
            Kind::Word => self.is_part(at),
            _ => false,
        };
        match (is_last, is_part) {
            (true, true) => {
                column == base
                    || self.partner(at).is_some_and(|open| {
                        column == self.column(self.after(self.source.start_of(self.row(open))))
                    })
            }
            (_, true) => column >= base,
            _ if is_flat => column >= base,
            _ => column > base || self.get(at + 1).is_some() && self.is(at + 1, ":"),
        }
    }

    /// Whether a statement can have parts that end as a statement does.
    fn has_clauses(self, start: usize, end: usize) -> bool {
        let around = self.around(start);
        let is_one = |at: usize, words: &[&str]| {
            words.iter().any(|word| self.text(at).eq_ignore_ascii_case(word.as_bytes()))
        };
        let mut own = (start..=end).filter(|&at| self.around(at) == around);
        is_one(start, CLAUSES) || own.any(|at| is_one(at, PROCEDURES))
    }

    /// Whether a line after a block seems to be a part of its statement.
    fn is_omitted_part(self, at: usize) -> bool {
        let mut words = self.lexical.lexicon.continuing.iter();
        words.any(|word| self.is(at, word)) && !self.is_modifier(at)
    }

    fn is_part(self, at: usize) -> bool {
        let mut parts = self.lexical.lexicon.parts.iter();
        parts.any(|part| part.as_bytes().eq_ignore_ascii_case(self.text(at)))
            || matches!(self.text(at), b"when" | b"while" | b"where")
            || self.source.language.is_indented && matches!(self.text(at), b"end" | b"yield")
    }

    /// The first line of the comments and attributes directly above a token that belong to it.
    fn first_row(self, start: usize) -> usize {
        let mut row = self.row(start);
        while self.meter.step() {
            let Some(before) = self.after(self.source.start_of(row)).checked_sub(1) else { break };
            let closes = self.kind(before) == Kind::Close;
            let head = self.partner(before).filter(|_| closes).unwrap_or(before);
            let is_next = self.last_row(before) + 1 == row;
            let mut at = self.after(self.source.start_of(self.row(head)));
            if self.lexical.lexicon.attributes == Attributes::Elixir && is_next {
                at = self.head_of_attribute(at, start);
            }
            let belongs = self.begins_row(at)
                && is_next
                && self.column(at) == self.column(start)
                && self.leading_end(at) == Some(before)
                && !(self.token(at).start() == 0 && self.text(at).starts_with(b"#!"));
            if !belongs {
                break;
            }
            row = self.row(at);
        }
        row
    }

    /// The first token of a line above that is not deeper than what follows the attribute: `@spec a ::`,
    /// then `b`.
    fn head_of_attribute(self, at: usize, start: usize) -> usize {
        let mut head = at;
        while self.column(head) > self.column(start) && self.meter.step() {
            let Some(before) = head.checked_sub(1) else { break };
            head = self.after(self.source.start_of(self.row(before)));
        }
        head
    }
}
