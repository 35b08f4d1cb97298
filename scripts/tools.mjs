// Installs tools that npm ci does not install, for building and testing for other platforms:
// packages of npm, PyPI and Debian, and Rust standard libraries. Each tool is downloaded once, by
// the ordinary client of its registry, into target/tools unless the system has a place for it.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const root = dirname(dirname(fileURLToPath(import.meta.url)))
const tools = join(root, 'target', 'tools')

/** The cross compiler, its cargo front end, and a reader of the three library formats. */
const PYTHON_PACKAGES = ['ziglang==0.15.2', 'cargo-zigbuild==0.24.0', 'lief==1.0.0']

/**
 * The directory of an npm package for any platform. Its scripts do not run.
 * @param {string} name
 * @param {string} version
 * @param {Record<string, string>} [overrides] versions of its dependencies
 */
export function npmPackage(name, version, overrides = {}) {
  const dir = once(`npm/${name.replace('/', '+')}-${version}`, (fresh) => {
    writeFileSync(join(fresh, 'package.json'), JSON.stringify({ private: true, overrides }))
    const flags = ['--no-save', '--no-package-lock', '--ignore-scripts', '--force']
    run('npm', ['install', ...flags, `${name}@${version}`], { cwd: fresh })
  })
  return join(dir, 'node_modules', name)
}

/** The program directory of a Python virtual environment with `PYTHON_PACKAGES`. */
export function pythonBin() {
  const dir = join(tools, 'python')
  const mark = join(dir, `${PYTHON_PACKAGES.join('+').replaceAll('==', '-')}.done`)
  if (!existsSync(mark)) {
    // A virtual environment contains its own path, so it is created in its final place.
    rmSync(dir, { recursive: true, force: true })
    run('python3', ['-m', 'venv', dir])
    run(join(dir, 'bin', 'pip'), ['install', '--quiet', ...PYTHON_PACKAGES])
    writeFileSync(mark, '')
  }
  return join(dir, 'bin')
}

/** The path of the Zig compiler. */
export function zig() {
  const code = 'import os, ziglang; print(os.path.dirname(ziglang.__file__))'
  return join(run(join(pythonBin(), 'python3'), ['-c', code]).trim(), 'zig')
}

/** The environment variables of cargo-zigbuild. */
export function zigEnvironment() {
  return { CARGO_ZIGBUILD_ZIG_PATH: zig(), PATH: `${pythonBin()}:${process.env.PATH}` }
}

/**
 * The unpacked files of a PyPI package for the given platform.
 * @param {string} name
 * @param {string} version
 * @param {string} platform
 */
export function wheel(name, version, platform) {
  return once(`pypi/${name}-${version}-${platform}`, (fresh) => {
    const python = join(pythonBin(), 'python3')
    const choice = ['--no-deps', '--only-binary=:all:', '--platform', platform]
    const pip = ['-m', 'pip', 'download', '--quiet', ...choice]
    run(python, [...pip, '--dest', fresh, `${name}==${version}`])
    for (const file of readdirSync(fresh)) {
      run(python, ['-m', 'zipfile', '--extract', join(fresh, file), fresh])
      rmSync(join(fresh, file))
    }
  })
}

/**
 * Checks that Debian packages are installed.
 * @param {...string} names
 */
export function debianPackages(...names) {
  const isMissing = (/** @type {string} */ name) => {
    const asked = spawnSync('dpkg', ['--status', name], { encoding: 'utf8' })
    return !asked.stdout?.includes('\nStatus: install ok installed\n')
  }
  const missing = names.filter(isMissing)
  if (missing.length === 0) return
  if (process.getuid?.() !== 0) {
    throw new Error(`Debian packages are missing. Run apt-get install ${missing.join(' ')}`)
  }
  run('apt-get', ['update'])
  run('apt-get', ['install', '--yes', '--no-install-recommends', ...missing])
}

/**
 * The unpacked files of a Debian package of any release; nothing is installed.
 * @param {string} release
 * @param {string} name
 * @param {string} processor
 */
export function debianFiles(release, name, processor) {
  return once(`debian/${name}-${release}-${processor}`, (fresh) => {
    const [state, cache] = [join(fresh, 'state'), join(fresh, 'cache')]
    for (const dir of [state, cache]) mkdirSync(join(dir, 'partial'), { recursive: true })
    const sources = join(fresh, 'sources.list')
    const keys = '/usr/share/keyrings/debian-archive-keyring.gpg'
    const archive = 'http://deb.debian.org/debian'
    writeFileSync(sources, `deb [signed-by=${keys}] ${archive} ${release} main\n`)
    const settings = {
      'APT::Architecture': processor,
      'APT::Architectures': processor,
      'Dir::Etc::sourcelist': sources,
      'Dir::Etc::sourceparts': '-',
      'Dir::State::lists': state,
      'Dir::Cache': cache,
    }
    const flags = Object.entries(settings).flatMap(([key, value]) => ['-o', `${key}=${value}`])
    run('apt-get', [...flags, 'update'])
    run('apt-get', [...flags, 'download', name], { cwd: fresh })
    for (const file of readdirSync(fresh).filter((file) => file.endsWith('.deb'))) {
      run('dpkg-deb', ['--extract', join(fresh, file), fresh])
    }
    for (const dir of [state, cache]) rmSync(dir, { recursive: true })
  })
}

/**
 * Installs Rust's standard library for a target, unless it is installed.
 * @param {string} triple
 */
export function rustTarget(triple) {
  const installed = run('rustup', ['target', 'list', '--installed']).split('\n')
  if (!installed.includes(triple)) run('rustup', ['target', 'add', triple])
}

/**
 * Runs a program and returns its output; throws with its error output.
 * @param {string} command
 * @param {string[]} args
 * @param {import('node:child_process').SpawnSyncOptions} [options]
 */
export function run(command, args, options = {}) {
  const { status, stdout, stderr, error } = spawnSync(command, args, {
    cwd: root,
    maxBuffer: 1 << 28,
    ...options,
    encoding: 'utf8',
  })
  if (status === 0) return stdout ?? ''
  const why = error?.message ?? `exit code ${status}\n${stderr ?? ''}${stdout ?? ''}`
  throw new Error(`${command} ${args.join(' ')}: ${why}`)
}

/**
 * Creates a directory in target/tools completely or not at all.
 * @param {string} name
 * @param {(fresh: string) => void} make
 */
function once(name, make) {
  const dir = join(tools, name)
  if (existsSync(dir)) return dir
  const fresh = `${dir}.new`
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh, { recursive: true })
  make(fresh)
  renameSync(fresh, dir)
  return dir
}
