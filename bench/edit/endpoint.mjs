// Requests to the one endpoint that the user names. What fails for a while is tried again.

/** @import { Engine } from './engine.mjs' */
/** @import { Tool } from './schemes.mjs' */
/** @import { Answer, Wire } from './wire.mjs' */

const MAX_TRIES = 8
const FIRST_WAIT_MS = 1_000
const MAX_WAIT_MS = 60_000
const SHOWN_CHARS = 400
/** Those that say "later": a timeout, a conflict, too many requests. All from 500 say so, too. */
const LATER = [408, 409, 425, 429]

/** An endpoint that cannot be used, or that refuses a request. */
export class EndpointError extends Error {
  /** @param {string} message @param {number} [status] of the answer, if there was one */
  constructor(message, status) {
    super(message)
    this.name = 'EndpointError'
    this.status = status
  }
}

/**
 * @typedef {object} Options
 * @property {Wire} wire
 * @property {string} baseUrl
 * @property {string} key empty for none
 * @property {string} model
 * @property {number} limit tokens of an answer
 * @property {Record<string, unknown>} extra fields of every request
 * @property {number} timeoutMs
 * @property {Engine} engine
 * @property {AbortSignal} [signal] ends waits and requests
 * @property {(ms: number) => Promise<void>} [wait]
 * @property {(message: string) => void} [onTrouble] hears of what is tried again
 *
 * @typedef {{ raw: any, answer: Answer }} Asked
 * @typedef {(request: { system: string, messages: unknown[], tools: Tool[] }) => Promise<Asked>} Ask
 */

/** @param {Options} options @returns {Ask} */
export function endpoint(options) {
  const { wire, baseUrl, model, limit, extra, engine } = options
  const url = wire.url(baseUrl.replace(/\/+$/, ''))
  return async ({ system, messages, tools }) => {
    const request = wire.body({ model, system, messages, tools, limit }, engine)
    const body = JSON.stringify({ ...request, ...extra })
    for (let tries = 1; ; tries++) {
      const sent = await send(url, body, options)
      if (sent.answered) return { raw: sent.raw, answer: sent.answer }
      if (!sent.isLater) throw new EndpointError(sent.message, sent.status)
      if (tries === MAX_TRIES) throw new EndpointError(`${sent.message} (${tries} times)`)
      options.onTrouble?.(sent.message)
      await (options.wait ?? waiting(options.signal))(sent.waitMs ?? backOff(tries))
    }
  }
}

/** @param {number} tries */
function backOff(tries) {
  const most = Math.min(MAX_WAIT_MS, FIRST_WAIT_MS * 2 ** (tries - 1))
  // Not all that were refused together come back together.
  return most / 2 + (Math.random() * most) / 2
}

/** @param {AbortSignal} [signal] @returns {(ms: number) => Promise<void>} */
const waiting = (signal) => (ms) =>
  new Promise((resolve, reject) => {
    const stop = () => reject(signal?.reason)
    if (signal?.aborted) return stop()
    signal?.addEventListener('abort', stop, { once: true })
    setTimeout(() => {
      signal?.removeEventListener('abort', stop)
      resolve()
    }, ms)
  })

/**
 * @typedef {{ answered: true, raw: any, answer: Answer }} Answered
 * @typedef {{ answered: false, isLater: boolean, message: string, status?: number, waitMs?: number }} Failed
 */

/**
 * One try. Redirections are not followed: the key goes nowhere else.
 * @param {string} url
 * @param {string} body
 * @param {Options} options
 * @returns {Promise<Answered | Failed>}
 */
async function send(url, body, { wire, key, timeoutMs, signal }) {
  const controller = new AbortController()
  const stop = () => controller.abort(signal?.reason)
  const late = () => controller.abort(new Error(`no answer in ${timeoutMs / 1000} s`))
  const timer = setTimeout(late, timeoutMs)
  signal?.addEventListener('abort', stop)
  try {
    const headers = { 'content-type': 'application/json', ...(key !== '' && wire.headers(key)) }
    const options = { method: 'POST', headers, body, signal: controller.signal }
    const response = await fetch(url, { ...options, redirect: 'manual' })
    return taken(response, await response.text(), { wire, key, url })
  } catch (error) {
    if (signal?.aborted) throw signal.reason
    const { message, cause } = /** @type {Error} */ (error)
    const why = cause instanceof Error ? `${message}: ${cause.message}` : message
    return { answered: false, isLater: true, message: `${url}: ${why}` }
  } finally {
    clearTimeout(timer)
    signal?.removeEventListener('abort', stop)
  }
}

/**
 * @param {Response} response
 * @param {string} text
 * @param {{ wire: Wire, key: string, url: string }} about
 * @returns {Answered | Failed}
 */
function taken({ ok, status, headers }, text, { wire, key, url }) {
  const raw = parsed(text)
  const answer = ok ? wire.answer(raw) : undefined
  if (answer !== undefined) return { answered: true, raw, answer }
  const said = (key === '' ? text : text.replaceAll(key, '…')).trim().slice(0, SHOWN_CHARS)
  const message = `${url} answered ${status}: ${said || 'nothing'}`
  const isLater = ok || status >= 500 || LATER.includes(status)
  return { answered: false, isLater, message, status, waitMs: waitOf(headers) }
}

/** How long an endpoint asks to wait. @param {Headers} headers */
function waitOf(headers) {
  const [ms, seconds] = ['retry-after-ms', 'retry-after'].map((name) => Number(headers.get(name)))
  const asked = ms > 0 ? ms : seconds * 1000
  return asked > 0 ? Math.min(MAX_WAIT_MS, asked) : undefined
}

/** @param {string} text */
function parsed(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
