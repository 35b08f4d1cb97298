//! JSON as models write it: how large it may be, and what a text says of which only a part has arrived.

use hashline_core::Code;
use hashline_core::host::Value;

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
    /// Its text is not valid JSON: where, and what is wrong.
    NoJson(String),
    /// An object has a key twice: which, and where.
    KeyTwice(String),
    /// It is no data: looking at it failed.
    NoData,
}

/// The value that a text holds. What a field `value` holds stays as it is written.
pub fn parsed(text: &str) -> Result<Value, Unreadable> {
    let Extent { depth, values, .. } = Extent::of(text);
    if depth > MAX_DEPTH {
        return Err(Unreadable::TooDeep);
    }
    if values > MAX_VALUES {
        return Err(Unreadable::TooMany);
    }
    Value::from_model(text).map_err(|error| match error.code {
        Code::InvalidArgument => Unreadable::KeyTwice(error.message.into()),
        _ => Unreadable::NoJson(error.message.into()),
    })
}

/// What a text that breaks off says until then.
pub fn so_far(text: &str) -> Option<Value> {
    match Extent::of(text).open_string {
        Some(end) => Value::from_part(&(text[..end].to_owned() + "\"")),
        None => Value::from_part(text),
    }
}

/// What stands in a text that is one block of code.
pub fn without_fence(text: &str) -> Option<&str> {
    let inside = text.trim().strip_prefix("```")?.strip_suffix("```")?;
    Some(inside.trim_start_matches(|letter: char| letter.is_ascii_alphanumeric()))
}

/// How much a JSON text holds.
struct Extent {
    depth: usize,
    values: usize,
    /// Where the string ends that has no closing quote, without half an escape.
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
                    // What has nothing in it is one value.
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

/// How long the rest of a string is: with its quote, or without half an escape.
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
        assert_eq!(parsed(&"[".repeat(100_000)), Err(Unreadable::TooDeep));
        let nested = |depth| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parsed(&nested(MAX_DEPTH)).is_ok());
        assert_eq!(parsed(&nested(MAX_DEPTH + 1)), Err(Unreadable::TooDeep));
        let many = format!("[{}0]", "0,".repeat(MAX_VALUES));
        assert_eq!(parsed(&many), Err(Unreadable::TooMany));
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
        // Half an escape is not there yet.
        for part in [r#"{"path":"ü\"#, r#"{"path":"ü\u00f"#] {
            let path = ("path".to_owned(), Value::String("ü".into()));
            assert_eq!(so_far(part), Some(Value::Object(vec![path])));
        }
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
