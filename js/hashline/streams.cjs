// Formats lines with their anchors in chunks, for inputs that should not be in memory as a whole.

'use strict'

/**
 * @typedef {object} StreamOptions
 * @property {number} [startLine]
 * @property {number} [maxChunkLines]
 * @property {number} [maxChunkBytes]
 */

const DEFAULT_CHUNK_LINES = 200
const DEFAULT_CHUNK_BYTES = 64 * 1024

/** The size of `#XY:` between the number and the text of a line. */
const MARK_BYTES = 4

/** @type {readonly string[]} the result for most lines: no chunk */
const NOTHING = []

/**
 * Collects lines into chunks. Sizes are computed before formatting; each chunk is formatted at
 * once.
 */
class Chunker {
  #format
  #maxLines
  #maxBytes
  #nextLine
  /** @type {string[]} */
  #lines = []
  #bytes = 0

  /**
   * @param {StreamOptions} options
   * @param {(lines: string[], startLine: number) => string} format
   */
  constructor(options, format) {
    this.#format = format
    this.#nextLine = options.startLine ?? 1
    this.#maxLines = options.maxChunkLines ?? DEFAULT_CHUNK_LINES
    this.#maxBytes = options.maxChunkBytes ?? DEFAULT_CHUNK_BYTES
  }

  /**
   * Adds a line; returns the chunks that it completes.
   * @param {string} line
   * @returns {readonly string[]}
   */
  push(line) {
    const number = this.#nextLine + this.#lines.length
    const bytes = String(number).length + MARK_BYTES + Buffer.byteLength(line)
    const isNew = this.#lines.length === 0
    const mustGo = this.#isFull || this.#bytes + 1 + bytes > this.#maxBytes
    const before = !isNew && mustGo ? this.flush() : NOTHING
    this.#bytes += bytes + (this.#lines.length > 0 ? 1 : 0)
    this.#lines.push(line)
    const after = this.#isFull ? this.flush() : NOTHING
    if (after.length === 0) return before
    return before.length === 0 ? after : [...before, ...after]
  }

  /**
   * Returns the remaining lines.
   * @returns {readonly string[]}
   */
  flush() {
    if (this.#lines.length === 0) return NOTHING
    const chunk = this.#format(this.#lines, this.#nextLine)
    this.#nextLine += this.#lines.length
    this.#lines = []
    this.#bytes = 0
    return [chunk]
  }

  get #isFull() {
    return this.#lines.length >= this.#maxLines || this.#bytes >= this.#maxBytes
  }
}

/**
 * @param {(lines: string[], startLine: number) => string} formatEach
 * @param {(content: string, startLine: number) => string} formatHashLines
 */
function streaming(formatEach, formatHashLines) {
  // Chunks are yielded one by one: `yield*` would pass an error that a consumer throws into the
  // stream to an array iterator, which has no `throw` and raises an error of its own.
  const format = (/** @type {string[]} */ lines, /** @type {number} */ startLine) =>
    // A line from the caller may have a newline, and still counts as one line.
    lines.some((line) => line.includes('\n'))
      ? formatEach(lines, startLine)
      : formatHashLines(lines.join('\n'), startLine)

  /**
   * @param {ReadableStream<Uint8Array> | AsyncIterable<Uint8Array>} source
   * @param {StreamOptions} [options]
   * @returns {AsyncGenerator<string>}
   */
  async function* streamHashLinesFromUtf8(source, options = {}) {
    const chunker = new Chunker(options, format)
    // The byte order mark is removed here: Deno's decoder removes one at the start of every chunk.
    const decoder = new TextDecoder('utf-8', { ignoreBOM: true })
    let isStart = true
    let pending = ''
    for await (const bytes of isReadableStream(source) ? chunksOf(source) : source) {
      const decoded = decoder.decode(bytes, { stream: true })
      const lines = (isStart ? decoded.replace(/^\ufeff/, '') : decoded).split('\n')
      if (decoded !== '') isStart = false
      lines[0] = pending + lines[0]
      pending = lines.pop() ?? ''
      for (const line of lines) {
        for (const chunk of chunker.push(line)) yield chunk
      }
    }
    for (const chunk of chunker.push(pending + decoder.decode())) yield chunk
    for (const chunk of chunker.flush()) yield chunk
  }

  /**
   * @param {Iterable<string> | AsyncIterable<string>} lines
   * @param {StreamOptions} [options]
   * @returns {AsyncGenerator<string>}
   */
  async function* streamHashLinesFromLines(lines, options = {}) {
    const chunker = new Chunker(options, format)
    let isEmpty = true
    for await (const line of lines) {
      isEmpty = false
      for (const chunk of chunker.push(line)) yield chunk
    }
    if (isEmpty) for (const chunk of chunker.push('')) yield chunk
    for (const chunk of chunker.flush()) yield chunk
  }

  return { streamHashLinesFromLines, streamHashLinesFromUtf8 }
}

/**
 * @param {object} source
 * @returns {source is ReadableStream<Uint8Array>}
 */
function isReadableStream(source) {
  return 'getReader' in source && typeof source.getReader === 'function'
}

/**
 * The chunks of a stream. A consumer that stops early finds the stream unlocked, with the remaining
 * chunks.
 * @param {ReadableStream<Uint8Array>} stream
 */
async function* chunksOf(stream) {
  const reader = stream.getReader()
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      if (read.value) yield read.value
    }
  } finally {
    reader.releaseLock()
  }
}

module.exports = { streaming }
