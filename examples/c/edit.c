/* Reads a file of a directory with anchors, and puts a line at its end, by the C interface.
 *
 *   cc edit.c -IHASHLINE/include ./hashline-native.linux-x64-gnu.node -Wl,-rpath,'$ORIGIN' -o edit
 *   ./edit DIRECTORY FILE
 */

#include <stdio.h>
#include <string.h>

#include "hashline_native.h"

static const uint8_t *bytes(const char *text) { return (const uint8_t *)text; }

/* Prints why a call failed, and frees the buffers of the error. */
static int failed(HashlineError *error) {
  fprintf(stderr, "%s: %s\n", error->code, (const char *)error->message.data);
  hashline_free(&error->message);
  hashline_free(&error->path);
  return 1;
}

int main(int count, char **words) {
  if (count != 3) {
    fprintf(stderr, "usage: %s DIRECTORY FILE\n", words[0]);
    return 2;
  }
  /* A real program uses a JSON library for the quoting. */
  char options[4200], request[4200], patch[4400];
  snprintf(options, sizeof options, "{\"root\": \"%s\"}", words[1]);
  snprintf(request, sizeof request, "{\"path\": \"%s\", \"maxLines\": 3}", words[2]);
  snprintf(patch, sizeof patch,
           "{\"operations\": [{\"op\": \"insert_after\", \"path\": \"%s\", \"anchor\": \"EOF\","
           " \"text\": \"written in C\"}]}",
           words[2]);

  HashlineBuffer answer;
  HashlineError error;
  if (!hashline_read_text(bytes(request), strlen(request), bytes(options), strlen(options), &answer,
                          &error))
    return failed(&error);
  printf("%s\n", (const char *)answer.data);
  hashline_free(&answer);

  if (!hashline_apply(bytes(patch), strlen(patch), bytes(options), strlen(options), &answer,
                      &error))
    return failed(&error);
  printf("%s\n", (const char *)answer.data);
  hashline_free(&answer);
  return 0;
}
