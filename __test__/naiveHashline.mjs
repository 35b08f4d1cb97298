// Reference implementation of the modules of dialects `omp` and `omp13`, obviously correct and
// without regard to speed: everything works on arrays of lines, one line at a time.

const WHITE_SPACE = /[\t\n\v\f\r \u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000\ufeff]/
const LETTERS = 'ZPMQVRWSNKTXJBYH'

/** @param {string} line */
function withoutWhiteSpace(line) {
  let rest = line
  for (let at = rest.length - 1; at >= 0; at--) {
    if (WHITE_SPACE.test(rest[at])) rest = rest.slice(0, at) + rest.slice(at + 1)
  }
  return rest
}

/** @param {string} line */
function withoutWhiteSpaceAtEnd(line) {
  let rest = line.split('\r').join('')
  while (rest !== '' && WHITE_SPACE.test(rest[rest.length - 1])) rest = rest.slice(0, -1)
  return rest
}

const MASK = 0xffffffffn
const [P1, P2, P3, P4, P5] = [2654435761n, 2246822519n, 3266489917n, 668265263n, 374761393n]
/**
 * @param {bigint} value
 * @param {bigint} bits
 */
const rotated = (value, bits) => ((value << bits) | ((value & MASK) >> (32n - bits))) & MASK

/**
 * xxHash32 by its specification, in numbers that cannot overflow.
 * @param {Uint8Array} bytes
 * @param {bigint} seed
 */
export function naiveXxHash32(bytes, seed) {
  const word = (/** @type {number} */ at) =>
    [0, 1, 2, 3].reduce((sum, byte) => sum | (BigInt(bytes[at + byte]) << BigInt(8 * byte)), 0n)
  let at = 0
  let hash = (seed + P5) & MASK
  if (bytes.length >= 16) {
    const sums = [seed + P1 + P2, seed + P2, seed, seed - P1].map((sum) => sum & MASK)
    for (; at + 16 <= bytes.length; at += 16) {
      for (const lane of [0, 1, 2, 3]) {
        const sum = (sums[lane] + word(at + 4 * lane) * P2) & MASK
        sums[lane] = (rotated(sum, 13n) * P1) & MASK
      }
    }
    const turned = sums.map((sum, lane) => rotated(sum, [1n, 7n, 12n, 18n][lane]))
    hash = turned.reduce((total, sum) => total + sum) & MASK
  }
  hash = (hash + BigInt(bytes.length)) & MASK
  for (; at + 4 <= bytes.length; at += 4) {
    hash = (rotated((hash + word(at) * P3) & MASK, 17n) * P4) & MASK
  }
  for (; at < bytes.length; at++) {
    hash = (rotated((hash + BigInt(bytes[at]) * P5) & MASK, 11n) * P1) & MASK
  }
  hash = ((hash ^ (hash >> 15n)) * P2) & MASK
  hash = ((hash ^ (hash >> 13n)) * P3) & MASK
  return hash ^ (hash >> 16n)
}

/**
 * @param {string} text
 * @param {number} seed
 */
function twoLetters(text, seed) {
  const byte = Number(naiveXxHash32(new TextEncoder().encode(text), BigInt(seed)) & 0xffn)
  return LETTERS[byte >> 4] + LETTERS[byte & 15]
}

/** @typedef {(idx: number, line: string) => string} HashOf */

export const naiveHash = {
  /** @type {HashOf} */
  omp: (_idx, line) => twoLetters(withoutWhiteSpace(line), 0),
  /** @type {HashOf} */
  omp13(idx, line) {
    const text = withoutWhiteSpaceAtEnd(line)
    return twoLetters(text, /[\p{L}\p{N}]/u.test(text) ? 0 : idx % 2 ** 32)
  },
}

/**
 * @param {HashOf} hashOf
 * @param {string[]} lines
 * @param {number} startLine
 */
export function naiveRows(hashOf, lines, startLine) {
  return lines.map(
    (line, index) => `${startLine + index}#${hashOf(startLine + index, line)}:${line}`,
  )
}

/**
 * The chunks of a stream, each with as many rows as fit.
 * @param {string[]} rows
 * @param {{ maxChunkLines?: number, maxChunkBytes?: number }} options
 */
export function naiveChunks(rows, { maxChunkLines = 200, maxChunkBytes = 65_536 }) {
  const sizeOf = (/** @type {string[]} */ chunk) =>
    new TextEncoder().encode(chunk.join('\n')).length
  const chunks = [[rows[0]]]
  for (const row of rows.slice(1)) {
    const chunk = chunks[chunks.length - 1]
    const fits = chunk.length < maxChunkLines && sizeOf([...chunk, row]) <= maxChunkBytes
    if (fits) chunk.push(row)
    else chunks.push([row])
  }
  return chunks.map((chunk) => chunk.join('\n'))
}

/**
 * @param {HashOf} hashOf
 * @param {string[]} lines
 * @param {{ line: number, hash: string }[]} tags
 */
function naiveCheck(hashOf, lines, tags) {
  const stale = []
  for (const { line, hash } of tags) {
    if (line < 1 || line > lines.length) {
      throw new Error(`Line ${line} does not exist (file has ${lines.length} lines)`)
    }
    const actual = hashOf(line, lines[line - 1])
    if (actual !== hash) stale.push({ line, expected: hash, actual })
  }
  return stale
}

/**
 * @param {any[]} edits
 * @param {(edit: any) => string} placeOf
 */
function withoutDuplicates(edits, placeOf) {
  const keys = edits.map((edit) => JSON.stringify([placeOf(edit), edit.content.join('\n')]))
  return edits.filter((_, index) => keys.indexOf(keys[index]) === index)
}

/** @param {any} edit */
function ompPlace(edit) {
  const { op, tag, first, last, after, before } = edit
  return [op, tag?.line, first?.line, last?.line, after?.line, before?.line].join()
}

/** @param {any} edit */
function ompTags(edit) {
  if (edit.op === 'replace' && edit.first.line > edit.last.line) {
    throw new Error(`Range start line ${edit.first.line} must be <= end line ${edit.last.line}`)
  }
  if (edit.op === 'append' && edit.content.length === 0) {
    throw new Error('Insert-after edit (src "N#HH..") requires non-empty dst')
  }
  if (edit.op === 'prepend' && edit.content.length === 0) {
    throw new Error('Insert-before edit (src "N#HH..") requires non-empty dst')
  }
  if (edit.op === 'insert' && edit.content.length === 0) {
    throw new Error('Insert-between edit (src "A#HH.. B#HH..") requires non-empty dst')
  }
  if (edit.op === 'insert' && edit.before.line <= edit.after.line) {
    throw new Error(`insert requires after (${edit.after.line}) < before (${edit.before.line})`)
  }
  return [edit.tag, edit.first, edit.last, edit.after, edit.before].filter(Boolean)
}

/**
 * @param {any} edit
 * @param {number} lineCount
 */
function ompRank(edit, lineCount) {
  switch (edit.op) {
    case 'set':
      return [edit.tag.line, 0]
    case 'replace':
      return [edit.last.line, 0]
    case 'append':
      return [edit.after ? edit.after.line : lineCount + 1, 1]
    case 'prepend':
      return [edit.before ? edit.before.line : 0, 2]
    default:
      return [edit.before.line, 3]
  }
}

/**
 * Section 9 of the protocol, sentence by sentence.
 * @param {string} content
 * @param {any[]} given
 * @param {boolean} autocorrect
 */
export function naiveOmpApply(content, given, autocorrect) {
  if (given.length === 0) return { content, firstChangedLine: undefined }
  const old = content.split('\n')
  const stale = given.flatMap((edit) => naiveCheck(naiveHash.omp, old, ompTags(edit)))
  if (stale.length > 0) return { stale }
  const edits = withoutDuplicates(given, ompPlace)
  const named = edits.flatMap((edit) => {
    if (edit.op !== 'replace') return ompTags(edit).map((tag) => tag.line)
    return Array.from(old.keys(), (index) => index + 1).filter(
      (line) => line >= edit.first.line && line <= edit.last.line,
    )
  })
  const now = [...old]
  /** @type {number[]} */
  const changed = []
  const noopEdits = []
  const order = edits
    .map((edit, index) => ({ edit, index, rank: ompRank(edit, old.length) }))
    .sort((a, b) => b.rank[0] - a.rank[0] || a.rank[1] - b.rank[1] || a.index - b.index)
  for (const { edit, index } of order) {
    const { start, count, lines, noop } = ompStep(edit, { autocorrect, old, now, named })
    if (noop) {
      const { line, hash } = edit.tag ?? edit.first
      noopEdits.push({ editIndex: index, loc: `${line}#${hash}`, currentContent: noop.join('\n') })
      continue
    }
    now.splice(start - 1, count, ...lines)
    changed.push(start)
  }
  return {
    content: now.join('\n'),
    firstChangedLine: changed.length > 0 ? Math.min(...changed) : undefined,
    ...(noopEdits.length > 0 ? { noopEdits } : {}),
  }
}

/**
 * @typedef {object} State
 * @property {boolean} autocorrect
 * @property {string[]} old the lines before the edits
 * @property {string[]} now the current lines
 * @property {number[]} named the lines that edits name
 * @typedef {{ start: number, count: number, lines: string[], noop?: string[] }} Step
 */

/**
 * The lines that an edit removes, and the lines that it inserts.
 * @param {any} edit
 * @param {State} state
 * @returns {Step}
 */
function ompStep(edit, state) {
  const { autocorrect, old, now } = state
  const { op, content, after, before } = edit
  const isEmpty = now.length === 1 && now[0] === ''
  switch (op) {
    case 'set':
      return setStep(edit, state)
    case 'replace': {
      const { first, last } = edit
      const replaced = old.slice(first.line - 1, last.line)
      const lines = autocorrect ? replacement(old, first.line, last.line, content) : content
      const isSame = autocorrect && replaced.every((line, row) => line === lines[row])
      const count = last.line - first.line + 1
      return { start: first.line, count, lines, noop: isSame ? replaced : undefined }
    }
    case 'insert':
    case 'append':
    case 'prepend': {
      if (isEmpty && !after && !before) return { start: 1, count: 1, lines: content }
      const atEnd = op === 'append' ? now.length + 1 : 1
      const start = before?.line ?? (after ? after.line + 1 : atEnd)
      const lines = autocorrect
        ? withoutEchoes(content, old[after?.line - 1], old[before?.line - 1], 1)
        : content
      return { start, count: 0, lines }
    }
    default:
      throw new Error(op)
  }
}

/**
 * @param {any} edit
 * @param {State} state
 * @returns {Step}
 */
function setStep({ tag: { line }, content }, state) {
  const { autocorrect, old } = state
  const merge = autocorrect ? mergeWith(line, content, state) : 0
  if (merge !== 0) {
    const start = Math.min(line, line + merge)
    const lines = withPairedIndent([old[start - 1]], content)
    // Lines that another edit has appended are not among these.
    const replaced = old.slice(start - 1, start + 1)
    const isSame = replaced.every((text, row) => text === lines[row])
    return { start, count: 2, lines, noop: isSame ? replaced : undefined }
  }
  const lines = autocorrect ? replacement(old, line, line, content) : content
  const isSame = lines[0] === old[line - 1]
  return { start: line, count: 1, lines, noop: isSame ? [old[line - 1]] : undefined }
}

/**
 * @param {string[]} old
 * @param {number} first
 * @param {number} last
 * @param {string[]} content
 */
function replacement(old, first, last, content) {
  const replaced = old.slice(first - 1, last)
  const isLonger = content.length > 1 && content.length > replaced.length
  const own = isLonger ? withoutEchoes(content, old[first - 2], old[last], 0) : content
  return withPairedIndent(replaced, unwrapped(replaced, own))
}

/**
 * @param {string[]} content
 * @param {string | undefined} above
 * @param {string | undefined} below
 * @param {number} least the number of lines to keep
 */
function withoutEchoes(content, above, below, least) {
  const isAlike = (/** @type {string} */ line, /** @type {string | undefined} */ other) =>
    other !== undefined && withoutWhiteSpace(line) === withoutWhiteSpace(other)
  let lines = content
  if (lines.length > 1 && isAlike(lines[0], above)) lines = lines.slice(1)
  if (lines.length > least && isAlike(lines[lines.length - 1], below)) lines = lines.slice(0, -1)
  return lines
}

/**
 * @param {string[]} replaced
 * @param {string[]} content
 */
function unwrapped(replaced, content) {
  /** @type {{ start: number, count: number, text: string, line: string }[]} */
  const found = []
  for (const start of content.keys()) {
    for (let count = 2; count <= 10 && start + count <= content.length; count++) {
      const text = withoutWhiteSpace(content.slice(start, start + count).join(''))
      const same = replaced.filter((line) => withoutWhiteSpace(line) === text)
      if (text.length >= 6 && same.length === 1) found.push({ start, count, text, line: same[0] })
    }
  }
  const once = found.filter(({ text }) => found.filter((wrap) => wrap.text === text).length === 1)
  const lines = [...content]
  for (const { start, count, line } of once.sort((a, b) => b.start - a.start)) {
    lines.splice(start, count, line)
  }
  return lines
}

/**
 * @param {string[]} replaced
 * @param {string[]} content
 */
function withPairedIndent(replaced, content) {
  if (replaced.length !== content.length) return content
  return content.map((line, row) => {
    if (line === '' || WHITE_SPACE.test(line[0])) return line
    const old = replaced[row]
    const end = [...old].findIndex((character) => !WHITE_SPACE.test(character))
    return (end < 0 ? old : old.slice(0, end)) + line
  })
}

/** @param {string} text a text without whitespace */
function withoutToken(text) {
  const tokens = ['&&', '||', '??', '?', ':', '=', ',', '+', '-', '*', '/', '.', '(']
  const token = tokens.find((end) => text.endsWith(end))
  return token && text.slice(0, -token.length)
}

/**
 * -1 if the new line includes the line above, 1 if it includes the line below, else 0.
 * @param {number} line
 * @param {string[]} content
 * @param {State} state
 */
function mergeWith(line, content, { now, named }) {
  if (content.length !== 1 || line > now.length) return 0
  const free = (/** @type {number} */ number) =>
    named.includes(number) || now[number - 1] === undefined
      ? undefined
      : withoutWhiteSpace(now[number - 1])
  const [text, own] = [withoutWhiteSpace(content[0]), withoutWhiteSpace(now[line - 1])]
  if (text === '' || own === '') return 0
  const holds = (
    /** @type {string} */ whole,
    /** @type {string} */ head,
    /** @type {string} */ tail,
  ) => whole.includes(head) && whole.includes(tail) && whole.indexOf(head) < whole.indexOf(tail)
  const [head, below, above] = [withoutToken(own), free(line + 1), free(line - 1)]
  const fits = (/** @type {string} */ other) => text.length <= own.length + other.length + 32
  if (head !== undefined && below !== undefined && holds(text, head, below) && fits(below)) return 1
  const start = above === undefined ? undefined : withoutToken(above)
  if (above === undefined || start === undefined || !fits(above)) return 0
  const bare = (/** @type {string} */ part) => part.replace(/[|&?]/g, '')
  return holds(bare(text), bare(start), bare(own)) ? -1 : 0
}

/** @param {any} edit */
function omp13Place({ op, pos, end }) {
  return [op, pos?.line, end?.line].join()
}

/**
 * The result of the published module, without its warnings.
 * @param {string} text
 * @param {any[]} given
 */
export function naiveOmp13Apply(text, given) {
  if (given.length === 0) return { lines: text, firstChangedLine: undefined }
  const old = text.split('\n')
  const stale = []
  for (const { pos, end } of given) {
    const wrong = naiveCheck(naiveHash.omp13, old, [pos, end].filter(Boolean))
    if (wrong.length === 0 && end && pos.line > end.line) {
      throw new Error(`Range start line ${pos.line} must be <= end line ${end.line}`)
    }
    stale.push(...wrong)
  }
  if (stale.length > 0) return { stale }
  const edits = given.map((edit) => {
    const { op, lines } = edit
    const isInsert = !op.startsWith('replace')
    const hasTabs = lines.some((/** @type {string} */ line) => line.includes('\t'))
    const mended = hasTabs ? lines : lines.map(withTabs)
    return { ...edit, content: isInsert && lines.length === 0 ? [''] : mended }
  })
  return naiveOmp13Steps(old, withoutDuplicates(edits, omp13Place))
}

/** @param {string} line */
function withTabs(line) {
  const rest = line.replace(/^(\\t)+/, '')
  return '\t'.repeat((line.length - rest.length) / 2) + rest
}

/**
 * @param {string[]} old
 * @param {any[]} edits
 */
function naiveOmp13Steps(old, edits) {
  const now = [...old]
  /** @type {number[]} */
  const changed = []
  const noopEdits = []
  const [atStart, atEnd] = [{ line: 0 }, { line: old.length + 1 }]
  const ranked = edits.map((edit, index) => {
    const { op, end, pos = op === 'append_file' ? atEnd : atStart } = edit
    const turn = op.startsWith('replace') ? 0 : op.startsWith('append') ? 1 : 2
    return { edit, index, rank: [(end ?? pos).line, turn] }
  })
  ranked.sort((a, b) => b.rank[0] - a.rank[0] || a.rank[1] - b.rank[1] || a.index - b.index)
  for (const { edit, index } of ranked) {
    const { op, pos, end = pos, content } = edit
    const isEmpty = now.length === 1 && now[0] === ''
    if (op === 'replace_line' && content.length === 1 && content[0] === old[pos.line - 1]) {
      noopEdits.push({ editIndex: index, loc: `${pos.line}#${pos.hash}`, current: content[0] })
      continue
    }
    const start =
      op === 'append_file'
        ? isEmpty
          ? 1
          : now.length + 1
        : op === 'prepend_file'
          ? 1
          : pos.line + (op === 'append_at' ? 1 : 0)
    const isWhole = op.endsWith('_file') && isEmpty
    const count = op.startsWith('replace') ? end.line - pos.line + 1 : isWhole ? 1 : 0
    now.splice(start - 1, count, ...content)
    changed.push(start)
  }
  return {
    lines: now.join('\n'),
    firstChangedLine: changed.length > 0 ? Math.min(...changed) : undefined,
    ...(noopEdits.length > 0 ? { noopEdits } : {}),
  }
}
