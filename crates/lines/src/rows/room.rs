//! Room for large outputs. Fresh memory costs a page fault every 4 KiB, which for a large view
//! is more than all the work on it; where the system has larger pages, it is asked for them.
//! For small outputs each thread keeps the largest buffer that was recycled.

use std::cell::Cell;

/// Outputs of at least this size get large pages: some of them, of usually 2 MiB.
const LARGE_BYTES: usize = 8 << 20;

/// Larger buffers are not kept.
const KEEP_LIMIT_BYTES: usize = 1 << 20;

thread_local! {
    static KEPT: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// Takes the buffer of an output that is no longer needed, for the thread's next one.
pub fn recycle(out: Vec<u8>) {
    if out.capacity() <= KEEP_LIMIT_BYTES {
        // At the end of a thread there may be no place left for it.
        let _ = KEPT.try_with(|kept| {
            let other = kept.take();
            kept.set(if out.capacity() > other.capacity() { out } else { other });
        });
    }
}

/// The size of the buffer that the thread keeps.
pub fn kept_room_bytes() -> usize {
    let kept = KEPT.try_with(|kept| {
        let out = kept.take();
        let size_bytes = out.capacity();
        kept.set(out);
        size_bytes
    });
    kept.unwrap_or(0)
}

/// An empty buffer for so many bytes.
pub fn with_room_for(size_bytes: usize) -> Vec<u8> {
    if size_bytes <= KEEP_LIMIT_BYTES {
        let mut out = KEPT.try_with(Cell::take).unwrap_or_default();
        out.clear();
        out.reserve(size_bytes);
        return out;
    }
    let out = Vec::with_capacity(size_bytes);
    if size_bytes >= LARGE_BYTES {
        ask_for_large_pages(&out);
    }
    out
}

/// A large buffer of zeros, which are memory that nobody has touched yet.
pub fn zeroed_room_for(size_bytes: usize) -> Vec<u8> {
    let out = vec![0; size_bytes];
    if size_bytes >= LARGE_BYTES {
        ask_for_large_pages(&out);
    }
    out
}

#[cfg(target_os = "linux")]
fn ask_for_large_pages(out: &Vec<u8>) {
    let page_bytes = rustix::param::page_size();
    let (start, end) = (out.as_ptr() as usize, out.as_ptr() as usize + out.capacity());
    let (first, behind) = (start.next_multiple_of(page_bytes), end / page_bytes * page_bytes);
    // SAFETY: The pages from `first` to `behind` lie within the buffer. The advice changes
    // nothing about their content or their validity, and a refusal does no harm.
    unsafe {
        libc::madvise(first as *mut libc::c_void, behind - first, libc::MADV_HUGEPAGE);
    }
}

#[cfg(not(target_os = "linux"))]
fn ask_for_large_pages(_: &Vec<u8>) {}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buffers_of_any_size_are_usable() {
        for size in [0, 1, LARGE_BYTES - 1, LARGE_BYTES, LARGE_BYTES + 4097] {
            let mut out = with_room_for(size);
            assert!(out.is_empty() && out.capacity() >= size);
            out.resize(size, b'x');
            assert!(out.iter().all(|&byte| byte == b'x'));
            recycle(out);
        }
    }

    #[test]
    fn buffers_are_used_again_up_to_a_size() {
        recycle(Vec::with_capacity(KEEP_LIMIT_BYTES + 1));
        recycle(b"before".to_vec());
        recycle(Vec::with_capacity(1000));
        recycle(Vec::with_capacity(10));
        let out = with_room_for(20);
        assert!(out.is_empty() && (1000..=KEEP_LIMIT_BYTES).contains(&out.capacity()));
        assert!(with_room_for(0).capacity() < 1000);
    }
}
