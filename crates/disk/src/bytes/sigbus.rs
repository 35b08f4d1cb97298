//! The SIGBUS handler: a mapped file that shrinks must not kill the process.
//!
//! An access to a mapped page beyond the end of its file raises SIGBUS. The handler checks whether
//! the address is in a watched mapping. If so, it maps zeros there and marks the mapping as
//! faulted, and the interrupted instruction runs again. The user of the mapping then calls
//! [`FaultWatch::has_faulted`] and discards the result. Any other SIGBUS goes to the handler that
//! was installed before.
//!
//! Linux only, where the library is linked so that it stays loaded. Other Unix systems read files
//! instead.
//!
//! The handler can run between any two instructions of any thread, so it uses only a fixed table of
//! atomics and two system calls, `mmap` and `sigaction`.

use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// The limit on watched mappings; beyond it, files are read instead.
const SLOTS: usize = 256;

struct Slot {
    /// Address of the first byte; 0 if the slot is free, [`CLAIMED`] while it is being filled.
    start: AtomicUsize,
    len: AtomicUsize,
    faulted: AtomicBool,
}

/// No mapping starts here: the last page of the address space belongs to the kernel.
const CLAIMED: usize = usize::MAX;

static TABLE: [Slot; SLOTS] = [const {
    Slot { start: AtomicUsize::new(0), len: AtomicUsize::new(0), faulted: AtomicBool::new(false) }
}; SLOTS];

static PREVIOUS: OnceLock<libc::sigaction> = OnceLock::new();
static PAGE_BYTES: AtomicUsize = AtomicUsize::new(4096);

/// Installs the handler on first use. Returns false if it is not, or no longer, the active one:
/// then nothing may be mapped.
pub(super) fn install() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(set_handler) && is_active()
}

fn set_handler() -> bool {
    let page_bytes = rustix::param::page_size();
    PAGE_BYTES.store(page_bytes, Ordering::Relaxed);
    let Some(previous) = current_action() else {
        return false;
    };
    if PREVIOUS.set(previous).is_err() {
        return false;
    }
    // SAFETY: An all-zero `sigaction` is a valid one (no flags, empty mask); the handler has the
    // signature that SA_SIGINFO asks for and lives as long as the process, because the library is
    // linked to stay loaded.
    unsafe {
        let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
        action.sa_sigaction = handler_address();
        action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
        libc::sigemptyset(&raw mut action.sa_mask);
        libc::sigaction(libc::SIGBUS, &raw const action, std::ptr::null_mut()) == 0
    }
}

fn handler_address() -> libc::sighandler_t {
    let handler: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) = on_bus_error;
    handler as libc::sighandler_t
}

fn is_active() -> bool {
    current_action().is_some_and(|action| action.sa_sigaction == handler_address())
}

fn current_action() -> Option<libc::sigaction> {
    let mut current = MaybeUninit::zeroed();
    // SAFETY: A null new action only queries the current one; on success `current` is filled, and
    // zeroed it was a valid value already.
    unsafe {
        (libc::sigaction(libc::SIGBUS, std::ptr::null(), current.as_mut_ptr()) == 0)
            .then(|| current.assume_init())
    }
}

extern "C" fn on_bus_error(
    signal: libc::c_int,
    info: *mut libc::siginfo_t,
    context: *mut libc::c_void,
) {
    // SAFETY: The kernel passes a valid `siginfo_t` to a handler installed with SA_SIGINFO.
    let (code, address) = unsafe { ((*info).si_code, (*info).si_addr() as usize) };
    // A signal that a process sent has no address, and its code is not positive.
    if code <= 0 || !map_zeros(address) {
        pass_on(signal, info, context);
    }
}

/// Maps zeros from the page of a faulting address to the end of its watched mapping. The result is
/// discarded anyway, so one fault per mapping is enough. Async-signal-safe.
fn map_zeros(address: usize) -> bool {
    let page_bytes = PAGE_BYTES.load(Ordering::Relaxed);
    for slot in &TABLE {
        let start = slot.start.load(Ordering::Acquire);
        if start == 0 || start == CLAIMED || address < start {
            continue;
        }
        let len = slot.len.load(Ordering::Acquire);
        // The slot may have been reused for another mapping between the two loads.
        if address - start < len && slot.start.load(Ordering::Acquire) == start {
            slot.faulted.store(true, Ordering::Release);
            let page = address / page_bytes * page_bytes;
            // SAFETY: These pages are in a mapping that a live `FaultWatch` borrows from its owner,
            // who only reads it; to the owner, zeros in their place are like a changed file.
            let patched = unsafe {
                libc::mmap(
                    page as *mut libc::c_void,
                    (start + len).next_multiple_of(page_bytes) - page,
                    libc::PROT_READ,
                    libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED,
                    -1,
                    0,
                )
            };
            return patched != libc::MAP_FAILED;
        }
    }
    false
}

/// Passes a SIGBUS for any other address to the previous handler, or to the default action.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(previous) = PREVIOUS.get() else {
        return;
    };
    let handler = previous.sa_sigaction;
    // SAFETY: `previous` came from the kernel, so `sa_sigaction` is one of the two constants or a
    // function with the signature that its flags declare.
    unsafe {
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            // A faulting instruction runs again after the return, and then the default action
            // applies; a signal that was sent is sent again.
            libc::sigaction(signal, previous, std::ptr::null_mut());
            if (*info).si_code <= 0 {
                libc::raise(signal);
            }
        } else if previous.sa_flags & libc::SA_SIGINFO != 0 {
            let call: extern "C" fn(libc::c_int, *mut libc::siginfo_t, *mut libc::c_void) =
                std::mem::transmute(handler);
            call(signal, info, context);
        } else {
            let call: extern "C" fn(libc::c_int) = std::mem::transmute(handler);
            call(signal);
        }
    }
}

/// Watches one mapping. It must be dropped before the mapping.
#[derive(Debug)]
pub(super) struct FaultWatch {
    slot: usize,
}

impl FaultWatch {
    /// Watches `map`, which must outlive the watch; `None` if the table is full.
    pub(super) fn new(map: &[u8]) -> Option<FaultWatch> {
        let free = |slot: &Slot| {
            let claim =
                slot.start.compare_exchange(0, CLAIMED, Ordering::AcqRel, Ordering::Relaxed);
            claim.is_ok()
        };
        let slot = TABLE.iter().position(free)?;
        TABLE[slot].len.store(map.len(), Ordering::Relaxed);
        TABLE[slot].faulted.store(false, Ordering::Relaxed);
        TABLE[slot].start.store(map.as_ptr() as usize, Ordering::Release);
        Some(FaultWatch { slot })
    }

    /// Whether a page beyond the end of the file was accessed.
    pub(super) fn has_faulted(&self) -> bool {
        TABLE[self.slot].faulted.load(Ordering::Acquire)
    }
}

impl Drop for FaultWatch {
    fn drop(&mut self) {
        TABLE[self.slot].start.store(0, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    #[test]
    fn a_shrunken_file_reads_as_zeros_and_is_reported() {
        assert!(install());
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(&vec![b'x'; 64 * 1024]).unwrap();
        // SAFETY: This test shrinks the file itself, which is what the watch is for.
        let map = unsafe { memmap2::Mmap::map(&file) }.unwrap();
        let watch = FaultWatch::new(&map).unwrap();
        assert_eq!(map[60_000], b'x');
        assert!(!watch.has_faulted());
        file.set_len(10).unwrap();
        assert_eq!(map[60_000], 0);
        assert_eq!(map[0], b'x');
        assert!(watch.has_faulted());
        drop(watch);
        drop(map);
    }
}
