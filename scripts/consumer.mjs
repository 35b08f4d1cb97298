// A project that uses the packages: its files, and the programs that run in it. The installation
// tests use it with packages that were installed in different ways.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, rmSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { root } from './tools.mjs'

/**
 * A JavaScript host in a directory where the packages are installed.
 * @typedef {object} Consumer
 * @property {string} dir
 * @property {string} host Node or Bun
 * @property {string[]} [before] arguments in front of those of a script
 * @property {NodeJS.ProcessEnv} env
 */

/** TypeScript's module resolutions, with a file for each and its output. */
const RESOLUTIONS = [
  { moduleResolution: 'bundler', module: 'esnext', file: 'typed.mts', made: 'typed.mjs' },
  { moduleResolution: 'nodenext', module: 'nodenext', file: 'typed.mts', made: 'typed.mjs' },
  { moduleResolution: 'nodenext', module: 'nodenext', file: 'typed.cts', made: 'typed.cjs' },
]
/** TypeScript 7 no longer has it, so it needs an older version. */
const NODE10 = {
  moduleResolution: 'node10',
  module: 'commonjs',
  file: 'typed.ts',
  made: 'typed.js',
}

/**
 * An environment without a Rust compiler and without this repository.
 * @param {...string} programs directories of available programs
 * @returns {NodeJS.ProcessEnv}
 */
export function bareEnvironment(...programs) {
  const kept = /^(?:TMPDIR|TEMP|TMP|HOME|USERPROFILE|SystemRoot|ComSpec|LANG)$/i
  const env = Object.fromEntries(Object.entries(process.env).filter(([key]) => kept.test(key)))
  const paths = [...programs, ...(process.env.PATH ?? '').split(delimiter)]
  const PATH = paths.filter(
    (path) => !/cargo|rustup|node_modules/.test(path) || programs.includes(path),
  )
  return { ...env, PATH: [...new Set(PATH)].join(delimiter), CI: '1' }
}

/**
 * Copies the examples into a directory, and a manifest unless there is one to keep.
 * @param {string} dir
 * @param {{ keepManifest?: boolean }} [options]
 */
export function makeProject(dir, { keepManifest = false } = {}) {
  cpSync(join(root, '__test__', 'fixtures', 'install'), dir, { recursive: true })
  cpSync(join(dir, 'typed.cts'), join(dir, 'typed.ts'))
  if (!keepManifest) writeFileSync(join(dir, 'package.json'), '{ "private": true }\n')
}

/**
 * Runs the README's examples, as an ES module and in CommonJS.
 * @param {Consumer} consumer
 */
export function runExamples(consumer) {
  for (const file of ['module.mjs', 'common.cjs']) {
    const { status, stdout, stderr } = script(consumer, file)
    assert.equal(status, 0, `${file}\n${stdout}${stderr}`)
    assert.equal(stdout, file === 'module.mjs' ? 'ES module\n' : 'CommonJS\n')
  }
}

/**
 * Compiles examples in TypeScript with every module resolution, and runs them.
 * @param {Consumer} consumer
 * @param {string} compiler the path of `tsc`
 * @param {{ node10?: boolean }} [options] whether that compiler supports `node10`
 */
export function runTypeScript(consumer, compiler, { node10 = false } = {}) {
  for (const { file, made, ...how } of node10 ? [NODE10] : RESOLUTIONS) {
    const options = { ...how, target: 'es2022', lib: ['es2022', 'dom'], types: [], strict: true }
    const compilerOptions = { ...options, outDir: 'made' }
    const config = JSON.stringify({ compilerOptions, files: [file] })
    writeFileSync(join(consumer.dir, 'tsconfig.json'), config)
    const label = `${how.moduleResolution} ${file}`
    const { status, stdout } = call(consumer, process.execPath, [compiler, '-p', '.'])
    assert.equal(status, 0, `${label}\n${stdout}`)
    const ran = script(consumer, join('made', made))
    assert.equal(ran.stdout, 'TypeScript string\n', `${label}\n${ran.stdout}${ran.stderr}`)
    rmSync(join(consumer.dir, 'made'), { recursive: true })
  }
}

/**
 * Runs the program by the launcher: its arguments, streams, exit codes and termination by a signal.
 * @param {Consumer} consumer
 * @param {string[]} launcher the command that starts it, such as `npx hashline`
 * @returns {Promise<string>} the path of the program, as it reports itself
 */
export async function runProgram(consumer, [command, ...words]) {
  const hashline = (/** @type {string[]} */ ...args) => call(consumer, command, [...words, ...args])
  const version = hashline('--version')
  assert.match(version.stdout, /^hashline \d+\.\d+\.\d+\n$/, version.stderr)
  const file = join(consumer.dir, 'lines.txt')
  writeFileSync(file, 'a\nb\n')
  assert.equal(hashline('read', file).stdout.trimEnd(), '1:56|a\n2:bf|b')
  assert.equal(hashline('verify', file, '1:56').status, 0)
  assert.equal(hashline('verify', file, '1:00').status, 1)
  assert.equal(hashline('read', join(consumer.dir, 'none.txt')).status, 2)
  const piped = call(consumer, command, [...words, 'read', '-'], 'a\n')
  assert.equal(piped.stdout.trimEnd(), '1:56|a')
  const report = hashline('--state-dir', join(consumer.dir, '.state'), '--json', 'doctor')
  return JSON.parse(report.stdout).program
}

/**
 * Ends the launcher by a signal while the program waits, and checks that both end.
 * @param {Consumer} consumer
 * @param {string} launcher the file of the launcher
 */
export async function endProgram(consumer, launcher) {
  const { dir: cwd, host, env, before = [] } = consumer
  const child = spawn(host, [...before, launcher, 'mcp', cwd], { cwd, env })
  const ended = once(child, 'exit')
  // An answer shows that the program runs and waits for input.
  const params = {
    protocolVersion: '2025-06-18',
    capabilities: {},
    clientInfo: { name: 'a', version: '1' },
  }
  child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'initialize', params })}\n`)
  const first = await Promise.race([once(child.stdout, 'data'), ended])
  assert.ok(Buffer.isBuffer(first[0]), `the program ended with ${first[0]}`)
  child.kill('SIGTERM')
  // The program has ended once the pipe is closed.
  child.stdout.resume()
  await once(child.stdout, 'close')
  const [code, signal] = await ended
  assert.equal(signal, 'SIGTERM', `exit code ${code}`)
}

/**
 * Checks the errors of the addon and the launcher without a usable platform package.
 * @param {Consumer} consumer
 * @param {string} launcher the file of the launcher
 * @param {RegExp} addonSays
 * @param {RegExp} [programSays]
 */
export function checkComplaints(consumer, launcher, addonSays, programSays) {
  const code = "try { require('hashline-native') } catch (error) { console.log(error.message) }"
  const addon = call(consumer, consumer.host, [...(consumer.before ?? []), '-e', code])
  assert.match(addon.stdout, addonSays, addon.stderr)
  assert.equal(addon.stdout.split('\n').length, 2, `more than one line: ${addon.stdout}`)
  if (!programSays) return
  const program = script(consumer, launcher, '--version')
  assert.match(program.stderr, programSays)
  assert.equal(program.stderr.trimEnd().split('\n').length, 1, program.stderr)
  assert.equal(program.status, 2)
}

/**
 * @param {Consumer} consumer
 * @param {string} file
 * @param {...string} args
 */
function script(consumer, file, ...args) {
  return call(consumer, consumer.host, [...(consumer.before ?? []), file, ...args])
}

/**
 * @param {Consumer} consumer
 * @param {string} command
 * @param {string[]} args
 * @param {string} [input]
 */
export function call({ dir: cwd, env }, command, args, input) {
  const shell = process.platform === 'win32' && !command.endsWith('.exe')
  const done = spawnSync(command, args, { cwd, env, encoding: 'utf8', input, shell })
  if (done.error) throw done.error
  return done
}
