//! JavaScript values: the only module that calls Node-API to read values or to create many of them.

use std::ffi::CStr;
use std::marker::PhantomData;
use std::ptr;

use hashline_core::host::string_of;
use hashline_core::quote;
use napi::bindgen_prelude::{FromNapiValue, ToNapiValue, TypeName, ValidateNapiValue};
use napi::{Env, Status, ValueType, sys};

/// Calls a Node-API function whose last argument receives the result.
macro_rules! ask {
    ($function:ident($($argument:expr),* ; $out:ident)) => {
        // SAFETY: Every handle comes from the running call of this environment, and the result
        // is written to a local.
        napi::check_status!(unsafe { sys::$function($($argument,)* &raw mut $out) })
    };
}
pub(super) use ask;

/// A JavaScript value, valid during the call that received it.
#[derive(Clone, Copy)]
pub struct Js<'env> {
    env: sys::napi_env,
    raw: sys::napi_value,
    scope: PhantomData<&'env ()>,
}

impl FromNapiValue for Js<'_> {
    unsafe fn from_napi_value(env: sys::napi_env, raw: sys::napi_value) -> napi::Result<Self> {
        Ok(Js::new(env, raw))
    }
}

impl ToNapiValue for Js<'_> {
    unsafe fn to_napi_value(_env: sys::napi_env, value: Self) -> napi::Result<sys::napi_value> {
        Ok(value.raw)
    }
}

impl ValidateNapiValue for Js<'_> {}

impl TypeName for Js<'_> {
    fn type_name() -> &'static str {
        "unknown"
    }

    fn value_type() -> ValueType {
        ValueType::Unknown
    }
}

impl<'env> Js<'env> {
    /// A value of a running call.
    pub fn new(env: sys::napi_env, raw: sys::napi_value) -> Self {
        Js { env, raw, scope: PhantomData }
    }

    /// Converts a Rust value.
    pub fn from_rust<T: ToNapiValue>(env: &'env Env, value: T) -> napi::Result<Self> {
        // SAFETY: `env` is the environment of the running call.
        let raw = unsafe { T::to_napi_value(env.raw(), value) }?;
        Ok(Js::new(env.raw(), raw))
    }

    /// An array with room for `len` elements.
    pub fn new_array(env: &'env Env, len: usize) -> napi::Result<Self> {
        let mut raw = ptr::null_mut();
        ask!(napi_create_array_with_length(env.raw(), len; raw))?;
        Ok(Js::new(env.raw(), raw))
    }

    /// The value of a script of this library.
    pub fn run_script(env: &'env Env, source: &str) -> napi::Result<Self> {
        let source = Js::from_rust(env, source)?;
        let mut raw = ptr::null_mut();
        ask!(napi_run_script(env.raw(), source.raw; raw))?;
        Ok(Js::new(env.raw(), raw))
    }

    /// A reference that keeps the value as long as its environment lives.
    pub fn refer(self) -> napi::Result<sys::napi_ref> {
        let mut reference = ptr::null_mut();
        ask!(napi_create_reference(self.env, self.raw, 1; reference))?;
        Ok(reference)
    }

    /// The value that a reference of this environment keeps.
    pub fn referred_to(env: &'env Env, reference: sys::napi_ref) -> napi::Result<Self> {
        let mut raw = ptr::null_mut();
        ask!(napi_get_reference_value(env.raw(), reference; raw))?;
        Ok(Js::new(env.raw(), raw))
    }

    pub fn raw(self) -> sys::napi_value {
        self.raw
    }

    pub fn env(self) -> Env {
        Env::from_raw(self.env)
    }

    pub fn kind(self) -> napi::Result<ValueType> {
        let mut kind = 0;
        ask!(napi_typeof(self.env, self.raw; kind))?;
        Ok(ValueType::from(kind))
    }

    /// Whether the value is undefined or null: an optional argument or field that is omitted.
    pub fn is_missing(self) -> napi::Result<bool> {
        Ok(matches!(self.kind()?, ValueType::Undefined | ValueType::Null))
    }

    pub fn is_array(self) -> napi::Result<bool> {
        let mut is = false;
        ask!(napi_is_array(self.env, self.raw; is))?;
        Ok(is)
    }

    /// Whether the value is a typed array.
    pub fn is_typed_array(self) -> napi::Result<bool> {
        let mut is = false;
        ask!(napi_is_typedarray(self.env, self.raw; is))?;
        Ok(is)
    }

    /// The value of a `Boolean`.
    pub fn boolean(self) -> napi::Result<bool> {
        let mut value = false;
        ask!(napi_get_value_bool(self.env, self.raw; value))?;
        Ok(value)
    }

    /// The value of a `Number`.
    pub fn number(self) -> napi::Result<f64> {
        let mut value = 0.0;
        ask!(napi_get_value_double(self.env, self.raw; value))?;
        Ok(value)
    }

    /// The value of a `String`; `None` if it has a lone surrogate.
    pub fn text(self) -> napi::Result<Option<String>> {
        let (text, is_whole) = self.text_and_is_whole()?;
        Ok(is_whole.then_some(text))
    }

    /// The value of a `String`, with lone surrogates as U+FFFD, and whether it has none of them.
    pub fn text_and_is_whole(self) -> napi::Result<(String, bool)> {
        let text = self.lossy_text()?;
        // U+FFFD may also be in the string itself.
        let is_suspect = text.contains(char::REPLACEMENT_CHARACTER);
        let is_whole = !is_suspect || !self.has_lone_surrogate()?;
        Ok((text, is_whole))
    }

    /// The value of a `String`; lone surrogates become U+FFFD.
    pub fn lossy_text(self) -> napi::Result<String> {
        let mut bytes = Vec::new();
        self.read_utf8(&mut bytes, self.utf8_size()?)?;
        Ok(string_of(bytes))
    }

    /// The text of a value, if it is a string.
    pub fn text_if_any(self) -> napi::Result<Option<String>> {
        if self.kind()? == ValueType::String { self.lossy_text().map(Some) } else { Ok(None) }
    }

    /// Whether a `String` has a lone surrogate, which UTF-8 cannot encode.
    pub fn has_lone_surrogate(self) -> napi::Result<bool> {
        let mut units = Vec::new();
        self.read_utf16(&mut units)?;
        Ok(char::decode_utf16(units).any(|unit| unit.is_err()))
    }

    /// The number of code units of a `String`.
    pub fn units(self) -> napi::Result<usize> {
        let mut len = 0;
        ask!(napi_get_value_string_utf16(self.env, self.raw, ptr::null_mut(), 0; len))?;
        Ok(len)
    }

    /// The number of bytes of a `String` in UTF-8.
    pub fn utf8_size(self) -> napi::Result<usize> {
        let mut len = 0;
        ask!(napi_get_value_string_utf8(self.env, self.raw, ptr::null_mut(), 0; len))?;
        Ok(len)
    }

    /// Replaces `units` by the code units of a `String`.
    pub fn read_utf16(self, units: &mut Vec<u16>) -> napi::Result<()> {
        units.clear();
        let mut len = self.units()?;
        // One more for the NUL that Node-API writes.
        units.reserve(len + 1);
        let (start, room) = (units.as_mut_ptr(), units.capacity());
        ask!(napi_get_value_string_utf16(self.env, self.raw, start, room; len))?;
        // SAFETY: `len` units were written, fewer than the capacity.
        unsafe { units.set_len(len) };
        Ok(())
    }

    /// Replaces `bytes` by a `String` in UTF-8, cut at `limit_bytes`; lone surrogates become
    /// U+FFFD.
    pub fn read_utf8(self, bytes: &mut Vec<u8>, limit_bytes: usize) -> napi::Result<()> {
        bytes.clear();
        // One more for the NUL that Node-API writes.
        bytes.reserve(limit_bytes + 1);
        let start = bytes.as_mut_ptr().cast();
        let mut len = 0;
        ask!(napi_get_value_string_utf8(self.env, self.raw, start, limit_bytes + 1; len))?;
        // SAFETY: `len` bytes were written, fewer than the capacity.
        unsafe { bytes.set_len(len) };
        Ok(())
    }

    /// The property `name` of an object.
    pub fn get(self, name: &CStr) -> napi::Result<Js<'env>> {
        let mut raw = ptr::null_mut();
        ask!(napi_get_named_property(self.env, self.raw, name.as_ptr(); raw))?;
        Ok(Js::new(self.env, raw))
    }

    /// The property with key `key` of an object.
    pub fn get_by(self, key: Js<'_>) -> napi::Result<Js<'env>> {
        let mut raw = ptr::null_mut();
        ask!(napi_get_property(self.env, self.raw, key.raw; raw))?;
        Ok(Js::new(self.env, raw))
    }

    /// The number of elements of an array.
    pub fn array_len(self) -> napi::Result<u32> {
        let mut len = 0;
        ask!(napi_get_array_length(self.env, self.raw; len))?;
        Ok(len)
    }

    pub fn element(self, index: u32) -> napi::Result<Js<'env>> {
        let mut raw = ptr::null_mut();
        ask!(napi_get_element(self.env, self.raw, index; raw))?;
        Ok(Js::new(self.env, raw))
    }

    pub fn set_element(self, index: u32, value: Js<'_>) -> napi::Result<()> {
        // SAFETY: All handles come from the running call of this environment.
        napi::check_status!(unsafe { sys::napi_set_element(self.env, self.raw, index, value.raw) })
    }

    /// Sets the property `name` of an object.
    pub fn set(self, name: &CStr, value: Js<'_>) -> napi::Result<()> {
        // SAFETY: As above; the name ends with a zero.
        napi::check_status!(unsafe {
            sys::napi_set_named_property(self.env, self.raw, name.as_ptr(), value.raw)
        })
    }

    /// A substring that shares the characters of the whole string.
    pub fn slice(self, units: std::ops::Range<usize>) -> napi::Result<Js<'env>> {
        let slice = self.get(c"slice")?.raw;
        let env = Env::from_raw(self.env);
        let start = Js::from_rust(&env, units.start as f64)?.raw;
        let end = Js::from_rust(&env, units.end as f64)?.raw;
        let mut raw = ptr::null_mut();
        ask!(napi_call_function(self.env, self.raw, slice, 2, [start, end].as_ptr(); raw))?;
        Ok(Js::new(self.env, raw))
    }

    /// Calls a function with `this` undefined.
    pub fn call(self, arguments: &[sys::napi_value]) -> napi::Result<Js<'env>> {
        let mut this = ptr::null_mut();
        ask!(napi_get_undefined(self.env; this))?;
        let (len, start) = (arguments.len(), arguments.as_ptr());
        let mut raw = ptr::null_mut();
        ask!(napi_call_function(self.env, this, self.raw, len, start; raw))?;
        Ok(Js::new(self.env, raw))
    }

    /// Creates an instance of a class.
    pub fn construct(self, arguments: &[sys::napi_value]) -> napi::Result<Js<'env>> {
        let (len, start) = (arguments.len(), arguments.as_ptr());
        let mut raw = ptr::null_mut();
        ask!(napi_new_instance(self.env, self.raw, len, start; raw))?;
        Ok(Js::new(self.env, raw))
    }

    /// Throws the value into JavaScript and returns the error that reports this to napi.
    pub fn throw(self) -> napi::Error {
        // SAFETY: The value comes from the running call of this environment.
        let thrown = napi::check_status!(unsafe { sys::napi_throw(self.env, self.raw) });
        thrown.err().unwrap_or_else(pending)
    }

    /// The result of `JSON.stringify`.
    pub fn stringify(self) -> napi::Result<Js<'env>> {
        let mut raw = ptr::null_mut();
        ask!(napi_get_global(self.env; raw))?;
        let json = Js::new(self.env, raw).get(c"JSON")?;
        json.get(c"stringify")?.call(&[self.raw])
    }

    /// The own enumerable string keys of an object, in an array.
    pub fn own_keys(self) -> napi::Result<Js<'env>> {
        let mut raw = ptr::null_mut();
        ask!(napi_get_all_property_names(
            self.env,
            self.raw,
            sys::KeyCollectionMode::own_only,
            sys::KeyFilter::enumerable | sys::KeyFilter::skip_symbols,
            sys::KeyConversion::numbers_to_strings;
            raw
        ))?;
        Ok(Js::new(self.env, raw))
    }

    /// Describes the value for messages.
    pub fn describe(self) -> napi::Result<String> {
        Ok(match self.kind()? {
            ValueType::Undefined => "undefined".to_owned(),
            ValueType::Null => "null".to_owned(),
            ValueType::Boolean => self.boolean()?.to_string(),
            ValueType::Number => format!("the number {}", number_text(self.number()?)),
            ValueType::String => format!("the string {}", quote(&self.lossy_text()?)),
            ValueType::Object if self.is_array()? => "an array".to_owned(),
            ValueType::Object => "an object".to_owned(),
            ValueType::Function => "a function".to_owned(),
            ValueType::Symbol => "a symbol".to_owned(),
            ValueType::BigInt => "a bigint".to_owned(),
            _ => "a value of another kind".to_owned(),
        })
    }

    /// The bytes of a `Uint8Array` (or `Buffer`), and whether other threads share them. No
    /// JavaScript may run while they are borrowed.
    pub fn bytes(self) -> napi::Result<Option<(&'env [u8], bool)>> {
        if !self.is_typed_array()? {
            return Ok(None);
        }
        let (mut kind, mut len, mut data) = (0, 0, ptr::null_mut());
        let (mut buffer, mut offset) = (ptr::null_mut(), 0);
        // SAFETY: The value is a typed array, and all results are written to locals.
        napi::check_status!(unsafe {
            sys::napi_get_typedarray_info(
                self.env,
                self.raw,
                &raw mut kind,
                &raw mut len,
                &raw mut data,
                &raw mut buffer,
                &raw mut offset,
            )
        })?;
        if kind != sys::TypedarrayType::uint8_array {
            return Ok(None);
        }
        if len == 0 || data.is_null() {
            return Ok(Some((&[], false)));
        }
        let mut exclusive = false;
        ask!(napi_is_arraybuffer(self.env, buffer; exclusive))?;
        // SAFETY: The engine reports `len` bytes at `data`. The array stays alive and in place as
        // long as its handle, that is, during this call.
        let bytes = unsafe { std::slice::from_raw_parts(data.cast(), len) };
        Ok(Some((bytes, !exclusive)))
    }
}

/// A number, formatted approximately as JavaScript does.
fn number_text(value: f64) -> String {
    match value {
        _ if value.is_nan() => "NaN".to_owned(),
        _ if value.is_infinite() && value > 0.0 => "Infinity".to_owned(),
        _ if value.is_infinite() => "-Infinity".to_owned(),
        _ if value.abs() >= 1e21 => format!("{value:e}"),
        _ => value.to_string(),
    }
}

/// Whether a JavaScript exception is pending.
pub fn is_exception_pending(env: &Env) -> bool {
    let mut pending = false;
    ask!(napi_is_exception_pending(env.raw(); pending)).is_ok() && pending
}

/// Takes the pending exception.
pub fn take_exception(env: &Env) -> Option<Js<'_>> {
    if !is_exception_pending(env) {
        return None;
    }
    let mut raw = ptr::null_mut();
    ask!(napi_get_and_clear_last_exception(env.raw(); raw)).ok()?;
    Some(Js::new(env.raw(), raw))
}

/// The error for an operation that failed in JavaScript code.
fn pending() -> napi::Error {
    napi::Error::new(Status::PendingException, String::new())
}
