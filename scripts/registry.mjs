// An npm registry on loopback that has only the packages that a test publishes.

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, openSync, rmSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { npmPackage, run } from './tools.mjs'

const VERDACCIO = '6.2.0'
/** Verdaccio depends on this package by a moving tag, which some mirrors of the registry lack. */
const OVERRIDES = { 'node-fetch': '2.7.0' }
const PATIENCE_MS = 120_000

/**
 * Starts an empty registry.
 * @param {string} dir its storage; emptied first
 */
export async function startRegistry(dir) {
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  const port = await freePort()
  const url = `http://127.0.0.1:${port}`
  const config = {
    storage: join(dir, 'storage'),
    auth: { htpasswd: { file: join(dir, 'htpasswd'), algorithm: 'bcrypt', rounds: 4 } },
    uplinks: {},
    packages: { '**': { access: '$all', publish: '$authenticated' } },
    web: { enable: false },
    log: { type: 'stdout', format: 'pretty', level: 'warn' },
  }
  // JSON is also YAML.
  writeFileSync(join(dir, 'config.yaml'), JSON.stringify(config))
  const program = join(npmPackage('verdaccio', VERDACCIO, OVERRIDES), 'bin', 'verdaccio')
  const args = [
    program,
    '--config',
    join(dir, 'config.yaml'),
    '--listen',
    url.slice('http://'.length),
  ]
  const log = openSync(join(dir, 'log'), 'w')
  const server = spawn(process.execPath, args, { stdio: ['ignore', log, log] })
  await answers(url, server)
  const npmrc = join(dir, 'npmrc')
  const token = await newUser(url)
  writeFileSync(npmrc, `registry=${url}/\n${url.slice('http:'.length)}/:_authToken=${token}\n`)
  return {
    url,
    /** @param {string} tarball */
    publish(tarball) {
      run('npm', ['publish', tarball, '--userconfig', npmrc, '--ignore-scripts'])
    },
    async stop() {
      const ended = once(server, 'exit')
      if (server.kill()) await ended
    },
  }
}

/** @returns {Promise<number>} */
function freePort() {
  return new Promise((resolve, reject) => {
    const probe = createServer().on('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const { port } = /** @type {import('node:net').AddressInfo} */ (probe.address())
      probe.close(() => resolve(port))
    })
  })
}

/**
 * Waits until the server answers.
 * @param {string} url
 * @param {import('node:child_process').ChildProcess} server
 */
async function answers(url, server) {
  for (const end = Date.now() + PATIENCE_MS; Date.now() < end; ) {
    if (server.exitCode !== null) throw new Error('verdaccio ended. See its log.')
    const answer = await fetch(`${url}/-/ping`).catch(() => undefined)
    if (answer?.ok) return
    await new Promise((resolve) => setTimeout(resolve, 200))
  }
  server.kill()
  throw new Error(`verdaccio does not answer at ${url}`)
}

/** @param {string} url */
async function newUser(url) {
  const body = JSON.stringify({ name: 'publisher', password: 'of-this-test', type: 'user' })
  const answer = await fetch(`${url}/-/user/org.couchdb.user:publisher`, {
    method: 'PUT',
    headers: { 'content-type': 'application/json' },
    body,
  })
  const { token } = /** @type {any} */ (await answer.json())
  if (!token) throw new Error(`verdaccio created no user: ${answer.status}`)
  return token
}
