// The page of `npm run bench -- compare:omp`.

/** @import { Result, States } from './compare.mjs' */

const number = (/** @type {number} */ value) => value.toLocaleString('en-US')

/** Describes the files after a patch. @param {States} states */
export const described = ({ old, changed, torn }) =>
  [`${changed} new`, old > 0 && `${old} old`, torn > 0 && `${torn} torn`].filter(Boolean).join(', ')

/** Counts each state, most frequent first. @param {States[]} all */
function counted(all) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const states of all) counts.set(described(states), (counts.get(described(states)) ?? 0) + 1)
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([text, count]) => `${text} (${count} ×)`)
    .join('<br>')
}

/** @param {string[][]} rows the first row is the header */
const table = ([head, ...rows]) =>
  [head, head.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n')

/** @param {Result} result */
export function pageOf({ agent, tasks, crashes, disks }) {
  const [{ extension, own }] = tasks
  const costs = tasks.map(({ name, extension, own }) => [
    name,
    `${extension.rounds}, ${own.rounds}`,
    `${number(extension.sent)}, ${number(own.sent)}`,
    `${number(extension.shown)}, ${number(own.shown)}`,
    `${extension.written}, ${own.written}`,
    extension.left === own.left ? extension.left : `${extension.left}; ${own.left}`,
  ])
  const kills = crashes.extension.length
  const row = (/** @type {'extension' | 'own'} */ kind, /** @type {string} */ name) => [
    name,
    counted(crashes[kind].map(({ atOnce }) => atOnce)),
    counted(crashes[kind].map(({ later }) => later)),
    described(disks[kind].states),
  ]
  return `# oh-my-pi with the extension and with its own tools

Written by \`npm run bench -- compare:omp --write\`, with oh-my-pi ${agent} under Bun. A script plays the model. It reads the ten lines before and after the line to change, changes it, and follows the instructions of a refusal.

## Rounds and tokens

The first number of each pair is with the extension, the second with oh-my-pi's own \`read\` and \`edit\`. Tokens are those of \`o200k_base\`. All requests of a task are added up, as they are paid for without a cache. The system prompt and the descriptions of all tools have ${number(extension.prompt)} and ${number(own.prompt)} tokens in each request; the first has no \`ast_edit\`, which the extension switches off. Files have 400 lines.

${table([
  ['task', 'rounds', 'tokens of all requests', 'of results', 'written by the model', 'on disk'],
  ...costs,
])}

After a refusal, oh-my-pi's own tool asks for another read. The refusal of \`apply_hash\` shows the lines with their anchors, so the next call can be the edit.

## A patch of five files after a crash

A file is *torn* if it is neither the old nor the new version.

${table([
  [
    '',
    `after \`kill -9\` when the first file has changed, ${kills} times`,
    'after the agent was restarted and has edited another file',
    'a full disk',
  ],
  row('extension', 'the extension'),
  row('own', 'own tools'),
])}

The first kill comes as soon as a watching process sees a change, each further one 0.2 ms later. The extension first writes all new versions next to the files, and then renames them together, so a kill rarely interrupts the renames. \`npm run stress -- crash-test\` covers those moments. On the full disk the model gets this answer:

\`\`\`
${disks.extension.answer}
\`\`\`

and from oh-my-pi's own tool:

\`\`\`
${disks.own.answer}
\`\`\`
`
}
