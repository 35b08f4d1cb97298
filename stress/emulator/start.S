/* What the emulated processor begins with: from its reset to 64 bits, with all its vectors, and on
 * to the monitor. It is the whole of the ROM: 64 KiB that end at 4 GiB, and stand below 1 MiB, too. */

.set MONITOR, 0x100000
.set TABLES, 0x10000 /* The first page tables: three pages, which the monitor replaces. */
.set STACK, 0x90000

.section .rom, "ax"
.code16
begin:
    cli
    lgdtl %cs:gdt_16 - begin
    mov %cr0, %eax
    or $1, %al
    mov %eax, %cr0
    ljmpl $8, $begin_32

gdt_16:
    .word gdt_end - gdt - 1
    .long gdt

.balign 8
gdt:
    .quad 0
    .quad 0x00cf9a000000ffff /* 8: code of 32 bits */
    .quad 0x00cf92000000ffff /* 16: data */
    .quad 0x00af9a000000ffff /* 24: code of 64 bits */
    .quad 0x00cf92000000ffff /* 32: data, where SYSCALL expects it behind its code */
gdt_end:

.code32
begin_32:
    mov $16, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    /* The first GiB is where it is, in pages of 2 MiB. Memory may hold anything so far. */
    xor %eax, %eax
    mov $TABLES, %edi
    mov $0x3000 / 4, %ecx
    rep stosl
    movl $TABLES + 0x1003, TABLES
    movl $TABLES + 0x2003, TABLES + 0x1000
    xor %ecx, %ecx
1:  mov %ecx, %eax
    shl $21, %eax
    or $0x83, %eax
    mov %eax, TABLES + 0x2000(, %ecx, 8)
    inc %ecx
    cmp $512, %ecx
    jne 1b
    mov $TABLES, %eax
    mov %eax, %cr3
    /* PAE, OSFXSR, OSXMMEXCPT, OSXSAVE. */
    mov $0x40620, %eax
    mov %eax, %cr4
    /* The registers of x87, SSE, AVX and AVX-512. */
    xor %ecx, %ecx
    xor %edx, %edx
    mov $0xe7, %eax
    xsetbv
    /* EFER: SYSCALL, long mode. */
    mov $0xc0000080, %ecx
    rdmsr
    or $0x101, %eax
    wrmsr
    /* Paging, numeric errors, monitored coprocessor, protection; no emulation. */
    mov $0x80000023, %eax
    mov %eax, %cr0
    fninit
    ljmpl $24, $begin_64

.code64
begin_64:
    mov $32, %eax
    mov %eax, %ds
    mov %eax, %es
    mov %eax, %ss
    mov $STACK, %rsp
    mov $MONITOR, %rax
    jmp *%rax

.section .reset, "ax"
.code16
    /* The last 16 bytes, where a processor begins. */
    jmp begin
    .balign 16
