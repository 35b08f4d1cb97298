/* Runs one static program of Linux on a bare emulated processor: it puts the program into memory,
 * answers the few system calls that a program of one thread makes which only computes and writes,
 * and tells of every fault but those of a stack that has no room left, which end the emulator. At
 * the end it says how many instructions the program took.
 *
 * There is one address space, in which all is where it is and the program may do everything: this
 * keeps nothing apart, it only gives the program what it needs. Pages that are to have no rights at
 * all have none, nor has what was given back; a touch of them is a fault. */

#include <asm/prctl.h>
#include <elf.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/syscall.h>

typedef uint64_t u64;

enum {
  MEMORY_BYTES = 0x40000000,
  TABLES = 0x400000,     /* page tables */
  DISK = 0x2000000,      /* what the disk holds: in its first sector words with a zero behind each */
  PROGRAM = DISK + 512,  /* and one more, and then the program's file */
  BASE = 0x8000000,      /* where the program runs */
  STACK_END = 0x10000000,
  STACK_BYTES = 0x1000000,
  HEAP = 0x10000000,
  PAGE_BYTES = 4096,
  SERIAL = 0x3f8,
  ATA = 0x1f0,
  SHUTDOWN = 0x8900, /* a port of the emulator */
};

static u64 started, heap = HEAP, *const pages = (u64 *)(TABLES + 0x100000);

static void out(uint16_t port, uint8_t value) { asm volatile("out %0, %1" ::"a"(value), "Nd"(port) : "memory"); }

static uint8_t in(uint16_t port) {
  uint8_t value;
  asm volatile("in %1, %0" : "=a"(value) : "Nd"(port));
  return value;
}

static u64 now(void) {
  uint32_t low, high;
  asm volatile("rdtsc" : "=a"(low), "=d"(high));
  return (u64)high << 32 | low;
}

static void write_msr(uint32_t number, u64 value) {
  asm volatile("wrmsr" ::"c"(number), "a"((uint32_t)value), "d"((uint32_t)(value >> 32)) : "memory");
}

static void put(const char *text, size_t len) {
  for (size_t at = 0; at < len; at++) {
    while (!(in(SERIAL + 5) & 0x20)) {}
    out(SERIAL, text[at]);
  }
}

/* The highest rate, bytes of eight bits. */
static void set_up_serial(void) {
  out(SERIAL + 3, 0x83), out(SERIAL, 1), out(SERIAL + 1, 0), out(SERIAL + 3, 3);
}

static void say(const char *text) {
  const char *end = text;
  while (*end) end++;
  put(text, end - text);
}

static void say_number(u64 number, unsigned base) {
  char digits[24];
  int at = 24;
  do digits[--at] = "0123456789abcdef"[number % base];
  while (number /= base);
  put(digits + at, 24 - at);
}

static _Noreturn void end(const char *how, u64 number) {
  say("\n"), say(how), say(" "), say_number(number, 10), say("\n");
  while (!(in(SERIAL + 5) & 0x40)) {} /* until the last byte is out */
  for (const char *word = "Shutdown"; *word; word++) out(SHUTDOWN, *word);
  for (;;) asm volatile("hlt");
}

/* What a fault found, as the stub below puts it on the stack. */
struct fault {
  u64 vector, code, place;
};

void handle_fault(const struct fault *fault) {
  u64 address;
  asm volatile("mov %%cr2, %0" : "=r"(address));
  say("\nplace 0x"), say_number(fault->place, 16);
  if (fault->place >= BASE) say(" (0x"), say_number(fault->place - BASE, 16), say(" of the program)");
  say(", address 0x"), say_number(address, 16);
  end("FAULT", fault->vector);
}

/* A stub for each fault, 16 bytes long: those without a code get one. */
asm(".text\n"
    ".balign 16\n"
    "fault_stubs:\n"
    ".set vector, 0\n"
    ".rept 32\n"
    ".balign 16\n"
    ".if vector != 8 && vector != 17 && vector != 21 && (vector < 10 || vector > 14)\n"
    "push $0\n"
    ".endif\n"
    "push $vector\n"
    "jmp fault_common\n"
    ".set vector, vector + 1\n"
    ".endr\n"
    "fault_common:\n"
    "mov %rsp, %rdi\n"
    "and $-16, %rsp\n"
    "call handle_fault\n");

/* A system call comes here, on the program's stack and with its rights, and goes back as if it had
 * returned. */
asm(".text\n"
    ".balign 16\n"
    "enter:\n"
    "mov %rsp, %gs:0\n"
    "mov %gs:8, %rsp\n"
    "push %rcx; push %r11; push %rdi; push %rsi; push %rdx; push %r8; push %r9; push %r10\n"
    "push %r9; push %r8; push %r10; push %rdx; push %rsi; push %rdi; push %rax\n"
    "mov %rsp, %rdi\n"
    "call handle_call\n"
    "add $56, %rsp\n"
    "pop %r10; pop %r9; pop %r8; pop %rdx; pop %rsi; pop %rdi; pop %r11; pop %rcx\n"
    "push %r11; popf\n"
    "mov %gs:0, %rsp\n"
    "jmp *%rcx\n");
extern char enter[], fault_stubs[];

/* Where `enter` keeps the program's stack, and where its own begins. */
static u64 stacks[2] = {0, 0xa0000 - 8}; /* so that calls are aligned */

static u64 page_of(u64 address) { return address / PAGE_BYTES; }

/* Gives all pages of a range the bits of `rights`. */
static void set_rights(u64 address, u64 len, u64 rights) {
  for (u64 page = page_of(address); page < page_of(address + len + PAGE_BYTES - 1); page++) {
    pages[page] = page * PAGE_BYTES | rights;
    asm volatile("invlpg (%0)" ::"r"(page * PAGE_BYTES) : "memory");
  }
}

static void clear(void *place, u64 len) {
  asm volatile("rep stosb" : "+D"(place), "+c"(len) : "a"(0) : "memory");
}

/* What the program gave back; of more than these none is used again. */
static struct hole {
  u64 address, len;
} holes[4096];
static size_t hole_count;

static u64 whole_pages(u64 len) { return (len + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES; }

/* The first place that is long enough; null where there is none. */
static u64 find_place(u64 len) {
  for (size_t at = 0; at < hole_count; at++) {
    struct hole *hole = &holes[at];
    if (hole->len < len) continue;
    u64 address = hole->address;
    hole->address += len, hole->len -= len;
    if (!hole->len) *hole = holes[--hole_count];
    return address;
  }
  if (len > MEMORY_BYTES - heap) return 0;
  heap += len;
  return heap - len;
}

/* Pages that may be read may be written, too. */
static u64 rights_of(u64 protection) { return protection == PROT_NONE ? 0 : 3; }

static u64 map(u64 len, u64 protection) {
  if (!len || len > MEMORY_BYTES) return len ? -ENOMEM : -EINVAL;
  len = whole_pages(len);
  u64 address = find_place(len);
  if (!address) return -ENOMEM;
  set_rights(address, len, 3);
  clear((void *)address, len);
  set_rights(address, len, rights_of(protection));
  return address;
}

static u64 protect(u64 address, u64 len, u64 protection) {
  if (len > MEMORY_BYTES || address > MEMORY_BYTES - len) return -ENOMEM;
  set_rights(address, len, rights_of(protection));
  return 0;
}

static u64 unmap(u64 address, u64 len) {
  if (!len || protect(address, len, PROT_NONE)) return -EINVAL;
  len = whole_pages(len);
  for (size_t at = 0; at < hole_count;) {
    struct hole hole = holes[at];
    if (hole.address + hole.len != address && address + len != hole.address) {
      at++;
      continue;
    }
    if (hole.address < address) address = hole.address;
    len += hole.len;
    holes[at] = holes[--hole_count];
  }
  if (address + len == heap) heap = address;
  else if (hole_count < sizeof holes / sizeof *holes)
    holes[hole_count++] = (struct hole){address, len};
  return 0;
}

struct part {
  const char *text;
  size_t len;
};

static u64 write_all(const struct part *parts, u64 count) {
  u64 sum = 0;
  for (u64 at = 0; at < count; at++) put(parts[at].text, parts[at].len), sum += parts[at].len;
  return sum;
}

static u64 answer(const u64 call[7]) {
  switch (call[0]) {
  case SYS_write: put((const char *)call[2], call[3]); return call[3];
  case SYS_writev: return write_all((const void *)call[2], call[3]);
  case SYS_mmap:
    if ((call[4] & MAP_FIXED) || !(call[4] & MAP_ANONYMOUS)) return -EINVAL;
    return map(call[2], call[3]);
  case SYS_mprotect: return protect(call[1], call[2], call[3]);
  case SYS_munmap: return unmap(call[1], call[2]);
  case SYS_arch_prctl:
    if (call[1] != ARCH_SET_FS) return -EINVAL;
    write_msr(0xc0000100, call[2]);
    return 0;
  case SYS_getrandom: /* By what has run so far: the same in each run of a program. */
    for (u64 at = 0; at < call[2]; at++) ((uint8_t *)call[1])[at] = now() >> 3;
    return call[2];
  case SYS_clock_gettime:
    ((u64 *)call[2])[0] = now() / 1000000000, ((u64 *)call[2])[1] = now() % 1000000000;
    return 0;
  case SYS_exit:
  case SYS_exit_group:
    say("\ninstructions: "), say_number(now() - started, 10);
    end("EXIT", call[1]);
  /* There are no signals; what is asked about them is not filled in, and nobody here looks. */
  case SYS_rt_sigaction: case SYS_rt_sigprocmask: case SYS_sigaltstack:
  case SYS_brk: case SYS_madvise: case SYS_poll: case SYS_futex: case SYS_sched_yield: return 0;
  case SYS_set_tid_address: case SYS_gettid: case SYS_getpid: return 1;
  case SYS_open: case SYS_openat: case SYS_stat: case SYS_readlink: case SYS_getcwd: return -ENOENT;
  default: return -ENOSYS;
  }
}

/* `enter` has put the number of the call and its six arguments where `call` points. */
u64 handle_call(const u64 call[7]) {
  u64 entered = now();
  u64 result = answer(call);
  started += now() - entered; /* That was not the program. */
  return result;
}

/* All of memory where it is, in pages of 4 KiB of which the first, at null, is nobody's. */
static void set_up_pages(void) {
  u64 *tables = (u64 *)TABLES;
  clear(tables, 0x100000);
  tables[0] = (TABLES + 0x1000) | 3;
  tables[512] = (TABLES + 0x2000) | 3;
  for (u64 at = 0; at < 512; at++) tables[1024 + at] = ((u64)pages + at * PAGE_BYTES) | 3;
  for (u64 page = 0; page < page_of(MEMORY_BYTES); page++)
    pages[page] = page * PAGE_BYTES | (page ? 3 : 0);
  asm volatile("mov %0, %%cr3" ::"r"((u64)TABLES) : "memory");
}

static void set_up_faults_and_calls(void) {
  static struct { uint16_t low, selector, kind, middle; uint32_t high, none; } gates[32];
  for (int at = 0; at < 32; at++) {
    u64 stub = (u64)fault_stubs + 16 * at;
    gates[at] = (typeof(gates[0])){stub, 24, 0x8e00, stub >> 16, stub >> 32, 0};
  }
  struct __attribute__((packed)) { uint16_t limit; const void *base; } table = {511, gates};
  asm volatile("lidt %0" ::"m"(table) : "memory");
  write_msr(0xc0000101, (u64)stacks);    /* GS */
  write_msr(0xc0000081, (u64)24 << 32);  /* selectors of SYSCALL */
  write_msr(0xc0000082, (u64)enter);     /* its place */
  write_msr(0xc0000084, 0);              /* flags that it clears */
}

/* Reads all of the disk, which `scripts/bochs.mjs` makes short enough. */
static void read_disk(void) {
  char *to = (char *)DISK;
  for (uint32_t sector = 0; sector < (BASE - DISK) / 512; sector++) {
    out(ATA + 2, 1), out(ATA + 3, sector), out(ATA + 4, sector >> 8);
    out(ATA + 5, sector >> 16), out(ATA + 6, 0xe0), out(ATA + 7, 0x20);
    while (in(ATA + 7) & 0x80) {}
    if (in(ATA + 7) & 1) return;
    while (!(in(ATA + 7) & 8)) {}
    u64 words = 256;
    asm volatile("rep insw" : "+D"(to), "+c"(words) : "d"(ATA) : "memory");
  }
}

/* Puts the program where it runs, and says where it begins. */
static u64 load(const Elf64_Ehdr *file) {
  const char *from = (const char *)file;
  const Elf64_Phdr *headers = (const void *)(from + file->e_phoff);
  for (int at = 0; at < file->e_phnum; at++) {
    const Elf64_Phdr *part = &headers[at];
    if (part->p_type != PT_LOAD) continue;
    char *to = (char *)BASE + part->p_vaddr;
    if (part->p_vaddr + part->p_memsz > STACK_END - STACK_BYTES - BASE) end("TOO LONG", part->p_memsz);
    clear(to, part->p_memsz);
    for (u64 byte = 0; byte < part->p_filesz; byte++) to[byte] = from[part->p_offset + byte];
  }
  return BASE + file->e_entry;
}

/* Arguments, environment and what the kernel tells, as a program of Linux finds them. */
static u64 *make_stack(const Elf64_Ehdr *file) {
  char *words = (char *)DISK;
  u64 *stack = (u64 *)STACK_END - 512, *place = stack + 1;
  while (*words) {
    *place++ = (u64)words;
    while (*words++) {}
  }
  stack[0] = place - stack - 1;
  *place++ = 0;
  *place++ = 0;
  const u64 told[] = {AT_PHDR, BASE + file->e_phoff, AT_PHENT, file->e_phentsize, AT_PHNUM,
      file->e_phnum, AT_PAGESZ, PAGE_BYTES, AT_ENTRY, BASE + file->e_entry, AT_RANDOM, PROGRAM, 0, 0};
  for (size_t at = 0; at < sizeof told / sizeof *told; at++) *place++ = told[at];
  return stack;
}

__attribute__((section(".first"))) _Noreturn void monitor(void) {
  const Elf64_Ehdr *file = (const void *)PROGRAM;
  set_up_serial();
  set_up_pages();
  set_up_faults_and_calls();
  read_disk();
  u64 begin = load(file), *stack = make_stack(file);
  started = now();
  asm volatile("mov %0, %%rsp; xor %%edx, %%edx; jmp *%1" ::"r"(stack), "r"(begin) : "rdx", "memory");
  __builtin_unreachable();
}
