/* A plugin for qemu-user that counts the instructions of an emulated program and says the sum
 * when the program ends. Its numbers are those of one thread: threads would add at once.
 *
 * What it uses of version 1 of qemu's interface for plugins is declared here, because the
 * package of Debian 12 (qemu 7.2) has no header. From qemu 9 on, version 1 is refused. */

#include <inttypes.h>
#include <stdio.h>

#define EXPORT __attribute__((visibility("default")))

typedef uint64_t qemu_plugin_id_t;
struct qemu_plugin_tb;

/* The only operation that can be inlined. */
enum qemu_plugin_op { QEMU_PLUGIN_INLINE_ADD_U64 };

void qemu_plugin_register_vcpu_tb_trans_cb(
    qemu_plugin_id_t id, void (*translated)(qemu_plugin_id_t, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_inline(
    struct qemu_plugin_tb *block, enum qemu_plugin_op operation, void *place, uint64_t value);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *block);
void qemu_plugin_register_atexit_cb(
    qemu_plugin_id_t id, void (*ended)(qemu_plugin_id_t, void *), void *data);
void qemu_plugin_outs(const char *text);

EXPORT int qemu_plugin_version = 1;

static uint64_t count;

/* Adds the length of each block of instructions whenever it runs. */
static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *block) {
  (void)id;
  qemu_plugin_register_vcpu_tb_exec_inline(
      block, QEMU_PLUGIN_INLINE_ADD_U64, &count, qemu_plugin_tb_n_insns(block));
}

static void ended(qemu_plugin_id_t id, void *data) {
  (void)id;
  (void)data;
  char line[64];
  snprintf(line, sizeof line, "instructions: %" PRIu64 "\n", count);
  qemu_plugin_outs(line);
}

EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const void *info, int argc, char **argv) {
  (void)info;
  (void)argc;
  (void)argv;
  qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
  qemu_plugin_register_atexit_cb(id, ended, NULL);
  return 0;
}
