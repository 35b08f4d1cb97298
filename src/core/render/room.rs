//! Room for large outputs. Fresh memory costs a page fault every 4 KiB, which for a large view
//! is more than all the work on it; where the system has larger pages, it is asked for them.

/// Outputs of at least this size get large pages: some of them, of usually 2 MiB.
const LARGE_BYTES: usize = 8 << 20;

/// An empty buffer for so many bytes.
pub(crate) fn with_room_for(size_bytes: usize) -> Vec<u8> {
    let out = Vec::with_capacity(size_bytes);
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
        }
    }
}
