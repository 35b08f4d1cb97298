//! Scanners that have state.
//!
//! It has memory of its own, from the system. A parse that is stopped does not free it, so it is
//! known here which one that is.
//!
//! The scanners of Python and YAML write the depths of open blocks into a buffer of the parser. They
//! do not check whether all of it fits: with some hundred open blocks they write beyond the buffer,
//! and the parser ends the process. Here they write into a larger buffer, and what does not fit is
//! left out. A parser so deep in blocks only sees errors.

use std::cell::Cell;
use std::ffi::{c_char, c_uint, c_void};
use std::mem::{MaybeUninit, offset_of};
use std::ptr;
use std::sync::OnceLock;

use tree_sitter_language::LanguageFn;

/// What the parser has room for: `TREE_SITTER_SERIALIZATION_BUFFER_SIZE` of its `parser.h`.
const ROOM_BYTES: usize = 1024;

/// What a scanner may write beyond it is less than this.
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

/// What version 15 has more.
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

// SAFETY: what the pointers lead to are constants of a grammar, which nothing writes.
unsafe impl Send for Table {}
// SAFETY: as above.
unsafe impl Sync for Table {}

thread_local! {
    /// The state of the scanner that runs on this thread, and what frees it.
    static STATE: Cell<Option<(*mut c_void, Destroy)>> = const { Cell::new(None) };
}

/// Frees the state of a scanner whose parse was stopped.
pub(crate) fn destroy_state() {
    if let Some((state, destroy)) = STATE.take() {
        // SAFETY: the state is that of a parser that is gone. If that stopped within the scanner, then
        // while the scanner asked for the next character, between changes of its state.
        unsafe { destroy(state) };
    }
}

/// The table of a grammar with functions of ours in it, and the grammar's own table.
fn with_state(
    grammar: LanguageFn,
    create: Create,
    destroy: Destroy,
    serialize: Serialize,
) -> (Table, Table) {
    let table = grammar.into_raw();
    // SAFETY: the function takes nothing and returns a constant that begins with its version.
    let (table, version) = unsafe { (table(), *table().cast::<u32>()) };
    assert!(matches!(version, 14 | 15), "the table of a grammar has another shape");
    let members = if version == 15 { size_of::<Table>() } else { offset_of!(Table, since_15) };
    let mut own = MaybeUninit::<Table>::zeroed();
    // SAFETY: a table of this version has these members. The others are null or zero, and functions
    // are not among them.
    let own = unsafe {
        ptr::copy_nonoverlapping(table.cast::<u8>(), own.as_mut_ptr().cast(), members);
        own.assume_init()
    };
    (Table { create, destroy, serialize, ..own }, own)
}

/// Calls a scanner's own function with a larger buffer. What a state ends with are depths, each
/// `unit` bytes long.
///
/// # Safety
///
/// `own` is a scanner's function, `scanner` its state, and `buffer` has room for [`ROOM_BYTES`].
unsafe fn serialize(
    own: Serialize,
    unit: usize,
    scanner: *mut c_void,
    buffer: *mut c_char,
) -> c_uint {
    #[repr(align(8))]
    struct Room([c_char; ROOM_BYTES + SPARE_BYTES]);
    let mut room = Room([0; ROOM_BYTES + SPARE_BYTES]);
    // SAFETY: the function stops before the first depth that begins beyond `ROOM_BYTES`, so that it
    // writes less than `unit` more, for which there is room.
    let length = unsafe { own(scanner, room.0.as_mut_ptr()) } as usize;
    let surplus = length.saturating_sub(ROOM_BYTES).div_ceil(unit) * unit;
    let kept = length - surplus;
    // SAFETY: `kept` is at most `ROOM_BYTES`, for which the caller has room, and `room` is its own.
    unsafe { ptr::copy_nonoverlapping(room.0.as_ptr(), buffer, kept) };
    kept as c_uint
}

/// A grammar whose scanner has state. The state ends with a list of entries of `$unit` bytes.
macro_rules! grammar {
    ($grammar:path, $unit:literal) => {{
        unsafe extern "C" fn roomy(scanner: *mut c_void, buffer: *mut c_char) -> c_uint {
            // A parser has the table before it calls what is in it.
            let Some((_, own)) = TABLE.get() else { return 0 };
            // SAFETY: the parser calls this as it would call the scanner's own function.
            unsafe { serialize(own.serialize, $unit, scanner, buffer) }
        }
        unsafe extern "C" fn create() -> *mut c_void {
            let Some((_, own)) = TABLE.get() else { return ptr::null_mut() };
            // SAFETY: as above.
            let state = unsafe { (own.create)() };
            STATE.set(Some((state, own.destroy)));
            state
        }
        unsafe extern "C" fn destroy(state: *mut c_void) {
            let Some((_, own)) = TABLE.get() else { return };
            STATE.set(None);
            // SAFETY: as above.
            unsafe { (own.destroy)(state) }
        }
        extern "C" fn table() -> *const () {
            let (table, _) = TABLE.get_or_init(|| with_state($grammar, create, destroy, roomy));
            ptr::from_ref(table).cast()
        }
        static TABLE: OnceLock<(Table, Table)> = OnceLock::new();
        // SAFETY: the function returns the table of a grammar, which lives as long as the process.
        unsafe { LanguageFn::from_raw(table) }
    }};
}

/// C++: the delimiter of a raw string, in characters of one byte.
#[cfg(feature = "cpp")]
pub(crate) const CPP: LanguageFn = grammar!(tree_sitter_cpp::LANGUAGE, 1);

/// Rust: the length of the delimiter of a raw string.
pub(crate) const RUST: LanguageFn = grammar!(tree_sitter_rust::LANGUAGE, 1);

/// Python: a depth is two bytes.
pub(crate) const PYTHON: LanguageFn = grammar!(tree_sitter_python::LANGUAGE, 2);

/// YAML: a depth is two bytes, with two for the kind of the block.
pub(crate) const YAML: LanguageFn = grammar!(tree_sitter_yaml::LANGUAGE, 4);
