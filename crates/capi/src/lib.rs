//! The C interface of the engine: what the addon exports beside its functions for Node.
//!
//! Requests, options and answers are JSON in the shapes that `index.d.ts` declares. The contract
//! is in `docs/c.md`; `include/hashline_native.h` is made from this file.
//!
//! # Safety
//!
//! The same holds for all functions with arguments. Each input is a pointer to bytes and, after it,
//! their number, or null and 0. Nobody changes the bytes until the call returns. The pointers to an
//! answer and to an error are null, or can be written to; what is there is overwritten, not freed.

#![allow(clippy::missing_safety_doc, reason = "the rules above hold for all functions")]

mod buffer;
mod calls;
mod panics;
mod sessions;

use std::ffi::c_char;

pub use buffer::{HASHLINE_MAX_INPUT_BYTES, HashlineBuffer, HashlineError};
pub use panics::contained;

use buffer::{Input, answered};

/// The version of this interface: it grows when something changes that callers rely on.
pub const HASHLINE_ABI_VERSION: u32 = 1;

/// The version of the engine, such as `0.1.0`: ends in NUL, and is never to be freed.
#[unsafe(no_mangle)]
pub extern "C" fn hashline_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

/// The version of this interface, `HASHLINE_ABI_VERSION` of the header that the library was built
/// with.
#[unsafe(no_mangle)]
pub extern "C" fn hashline_abi_version() -> u32 {
    HASHLINE_ABI_VERSION
}

/// Takes back what a call handed over, and empties the buffer, so that taking it back once more
/// does nothing. Null, and an empty buffer, are nothing to take back. A buffer that was changed, or
/// a copy of one that was taken back, must not be given.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_free(buffer: *mut HashlineBuffer) {
    if buffer.is_null() {
        return;
    }
    // SAFETY: The caller says that the buffer is one of this library's; nobody has it now.
    unsafe { std::mem::replace(&mut *buffer, buffer::Answer::NONE).free() };
}

/// Reads files: `requests` is a path, an object `ReadRequest`, or an array of them. Answers an array
/// of `FileView`; a file that cannot be read has its reason in its view.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_read(
    requests: *const u8,
    requests_len: usize,
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            calls::read(
                Input::new("requests", requests, requests_len)?,
                Input::new("options", options, options_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Reads one file: `request` is a path or an object `ReadRequest`. Answers the lines with their
/// anchors as plain text; fails when the file cannot be read, or is no text.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_read_text(
    request: *const u8,
    request_len: usize,
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            calls::read_text(
                Input::new("request", request, request_len)?,
                Input::new("options", options, options_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Reads a JSON document: `request` is a path or an object `JsonRequest`. Answers a `JsonView`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_read_json(
    request: *const u8,
    request_len: usize,
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            calls::read_json(
                Input::new("request", request, request_len)?,
                Input::new("options", options, options_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Searches files and directories: `query` is a `SearchQuery`. Answers a `SearchResult`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_search(
    query: *const u8,
    query_len: usize,
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            calls::search(
                Input::new("query", query, query_len)?,
                Input::new("options", options, options_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Applies a `Patch` to files: all of it, or nothing. Answers an `ApplyOutcome`; a patch that is
/// rejected is an answer, not a failure.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_apply(
    patch: *const u8,
    patch_len: usize,
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            calls::apply(
                Input::new("patch", patch, patch_len)?,
                Input::new("options", options, options_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Applies operations to a text in memory, which is UTF-8: `operations` is a `TextPatch`. Answers a
/// `TextOutcome`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_apply_text(
    text: *const u8,
    text_len: usize,
    operations: *const u8,
    operations_len: usize,
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            calls::apply_text(
                Input::new("text", text, text_len)?,
                Input::new("operations", operations, operations_len)?,
                Input::new("options", options, options_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Formats a text in memory, each line with its anchor in front, joined by line feeds. Bytes that
/// are no UTF-8 are shown and hashed as U+FFFD. Options are `dialect` and `startLine`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_format(
    text: *const u8,
    text_len: usize,
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            calls::format(
                Input::new("text", text, text_len)?,
                Input::new("options", options, options_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Hashes the lines of a text in memory, as `hashline_format` does. Answers an array of strings.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_hash_lines(
    text: *const u8,
    text_len: usize,
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            calls::hashes(
                Input::new("text", text, text_len)?,
                Input::new("options", options, options_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Tells which parts of a shell command read or write files; `command` is its text, `policy` a
/// `CommandPolicy`. Answers a `CommandJudgement`, whose places count bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_check_command(
    command: *const u8,
    command_len: usize,
    policy: *const u8,
    policy_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            calls::check_command(
                Input::new("command", command, command_len)?,
                Input::new("policy", policy, policy_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Finishes or undoes what processes that died left half done in the state directory that the
/// options name. Answers a `RecoveryReport`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_recover(
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            calls::recover(Input::new("options", options, options_len)?).map(HashlineBuffer::of)
        })
    }
}

/// Opens a session by `HashSessionOptions`; its number stays good until `hashline_session_close`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_open(
    options: *const u8,
    options_len: usize,
    opened: *mut u64,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(opened, error, || sessions::open(Input::new("options", options, options_len)?))
    }
}

/// Opens another session that remembers all that this one does.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_fork(
    session: u64,
    opened: *mut u64,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe { answered(opened, error, || sessions::fork(session)) }
}

/// Closes a session: no new call can name it, and those that run go on to their ends. False when
/// there is no such session.
#[unsafe(no_mangle)]
pub extern "C" fn hashline_session_close(session: u64) -> bool {
    // Letting go of what it remembers must not unwind into the caller, whatever it does.
    contained(|| Ok::<_, hashline_core::Error>(sessions::close(session))).unwrap_or_default()
}

/// Reads files within the limits of one call: `requests` as for `hashline_read`. Answers a
/// `ReadReport`, in which the bytes of images are Base64.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_read(
    session: u64,
    requests: *const u8,
    requests_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            sessions::read(session, Input::new("requests", requests, requests_len)?)
                .map(HashlineBuffer::of)
        })
    }
}

/// Reads a JSON document: `request` as for `hashline_read_json`. Answers a `JsonView`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_read_json(
    session: u64,
    request: *const u8,
    request_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            sessions::read_json(session, Input::new("request", request, request_len)?)
                .map(HashlineBuffer::of)
        })
    }
}

/// Searches files within the limits of one call. Answers a `SearchResult`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_search(
    session: u64,
    query: *const u8,
    query_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            sessions::search(session, Input::new("query", query, query_len)?)
                .map(HashlineBuffer::of)
        })
    }
}

/// Applies a patch whose anchors mean the lines that were shown: options are `dryRun` and `context`.
/// Answers an `ApplyOutcome`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_apply(
    session: u64,
    patch: *const u8,
    patch_len: usize,
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            sessions::apply(
                session,
                Input::new("patch", patch, patch_len)?,
                Input::new("options", options, options_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Learns from what a tool showed earlier: rows with anchors, under headers or of the file `path`.
/// Answers how many lines were learned.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_observe(
    session: u64,
    text: *const u8,
    text_len: usize,
    path: *const u8,
    path_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            sessions::observe(
                session,
                Input::new("text", text, text_len)?,
                Input::new("path", path, path_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Forgets what was shown of the file `path`, or of all files where `path` is null. Answers `null`.
/// What a store has of it is removed from the disk, which fails if that cannot be done.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_forget(
    session: u64,
    path: *const u8,
    path_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            sessions::forget(session, Input::new("path", path, path_len)?).map(HashlineBuffer::of)
        })
    }
}

/// Answers an array of strings: files that were shown, and that somebody else has changed since. The
/// calls so far have found them; each is answered once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_changed_files(
    session: u64,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe { answered(answer, error, || sessions::changed_files(session).map(HashlineBuffer::of)) }
}

/// Answers an array of strings: what went wrong with keeping the session on disk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_notes(
    session: u64,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe { answered(answer, error, || sessions::notes(session).map(HashlineBuffer::of)) }
}

/// How many bytes the memory of a session takes: a number.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_memory_bytes(
    session: u64,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe { answered(answer, error, || sessions::memory_bytes(session).map(HashlineBuffer::of)) }
}
