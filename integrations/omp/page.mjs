// The page of `npm run bench -- compare:omp`.

/** @import { Result, States } from './compare.mjs' */

const number = (/** @type {number} */ value) => value.toLocaleString('en-US')

/** How files are after a patch. @param {States} states */
export const described = ({ old, changed, torn }) =>
  [`${changed} new`, old > 0 && `${old} old`, torn > 0 && `${torn} torn`].filter(Boolean).join(', ')

/** How often each state was seen, the commonest first. @param {States[]} all */
function counted(all) {
  /** @type {Map<string, number>} */
  const counts = new Map()
  for (const states of all) counts.set(described(states), (counts.get(described(states)) ?? 0) + 1)
  return [...counts]
    .sort(([, a], [, b]) => b - a)
    .map(([text, count]) => `${text} (${count} ×)`)
    .join('<br>')
}

/** @param {string[][]} rows the first is the head */
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

Written by \`npm run bench -- compare:omp --write\`, with oh-my-pi ${agent} under Bun. A script plays the model. It reads the ten lines on either side of the line that it is to change, changes it, and does what a refusal says.

## Rounds and tokens

The first number of each pair is with the extension, the second with oh-my-pi's own \`read\` and \`edit\`. Tokens are those of \`o200k_base\`. All requests of a task are added up, as they are paid for without a cache. The system prompt and the descriptions of all tools have ${number(extension.prompt)} and ${number(own.prompt)} tokens in each request; the first has no \`ast_edit\`, which the extension switches off. Files have 400 lines.

${table([
  [
    'task',
    'rounds',
    'tokens of all requests',
    'of results',
    'written by the model',
    'what is left',
  ],
  ...costs,
])}

After a refusal, oh-my-pi's own tool asks for another reading. The refusal of \`apply_hash\` shows the lines with their anchors, so that the next call can be the edit.

## What is left of a patch of five files

*torn* is a file that is neither as it was nor as it was to be.

${table([
  [
    '',
    `the agent is killed (\`kill -9\`) when the first file has changed, ${kills} times`,
    'after the agent has been started again, and has edited another file',
    'a full disk',
  ],
  row('extension', 'the extension'),
  row('own', 'own tools'),
])}

The first kill comes as soon as a watching process sees a change, each other one 0.2 ms later. The extension first writes all new versions beside the files, and then puts them in place at once, so that a kill hardly comes in between. \`npm run stress -- crash-test\` has those moments. On the full disk the model is told:

\`\`\`
${disks.extension.answer}
\`\`\`

and by oh-my-pi's own tool:

\`\`\`
${disks.own.answer}
\`\`\`
`
}
