// The C interface, called from C: the binary that Node loads has the functions that
// include/hashline_native.h declares, and programs can use them. Its contract is tested in
// crates/capi/tests, its answers in bindings.test.mjs.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { version } from 'hashline-native'
import { binaryPath } from '../js/ffi/library.cjs'
import { withMess } from './support.mjs'

const root = fileURLToPath(new URL('..', import.meta.url))

/** Why this machine cannot build and run C programs that use the binary. */
const unable =
  (process.platform !== 'linux' && 'the programs are linked as on Linux') ||
  (process.env.HASHLINE_EMULATOR && 'the compiler is for the machine itself') ||
  (spawnSync('cc', ['--version']).error && 'there is no C compiler (cc)') ||
  false

/** @param {string} command @param {string[]} args */
function run(command, ...args) {
  const { status, error, stdout, stderr } = spawnSync(command, args, { encoding: 'utf8' })
  assert.equal(status, 0, error?.message ?? stderr)
  return stdout
}

/** @param {string} source @param {string} program */
function compile(source, program) {
  const flags = ['-std=c11', '-Wall', '-Wextra', '-Werror', `-I${join(root, 'include')}`]
  const binary = binaryPath()
  const path = `-Wl,-rpath,${dirname(resolve(binary))}`
  run('cc', ...flags, join(root, source), binary, path, '-lpthread', '-o', program)
}

test('the binary has the declared functions, and needs no symbols of Node', (t) => {
  if (unable) return t.skip(unable)
  const header = readFileSync(join(root, 'include/hashline_native.h'), 'utf8')
  const declared = [...header.matchAll(/\b(hashline_\w+)\(/g)].map(([, name]) => name)
  const names = new Set(declared.filter((name) => !header.includes(`\`${name}(`)))
  assert.ok(names.size > 15)
  const symbols = (/** @type {string} */ which) => {
    const lines = run('nm', '-D', which, binaryPath()).split('\n')
    return lines.map((line) => line.trim().split(' ').at(-1) ?? '')
  }
  const defined = symbols('--defined-only')
  for (const name of names) assert.ok(defined.includes(name), `${name} is not exported`)
  assert.deepEqual(
    symbols('--undefined-only').filter((name) => name.startsWith('napi_')),
    [],
  )
})

test('a program in C reads and edits', async (t) => {
  if (unable) return t.skip(unable)
  await withMess({ 'a.txt': 'one\ntwo\n' }, (dir, stateDir) => {
    const program = `${dir}/edit`
    compile('examples/c/edit.c', program)
    const env = { ...process.env, XDG_STATE_HOME: stateDir }
    const edited = spawnSync(program, [dir, 'a.txt'], { encoding: 'utf8', env })
    assert.equal(edited.status, 0, edited.stderr)
    assert.match(edited.stdout, /^1:60\|one\n2:f4\|two\n\{"status":"applied"/)
    assert.equal(readFileSync(join(dir, 'a.txt'), 'utf8'), 'one\ntwo\nwritten in C\n')
    const refused = spawnSync(program, [dir, 'none.txt'], { encoding: 'utf8', env })
    assert.equal(refused.status, 1)
    assert.equal(refused.stderr, 'FILE_NOT_FOUND: none.txt: no such file\n')
  })
})

test('the commands of docs/c.md work, and the program runs in any directory', async (t) => {
  if (unable) return t.skip(unable)
  const page = readFileSync(join(root, 'docs/c.md'), 'utf8')
  const lines = /```sh\n(cp [\s\S]*?)```/.exec(page)?.[1]
  assert.ok(lines)
  // The page has the file name of one platform.
  const name = 'hashline-native.linux-x64-gnu.node'
  const script = lines.replaceAll(name, basename(binaryPath()))
  await withMess({}, (dir, stateDir) => {
    const env = { ...process.env, HASHLINE: root, XDG_STATE_HOME: stateDir }
    const built = spawnSync('sh', ['-ec', script], { cwd: dir, encoding: 'utf8', env })
    assert.equal(built.status, 0, built.stderr)
    assert.match(built.stdout, /"status":"applied"/)
    const again = spawnSync(join(dir, 'edit'), [dir, 'edit.c'], { cwd: '/', encoding: 'utf8', env })
    assert.equal(again.status, 0, again.stderr)
  })
})

test('every function works on several threads at once', async (t) => {
  if (unable) return t.skip(unable)
  await withMess({ 'a.txt': 'one\ntwo\n' }, (dir) => {
    const program = `${dir}/capi`
    compile('stress/capi.c', program)
    assert.equal(run(program, dir, '20'), 'ok\n')
  })
})

test('the version is that of the package', (t) => {
  if (spawnSync('python3', ['--version']).error) return t.skip('python3 is not installed')
  if (process.env.HASHLINE_EMULATOR) return t.skip('Python exists only for this machine')
  const code = `import ctypes, sys
library = ctypes.CDLL(sys.argv[1])
library.hashline_version.restype = ctypes.c_char_p
print(library.hashline_version().decode())`
  assert.equal(run('python3', '-c', code, binaryPath()).trim(), version())
})
