//! Markup → its tokens: start tags open, end tags close.

use memchr::memmem;

use super::scan::Scanned;
use super::table::{JAVASCRIPT, SCSS, Tags};
use super::token::{Kind, Token};
use crate::budget::Meter;

/// Elements of HTML without an end tag.
const VOID: &[&[u8]] = &[
    b"area", b"base", b"br", b"col", b"embed", b"hr", b"img", b"input", b"link", b"meta", b"param",
    b"source", b"track", b"wbr",
];

/// Elements of HTML whose end tag is optional.
const OPTIONAL: &[&[u8]] = &[
    b"p",
    b"li",
    b"dt",
    b"dd",
    b"td",
    b"th",
    b"tr",
    b"thead",
    b"tbody",
    b"tfoot",
    b"option",
    b"optgroup",
    b"colgroup",
    b"rp",
    b"rt",
    b"html",
    b"head",
    b"body",
];

/// Elements of HTML that contain no elements.
const RAW: &[&[u8]] =
    &[b"script", b"style", b"textarea", b"title", b"iframe", b"noembed", b"noframes", b"xmp"];

/// Parts of markup other than tags.
const OTHERS: &[(&str, &str, Kind)] = &[
    ("<!--", "-->", Kind::Comment),
    ("<![CDATA[", "]]>", Kind::Text),
    ("<?", "?>", Kind::Text),
    ("<%", "%>", Kind::Text),
    ("{{", "}}", Kind::Text),
    ("{%", "%}", Kind::Text),
    ("{#", "#}", Kind::Comment),
];

/// Blocks of templates that contain any text, and what ends them.
const RAW_BLOCKS: &[(&str, &str)] = &[
    ("raw", "endraw"),
    ("verbatim", "endverbatim"),
    ("comment", "endcomment"),
    ("highlight", "endhighlight"),
];

/// How far a tag of a template with quotes is read in a value.
const TEMPLATE_BYTES: usize = 200;

/// The name of an element or block, from its token.
pub(super) fn name_of(text: &[u8], token: Token) -> &[u8] {
    let own = &text[token.range()];
    let start = own.iter().take_while(|byte| matches!(byte, b'<' | b'{' | b'/' | b'#')).count();
    let length = own[start..].iter().take_while(|&&byte| is_name(byte)).count();
    &own[start..start + length]
}

/// Whether an element of HTML may end without an end tag.
pub(super) fn is_optional(tags: Tags, name: &[u8]) -> bool {
    tags == Tags::Html && OPTIONAL.iter().any(|one| name.eq_ignore_ascii_case(one))
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b':' | b'.') || !byte.is_ascii()
}

/// Scans markup; incomplete if the budget is spent.
pub(super) fn scan(text: &[u8], tags: Tags, meter: &Meter<'_>) -> Scanned {
    let mut scanner = Scanner { text, tags, at: 0, unended: Vec::new(), out: Scanned::default() };
    while scanner.at < text.len() && meter.step() {
        scanner.next(meter);
    }
    scanner.out
}

struct Scanner<'a> {
    text: &'a [u8],
    tags: Tags,
    at: usize,
    /// What does not end in the rest of the text.
    unended: Vec<&'static str>,
    out: Scanned,
}

impl Scanner<'_> {
    fn push(&mut self, kind: Kind, end: usize) {
        self.out.tokens.push(Token::new(kind, self.at, end));
        self.at = end;
    }

    fn unterminated(&mut self, kind: Kind) {
        self.out.add_unterminated(self.at, true);
        self.push(kind, self.text.len());
    }

    fn next(&mut self, meter: &Meter<'_>) {
        let rest = &self.text[self.at..];
        let is_template = |open: &str| open.starts_with('{') || open == "<%";
        let other = OTHERS.iter().find(|(open, ..)| {
            let is_known = match self.tags {
                Tags::Xml => !is_template(open),
                Tags::Html => true,
                Tags::Vue => !matches!(*open, "{%" | "{#" | "<%"),
                Tags::Svelte => !is_template(open),
            };
            is_known && rest.starts_with(open.as_bytes()) && !self.unended.contains(open)
        });
        if let Some(&(open, close, kind)) = other {
            match memmem::find(&rest[open.len()..], close.as_bytes()) {
                Some(at) => {
                    let end = self.at + open.len() + at + close.len();
                    let block = if open == "{%" { self.raw_block(end) } else { None };
                    self.push(kind, block.unwrap_or(end));
                }
                // In plain text, braces are only characters.
                None if is_template(open) => {
                    self.unended.push(open);
                    self.push(Kind::Mark, self.at + open.len());
                }
                None => self.unterminated(kind),
            }
            return;
        }
        match rest[0] {
            b'<' => self.tag(meter),
            b'{' if self.tags == Tags::Svelte => self.braces(),
            byte if byte.is_ascii_whitespace() => self.at += 1,
            _ => {
                let is_end =
                    |byte: &u8| matches!(byte, b'<' | b'{' | b'\n') || byte.is_ascii_whitespace();
                let length = rest[1..].iter().position(is_end).map_or(rest.len(), |at| at + 1);
                self.push(Kind::Word, self.at + length);
            }
        }
    }

    /// Where the text of the block ends that a tag of a template begins: `{% raw %}a{% endraw %}`.
    fn raw_block(&mut self, end: usize) -> Option<usize> {
        let tag = self.text[self.at + 2..end].trim_ascii_start();
        let tag = tag.strip_prefix(b"-").unwrap_or(tag).trim_ascii_start();
        let length = tag.iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
        let name = &tag[..length];
        let &(_, last) = RAW_BLOCKS.iter().find(|(first, _)| first.as_bytes() == name)?;
        if self.unended.contains(&last) {
            return None;
        }
        let close = |from: usize| Some(from + memmem::find(&self.text[from..], b"%}")? + 2);
        let found = memmem::find(&self.text[end..], last.as_bytes()).and_then(|at| close(end + at));
        if found.is_none() {
            self.unended.push(last);
        }
        found
    }

    fn tag(&mut self, meter: &Meter<'_>) {
        let rest = &self.text[self.at..];
        let is_end = rest.get(1) == Some(&b'/');
        let first = rest.get(1 + usize::from(is_end)).copied().unwrap_or(b' ');
        if rest.get(1) == Some(&b'!') {
            return self.declaration();
        }
        if !first.is_ascii_alphabetic() && first != b'_' && first != b'>' {
            return self.push(Kind::Mark, self.at + 1);
        }
        let Some(end) = self.tag_end(self.at + 1) else { return self.unterminated(Kind::Text) };
        // `a < b`: no tag contains another one.
        if self.text[end - 1] == b'<' {
            return self.push(Kind::Mark, self.at + 1);
        }
        let token = Token::new(Kind::Open, self.at, end);
        let name = name_of(self.text, token);
        let is_void =
            self.tags != Tags::Xml && VOID.iter().any(|one| name.eq_ignore_ascii_case(one));
        if is_end {
            return self.push(if is_void { Kind::Text } else { Kind::Close }, end);
        }
        let is_closed =
            || self.is_self_closing(self.at + 1 + name.len(), end) && !self.has_end_tag(end, name);
        if is_void || is_closed() {
            return self.push(Kind::Text, end);
        }
        let is_raw = match self.tags {
            Tags::Xml => false,
            Tags::Html => RAW.iter().any(|one| name.eq_ignore_ascii_case(one)),
            _ => matches!(name, b"script" | b"style"),
        };
        let name = name.to_owned();
        self.push(Kind::Open, end);
        if is_raw {
            self.raw(&name, meter);
        }
    }

    /// Whether a tag ends with `/>`. In HTML, `/` can be the end of a value: `<a href=/x/>`.
    fn is_self_closing(&self, from: usize, end: usize) -> bool {
        let Some(tag) = self.text[from..end].strip_suffix(b"/>") else { return false };
        let value =
            tag.iter().rposition(|byte| byte.is_ascii_whitespace() || b"=\"'".contains(byte));
        let has_value = value.is_some_and(|at| tag[at] == b'=');
        !(self.tags == Tags::Html && has_value)
    }

    /// Whether an end tag follows directly. In HTML, `<a/>` does not close it.
    fn has_end_tag(&self, end: usize, name: &[u8]) -> bool {
        let after = self.text[end..].strip_prefix(b"</").filter(|_| self.tags == Tags::Html);
        after.is_some_and(|after| {
            after.get(..name.len()).is_some_and(|own| own.eq_ignore_ascii_case(name))
                && after.get(name.len()).is_none_or(|&byte| !is_name(byte))
        })
    }

    /// `<!DOCTYPE html>`, with brackets in XML.
    fn declaration(&mut self) {
        let mut depth = 0_usize;
        for (at, &byte) in self.text.iter().enumerate().skip(self.at) {
            match byte {
                b'<' | b'[' => depth += 1,
                b'>' | b']' => depth = depth.saturating_sub(1),
                _ => {}
            }
            if depth == 0 {
                return self.push(Kind::Text, at + 1);
            }
        }
        self.unterminated(Kind::Text);
    }

    /// The text of a script, until its end tag.
    fn raw(&mut self, name: &[u8], meter: &Meter<'_>) {
        let mut from = self.at;
        while let Some(at) = memmem::find(&self.text[from..], b"</") {
            let start = from + at + 2;
            let end = (start + name.len()).min(self.text.len());
            if self.text[start..end].eq_ignore_ascii_case(name) {
                return self.content(name, start - 2, meter);
            }
            from = start;
        }
        self.unterminated(Kind::Text);
    }

    /// The rules of a style sheet, or the text of a script.
    fn content(&mut self, name: &[u8], end: usize, meter: &Meter<'_>) {
        if name.eq_ignore_ascii_case(b"style") && !self.text[self.at..end].contains(&b'<') {
            let scanned = super::scan::scan(&self.text[self.at..end], &SCSS, meter);
            let tokens = scanned.tokens.into_iter();
            self.out.tokens.extend(tokens.map(|token| token.shifted(self.at)));
            for at in scanned.unterminated {
                self.out.add_unterminated(at + self.at, scanned.torn == Some(at));
            }
        } else if end > self.at {
            self.out.tokens.push(Token::new(Kind::Text, self.at, end));
        }
        self.at = end;
    }

    /// The end of a tag, after its attributes.
    fn tag_end(&mut self, from: usize) -> Option<usize> {
        let has_templates = matches!(self.tags, Tags::Html | Tags::Vue);
        let (mut at, mut plain_until) = (from, from);
        while let Some(&byte) = self.text.get(at) {
            match byte {
                b'>' => return Some(at + 1),
                b'"' | b'\''
                    if matches!(self.text[at - 1], b'=')
                        || self.text[at - 1].is_ascii_whitespace() =>
                {
                    at = self.value_end(at + 1, byte)?;
                }
                b'{' if self.tags == Tags::Svelte => at = self.braces_end(at)? - 1,
                b'}' if self.tags == Tags::Svelte => self.out.add_surplus(at),
                // Code of a template in a tag.
                b'<' if self.tags == Tags::Html
                    && matches!(self.text.get(at + 1), Some(b'?' | b'%')) =>
                {
                    let mark = self.text[at + 1];
                    at += memmem::find(&self.text[at..], &[mark, b'>'])? + 1;
                }
                b'{' if has_templates
                    && at >= plain_until
                    && self.text.get(at + 1) == Some(&b'{') =>
                {
                    let length = memchr::memchr(b'<', &self.text[at..]);
                    let end = length.map_or(self.text.len(), |length| at + length);
                    match memmem::find(&self.text[at..end], b"}}") {
                        Some(length) => at += length + 1,
                        None => plain_until = end,
                    }
                }
                b'<' => return Some(at + 1),
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// The quote that ends a value, not one in a template: `a="{% if b == "c" %}d{% endif %}"`.
    fn value_end(&self, mut from: usize, quote: u8) -> Option<usize> {
        loop {
            let end = from + memchr::memchr(quote, &self.text[from..])?;
            let value = &self.text[from..end];
            let open = memmem::rfind(value, b"{%").max(memmem::rfind(value, b"{{"));
            let Some(open) = open.filter(|_| self.tags == Tags::Html) else { return Some(end) };
            let close = if value[open + 1] == b'%' { b"%}" } else { b"}}" };
            if memmem::find(&value[open..], close).is_some() {
                return Some(end);
            }
            let near = &self.text[end..self.text.len().min(end + TEMPLATE_BYTES)];
            let row = near.split(|byte| b"<>\n".contains(byte)).next().unwrap_or(near);
            let Some(at) = memmem::find(row, close) else { return Some(end) };
            from = end + at + close.len();
        }
    }

    /// `{expression}`, `{#if …}` and `{/if}` of Svelte.
    fn braces(&mut self) {
        let rest = &self.text[self.at..];
        if rest.starts_with(b"{/") {
            let name = rest[2..].iter().take_while(|byte| byte.is_ascii_alphabetic()).count();
            let after = rest[2 + name..].trim_ascii_start();
            if name > 0 && after.starts_with(b"}") {
                return self.push(Kind::Close, self.text.len() - after.len() + 1);
            }
        }
        let Some(end) = self.braces_end(self.at) else { return self.unterminated(Kind::Text) };
        self.push(if rest.starts_with(b"{#") { Kind::Open } else { Kind::Text }, end);
    }

    /// The end of an expression in braces, with texts and comments in it.
    fn braces_end(&mut self, from: usize) -> Option<usize> {
        let (end, surplus) = super::scan::end_of_brackets(self.text, from, &JAVASCRIPT)?;
        if let Some(at) = surplus {
            self.out.add_surplus(at);
        }
        Some(end)
    }
}
