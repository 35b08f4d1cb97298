//! Buffers for outputs. Fresh memory costs a page fault every 4 KiB, which for a large view is more
//! than all other work, so huge pages are requested where the system has them. For small outputs,
//! each thread reuses the largest buffer that was recycled.

use std::cell::Cell;

/// The minimum size of outputs for which huge pages are requested: several of them, usually of 2
/// MiB.
const LARGE_BYTES: usize = 8 << 20;

/// The maximum size of buffers that are reused.
const RECYCLE_LIMIT_BYTES: usize = 1 << 20;

thread_local! {
    static RECYCLED: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Takes a buffer that is no longer needed, to reuse it for the next output of the thread.
pub fn recycle(out: Vec<u8>) {
    if out.capacity() <= RECYCLE_LIMIT_BYTES {
        // At the end of a thread, the storage may be destroyed already.
        let _ = RECYCLED.try_with(|recycled| {
            let other = recycled.take();
            recycled.set(if out.capacity() > other.capacity() { out } else { other });
        });
    }
}

/// The capacity of the buffer that the thread holds for reuse.
pub fn recycled_buffer_bytes() -> usize {
    let recycled = RECYCLED.try_with(|recycled| {
        let out = recycled.take();
        let size_bytes = out.capacity();
        recycled.set(out);
        size_bytes
    });
    recycled.unwrap_or(0)
}

/// An empty buffer with at least this capacity.
pub fn buffer_with_capacity(size_bytes: usize) -> Vec<u8> {
    if size_bytes <= RECYCLE_LIMIT_BYTES {
        let mut out = RECYCLED.try_with(Cell::take).unwrap_or_default();
        out.clear();
        out.reserve(size_bytes);
        return out;
    }
    let out = Vec::with_capacity(size_bytes);
    if size_bytes >= LARGE_BYTES {
        request_huge_pages(&out);
    }
    out
}

/// A large zeroed buffer, which consists of untouched memory.
pub fn zeroed_buffer(size_bytes: usize) -> Vec<u8> {
    let out = vec![0; size_bytes];
    if size_bytes >= LARGE_BYTES {
        request_huge_pages(&out);
    }
    out
}

#[cfg(target_os = "linux")]
fn request_huge_pages(out: &Vec<u8>) {
    let page_bytes = rustix::param::page_size();
    let (start, end) = (out.as_ptr() as usize, out.as_ptr() as usize + out.capacity());
    let (first, end_page) = (start.next_multiple_of(page_bytes), end / page_bytes * page_bytes);
    // SAFETY: The pages from `first` to `end_page` are within the buffer. The advice does not
    // change their content or validity, and an error has no effect.
    unsafe {
        libc::madvise(first as *mut libc::c_void, end_page - first, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn request_huge_pages(_: &Vec<u8>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_any_size_are_usable() {
        for size in [0, 1, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 4097] {
            let mut out = buffer_with_capacity(size);
            assert!(out.is_empty() && out.capacity() >= size);
            out.resize(size, b'x');
            assert!(out.iter().all(|&byte| byte == b'x'));
            recycle(out);
        }
    }

    #[test]
    fn buffers_are_reused_up_to_a_size() {
        recycle(Vec::with_capacity(RECYCLE_LIMIT_BYTES + 1));
        recycle(b"before".to_vec());
        recycle(Vec::with_capacity(1000));
        recycle(Vec::with_capacity(10));
        let out = buffer_with_capacity(20);
        assert!(out.is_empty() && (1000..=RECYCLE_LIMIT_BYTES).contains(&out.capacity()));
        assert!(buffer_with_capacity(0).capacity() < 1000);
    }
}
