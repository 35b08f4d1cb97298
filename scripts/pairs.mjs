// Chooses the 512 pairs of letters that are the hashes of the dialect `lean`.
// `npm run bench -- pairs` fails if the table is another one; `npm run bench -- pairs --write`
// writes it.
//
// A pair counts if each of four tokenizers makes one token of it behind any digit and before `|`,
// and if it has no `i` and no `l`, which are taken for `1`. Of these the rarest are left out:
// those whose numbers in the four vocabularies, which begin with the most frequent, have the
// largest sums. The pairs stand in the order of the alphabet.

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

/** @typedef {(text: string) => number[]} Encode the tokens of a text */

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
 * The number of the token that a pair is, wherever it stands as a hash; nothing if it is none.
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
console.log(`${ranked.length} pairs are one token each; left out: ${rarest.join(' ')}`)
if (process.argv.includes('--write')) {
  writeFileSync(TABLE, table)
} else if (readFileSync(TABLE, 'utf8') !== table) {
  console.error(`${TABLE} is not what the tokenizers say: npm run bench -- pairs --write`)
  process.exitCode = 1
}
