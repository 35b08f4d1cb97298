// A worker that reads and hashes a batch of files: with this package, with a JavaScript loop over
// xxhash-wasm, or with the peer (under Bun).

import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { readHashed } from 'hashline-native'
import { serve } from '../workers.mjs'

const { kind, list, peer, dialect } = JSON.parse(process.argv[2])
/** @type {string[]} */
const paths = JSON.parse(readFileSync(list, 'utf8'))

const ways = {
  own: () => async () => {
    const views = await readHashed(paths, { dialect })
    return views.reduce((sum, view) => sum + view.text.length, 0)
  },
  peer: async () => {
    const { formatHashLines } = await import(peer)
    return () => sum((text) => formatHashLines(text))
  },
  wasm: async () => {
    // Not a dependency of this package: it is installed with the benchmarks.
    const load = createRequire(new URL('../packages/', import.meta.url))('xxhash-wasm')
    const { h32 } = await load()
    return () => sum((text) => formatted(text, h32))
  },
}

/** @param {(text: string) => string} format */
function sum(format) {
  return paths.reduce((sum, path) => sum + format(readFileSync(path, 'utf8')).length, 0)
}

/**
 * The JavaScript code of a harness for the dialect `pi`.
 * @param {string} text
 * @param {(text: string) => number} h32
 */
function formatted(text, h32) {
  const lines = text.split('\n')
  if (text.endsWith('\n')) lines.pop()
  const anchored = lines.map((line, at) => {
    const hash = (h32(line.replace(/\s+/g, '')) & 0xff).toString(16).padStart(2, '0')
    return `${at + 1}:${hash}|${line}`
  })
  return anchored.join('\n')
}

await serve(await ways[/** @type {keyof typeof ways} */ (kind)]())
