/* The C interface of hashline-native: made by cbindgen from crates/capi, do not edit.
 *
 * Each input is a pointer and a number of bytes, UTF-8 without a NUL at its end; null and 0 leave
 * out what may be left out. A function answers true and fills the answer, or false and fills the
 * error. What it fills belongs to the caller until hashline_free, and what was there is
 * overwritten. The error may be null. Every function may be called from any thread.
 */

#ifndef HASHLINE_NATIVE_H
#define HASHLINE_NATIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The version of this interface: it grows when something changes that callers rely on.
#define HASHLINE_ABI_VERSION 1

// The most bytes of one argument: 1 GiB.
#define HASHLINE_MAX_INPUT_BYTES (1 << 30)

// Bytes that belong to the caller until `hashline_free` takes them back. A NUL stands after the
// last one, which `len` does not count. `data` is null where there is nothing.
typedef struct HashlineBuffer {
  // The first byte.
  uint8_t *data;
  // How many there are.
  size_t len;
} HashlineBuffer;

// Why a call failed. Both buffers belong to the caller.
typedef struct HashlineError {
  // The stable code, such as `INVALID_ARGUMENT`: ends in NUL, and is never to be freed. Null
  // when the call did not fail.
  const char *code;
  // What, where and what instead.
  struct HashlineBuffer message;
  // The file it is about, where there is one.
  struct HashlineBuffer path;
} HashlineError;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

// The version of the engine, such as `0.1.0`: ends in NUL, and is never to be freed.
const char *hashline_version(void);

// The version of this interface, `HASHLINE_ABI_VERSION` of the header that the library was built
// with.
uint32_t hashline_abi_version(void);

// Takes back what a call handed over, and empties the buffer, so that taking it back once more
// does nothing. Null, and an empty buffer, are nothing to take back. A buffer that was changed, or
// a copy of one that was taken back, must not be given.
void hashline_free(struct HashlineBuffer *buffer);

// Reads files: `requests` is a path, an object `ReadRequest`, or an array of them. Answers an array
// of `FileView`; a file that cannot be read has its reason in its view.
bool hashline_read(const uint8_t *requests,
                   size_t requests_len,
                   const uint8_t *options,
                   size_t options_len,
                   struct HashlineBuffer *answer,
                   struct HashlineError *error);

// Reads one file: `request` is a path or an object `ReadRequest`. Answers the lines with their
// anchors as plain text; fails when the file cannot be read, or is no text.
bool hashline_read_text(const uint8_t *request,
                        size_t request_len,
                        const uint8_t *options,
                        size_t options_len,
                        struct HashlineBuffer *answer,
                        struct HashlineError *error);

// Reads a JSON document: `request` is a path or an object `JsonRequest`. Answers a `JsonView`.
bool hashline_read_json(const uint8_t *request,
                        size_t request_len,
                        const uint8_t *options,
                        size_t options_len,
                        struct HashlineBuffer *answer,
                        struct HashlineError *error);

// Searches files and directories: `query` is a `SearchQuery`. Answers a `SearchResult`.
bool hashline_search(const uint8_t *query,
                     size_t query_len,
                     const uint8_t *options,
                     size_t options_len,
                     struct HashlineBuffer *answer,
                     struct HashlineError *error);

// Applies a `Patch` to files: all of it, or nothing. Answers an `ApplyOutcome`; a patch that is
// rejected is an answer, not a failure.
bool hashline_apply(const uint8_t *patch,
                    size_t patch_len,
                    const uint8_t *options,
                    size_t options_len,
                    struct HashlineBuffer *answer,
                    struct HashlineError *error);

// Applies operations to a text in memory, which is UTF-8: `operations` is a `TextPatch`. Answers a
// `TextOutcome`.
bool hashline_apply_text(const uint8_t *text,
                         size_t text_len,
                         const uint8_t *operations,
                         size_t operations_len,
                         const uint8_t *options,
                         size_t options_len,
                         struct HashlineBuffer *answer,
                         struct HashlineError *error);

// Formats a text in memory, each line with its anchor in front, joined by line feeds. Bytes that
// are no UTF-8 are shown and hashed as U+FFFD. Options are `dialect` and `startLine`.
bool hashline_format(const uint8_t *text,
                     size_t text_len,
                     const uint8_t *options,
                     size_t options_len,
                     struct HashlineBuffer *answer,
                     struct HashlineError *error);

// Hashes the lines of a text in memory, as `hashline_format` does. Answers an array of strings.
bool hashline_hash_lines(const uint8_t *text,
                         size_t text_len,
                         const uint8_t *options,
                         size_t options_len,
                         struct HashlineBuffer *answer,
                         struct HashlineError *error);

// Tells which parts of a shell command read or write files; `command` is its text, `policy` a
// `CommandPolicy`. Answers a `CommandJudgement`, whose places count bytes.
bool hashline_check_command(const uint8_t *command,
                            size_t command_len,
                            const uint8_t *policy,
                            size_t policy_len,
                            struct HashlineBuffer *answer,
                            struct HashlineError *error);

// Finishes or undoes what processes that died left half done in the state directory that the
// options name. Answers a `RecoveryReport`.
bool hashline_recover(const uint8_t *options,
                      size_t options_len,
                      struct HashlineBuffer *answer,
                      struct HashlineError *error);

// Opens a session by `HashSessionOptions`; its number stays good until `hashline_session_close`.
bool hashline_session_open(const uint8_t *options,
                           size_t options_len,
                           uint64_t *opened,
                           struct HashlineError *error);

// Opens another session that remembers all that this one does.
bool hashline_session_fork(uint64_t session, uint64_t *opened, struct HashlineError *error);

// Closes a session: no new call can name it, and those that run go on to their ends. False when
// there is no such session.
bool hashline_session_close(uint64_t session);

// Reads files within the limits of one call: `requests` as for `hashline_read`. Answers a
// `ReadReport`, in which the bytes of images are Base64.
bool hashline_session_read(uint64_t session,
                           const uint8_t *requests,
                           size_t requests_len,
                           struct HashlineBuffer *answer,
                           struct HashlineError *error);

// Reads a JSON document: `request` as for `hashline_read_json`. Answers a `JsonView`.
bool hashline_session_read_json(uint64_t session,
                                const uint8_t *request,
                                size_t request_len,
                                struct HashlineBuffer *answer,
                                struct HashlineError *error);

// Searches files within the limits of one call. Answers a `SearchResult`.
bool hashline_session_search(uint64_t session,
                             const uint8_t *query,
                             size_t query_len,
                             struct HashlineBuffer *answer,
                             struct HashlineError *error);

// Applies a patch whose anchors mean the lines that were shown: options are `dryRun` and `context`.
// Answers an `ApplyOutcome`.
bool hashline_session_apply(uint64_t session,
                            const uint8_t *patch,
                            size_t patch_len,
                            const uint8_t *options,
                            size_t options_len,
                            struct HashlineBuffer *answer,
                            struct HashlineError *error);

// Learns from what a tool showed earlier: rows with anchors, under headers or of the file `path`.
// Answers how many lines were learned.
bool hashline_session_observe(uint64_t session,
                              const uint8_t *text,
                              size_t text_len,
                              const uint8_t *path,
                              size_t path_len,
                              struct HashlineBuffer *answer,
                              struct HashlineError *error);

// Forgets what was shown of the file `path`, or of all files where `path` is null. Answers `null`.
// What a store has of it is removed from the disk, which fails if that cannot be done.
bool hashline_session_forget(uint64_t session,
                             const uint8_t *path,
                             size_t path_len,
                             struct HashlineBuffer *answer,
                             struct HashlineError *error);

// Answers an array of strings: files that were shown, and that somebody else has changed since. The
// calls so far have found them; each is answered once.
bool hashline_session_changed_files(uint64_t session,
                                    struct HashlineBuffer *answer,
                                    struct HashlineError *error);

// Answers an array of strings: what went wrong with keeping the session on disk.
bool hashline_session_notes(uint64_t session,
                            struct HashlineBuffer *answer,
                            struct HashlineError *error);

// How many bytes the memory of a session takes: a number.
bool hashline_session_memory_bytes(uint64_t session,
                                   struct HashlineBuffer *answer,
                                   struct HashlineError *error);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* HASHLINE_NATIVE_H */
