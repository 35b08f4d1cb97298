// The error that the functions of this package throw. The addon evaluates this file, too
// (`src/error.rs`).

'use strict'

class HashlineError extends Error {
  /**
   * @param {string} message
   * @param {string} code
   * @param {string} [path] the file it is about
   * @param {unknown} [cause]
   */
  constructor(message, code, path, cause) {
    super(message, cause === undefined ? undefined : { cause })
    this.code = code
    if (path !== undefined) this.path = path
    // The name that callers of an `AbortController` check.
    if (code === 'ABORTED') hide(this, 'AbortError')
  }
}

/** @param {Error} error @param {string} name */
function hide(error, name) {
  Object.defineProperty(error, 'name', { value: name, writable: true, configurable: true })
}

hide(HashlineError.prototype, 'HashlineError')

module.exports = { HashlineError }
