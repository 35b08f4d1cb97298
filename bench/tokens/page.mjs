// The page of `npm run tokens`.

/**
 * @typedef {{ bytes: number, tokens: number, medianTokens: number }} Size
 * @typedef {{ name: string, read: Size, write: Size, answer: Size, right: number, wrong: number }} Row
 */

/**
 * @param {Row[]} rows
 * @param {{ cases: number, commit: string, linesAround: number }} about
 */
export function pageOf(rows, { cases, commit, linesAround }) {
  const table = rows.map(({ name, read, write, answer, right, wrong }) => {
    const sizes = [read, write, answer].map(size)
    const cells = [name, ...sizes, share(right, cases), share(wrong, cases)]
    return `| ${cells.join(' | ')} |`
  })
  return `# Tokens

What a model must read and write for an edit, and what it is answered, in four schemes. Written by \`npm run tokens -- --write\`.

${cases} edits from the history of this repository up to ${commit}: of a change of a file at several places one hunk, drawn at random, is the edit; the others are what somebody else does between the model's read and its edit. Nothing was chosen. Shown is the hunk with ${linesAround} lines on both sides. Sizes are means (and the median of tokens); tokens are those of \`o200k_base\`, counted by the package \`gpt-tokenizer\`.

| scheme | read: bytes, tokens (median) | write: bytes, tokens (median) | answer: bytes, tokens (median) | right after the file moved on | wrong place |
|---|---|---|---|---|---|
${table.join('\n')}

- *Read* is the part of a file as the model sees it; *write* the arguments of the call that edits, as JSON. Names and descriptions of tools are left out. Anchors cost on the side that is read; many agents show line numbers without a hash, which costs what the file tag's rows do.
- *Answer* is what the tool itself says when the file is as it was read: the text of our tool; for exact text that of the edit tool of pi (\`@earendil-works/pi-coding-agent\`); what \`patch\` prints; and of \`@oh-my-pi/hashline\` the header with the new tag and the compact preview of a diff with three lines of context. The first and the last show the lines with the numbers that a further edit there needs; after the other two a model knows of its edit only what it wrote.
- *Exact text* quotes what it replaces, with as many lines around as make it unique in the file; a model quotes more, to be sure. *Unified diff* has three lines of context, is applied by \`patch\`, and has no slip in its line numbers, which models make.
- *Right* is: the file is then byte for byte what the commit made of it. What is neither right nor wrong was refused.
`
}

/** @param {Size} size */
function size({ bytes, tokens, medianTokens }) {
  return `${Math.round(bytes)} B, ${Math.round(tokens)} (${medianTokens})`
}

/** @param {number} count @param {number} cases */
const share = (count, cases) => `${((100 * count) / cases).toFixed(1)} %`
