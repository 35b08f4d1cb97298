// Texts and changes generated from a seed, without a repository or a package: they resemble source
// code, with many similar lines.

import { edited, split, startOf } from '../edit/history/text.mjs'
import { randomEdit } from './edits.mjs'

/** @import { Pair } from '../edit/history/git.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */
/** @import { Edit, Hunk } from '../edit/history/text.mjs' */

const FUNCTIONS = 12
const MOST_HUNKS = 8
const NAMES = ['count', 'item', 'list', 'name', 'path', 'result', 'total', 'value']

/**
 * @param {Random} random
 * @param {number} count
 * @returns {Generator<Pair>}
 */
export function* generatedPairs(random, count) {
  for (let at = 0; at < count; at++) {
    const old = split(sourceText(random))
    if (!old) continue
    const edits = apartFrom(old.lines, random)
    yield {
      source: 'generated',
      change: `${at}`,
      path: 'file.js',
      old,
      new: { ...old, lines: edited(old.lines, edits) },
      hunks: hunksOf(edits),
    }
  }
}

/** @param {Random} random */
function sourceText(random) {
  const blocks = Array.from({ length: 1 + random.below(FUNCTIONS) }, () => {
    const name = random.pick(NAMES)
    return `/** ${name} */\nfunction ${name}${random.below(9)}(${random.pick(NAMES)}) {\n${body(random, '  ')}}\n`
  })
  return blocks.join('\n')
}

/** @param {Random} random @param {string} indent @returns {string} */
function body(random, indent) {
  const lines = Array.from({ length: 2 + random.below(5) }, () => {
    const [one, other] = [random.pick(NAMES), random.pick(NAMES)]
    const kind = random.below(8)
    if (kind === 0 && indent.length < 8) {
      return `${indent}if (${one}) {\n${body(random, `${indent}  `)}${indent}}`
    }
    if (kind === 1) return ''
    if (kind === 2) return `${indent}return ${one}`
    return `${indent}const ${one} = ${other}(${random.below(30)})`
  })
  return `${lines.join('\n')}\n`
}

/**
 * Edits with lines between them.
 * @param {string[]} lines
 * @param {Random} random
 */
function apartFrom(lines, random) {
  /** @type {Edit[]} */
  const edits = []
  for (let left = 2 + random.below(MOST_HUNKS); left > 0; left--) {
    const edit = randomEdit(lines, random)
    if (!edit) continue
    if (edits.every((other) => endOf(edit) < startOf(other) || endOf(other) < startOf(edit))) {
      edits.push(edit)
    }
  }
  return edits.sort((one, other) => startOf(one) - startOf(other))
}

/** @param {Edit} edit */
const endOf = (edit) => ('after' in edit ? edit.after : edit.last)

/** @param {Edit[]} edits sorted @returns {Hunk[]} */
function hunksOf(edits) {
  let shift = 0
  return edits.map((edit) => {
    const oldAt = startOf(edit)
    const oldCount = endOf(edit) - oldAt
    const hunk = { oldAt, oldCount, newAt: oldAt + shift, newCount: edit.lines.length }
    shift += edit.lines.length - oldCount
    return hunk
  })
}
