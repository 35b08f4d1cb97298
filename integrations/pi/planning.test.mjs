// Plan mode of oh-my-pi in its conversations.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { isPlanning } from './planning.js'

const user = { type: 'message', message: { role: 'user' } }
const answer = { type: 'message', message: { role: 'assistant' } }
const mode = (/** @type {string} */ name) => ({ type: 'mode_change', mode: name })
const custom = (/** @type {string} */ customType) => ({ type: 'custom_message', customType })

test('entries mark the beginning and the end of plan mode', () => {
  const context = custom('plan-mode-context')
  const approved = custom('plan-yolo-handoff')
  const cases = /** @type {const} */ ([
    [[], false],
    [[user, answer], false],
    [[mode('plan')], true],
    [[mode('plan'), context, user, answer], true],
    [[mode('plan'), context, user, mode('none')], false],
    [[mode('plan'), context, user, mode('plan_paused'), user], false],
    // Without an entry for the mode, the rules precede the user's message in plan mode.
    [[context, user, answer], true],
    [[context, user, answer, context, user], true],
    [[context, user, answer, user], false],
    [[user, answer, context], true],
    [[context, user, answer, approved, answer], false],
    [[mode('vibe'), user], false],
  ])
  for (const [branch, expected] of cases) {
    assert.equal(isPlanning(branch), expected, JSON.stringify(branch))
  }
})
