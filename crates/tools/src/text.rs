//! JSON as models write it. Parsers of JSON lack two things that are needed here: a string with half a
//! character in it is a value of its own, and a text of which only a part has arrived is read so far.

use std::collections::HashSet;

use hashline_core::Error;
use hashline_core::host::{VALUE, Value, unique_keys};

/// How deep arguments may nest.
pub const MAX_DEPTH: usize = 64;
/// How many values they may hold.
pub const MAX_VALUES: usize = 1_000_000;

/// Why what a model wrote is no value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// It nests too deep, or has no end.
    TooDeep,
    /// It holds too many values.
    TooMany,
    /// Its text is no JSON: what is wrong, and where.
    NoJson(String),
    /// An object has a key twice: which, and where.
    KeyTwice(String),
    /// It is no data: looking at it failed.
    NoData,
}

/// The value that a text holds. What a field `value` holds stays as it is written.
pub fn parsed(text: &str) -> Result<Value, Unreadable> {
    let mut parser = Parser::new(text, Extent::Whole);
    let stop = match parser.value(0) {
        Ok(value) if parser.peek().is_none() => {
            let twice = |error: Error| Unreadable::KeyTwice(error.message.into());
            return unique_keys(text).map(|()| value).map_err(twice);
        }
        Ok(_) => Stop::Expected("nothing behind the value"),
        Err(stop) => stop,
    };
    Err(match stop {
        Stop::Unreadable(why) => why,
        Stop::Expected(what) => parser.expected(what),
    })
}

/// What a text that breaks off says until then, without halves of characters.
pub fn so_far(text: &str) -> Option<Value> {
    Parser::new(text, Extent::Part).value(0).ok()
}

/// What stands in a text that is one block of code.
pub fn without_fence(text: &str) -> Option<&str> {
    let inside = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    Some(inside.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric()))
}

/// How much of a text there is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    /// What has arrived so far. What goes wrong in it is taken for its end.
    Part,
}

/// Why there is no value.
enum Stop {
    Unreadable(Unreadable),
    Expected(&'static str),
}

struct Parser<'t> {
    text: &'t str,
    at: usize,
    values_left: usize,
    extent: Extent,
}

impl<'t> Parser<'t> {
    fn new(text: &'t str, extent: Extent) -> Parser<'t> {
        Parser { text, at: 0, values_left: MAX_VALUES, extent }
    }

    /// The next byte that is no white space.
    fn peek(&mut self) -> Option<u8> {
        let rest = &self.text.as_bytes()[self.at..];
        let is_blank = |byte: &u8| matches!(byte, b' ' | b'\t' | b'\n' | b'\r');
        self.at += rest.iter().take_while(|byte| is_blank(byte)).count();
        self.text.as_bytes().get(self.at).copied()
    }

    /// Takes a byte, if it is the next one.
    fn take(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.at += usize::from(is_next);
        is_next
    }

    fn value(&mut self, depth: usize) -> Result<Value, Stop> {
        let too_many = Stop::Unreadable(Unreadable::TooMany);
        self.values_left = self.values_left.checked_sub(1).ok_or(too_many)?;
        match self.peek() {
            Some(b'{' | b'[') if depth >= MAX_DEPTH => Err(Stop::Unreadable(Unreadable::TooDeep)),
            Some(b'{') => self.object(depth + 1),
            Some(b'[') => self.array(depth + 1),
            Some(b'"') => Ok(self.string()?.map_or(Value::IllFormed, Value::String)),
            _ => self.plain(),
        }
    }

    /// Ends a list of things: at its closing bracket, or where a part of a text ends.
    fn list(
        &mut self,
        close: u8,
        expected: &'static str,
        mut one: impl FnMut(&mut Self) -> Result<(), Stop>,
    ) -> Result<(), Stop> {
        self.at += 1;
        if self.take(close) {
            return Ok(());
        }
        loop {
            let took = one(self);
            match took {
                Err(_) if self.extent == Extent::Part => {
                    self.at = self.text.len();
                    return Ok(());
                }
                other => other?,
            }
            if self.take(close) {
                return Ok(());
            }
            if !self.take(b',') {
                return if self.extent == Extent::Part {
                    self.at = self.text.len();
                    Ok(())
                } else {
                    Err(Stop::Expected(expected))
                };
            }
        }
    }

    fn array(&mut self, depth: usize) -> Result<Value, Stop> {
        let mut items = Vec::new();
        self.list(b']', "a comma or ]", |parser| {
            items.push(parser.value(depth)?);
            Ok(())
        })?;
        Ok(Value::Array(items))
    }

    fn object(&mut self, depth: usize) -> Result<Value, Stop> {
        let mut fields = Vec::new();
        self.list(b'}', "a comma or }", |parser| {
            if parser.peek() != Some(b'"') {
                return Err(Stop::Expected("a key in double quotes"));
            }
            let key = parser.string()?.unwrap_or_else(|| char::REPLACEMENT_CHARACTER.to_string());
            if !parser.take(b':') {
                return Err(Stop::Expected("a colon"));
            }
            parser.peek();
            let start = parser.at;
            let value = parser.value(depth)?;
            let value = match key.as_str() {
                VALUE if parser.extent == Extent::Whole => {
                    Value::Json(parser.text[start..parser.at].to_owned())
                }
                _ => value,
            };
            fields.push((key, value));
            Ok(())
        })?;
        keep_last(&mut fields);
        Ok(Value::Object(fields))
    }

    /// A string; none if half a character is in it.
    fn string(&mut self) -> Result<Option<String>, Stop> {
        self.at += 1;
        let mut is_well_formed = true;
        let mut string = String::new();
        loop {
            let rest = &self.text[self.at..];
            let end = rest.find(|char| matches!(char, '"' | '\\' | '\0'..='\u{1f}'));
            string += &rest[..end.unwrap_or(rest.len())];
            self.at += end.unwrap_or(rest.len());
            match self.text.as_bytes().get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => match self.escaped() {
                    Some(Ok(char)) => string.push(char),
                    Some(Err(_)) => is_well_formed = false,
                    None if self.extent == Extent::Part => {
                        self.at = self.text.len();
                        break;
                    }
                    None => return Err(Stop::Expected("an escape that JSON has")),
                },
                None if self.extent == Extent::Part => break,
                Some(_) => return Err(Stop::Expected("no control character in a string")),
                None => return Err(Stop::Expected("a closing quote")),
            }
        }
        Ok((is_well_formed || self.extent == Extent::Part).then_some(string))
    }

    /// The character of an escape, or half a one; none if JSON has no such escape.
    fn escaped(&mut self) -> Option<Result<char, u16>> {
        let escape = *self.text.as_bytes().get(self.at + 1)?;
        let char = match escape {
            b'"' | b'\\' | b'/' => escape as char,
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.code_point(),
            _ => return None,
        };
        self.at += 2;
        Some(Ok(char))
    }

    fn code_point(&mut self) -> Option<Result<char, u16>> {
        let unit = |at: usize| {
            let digits = self.text.get(at..at + 6)?.strip_prefix("\\u")?;
            let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
            is_hex.then(|| u16::from_str_radix(digits, 16).ok())?
        };
        let first = unit(self.at)?;
        let second = unit(self.at + 6);
        let mut chars = char::decode_utf16(std::iter::once(first).chain(second));
        let char = chars.next()?.map_err(|half| half.unpaired_surrogate());
        self.at += if char.is_ok_and(|char| char.len_utf16() == 2) { 12 } else { 6 };
        Some(char)
    }

    /// A number, `true`, `false` or `null`.
    fn plain(&mut self) -> Result<Value, Stop> {
        let rest = &self.text[self.at..];
        let is_end = |char: char| !char.is_ascii_alphanumeric() && !matches!(char, '+' | '-' | '.');
        let word = &rest[..rest.find(is_end).unwrap_or(rest.len())];
        let value = match word {
            "null" => Value::Null,
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ if is_number(word) => Value::Number(word.parse().unwrap_or(f64::NAN)),
            _ => return Err(Stop::Expected("a value")),
        };
        self.at += word.len();
        Ok(value)
    }

    fn expected(&self, what: &str) -> Unreadable {
        let before = &self.text[..self.at];
        let line = before.matches('\n').count() + 1;
        let start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let column = before[start..].chars().count() + 1;
        Unreadable::NoJson(format!("expected {what} at line {line}, column {column}"))
    }
}

/// Whether JSON has such a number.
fn is_number(word: &str) -> bool {
    let digits = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let unsigned = word.strip_prefix('-').unwrap_or(word);
    let (mantissa, exponent) = match unsigned.split_once(['e', 'E']) {
        Some((mantissa, exponent)) => (mantissa, Some(exponent)),
        None => (unsigned, None),
    };
    let (whole, fraction) = match mantissa.split_once('.') {
        Some((whole, fraction)) => (whole, Some(fraction)),
        None => (mantissa, None),
    };
    digits(whole)
        && (whole == "0" || !whole.starts_with('0'))
        && fraction.is_none_or(digits)
        && exponent.is_none_or(|text| digits(text.strip_prefix(['+', '-']).unwrap_or(text)))
}

/// Of fields with one name the last counts.
fn keep_last(fields: &mut Vec<(String, Value)>) {
    let mut seen = HashSet::new();
    let is_last: Vec<bool> =
        fields.iter().rev().map(|(name, _)| seen.insert(name.as_str())).collect();
    if is_last.iter().all(|is| *is) {
        return;
    }
    let mut is_last = is_last.into_iter().rev();
    fields.retain(|_| is_last.next().unwrap_or(true));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_those_of_json() {
        for text in ["null", " [1,-0.5e+3, 1E999]", "{\"a\":{\"b\":[]},\"\":\"\\u00fc\\n\"}", "0"] {
            let expected: Value = match serde_json::from_str::<serde_json::Value>(text) {
                Ok(value) => value.into(),
                Err(_) => Value::Array(vec![
                    Value::Number(1.0),
                    Value::Number(-500.0),
                    Value::Number(f64::INFINITY),
                ]),
            };
            assert_eq!(parsed(text), Ok(expected), "{text}");
        }
        for text in [
            "",
            "01",
            "1.",
            ".5",
            "+1",
            "[1,]",
            "{a:1}",
            "'a'",
            "\"\n\"",
            "\"\\x\"",
            "[",
            "1 2",
            "tru",
            "\"a",
            "{\"a\" 1}",
            "NaN",
            "\u{feff}1",
            "-",
        ] {
            assert!(matches!(parsed(text), Err(Unreadable::NoJson(_))), "{text}");
        }
    }

    #[test]
    fn half_a_character_is_a_value_of_its_own() {
        assert_eq!(parsed("\"\\ud83d\""), Ok(Value::IllFormed));
        assert_eq!(parsed("\"\\ude00\\ud83d\""), Ok(Value::IllFormed));
        assert_eq!(parsed("\"\\ud83d\\ude00\""), Ok(Value::String("😀".into())));
        assert_eq!(so_far("\"a\\ud83d"), Some(Value::String("a".into())));
    }

    #[test]
    fn limits_hold_without_a_deep_stack() {
        assert_eq!(parsed(&"[".repeat(100_000)), Err(Unreadable::TooDeep));
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parsed(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(parsed(&nested(MAX_DEPTH + 1)), Err(Unreadable::TooDeep));
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        assert_eq!(parsed(&many), Err(Unreadable::TooMany));
    }

    #[test]
    fn values_stay_as_written_and_no_key_is_there_twice() {
        let text = "{\"value\": 1.50 ,\"a\":2}";
        let expected = vec![
            (VALUE.to_owned(), Value::Json("1.50".into())),
            ("a".to_owned(), Value::Number(2.0)),
        ];
        assert_eq!(parsed(text), Ok(Value::Object(expected.clone())));
        let twice = "{\"a\":1,\"value\": 1.50 ,\"a\":2}";
        assert!(matches!(parsed(twice), Err(Unreadable::KeyTwice(_))));
        // Of what has not arrived as a whole, the last counts.
        let so_far = so_far(twice).unwrap();
        assert!(matches!(so_far, Value::Object(fields) if fields.len() == 2));
    }

    #[test]
    fn a_text_that_breaks_off_says_what_it_says_so_far() {
        let whole = "{\"path\":\"a\\\"b\",\"list\":[{\"x\":12},true],\"n\":15}";
        let mut last = 0;
        for end in 1..=whole.len() {
            let Some(Value::Object(fields)) = so_far(&whole[..end]) else { panic!("{end}") };
            assert!(fields.len() >= last);
            last = fields.len();
        }
        assert_eq!(last, 3);
        assert_eq!(so_far(whole), parsed(whole).ok());
        assert_eq!(so_far(""), None);
        assert_eq!(so_far("x"), None);
        assert!(so_far(&"[".repeat(100_000)).is_some());
    }

    #[test]
    fn a_block_of_code_is_what_stands_in_it() {
        assert_eq!(without_fence("\n```json\n{}\n```\n"), Some("\n{}\n"));
        assert_eq!(without_fence("```{}```"), Some("{}"));
        assert_eq!(without_fence("```"), None);
        assert_eq!(without_fence("{}"), None);
    }
}
