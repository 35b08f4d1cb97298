// A processor with AVX-512 where there is none: the emulator Bochs, without an operating system.
// stress/emulator has what it begins with and a monitor that runs one static program of Linux,
// counts the instructions of the program, and tells of its faults. Bochs comes from Debian; what
// it runs is built here.

import { spawnSync } from 'node:child_process'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { debianPackages, root, run, rustTarget } from './tools.mjs'

/** What programs for the monitor are built for: they stand alone. */
export const BARE_TARGET = 'x86_64-unknown-linux-musl'

/** What cargo needs in its environment to build for it: some dependencies are made of C. */
export const bareEnvironment = {
  ...process.env,
  CC_x86_64_unknown_linux_musl: 'gcc',
  // What gcc may add to that on its own is in its own library of C alone.
  CFLAGS_x86_64_unknown_linux_musl: '-U_FORTIFY_SOURCE',
}

/** The emulated processor: an Intel of 2020, with all parts of AVX-512 that are used. */
const PROCESSOR = 'tigerlake'

/** An emulated program is a hundred times as slow as another; after this it hangs. */
const LIMIT_MS = 3_600_000

/** What the monitor has room for, from its `DISK` to its `BASE`. */
const DISK_LIMIT_BYTES = 0x6000000

const built = join(root, 'target', 'tools', 'emulator')

/** Whether there can be an emulator, which is only tried on the system that it is a package of. */
export const mayEmulate = process.platform === 'linux' && process.arch === 'x64'

/** Builds what the emulator begins with, and sees to it that all is there that building needs. */
export function prepareEmulator() {
  debianPackages('binutils', 'bochs', 'bochs-term', 'gcc', 'libc6-dev', 'vgabios')
  rustTarget(BARE_TARGET)
  mkdirSync(built, { recursive: true })
  const bare = ['-ffreestanding', '-fno-pic', '-fno-stack-protector', '-fcf-protection=none']
  // A system call leaves all vectors, and what stands below the stack, as they are.
  const careful = ['-mgeneral-regs-only', '-mno-red-zone', '-mcmodel=large']
  const strict = ['-std=gnu11', '-O1', '-Wall', '-Wextra', '-Werror']
  image('start.S', 'rom', [])
  image('monitor.c', 'monitor', [...strict, ...bare, ...careful])
}

/**
 * Builds one of the two images, as it stands in memory.
 * @param {string} source
 * @param {string} name
 * @param {string[]} options
 */
function image(source, name, options) {
  const from = join(root, 'stress', 'emulator')
  const file = (/** @type {string} */ kind) => join(built, `${name}.${kind}`)
  run('gcc', [...options, '-c', '-o', file('o'), join(from, source)])
  run('ld', ['-z', 'noexecstack', '-T', join(from, `${name}.ld`), '-o', file('elf'), file('o')])
  const all = ['--set-section-flags', '.all=alloc,load,contents']
  run('objcopy', ['-O', 'binary', ...all, file('elf'), file('bin')])
}

/**
 * Runs a static program of one thread, which needs no files.
 * @param {string} program
 * @param {string[]} args
 * @returns {{ output: string, status: number | string, instructions: number }} what it wrote, how
 *   it ended (a text where it did not end by itself), and how many instructions it took
 */
export function runEmulated(program, args) {
  const dir = mkdtempSync(join(tmpdir(), 'hashline-bochs-'))
  try {
    const cylinders = writeDisk(join(dir, 'disk'), program, args)
    for (const image of ['rom.bin', 'monitor.bin'])
      copyFileSync(join(built, image), join(dir, image))
    writeFileSync(join(dir, 'settings'), settings(cylinders))
    // The program of Debian is the one with the debugger, which waits for a command.
    writeFileSync(join(dir, 'commands'), 'continue\n')
    // It draws its screen in a terminal, which `script` gives it. At the end it complains of the
    // shutdown that was asked for, so its exit code says nothing.
    const command = ['-qec', 'bochs -q -f settings -rc commands; true', '/dev/null']
    const env = { ...process.env, TERM: 'xterm', SHELL: '/bin/sh' }
    const options = /** @type {const} */ ({ cwd: dir, env, timeout: LIMIT_MS, stdio: 'ignore' })
    const { error } = spawnSync('script', command, options)
    return told(read(join(dir, 'serial')), error?.message ?? read(join(dir, 'log')))
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * Writes what the monitor reads: the words in the first sector, then the program. Says how many
 * cylinders that is, of 16 tracks of 63 sectors.
 * @param {string} path
 * @param {string} program
 * @param {string[]} args
 */
function writeDisk(path, program, args) {
  const words = Buffer.from(`${[basename(program), ...args].join('\0')}\0\0`)
  if (words.length > 512) throw new Error('the arguments are longer than 512 bytes')
  const cylinderBytes = 16 * 63 * 512
  if (statSync(program).size > DISK_LIMIT_BYTES - cylinderBytes)
    throw new Error(`${program} is too long`)
  const bytes = Buffer.concat([words, Buffer.alloc(512 - words.length), readFileSync(program)])
  const cylinders = Math.ceil(bytes.length / cylinderBytes)
  const rest = Buffer.alloc(cylinders * cylinderBytes - bytes.length)
  writeFileSync(path, Buffer.concat([bytes, rest]))
  return cylinders
}

/** A file, or nothing where there is none. */
function read(/** @type {string} */ path) {
  return existsSync(path) ? readFileSync(path, 'utf8') : ''
}

/** What Bochs is told: its time is the number of instructions. */
function settings(/** @type {number} */ cylinders) {
  return `\
cpu: model=${PROCESSOR}, count=1, ips=1000000000, reset_on_triple_fault=0
memory: guest=1024, host=1024
romimage: file=rom.bin
vgaromimage: file=/usr/share/bochs/VGABIOS-lgpl-latest
optramimage1: file=monitor.bin, address=0x100000
ata0: enabled=1, ioaddr1=0x1f0, ioaddr2=0x3f0, irq=14
ata0-master: type=disk, path=disk, mode=flat, cylinders=${cylinders}, heads=16, spt=63
com1: enabled=1, mode=file, dev=serial
clock: sync=none, time0=1
display_library: term
log: log
panic: action=fatal
error: action=ignore
info: action=ignore
debug: action=ignore
speaker: enabled=0, mode=none
`
}

/**
 * What the monitor says behind the program's own output, or how far both came.
 * @param {string} serial
 * @param {string} complaint of the emulator, or of what starts it
 */
function told(serial, complaint) {
  const end = /\ninstructions: (\d+)\nEXIT (\d+)\n$/.exec(serial)
  if (!end) {
    const status = `it did not end by itself: ${complaint.slice(-500)}`
    return { output: serial, status, instructions: Number.NaN }
  }
  const output = serial.slice(0, end.index)
  return { output, status: Number(end[2]), instructions: Number(end[1]) }
}
