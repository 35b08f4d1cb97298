// What a model is shown of a file, what it must write for an edit and what it gets back, in each of
// four schemes, as far as they differ: the file's text as it is read, the arguments of the call that
// edits, and the answer.

import { formatHashed } from 'hashline-native'
import { unifiedDiff } from '../misplacement/diff.mjs'
import { uniqueTextOf } from '../misplacement/subjects/exact.mjs'
import { operationsOf } from '../misplacement/subjects/plain.mjs'
import { sectionsOf } from '../misplacement/subjects/section.mjs'
import { ofOurTools, ofPatch, ofPi, ofPublishedIn } from './answers.mjs'

/** @import { Case } from '../misplacement/cases.mjs' */
/** @import { Edit } from '../edit/history/text.mjs' */
/** @import { Answers } from './answers.mjs' */

/**
 * @typedef {object} Scheme
 * @property {string} name
 * @property {string} subject which subject of the misplacement benchmark applies it
 * @property {(one: Case, from: number, to: number) => string} read lines `from` to `to` as shown
 * @property {(one: Case) => string} write the arguments of the call
 * @property {Answers} answers
 */

/** The tag of a file has so many characters; which ones does not matter for the count. */
const TAG = '1A2B'

const eolOf = (/** @type {Case} */ { old }) => (old.includes('\r\n') ? '\r\n' : '\n')

/** @param {Case} one @param {number} from @param {number} to */
const plain = (one, from, to) => one.oldLines.slice(from - 1, to).join('\n')

/**
 * @param {string} packages the folder that the peer is installed in
 * @returns {Scheme[]}
 */
export const schemesIn = (packages) => [
  {
    name: 'anchors (`hashline-native/tools`)',
    subject: 'session, pi, only lines around read',
    read: (one, from, to) => formatHashed(plain(one, from, to), { startLine: from }),
    write: (one) => {
      const operations = operationsOf(one).map((operation) => ({
        ...short(operation),
        path: one.path,
      }))
      return JSON.stringify({ operations })
    },
    answers: ofOurTools,
  },
  {
    name: 'exact text',
    subject: 'exact text, context made unique',
    read: plain,
    write: (one) =>
      JSON.stringify({ path: one.path, edits: one.operations.map((edit) => exact(one, edit)) }),
    answers: ofPi,
  },
  {
    name: 'unified diff',
    subject: 'patch',
    read: plain,
    write: (one) => {
      const final = one.old.endsWith('\n')
      const patch = unifiedDiff(one.oldLines, one.operations, { eol: '\n', final, path: one.path })
      return JSON.stringify({ patch })
    },
    answers: ofPatch,
  },
  {
    name: 'file tag (`@oh-my-pi/hashline`)',
    subject: '@oh-my-pi/hashline',
    read: (one, from, to) => {
      const rows = one.oldLines.slice(from - 1, to).map((line, at) => `${from + at}:${line}`)
      return [`[${one.path}#${TAG}]`, ...rows].join('\n')
    },
    write: (one) => JSON.stringify({ input: sectionsOf(`[${one.path}#${TAG}]`, one.operations) }),
    answers: ofPublishedIn(packages),
  },
]

/**
 * An operation as a model writes it: text as a string, and of one line without its end.
 * @param {any} operation
 */
export function short({ op, start_anchor, end_anchor, text, ...rest }) {
  const lines = text === undefined ? {} : { text: text.join('\n') }
  if (start_anchor === undefined) return { op, ...rest, ...lines }
  if (start_anchor !== end_anchor) return { op, ...rest, start_anchor, end_anchor, ...lines }
  return { op: op === 'delete' ? op : 'set_line', ...rest, anchor: start_anchor, ...lines }
}

/** @param {Case} one @param {Edit} edit */
function exact(one, edit) {
  const eol = eolOf(one)
  const target = uniqueTextOf(one, edit, eol)
  if (!target) return { old_text: one.old, new_text: one.truth }
  const [from, to] = 'after' in edit ? [edit.after, edit.after] : [edit.first - 1, edit.last]
  const before = one.oldLines.slice(target.first, from)
  const behind = one.oldLines.slice(to, target.end)
  const lines = [...before, ...edit.lines, ...behind]
  return { old_text: target.text.replaceAll(eol, '\n'), new_text: lines.join('\n') }
}
