// Builds the addon and the program for every platform, on Linux, into npm/ next to their manifest,
// where napi-rs expects the addon.
// `npm run build:all [-- TARGET…] [--addon] [--force] [--table]`
//
// Zig is the C compiler and linker for all targets (its headers and C libraries determine the
// oldest glibc); Rust's standard libraries come from rustup. A target is only rebuilt if its
// sources, the compiler or the build settings have changed, so an interrupted run continues. With
// --addon the program is skipped, which takes longer: tests can run then, but packages cannot be
// made. At the end, or immediately with --table, a table shows what was built and where `npm run
// stress -- smoke` has run it.

import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { parseArgs } from 'node:util'
import { putProgram } from './put-program.mjs'
import { addonName, addonPath, chosen, programPath, rustTriple, TARGETS } from './targets.mjs'
import { pythonBin, root, run, rustTarget, zigEnvironment } from './tools.mjs'

const BUILT = join(root, 'target', 'cross')
/** The function that Node calls when it loads an addon. */
const ENTRY = 'napi_register_module_v1'
/** The inputs of a build, without tests; missing directories are ignored. */
const SOURCES = ['Cargo.toml', 'Cargo.lock', 'build.rs', 'src', 'crates', ':!crates/*/tests/*']

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    addon: { type: 'boolean' },
    force: { type: 'boolean' },
    table: { type: 'boolean' },
  },
})
const names = chosen(positionals)
/** @type {string[]} */
const failed = []
for (const name of values.table ? [] : names) {
  const state = stateOf(name)
  if (!values.force && isBuilt(name, state)) {
    console.log(`${name}: built already`)
    continue
  }
  const start = performance.now()
  console.log(`${name}: building`)
  try {
    // From here on the files are incomplete.
    rmSync(markPath(name), { force: true })
    build(name)
    if (!values.addon) buildItsProgram(name)
    // A target without its program is built again the next time.
    writeFileSync(markPath(name), `${values.addon ? '' : state}\n${overrides()}`)
    console.log(`${name}: built in ${((performance.now() - start) / 1000).toFixed(0)} s`)
  } catch (error) {
    failed.push(name)
    console.error(`${name}: FAILED: ${error instanceof Error ? error.message : error}`)
  }
}
printTable()
if (failed.length > 0) process.exitCode = 1

/** @param {string} name */
function build(name) {
  const { triple, zigTriple: target } = rustTriple(name)
  const env = environment(name)
  rustTarget(triple)
  mkdirSync(outOf(name), { recursive: true })
  if (name.startsWith('win32')) {
    const flags = ['--release', '--target', target, '--target-dir', BUILT]
    show('cargo', ['zigbuild', ...flags], env)
    put(join(BUILT, triple, 'release', 'hashline_native.dll'), name)
    return
  }
  const napi = join(root, 'node_modules', '.bin', 'napi')
  const where = ['--target-dir', BUILT, '--output-dir', outOf(name)]
  const flags = ['--platform', '--release', '--no-js', '--cross-compile', '--target', target]
  show(napi, ['build', ...flags, ...where], env)
  put(join(outOf(name), addonName(name)), name)
}

/**
 * The entry points and the requirements of a built addon.
 * @param {string} path
 * @returns {{ floor: string, entryPoints: string[], undefined: string[] }}
 */
function inspected(path) {
  const inspect = [join(root, 'scripts', 'inspect-addon.py'), path]
  return JSON.parse(run(join(pythonBin(), 'python3'), inspect))
}

/**
 * Builds the program of the package.
 * @param {string} name
 */
function buildItsProgram(name) {
  const { triple, zigTriple } = rustTriple(name)
  const program = ['--release', '--package', 'hashline-cli', '--bin', 'hashline']
  const where = ['--target', zigTriple, '--target-dir', BUILT]
  show('cargo', ['zigbuild', ...program, ...where], environment(name))
  putProgram(name, join(BUILT, triple, 'release'))
}

/**
 * Installs an addon, if Node can load it, which the linker does not check. The file is replaced,
 * not overwritten: a process that has loaded the old one would crash.
 * @param {string} from
 * @param {string} name
 */
function put(from, name) {
  if (!inspected(from).entryPoints.includes(ENTRY)) throw new Error(`it does not export ${ENTRY}`)
  const to = join(root, addonPath(name))
  const fresh = `${to}.new`
  rmSync(fresh, { force: true })
  copyFileSync(from, fresh)
  renameSync(fresh, to)
}

/**
 * The environment for building a target.
 * @param {string} name
 * @returns {Record<string, string>}
 */
function environment(name) {
  const env = zigEnvironment()
  if (name.startsWith('win32')) {
    // Otherwise the grammars mark their functions for export, and the linker exports nothing else.
    return {
      ...env,
      LIBNODE_PATH: emptyLibrary(),
      CFLAGS: `${process.env.CFLAGS ?? ''} -DTREE_SITTER_HIDE_SYMBOLS`,
    }
  }
  const { macos } = TARGETS[name]
  if (!macos) return env
  // The compiler would strip symbols with an Apple program; the linker can strip as well.
  const links = ['-Wl,-dead_strip_dylibs', '-s', ...unusedLibraries()]
  return {
    ...env,
    CARGO_PROFILE_RELEASE_STRIP: 'none',
    MACOSX_DEPLOYMENT_TARGET: macos,
    RUSTFLAGS: links.map((link) => `-C link-arg=${link}`).join(' '),
  }
}

/**
 * Where the linker finds stubs of Apple libraries that Zig lacks. A dependency of the program links
 * them, but the program calls none of their functions. The stubs declare no function, so the linker
 * would report a call.
 */
function unusedLibraries() {
  const sdk = join(BUILT, 'apple')
  const framework = join('Foundation.framework', 'Foundation.tbd')
  const libraries = {
    'libobjc.tbd': '/usr/lib/libobjc.A.dylib',
    [framework]: '/System/Library/Frameworks/Foundation.framework/Versions/C/Foundation',
  }
  for (const [name, installed] of Object.entries(libraries)) {
    mkdirSync(dirname(join(sdk, name)), { recursive: true })
    const lines = ['tbd-version: 4', 'targets: [ x86_64-macos, arm64-macos ]']
    const text = ['--- !tapi-tbd', ...lines, `install-name: '${installed}'`, '...', '']
    writeFileSync(join(sdk, name), text.join('\n'))
  }
  return [`-L${sdk}`, `-F${sdk}`]
}

/**
 * The directory of an empty Node library: with the GNU linker, napi-build requires one, although
 * the addon resolves the functions when it is loaded.
 */
function emptyLibrary() {
  const dir = join(BUILT, 'libnode')
  mkdirSync(dir, { recursive: true })
  for (const name of ['libnode.dll.a', 'libnode.a']) writeFileSync(join(dir, name), '!<arch>\n')
  writeFileSync(join(dir, 'libnode.dll'), '')
  return dir
}

/**
 * Runs a program with visible output.
 * @param {string} command
 * @param {string[]} args
 * @param {Record<string, string>} env
 */
function show(command, args, env) {
  const options = { cwd: root, env: { ...process.env, ...env } }
  const { status, error } = spawnSync(command, args, { ...options, stdio: 'inherit' })
  if (status !== 0) throw new Error(`${command}: ${error?.message ?? `exit code ${status}`}`)
}

/** @param {string} name */
function outOf(name) {
  return join(BUILT, 'out', name)
}

/** @param {string} name */
function markPath(name) {
  return join(outOf(name), 'built-from')
}

/**
 * Whether a target's addon and program exist and were built from this state.
 * @param {string} name
 * @param {string} state
 */
function isBuilt(name, state) {
  const made = [addonPath(name), programPath(name)]
  return made.every((path) => existsSync(join(root, path))) && mark(name)[0] === state
}

/**
 * The state that a target's addon was built from, and the settings that differ from releases.
 * @param {string} name
 */
function mark(name) {
  return existsSync(markPath(name)) ? readFileSync(markPath(name), 'utf8').split('\n') : []
}

/** The release settings that the environment overrides. */
function overrides() {
  const settings = Object.entries(process.env).flatMap(([key, value]) => {
    const name = /^CARGO_PROFILE_RELEASE_(.*)/.exec(key)?.[1]
    return name ? [`${name.toLowerCase().replaceAll('_', '-')} ${value}`] : []
  })
  return settings.sort().join(', ')
}

/**
 * A checksum of all inputs of a build.
 * @param {string} name
 */
function stateOf(name) {
  const listing = ['--cached', '--others', '--exclude-standard', '-z', '--', ...SOURCES]
  const files = run('git', ['ls-files', ...listing]).split('\0')
  const hash = createHash('sha256')
  for (const file of files.filter((file) => file !== '' && existsSync(join(root, file))).sort()) {
    const content = readFileSync(join(root, file))
    hash.update(`${file} ${content.length}\n`).update(content)
  }
  hash.update(JSON.stringify([TARGETS[name], run('rustc', ['--version']), overrides()]))
  return hash.digest('hex')
}

/** Prints the files in npm/, whichever state they were built from. */
function printTable() {
  const rows = names.map((name) => {
    const path = join(root, addonPath(name))
    if (!existsSync(path)) return [name, 'not built', '', '', '', '']
    const { floor, entryPoints, undefined: missing } = inspected(path)
    const size = `${(readFileSync(path).length / 1e6).toFixed(2)} MB`
    const settings = mark(name)[1]
    return [
      name,
      settings ? `${size} (${settings})` : size,
      floor,
      entryPoints.join(' '),
      missing.join(' ') || 'none',
      whereRun(name),
    ]
  })
  const head = ['target', 'size', 'runs from', 'entry points', 'undefined napi_*', 'was run by']
  const table = [head, head.map(() => '---'), ...rows]
  console.log(table.map((row) => `| ${row.join(' | ')} |`).join('\n'))
}

/**
 * The hosts that have run this exact addon, with the numbers of passed, failed and skipped tests.
 * @param {string} name
 */
function whereRun(name) {
  const dir = join(root, 'target', 'smoke')
  const sha256 = createHash('sha256')
    .update(readFileSync(join(root, addonPath(name))))
    .digest('hex')
  const records = (existsSync(dir) ? readdirSync(dir) : [])
    .filter((file) => file.startsWith(`${name}.`) && file.endsWith('.json'))
    .map((file) => JSON.parse(readFileSync(join(dir, file), 'utf8')))
  const runs = records.map(({ host, sha256: of, passed, failed, skipped }) => {
    const counts = `${host} ${passed}/${failed.length}/${skipped.length}`
    // The Rust tests are built for each run.
    return of === undefined || of === sha256 ? counts : `${counts} (an older build)`
  })
  return runs.join(', ') || 'no host'
}
