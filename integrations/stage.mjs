// Shared by the tests of the plug-ins for pi and oh-my-pi: files, the configuration of a scripted
// model, its steps, and a terminal screen.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createInterface } from 'node:readline'
import { deflateSync } from 'node:zlib'
import { call } from '../scripts/modelServer.mjs'
import { draw, isDrawing } from '../scripts/terminalPicture.mjs'

export const SOURCE = "function greet(name) {\n  return 'Hello, ' + name\n}\n"
export const PNG = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC',
  'base64',
)

/**
 * A PNG file of one colour.
 * @param {number} width
 * @param {number} height
 */
export function blackPng(width, height) {
  const part = (/** @type {string} */ name, /** @type {Buffer} */ data) => {
    const body = Buffer.concat([Buffer.from(name), data])
    const [length, sum] = [data.length, crc32(body)].map((number) => {
      const bytes = Buffer.alloc(4)
      bytes.writeUInt32BE(number)
      return bytes
    })
    return Buffer.concat([length, body, sum])
  }
  const head = Buffer.alloc(13)
  head.writeUInt32BE(width)
  head.writeUInt32BE(height, 4)
  // Eight bits of grey for each pixel.
  head[8] = 8
  return Buffer.concat([
    PNG.subarray(0, 8),
    part('IHDR', head),
    part('IDAT', deflateSync(Buffer.alloc((width + 1) * height))),
    part('IEND', Buffer.alloc(0)),
  ])
}

/** The CRC of a PNG chunk. @param {Buffer} bytes */
function crc32(bytes) {
  let crc = 0xffffffff
  for (const byte of bytes) {
    crc ^= byte
    for (let bit = 0; bit < 8; bit++) crc = crc & 1 ? (crc >>> 1) ^ 0xedb88320 : crc >>> 1
  }
  return ~crc >>> 0
}

/** The anchor of the line that contains `text`. @param {string} shown @param {string} text */
export function anchorOf(shown, text) {
  const row = shown.split('\n').find((one) => one.includes(text))
  assert.ok(row, `${text} in ${shown}`)
  return row.split('|')[0].trim()
}

/** @param {string} anchor @param {string} text */
export const setLine = (anchor, text) =>
  call('apply_hash', { operations: [{ op: 'set_line', path: 'greet.js', anchor, text }] })

/**
 * The file `models.json` of pi and of oh-my-pi, which maps the model `model` of the provider
 * `scripted` to a server.
 * @param {string} url
 */
export const modelsFile = (url) => {
  const model = {
    id: 'model',
    name: 'model',
    reasoning: false,
    input: ['text', 'image'],
    cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    contextWindow: 200_000,
    maxTokens: 8192,
  }
  const api = 'openai-completions'
  const scripted = { baseUrl: `${url}/v1`, api, apiKey: 'none', models: [model] }
  return JSON.stringify({ providers: { scripted } })
}

/** The arguments that select that model in both agents. */
export const MODEL_FLAGS = ['--provider', 'scripted', '--model', 'model']

/**
 * Talks to an agent with one JSON document per line. Each request returns the first event of a
 * type; its response must be a success.
 * @param {import('node:child_process').ChildProcessWithoutNullStreams} child
 */
export function speaking(child) {
  const events = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  return async (/** @type {object} */ request, /** @type {string} */ type) => {
    child.stdin.write(`${JSON.stringify(request)}\n`)
    for (;;) {
      const { value, done } = await events.next()
      assert.ok(!done, `the agent ended before ${type}`)
      const event = JSON.parse(value)
      if (event.type === 'response') assert.equal(event.success, true, value)
      if (event.type === type) return event
    }
  }
}

const hasTmux = spawnSync('tmux', ['-V']).status === 0
const { CI, HASHLINE_WITHOUT_TMUX } = process.env
// With `CI` set, these tests must run, unless it declares that it has no tmux.
const mayLackTmux = !CI || HASHLINE_WITHOUT_TMUX === '1'

/** Why a test that reads a screen is skipped, if it is. */
export const skipWithoutScreen = !hasTmux && mayLackTmux && 'needs tmux'

const POLLS = 600
const POLL_MS = 100

/**
 * @typedef {object} Screen
 * @property {(awaited: RegExp) => Promise<string>} with returns the screen once it matches
 * @property {(keys: string) => void} press
 * @property {(name: string, label: string) => void} draw draws the screen, if pictures are wanted
 */

/**
 * Runs a program in a terminal of its own while `body` reads its screen.
 * @param {string[]} command
 * @param {{ cwd: string, env: Record<string, string | undefined> }} options
 * @param {(screen: Screen) => Promise<void>} body
 */
export async function withScreen(command, { cwd, env }, body) {
  assert.ok(hasTmux, 'this test needs tmux')
  const socket = `hashline-${process.pid}`
  const tmux = (/** @type {string[]} */ ...args) =>
    spawnSync('tmux', ['-L', socket, ...args], { cwd, env: { ...env }, encoding: 'utf8' }).stdout
  const showing = async (/** @type {RegExp} */ awaited) => {
    let screen = ''
    for (let poll = 0; poll < POLLS; poll++) {
      screen = tmux('capture-pane', '-p')
      if (awaited.test(screen)) return screen
      await new Promise((resolve) => setTimeout(resolve, POLL_MS))
    }
    throw new assert.AssertionError({ message: `no ${awaited} on the screen:\n${screen}` })
  }
  try {
    tmux('new-session', '-d', '-x', '100', '-y', '50', ...command)
    await body({
      with: showing,
      press: (keys) => tmux('send-keys', keys),
      draw: (name, label) => {
        if (isDrawing) draw(name, tmux('capture-pane', '-ep'), label)
      },
    })
  } finally {
    const leader = Number(tmux('display-message', '-p', '#{pane_pid}'))
    tmux('kill-server')
    if (leader > 0) await killGroup(leader)
  }
}

/**
 * Kills the processes of a terminal, and waits until none can write a file any more: an agent goes
 * on for a while after its terminal is closed.
 * @param {number} leader
 */
async function killGroup(leader) {
  for (let poll = 0; poll < POLLS; poll++) {
    try {
      process.kill(-leader, 'SIGKILL')
    } catch {
      return
    }
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
}
