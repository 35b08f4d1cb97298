// A process that continuously replaces directories and a file of the root by links that lead out of
// it, and back, while this process makes calls that are confined to the root. `node
// stress/swapper.mjs [--calls 10000]`
//
//   root/dir, root/up/dir   a real directory ↔ a link to outside/dir, by two renames each way;
//                           the link's path is absolute or relative
//   root/flip.txt           a file ↔ a link to outside/flip.txt, by one rename each way
//
// Everything outside has the same names as inside, and contents with a canary. No result of a call
// may show the canary. Nothing may change outside: no name, content, inode, mode or change time,
// and no file may appear even for a moment (the directories are watched). At the end, only the
// requested files are left inside, without journals and locks.
//
// Calls read, search (with and without following links), edit, create, move and delete, in the
// directories and in the file. Refusals and errors are counted: a name may lead outside at that
// moment (OUTSIDE_ROOT), or be missing between two renames (FILE_NOT_FOUND, CONCURRENT_CHANGE).

import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { applyHashSync, readHashedSync, searchHashedSync } from 'hashline-native'
import { between, counts, leftovers, startChild, Tally, withDirs } from './attack.mjs'

/** @import { HashlineError, Operation } from 'hashline-native' */

const CANARY = 'canary'
const DIRECTORIES = ['dir', 'up/dir']
/** How many calls are made between two checks of the outside. */
const CHECK_EVERY = 250
/** The accepted refusals while names and contents change. */
const ALLOWED = [
  'OUTSIDE_ROOT',
  'FILE_NOT_FOUND',
  'FILE_EXISTS',
  'NOT_A_FILE',
  'CONCURRENT_CHANGE',
  'TEXT_NOT_FOUND',
]

const { values } = parseArgs({
  options: {
    role: { type: 'string', default: 'parent' },
    work: { type: 'string', default: '{}' },
    calls: { type: 'string', default: '10000' },
  },
})

if (values.role === 'swapper') swap(JSON.parse(values.work).dir)
else await withDirs(supervise)

/**
 * @param {string} dir
 * @param {string} stateDir
 */
async function supervise(dir, stateDir) {
  const { calls } = counts({ calls: values.calls })
  const [root, outside] = [join(dir, 'root'), join(dir, 'outside')]
  fill(root, 'a line')
  fill(outside, CANARY)
  const before = snapshot(outside)
  let events = 0
  const watchers = ['', ...DIRECTORIES, ...DIRECTORIES.map((name) => `${name}/sub`)].map((name) =>
    watch(join(outside, name), () => events++),
  )
  const { child, result } = startChild(fileURLToPath(import.meta.url), 'swapper', { dir })
  const figures = new Tally()
  /** @type {string[]} */
  const problems = []
  const start = performance.now()
  while (!existsSync(join(dir, 'started'))) await new Promise((done) => setTimeout(done, 10))
  for (let call = 1; call <= calls; call++) {
    const [name, shown] = one(root, stateDir, call, figures, problems)
    if (shown.includes(CANARY)) problems.push(`call ${call} shows what is outside: ${shown}`)
    figures.add(name)
    if (call % CHECK_EVERY === 0 || call === calls) {
      // Lets the watchers report.
      await new Promise((done) => setTimeout(done, 1))
      if (snapshot(outside) !== before) problems.push(`before call ${call}, outside was changed`)
    }
  }
  const seconds = (performance.now() - start) / 1000
  writeFileSync(join(dir, 'stop'), '')
  const { flips } = await result
  child.kill()
  for (const watcher of watchers) watcher.close()
  if (events > 0) problems.push(`${events} times something was written outside`)
  for (const name of leftovers(dir, stateDir)) problems.push(`left: ${name}`)
  console.log(`${calls} calls, ${flips} flips, ${seconds.toFixed(1)} s: ${figures}`)
  for (const wanted of ['applied', 'refused OUTSIDE_ROOT']) {
    if (figures.get(wanted) === 0) problems.push(`nothing was ${wanted}, so nothing was tested`)
  }
  for (const problem of problems.slice(0, 20)) console.error(`FAILED: ${problem}`)
  if (problems.length > 0) process.exitCode = 1
  else console.log('ok: nothing outside was read or written')
}

/**
 * Makes one call; returns its kind and everything that it shows.
 * @param {string} root
 * @param {string} stateDir
 * @param {number} call
 * @param {Tally} figures
 * @param {string[]} problems
 * @returns {[string, string]}
 */
function one(root, stateDir, call, figures, problems) {
  const at = DIRECTORIES[between(0, DIRECTORIES.length - 1)]
  const paths = [`${at}/a.txt`, `${at}/sub/b.txt`, 'flip.txt']
  const refused = (/** @type {{ code: string, message: string }} */ { code, message }) => {
    figures.add(`refused ${code}`)
    if (!ALLOWED.includes(code)) problems.push(`call ${call} was refused with ${code}: ${message}`)
  }
  try {
    if (call % 4 === 0) {
      const views = readHashedSync(paths, { root })
      for (const { error } of views) error ? refused(error) : figures.add('views')
      return ['reads', JSON.stringify(views)]
    }
    if (call % 4 === 1) {
      const scope = [{}, { paths: [at] }, { paths: [`${at}/sub/b.txt`, 'flip.txt'] }][between(0, 2)]
      const search = { search: 'a', ...scope, followLinks: Math.random() < 0.5 }
      const found = searchHashedSync(search, { root })
      for (const failure of found.errors) refused(failure)
      figures.add('matches', found.matchCount)
      return ['searches', JSON.stringify(found)]
    }
    const operations = patch(at, call)
    const outcome = applyHashSync(
      { operations },
      { root, stateDir, durability: call % 10 === 2 ? 'power' : 'process' },
    )
    if (outcome.status === 'applied') figures.add('applied')
    else for (const failure of outcome.failures) refused(failure)
    return ['patches', JSON.stringify(outcome)]
  } catch (thrown) {
    const error = /** @type {HashlineError} */ (thrown)
    figures.add(`thrown ${error.code}`)
    problems.push(`call ${call} threw ${error.code}: ${error.message}`)
    return ['errors', error.message]
  }
}

/**
 * @param {string} at
 * @param {number} call
 * @returns {Operation[]}
 */
function patch(at, call) {
  /** @type {Operation} */
  const flip = { op: 'insert_after', path: 'flip.txt', anchor: 'BOF', text: `call ${call}` }
  /** @type {Operation} */
  const edit = { op: 'replace_text', path: `${at}/a.txt`, old_text: 'a line', new_text: 'a  line' }
  const back = { ...edit, old_text: 'a  line', new_text: 'a line' }
  /** @type {Operation[][]} */
  const patches = [
    [flip],
    [edit],
    [back],
    [edit, { op: 'insert_after', path: `${at}/sub/b.txt`, anchor: 'EOF', text: `call ${call}` }],
    [{ op: 'add_file', path: `${at}/new.txt`, content: `call ${call}` }],
    [{ op: 'delete_file', path: `${at}/new.txt` }],
    [{ op: 'move_file', from: `${at}/new.txt`, to: `${at}/sub/moved.txt` }],
    [{ op: 'delete_file', path: `${at}/sub/moved.txt` }],
    [{ op: 'add_file', path: `${at}/made/deep/new.txt`, content: `call ${call}` }],
    [{ op: 'delete_file', path: `${at}/made/deep/new.txt` }, flip],
  ]
  return patches[between(0, patches.length - 1)]
}

/**
 * @param {string} dir
 * @param {string} text
 */
function fill(dir, text) {
  for (const name of DIRECTORIES) {
    mkdirSync(join(dir, name, 'sub'), { recursive: true })
    writeFileSync(join(dir, name, 'a.txt'), `${text} of a\n`)
    writeFileSync(join(dir, name, 'sub/b.txt'), `${text} of b\n`)
  }
  writeFileSync(join(dir, 'flip.txt'), `${text} of flip\n`)
}

/**
 * All names below a directory, with the attributes that identify an unchanged file.
 * @param {string} dir
 */
function snapshot(dir) {
  const names = readdirSync(dir, { recursive: true, encoding: 'utf8' }).sort()
  const rows = names.map((name) => {
    const { ino, mode, nlink, size, mtimeMs, ctimeMs } = statSync(join(dir, name))
    const content = statSync(join(dir, name)).isFile() ? readFileSync(join(dir, name), 'utf8') : ''
    return [name, ino, mode, nlink, size, mtimeMs, ctimeMs, content]
  })
  return JSON.stringify(rows)
}

/** Swaps until a file requests to stop. @param {string} dir */
function swap(dir) {
  const root = join(dir, 'root')
  const outside = join(dir, 'outside')
  for (const name of DIRECTORIES) {
    const up = '../'.repeat(name.split('/').length)
    symlinkSync(join(outside, name), join(dir, `${name.replace('/', '-')}-absolute`))
    symlinkSync(`${up}outside/${name}`, join(dir, `${name.replace('/', '-')}-relative`))
  }
  writeFileSync(join(dir, 'started'), '')
  let flips = 0
  for (; !existsSync(join(dir, 'stop')); flips++) {
    const name = DIRECTORIES[flips % DIRECTORIES.length]
    const here = join(root, name)
    const real = join(root, `${name}-real`)
    const link = join(dir, `${name.replace('/', '-')}-${flips % 3 ? 'absolute' : 'relative'}`)
    renameSync(here, real)
    put(link, here, join(root, `made-${flips}`))
    pauseUs(300)
    renameSync(here, link)
    put(real, here, join(root, `made-again-${flips}`))
    flipFile(join(root, 'flip.txt'), join(outside, 'flip.txt'), dir)
    pauseUs(300)
  }
  console.log(JSON.stringify({ flips }))
}

/**
 * Renames to a name; a directory that a patch has created there is moved aside.
 * @param {string} what
 * @param {string} here
 * @param {string} aside
 */
function put(what, here, aside) {
  for (;;) {
    try {
      return renameSync(what, here)
    } catch (error) {
      const { code } = /** @type {NodeJS.ErrnoException} */ (error)
      if (code !== 'ENOTEMPTY' && code !== 'EISDIR') throw error
    }
    renameSync(here, aside)
  }
}

/**
 * @param {string} path
 * @param {string} target
 * @param {string} dir
 */
function flipFile(path, target, dir) {
  const [link, file] = [join(dir, 'flip-link'), join(dir, 'flip-file')]
  if (lstatSync(path).isSymbolicLink()) {
    writeFileSync(file, 'a line of flip\n')
    renameSync(file, path)
  } else {
    rmSync(link, { force: true })
    symlinkSync(target, link)
    renameSync(link, path)
  }
}

/** Busy-waits for a random time. @param {number} most the maximum, in microseconds */
function pauseUs(most) {
  const end = performance.now() + (Math.random() * most) / 1000
  while (performance.now() < end);
}
