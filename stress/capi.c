/* Every function of the C interface, rightly and wrongly called, from several threads at once.
 * Made to run under AddressSanitizer and valgrind (stress/capi.mjs), and in the tests.
 *
 *   capi DIRECTORY ROUNDS
 *
 * DIRECTORY holds a file a.txt with the lines "one" and "two". Prints "ok", or what is wrong.
 */

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hashline_native.h"

#define THREADS 4
/* A text and its length. */
#define TEXT(text) (const uint8_t *)(text), strlen(text)
#define LEFT_OUT NULL, 0

static char options[4200];

#define CHECK(condition)                                                       \
  do {                                                                         \
    if (!(condition)) {                                                        \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);          \
      exit(1);                                                                 \
    }                                                                          \
  } while (0)

/* Checks the answer of a call that must succeed: it contains the text. Frees it. */
static void has(bool is_done, HashlineBuffer *answer, HashlineError *error, const char *text) {
  if (!is_done) fprintf(stderr, "%s: %s\n", error->code, (const char *)error->message.data);
  CHECK(is_done && error->code == NULL && error->message.data == NULL);
  CHECK(answer->data != NULL && answer->data[answer->len] == 0);
  if (strstr((const char *)answer->data, text) == NULL) {
    fprintf(stderr, "no \"%s\" in: %s\n", text, (const char *)answer->data);
    exit(1);
  }
  hashline_free(answer);
  hashline_free(answer);
  CHECK(answer->data == NULL && answer->len == 0);
}

/* Checks the error of a call that must fail. */
static void fails(bool is_done, HashlineBuffer *answer, HashlineError *error, const char *code) {
  CHECK(!is_done && answer->data == NULL && answer->len == 0);
  CHECK(strcmp(error->code, code) == 0 && error->message.len > 0);
  CHECK(strlen((const char *)error->message.data) == error->message.len);
  hashline_free(&error->message);
  hashline_free(&error->path);
}

static void texts(void) {
  HashlineBuffer a;
  HashlineError e;
  has(hashline_format(TEXT("one\ntwo\n"), LEFT_OUT, &a, &e), &a, &e, "1:60|one\n2:f4|two");
  has(hashline_hash_lines(TEXT("one"), TEXT("{\"dialect\":\"pi\"}"), &a, &e), &a, &e, "[\"60\"]");
  has(hashline_format((const uint8_t *)"\xff\0", 2, LEFT_OUT, &a, &e), &a, &e, "\xef\xbf\xbd");
  has(hashline_format(TEXT(""), LEFT_OUT, &a, &e), &a, &e, "");
  has(hashline_check_command(TEXT("cat a"), LEFT_OUT, &a, &e), &a, &e, "\"verdict\":\"read\"");
  has(hashline_apply_text(TEXT("one\n"), TEXT("[{\"op\":\"delete\",\"anchor\":\"1:60\"}]"),
                          LEFT_OUT, &a, &e),
      &a, &e, "\"status\":\"applied\"");
  has(hashline_apply_text(TEXT("one\n"), TEXT("[{\"op\":\"delete\",\"anchor\":\"1:00\"}]"),
                          LEFT_OUT, &a, &e),
      &a, &e, "HASH_MISMATCH");
}

static void files(void) {
  HashlineBuffer a;
  HashlineError e;
  const char *both = "[\"a.txt\", {\"path\": \"none.txt\"}]";
  has(hashline_read(TEXT(both), TEXT(options), &a, &e), &a, &e, "FILE_NOT_FOUND");
  has(hashline_read_text(TEXT("\"a.txt\""), TEXT(options), &a, &e), &a, &e, "2:f4|two");
  has(hashline_search(TEXT("{\"search\":\"TWO\"}"), TEXT(options), &a, &e), &a, &e,
      "--- a.txt ---");
  has(hashline_recover(TEXT(options), &a, &e), &a, &e, "\"finished\":[]");
  const char *stale = "{\"path\":\"a.txt\",\"edits\":[{\"set_line\":{\"anchor\":\"1:00\"}}]}";
  has(hashline_apply(TEXT(stale), TEXT(options), &a, &e), &a, &e, "HASH_MISMATCH");
  fails(hashline_read_text(TEXT("\"none.txt\""), TEXT(options), &a, &e), &a, &e,
        "FILE_NOT_FOUND");
  fails(hashline_read_json(TEXT("\"a.txt\""), TEXT(options), &a, &e), &a, &e, "INVALID_JSON");
}

static void misuse(void) {
  HashlineBuffer a;
  HashlineError e;
  fails(hashline_read(LEFT_OUT, LEFT_OUT, &a, &e), &a, &e, "INVALID_ARGUMENT");
  fails(hashline_read(NULL, 7, LEFT_OUT, &a, &e), &a, &e, "INVALID_ARGUMENT");
  fails(hashline_read((const uint8_t *)"", SIZE_MAX, LEFT_OUT, &a, &e), &a, &e,
        "INVALID_ARGUMENT");
  fails(hashline_search(TEXT("{\"search\""), LEFT_OUT, &a, &e), &a, &e, "INVALID_ARGUMENT");
  fails(hashline_search(TEXT("\xff"), LEFT_OUT, &a, &e), &a, &e, "INVALID_ARGUMENT");
  fails(hashline_search(TEXT("{\"search\":\"(\",\"regex\":true}"), TEXT(options), &a, &e), &a, &e,
        "INVALID_PATTERN");
  fails(hashline_session_read(0, TEXT("\"a.txt\""), &a, &e), &a, &e, "INVALID_ARGUMENT");
  CHECK(!hashline_read(TEXT("\"a.txt\""), LEFT_OUT, NULL, NULL));
  CHECK(!hashline_session_close(0));
  hashline_free(NULL);
}

static void session(void) {
  HashlineBuffer a;
  HashlineError e;
  uint64_t one, other;
  char given[4300];
  snprintf(given, sizeof given, "{\"cwd\"%s", strchr(options, ':'));
  CHECK(hashline_session_open(TEXT(given), &one, &e));
  has(hashline_session_read(one, TEXT("\"a.txt\""), &a, &e), &a, &e, "1ed|one");
  CHECK(hashline_session_fork(one, &other, &e) && other != one);
  CHECK(hashline_session_close(one));
  const char *patch =
      "{\"path\":\"a.txt\",\"edits\":[{\"set_line\":{\"anchor\":\"2nb\",\"new_text\":\"x\"}}]}";
  has(hashline_session_apply(other, TEXT(patch), TEXT("{\"dryRun\":true}"), &a, &e), &a, &e,
      "-two");
  has(hashline_session_search(other, TEXT("{\"search\":\"one\"}"), &a, &e), &a, &e, "1ed|one");
  has(hashline_session_observe(other, TEXT("1ed|one"), TEXT("a.txt"), &a, &e), &a, &e, "1");
  has(hashline_session_forget(other, LEFT_OUT, &a, &e), &a, &e, "null");
  has(hashline_session_changed_files(other, &a, &e), &a, &e, "[");
  has(hashline_session_notes(other, &a, &e), &a, &e, "[]");
  fails(hashline_session_read_json(other, TEXT("\"a.txt\""), &a, &e), &a, &e, "INVALID_JSON");
  CHECK(hashline_session_close(other));
}

static void *work(void *rounds) {
  for (long round = 0; round < *(long *)rounds; round++) {
    texts();
    files();
    misuse();
    session();
  }
  return NULL;
}

int main(int count, char **words) {
  if (count != 3) {
    fprintf(stderr, "usage: %s DIRECTORY ROUNDS\n", words[0]);
    return 2;
  }
  CHECK(hashline_abi_version() == HASHLINE_ABI_VERSION && strlen(hashline_version()) > 4);
  /* Replaces the first option, the start of paths, by that of sessions. */
  snprintf(options, sizeof options,
           "{\"root\":\"%s\",\"stateDir\":\"%s-state\",\"durability\":\"process\","
           "\"lockTimeoutMs\":600000}",
           words[1], words[1]);
  long rounds = atol(words[2]);
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++) CHECK(pthread_create(&threads[i], NULL, work, &rounds) == 0);
  for (int i = 0; i < THREADS; i++) CHECK(pthread_join(threads[i], NULL) == 0);
  puts("ok");
  return 0;
}
