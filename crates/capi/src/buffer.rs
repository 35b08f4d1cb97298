//! The types of the C interface: borrowed inputs, and buffers and errors that the caller owns.

use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::OnceLock;

use hashline_core::host::{JsonFault, from_json, from_json_value};
use hashline_core::{Code, Error, Result};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use crate::panics::contained;

/// The maximum size of one argument: 1 GiB.
pub const HASHLINE_MAX_INPUT_BYTES: usize = 1 << 30;

/// Bytes that the caller owns until it passes them to `hashline_free`. A NUL, which `len` does not
/// count, follows the last byte. `data` is null if the buffer was not filled.
#[repr(C)]
#[derive(Debug)]
pub struct HashlineBuffer {
    /// The first byte.
    pub data: *mut u8,
    /// The number of bytes.
    pub len: usize,
}

/// Why a call failed. The caller owns both buffers.
#[repr(C)]
#[derive(Debug)]
pub struct HashlineError {
    /// The stable code, such as `INVALID_ARGUMENT`: NUL-terminated and static, never freed. Null
    /// when the call did not fail.
    pub code: *const c_char,
    /// What is wrong, where, and what to do instead.
    pub message: HashlineBuffer,
    /// The path of the file that the error is about, if there is one.
    pub path: HashlineBuffer,
}

impl HashlineBuffer {
    /// Transfers ownership of the bytes to the caller.
    pub(crate) fn of(mut bytes: Vec<u8>) -> HashlineBuffer {
        let len = bytes.len();
        bytes.push(0);
        let data = Box::into_raw(bytes.into_boxed_slice()).cast::<u8>();
        HashlineBuffer { data, len }
    }

    /// Frees the bytes.
    ///
    /// # Safety
    ///
    /// The buffer is unchanged since [`HashlineBuffer::of`] returned it, and was not freed.
    pub(crate) unsafe fn free(self) {
        if !self.data.is_null() {
            let bytes = ptr::slice_from_raw_parts_mut(self.data, self.len + 1);
            // SAFETY: This is the boxed slice that `of` leaked: `len` bytes and the NUL.
            drop(unsafe { Box::from_raw(bytes) });
        }
    }
}

impl HashlineError {
    const NONE: HashlineError = HashlineError {
        code: ptr::null(),
        message: HashlineBuffer::NONE,
        path: HashlineBuffer::NONE,
    };

    fn of(error: Error) -> HashlineError {
        HashlineError {
            code: c_name(error.code),
            message: HashlineBuffer::of(String::from(error.message).into_bytes()),
            path: match error.path {
                Some(path) => HashlineBuffer::of(path.into_bytes()),
                None => HashlineBuffer::NONE,
            },
        }
    }
}

/// The code as a static C string.
fn c_name(code: Code) -> *const c_char {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let name = |code: &Code| CString::new(code.as_str()).unwrap_or_default();
        Code::ALL.iter().map(name).collect()
    });
    let index = Code::ALL.iter().position(|&known| known == code);
    index.map_or(ptr::null(), |index| names[index].as_ptr())
}

/// The type of an out parameter.
pub(crate) trait Answer: Sized {
    /// The value that is written when the call fails.
    const NONE: Self;
}

impl Answer for HashlineBuffer {
    const NONE: HashlineBuffer = HashlineBuffer { data: ptr::null_mut(), len: 0 };
}

/// The number of a session.
impl Answer for u64 {
    const NONE: u64 = 0;
}

/// Runs `work` and writes its result to `answer` and `error`. A panic in `work` becomes an error:
/// it never unwinds into the caller.
///
/// # Safety
///
/// `answer` and `error` are null or can be written to.
pub(crate) unsafe fn answered<A: Answer>(
    answer: *mut A,
    error: *mut HashlineError,
    work: impl FnOnce() -> Result<A>,
) -> bool {
    let result = if answer.is_null() {
        Err(Error::argument("there is no room for the answer: the pointer to it is null"))
    } else {
        contained(work)
    };
    let (given, failure, is_done) = match result {
        Ok(given) => (given, HashlineError::NONE, true),
        Err(failure) => (A::NONE, HashlineError::of(failure), false),
    };
    // SAFETY: The caller guarantees that both are null or can be written to.
    unsafe {
        if !answer.is_null() {
            answer.write(given);
        }
        put_error(error, failure);
    }
    is_done
}

/// Writes an error to its out parameter, or frees it where that is null.
unsafe fn put_error(error: *mut HashlineError, failure: HashlineError) {
    // SAFETY: The caller guarantees that `error` is null or can be written to; these buffers have no
    // other owner.
    unsafe {
        if error.is_null() {
            failure.message.free();
            failure.path.free();
        } else {
            error.write(failure);
        }
    }
}

/// An argument of a call.
#[derive(Clone, Copy)]
pub(crate) struct Input<'a> {
    name: &'static str,
    bytes: Option<&'a [u8]>,
}

impl<'a> Input<'a> {
    /// An argument that borrows the bytes of the caller.
    ///
    /// # Safety
    ///
    /// `data` is null, or points to `len` readable bytes that do not change during `'a`.
    pub(crate) unsafe fn new(name: &'static str, data: *const u8, len: usize) -> Result<Input<'a>> {
        if len > HASHLINE_MAX_INPUT_BYTES {
            let limit = HASHLINE_MAX_INPUT_BYTES;
            return Err(Error::argument(format!(
                "{name} has {len} bytes: expected at most {limit}"
            )));
        }
        if !data.is_null() {
            // SAFETY: The caller guarantees that `len` bytes can be read; `len` is below the
            // maximum length of a slice.
            let bytes = Some(unsafe { std::slice::from_raw_parts(data, len) });
            return Ok(Input { name, bytes });
        }
        if len > 0 {
            return Err(Error::argument(format!(
                "{name} is null and has {len} bytes: expected a pointer to them, or a length of 0"
            )));
        }
        Ok(Input { name, bytes: None })
    }

    /// The bytes of a required argument.
    pub(crate) fn bytes(self) -> Result<&'a [u8]> {
        self.bytes.ok_or_else(|| Error::argument(format!("{} is null", self.name)))
    }

    /// The text of a required argument.
    pub(crate) fn text(self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|cause| {
            let (name, offset) = (self.name, cause.valid_up_to());
            Error::argument(format!("{name} is not UTF-8: the byte at {offset} is invalid"))
        })
    }

    /// Deserializes a required request in JSON: a path or an object.
    pub(crate) fn json<T: DeserializeOwned>(self) -> Result<T> {
        let text = self.text()?;
        // The error of the JSON parser would not say that a path needs quotes.
        if !without_space(text).starts_with(['{', '"']) {
            let start: String = text.chars().take(40).collect();
            return Err(Error::argument(format!(
                "{} is not JSON (it begins with {start:?}): expected a path in double quotes or an object",
                self.name
            )));
        }
        parsed(self.name, text)
    }

    /// Deserializes a required JSON object.
    pub(crate) fn object<T: DeserializeOwned>(self) -> Result<T> {
        let text = self.text()?;
        if let Some(kind) = not_an_object(text) {
            // If the text is not valid JSON, that is the error.
            parsed::<IgnoredAny>(self.name, text)?;
            return Err(Error::argument(format!("{} is {kind}: expected an object", self.name)));
        }
        parsed(self.name, text)
    }

    /// Deserializes an optional JSON object: a missing one, and `null`, are read as `{}`.
    pub(crate) fn object_or_default<T: DeserializeOwned>(self) -> Result<T> {
        match self.bytes {
            None | Some([]) => parsed(self.name, "{}"),
            Some(_) if without_space(self.text()?) == "null" => parsed(self.name, "{}"),
            Some(_) => self.object(),
        }
    }

    /// The text of an optional argument.
    pub(crate) fn optional_text(self) -> Result<Option<&'a str>> {
        self.bytes.map(|_| self.text()).transpose()
    }

    pub(crate) fn name(self) -> &'static str {
        self.name
    }
}

/// The kind of value that a JSON text has in place of an object, if it has another. Without this
/// check serde would also read structures from arrays, by position, and its errors would contain the
/// Rust names of the structures.
pub(crate) fn not_an_object(text: &str) -> Option<&'static str> {
    match without_space(text).bytes().next()? {
        b'[' => Some("an array"),
        b'"' => Some("a string"),
        b'n' => Some("null"),
        b't' | b'f' => Some("a boolean"),
        b'-' | b'0'..=b'9' => Some("a number"),
        _ => None,
    }
}

/// A JSON text without the whitespace around it.
fn without_space(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

/// Deserializes a JSON text; errors are `INVALID_ARGUMENT` and name the argument.
pub(crate) fn parsed<T: DeserializeOwned>(name: &str, text: &str) -> Result<T> {
    from_json(text.as_bytes()).map_err(|fault| wrong(name, &fault))
}

/// Takes these fields out of the options, and deserializes them.
pub(crate) fn taken_options<T: DeserializeOwned>(
    given: &mut Map<String, Value>,
    names: &[&str],
) -> Result<T> {
    parsed_options(names.iter().filter_map(|name| given.remove_entry(*name)).collect())
}

/// Deserializes a part of the options.
pub(crate) fn parsed_options<T: DeserializeOwned>(given: Map<String, Value>) -> Result<T> {
    from_json_value(Value::Object(given)).map_err(|fault| wrong("options", &fault))
}

fn wrong(name: &str, fault: &JsonFault) -> Error {
    Error::argument(format!("{name}: {fault}"))
}
