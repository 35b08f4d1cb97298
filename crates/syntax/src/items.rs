//! The top-level items of a Rust text, without parsing it: the text between places where no bracket,
//! string or comment is open.

use std::ops::Range;

use memchr::memmem;

/// Consecutive items: whole lines.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Items {
    pub bytes: Range<usize>,
    /// The number of lines above them.
    pub lines_above: u32,
}

/// The items at ascending places, with the comments and attributes above them. `None` if brackets or
/// comments do not match.
pub(crate) fn items_at(text: &[u8], places: &[usize]) -> Option<Vec<Items>> {
    let mut scan = Scan { text, at: 0, depth: 0 };
    let mut items: Vec<Items> = Vec::new();
    let (mut start, mut places) = (0, places.iter().peekable());
    let (mut lines, mut counted) = (0, 0);
    while places.peek().is_some() {
        let end = scan.next_end()?;
        if places.next_if(|&&place| place < end).is_some() {
            while places.next_if(|&&place| place < end).is_some() {}
            lines += memchr::memchr_iter(b'\n', &text[counted..start]).count() as u32;
            counted = start;
            items.push(Items { bytes: start..end, lines_above: lines });
        }
        start = end;
    }
    Some(items)
}

struct Scan<'t> {
    text: &'t [u8],
    at: usize,
    depth: usize,
}

impl Scan<'_> {
    /// The end of the line on which the next item ends, or of the text; `None` if brackets do not
    /// match.
    fn next_end(&mut self) -> Option<usize> {
        // Whether nothing follows an item on its last line so far.
        let mut is_after_item = false;
        while let Some(&byte) = self.text.get(self.at) {
            self.at += 1;
            match byte {
                b'\n' if is_after_item => return Some(self.at),
                b' ' | b'\t' | b'\r' | b'\n' => continue,
                b'/' if self.skip_comment()? => continue,
                b'(' | b'[' | b'{' => self.depth += 1,
                b')' | b']' | b'}' => self.depth = self.depth.checked_sub(1)?,
                b'"' => self.skip_string()?,
                b'\'' => self.skip_char(),
                _ => {}
            }
            is_after_item = self.depth == 0 && matches!(byte, b'}' | b';');
        }
        (self.depth == 0).then_some(self.text.len())
    }

    /// Skips a comment after its first slash; its newline is not skipped. Comments may be nested.
    fn skip_comment(&mut self) -> Option<bool> {
        match self.text.get(self.at) {
            Some(b'/') => {
                let rest = &self.text[self.at..];
                self.at += memchr::memchr(b'\n', rest).unwrap_or(rest.len());
                Some(true)
            }
            Some(b'*') => {
                self.at += 1;
                let mut depth = 1;
                while depth > 0 {
                    let next = memchr::memchr2(b'*', b'/', self.text.get(self.at..)?)?;
                    let pair = self.text.get(self.at + next..self.at + next + 2)?;
                    self.at += next + 1 + usize::from(matches!(pair, b"*/" | b"/*"));
                    match pair {
                        b"*/" => depth -= 1,
                        b"/*" => depth += 1,
                        _ => {}
                    }
                }
                Some(true)
            }
            _ => Some(false),
        }
    }

    /// Skips a string after its first quote.
    fn skip_string(&mut self) -> Option<()> {
        let before = &self.text[..self.at - 1];
        let hashes = before.iter().rev().take_while(|&&byte| byte == b'#').count();
        let prefix = &before[..before.len() - hashes];
        if prefix.ends_with(b"r") {
            let end: Vec<u8> = [b'"'].into_iter().chain(vec![b'#'; hashes]).collect();
            self.at += memmem::find(&self.text[self.at..], &end)? + end.len();
            return Some(());
        }
        loop {
            self.at += memchr::memchr2(b'"', b'\\', self.text.get(self.at..)?)? + 1;
            match self.text[self.at - 1] {
                b'"' => return Some(()),
                _ => self.at += 1,
            }
        }
    }

    /// Skips a character after its first quote, unless it is a lifetime.
    fn skip_char(&mut self) {
        let rest = &self.text[self.at..];
        let length = match rest.first() {
            Some(b'\\') => {
                2 + memchr::memchr(b'\'', rest.get(2..).unwrap_or_default()).unwrap_or(0)
            }
            Some(first) => match first.leading_ones() {
                0 => 1,
                ones => ones as usize,
            },
            None => return,
        };
        if rest.get(length) == Some(&b'\'') {
            self.at += length + 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The texts of the items at all places with `@`.
    fn found(text: &str) -> Option<Vec<(&str, u32)>> {
        let places: Vec<usize> = text.match_indices('@').map(|(at, _)| at).collect();
        let items = items_at(text.as_bytes(), &places)?;
        Some(items.into_iter().map(|one| (&text[one.bytes], one.lines_above)).collect())
    }

    #[test]
    fn items_end_where_no_bracket_string_or_comment_is_open() {
        for decoy in [
            "// }\n",
            "/* /* } */ }\n*/\n",
            "const A: &str = \"}\\\"\n}\n\";\n",
            "const A: &str = r#\"}\n\"}\n\"#;\n",
            "const A: &[u8] = br\"\\\";\n",
            "const A: char = '{';\n",
            "const A: char = '\\'';\n",
            "const A: char = '\\u{7b}';\n",
            "const A: u8 = b'\"';\n",
            "const A: char = 'é';\n",
            "fn a<'a>(b: &'a str) {\n}\n",
            "use a::{\n    b,\n};\n",
        ] {
            let text =
                format!("{decoy}struct A; // Not above.\n// Above.\nfn @() {{\n}}\nfn b() {{}}\n");
            let lines = decoy.matches('\n').count() as u32 + 1;
            assert_eq!(found(&text), Some(vec![("// Above.\nfn @() {\n}\n", lines)]), "{decoy}");
        }
    }

    #[test]
    fn texts_that_do_not_end_are_not_divided() {
        for text in ["fn @() {", "fn a() }\n@", "/* @", "\"@", "\"@\\", "r#\"@\"", "@ /*/", "@ /**"]
        {
            assert_eq!(found(text), None, "{text}");
        }
        for text in ["@ /", "@ '", "@ '\\", "@ 'é", "@ //"] {
            assert_eq!(found(text), Some(vec![(text, 0)]), "{text}");
        }
        assert_eq!(found(""), Some(vec![]));
        assert_eq!(found("@"), Some(vec![("@", 0)]));
    }
}
