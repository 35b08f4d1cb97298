//! External scanners with state.
//!
//! The state is allocated from the system. A parse that is aborted does not free it, so this module
//! tracks it.
//!
//! The scanners of Python and YAML serialize the depths of open blocks into a buffer of the parser,
//! without checking its size: with some hundred open blocks they write beyond the buffer, and the
//! parser aborts the process. Here they write into a larger buffer, and what exceeds the parser's
//! buffer is truncated. A parser that deep in blocks only produces errors.

use std::cell::Cell;
use std::ffi::{c_char, c_uint, c_void};
use std::mem::{MaybeUninit, offset_of};
use std::ptr;
use std::sync::OnceLock;

use tree_sitter_language::LanguageFn;

/// The size of the parser's buffer: `TREE_SITTER_SERIALIZATION_BUFFER_SIZE` in its `parser.h`.
const BUFFER_BYTES: usize = 1024;

/// An upper bound on what a scanner may write beyond it.
const SPARE_BYTES: usize = 64;

type Create = unsafe extern "C" fn() -> *mut c_void;
type Destroy = unsafe extern "C" fn(*mut c_void);
type Serialize = unsafe extern "C" fn(*mut c_void, *mut c_char) -> c_uint;

/// `TSLanguage` of `parser.h`, versions 14 and 15.
#[repr(C)]
#[derive(Clone, Copy)]
struct Table {
    version: u32,
    counts: [u32; 8],
    max_alias_sequence_length: u16,
    tables: [*const c_void; 13],
    lexers: [*const c_void; 2],
    keyword_capture_token: u16,
    scanner_tables: [*const c_void; 2],
    create: Create,
    destroy: Destroy,
    scan: *const c_void,
    serialize: Serialize,
    deserialize: *const c_void,
    primary_state_ids: *const c_void,
    since_15: Since15,
}

/// The additional fields of version 15.
#[repr(C)]
#[derive(Clone, Copy)]
struct Since15 {
    name: *const c_void,
    reserved_words: *const c_void,
    max_reserved_word_set_size: u16,
    supertype_count: u32,
    supertypes: [*const c_void; 3],
    metadata: [u8; 3],
}

// SAFETY: The pointers refer to constants of a grammar, which are never written.
unsafe impl Send for Table {}
// SAFETY: As above.
unsafe impl Sync for Table {}

thread_local! {
    /// The state of the scanner that runs on this thread, and the function that frees it.
    static STATE: Cell<Option<(*mut c_void, Destroy)>> = const { Cell::new(None) };
}

/// Frees the state of a scanner whose parse was aborted.
pub(crate) fn destroy_state() {
    if let Some((state, destroy)) = STATE.take() {
        // SAFETY: The state belongs to a parser that no longer exists. If that was aborted within
        // the scanner, it was in a request for the next character, when the state is consistent.
        unsafe { destroy(state) };
    }
}

/// The table of a grammar with replaced functions, and the original table.
fn with_state(
    grammar: LanguageFn,
    create: Create,
    destroy: Destroy,
    serialize: Serialize,
) -> (Table, Table) {
    let table = grammar.into_raw();
    // SAFETY: The function takes no arguments and returns a constant that starts with its version.
    let (table, version) = unsafe { (table(), *table().cast::<u32>()) };
    assert!(matches!(version, 14 | 15), "the table of a grammar has another shape");
    let members = if version == 15 { size_of::<Table>() } else { offset_of!(Table, since_15) };
    let mut own = MaybeUninit::<Table>::zeroed();
    // SAFETY: A table of this version has these members. The others are null or zero, and functions
    // are not among them.
    let own = unsafe {
        ptr::copy_nonoverlapping(table.cast::<u8>(), own.as_mut_ptr().cast(), members);
        own.assume_init()
    };
    (Table { create, destroy, serialize, ..own }, own)
}

/// Calls a scanner's original function with a larger buffer. A state ends with a list of depths,
/// each `unit` bytes long.
///
/// # Safety
///
/// `own` must be a scanner's function, `scanner` its state, and `buffer` must have space for
/// [`BUFFER_BYTES`].
unsafe fn serialize(
    own: Serialize,
    unit: usize,
    scanner: *mut c_void,
    buffer: *mut c_char,
) -> c_uint {
    #[repr(align(8))]
    struct ExtendedBuffer([c_char; BUFFER_BYTES + SPARE_BYTES]);
    let mut extended = ExtendedBuffer([0; BUFFER_BYTES + SPARE_BYTES]);
    // SAFETY: The function stops before the first depth that starts beyond `BUFFER_BYTES`, so it
    // writes less than `unit` more bytes, for which there is space.
    let length = unsafe { own(scanner, extended.0.as_mut_ptr()) } as usize;
    let surplus = length.saturating_sub(BUFFER_BYTES).div_ceil(unit) * unit;
    let kept = length - surplus;
    // SAFETY: `kept` is at most `BUFFER_BYTES`, for which the caller has space, and `extended` is a
    // local buffer.
    unsafe { ptr::copy_nonoverlapping(extended.0.as_ptr(), buffer, kept) };
    kept as c_uint
}

/// A grammar whose scanner has state that ends with a list of entries of `$unit` bytes.
macro_rules! grammar {
    ($grammar:path, $unit:literal) => {{
        unsafe extern "C" fn serialize_extended(
            scanner: *mut c_void,
            buffer: *mut c_char,
        ) -> c_uint {
            // The parser gets the table before it calls functions in it.
            let Some((_, own)) = TABLE.get() else { return 0 };
            // SAFETY: The parser calls this as it would call the scanner's own function.
            unsafe { serialize(own.serialize, $unit, scanner, buffer) }
        }
        unsafe extern "C" fn create() -> *mut c_void {
            let Some((_, own)) = TABLE.get() else { return ptr::null_mut() };
            // SAFETY: As above.
            let state = unsafe { (own.create)() };
            STATE.set(Some((state, own.destroy)));
            state
        }
        unsafe extern "C" fn destroy(state: *mut c_void) {
            let Some((_, own)) = TABLE.get() else { return };
            STATE.set(None);
            // SAFETY: As above.
            unsafe { (own.destroy)(state) }
        }
        extern "C" fn table() -> *const () {
            let (table, _) =
                TABLE.get_or_init(|| with_state($grammar, create, destroy, serialize_extended));
            ptr::from_ref(table).cast()
        }
        static TABLE: OnceLock<(Table, Table)> = OnceLock::new();
        // SAFETY: The function returns the table of a grammar, which lives as long as the process.
        unsafe { LanguageFn::from_raw(table) }
    }};
}

/// Rust: the length of the delimiter of a raw string.
pub(crate) const RUST: LanguageFn = grammar!(tree_sitter_rust::LANGUAGE, 1);

/// Python: a depth is two bytes.
pub(crate) const PYTHON: LanguageFn = grammar!(tree_sitter_python::LANGUAGE, 2);

/// YAML: a depth is two bytes, plus two for the kind of the block.
pub(crate) const YAML: LanguageFn = grammar!(tree_sitter_yaml::LANGUAGE, 4);
