import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import * as imported from 'hashline-native'
import { version } from 'hashline-native'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

test('version is the version of the package', () => {
  assert.equal(version(), manifest.version)
})

test('import and require return the same functions, by name', () => {
  const required = createRequire(import.meta.url)('hashline-native')
  for (const name of [
    'applyHash',
    'applyHashSync',
    'applyHashToText',
    'formatHashed',
    'hashLines',
    'readHashed',
    'readHashedSync',
    'recoverTransactions',
    'recoverTransactionsSync',
    'searchHashed',
    'searchHashedSync',
    'verify',
    'version',
  ]) {
    const byName = /** @type {Record<string, unknown>} */ (imported)[name]
    assert.equal(typeof byName, 'function', name)
    assert.equal(byName, required[name], name)
  }
})
