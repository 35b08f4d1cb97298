// The page of `npm run bench -- tokens`.

import { LINES_NEAR, LINES_READ } from './tasks.mjs'

/** @import { End, Task } from './tasks.mjs' */

/**
 * @typedef {{ read: number, write: number, answer: number }} Tokens means per task
 * @typedef {object} Row
 * @property {string} task
 * @property {string} scheme
 * @property {Tokens[]} tokens by tokenizer
 * @property {number[]} given the tokens of an output, by tokenizer
 * @property {Record<End, number>} ends
 * @property {number} rounds edit calls per task
 * @property {number} calls all calls per task
 * @property {number} atOnce tasks that one call completes
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

/**
 * A page with other sections for tasks at its end.
 * @param {string} page
 * @param {Row[]} rows
 * @param {Task[]} tasks
 */
export function withSections(page, rows, tasks) {
  const at = page.indexOf(`\n\n${headingOf(tasks[0])}`)
  const before = at < 0 ? page.trimEnd() : page.slice(0, at)
  return `${[before, ...tasks.map((task) => sectionOf(task, rows))].join('\n\n')}\n`
}

/** @param {Task} task */
const headingOf = ({ name }) => `## ${name[0].toUpperCase()}${name.slice(1)}\n`

const OUTPUTS =
  'A tool printed an output about one mistake in a file ([failures.jsonl](tokens/failures.jsonl): the outputs, files and commands). The mistakes were made by hand. Hosts append to the output the lines that it names, with anchors, which are counted as *read*.'

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
  'from the output of a tool to the edit, with reads of whole files': `${OUTPUTS} All schemes read the whole file that they edit, anchors only if the output does not name the lines.`,
  'from the output of a tool to the edit, with reads of 30 lines': `As before, but all read ${LINES_NEAR} lines, with the edit in the middle, also where the output does not say where that is.`,
  'from the output of a tool to the edit, quoting the output':
    'As before, but exact text is written without a read where the output quotes all lines that it needs. Some agents, such as Claude Code, refuse that.',
}

/** @param {Task} task @param {Row[]} rows */
function sectionOf(task, rows) {
  const { name, count, outputs } = task
  const own = rows.filter(({ task }) => task === name)
  const peer = own.find(({ scheme }) => scheme === PEER)
  if (!peer) throw new Error(`there is no row for ${PEER}`)
  const table = own.map(({ scheme, tokens, given, ends, rounds, calls }) => {
    const [{ read, write, answer }] = tokens
    const totals = tokens.map(totalOf)
    const ratiosWith = (/** @type {(at: number) => number} */ more) =>
      totals.map((total, at) => (total + more(at)) / (totalOf(peer.tokens[at]) + more(at)))
    const shown = (/** @type {number[]} */ ratios) => ratios.map((one) => one.toFixed(2)).join(', ')
    const cells = [
      scheme,
      ...[read, write, answer].map(Math.round),
      totals.map(Math.round).join(', '),
      shown(ratiosWith(() => 0)),
      ...(outputs ? [shown(ratiosWith((at) => given[at])), calls.toFixed(2)] : []),
      ...(outputs ? [] : [rounds === 0 ? '' : rounds.toFixed(2)]),
      ends.right,
      ends.wrong,
      ends.refused,
    ]
    return `| ${cells.join(' | ')} |`
  })
  const columns = outputs ? 'ratio with the output | calls' : 'calls that edit'
  return `${headingOf(task)}
${ABOUT[name]} ${count} cases.${outputs ? ` ${givenOf(own)}` : ''}

| scheme | read | write | answer | total (o200k, Llama 3) | ratio | ${columns} | right | wrong | refused |
|---|---|---|---|---|---|${outputs ? '---|' : ''}---|---|---|---|
${table.join('\n')}`
}

/** @param {Tokens} tokens */
const totalOf = ({ read, write, answer }) => read + write + answer

/** What the cases start from. @param {Row[]} rows */
const givenOf = ([{ given, atOnce }]) =>
  `An output has ${given.map(Math.round).join(', ')} tokens, which only the ratio with the output counts. After ${atOnce} of the outputs anchors edit at once.`
