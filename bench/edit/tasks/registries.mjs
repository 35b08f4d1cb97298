// Packages of public registries, downloaded by the registries' own clients, so that settings,
// mirrors and caches of the user apply. No code of a package runs.

import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { isAlive } from '../lock.mjs'

/** @typedef {{ registry: string, name: string, version: string }} Package */

/** A package that is not available here. */
export class Unavailable extends Error {}

/** For one client of a registry. */
const TIMEOUT_MS = 300_000

/** The cache of packages. */
export const CACHE = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'hashline-bench')

/** @param {Package} one @param {string} cache */
const placeOf = ({ registry, name, version }, cache) =>
  join(cache, registry, `${name.replaceAll('/', '+')}-${version}`)

/** Whether a package is cached. @param {Package} one @param {string} cache */
export const isThere = (one, cache) => existsSync(placeOf(one, cache))

/**
 * The directory with the files of a package, which is downloaded if needed.
 * @param {Package} one
 * @param {string} [cache]
 */
export function packageDir(one, cache = CACHE) {
  const { registry } = one
  const dir = placeOf(one, cache)
  if (existsSync(dir)) return dir
  if (!Object.hasOwn(FETCHERS, registry)) throw new Error(`there is no registry ${registry}`)
  const fetchInto = FETCHERS[registry]
  // Created completely or not at all; other processes may create it at the same time.
  const fresh = `${dir}.${process.pid}`
  mkdirSync(dirname(dir), { recursive: true })
  for (const name of readdirSync(dirname(dir))) {
    const [, pid] = /\.(\d+)$/.exec(name) ?? []
    const isLeft = name === `${basename(dir)}.${pid}` && !isAlive(Number(pid))
    if (isLeft) rmSync(join(dirname(dir), name), { recursive: true, force: true })
  }
  rmSync(fresh, { recursive: true, force: true })
  mkdirSync(fresh)
  try {
    const made = fetchInto(one, fresh)
    if (!existsSync(dir)) renameSync(made, dir)
  } finally {
    rmSync(fresh, { recursive: true, force: true })
  }
  return dir
}

/**
 * Downloads a package into a directory; returns the one with its files.
 * @type {Record<string, (one: Package, dir: string) => string>}
 */
const FETCHERS = {
  npm({ name, version }, dir) {
    const flags = ['--ignore-scripts', '--silent', '--fetch-retries', '1']
    run('npm', ['pack', `${name}@${version}`, ...flags], dir)
    const archive = readdirSync(dir).find((file) => file.endsWith('.tgz'))
    if (archive === undefined) throw new Unavailable(`npm packed nothing for ${name}`)
    mkdirSync(join(dir, 'files'))
    // The name of the top folder in the archive varies.
    run('tar', ['-xzf', archive, '-C', 'files', '--strip-components', '1'], dir)
    return join(dir, 'files')
  },
  pypi({ name, version }, dir) {
    const python = process.platform === 'win32' ? 'python' : 'python3'
    // A wheel is an archive; other formats would run code of the package.
    const flags = [
      ...['--no-deps', '--only-binary', ':all:', '--quiet', '--retries', '1', '--dest', '.'],
    ]
    run(python, ['-m', 'pip', 'download', ...flags, `${name}==${version}`], dir)
    const wheel = readdirSync(dir).find((file) => file.endsWith('.whl'))
    if (wheel === undefined) throw new Unavailable(`pip downloaded nothing for ${name}`)
    run(python, ['-m', 'zipfile', '-e', wheel, 'files'], dir)
    return join(dir, 'files')
  },
  crates({ name, version }, dir) {
    const manifest = [
      '[package]\nname = "fetch"\nversion = "0.0.0"\nedition = "2021"\n[lib]\npath = "lib.rs"',
      `[dependencies]\n"${name}" = { version = "=${version}", default-features = false }\n[workspace]\n`,
    ]
    writeFileSync(join(dir, 'Cargo.toml'), manifest.join('\n'))
    writeFileSync(join(dir, 'lib.rs'), '')
    const flags = ['--format-version', '1', '--quiet', '--config', 'net.retry=1']
    const told = run('cargo', ['metadata', ...flags], dir)
    /** @type {{ name: string, version: string, manifest_path: string }[]} */
    const packages = JSON.parse(told).packages
    // The part of a version after a `+` is ignored.
    const found = packages.find((one) => one.name === name && one.version.split('+')[0] === version)
    if (found === undefined) throw new Unavailable(`cargo fetched nothing for ${name}`)
    const parts = join(dir, 'files')
    run('tar', ['-cf', 'files.tar', '-C', dirname(found.manifest_path), '.'], dir)
    mkdirSync(parts)
    run('tar', ['-xf', 'files.tar', '-C', 'files'], dir)
    return parts
  },
}

/** @param {string} command @param {string[]} args @param {string} cwd */
function run(command, args, cwd) {
  const limits = { maxBuffer: 1 << 28, timeout: TIMEOUT_MS }
  const options = { cwd, encoding: /** @type {const} */ ('utf8'), ...limits }
  const shell = process.platform === 'win32' && command === 'npm'
  const { status, stdout, stderr, error } = spawnSync(command, args, { ...options, shell })
  if (status === 0) return stdout
  const why = error?.message ?? stderr.trim().split('\n').slice(-3).join(' ')
  throw new Unavailable(`${command} ${args.slice(0, 2).join(' ')}: ${why}`)
}
