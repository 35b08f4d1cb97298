// The page of `npm run tokens`.

/** @import { Task } from './tasks.mjs' */

/**
 * @typedef {{ bytes: number, tokens: number, medianTokens: number }} Size
 * @typedef {{ name: string, read: Size, write: Size, answer: Size, right: number, wrong: number }} Row
 */

/**
 * @param {Row[]} rows
 * @param {Task[]} tasks
 * @param {{ cases: number, commit: string, linesAround: number }} about
 */
export function pageOf(rows, tasks, { cases, commit, linesAround }) {
  const table = rows.map(({ name, read, write, answer, right, wrong }) => {
    const sizes = [read, write, answer].map(size)
    const cells = [name, ...sizes, share(right, cases), share(wrong, cases)]
    return `| ${cells.join(' | ')} |`
  })
  return `# Tokens

What a model reads and writes for one edit, and what it is answered, in four schemes. Written by \`npm run tokens -- --write\`.

${cases} edits from the history of this repository up to ${commit}. Of the commits that changed a file at several places, one change is the edit, drawn at random. The others are what somebody else does between the model's read and its edit. The model sees the lines of the edit with ${linesAround} lines on both sides. Sizes are means, with the median of tokens. Tokens are those of \`o200k_base\`, counted by the package \`gpt-tokenizer\`.

| scheme | read: bytes, tokens (median) | write: bytes, tokens (median) | answer: bytes, tokens (median) | right after the file moved on | wrong place |
|---|---|---|---|---|---|
${table.join('\n')}

- *Read* is the part of a file as the model sees it. *Write* is the arguments of the call that edits, as JSON. Names and descriptions of tools are left out. So are the line numbers that many agents show beside exact text.
- *Answer* is what the tool says if the file is as it was read. For exact text it is the answer of pi's edit tool (\`@earendil-works/pi-coding-agent\`), for a diff what \`patch\` prints. Anchors and file tags show the changed lines with their new numbers; after the other two a model knows only what it wrote.
- *Exact text* quotes what it replaces, with as many lines around as make it unique in the file.
- *Unified diff* has three lines of context, and no wrong line numbers, which models often write. \`patch\` applies it.
- *Right* means that the file is byte for byte what the commit made of it. What is neither right nor wrong was refused.

${sectionOf(tasks)}`
}

/** How the part about whole tasks begins. */
export const WHOLE_TASKS = '## Whole tasks'

/** The part about whole tasks. @param {Task[]} tasks */
export function sectionOf(tasks) {
  const whole = tasks.map(({ name, count, anchors, exact }) => {
    const cells = [
      name,
      count,
      Math.round(anchors),
      Math.round(exact),
      (anchors / exact).toFixed(2),
    ]
    return `| ${cells.join(' | ')} |`
  })
  return `${WHOLE_TASKS}

All that a model writes and reads for a task, arguments and answers of every call, in tokens. The functions are those of this repository's own sources that begin and end at the margin.

| task | functions | anchors | exact text | ratio |
|---|---|---|---|---|
${whole.join('\n')}

- *Move*: functions of 36 to 44 lines. Both find the function by the same search. Anchors move its block by one operation, with what stands directly above it. Exact text reads the function and the end of the other file as \`cat -n\` shows them, and replaces text in both files.
- *Find and change*: files of 800 to 1,300 lines, of each the first three functions, which get one more line. Anchors read the file folded, then the function. Exact text reads the file whole, as \`cat -n\` shows it.
`
}

/** @param {Size} size */
function size({ bytes, tokens, medianTokens }) {
  return `${Math.round(bytes)} B, ${Math.round(tokens)} (${medianTokens})`
}

/** @param {number} count @param {number} cases */
const share = (count, cases) => `${((100 * count) / cases).toFixed(1)} %`
