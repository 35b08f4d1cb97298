//! The handler of SIGBUS: a mapped file that shrinks must not kill the process.
//!
//! Touching a page of a mapping that lies past the end of its file raises SIGBUS. The handler
//! looks whether the address lies in a mapping of ours; if so, it puts zeros there and marks the
//! mapping as faulted, and the interrupted instruction goes on. Whoever used the mapping asks
//! [`FaultWatch::has_faulted`] afterwards and throws the result away. Any other SIGBUS goes to the
//! handler that was there before.
//!
//! Linux only, where the library is linked to stay loaded; other Unix systems read instead.
//!
//! The handler runs between any two instructions of any thread, so all it touches is a fixed
//! table of atomics and two system calls, `mmap` and `sigaction`.

use std::mem::MaybeUninit;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many mappings can be watched at a time; beyond that, files are read instead.
const SLOTS: usize = 256;

struct Slot {
    /// Address of the first byte; 0 while the slot is free, [`CLAIMED`] while it is filled.
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

/// Installs the handler on first use. False when it is not, or no longer, the one in force:
/// then nothing may be mapped.
pub(super) fn install() -> bool {
    static INSTALLED: OnceLock<bool> = OnceLock::new();
    *INSTALLED.get_or_init(set_handler) && is_in_force()
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
    // SAFETY: An all-zero `sigaction` is a valid one (no flags, empty mask); the handler has
    // the signature that SA_SIGINFO asks for and lives as long as the process, since the
    // library is linked to stay loaded.
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

fn is_in_force() -> bool {
    current_action().is_some_and(|action| action.sa_sigaction == handler_address())
}

fn current_action() -> Option<libc::sigaction> {
    let mut current = MaybeUninit::zeroed();
    // SAFETY: A null new action only asks; on success `current` is filled, and zeroed it was
    // a valid value already.
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
    // A signal that someone sent has no address, and a code that is not positive.
    if code <= 0 || !patch_mapping(address) {
        pass_on(signal, info, context);
    }
}

/// Puts zeros from the page of a faulting address to the end of its watched mapping: what is
/// made of it is thrown away, so one fault is enough. Async-signal-safe.
fn patch_mapping(address: usize) -> bool {
    let page_bytes = PAGE_BYTES.load(Ordering::Relaxed);
    for slot in &TABLE {
        let start = slot.start.load(Ordering::Acquire);
        if start == 0 || start == CLAIMED || address < start {
            continue;
        }
        let len = slot.len.load(Ordering::Acquire);
        // The slot may have passed to another mapping between the two looks.
        if address - start < len && slot.start.load(Ordering::Acquire) == start {
            slot.faulted.store(true, Ordering::Release);
            let page = address / page_bytes * page_bytes;
            // SAFETY: These pages lie in a mapping that a live `FaultWatch` borrows from its owner,
            // who only reads it; replacing them by zeros is what a changed file looks like.
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

/// Hands a SIGBUS that is not ours to the handler that was there before, or lets it end the
/// process as it would have.
fn pass_on(signal: libc::c_int, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    let Some(previous) = PREVIOUS.get() else {
        return;
    };
    let handler = previous.sa_sigaction;
    // SAFETY: `previous` came from the kernel, so `sa_sigaction` is one of the two constants
    // or a function of the signature that its flags say.
    unsafe {
        if handler == libc::SIG_DFL || handler == libc::SIG_IGN {
            // A faulting instruction runs again after the return, and the default action
            // follows; a signal that was sent is sent again.
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

/// Watches one mapping until it is dropped, which must be before the mapping is.
#[derive(Debug)]
pub(super) struct FaultWatch {
    slot: usize,
}

impl FaultWatch {
    /// Watches `map`, which must outlive the watch; `None` when the table is full.
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

    /// Whether a page of the mapping was past the end of the file when it was touched.
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
