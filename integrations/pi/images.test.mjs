// Which images a model gets.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passed } from './images.js'

test('images that models do not take are named instead of passed on', () => {
  const image = (/** @type {string} */ mimeType, bytes = 3) => ({
    path: 'a',
    mimeType,
    data: new Uint8Array(bytes),
  })
  const { content, notes } = passed([
    image('image/png'),
    image('image/bmp'),
    image('image/jpeg', 5 * 1024 * 1024 + 1),
  ])
  assert.deepEqual(content, [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }])
  assert.equal(notes.length, 2)
  assert.match(notes[0], /image\/bmp/)
  assert.match(notes[1], /more than 5242880 bytes/)
})
