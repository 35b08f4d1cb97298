// Requests, options and answers as JSON (`vectors/shapes`, which the core also reads and writes)
// match this package and its declarations.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import {
  applyHashSync,
  applyHashToText,
  HashSession,
  readHashedSync,
  readJsonSync,
  recoverTransactionsSync,
  searchHashedSync,
} from 'hashline-native'
import { compile } from './compile.mjs'
import { isEmulated, withMess } from './support.mjs'

/**
 * @typedef {object} Call
 * @property {'read' | 'readJson' | 'search' | 'apply' | 'applyToText'} call
 * @property {any} given
 * @property {string} [text]
 * @property {any} answer
 */

/**
 * @typedef {object} Fixture
 * @property {Record<string, string | { base64: string }>} files
 * @property {Record<string, unknown>} options
 * @property {boolean} session
 * @property {Call[]} calls
 */

const root = fileURLToPath(new URL('..', import.meta.url))

/** @param {string} name */
const load = (name) => JSON.parse(readFileSync(join(root, `vectors/shapes/${name}.json`), 'utf8'))

/** @type {[string, Fixture][]} */
const FIXTURES = ['FileView', 'JsonView', 'SearchResult']
  .concat('ApplyOutcome', 'TextOutcome', 'HashSession')
  .map((name) => [name, load(name)])

/** The options of each call, among those that a fixture names. */
const OPTIONS = {
  read: ['dialect', 'encoding', 'maxFileBytes'],
  readJson: ['dialect', 'encoding', 'maxFileBytes'],
  search: ['dialect', 'encoding', 'maxFileBytes'],
  apply: ['dialect', 'encoding', 'maxFileBytes', 'relocate', 'relocateWindow', 'repairs'].concat(
    'durability',
    'lockTimeoutMs',
  ),
  applyToText: ['dialect', 'relocate', 'relocateWindow', 'repairs'],
}

/**
 * @param {Call} call
 * @param {Record<string, unknown>} options
 */
const optionsOf = ({ call }, options) =>
  Object.fromEntries(Object.entries(options).filter(([name]) => OPTIONS[call].includes(name)))

/**
 * The answer to a call, as JSON: bytes in Base64.
 * @param {Call} call
 * @param {object} options
 * @param {string} dir
 * @param {string} stateDir
 * @returns {unknown}
 */
function answer({ call, given, text = '' }, options, dir, stateDir) {
  switch (call) {
    case 'read':
      return readHashedSync(given, { ...options, root: dir })
    case 'readJson':
      return readJsonSync(given, { ...options, root: dir })
    case 'search':
      return searchHashedSync(given, { ...options, root: dir })
    case 'apply':
      return applyHashSync(given, { ...options, root: dir, stateDir })
    case 'applyToText':
      return applyHashToText(text, given, options)
  }
}

/** @param {HashSession} session @param {Call} call */
function answerOfSession(session, { call, given }) {
  switch (call) {
    case 'read': {
      const report = session.readSync(given)
      const images = report.images.map((image) => {
        return { ...image, data: Buffer.from(image.data).toString('base64') }
      })
      return { ...report, images }
    }
    case 'search':
      return session.searchSync(given)
    case 'apply':
      return session.applySync(given)
    case 'readJson':
    case 'applyToText':
      throw new Error('a session has no such call')
  }
}

for (const [name, { files, options, session, calls }] of FIXTURES) {
  test(`${name}: the addon answers like the core`, () => {
    const contents = Object.entries(files).map(([path, content]) => [
      path,
      typeof content === 'string' ? content : Buffer.from(content.base64, 'base64'),
    ])
    return withMess(Object.fromEntries(contents), (dir, stateDir) => {
      const one = session && new HashSession({ ...options, cwd: dir, stateDir })
      for (const call of calls) {
        const is = one
          ? answerOfSession(one, call)
          : answer(call, optionsOf(call, options), dir, stateDir)
        assert.deepEqual(is, call.answer)
      }
    })
  })
}

test('a recovery answers like the core', () =>
  withMess({}, (dir) => {
    const names = (/** @type {object} */ report) => Object.keys(report).sort()
    const report = recoverTransactionsSync({ stateDir: join(dir, 'state') })
    assert.deepEqual(names(report), names(load('RecoveryReport').answer))
  }))

/** The declared types of the options, the arguments and the answer. */
const TYPES = {
  read: ['ReadOptions', 'string | ReadRequest | (string | ReadRequest)[]', 'FileView[]'],
  readJson: ['ReadOptions', 'string | JsonRequest', 'JsonView'],
  search: ['SearchOptions', 'SearchQuery', 'SearchResult'],
  apply: ['ApplyOptions', 'Patch', 'ApplyOutcome'],
  applyToText: ['EditOptions', 'TextPatch', 'TextOutcome'],
}

test('the declared types match arguments and answers exactly', (t) => {
  if (isEmulated) return t.skip('the compiler does not run in an emulator')
  return withMess({}, (dir) => {
    /** @type {string[]} */
    const lines = []
    const assign = (/** @type {string} */ type, /** @type {unknown} */ value) => {
      const source = JSON.stringify(value).replace(/("data":)"[^"]+"/g, '$1new Uint8Array()')
      const types = type.replace(/[A-Z]\w+/g, (name) => `api.${name}`)
      lines.push(`export const value${lines.length}: ${types} = ${source}`)
    }
    for (const [, { options, session, calls }] of FIXTURES) {
      if (session) assign('HashSessionOptions', options)
      for (const call of calls) {
        const [optionsType, givenType, answerType] = TYPES[call.call]
        if (!session) assign(optionsType, optionsOf(call, options))
        // Cases with an unknown operation test its refusal.
        if (!JSON.stringify(call.given).includes('"fly"')) assign(givenType, call.given)
        assign(session && call.call === 'read' ? 'ReadReport' : answerType, call.answer)
      }
    }
    assign('RecoveryReport', load('RecoveryReport').answer)
    assert.ok(lines.length > 40)
    assert.deepEqual(compile(dir, lines), '')
    assert.match(compile(dir, ["export const view: api.FileView = { kind: 'text' }"]), /lineCount/)
  })
})
