//! JSON text of arguments: its limits, and what a text that is still arriving holds so far.

use hashline_core::Code;
use hashline_core::host::{PartialValue, Value};

/// The largest nesting depth of arguments.
pub const MAX_DEPTH: usize = 64;
/// The largest number of values in arguments.
pub const MAX_VALUES: usize = 1_000_000;

/// Why arguments cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unreadable {
    /// They nest too deeply, or form a cycle.
    TooDeep,
    /// They hold too many values.
    TooMany,
    /// Their text is not valid JSON: where, and what is wrong.
    InvalidJson(String),
    /// An object has a duplicate key: which, and where.
    DuplicateKey(String),
    /// They are not plain data: reading a property failed.
    NoData,
}

/// Parses JSON text. A field `value` keeps its text, with the order of keys and all digits.
pub fn parse_json(text: &str) -> Result<Value, Unreadable> {
    let Extent { depth, values, .. } = Extent::of(text);
    if depth > MAX_DEPTH {
        return Err(Unreadable::TooDeep);
    }
    if values > MAX_VALUES {
        return Err(Unreadable::TooMany);
    }
    Value::from_model(text).map_err(|error| match error.code {
        Code::InvalidArgument => Unreadable::DuplicateKey(error.message.into()),
        _ => Unreadable::InvalidJson(error.message.into()),
    })
}

/// Parses the start of a JSON text.
pub fn parse_partial(text: &str) -> Option<Value> {
    match Extent::of(text).open_string {
        Some(end) => Value::from_part(&(text[..end].to_owned() + "\"")),
        None => Value::from_part(text),
    }
}

/// A field of an object.
pub type ObjectField = (String, Value);

/// A value of a JSON text that may not have arrived completely.
#[derive(Debug)]
pub struct Arriving {
    /// What has arrived of it.
    pub value: Value,
    /// How many objects and arrays in it are open, with itself.
    open: usize,
    /// Whether its last value is a string, number or word that may go on.
    ends_in_scalar: bool,
}

impl Arriving {
    /// The start of a JSON text, with or without a code block around it.
    pub fn of(text: &str) -> Option<Arriving> {
        let text = within_fence(text);
        let open_string = Extent::of(text).open_string;
        let closed = open_string.map(|end| text[..end].to_owned() + "\"");
        let text = closed.as_deref().unwrap_or(text);
        let PartialValue { value, open, ends_in_scalar } = PartialValue::of(text)?;
        let may_go_on = open_string.is_some() || !text.ends_with('"');
        Some(Arriving { value, open, ends_in_scalar: ends_in_scalar && may_go_on })
    }

    /// A value that has arrived completely.
    pub fn whole(value: Value) -> Arriving {
        Arriving { value, open: 0, ends_in_scalar: false }
    }

    /// A value whose last field or item may be incomplete, at every level.
    pub fn unfinished(value: Value) -> Arriving {
        Arriving { value, open: usize::MAX, ends_in_scalar: true }
    }

    /// Whether it has arrived completely.
    pub fn is_whole(&self) -> bool {
        self.open == 0 && !self.ends_in_scalar
    }

    /// Whether the last child of an object or array is incomplete.
    fn has_open_child(&self) -> bool {
        self.open > 1 || self.open == 1 && self.ends_in_scalar
    }

    fn child(&self, value: Value) -> Arriving {
        Arriving { value, open: self.open.saturating_sub(1), ends_in_scalar: self.ends_in_scalar }
    }

    /// The complete fields of an object, and the one that is still arriving.
    pub fn into_fields(mut self) -> (Vec<ObjectField>, Option<(String, Arriving)>) {
        let Value::Object(mut fields) = std::mem::replace(&mut self.value, Value::Null) else {
            return (Vec::new(), None);
        };
        let last = self.has_open_child().then(|| fields.pop()).flatten();
        let last = last.map(|(name, value)| (name, self.child(value)));
        (fields, last)
    }

    /// The complete items of an array, and the one that is still arriving.
    pub fn into_items(mut self) -> (Vec<Value>, Option<Arriving>) {
        let Value::Array(mut items) = std::mem::replace(&mut self.value, Value::Null) else {
            return (Vec::new(), None);
        };
        let last = self.has_open_child().then(|| items.pop()).flatten();
        let last = last.map(|value| self.child(value));
        (items, last)
    }
}

/// The text without the start of a Markdown code block, and without its end if that has arrived.
fn within_fence(text: &str) -> &str {
    if let Some(inside) = without_fence(text) {
        return inside;
    }
    match text.trim_start().strip_prefix("```") {
        Some(rest) => rest.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric()),
        None => text,
    }
}

/// Whether a text is the start of a Markdown code block.
pub fn has_open_fence(text: &str) -> bool {
    text.trim_start().starts_with("```") && without_fence(text).is_none()
}

/// The content of a text that is one Markdown code block.
pub fn without_fence(text: &str) -> Option<&str> {
    let inside = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    Some(inside.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric()))
}

/// The depth and the number of values of a JSON text, counted without a stack.
struct Extent {
    depth: usize,
    values: usize,
    /// The end of a string without closing quote, before an incomplete escape.
    open_string: Option<usize>,
}

impl Extent {
    fn of(text: &str) -> Extent {
        let (mut depth, mut extent) = (0_usize, Extent { depth: 0, values: 1, open_string: None });
        let (mut at, mut before) = (0, b' ');
        while let Some(&byte) = text.as_bytes().get(at) {
            at += 1;
            match byte {
                b'"' => match end_of_string(&text[at..]) {
                    Ok(length) => at += length,
                    Err(length) => {
                        extent.open_string = Some(at + length);
                        break;
                    }
                },
                b'[' | b'{' => {
                    depth += 1;
                    extent.depth = extent.depth.max(depth);
                    extent.values += 1;
                }
                b']' | b'}' => {
                    depth = depth.saturating_sub(1);
                    // An empty array or object counts as one value.
                    extent.values -= usize::from(matches!(before, b'[' | b'{'));
                }
                b',' => extent.values += 1,
                b' ' | b'\t' | b'\n' | b'\r' => continue,
                _ => {}
            }
            before = byte;
        }
        extent
    }
}

/// The length of the rest of a string, with its closing quote. The error is the length of an
/// unfinished one, without an incomplete escape.
fn end_of_string(rest: &str) -> Result<usize, usize> {
    let bytes = rest.as_bytes();
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let length = match (byte, bytes.get(at + 1)) {
            (b'"', _) => return Ok(at + 1),
            (b'\\', Some(b'u')) => 6,
            (b'\\', _) => 2,
            _ => 1,
        };
        if at + length > bytes.len() {
            break;
        }
        at += length;
    }
    Err(at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_hold_without_a_deep_stack() {
        assert_eq!(parse_json(&"[".repeat(100_000)), Err(Unreadable::TooDeep));
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse_json(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(parse_json(&nested(MAX_DEPTH + 1)), Err(Unreadable::TooDeep));
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        assert_eq!(parse_json(&many), Err(Unreadable::TooMany));
    }

    #[test]
    fn the_start_of_a_text_gives_the_fields_that_have_arrived() {
        let whole = "{\"path\":\"a\\\"b\",\"list\":[{\"x\":12},true],\"n\":15}";
        let mut last = 0;
        for end in 1..=whole.len() {
            let Some(Value::Object(fields)) = parse_partial(&whole[..end]) else { panic!("{end}") };
            assert!(fields.len() >= last);
            last = fields.len();
        }
        assert_eq!(last, 3);
        // An incomplete escape is dropped.
        for part in [r#"{"path":"ü\"#, r#"{"path":"ü\u00f"#] {
            let path = ("path".to_owned(), Value::String("ü".into()));
            assert_eq!(parse_partial(part), Some(Value::Object(vec![path])));
        }
        assert_eq!(parse_partial(whole), parse_json(whole).ok());
        assert_eq!(parse_partial(""), None);
        assert_eq!(parse_partial("x"), None);
        assert!(parse_partial(&"[".repeat(100_000)).is_some());
    }

    #[test]
    fn a_child_is_complete_once_its_end_has_arrived() {
        let whole = r#"{"a":"b","list":[{"x":1},[2],"s",4]}"#;
        let count = |end: usize| {
            let (fields, last) = Arriving::of(&whole[..end])?.into_fields();
            let list = last.map_or((0, false), |(_, list)| {
                let (items, open) = list.into_items();
                (items.len(), open.is_some())
            });
            Some((fields.len(), list))
        };
        let counts: Vec<_> = (1..=whole.len()).filter_map(count).collect();
        let mut distinct = counts.clone();
        distinct.dedup();
        let expected = [
            (0, (0, false)),
            (1, (0, false)),
            (1, (0, true)),
            (1, (1, false)),
            (1, (1, true)),
            (1, (2, false)),
            (1, (2, true)),
            (1, (3, false)),
            (1, (3, true)),
            (2, (0, false)),
        ];
        assert_eq!(distinct, expected);
        assert!(Arriving::of(whole).unwrap().is_whole());
        assert!(Arriving::of("```json\n{}\n").unwrap().is_whole());
        // After a syntax error nothing is complete any more.
        let (items, last) = Arriving::of("[1,,2]").unwrap().into_items();
        assert_eq!((items.len(), last.is_some()), (1, false));
    }

    #[test]
    fn the_fence_of_a_code_block_is_removed() {
        assert_eq!(without_fence("\n```json\n{}\n```\n"), Some("\n{}\n"));
        assert_eq!(without_fence("```{}```"), Some("{}"));
        assert_eq!(without_fence("```"), None);
        assert_eq!(without_fence("{}"), None);
    }
}
