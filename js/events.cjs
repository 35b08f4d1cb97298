// Events of a session: `on` and `off` of `HashSession`, as of an `EventEmitter` of Node.

'use strict'

const { EventEmitter } = require('node:events')

const addon = require('./addon.cjs')

/**
 * @import { HashSession } from '..'
 *
 * @typedef {{ emitter: EventEmitter, held: unknown }} Listening
 * @typedef {(...args: any[]) => void} Listener
 */

/**
 * The listeners of sessions. The addon does not know them: they may refer to the session, which it
 * would keep from being collected.
 * @type {WeakMap<HashSession, Listening>}
 */
const LISTENING = new WeakMap()

const CHANGE = 'change'

/**
 * @this {HashSession}
 * @param {unknown} event
 * @param {Listener} listener
 */
function on(event, listener) {
  const listening = listeningTo(this, event)
  listening.emitter.on(CHANGE, listener)
  try {
    listening.held ??= addon.events.subscribe(this, delivery(new WeakRef(this)))
  } catch (error) {
    // The session is closed.
    listening.emitter.off(CHANGE, listener)
    throw error
  }
  return this
}

/**
 * @this {HashSession}
 * @param {unknown} event
 * @param {Listener} listener
 */
function off(event, listener) {
  const listening = listeningTo(this, event)
  listening.emitter.off(CHANGE, listener)
  if (listening.held !== undefined && listening.emitter.listenerCount(CHANGE) === 0) {
    addon.events.unsubscribe(listening.held)
    listening.held = undefined
  }
  return this
}

/**
 * @param {HashSession} session
 * @param {unknown} event
 * @returns {Listening}
 */
function listeningTo(session, event) {
  if (event !== CHANGE) throw new TypeError(`there is no event ${String(event)}: use '${CHANGE}'`)
  const known = LISTENING.get(session) ?? { emitter: new EventEmitter(), held: undefined }
  LISTENING.set(session, known)
  return known
}

/**
 * Calls the listeners of a session with a change. What one of them throws is an uncaught exception,
 * as in any event of Node.
 * @param {WeakRef<HashSession>} reference
 * @returns {(change: string) => void}
 */
const delivery = (reference) => (change) => {
  const session = reference.deref()
  if (session === undefined) return
  try {
    for (const listener of LISTENING.get(session)?.emitter.listeners(CHANGE) ?? []) {
      Reflect.apply(listener, session, [JSON.parse(change)])
    }
  } catch (error) {
    queueMicrotask(() => {
      throw error
    })
  }
}

for (const [name, value] of Object.entries({ on, off })) {
  Object.defineProperty(addon.HashSession.prototype, name, {
    value,
    writable: true,
    configurable: true,
  })
}
