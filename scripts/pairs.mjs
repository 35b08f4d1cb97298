// Chooses the 512 pairs of letters that are the hashes of the dialect `lean`.
// `npm run bench -- pairs` fails if the table differs; `npm run bench -- pairs --write` writes it.
//
// A pair qualifies if each of four tokenizers encodes it as one token after any digit and before
// `|`, and if it has no `i` and no `l`, which are easily read as `1`. The rarest pairs are dropped:
// those with the largest sums of token numbers in the four vocabularies, which are sorted by
// frequency. The table is in alphabetical order.

import { readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { npmPackage, root } from './tools.mjs'

const TABLE = join(root, 'crates', 'lines', 'src', 'dialect', 'lean.txt')
const COUNT = 512
const IN_A_ROW = 16

const letters = [...'abcdefghjkmnopqrstuvwxyz']
const digits = [...'0123456789']

/** @typedef {(text: string) => number[]} Encode returns the tokens of a text */

/** @returns {Promise<Encode[]>} */
async function tokenizers() {
  /** @type {(name: string, version: string, path: string) => Promise<any>} */
  const load = (name, version, path) =>
    import(pathToFileURL(join(npmPackage(name, version), path)).href)
  const openai = (/** @type {string} */ encoding) =>
    load('gpt-tokenizer', '4.0.0', `esm/encoding/${encoding}.js`)
  const o200k = await openai('o200k_base')
  const cl100k = await openai('cl100k_base')
  const llama = await load(
    'llama3-tokenizer-js',
    '1.2.0',
    'bundle/llama3-tokenizer-with-baked-data.js',
  )
  const require = createRequire(import.meta.url)
  const claude = require(npmPackage('@anthropic-ai/tokenizer', '0.0.4')).getTokenizer()
  return [
    (text) => o200k.encode(text),
    (text) => cl100k.encode(text),
    (text) => llama.default.encode(text, { bos: false, eos: false }),
    (text) => [...claude.encode(text)],
  ]
}

/**
 * The token number of a pair, at every position of a hash; undefined if it is not one token.
 * @param {Encode} encode
 * @param {string} pair
 */
function tokenOf(encode, pair) {
  const [token, ...others] = encode(pair)
  const [mark] = encode('|')
  const stands = digits.every((digit) => {
    const [number] = encode(digit)
    return String(encode(`${digit}${pair}|`)) === String([number, token, mark])
  })
  return others.length === 0 && stands ? token : undefined
}

const encodes = await tokenizers()
const pairs = letters.flatMap((first) => letters.map((second) => first + second))
const ranked = pairs.flatMap((pair) => {
  const tokens = encodes.map((encode) => tokenOf(encode, pair))
  if (tokens.includes(undefined)) return []
  return [{ pair, sum: tokens.reduce((sum, token) => (sum ?? 0) + (token ?? 0), 0) ?? 0 }]
})
ranked.sort((one, other) => one.sum - other.sum)
const chosen = ranked.slice(0, COUNT).map(({ pair }) => pair)
const rarest = ranked.slice(COUNT).map(({ pair }) => pair)
if (chosen.length !== COUNT) throw new Error(`only ${chosen.length} pairs are one token each`)

chosen.sort()
const rows = Array.from({ length: COUNT / IN_A_ROW }, (_, row) =>
  chosen.slice(row * IN_A_ROW, (row + 1) * IN_A_ROW).join(' '),
)
const table = `${rows.join('\n')}\n`
console.log(`${ranked.length} pairs are one token each; dropped: ${rarest.join(' ')}`)
if (process.argv.includes('--write')) {
  writeFileSync(TABLE, table)
} else if (readFileSync(TABLE, 'utf8') !== table) {
  console.error(`${TABLE} differs from the tokenizers. Run npm run bench -- pairs --write.`)
  process.exitCode = 1
}
