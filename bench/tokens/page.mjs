// The page of `npm run bench -- tokens`.

import { LINES_READ } from './tasks.mjs'

/** @import { End, Task } from './tasks.mjs' */

/**
 * @typedef {{ read: number, write: number, answer: number }} Tokens means per task
 * @typedef {object} Row
 * @property {string} task
 * @property {string} scheme
 * @property {Tokens[]} tokens by tokenizer
 * @property {Record<End, number>} ends
 * @property {number} rounds edit calls per task
 */

/** The scheme that the others are compared with. */
const PEER = 'exact text over `cat -n`'

/**
 * @param {Row[]} rows
 * @param {Task[]} tasks
 * @param {{ heads: string[], seed: string, commits: number }} about
 */
export function pageOf(rows, tasks, { heads, seed, commits }) {
  const sections = tasks.map((task) => sectionOf(task, rows))
  return `# Tokens

What a model reads and writes for a whole task, with several edit schemes. Written by \`npm run bench -- tokens --write\` with the repositories named below.

${commits} commits and the functions of ${heads.length} repositor${heads.length === 1 ? 'y' : 'ies'}, drawn at random with the seed ${seed}. From each commit one file is used that it changed at several places. Every call is made, and every answer is that of the tool itself; names and descriptions of tools are not counted. Tokens are means, counted by \`o200k_base\` and, as the second total, by the tokenizer of Llama 3.

Repositories: ${heads.join('; ')}.

- *Anchors* are the tools of \`hashline-native/tools\` as they are by default, in the dialect \`lean\`; and with one option.
- *Read* is what the model writes and sees for reads and searches, *write* the arguments of calls that edit, *answer* what these say. *Ratio* is to exact text over \`cat -n\`.
- *Right*: the file is then byte for byte as it must be. *Refused*: it was not changed after three calls. After a refusal the model reads the same lines again and writes the edit again, which is counted.
- *Exact text* quotes what it replaces, with as many lines around as make it unique, and is applied by the edit tool of pi (\`@earendil-works/pi-coding-agent\`). *Unified diff* has three lines of context and true line numbers, which models often get wrong, and is applied by \`patch\`.

${sections.join('\n\n')}
`
}

/** @type {Record<string, string>} */
const ABOUT = {
  'one edit': `One change of the commit, after reading ${LINES_READ} lines with it in the middle.`,
  'all edits of a commit in a file': `${LINES_READ} lines around each change are read; windows that touch are one.`,
  'half of them, after others have made the other half':
    'As before, and while the model edits, the file gets the other changes of the commit.',
  'a function moved to another file':
    'Functions of 36 to 44 lines, all calls counted as *read*. All find the function by the same search. Anchors move its block, with the comments directly above it, in one operation; the file tag cuts and puts a block, whose end it is given. Exact text and the diff read the function and the end of the other file.',
  'a function found and changed':
    'Files of 800 to 1,300 lines, of each the first three functions, which get one more line. Anchors read the file folded, then the function. The others read the whole file.',
}

/** @param {Task} task @param {Row[]} rows */
function sectionOf({ name, count }, rows) {
  const own = rows.filter(({ task }) => task === name)
  const peer = own.find(({ scheme }) => scheme === PEER)
  if (!peer) throw new Error(`there is no row for ${PEER}`)
  const table = own.map(({ scheme, tokens, ends, rounds }) => {
    const [{ read, write, answer }] = tokens
    const totals = tokens.map(totalOf)
    const ratios = totals.map((total, at) => (total / totalOf(peer.tokens[at])).toFixed(2))
    const cells = [
      scheme,
      ...[read, write, answer].map(Math.round),
      totals.map(Math.round).join(', '),
      ratios.join(', '),
      rounds === 0 ? '' : rounds.toFixed(2),
      ends.right,
      ends.wrong,
      ends.refused,
    ]
    return `| ${cells.join(' | ')} |`
  })
  return `## ${name[0].toUpperCase()}${name.slice(1)}

${ABOUT[name]} ${count} cases.

| scheme | read | write | answer | total (o200k, Llama 3) | ratio | calls that edit | right | wrong | refused |
|---|---|---|---|---|---|---|---|---|---|
${table.join('\n')}`
}

/** @param {Tokens} tokens */
const totalOf = ({ read, write, answer }) => read + write + answer
