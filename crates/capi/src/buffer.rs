//! What crosses the border: bytes that the caller lends, buffers and errors that it is given.

use std::ffi::{CString, c_char};
use std::ptr;
use std::sync::OnceLock;

use hashline_core::host::{JsonFault, from_json, from_json_value};
use hashline_core::{Code, Error, Result};
use serde::de::{DeserializeOwned, IgnoredAny};
use serde_json::{Map, Value};

use crate::panics::contained;

/// The most bytes of one argument: 1 GiB.
pub const HASHLINE_MAX_INPUT_BYTES: usize = 1 << 30;

/// Bytes that belong to the caller until `hashline_free` takes them back. A NUL stands after the
/// last one, which `len` does not count. `data` is null where there is nothing.
#[repr(C)]
#[derive(Debug)]
pub struct HashlineBuffer {
    /// The first byte.
    pub data: *mut u8,
    /// How many there are.
    pub len: usize,
}

/// Why a call failed. Both buffers belong to the caller.
#[repr(C)]
#[derive(Debug)]
pub struct HashlineError {
    /// The stable code, such as `INVALID_ARGUMENT`: ends in NUL, and is never to be freed. Null
    /// when the call did not fail.
    pub code: *const c_char,
    /// What, where and what instead.
    pub message: HashlineBuffer,
    /// The file it is about, where there is one.
    pub path: HashlineBuffer,
}

impl HashlineBuffer {
    /// Hands bytes over to the caller.
    pub(crate) fn of(mut bytes: Vec<u8>) -> HashlineBuffer {
        let len = bytes.len();
        bytes.push(0);
        let data = Box::into_raw(bytes.into_boxed_slice()).cast::<u8>();
        HashlineBuffer { data, len }
    }

    /// Takes the bytes back.
    ///
    /// # Safety
    ///
    /// The buffer is as [`HashlineBuffer::of`] made it, and was not freed.
    pub(crate) unsafe fn free(self) {
        if !self.data.is_null() {
            let bytes = ptr::slice_from_raw_parts_mut(self.data, self.len + 1);
            // SAFETY: This is the boxed slice that `of` made: its length, and the NUL.
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

/// The code as C writes it.
fn c_name(code: Code) -> *const c_char {
    static NAMES: OnceLock<Vec<CString>> = OnceLock::new();
    let names = NAMES.get_or_init(|| {
        let name = |code: &Code| CString::new(code.as_str()).unwrap_or_default();
        Code::ALL.iter().map(name).collect()
    });
    let place = Code::ALL.iter().position(|&known| known == code);
    place.map_or(ptr::null(), |place| names[place].as_ptr())
}

/// Something that a call hands over to its caller.
pub(crate) trait Answer: Sized {
    /// What stands in its place when the call failed.
    const NONE: Self;
}

impl Answer for HashlineBuffer {
    const NONE: HashlineBuffer = HashlineBuffer { data: ptr::null_mut(), len: 0 };
}

/// The number of a session.
impl Answer for u64 {
    const NONE: u64 = 0;
}

/// Does `work` and puts what it answers, or why it fails, where the caller wants to have it.
/// Whatever `work` does, it does not unwind into the caller.
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
    // SAFETY: The caller says that they can be written to.
    unsafe {
        if !answer.is_null() {
            answer.write(given);
        }
        put_error(error, failure);
    }
    is_done
}

/// Puts an error where the caller wants to have it, if anywhere.
unsafe fn put_error(error: *mut HashlineError, failure: HashlineError) {
    // SAFETY: The caller says that it can be written to; nobody else has these buffers.
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
    /// The bytes that a caller lends.
    ///
    /// # Safety
    ///
    /// `data` is null, or `len` bytes can be read there that nobody changes for as long as this
    /// is used.
    pub(crate) unsafe fn new(name: &'static str, data: *const u8, len: usize) -> Result<Input<'a>> {
        if len > HASHLINE_MAX_INPUT_BYTES {
            let limit = HASHLINE_MAX_INPUT_BYTES;
            return Err(Error::argument(format!(
                "{name} has {len} bytes: expected at most {limit}"
            )));
        }
        if !data.is_null() {
            // SAFETY: The caller says that so many bytes can be read there; they are not more
            // than a slice may have.
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

    /// The bytes, which have to be there.
    pub(crate) fn bytes(self) -> Result<&'a [u8]> {
        self.bytes.ok_or_else(|| Error::argument(format!("{} is null", self.name)))
    }

    /// The text, which has to be there.
    pub(crate) fn text(self) -> Result<&'a str> {
        std::str::from_utf8(self.bytes()?).map_err(|cause| {
            let (name, place) = (self.name, cause.valid_up_to());
            Error::argument(format!("{name} is not UTF-8: the byte at {place} is none of it"))
        })
    }

    /// What the JSON text says, which has to be there.
    pub(crate) fn json<T: DeserializeOwned>(self) -> Result<T> {
        parsed(self.name, self.text()?)
    }

    /// What the JSON object says, which has to be there.
    pub(crate) fn object<T: DeserializeOwned>(self) -> Result<T> {
        let text = self.text()?;
        if let Some(kind) = not_an_object(text) {
            // What is no JSON is told of as such.
            parsed::<IgnoredAny>(self.name, text)?;
            return Err(Error::argument(format!("{} is {kind}: expected an object", self.name)));
        }
        parsed(self.name, text)
    }

    /// What the JSON object says; an empty one when it is left out or `null`.
    pub(crate) fn object_or_default<T: DeserializeOwned>(self) -> Result<T> {
        match self.bytes {
            None | Some([]) => parsed(self.name, "{}"),
            Some(_) if without_space(self.text()?) == "null" => parsed(self.name, "{}"),
            Some(_) => self.object(),
        }
    }

    /// The text, or nothing where it is left out.
    pub(crate) fn text_if_there(self) -> Result<Option<&'a str>> {
        self.bytes.map(|_| self.text()).transpose()
    }

    pub(crate) fn name(self) -> &'static str {
        self.name
    }
}

/// What a JSON text holds in place of an object, if it does. Structures would also take their fields
/// from an array, by places that no caller may rely on, and would be named in what is told.
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

/// A JSON text without the space around it.
fn without_space(text: &str) -> &str {
    text.trim_matches([' ', '\t', '\r', '\n'])
}

/// What a JSON text says. What is wrong with it is the argument's fault.
pub(crate) fn parsed<T: DeserializeOwned>(name: &str, text: &str) -> Result<T> {
    from_json(text.as_bytes()).map_err(|fault| wrong(name, &fault))
}

/// What a part of the options says.
pub(crate) fn parsed_options<T: DeserializeOwned>(given: Map<String, Value>) -> Result<T> {
    from_json_value(Value::Object(given)).map_err(|fault| wrong("options", &fault))
}

fn wrong(name: &str, fault: &JsonFault) -> Error {
    Error::argument(format!("{name}: {fault}"))
}
