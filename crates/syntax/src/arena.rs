//! The memory of one parse: what its parser allocates, within a budget, and then its tree.
//!
//! A tree is freed with its arena, and by nothing else: the parser frees a tree by counting the
//! references of each node, and a parse that is stopped leaves counts behind. So a tree that shares
//! nodes with an older one keeps the older arena.
//!
//! Small blocks are cells of chunks, and a freed cell is used again for a block of its size. Large
//! blocks come from the system and return to it.

use std::alloc::{self, Layout};
use std::ptr::{self, NonNull};

use crate::budget::Meter;

/// What a parse may hold. Ordinary source of 256 KB needs 4 to 12 MB, and 50 MB where every second
/// byte is a token.
pub(crate) const LIMIT_BYTES: usize = 48 << 20;

/// In front of each block: its size, and the place of a large one in the list.
const HEADER_BYTES: usize = size_of::<Header>();

/// Sizes are multiples of this, as are addresses.
const UNIT_BYTES: usize = 16;

/// Larger blocks are not cells.
const CELL_LIMIT_BYTES: usize = 2 << 10;

const FIRST_CHUNK_BYTES: usize = 16 << 10;
const CHUNK_LIMIT_BYTES: usize = 1 << 20;

/// How much is allocated between two checks of the time, where a block counts as more than it has.
const BYTES_BETWEEN_CHECKS: usize = 256 << 10;
const BLOCK_COST_BYTES: usize = 128;

#[repr(C, align(16))]
struct Header {
    /// The whole size, with the header.
    size: u32,
    /// In a large block its place in `Arena::large`.
    place: u32,
}

/// A free cell: the next one of its size.
type FreeCell = Option<NonNull<u8>>;

#[derive(Debug)]
pub(crate) struct Arena {
    chunks: Vec<(NonNull<u8>, Layout)>,
    large: Vec<(NonNull<u8>, Layout)>,
    /// The rest of the last chunk.
    rest: *mut u8,
    rest_bytes: usize,
    free: [FreeCell; CELL_LIMIT_BYTES / UNIT_BYTES + 1],
    held_bytes: usize,
    unchecked_bytes: usize,
}

// SAFETY: the arena owns all blocks, and nothing of it belongs to a thread.
unsafe impl Send for Arena {}
// SAFETY: no method takes `&self` but `held_bytes`, which only reads.
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

    /// The memory that it has from the system.
    pub fn held_bytes(&self) -> usize {
        self.held_bytes
    }

    /// A block of at least this size; `None` past the budget.
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
            // SAFETY: a free cell holds the next one, and has room for it behind its header.
            *free = unsafe { cell.cast::<FreeCell>().read() };
            return Some(cell);
        }
        if self.rest_bytes < size {
            self.add_chunk()?;
        }
        let cell = self.rest;
        // SAFETY: the rest of the chunk has room for the cell.
        self.rest = unsafe { cell.add(size) };
        self.rest_bytes -= size;
        // SAFETY: the cell is inside of a chunk, aligned, and belongs to no one else.
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
        // SAFETY: the block was just allocated with this size.
        Some(unsafe { with_header(block.as_ptr(), size, self.large.len() - 1) })
    }

    fn obtain(&mut self, layout: Layout) -> Option<NonNull<u8>> {
        if self.held_bytes + layout.size() > LIMIT_BYTES {
            return None;
        }
        // SAFETY: the size is not zero.
        let block = NonNull::new(unsafe { alloc::alloc(layout) })?;
        self.held_bytes += layout.size();
        Some(block)
    }

    /// # Safety
    ///
    /// The block is one of this arena, and in use.
    pub unsafe fn reallocate(
        &mut self,
        block: NonNull<u8>,
        size: usize,
        meter: &Meter<'_>,
    ) -> Option<NonNull<u8>> {
        // SAFETY: as the caller says.
        let room = unsafe { header_of(block).read() }.size as usize - HEADER_BYTES;
        if size <= room {
            return Some(block);
        }
        let new = self.allocate(size, meter)?;
        // SAFETY: both have room for as much, and are apart.
        unsafe { ptr::copy_nonoverlapping(block.as_ptr(), new.as_ptr(), room) };
        // SAFETY: as the caller says.
        unsafe { self.release(block) };
        Some(new)
    }

    /// # Safety
    ///
    /// The block is one of this arena, and in use.
    pub unsafe fn release(&mut self, block: NonNull<u8>) {
        // SAFETY: as the caller says.
        let header = unsafe { header_of(block).read() };
        if header.size as usize <= CELL_LIMIT_BYTES {
            let free = &mut self.free[header.size as usize / UNIT_BYTES];
            // SAFETY: the cell is not in use and has room for a pointer behind its header.
            unsafe { block.cast::<FreeCell>().write(*free) };
            *free = Some(block);
            return;
        }
        let (start, layout) = self.large.swap_remove(header.place as usize);
        if let Some((moved, _)) = self.large.get(header.place as usize) {
            // SAFETY: each block of the list is in use and begins with its header.
            unsafe { (*moved.cast::<Header>().as_ptr()).place = header.place };
        }
        self.held_bytes -= layout.size();
        // SAFETY: it was allocated with this layout.
        unsafe { alloc::dealloc(start.as_ptr(), layout) };
    }
}

impl Drop for Arena {
    fn drop(&mut self) {
        for (start, layout) in self.chunks.drain(..).chain(self.large.drain(..)) {
            // SAFETY: it was allocated with this layout, and whoever refers to blocks of this arena
            // keeps it.
            unsafe { alloc::dealloc(start.as_ptr(), layout) };
        }
    }
}

fn layout_of(size: usize) -> Layout {
    Layout::from_size_align(size, UNIT_BYTES).expect("sizes are below the limit")
}

/// Writes the header of a block and returns what is behind it.
///
/// # Safety
///
/// The block is aligned, has this size and is not in use.
unsafe fn with_header(block: *mut u8, size: usize, place: usize) -> NonNull<u8> {
    let header = Header { size: size as u32, place: place as u32 };
    // SAFETY: as the caller says.
    unsafe {
        block.cast::<Header>().write(header);
        NonNull::new_unchecked(block.add(HEADER_BYTES))
    }
}

/// # Safety
///
/// The block has a header.
unsafe fn header_of(block: NonNull<u8>) -> NonNull<Header> {
    // SAFETY: as the caller says.
    unsafe { block.sub(HEADER_BYTES) }.cast()
}
