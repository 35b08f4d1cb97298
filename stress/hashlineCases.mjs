// Generated input for the modules of dialects `omp` and `omp13`: texts with many unusual
// characters, and edits that are mostly valid. The same seed generates the same cases.

/** @import { HashlineEdit as OmpEdit } from 'hashline-native/omp' */
/** @import { HashlineEdit as Omp13Edit } from 'hashline-native/omp13' */

const WORDS = 'return const foo bar value if else x ( ) { } [ ] ; , . && || ?? ? : = + - * / #'
const PIECES = [
  ...WORDS.split(' '),
  ...[' ', '  ', '\t', '    ', '\r', '\f', '\u000b', '\u0085', '\u00a0', '\u2003', '\u2028'],
  ...['\ufeff', '\u200b', '\u180e', '\0', 'é', 'ß', 'имя', '変数', '٣', 'Ⅷ', '²', '—', '“', '🎉'],
  ...['\ufffd', '\ue000', '\ud83d', '\udc00', '\ud800\ud800', '\\t', '\\t\\tfoo', '\\uDDDD'],
]

/** Pseudo-random numbers. */
export class Random {
  #state

  /** @param {number} seed */
  constructor(seed) {
    this.#state = seed >>> 0
  }

  /** A number from 0 to 1, excluding 1. */
  next() {
    this.#state = (this.#state + 0x9e3779b9) >>> 0
    let mixed = this.#state
    mixed = Math.imul(mixed ^ (mixed >>> 16), 0x21f0aaad)
    mixed = Math.imul(mixed ^ (mixed >>> 15), 0x735a2d97)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }

  /**
   * A whole number from `min` to `max`.
   * @param {number} min
   * @param {number} max
   */
  whole(min, max) {
    return min + Math.floor(this.next() * (max - min + 1))
  }

  /**
   * @template T
   * @param {readonly T[]} items
   * @returns {T}
   */
  pick(items) {
    return items[this.whole(0, items.length - 1)]
  }

  /** @param {number} chance */
  is(chance) {
    return this.next() < chance
  }
}

/** @param {Random} random */
export function randomLine(random) {
  if (random.is(0.1)) return ''
  if (random.is(0.1)) return random.pick(['}', '  }', '    });', '\t', '  ', '\r', '\\t\\tx'])
  const indent = random.pick(['', '', '  ', '    ', '\t'])
  const isPlain = random.is(0.5)
  const pieces = isPlain ? PIECES.slice(0, WORDS.split(' ').length) : PIECES
  const length = random.is(0.05) ? random.whole(50, 300) : random.whole(1, 8)
  const words = Array.from({ length }, () => random.pick(pieces))
  return indent + words.join(random.is(0.5) ? ' ' : '')
}

/**
 * @param {Random} random
 * @param {number} maxLines
 */
export function randomText(random, maxLines) {
  const known = Array.from({ length: 4 }, () => randomLine(random))
  const line = () => (random.is(0.3) ? random.pick(known) : randomLine(random))
  return Array.from({ length: random.whole(1, maxLines) }, line).join('\n')
}

/**
 * New lines: random ones, or the old ones as a model may misremember them.
 * @param {Random} random
 * @param {string[]} lines
 * @param {number} first
 * @param {number} last
 * @returns {string[]}
 */
function newLines(random, lines, first, last) {
  const old = lines.slice(first - 1, last)
  const around = lines.slice(Math.max(0, first - 2), last + 1)
  switch (random.whole(0, 7)) {
    case 0:
      return old
    case 1:
      return around
    case 2:
      return old.map((line) => line.trim())
    case 3:
      return old.flatMap((line) => cutAtSpaces(random, line))
    case 4:
      return [around.map((line) => line.replace(/[&|?]/g, '')).join(' ')]
    case 5:
      return [...old, randomLine(random), ...lines.slice(last, last + 1)]
    case 6:
      return Array.from({ length: random.whole(0, 2) }, () => randomLine(random))
    default:
      return Array.from({ length: random.whole(1, 4) }, () => randomLine(random))
  }
}

/**
 * @param {Random} random
 * @param {string} line
 */
function cutAtSpaces(random, line) {
  const parts = ['']
  for (const word of line.split(' ')) {
    if (random.is(0.4)) parts.push(`  ${word}`)
    else parts[parts.length - 1] += ` ${word}`
  }
  return parts
}

/**
 * @template Edit
 * @param {Random} random
 * @param {string} text
 * @param {(idx: number, line: string) => string} hashOf
 * @param {(at: Place) => Edit} make
 * @returns {Edit[]}
 */
function randomEdits(random, text, hashOf, make) {
  const lines = text.split('\n')
  const stale = random.is(0.15) ? 0.3 : 0
  const tag = (/** @type {number} */ line) => ({
    line,
    hash: random.is(stale) ? 'ZZ' : hashOf(line, lines[line - 1] ?? ''),
  })
  const edits = Array.from({ length: random.is(0.5) ? 1 : random.whole(2, 6) }, () => {
    const isOut = random.is(0.01)
    const first = isOut ? random.pick([0, lines.length + 1]) : random.whole(1, lines.length)
    const reach = random.is(0.03) ? -1 : random.whole(0, 4)
    const last = Math.max(1, Math.min(lines.length, first + reach))
    const content = (/** @type {number} */ end) => newLines(random, lines, first, end)
    return make({ first, last, tag, content, kind: random.whole(0, 6) })
  })
  if (random.is(0.2)) edits.push(structuredClone(random.pick(edits)))
  return edits
}

/**
 * @typedef {object} Place
 * @property {number} kind
 * @property {number} first
 * @property {number} last
 * @property {(line: number) => { line: number, hash: string }} tag
 * @property {(last: number) => string[]} content
 */

/**
 * @param {Random} random
 * @param {string} text
 * @param {(idx: number, line: string) => string} hashOf
 */
export function randomOmpEdits(random, text, hashOf) {
  return randomEdits(random, text, hashOf, ({ kind, first, last, tag, content }) => {
    /** @type {OmpEdit[]} */
    const edits = [
      { op: 'set', tag: tag(first), content: content(first) },
      { op: 'set', tag: tag(first), content: content(first).slice(0, 1) },
      { op: 'replace', first: tag(first), last: tag(last), content: content(last) },
      { op: 'append', after: tag(first), content: content(first) },
      { op: 'prepend', before: tag(first), content: content(first) },
      { op: 'insert', after: tag(first), before: tag(last), content: content(first) },
      { op: random.pick(['append', 'prepend']), content: content(first) },
    ]
    return edits[kind]
  })
}

/**
 * @param {Random} random
 * @param {string} text
 * @param {(idx: number, line: string) => string} hashOf
 */
export function randomOmp13Edits(random, text, hashOf) {
  return randomEdits(random, text, hashOf, ({ kind, first, last, tag, content }) => {
    /** @type {Omp13Edit[]} */
    const edits = [
      { op: 'replace_line', pos: tag(first), lines: content(first) },
      { op: 'replace_line', pos: tag(first), lines: content(first).slice(0, 1) },
      { op: 'replace_range', pos: tag(first), end: tag(last), lines: content(last) },
      { op: 'append_at', pos: tag(first), lines: content(first) },
      { op: 'prepend_at', pos: tag(first), lines: content(first) },
      { op: 'append_file', lines: content(first) },
      { op: 'prepend_file', lines: content(first) },
    ]
    return edits[kind]
  })
}

/**
 * A diff of numbered lines, including invalid rows and numbers that are not consecutive.
 * @param {Random} random
 */
export function randomDiff(random) {
  const rows = []
  let line = random.whole(0, 120)
  for (let run = random.whole(0, 6); run > 0; run--) {
    const kind = random.pick(['+', '-', ' ', ' ', 'meta'])
    for (let row = random.whole(1, 7); row > 0; row--) {
      const text = random.is(0.08) ? '...' : randomLine(random)
      const number = String(random.is(0.03) ? random.whole(0, 1e6) : line++).padStart(4)
      rows.push(
        kind === 'meta' ? random.pick(['', '@@', text, '+x|', '-|']) : `${kind}${number}|${text}`,
      )
    }
  }
  return rows.join('\n')
}

/** @param {Random} random */
export function randomDiffOptions(random) {
  const names = ['maxUnchangedRun', 'maxAdditionRun', 'maxDeletionRun', 'maxOutputLines']
  const given = names.filter(() => random.is(0.4))
  return Object.fromEntries(given.map((name) => [name, random.whole(0, 6)]))
}

/** @param {Random} random */
export function randomTag(random) {
  const parts = [' ', '>', '+', '-', '5', '0', '17', '#', 'ZP', 'QV', 'zp', ':', '|', 'x', '\t']
  return Array.from({ length: random.whole(1, 7) }, () => random.pick(parts)).join('')
}

/**
 * The result or error of a call, for comparison.
 * @param {() => unknown} call
 */
export function outcomeOf(call) {
  try {
    return { returned: call() }
  } catch (thrown) {
    const { name, message, mismatches, fileLines, remaps } = /** @type {any} */ (thrown)
    const remapped = remaps && [...remaps]
    const keys = mismatches && Object.keys(/** @type {object} */ (thrown))
    return { thrown: { name, message, mismatches, fileLines, remaps: remapped, keys } }
  }
}

/**
 * Splits the bytes into pieces at any position.
 * @param {Random} random
 * @param {Uint8Array} bytes
 */
export function* randomCuts(random, bytes) {
  for (let at = 0; at < bytes.length; ) {
    const size = random.whole(random.is(0.05) ? 0 : 1, 12)
    yield bytes.slice(at, at + size)
    at += size
  }
}

/** @param {Random} random */
export function randomStreamOptions(random) {
  return {
    ...(random.is(0.7) ? { startLine: random.pick([1, 0, 9, 99_999, 2 ** 32 - 2]) } : {}),
    ...(random.is(0.7) ? { maxChunkLines: random.whole(1, 6) } : {}),
    ...(random.is(0.7) ? { maxChunkBytes: random.whole(1, 200) } : {}),
  }
}

/**
 * @template T
 * @param {AsyncIterable<T>} source
 */
export async function collect(source) {
  const items = []
  for await (const item of source) items.push(item)
  return items
}

/**
 * @template T
 * @param {Iterable<T>} items
 */
export async function* asynchronously(items) {
  yield* items
}

/**
 * @param {Iterable<Uint8Array>} pieces
 * @returns {ReadableStream<Uint8Array>}
 */
export function readableOf(pieces) {
  const iterator = pieces[Symbol.iterator]()
  return new ReadableStream({
    pull(controller) {
      const { done, value } = iterator.next()
      if (done) controller.close()
      else controller.enqueue(value)
    },
  })
}
