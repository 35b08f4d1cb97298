// Which images a model receives.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { passed } from './images.js'

const image = (/** @type {string} */ mimeType, bytes = 3) => ({
  path: 'a',
  mimeType,
  data: new Uint8Array(bytes),
})
const LARGE = 4.5 * 1024 * 1024

test('images that models do not accept are named instead of sent', async () => {
  const images = [image('image/png'), image('image/bmp'), image('image/jpeg', LARGE)]
  const { content, notes } = await passed(images)
  assert.deepEqual(content, [{ type: 'image', mimeType: 'image/png', data: 'AAAA' }])
  assert.equal(notes.length, 2)
  assert.match(notes[0], /image\/bmp/)
  assert.match(notes[1], /4718592 bytes and cannot be resized/)
})

test('images are resized, or sent unchanged if they are small enough', async () => {
  const small = { data: 'BBBB', mimeType: 'image/jpeg', note: 'smaller' }
  const resized = await passed([image('image/png', LARGE)], { resize: async () => small })
  assert.deepEqual(resized.content, [{ type: 'image', mimeType: 'image/jpeg', data: 'BBBB' }])
  assert.deepEqual(resized.notes, ['(a: smaller)'])
  for (const resize of [async () => null, () => Promise.reject(new Error('no'))]) {
    const { content, notes } = await passed([image('image/png'), image('image/png', LARGE)], {
      resize,
    })
    assert.deepEqual([content.length, content[0].data, notes.length], [1, 'AAAA', 1])
  }
})

test('a model that does not accept images gets a note', async () => {
  const { content, notes } = await passed([image('image/png')], { isSeen: false })
  assert.deepEqual(content, [])
  assert.deepEqual(notes, ['(a: not shown, because this model does not accept images.)'])
})
