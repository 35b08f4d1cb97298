import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { test } from 'node:test'
import { version } from 'hashline-native'

const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'))

test('version is the version of the package', () => {
  assert.equal(version(), manifest.version)
})

test('require gives the same functions as import', () => {
  const required = createRequire(import.meta.url)('hashline-native')
  assert.equal(required.version, version)
})
