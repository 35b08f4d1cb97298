//! Forms of texts and lines that only some languages have.

use std::collections::HashMap;

use memchr::memmem;

use super::{Scanner, quoted};
use crate::lexical::table::Extra;
use crate::lexical::token::Kind;
use crate::lexical::{Condition, directive, is_never};

/// A text whose lines begin after this one.
pub(super) struct Heredoc {
    /// What ends it, by its offsets.
    tag: (usize, usize),
    /// Whether whitespace may precede the tag.
    is_indented: bool,
    /// Whether code may follow the tag.
    is_followed: bool,
}

/// How much of a line is read for a form that may not be one: otherwise a line of marks would be read
/// again at each of them.
const NEAR_BYTES: usize = 4 << 10;

fn near_row(rest: &[u8]) -> &[u8] {
    let near = &rest[..rest.len().min(NEAR_BYTES)];
    &near[..memchr::memchr(b'\n', near).unwrap_or(near.len())]
}

/// Words of Ruby, Elixir and Groovy after which a value follows.
const BEFORE_VALUES: &[&[u8]] = &[
    b"if", b"unless", b"while", b"until", b"and", b"or", b"not", b"when", b"then", b"return",
    b"in", b"do", b"else", b"elsif", b"case", b"begin", b"yield", b"puts", b"assert",
];

/// Directives of Swift and C#. Swift has expressions that begin with `#`, too.
const DIRECTIVES: &[&str] = &[
    "if",
    "elif",
    "elseif",
    "else",
    "endif",
    "error",
    "warning",
    "region",
    "endregion",
    "pragma",
    "nullable",
    "define",
    "undef",
    "line",
    "sourceLocation",
];

impl<'a> Scanner<'a> {
    /// Reads one of the forms that the language has; `false` if there is none.
    pub(super) fn extra(&mut self) -> bool {
        let before = self.at;
        self.lexicon.extras.iter().any(|&extra| {
            match extra {
                Extra::Preprocessor => self.preprocessor(),
                Extra::Directives => self.directive(),
                Extra::RawStrings => self.raw_string(),
                Extra::HeredocsOfShells => self.heredoc_of_shell(),
                Extra::Ruby => self.ruby(),
                Extra::Php => self.php(),
                Extra::HeredocsOfTerraform => self.heredoc_of_terraform(),
                Extra::LongBrackets => self.long_bracket(),
                Extra::Sigils => self.sigil(),
                Extra::DollarQuotes => self.dollar_quote(),
                Extra::Urls => self.url(),
                Extra::Shell => self.shell(),
                Extra::Slashes => {
                    if self.byte(0) == b'/'
                        && !matches!(self.byte(1), b'/' | b'*')
                        && self.expects_value()
                    {
                        self.regex();
                    }
                }
                Extra::RegexesInLines => self.regex_in_line(),
                Extra::BackslashLines => {
                    if self.rest().starts_with(br"\\") {
                        self.until_line_end(Kind::Text);
                    }
                }
                Extra::Continuations | Extra::QuotesInNumbers => {}
            }
            self.at > before
        })
    }

    pub(super) fn begins_line_comment(&self) -> bool {
        !self.has(Extra::Shell)
            || self.is_line_start
            || matches!(self.before(), b';' | b'&' | b'|' | b'(' | b')')
            || self.before().is_ascii_whitespace()
    }

    fn preprocessor(&mut self) {
        if self.byte(0) != b'#' || !self.is_line_start {
            return;
        }
        let word = self.text[self.at + 1..].trim_ascii_start();
        let is_prose = word.starts_with(b"error") || word.starts_with(b"warning");
        let mut end = self.at;
        while let Some(&byte) = self.text.get(end) {
            let rest = &self.text[end..];
            if rest.starts_with(b"/*") {
                let Some(length) = memmem::find(&rest[2..], b"*/") else {
                    return self.unterminated(Kind::Directive);
                };
                end += 4 + length;
                continue;
            }
            if byte == b'"' && !is_prose {
                let next = memchr::memchr2(b'"', b'\n', &rest[1..]);
                end += next.filter(|&at| rest[at + 1] == b'"').map_or(1, |at| at + 2);
                continue;
            }
            if rest.starts_with(b"//") {
                end = self.line_end(end);
                continue;
            }
            let line = &self.text[self.at..end];
            let is_continued = line.strip_suffix(b"\r").unwrap_or(line).ends_with(b"\\");
            if byte == b'\n' && !is_continued {
                break;
            }
            end += 1;
        }
        let line = self.text[self.at..end].trim_ascii_end();
        self.push(Kind::Directive, self.at + line.len());
        self.after_directive(line);
    }

    /// Counts conditions, and skips the lines of a branch that is never code.
    fn after_directive(&mut self, line: &[u8]) {
        let Some(condition) = directive(line) else { return };
        match condition {
            Condition::If => self.conditions += 1,
            Condition::Else => {}
            Condition::End => self.conditions = self.conditions.saturating_sub(1),
        }
        if condition != Condition::End && is_never(line) {
            self.dead_branch();
        }
    }

    /// The lines after `#if 0`, which need not be code.
    fn dead_branch(&mut self) {
        let (mut depth, mut end) = (0_usize, self.line_end(self.at));
        while end < self.text.len() {
            let next = self.line_end(end + 1);
            match directive(self.text[end + 1..next].trim_ascii()) {
                Some(Condition::If) => depth += 1,
                Some(_) if depth == 0 => break,
                Some(Condition::End) => depth -= 1,
                _ => {}
            }
            end = next;
        }
        if end > self.line_end(self.at) {
            self.push(Kind::Text, end);
        }
    }

    fn directive(&mut self) {
        if self.byte(0) != b'#' || !self.is_line_start {
            return;
        }
        let rest = self.text[self.at + 1..].trim_ascii_start();
        let word = rest.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if DIRECTIVES.iter().any(|one| one.as_bytes() == &rest[..word]) {
            let start = self.at;
            self.until_line_end(Kind::Directive);
            self.after_directive(&self.text[start..self.at]);
        }
    }

    /// Skips the lines around an apostrophe in a word, up to the directives around them: no code has
    /// it, so no compiler reads this branch.
    pub(super) fn prose(&mut self) -> bool {
        if self.byte(0) != b'\''
            || self.conditions == 0
            || !self.byte(1).is_ascii_alphabetic()
            || quoted::character_end(self.rest()).is_some()
        {
            return false;
        }
        let last = self.out.tokens.last().filter(|last| last.end() == self.at);
        let is_word = last.is_some_and(|last| {
            let word = &self.text[last.range()];
            let is_prefix = matches!(word, b"u" | b"U" | b"L" | b"u8");
            last.kind == Kind::Word && !is_prefix && word.iter().all(u8::is_ascii_alphabetic)
        });
        let from = self.out.tokens.iter().rposition(|one| is_word && one.kind == Kind::Directive);
        let Some(from) = from else { return false };
        self.out.tokens.truncate(from + 1);
        self.at = self.out.tokens[from].end();
        let start = self.at;
        self.out.unterminated.retain(|&at| at < start);
        let mut end = self.line_end(start);
        while end < self.text.len() {
            let next = self.line_end(end + 1);
            if self.text[end + 1..next].trim_ascii_start().starts_with(b"#") {
                break;
            }
            end = next;
        }
        self.push(Kind::Text, end);
        true
    }

    fn raw_string(&mut self) {
        let rest = self.rest();
        let prefix = [&b"R\""[..], b"LR\"", b"uR\"", b"UR\"", b"u8R\""];
        let Some(prefix) = prefix.iter().find(|prefix| rest.starts_with(prefix)) else { return };
        let inner = &rest[prefix.len()..];
        // A delimiter has at most 16 characters.
        let near = &inner[..inner.len().min(17)];
        let Some(length) = near.iter().position(|&byte| byte == b'(') else { return };
        let mark = [b")", &inner[..length], b"\""].concat();
        self.until(Kind::Text, prefix.len() + length + 1, &mark);
    }

    /// Notes the heredoc with a tag at this offset, and skips the tag.
    fn heredoc(&mut self, from: usize, is_indented: bool, is_followed: bool) -> bool {
        let start = self.at + from;
        let quote = self.text.get(start).copied().filter(|byte| b"\"'`".contains(byte));
        let start = start + usize::from(quote.is_some() || self.text.get(start) == Some(&b'\\'));
        let row = near_row(&self.text[start.min(self.text.len())..]);
        let length = match quote {
            Some(quote) => memchr::memchr(quote, row).unwrap_or(0),
            None => {
                row.iter().take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_').count()
            }
        };
        if length == 0 || row[0].is_ascii_digit() {
            return false;
        }
        let tag = (start, start + length);
        self.heredocs.push(Heredoc { tag, is_indented, is_followed });
        self.push(Kind::Text, tag.1 + usize::from(quote.is_some()));
        true
    }

    /// Reads the texts that begin after a line.
    pub(super) fn heredoc_bodies(&mut self) {
        for heredoc in std::mem::take(&mut self.heredocs) {
            let tag = &self.text[heredoc.tag.0..heredoc.tag.1];
            let mut start = self.at;
            let end = loop {
                if start >= self.text.len() {
                    break None;
                }
                let end = self.line_end(start);
                let line = &self.text[start..end];
                let own = if heredoc.is_indented { line.trim_ascii_start() } else { line };
                let indent = line.len() - own.len();
                let own = own.strip_suffix(b"\r").unwrap_or(own);
                let follows = own.get(tag.len()).copied().unwrap_or(b'\n');
                let is_whole = own.len() == tag.len()
                    || heredoc.is_followed && !follows.is_ascii_alphanumeric() && follows != b'_';
                if own.starts_with(tag) && is_whole {
                    break Some(start + indent + tag.len());
                }
                start = end + 1;
            };
            match end {
                Some(end) => self.push(Kind::Text, end),
                None if self.at < self.text.len() => {
                    self.unterminated(Kind::Text);
                }
                None => self.out.add_unterminated(heredoc.tag.0, true),
            }
        }
    }

    fn heredoc_of_shell(&mut self) {
        let rest = self.rest();
        if !rest.starts_with(b"<<") || rest.starts_with(b"<<<") || self.before() == b'<' {
            return;
        }
        let is_indented = self.byte(2) == b'-';
        let mut from = 2 + usize::from(is_indented);
        while matches!(self.byte(from), b' ' | b'\t') {
            from += 1;
        }
        self.heredoc(from, is_indented, false);
    }

    fn heredoc_of_terraform(&mut self) {
        let rest = self.rest();
        if rest.starts_with(b"<<") {
            let from = 2 + usize::from(self.byte(2) == b'-');
            self.heredoc(from, true, false);
        }
    }

    /// Whether a value follows, so that `/` does not divide.
    fn expects_value(&self) -> bool {
        let Some(last) = self.last().filter(|_| !self.is_line_start) else { return true };
        match last.kind {
            Kind::Mark | Kind::Open => true,
            Kind::Word => BEFORE_VALUES.contains(&&self.text[last.range()]),
            _ => false,
        }
    }

    /// Whether a value follows a name without parentheses: `puts %w[a]`, not `a % b`.
    fn is_argument(&self) -> bool {
        let is_name = self.last().is_some_and(|last| {
            let first = self.text[last.start()];
            last.kind == Kind::Word && (first.is_ascii_lowercase() || first == b'_')
        });
        is_name
            && matches!(self.before(), b' ' | b'\t')
            && !matches!(self.byte(1), b' ' | b'=' | b'\n')
    }

    fn names_method(&self) -> bool {
        let last = self.last();
        last.is_some_and(|last| matches!(&self.text[last.range()], b"def" | b"."))
    }

    fn ruby(&mut self) {
        let (rest, byte) = (self.rest(), self.byte(0));
        let is_margin = self.before() == b'\n';
        match byte {
            b'=' if is_margin && rest.starts_with(b"=begin") => {
                self.until(Kind::Comment, 6, b"\n=end");
            }
            b'_' if is_margin
                && rest.starts_with(b"__END__")
                && rest[7..].trim_ascii_start().len() < rest.len() - 7 =>
            {
                self.push(Kind::Text, self.text.len());
            }
            b'$' if b"'\"`/&+;,.:<>!?\\~*@=".contains(&self.byte(1)) => {
                self.push(Kind::Word, self.at + 2);
            }
            b'/' | b'%' | b'`' | b'<' if self.names_method() => self.push(Kind::Mark, self.at + 1),
            b'/' if self.expects_value() || self.is_argument() => self.regex(),
            b'%' if self.expects_value() || self.is_argument() => self.percent(),
            b'?' if self.expects_value() => {
                let length = if self.byte(1) == b'\\' { 3 } else { 2 };
                if !self.byte(1).is_ascii_whitespace() && !self.is_word(self.byte(length)) {
                    self.push(Kind::Text, self.at + length);
                }
            }
            b'<' if rest.starts_with(b"<<") => self.heredoc_of_ruby(),
            _ => {}
        }
    }

    fn heredoc_of_ruby(&mut self) {
        let is_indented = matches!(self.byte(2), b'~' | b'-');
        let from = 2 + usize::from(is_indented);
        let first = self.byte(from);
        let is_tag = first.is_ascii_uppercase()
            || b"\"'`_".contains(&first)
            || is_indented && first.is_ascii_lowercase();
        if !is_tag || self.before().is_ascii_alphanumeric() {
            return;
        }
        let (at, count) = (self.at, self.out.tokens.len());
        if !self.heredoc(from, is_indented, false) || is_indented {
            return;
        }
        // `list <<ITEM` is a heredoc only if a line ends it.
        let Some(&Heredoc { tag, .. }) = self.heredocs.last() else { return };
        let (text, tag) = (self.text, &self.text[tag.0..tag.1]);
        let last_lines = self.last_lines.get_or_insert_with(|| {
            let mut start = 0;
            let lines = text.split_inclusive(|&byte| byte == b'\n').map(|line| {
                start += line.len();
                (line.trim_ascii_end(), start)
            });
            lines.collect::<HashMap<_, _>>()
        });
        if last_lines.get(tag).is_none_or(|&end| end <= at) {
            self.heredocs.pop();
            self.out.tokens.truncate(count);
            self.at = at;
        }
    }

    /// A regular expression, which ends in its line unless it begins at the end of one.
    fn regex(&mut self) {
        let is_multiline = near_row(self.rest())[1..].trim_ascii().is_empty();
        self.enclosed(b'/', is_multiline, self.has(Extra::Ruby), 1);
    }

    /// A regular expression that ends in its line. A `/` that is an operator can have the parenthesis
    /// after it that closes one before it: `a.reduce(1, /)`.
    fn regex_in_line(&mut self) {
        if self.byte(0) != b'/'
            || matches!(self.byte(1), b'/' | b'*' | b' ' | b'\t' | b'\r' | b'\n')
            || !self.expects_value()
        {
            return;
        }
        let row = near_row(self.rest());
        let (mut at, mut depth, mut is_class) = (1, 0_usize, false);
        while let Some(&byte) = row.get(at) {
            match byte {
                b'\\' => at += 1,
                b'[' => is_class = true,
                b']' => is_class = false,
                _ if is_class => {}
                b'/' => return self.push(Kind::Text, self.at + at + 1),
                b'(' => depth += 1,
                b')' if depth == 0 => return,
                b')' => depth -= 1,
                _ => {}
            }
            at += 1;
        }
    }

    /// `%w[…]`, `%(…)`, `%r{…}`.
    fn percent(&mut self) {
        let letter = self.byte(1);
        let skipped = 1 + usize::from(b"wWiIqQrsx".contains(&letter));
        let open = self.byte(skipped);
        let is_delimiter =
            if skipped == 1 { b"([{<|!/".contains(&open) } else { open.is_ascii_punctuation() };
        if is_delimiter {
            self.enclosed(open, true, b"wiqs".iter().all(|one| *one != letter), skipped + 1);
        }
    }

    /// A text until a delimiter, with nested brackets.
    fn enclosed(&mut self, open: u8, is_multiline: bool, has_code: bool, skipped: usize) {
        let close = match open {
            b'(' => b')',
            b'[' => b']',
            b'{' => b'}',
            b'<' => b'>',
            other => other,
        };
        // Code ends in them, too: otherwise a line of `/#{` would be read again at each of them.
        let near = if is_multiline {
            self.text
        } else {
            &self.text[..self.at + near_row(self.rest()).len()]
        };
        let (mut depth, mut at) = (0_usize, self.at + skipped);
        while let Some(&byte) = near.get(at) {
            if byte == b'\\' {
                at += if self.text[at + 1..].starts_with(b"\r\n") { 3 } else { 2 };
                continue;
            }
            if has_code && self.text[at..].starts_with(b"#{") && close != b'}' {
                let limit = if is_multiline { near.len() } else { at + quoted::CODE_LIMIT_BYTES };
                let code = &near[..near.len().min(limit)];
                match quoted::end_of_code(code, at + 2, self.lexicon) {
                    Some(end) => at = end,
                    None => break,
                }
                continue;
            }
            match byte {
                _ if byte == close && depth == 0 => return self.push(Kind::Text, at + 1),
                _ if byte == close && open != close => depth -= 1,
                _ if byte == open && open != close => depth += 1,
                _ => {}
            }
            at += 1;
        }
        if is_multiline {
            self.unterminated(Kind::Text);
        }
    }

    fn php(&mut self) {
        let rest = self.rest();
        if rest.starts_with(b"?>") {
            self.html();
        } else if rest.starts_with(b"#[") {
            self.push(Kind::Mark, self.at + 1);
        } else if rest.starts_with(b"//") || rest.starts_with(b"#") {
            let end = self.line_end(self.at);
            let inner =
                memmem::find(&self.text[self.at..end], b"?>").map_or(end, |at| self.at + at);
            let trimmed = self.text[self.at..inner].trim_ascii_end().len();
            self.push(Kind::Comment, self.at + trimmed);
        } else if rest.starts_with(b"<<<") {
            let blanks = rest[3..].iter().take_while(|byte| **byte == b' ').count();
            self.heredoc(3 + blanks, true, true);
        }
    }

    /// The text until the next `<?php`.
    pub(super) fn html(&mut self) {
        let mut end = self.at;
        loop {
            let Some(at) = memmem::find(&self.text[end..], b"<?") else {
                return self.push(Kind::Text, self.text.len());
            };
            end += at + 2;
            let after = &self.text[end..];
            if after.starts_with(b"php") {
                return self.push(Kind::Text, end + 3);
            }
            if after.first().is_none_or(|&byte| byte == b'=' || byte.is_ascii_whitespace()) {
                return self.push(Kind::Text, end + usize::from(after.starts_with(b"=")));
            }
        }
    }

    fn long_bracket(&mut self) {
        let rest = self.rest();
        let is_comment = rest.starts_with(b"--[");
        let inner = if is_comment { &rest[2..] } else { rest };
        if inner.first() != Some(&b'[') {
            return;
        }
        let level = inner[1..].iter().take_while(|&&byte| byte == b'=').count();
        if inner.get(level + 1) == Some(&b'[') {
            let mark = [&b"]"[..], &inner[1..=level], b"]"].concat();
            let kind = if is_comment { Kind::Comment } else { Kind::Text };
            self.until(kind, level + 2, &mark);
        }
    }

    fn sigil(&mut self) {
        let rest = self.rest();
        if rest[0] == b'?' && !self.is_word(self.before()) {
            let length = if self.byte(1) == b'\\' { 3 } else { 2 };
            if !self.byte(1).is_ascii_whitespace() {
                self.push(Kind::Text, self.at + length);
            }
            return;
        }
        let letters = rest[1..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        if rest[0] != b'~' || letters == 0 {
            return;
        }
        let skipped = 1 + letters;
        let is_raw = rest[1].is_ascii_uppercase();
        let long =
            ["\"\"\"", "'''"].into_iter().find(|mark| rest[skipped..].starts_with(mark.as_bytes()));
        let open = self.byte(skipped);
        if let Some(mark) = long {
            self.until(Kind::Text, skipped + 3, mark.as_bytes());
        } else if b"/|\"'([{<".contains(&open) {
            self.enclosed(open, true, !is_raw, skipped + 1);
        }
    }

    fn dollar_quote(&mut self) {
        let rest = self.rest();
        if rest[0] != b'$' {
            return;
        }
        let tag = rest[1..]
            .iter()
            .take_while(|&&byte| byte.is_ascii_alphanumeric() || byte == b'_')
            .count();
        if rest.get(tag + 1) != Some(&b'$') || rest[1].is_ascii_digit() {
            return;
        }
        // A function is code, in which other quotes of this kind are texts.
        let mark = &rest[..tag + 2];
        match self.dollars {
            Some(open) if open == mark => {
                self.dollars = None;
                self.push(Kind::Close, self.at + mark.len());
            }
            None if memmem::find(&rest[mark.len()..], mark).is_some() => {
                self.dollars = Some(mark);
                self.push(Kind::Open, self.at + mark.len());
            }
            _ => self.until(Kind::Text, mark.len(), mark),
        }
    }

    fn url(&mut self) {
        let rest = self.rest();
        if !rest.starts_with(b"url(") || self.is_word(self.before()) {
            return;
        }
        let inner = &rest[4..rest.len().min(4 + 4096)];
        let is_quoted =
            matches!(inner.trim_ascii_start().first(), Some(b'"' | b'\'' | b'#' | b'$'));
        if let Some(end) = inner.iter().position(|&byte| byte == b')').filter(|_| !is_quoted) {
            self.push(Kind::Text, self.at + 4 + end + 1);
        }
    }

    /// `${…}`, and `((…))` in one line.
    fn shell(&mut self) {
        if self.rest().starts_with(b"${") {
            return match quoted::end_of_code(self.text, self.at + 2, self.lexicon) {
                Some(end) => self.push(Kind::Text, end),
                None => self.unterminated(Kind::Text),
            };
        }
        if !self.rest().starts_with(b"((") {
            return;
        }
        let mut depth = 0_usize;
        for (at, &byte) in near_row(self.rest()).iter().enumerate() {
            match byte {
                b'(' => depth += 1,
                b')' => depth -= 1,
                _ => {}
            }
            if depth == 0 {
                return self.push(Kind::Text, self.at + at + 1);
            }
        }
    }
}
