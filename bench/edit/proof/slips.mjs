// The mistakes of the scripted model, and the counts that the benchmark must have for each.

import { formatHashed } from '../../../index.js'
import { call } from '../../../scripts/modelServer.mjs'
import { MAX_ROUNDS } from '../attempt.mjs'
import { DEFAULT_DIALECT } from '../schemes.mjs'
import { isMoving, isNear } from '../task.mjs'
import { editsOf, linesOf } from './edits.mjs'

/** @import { Answer, ToolCall } from '../../../scripts/modelServer.mjs' */
/** @import { Task } from '../task.mjs' */

/**
 * @typedef {{ task: Task, scheme: string, round: number, right: () => { calls: ToolCall[] }, reads: Answer }} Scene
 * @typedef {object} Mistake
 * @property {string[]} schemes that have it
 * @property {(task: Task) => boolean} [needs] the requirements for an edit
 * @property {(scene: Scene) => Answer | undefined} [plays] undefined if the model continues
 * normally
 * @property {{ solved: boolean, first: boolean, wrong: boolean, ending: 'done' | 'cut' | 'rounds', rounds: number, refusals: number }} counts
 * if others do not change the file
 */

const ALL = ['exact', 'diff', 'hashline']
const WELL = /** @type {const} */ ({
  solved: true,
  first: true,
  wrong: false,
  ending: 'done',
  rounds: 3,
  refusals: 0,
})
/** Refused once, and then right. */
const MENDED = { ...WELL, first: false, rounds: 4, refusals: 1 }
const GIVEN_UP = { ...WELL, solved: false, first: false }

/**
 * A mistake in the arguments of the first edit call.
 * @param {(args: any, scheme: string, task: Task) => unknown} change
 * @returns {Mistake['plays']}
 */
const inArguments =
  (change) =>
  ({ task, scheme, round, right }) => {
    if (round !== 1) return undefined
    const [{ name, args }, ...rest] = right().calls
    const changed = change(structuredClone(args), scheme, task)
    return { calls: [{ name, args: changed }, ...rest] }
  }

/** Whether all edits of the first file replace lines by lines. @param {Task} task */
const replacesLines = ({ files: [file, ...others] }) =>
  others.length === 0 && file.edits.every((edit) => !('after' in edit) && edit.lines.length > 0)

/** @param {Task} task */
const isOneFile = ({ files }) => files.length === 1

/** Whether a line with words follows the first edit. @param {Task} task */
function hasPlainNeighbour({ files: [file] }) {
  const [edit] = editsOf(file)
  return 'last' in edit && /\w{4}/.test(linesOf(file)[edit.last] ?? '')
}

/** @param {any} args @param {string} scheme inserts an unrelated text into the first edit */
function wrongText(args, scheme) {
  if (scheme === 'exact') args.edits[0].new_text += '\nwrong'
  else if (scheme === 'diff') args.patch = args.patch.replace(/^\+(?!\+\+).*$/m, '$&\n+wrong')
  else args.operations[0].text += '\nwrong'
  return args
}

/** @param {any} args @param {string} scheme quotes a text that the edited place never had */
function misquoted(args, scheme) {
  if (scheme === 'exact') args.edits[0].old_text = `never there\n${args.edits[0].old_text}`
  else if (scheme === 'diff') args.patch = args.patch.replace(/^@@.*$/m, '$&\n never there')
  else {
    const [operation] = args.operations
    const field = operation.anchor === undefined ? 'start_anchor' : 'anchor'
    operation[field] = operation[field].replace(/[a-z]*$/, otherHash)
  }
  return args
}

/** @param {string} hash */
const otherHash = (hash) => (hash === 'dt' ? 'wh' : 'dt')

/** @type {Record<string, Mistake>} */
export const SLIPS = {
  none: { schemes: ALL, counts: WELL },
  'wrong text': {
    schemes: ALL,
    // Changes next to an edit make some tools refuse it, and then it is repeated.
    needs: (task) => replacesLines(task) && !isNear(task),
    plays: inArguments(wrongText),
    counts: { ...WELL, solved: false, first: false, wrong: true },
  },
  misquoted: {
    schemes: ALL,
    needs: (task) => isOneFile(task) && replacesLines(task),
    plays: inArguments(misquoted),
    counts: MENDED,
  },
  'arguments cut off': {
    schemes: ALL,
    needs: isOneFile,
    plays: ({ round, right }) => {
      if (round !== 1) return undefined
      const [{ name, args }] = right().calls
      return { calls: [{ name, args, raw: JSON.stringify(args).slice(0, -20) }] }
    },
    counts: MENDED,
  },
  'unknown tool': {
    schemes: ALL,
    plays: ({ round }) =>
      round === 1 ? call('str_replace_editor', { command: 'view', path: '/a' }) : undefined,
    counts: MENDED,
  },
  nonsense: {
    schemes: ALL,
    plays: ({ round }) => (round === 1 ? { text: '}{<edit>{{ as discussed' } : undefined),
    counts: { ...GIVEN_UP, rounds: 2 },
  },
  'done at once': {
    schemes: ALL,
    plays: () => ({ text: 'Done.' }),
    counts: { ...GIVEN_UP, rounds: 1 },
  },
  'answer cut off': {
    schemes: ALL,
    plays: ({ round }) => (round === 1 ? { text: 'Now I shall', isCut: true } : undefined),
    counts: { ...GIVEN_UP, ending: 'cut', rounds: 2 },
  },
  'never stops': {
    schemes: ALL,
    plays: ({ reads }) => reads,
    counts: { ...GIVEN_UP, ending: 'rounds', rounds: MAX_ROUNDS },
  },
  'goes on after the edit': {
    schemes: ALL,
    plays: ({ round, reads }) => (round > 1 ? reads : undefined),
    counts: { ...WELL, ending: 'rounds', rounds: MAX_ROUNDS },
  },
  'arguments are an array': {
    schemes: ALL,
    plays: ({ round, right }) =>
      round === 1 ? { calls: [{ name: right().calls[0].name, args: [17] }] } : undefined,
    counts: MENDED,
  },
  'JSON in a string': {
    schemes: ['exact', 'hashline'],
    plays: inArguments((args) => {
      const name = args.edits === undefined ? 'operations' : 'edits'
      return { ...args, [name]: JSON.stringify(args[name]) }
    }),
    counts: WELL,
  },
  "another tool's field": {
    schemes: ['exact', 'hashline'],
    plays: inArguments((args) => {
      const list = args.edits === undefined ? args.operations : [args]
      for (const one of list) {
        one.file_path = one.path
        delete one.path
      }
      return args
    }),
    counts: WELL,
  },
  'anchors with the text of their lines': {
    schemes: ['hashline'],
    needs: replacesLines,
    plays: inArguments((args, _, { files: [{ before }] }) => {
      const lines = before.split(/\r?\n/)
      for (const one of args.operations) {
        for (const field of ['anchor', 'start_anchor', 'end_anchor']) {
          if (one[field] !== undefined)
            one[field] += `|${lines[Number.parseInt(one[field], 10) - 1]}`
        }
      }
      return args
    }),
    counts: WELL,
  },
  'anchors copied into the text': {
    schemes: ['hashline'],
    // They are identified by the current file, so its lines must not have moved.
    needs: (task) => isOneFile(task) && replacesLines(task) && !isMoving(task),
    plays: inArguments((args) => {
      for (const one of args.operations) {
        const startLine = Number.parseInt(one.anchor ?? one.start_anchor, 10)
        one.text = formatHashed(one.text, { startLine, dialect: DEFAULT_DIALECT })
      }
      return args
    }),
    counts: WELL,
  },
  'a neighbour repeated': {
    schemes: ['hashline'],
    needs: (task) => isOneFile(task) && replacesLines(task) && hasPlainNeighbour(task),
    plays: inArguments((args, _, { files: [file] }) => {
      const [one] = args.operations
      const last = Number.parseInt(one.anchor ?? one.end_anchor, 10)
      one.text += `\n${linesOf(file)[last]}`
      return args
    }),
    counts: MENDED,
  },
  'numbers of lines copied': {
    schemes: ['exact', 'diff'],
    needs: isOneFile,
    plays: inArguments((args, scheme) => {
      const numbered = (/** @type {string} */ text) => text.replace(/^/gm, '12\t')
      if (scheme === 'exact') args.edits[0].old_text = numbered(args.edits[0].old_text)
      else args.patch = args.patch.replace(/^ (?=.)/gm, ' 12\t')
      return args
    }),
    counts: MENDED,
  },
}
