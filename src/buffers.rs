//! Reads JavaScript strings into buffers that each thread reuses, because fresh memory costs a page
//! fault for every 4 KiB.

use std::cell::RefCell;

use hashline_core::host::valid_utf8;
use napi::ValueType;

use super::error::Result;
use super::js::Js;
use super::options::Field;

/// Larger buffers are freed after a call.
const KEEP_BUFFER_BYTES: usize = 1 << 20;

/// The most bytes that a code unit takes in UTF-8.
const UNIT_LIMIT_BYTES: usize = 3;

/// The content is meaningless until it is read into.
#[derive(Default)]
pub struct Buffers {
    pub utf8: Vec<u8>,
    pub utf16: Vec<u16>,
}

thread_local! {
    static BUFFERS: RefCell<Buffers> =
        const { RefCell::new(Buffers { utf8: Vec::new(), utf16: Vec::new() }) };
}

/// Makes glibc's allocator keep up to 8 MiB of freed memory for the next call. It keeps twice the
/// largest block freed so far, at first 128 KiB. Without this, each call faults in its memory
/// again, which takes a third of the time of a patch of 2,000 lines. Other allocators only allocate
/// and free one block here.
pub fn keep_freed_memory() {
    const BLOCK_BYTES: usize = 4 << 20;
    drop(std::hint::black_box(Vec::<u8>::with_capacity(BLOCK_BYTES)));
}

/// Runs `work` with the buffers of this thread.
pub fn with_buffers<T>(work: impl FnOnce(&mut Buffers) -> Result<T>) -> Result<T> {
    let mut buffers = BUFFERS.take();
    let result = work(&mut buffers);
    let is_small = buffers.utf8.capacity() <= 2 * KEEP_BUFFER_BYTES
        && buffers.utf16.capacity() <= KEEP_BUFFER_BYTES;
    if is_small {
        BUFFERS.set(buffers);
    }
    result
}

/// Reads a string, with lone surrogates as U+FFFD, and returns its length in code units. The UTF-8
/// size of a short string is not measured first: that takes as long as reading it.
pub fn read_utf8(text: Js<'_>, bytes: &mut Vec<u8>) -> Result<usize> {
    let units = text.units()?;
    let bound = units * UNIT_LIMIT_BYTES;
    let limit = if bound <= KEEP_BUFFER_BYTES { bound } else { text.utf8_size()? };
    text.read_utf8(bytes, limit)?;
    Ok(units)
}

/// Runs `work` with the UTF-8 form of a string; refuses lone surrogates.
pub fn with_text<T>(field: Field<'_>, work: impl FnOnce(&str) -> Result<T>) -> Result<T> {
    if !field.is(ValueType::String) {
        return Err(field.wrong("a string"));
    }
    with_buffers(|Buffers { utf8, .. }| {
        let units = read_utf8(field.value(), utf8)?;
        match valid_utf8(utf8) {
            // Lone surrogates have become U+FFFD. If each unit became one byte, the text is ASCII.
            Some(text) if text.len() == units || !text.contains(char::REPLACEMENT_CHARACTER) => {
                work(text)
            }
            _ => work(&field.read::<String>()?),
        }
    })
}
