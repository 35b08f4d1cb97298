//! Bindings to `bounded.c`: one parse, with a tree in an arena as its result.

use std::ffi::{c_char, c_void};
use std::mem::ManuallyDrop;
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::{Arc, Once};

use tree_sitter::ffi::{TSInputEdit, TSLanguage, TSParseOptions, TSParseState, TSRange, TSTree};
use tree_sitter::{InputEdit, Language, Range, Tree};

use crate::arena::Arena;
use crate::budget::Meter;
use crate::scanner;

/// The limit on consecutive edits whose trees share nodes. A tree keeps the memory of all older
/// trees alive with which it shares nodes.
const SHARED_TREES_LIMIT: u32 = 32;

/// A tree and the memory that contains it.
#[derive(Debug)]
pub(crate) struct BoundedTree {
    tree: ManuallyDrop<Tree>,
    memory: Arc<TreeMemory>,
}

/// The arenas that contain a tree.
#[derive(Debug)]
struct TreeMemory {
    /// Its own, and those of the tree with which it shares nodes.
    _arenas: (Arena, Option<Arc<TreeMemory>>),
    depth: u32,
    /// The bytes of all of them, and of the oldest alone.
    bytes: usize,
    first_bytes: usize,
}

impl Deref for BoundedTree {
    type Target = Tree;

    fn deref(&self) -> &Tree {
        &self.tree
    }
}

impl BoundedTree {
    /// The memory that it keeps alive, which other trees may share.
    pub fn held_bytes(&self) -> usize {
        self.memory.bytes
    }

    /// Whether another tree may share its nodes: not if most of the memory would belong to older
    /// trees.
    pub fn is_shareable(&self) -> bool {
        let TreeMemory { depth, bytes, first_bytes, .. } = *self.memory;
        depth < SHARED_TREES_LIMIT && bytes <= 2 * first_bytes
    }
}

/// The input of a parse.
pub(crate) struct Job<'a> {
    pub text: &'a [u8],
    pub language: Language,
    /// The parts of the text to parse; the whole text if empty.
    pub ranges: &'a [Range],
    /// The tree of another text, and the edit from that text to this one.
    pub old: Option<(&'a BoundedTree, InputEdit)>,
}

/// `Job` of `bounded.c`.
#[repr(C)]
struct RawJob {
    language: *const TSLanguage,
    old: *const TSTree,
    edit: *const TSInputEdit,
    ranges: *const TSRange,
    range_count: u32,
    text: *const c_char,
    text_bytes: u32,
    options: TSParseOptions,
}

/// `Memory` of `bounded.c`.
#[repr(C)]
struct RawMemory {
    arena: *mut c_void,
    allocate: unsafe extern "C" fn(*mut c_void, usize) -> *mut c_void,
    reallocate: unsafe extern "C" fn(*mut c_void, *mut c_void, usize) -> *mut c_void,
    release: unsafe extern "C" fn(*mut c_void, *mut c_void),
    may_continue: unsafe extern "C" fn(*mut c_void) -> bool,
}

unsafe extern "C" {
    fn hashline_syntax_install(job_bytes: *mut usize, memory_bytes: *mut usize);
    fn hashline_syntax_parse(job: *const RawJob, memory: *const RawMemory) -> *mut TSTree;
}

/// The arena of the current parse.
struct Running<'a> {
    arena: Arena,
    meter: &'a Meter<'a>,
}

/// Parses a text. `None` if `may_continue` returns false, the budget is spent, or there is no
/// memory. The parser calls `may_continue` about every 100 operations, with whether it is in error
/// recovery and can only skip text.
pub(crate) fn parse<F: FnMut(bool) -> bool>(
    job: &Job<'_>,
    meter: &Meter<'_>,
    mut may_continue: F,
) -> Option<BoundedTree> {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let (mut job_bytes, mut memory_bytes) = (0, 0);
        // SAFETY: All trees are created here, so nothing was allocated before. Outside of a parse,
        // the functions are those of the system.
        unsafe { hashline_syntax_install(&raw mut job_bytes, &raw mut memory_bytes) };
        assert_eq!((job_bytes, memory_bytes), (size_of::<RawJob>(), size_of::<RawMemory>()));
    });
    // A node refers to its tree.
    let old = job.old.as_ref().map(|(old, edit)| (old.root_node().into_raw().tree, edit.into()));
    let ranges: Vec<TSRange> = job.ranges.iter().map(|&range| range.into()).collect();
    let mut running = Running { arena: Arena::new(), meter };
    let raw = RawJob {
        language: job.language.clone().into_raw(),
        old: old.as_ref().map_or(ptr::null(), |(old, _)| *old),
        edit: old.as_ref().map_or(ptr::null(), |(_, edit)| ptr::from_ref(edit)),
        ranges: ranges.as_ptr(),
        range_count: ranges.len() as u32,
        text: job.text.as_ptr().cast(),
        text_bytes: u32::try_from(job.text.len()).ok()?,
        options: TSParseOptions {
            payload: (&raw mut may_continue).cast(),
            progress_callback: Some(stops::<F>),
        },
    };
    let memory = RawMemory {
        arena: (&raw mut running).cast(),
        allocate,
        reallocate,
        release,
        may_continue: has_time,
    };
    // SAFETY: All pointers are to values that live until the call returns, and the functions accept
    // these arguments. A parse that is aborted only jumps over C frames.
    let tree = NonNull::new(unsafe { hashline_syntax_parse(&raw, &memory) });
    scanner::destroy_state();
    let tree = tree?;
    // SAFETY: The parser returned it, and it is never dropped.
    let tree = ManuallyDrop::new(unsafe { Tree::from_raw(tree.as_ptr()) });
    let older = job.old.as_ref().map(|(old, _)| Arc::clone(&old.memory));
    let own_bytes = running.arena.held_bytes();
    let memory = TreeMemory {
        depth: older.as_ref().map_or(0, |older| older.depth + 1),
        bytes: older.as_ref().map_or(0, |older| older.bytes) + own_bytes,
        first_bytes: older.as_ref().map_or(own_bytes, |older| older.first_bytes),
        _arenas: (running.arena, older),
    };
    Some(BoundedTree { tree, memory: Arc::new(memory) })
}

/// The callback that aborts the parser.
unsafe extern "C" fn stops<F: FnMut(bool) -> bool>(state: *mut TSParseState) -> bool {
    // SAFETY: The parser passes its state, whose payload is the closure of `parse`.
    unsafe { !(*(*state).payload.cast::<F>())((*state).has_error) }
}

unsafe extern "C" fn allocate(running: *mut c_void, size: usize) -> *mut c_void {
    // SAFETY: The pointer is that of `parse`, and nothing else refers to it during the call.
    let running = unsafe { &mut *running.cast::<Running<'_>>() };
    pointer(running.arena.allocate(size, running.meter))
}

unsafe extern "C" fn reallocate(
    running: *mut c_void,
    block: *mut c_void,
    size: usize,
) -> *mut c_void {
    // SAFETY: As in `allocate`.
    let running = unsafe { &mut *running.cast::<Running<'_>>() };
    let Some(block) = NonNull::new(block.cast()) else { return ptr::null_mut() };
    // SAFETY: Within a parse, all blocks of the parser belong to its arena.
    pointer(unsafe { running.arena.reallocate(block, size, running.meter) })
}

unsafe extern "C" fn release(running: *mut c_void, block: *mut c_void) {
    // SAFETY: As in `allocate`.
    let running = unsafe { &mut *running.cast::<Running<'_>>() };
    if let Some(block) = NonNull::new(block.cast()) {
        // SAFETY: As in `reallocate`. Nodes of older trees stay in use, because these are not
        // dropped.
        unsafe { running.arena.release(block) };
    }
}

unsafe extern "C" fn has_time(running: *mut c_void) -> bool {
    // SAFETY: As in `allocate`.
    unsafe { &*running.cast::<Running<'_>>() }.meter.check()
}

fn pointer(block: Option<NonNull<u8>>) -> *mut c_void {
    block.map_or(ptr::null_mut(), |block| block.as_ptr().cast())
}
