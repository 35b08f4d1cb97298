// Editing files: one edit in a file of 50,000 lines, many edits in one of a million.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { applyHash, hashLines } from 'hashline-native'
import { compare } from '../measure.mjs'

/** @import { Bench, Row } from '../run.mjs' */
/** @import { Operation } from 'hashline-native' */

const EDITS = 1000

/** @param {Bench} bench @returns {Promise<Row[]>} */
export async function applyRows(bench) {
  return [await oneEdit(bench), await manyEdits(bench)]
}

/** @param {Bench} bench @returns {Promise<Row>} */
async function oneEdit({ corpora: { ascii }, scratchDir }) {
  const text = `${readFileSync(ascii, 'utf8').split('\n').slice(0, 50_000).join('\n')}\n`
  const [path, other] = ['edited.js', 'other.js'].map((name) => join(scratchDir, name))
  for (const each of [path, other]) writeFileSync(each, text)
  const flip = flipper(path, text, [25_000], scratchDir)
  const samples = await compare(
    { own: flip, peer: () => writeFileSync(other, readFileSync(other, 'utf8')) },
    { seconds: 40 },
  )
  return { id: 'apply-one', own: 'applyHash', peer: 'fs read and write', samples }
}

/** @param {Bench} bench @returns {Promise<Row>} */
async function manyEdits({ corpora: { large }, scratchDir }) {
  const text = `${readFileSync(large, 'utf8').split('\n').slice(0, 1_000_000).join('\n')}\n`
  const [one, many] = ['one.js', 'many.js'].map((name) => join(scratchDir, name))
  for (const each of [one, many]) writeFileSync(each, text)
  const spread = Array.from({ length: EDITS }, (_, at) =>
    Math.floor((at + 0.5) * (1_000_000 / EDITS)),
  )
  const samples = await compare(
    {
      own: flipper(many, text, spread, scratchDir),
      peer: flipper(one, text, [500_000], scratchDir),
    },
    { seconds: 60 },
  )
  return { id: 'apply-many', own: `${EDITS} edits`, peer: 'one edit', samples }
}

/**
 * The first line number from a given one on whose line differs from its neighbours: restoring a
 * line that equals a neighbour is refused as a repetition.
 * @param {string[]} lines
 * @param {number} number
 */
function unlikeNeighbours(lines, number) {
  const text = (/** @type {number} */ number) => lines[number - 1]?.trim()
  const isLike = () => [text(number - 1), text(number + 1)].includes(text(number))
  while (number < lines.length && isLike()) number += 1
  return number
}

/**
 * A function that alternately replaces lines of a file and restores them.
 * @param {string} path
 * @param {string} text
 * @param {number[]} numbers
 * @param {string} scratchDir
 */
export function flipper(path, text, numbers, scratchDir) {
  const lines = text.split('\n')
  const hashes = hashLines(text)
  numbers = numbers.map((number) => unlikeNeighbours(lines, number))
  const changed = numbers.map((number) => `${lines[number - 1]} // changed`)
  const changedHashes = hashLines(changed.join('\n'))
  /** @type {Operation[][]} */
  const patches = [[], []]
  for (const [at, number] of numbers.entries()) {
    const set = (/** @type {string} */ hash, /** @type {string} */ text) =>
      /** @type {Operation} */ ({ op: 'set_line', path, anchor: `${number}:${hash}`, text })
    patches[0].push(set(hashes[number - 1], changed[at]))
    patches[1].push(set(changedHashes[at], lines[number - 1]))
  }
  const options = {
    stateDir: join(scratchDir, 'state'),
    durability: /** @type {const} */ ('process'),
  }
  let turn = 0
  return async () => {
    const outcome = await applyHash({ operations: patches[turn++ % 2] }, options)
    assert.equal(outcome.status, 'applied', outcome.text)
  }
}
