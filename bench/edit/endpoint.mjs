// Sends requests to the endpoint that the user names. Temporary failures are retried.

import { setTimeout as sleep } from 'node:timers/promises'
import { readJson } from './json.mjs'
import { post } from './post.mjs'

/** @import { Engine } from './engine.mjs' */
/** @import { Response } from './post.mjs' */
/** @import { Tool } from './schemes.mjs' */
/** @import { Answer, Reported, Wire } from './wire.mjs' */

const MAX_TRIES = 8
const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 60_000
const SHOWN_CHARS = 400
/** An answer must leave room for this many levels of nesting around it. */
const WRAPS = Array(100).fill(0)
/** A shorter key may be an ordinary word. */
const FEWEST_KEY_CHARS = 8
/**
 * The statuses for temporary failures: a timeout, a conflict, too many requests. All from 500 on
 * are temporary, too.
 */
const LATER = [408, 409, 425, 429]

/** Used to estimate tokens that an endpoint does not report. */
const BYTES_OF_A_TOKEN = 4

/**
 * @typedef {Reported & { estimated: number }} Usage `estimated`: how many of all tokens are estimates
 */
/** @typedef {{ usage: Usage, lostMs: number }} Spent by all tries: tokens, and wasted time */

/** An endpoint that cannot be used, or that refuses a request. */
export class EndpointError extends Error {
  /** @param {string} message @param {Spent} spent */
  constructor(message, spent) {
    super(message)
    this.name = 'EndpointError'
    this.spent = spent
  }
}

export const noUsage = () => ({ input: 0, output: 0, cacheRead: 0, cacheWrite: 0, estimated: 0 })

/** @param {Usage} sum @param {Usage} more */
export function addUsage(sum, more) {
  for (const name of /** @type {(keyof Usage)[]} */ (Object.keys(sum))) sum[name] += more[name]
}

/**
 * @typedef {object} Options
 * @property {Wire} wire
 * @property {string} baseUrl
 * @property {string} key may be empty
 * @property {string} model
 * @property {number} limit tokens of an answer
 * @property {Record<string, unknown>} extra fields of every request
 * @property {number} timeoutMs
 * @property {Engine} engine
 * @property {AbortSignal} [signal] ends waits and requests
 * @property {(ms: number) => Promise<void>} [wait]
 * @property {(message: string) => void} [onProblem] hears of what is tried again
 *
 * @typedef {{ raw: any, answer: Answer } & Spent} Asked
 * @typedef {{ system: string, messages: unknown[], tools: Tool[] }} Request
 * @typedef {(request: Request, tries?: number) => Promise<Asked>} Ask
 */

/** @param {Options} options @returns {Ask} */
export function endpoint(options) {
  const { wire, baseUrl, model, limit, extra, engine } = options
  const url = new URL(baseUrl)
  url.pathname = wire.path(url.pathname.replace(/\/+$/, ''))
  return async ({ system, messages, tools }, maxTries = MAX_TRIES) => {
    const request = wire.body({ model, system, messages, tools, limit }, engine)
    const body = JSON.stringify({ ...request, ...extra })
    const spent = { usage: noUsage(), lostMs: 0 }
    for (let tries = 1; ; tries++) {
      const begin = performance.now()
      const sent = await send(url, body, options)
      if (sent.usage) addUsage(spent.usage, sent.usage)
      if (sent.answer) return { raw: sent.raw, answer: sent.answer, ...spent }
      const failed = performance.now()
      spent.lostMs += failed - begin
      if (!sent.isLater) throw new EndpointError(sent.message, spent)
      if (tries >= maxTries) throw new EndpointError(`${sent.message} (${tries} times)`, spent)
      options.onProblem?.(sent.message)
      await (options.wait ?? waiting(options.signal))(sent.waitMs ?? backOff(tries))
      spent.lostMs += performance.now() - failed
    }
  }
}

/** @param {number} tries */
function backOff(tries) {
  const most = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1))
  // Requests that were refused together should not be repeated together.
  return most / 2 + (Math.random() * most) / 2
}

/** @param {AbortSignal} [signal] @returns {(ms: number) => Promise<void>} */
const waiting = (signal) => (ms) =>
  sleep(ms, undefined, { signal }).catch((error) => {
    throw signal?.aborted ? signal.reason : error
  })

/**
 * @typedef {{ answer: Answer, raw: any, usage: Usage }} Answered
 * @typedef {{ answer?: undefined, isLater: boolean, message: string, usage?: Usage, waitMs?: number }} Failed
 */

/**
 * A single try.
 * @param {URL} url
 * @param {string} body
 * @param {Options} options
 * @returns {Promise<Answered | Failed>}
 */
async function send(url, body, { wire, key, timeoutMs, signal }) {
  const controller = new AbortController()
  const stop = () => controller.abort()
  let isLate = false
  const late = () => {
    isLate = true
    controller.abort()
  }
  if (signal?.aborted) throw signal.reason
  const timer = setTimeout(late, timeoutMs)
  signal?.addEventListener('abort', stop)
  try {
    const headers = { 'content-type': 'application/json', ...(key !== '' && wire.headers(key)) }
    const response = await post(url, { headers, body, signal: controller.signal })
    return taken(response, { wire, key, url, body })
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    const { message } = /** @type {Error} */ (error)
    const why = isLate ? `no answer in ${timeoutMs / 1000} s` : message
    return { isLater: true, message: `${shown(url)}: ${why}` }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/**
 * @param {Response} response
 * @param {{ wire: Wire, key: string, url: URL, body: string }} about
 * @returns {Answered | Failed}
 */
function taken({ status, headers, text }, { wire, key, url, body }) {
  const raw = bodyOf(text, key)
  const isFine = status >= 200 && status < 300
  const usage = isFine ? usageOf(wire.usage(raw), body, text) : undefined
  const answer = isFine ? wire.answer(raw) : undefined
  if (usage && answer) return { answer, raw, usage }
  const said = (key === '' ? text : text.replaceAll(key, '…')).trim().slice(0, SHOWN_CHARS)
  const message = `${shown(url)} answered ${status}: ${said || 'nothing'}`
  const isLater = isFine || status >= 500 || LATER.includes(status)
  return { isLater, message, usage, waitMs: waitOf(headers) }
}

/**
 * Parses an answer, without the key, which some endpoints return. Undefined for invalid JSON, and
 * for JSON that is nested too deeply to be serialized again.
 * @param {string} text
 * @param {string} key
 */
function bodyOf(text, key) {
  const { value } = readJson(key.length < FEWEST_KEY_CHARS ? text : text.replaceAll(key, '…'))
  try {
    JSON.stringify(WRAPS.reduce((wrapped) => [wrapped], value))
    return value
  } catch {
    return undefined
  }
}

/**
 * The usage of a request. It cannot be zero tokens, because an answer has at least an end.
 * @param {Reported} reported
 * @param {string} body
 * @param {string} text
 * @returns {Usage}
 */
function usageOf(reported, body, text) {
  const guess = (/** @type {string} */ of) => Math.ceil(Buffer.byteLength(of) / BYTES_OF_A_TOKEN)
  const input = reported.input === 0 ? guess(body) : 0
  const output = reported.output === 0 ? guess(text) : 0
  return {
    ...reported,
    input: reported.input + input,
    output: reported.output + output,
    estimated: input + output,
  }
}

/** An address for a message: its query may contain a key. @param {URL} url */
const shown = ({ origin, pathname }) => origin + pathname

/** How long an endpoint asks to wait. @param {Response['headers']} headers */
function waitOf(headers) {
  const [ms, seconds] = ['retry-after-ms', 'retry-after'].map((name) => Number(headers[name]))
  const date = Date.parse(headers['retry-after'] ?? '') - Date.now()
  const asked = ms > 0 ? ms : seconds > 0 ? seconds * 1000 : date
  return asked > 0 ? Math.min(MAX_WAIT_MS, asked) : undefined
}
