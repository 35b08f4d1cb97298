//! The memory of one parse: what its parser allocates, within a budget, and then its tree.
//!
//! A tree is freed with its arena, not by the parser: the parser frees a tree by counting
//! references to nodes, and a parse that is stopped leaves wrong counts. A tree that shares nodes
//! with an older one therefore keeps the older arena alive.
//!
//! Small blocks are cells within chunks; a freed cell is reused for a block of the same size. Large
//! blocks are allocated from the system and returned to it.

use std::alloc::{self, Layout};
use std::ptr::{self, NonNull};

use crate::budget::Meter;

/// The memory limit of a parse. Ordinary source of 256 KB needs 4 to 12 MB, and 50 MB if every
/// second byte is a token.
pub(crate) const LIMIT_BYTES: usize = 48 << 20;

/// The header before each block: its size, and the index of a large block in the list.
const HEADER_BYTES: usize = size_of::<Header>();

/// The unit of sizes and the alignment of addresses.
const UNIT_BYTES: usize = 16;

/// The maximum size of cells.
const CELL_LIMIT_BYTES: usize = 2 << 10;

const FIRST_CHUNK_BYTES: usize = 16 << 10;
const CHUNK_LIMIT_BYTES: usize = 1 << 20;

/// The number of bytes allocated between two checks of the time. Each block also counts a constant.
const BYTES_BETWEEN_CHECKS: usize = 256 << 10;
const BLOCK_COST_BYTES: usize = 128;

#[repr(C, align(16))]
struct Header {
    /// The total size, including the header.
    size: u32,
    /// The index of a large block in `Arena::large`.
    index: u32,
}

/// The next free cell of the same size.
type FreeCell = Option<NonNull<u8>>;

#[derive(Debug)]
pub(crate) struct Arena {
    chunks: Vec<(NonNull<u8>, Layout)>,
    large: Vec<(NonNull<u8>, Layout)>,
    /// The unused end of the last chunk.
    rest: *mut u8,
    rest_bytes: usize,
    free: [FreeCell; CELL_LIMIT_BYTES / UNIT_BYTES + 1],
    held_bytes: usize,
    unchecked_bytes: usize,
}

// SAFETY: The arena owns all blocks, and nothing in it is tied to a thread.
unsafe impl Send for Arena {}
// SAFETY: The only method that takes `&self` is `held_bytes`, which only reads.
unsafe impl Sync for Arena {}

impl Arena {
    pub fn new() -> Arena {
        Arena {
            chunks: Vec::new(),
            large: Vec::new(),
            rest: ptr::null_mut(),
            rest_bytes: 0,
            free: [None; CELL_LIMIT_BYTES / UNIT_BYTES + 1],
            held_bytes: 0,
            unchecked_bytes: 0,
        }
    }

    /// The memory allocated from the system.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// Allocates a block of at least this size; `None` if the budget is exceeded.
    pub fn allocate(&mut self, size: usize, meter: &Meter<'_>) -> Option<NonNull<u8>> {
        if size > LIMIT_BYTES || !self.charge(size, meter) {
            return None;
        }
        let size = (size.max(1) + HEADER_BYTES).next_multiple_of(UNIT_BYTES);
        if size > CELL_LIMIT_BYTES {
            return self.allocate_large(size);
        }
        let free = &mut self.free[size / UNIT_BYTES];
        if let Some(cell) = *free {
            // SAFETY: A free cell contains the next one after its header, where there is space for
            // it.
            *free = unsafe { cell.cast::<FreeCell>().read() };
            return Some(cell);
        }
        if self.rest_bytes < size {
            self.add_chunk()?;
        }
        let cell = self.rest;
        // SAFETY: The rest of the chunk has space for the cell.
        self.rest = unsafe { cell.add(size) };
        self.rest_bytes -= size;
        // SAFETY: The cell is within a chunk, aligned, and not used.
        Some(unsafe { with_header(cell, size, 0) })
    }

    fn charge(&mut self, size: usize, meter: &Meter<'_>) -> bool {
        self.unchecked_bytes += size + BLOCK_COST_BYTES;
        if self.unchecked_bytes < BYTES_BETWEEN_CHECKS {
            return true;
        }
        self.unchecked_bytes = 0;
        meter.check()
    }

    fn add_chunk(&mut self) -> Option<()> {
        let last = self.chunks.last().map_or(FIRST_CHUNK_BYTES / 2, |(_, layout)| layout.size());
        let layout = layout_of((2 * last).min(CHUNK_LIMIT_BYTES));
        let chunk = self.obtain(layout)?;
        self.chunks.push((chunk, layout));
        (self.rest, self.rest_bytes) = (chunk.as_ptr(), layout.size());
        Some(())
    }

    fn allocate_large(&mut self, size: usize) -> Option<NonNull<u8>> {
        let layout = layout_of(size);
        let block = self.obtain(layout)?;
        self.large.push((block, layout));
        // SAFETY: The block was just allocated with this size.
        Some(unsafe { with_header(block.as_ptr(), size, self.large.len() - 1) })
    }

    fn obtain(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        if self.held_bytes + layout.size() > LIMIT_BYTES {
            return None;
        }
        // SAFETY: The size is not zero.
        let block = NonNull::new(unsafe { alloc::alloc(layout) })?;
        self.held_bytes += layout.size();
        Some(block)
    }

    /// # Safety
    ///
    /// The block must belong to this arena and be in use.
    pub unsafe fn reallocate(
        &mut self,
        block: NonNull<u8>,
        size: usize,
        meter: &Meter<'_>,
    ) -> Option<NonNull<u8>> {
        // SAFETY: The caller guarantees it.
        let usable_bytes = unsafe { header_of(block).read() }.size as usize - HEADER_BYTES;
        if size <= usable_bytes {
            return Some(block);
        }
        let new = self.allocate(size, meter)?;
        // SAFETY: Both have at least this size and do not overlap.
        unsafe { ptr::copy_nonoverlapping(block.as_ptr(), new.as_ptr(), usable_bytes) };
        // SAFETY: The caller guarantees it.
        unsafe { self.release(block) };
        Some(new)
    }

    /// # Safety
    ///
    /// The block must belong to this arena and be in use.
    pub unsafe fn release(&mut self, block: NonNull<u8>) {
        // SAFETY: The caller guarantees it.
        let header = unsafe { header_of(block).read() };
        if header.size as usize <= CELL_LIMIT_BYTES {
            let free = &mut self.free[header.size as usize / UNIT_BYTES];
            // SAFETY: The cell is not in use and has space for a pointer after its header.
            unsafe { block.cast::<FreeCell>().write(*free) };
            *free = Some(block);
            return;
        }
        let (start, layout) = self.large.swap_remove(header.index as usize);
        if let Some((moved, _)) = self.large.get(header.index as usize) {
            // SAFETY: Each block of the list is in use and starts with its header.
            unsafe { (*moved.cast::<Header>().as_ptr()).index = header.index };
        }
        self.held_bytes -= layout.size();
        // SAFETY: It was allocated with this layout.
        unsafe { alloc::dealloc(start.as_ptr(), layout) };
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for (start, layout) in self.chunks.drain(..).chain(self.large.drain(..)) {
            // SAFETY: It was allocated with this layout, and everything that refers to blocks of
            // this arena keeps it alive.
            unsafe { alloc::dealloc(start.as_ptr(), layout) };
        }
    }
}

fn layout_of(size: usize) -> Layout {
    Layout::from_size_align(size, UNIT_BYTES).expect("sizes are below the limit")
}

/// Writes the header of a block and returns the address after it.
///
/// # Safety
///
/// The block must be aligned, have this size and not be in use.
unsafe fn with_header(block: *mut u8, size: usize, index: usize) -> NonNull<u8> {
    let header = Header { size: size as u32, index: index as u32 };
    // SAFETY: The caller guarantees it.
    unsafe {
        block.cast::<Header>().write(header);
        NonNull::new_unchecked(block.add(HEADER_BYTES))
    }
}

/// # Safety
///
/// The block must have a header.
unsafe fn header_of(block: NonNull<u8>) -> NonNull<Header> {
    // SAFETY: The caller guarantees it.
    unsafe { block.sub(HEADER_BYTES) }.cast()
}
