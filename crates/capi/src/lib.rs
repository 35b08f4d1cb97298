//! The C interface of the engine, which the addon exports in addition to its functions for Node.
//!
//! Requests, options and answers are JSON in the shapes that `index.d.ts` declares. The contract
//! is in `docs/c.md`; `include/hashline_native.h` is generated from this file.
//!
//! # Safety
//!
//! These rules apply to all functions with arguments. Each input is a pointer to bytes followed by
//! their number, or null and 0. The bytes do not change until the call returns. The pointers to an
//! answer and to an error are null or can be written to; what they point to is overwritten, not
//! freed.

#![allow(clippy::missing_safety_doc, reason = "the rules above hold for all functions")]

mod buffer;
mod calls;
mod panics;
mod sessions;
mod tools;

use std::ffi::c_char;

pub use buffer::{HASHLINE_MAX_INPUT_BYTES, HashlineBuffer, HashlineError};
pub use panics::contained;

use buffer::{Input, answered};

/// The version of this interface: it is incremented by each incompatible change.
pub const HASHLINE_ABI_VERSION: u32 = 1;

/// The version of the engine, such as `0.1.0`: NUL-terminated and static, never freed.
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

/// Frees a buffer that a call filled, and empties it, so that freeing it again does nothing. Null
/// and an empty buffer are accepted. It is an error to pass a modified buffer, or a copy of a buffer
/// that was freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_free(buffer: *mut HashlineBuffer) {
    if buffer.is_null() {
        return;
    }
    // SAFETY: The caller guarantees that this library filled the buffer, and that it was not freed.
    unsafe { std::mem::replace(&mut *buffer, buffer::Answer::NONE).free() };
}

/// Reads files: `requests` is a path, a `ReadRequest` object, or an array of them. Returns an array
/// of `FileView`; the view of an unreadable file has the error.
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

/// Reads one file: `request` is a path or an object `ReadRequest`. Returns the lines with their
/// anchors as plain text; fails when the file cannot be read, or is not text.
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

/// Reads a JSON document: `request` is a path or an object `JsonRequest`. Returns a `JsonView`.
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

/// Searches files and directories: `query` is a `SearchQuery`. Returns a `SearchResult`.
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

/// Applies a `Patch` to files atomically. Returns an `ApplyOutcome`; a rejected patch is an answer,
/// not a failure.
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

/// Applies operations to a UTF-8 text in memory: `operations` is a `TextPatch`. Returns a
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

/// Formats a text in memory: each line with its anchor in front, joined by LF. Invalid UTF-8
/// sequences are shown and hashed as U+FFFD. Options are `dialect` and `startLine`.
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

/// Hashes the lines of a text in memory, with the options of `hashline_format`. Returns an array of
/// strings.
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

/// Finds the parts of a shell command that read or write files; `command` is its text, `policy` a
/// `CommandPolicy`. Returns a `CommandJudgement`, whose spans are byte offsets.
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

/// Recovers the state directory that the options name: completes or rolls back the patches of
/// processes that crashed. Returns a `RecoveryReport`.
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

/// Opens a session: `options` is a `HashSessionOptions`. Its number is valid until
/// `hashline_session_close`.
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

/// Opens another session with a copy of the memory of this one.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_fork(
    session: u64,
    opened: *mut u64,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe { answered(opened, error, || sessions::fork(session)) }
}

/// Closes a session: new calls cannot use it; running calls complete. Returns false when there is no
/// such session.
#[unsafe(no_mangle)]
pub extern "C" fn hashline_session_close(session: u64) -> bool {
    // A panic while the session is dropped must not unwind into the caller.
    contained(|| Ok::<_, hashline_core::Error>(sessions::close(session))).unwrap_or_default()
}

/// Reads files within the limits of one call: `requests` as for `hashline_read`. Returns a
/// `ReadReport`, in which images are Base64.
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

/// Reads a JSON document: `request` as for `hashline_read_json`. Returns a `JsonView`.
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

/// Searches files within the limits of one call. Returns a `SearchResult`.
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

/// Shows the lines that the output of a program names; `options` is an `AnnotateOptions`. Returns a
/// `ReadReport`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_annotate(
    session: u64,
    output: *const u8,
    output_len: usize,
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            sessions::annotate(
                session,
                Input::new("output", output, output_len)?,
                Input::new("options", options, options_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Describes the tools of an agent over this session; `options` is a `HashToolsOptions` without
/// functions. Returns an array of definitions: `name`, `title`, `description`, `inputSchema` and
/// others.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_tools(
    session: u64,
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            tools::definitions(session, Input::new("options", options, options_len)?)
                .map(HashlineBuffer::of)
        })
    }
}

/// Calls a tool of an agent: `name` is that of its definition, `arguments` the JSON text that the
/// model wrote; options are those of `hashline_session_tools` and `dryRun`. Returns an object with
/// `text` for the model, `isError`, `summary`, `images`, `structured` and `diff`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_call_tool(
    session: u64,
    name: *const u8,
    name_len: usize,
    arguments: *const u8,
    arguments_len: usize,
    options: *const u8,
    options_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            tools::call(
                session,
                Input::new("name", name, name_len)?,
                Input::new("arguments", arguments, arguments_len)?,
                Input::new("options", options, options_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Applies a patch whose anchors name the lines that the session has shown: options are `dryRun` and
/// `context`. Returns an `ApplyOutcome`.
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

/// Records lines that the output of a tool has shown: rows with anchors, under headers or of the file
/// `path`. Returns the number of recorded lines.
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

/// Forgets what was shown of the file `path`, or of all files where `path` is null. Returns `null`.
/// It is also removed from the store on disk; fails if that is not possible.
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

/// Sets the text of the document `path`, in UTF-8: until it is closed, the session reads, searches and
/// edits this text in place of the file with this path, and never writes it. Returns `null`. Options
/// are `version`, a number, and `bytes`: the text is the bytes of a file, in the encoding of files.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_set_document(
    session: u64,
    path: *const u8,
    path_len: usize,
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
            sessions::set_document(
                session,
                Input::new("path", path, path_len)?,
                Input::new("text", text, text_len)?,
                Input::new("options", options, options_len)?,
            )
            .map(HashlineBuffer::of)
        })
    }
}

/// Closes the document `path`: the path names the file again. Returns whether it was set.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_close_document(
    session: u64,
    path: *const u8,
    path_len: usize,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe {
        answered(answer, error, || {
            let path = Input::new("path", path, path_len)?;
            sessions::close_document(session, path).map(HashlineBuffer::of)
        })
    }
}

/// Returns an array of the documents that are set, with their versions: `{"path", "version"}`.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_documents(
    session: u64,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe { answered(answer, error, || sessions::documents(session).map(HashlineBuffer::of)) }
}

/// Returns an array of strings: files that were shown, and that others have changed since then, as
/// far as previous calls have detected it. Each change is answered once.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_changed_files(
    session: u64,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe { answered(answer, error, || sessions::changed_files(session).map(HashlineBuffer::of)) }
}

/// Returns an array of strings: the errors that occurred when the session was stored on disk.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_notes(
    session: u64,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe { answered(answer, error, || sessions::notes(session).map(HashlineBuffer::of)) }
}

/// Returns a number: the bytes that the memory of a session uses.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn hashline_session_memory_bytes(
    session: u64,
    answer: *mut HashlineBuffer,
    error: *mut HashlineError,
) -> bool {
    // SAFETY: The caller keeps the rules at the head of this file.
    unsafe { answered(answer, error, || sessions::memory_bytes(session).map(HashlineBuffer::of)) }
}
