// A parse that can be aborted from inside.
//
// The parser polls for cancellation between its operations, but a single operation may allocate
// gigabytes or take minutes. All operations allocate memory or read the text, so these calls can
// abort a parse: when the memory or time is used up, the allocator or the reader jumps back to
// `hashline_syntax_parse`. Everything that the parse allocated is in one arena, which the caller
// then frees as a whole.

#include <setjmp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tree_sitter/api.h>

#if defined(_MSC_VER) && !defined(__clang__)
#define THREAD_LOCAL __declspec(thread)
#else
#define THREAD_LOCAL _Thread_local
#endif

// On Windows, longjmp unwinds the frames that it leaves, unless it is given none. These frames need
// no unwinding.
#if defined(__MINGW32__) && defined(__x86_64__)
#define SET_JUMP(buffer) _setjmp((buffer), NULL)
#else
#define SET_JUMP(buffer) setjmp(buffer)
#endif

// `RawMemory` of bounded.rs, where its size is checked. `allocate` and `reallocate` return NULL
// when the budget is exceeded.
typedef struct {
  void *arena;
  void *(*allocate)(void *arena, size_t size);
  void *(*reallocate)(void *arena, void *block, size_t size);
  void (*release)(void *arena, void *block);
  // Whether there is time left.
  bool (*may_continue)(void *arena);
} Memory;

// `RawJob` of bounded.rs, likewise.
typedef struct {
  const TSLanguage *language;
  const TSTree *old;
  const TSInputEdit *edit;
  const TSRange *ranges;
  uint32_t range_count;
  const char *text;
  uint32_t text_bytes;
  TSParseOptions options;
} Job;

typedef struct {
  const Memory *memory;
  jmp_buf home;
} Scope;

// The current parse of this thread.
static THREAD_LOCAL Scope *scope;

static void *or_exit(void *block) {
  if (!block) longjmp(scope->home, 1);
  return block;
}

static void *or_abort(void *block, size_t size) {
  if (!block && size > 0) {
    fprintf(stderr, "hashline: no memory for %zu bytes\n", size);
    abort();
  }
  return block;
}

static void *bounded_malloc(size_t size) {
  if (!scope) return or_abort(malloc(size), size);
  return or_exit(scope->memory->allocate(scope->memory->arena, size));
}

static void *bounded_calloc(size_t count, size_t size) {
  if (!scope) return or_abort(calloc(count, size), count * size);
  if (size > 0 && count > SIZE_MAX / size) or_exit(NULL);
  return memset(bounded_malloc(count * size), 0, count * size);
}

static void *bounded_realloc(void *block, size_t size) {
  if (!scope) return or_abort(realloc(block, size), size);
  if (!block) return bounded_malloc(size);
  return or_exit(scope->memory->reallocate(scope->memory->arena, block, size));
}

static void bounded_free(void *block) {
  if (!scope) {
    free(block);
  } else if (block) {
    scope->memory->release(scope->memory->arena, block);
  }
}

// Returns the sizes of the structures that are passed to a parse.
void hashline_syntax_install(size_t *job_bytes, size_t *memory_bytes) {
  *job_bytes = sizeof(Job);
  *memory_bytes = sizeof(Memory);
  ts_set_allocator(bounded_malloc, bounded_calloc, bounded_realloc, bounded_free);
}

// The number of bytes that are read at a time; scanning them takes some microseconds.
#define PART_BYTES 8192

static const char *read_part(void *payload, uint32_t offset, TSPoint point, uint32_t *bytes) {
  (void)point;
  const Job *job = payload;
  if (!scope->memory->may_continue(scope->memory->arena)) longjmp(scope->home, 1);
  if (offset > job->text_bytes) offset = job->text_bytes;
  uint32_t rest = job->text_bytes - offset;
  *bytes = rest < PART_BYTES ? rest : PART_BYTES;
  return job->text + offset;
}

static TSTree *parse(const Job *job) {
  TSTree *old = NULL;
  if (job->old) {
    // The copy is not freed: nodes of an old tree are only freed with its own arena.
    old = ts_tree_copy(job->old);
    ts_tree_edit(old, job->edit);
  }
  TSParser *parser = ts_parser_new();
  TSTree *tree = NULL;
  if (
    ts_parser_set_language(parser, job->language) &&
    ts_parser_set_included_ranges(parser, job->ranges, job->range_count)
  ) {
    TSInput input = {.payload = (void *)job, .read = read_part, .encoding = TSInputEncodingUTF8};
    tree = ts_parser_parse_with_options(parser, old, input, job->options);
  }
  ts_parser_delete(parser);
  return tree;
}

// Returns the tree, which is in the arena; NULL if the parse was aborted.
TSTree *hashline_syntax_parse(const Job *job, const Memory *memory) {
  Scope own = {.memory = memory};
  scope = &own;
  TSTree *tree = NULL;
  if (SET_JUMP(own.home) == 0) tree = parse(job);
  scope = NULL;
  return tree;
}
