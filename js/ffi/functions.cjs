// The functions of the addon over the C interface: values → JSON, a call, JSON → values. The caller
// supplies the foreign function calls.

'use strict'

const { HashlineError } = require('../error.cjs')

/** @import * as Addon from '../../index.js' */

/**
 * An input of a call: bytes, or undefined if it is omitted.
 * @typedef {Uint8Array | undefined} Input
 *
 * A refusal, as the C interface returns it.
 * @typedef {{ code: string, message: string, path?: string }} Refusal
 *
 * Calls the functions of the C interface.
 * @typedef {object} Library
 * @property {(name: string, inputs: Input[], session?: number) => string} call the answer; throws
 *   the error that `refuse` creates from a refusal
 * @property {(name: string, inputs: Input[], session?: number) => number} open the number of a
 *   new session
 * @property {(session: number) => void} close
 */

const encoder = new TextEncoder()

/** @param {Refusal} refusal */
const refuse = ({ code, message, path }) => new HashlineError(message, code, path)

/**
 * @param {string} name
 * @param {unknown} value
 */
function bytesOf(name, value) {
  if (value instanceof Uint8Array) return value
  return encoder.encode(wellFormed(name, value))
}

/**
 * A string that is valid Unicode: encoding a lone surrogate would silently change the text.
 * @param {string} name
 * @param {unknown} text
 */
function wellFormed(name, text) {
  if (typeof text !== 'string') {
    const message = `${name} is not a string`
    throw refuse({ code: 'INVALID_ARGUMENT', message })
  }
  if (!LONE_SURROGATE.test(text)) return text
  const message = `${name} holds a lone surrogate: expected a string that is valid Unicode`
  throw refuse({ code: 'UNENCODABLE_TEXT', message })
}

const LONE_SURROGATE = /\p{Surrogate}/u

/** How `JSON.stringify` writes a lone surrogate; backslashes before it come in pairs. */
const ESCAPED_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f][0-9a-f]{2}/

/**
 * @param {string} name
 * @param {unknown} value
 */
function json(name, value) {
  const text = spelled(name, value)
  if (ESCAPED_SURROGATE.test(text)) {
    const message = `${name} holds a lone surrogate: expected strings that are valid Unicode`
    throw refuse({ code: 'UNENCODABLE_TEXT', message })
  }
  return encoder.encode(text)
}

/**
 * A value as JSON. JSON cannot hold a bigint or a cycle.
 * @param {string} name
 * @param {unknown} value
 */
function spelled(name, value) {
  try {
    return JSON.stringify(value) ?? 'null'
  } catch (error) {
    const why = error instanceof Error ? error.message.split('\n')[0] : String(error)
    const message = `${name} cannot be written as JSON: ${why}: expected plain data`
    throw refuse({ code: 'INVALID_ARGUMENT', message })
  }
}

/** @param {unknown} value */
const optionsOf = (value) => (value === undefined ? undefined : json('options', value))

/**
 * Converts offsets in bytes to offsets in UTF-16 code units.
 * @param {string} text
 */
function units(text) {
  const bytes = encoder.encode(text)
  if (bytes.length === text.length) return (/** @type {number} */ place) => place
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
  return (/** @type {number} */ place) => decoder.decode(bytes.subarray(0, place)).length
}

/** @param {string} text */
const bytesOfBase64 = (text) => Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0))

/**
 * @param {Library} library
 */
function functionsOver({ call, open, close }) {
  /**
   * @param {string} name
   * @param {Input[]} inputs
   * @param {number} [session]
   */
  const answer = (name, inputs, session) => JSON.parse(call(name, inputs, session))
  const abandoned = new FinalizationRegistry(close)

  class HashSession {
    /** @type {number | undefined} */
    #number
    /** @type {Addon.Dialect} */
    #dialect
    /** @type {boolean} */
    #disk

    /**
     * @param {Addon.HashSessionOptions} [options]
     * @param {HashSession} [model] the session whose memory is copied
     */
    constructor(options, model) {
      const number = model
        ? open('hashline_session_fork', [], model.#open)
        : open('hashline_session_open', [optionsOf(options)])
      this.#number = number
      this.#dialect = model ? model.#dialect : (options?.dialect ?? 'lean')
      this.#disk = model ? model.#disk : (options?.disk ?? true)
      abandoned.register(this, number, this)
    }

    get #open() {
      if (this.#number !== undefined) return this.#number
      throw refuse({ code: 'INVALID_ARGUMENT', message: 'the session is closed' })
    }

    /** @param {string | Addon.ReadRequest | readonly (string | Addon.ReadRequest)[]} requests */
    readSync(requests) {
      const report = answer('hashline_session_read', [json('requests', requests)], this.#open)
      for (const image of report.images) image.data = bytesOfBase64(image.data)
      return report
    }

    /** @param {string | Addon.JsonRequest} request */
    readJsonSync(request) {
      return answer('hashline_session_read_json', [json('request', request)], this.#open)
    }

    /** @param {Addon.SearchQuery} query */
    searchSync(query) {
      return answer('hashline_session_search', [json('query', query)], this.#open)
    }

    /**
     * @param {string | Uint8Array} output
     * @param {Omit<Addon.AnnotateOptions, 'signal'>} [options]
     */
    annotateSync(output, options) {
      const inputs = [bytesOf('output', output), optionsOf(options)]
      return answer('hashline_session_annotate', inputs, this.#open)
    }

    /**
     * @param {Addon.Patch | Addon.JsonPatch} patch
     * @param {Omit<Addon.SessionApplyOptions, 'signal'>} [options]
     */
    applySync(patch, options) {
      const inputs = [json('patch', patch), optionsOf(options)]
      const outcome = answer('hashline_session_apply', inputs, this.#open)
      for (const file of outcome.files ?? []) {
        if (file.contentBase64 === undefined) continue
        file.content = bytesOfBase64(file.contentBase64)
        delete file.contentBase64
      }
      return outcome
    }

    /**
     * @param {Addon.JsonPatch} patch
     * @param {Omit<Addon.SessionApplyOptions, 'signal'>} [options]
     */
    applyJsonSync(patch, options) {
      return this.applySync(patch, options)
    }

    /**
     * @param {string} text
     * @param {string} [path]
     */
    observe(text, path) {
      const inputs = [bytesOf('text', text), path === undefined ? path : bytesOf('path', path)]
      return answer('hashline_session_observe', inputs, this.#open)
    }

    /** @param {string} [path] */
    forget(path) {
      const input = path === undefined ? path : bytesOf('path', path)
      answer('hashline_session_forget', [input], this.#open)
    }

    /**
     * @param {string} path
     * @param {string | Uint8Array} text
     * @param {Addon.DocumentOptions} [options]
     */
    setDocument(path, text, options) {
      const bytes = typeof text !== 'string'
      const given = { ...options, ...(bytes && { bytes }) }
      const inputs = [bytesOf('path', path), bytesOf('text', text), optionsOf(given)]
      answer('hashline_session_set_document', inputs, this.#open)
    }

    /** @param {string} path */
    closeDocument(path) {
      return answer('hashline_session_close_document', [bytesOf('path', path)], this.#open)
    }

    documents() {
      return answer('hashline_session_documents', [], this.#open)
    }

    fork() {
      return new HashSession(undefined, this)
    }

    changedFiles() {
      return answer('hashline_session_changed_files', [], this.#open)
    }

    get notes() {
      return answer('hashline_session_notes', [], this.#open)
    }

    get dialect() {
      this.#open
      return this.#dialect
    }

    get disk() {
      this.#open
      return this.#disk
    }

    get memoryBytes() {
      return answer('hashline_session_memory_bytes', [], this.#open)
    }

    close() {
      if (this.#number === undefined) return
      abandoned.unregister(this)
      close(this.#number)
      this.#number = undefined
    }
  }

  /**
   * @param {Addon.Patch | Addon.JsonPatch} patch
   * @param {Omit<Addon.ApplyOptions, 'signal'>} [options]
   */
  const apply = (patch, options) =>
    answer('hashline_apply', [json('patch', patch), optionsOf(options)])

  return {
    HashlineError,
    HashSession,

    /**
     * @param {string | Addon.ReadRequest | readonly (string | Addon.ReadRequest)[]} requests
     * @param {Omit<Addon.ReadOptions, 'signal'>} [options]
     */
    readHashedSync: (requests, options) =>
      answer('hashline_read', [json('requests', requests), optionsOf(options)]),

    /**
     * @param {string | Addon.ReadRequest} request
     * @param {Omit<Addon.ReadOptions, 'signal'>} [options]
     */
    readText: (request, options) =>
      call('hashline_read_text', [json('request', request), optionsOf(options)]),

    /**
     * @param {string | Addon.JsonRequest} request
     * @param {Omit<Addon.ReadOptions, 'signal'>} [options]
     */
    readJsonSync: (request, options) =>
      answer('hashline_read_json', [json('request', request), optionsOf(options)]),

    /**
     * @param {Addon.SearchQuery} query
     * @param {Omit<Addon.SearchOptions, 'signal'>} [options]
     */
    searchHashedSync: (query, options) =>
      answer('hashline_search', [json('query', query), optionsOf(options)]),

    /** @type {typeof Addon.applyHashSync} */
    applyHashSync: apply,

    /** @type {typeof Addon.applyJsonSync} */
    applyJsonSync: apply,

    /**
     * @param {string} text
     * @param {Addon.TextPatch} operations
     * @param {Addon.EditOptions} [options]
     */
    applyHashToText: (text, operations, options) =>
      answer('hashline_apply_text', [
        bytesOf('text', text),
        json('operations', operations),
        optionsOf(options),
      ]),

    /**
     * @param {string | Uint8Array} text
     * @param {Addon.FormatOptions} [options]
     */
    formatHashed: (text, options) =>
      call('hashline_format', [bytesOf('text', text), optionsOf(options)]),

    /**
     * @param {string | Uint8Array} text
     * @param {Addon.FormatOptions} [options]
     */
    hashLines: (text, options) =>
      answer('hashline_hash_lines', [bytesOf('text', text), optionsOf(options)]),

    /**
     * @param {string} command
     * @param {Addon.CommandPolicy} [policy]
     */
    checkCommand: (command, policy) => {
      const given = policy === undefined ? undefined : json('policy', policy)
      const judgement = answer('hashline_check_command', [bytesOf('command', command), given])
      const place = units(command)
      for (const { span } of judgement.findings) {
        span.start = place(span.start)
        span.end = place(span.end)
      }
      return judgement
    },

    /** @param {Omit<Addon.RecoverOptions, 'signal'>} [options] */
    recoverTransactionsSync: (options) => answer('hashline_recover', [optionsOf(options)]),
  }
}

module.exports = { functionsOver, refuse }
