//! Texts of Ruby.

use std::collections::HashMap;

use super::Scanner;
use super::code::Enclosed;
use super::extra::{Heredoc, near_row};
use crate::lexical::table::Extra;
use crate::lexical::token::Kind;

/// Symbols that are operators, longer ones first.
const OPERATORS: &[&[u8]] = &[
    b"[]=", b"<=>", b"===", b"[]", b"**", b"==", b"=~", b"!=", b"!~", b"<<", b">>", b"<=", b">=",
    b"+@", b"-@", b"+", b"-", b"*", b"/", b"%", b"<", b">", b"!", b"&", b"|", b"^", b"~", b"`",
];

impl Scanner<'_> {
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

    /// Whether a call precedes whose value may be divided: `yield / 2`.
    fn follows_call(&self) -> bool {
        let last = self.last();
        last.is_some_and(|last| matches!(&self.text[last.range()], b"yield" | b"puts" | b"assert"))
    }

    /// Whether the parameters of a definition end here: `def f(a) /b/ end`.
    fn follows_parameters(&self) -> bool {
        let start = memchr::memrchr(b'\n', &self.text[..self.at]).map_or(0, |at| at + 1);
        let line = self.text[start..self.at].trim_ascii();
        let has_one = memchr::memchr_iter(b')', line).count() == 1;
        line.starts_with(b"def ") && line.ends_with(b")") && has_one
    }

    pub(super) fn ruby(&mut self) {
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
            b'/' if self.follows_parameters() || self.expects_value() && !self.follows_call() => {
                self.regex(true);
            }
            b'/' if self.is_argument() => self.regex(false),
            b'%' if self.expects_value() || self.is_argument() => self.percent(),
            b'?' if self.expects_value() => {
                let length = if self.byte(1) == b'\\' { 3 } else { 2 };
                if !self.byte(1).is_ascii_whitespace() && !self.is_word(self.byte(length)) {
                    self.push(Kind::Text, self.at + length);
                }
            }
            b':' if self.before() != b':' => self.symbol(),
            b'<' if rest.starts_with(b"<<") => self.heredoc_of_ruby(),
            _ => {}
        }
    }

    /// `:/`, `:[]=`, `:size=`.
    fn symbol(&mut self) {
        if !self.expects_value() && !self.is_argument() {
            return;
        }
        let inner = &self.rest()[1..];
        let name = inner.iter().take_while(|&&byte| self.is_word(byte)).count();
        let after = inner.get(name + 1).copied().unwrap_or(b'\n');
        if let Some(name) = OPERATORS.iter().find(|name| inner.starts_with(name)) {
            self.push(Kind::Word, self.at + 1 + name.len());
        } else if name > 0 && inner.get(name) == Some(&b'=') && !b"=~>".contains(&after) {
            self.push(Kind::Word, self.at + 1 + name + 1);
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
        if self.last_line(tag).is_none_or(|end| end <= at) {
            self.heredocs.pop();
            self.out.tokens.truncate(count);
            self.at = at;
        }
    }

    /// The end of the last line that has only this text, given by its offsets.
    fn last_line(&mut self, (start, end): (usize, usize)) -> Option<usize> {
        let whole = self.whole;
        let last_lines = self.last_lines.get_or_insert_with(|| {
            let mut start = 0;
            let lines = whole.split_inclusive(|&byte| byte == b'\n').map(|line| {
                start += line.len();
                (line.trim_ascii_end(), start)
            });
            lines.collect::<HashMap<_, _>>()
        });
        last_lines.get(&whole[start..end]).copied()
    }

    /// A regular expression, which ends in its line unless a value is expected.
    pub(super) fn regex(&mut self, is_multiline: bool) {
        let is_multiline = is_multiline || near_row(self.rest())[1..].trim_ascii().is_empty();
        let has_code = self.has(Extra::Ruby);
        self.enclosed(Enclosed { open: b'/', skipped: 1, has_code, nests: false, is_multiline });
    }

    /// `%w[…]`, `%(…)`, `%r{…}`.
    fn percent(&mut self) {
        let letter = self.byte(1);
        let letters = usize::from(b"wWiIqQrsx".contains(&letter));
        let open = self.byte(1 + letters);
        let is_delimiter =
            if letters == 0 { b"([{<|!/".contains(&open) } else { open.is_ascii_punctuation() };
        if is_delimiter {
            let has_code = !b"wiqs".contains(&letter);
            let nests = b"([{<".contains(&open);
            let skipped = 2 + letters;
            self.enclosed(Enclosed { open, skipped, has_code, nests, is_multiline: true });
        }
    }
}
