// Who may edit, as the configuration of opencode says it.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { giveEditPermission } from './permissions.js'

/** @param {Record<string, any>} config */
function given(config) {
  giveEditPermission(config, 'apply_hash')
  return config
}

const OF_PLAN = { '*': 'deny', '.opencode/plans/*.md': 'allow' }

test('the agent plan edits its plans alone', () => {
  const { agent, permission } = given({})
  assert.deepEqual(permission, { edit: 'deny' })
  assert.deepEqual(agent.plan.permission, { apply_hash: OF_PLAN, edit: 'deny' })
  const { agent: open } = given({ permission: { edit: 'allow' }, agent: { plan: { steps: 3 } } })
  assert.deepEqual(open.plan, { steps: 3, permission: { apply_hash: OF_PLAN, edit: 'deny' } })
})

test('the agent plan edits what its configuration says', () => {
  const { agent } = given({ agent: { plan: { permission: { edit: 'ask' } } } })
  assert.equal(agent.plan.permission.apply_hash, 'ask')
  const { agent: all } = given({ agent: { plan: { permission: 'allow' } } })
  assert.deepEqual(Object.keys(all.plan.permission), ['apply_hash', '*', 'edit'])
})

test('an agent that may not edit has no apply_hash', () => {
  const { agent, mode } = given({
    permission: { edit: 'allow' },
    agent: {
      reviewer: { permission: { edit: 'deny', bash: 'ask' } },
      old: { tools: { write: false, bash: true } },
      open: { permission: { edit: 'allow' } },
      other: { model: 'a/b' },
    },
    mode: { look: { tools: { edit: false } } },
  })
  const denied = { apply_hash: 'deny', edit: 'deny' }
  assert.deepEqual(agent.reviewer.permission, { ...denied, bash: 'ask' })
  assert.deepEqual(agent.old.permission, denied)
  assert.deepEqual(mode.look.permission, denied)
  assert.deepEqual(agent.open.permission, { apply_hash: 'allow', edit: 'deny' })
  assert.deepEqual(agent.other, { model: 'a/b' })
})

test('apply_hash stands where edit stood, since later rules win', () => {
  const { permission } = given({ permission: { '*': 'allow', edit: 'deny', bash: 'ask' } })
  assert.deepEqual(Object.entries(permission), [
    ['*', 'allow'],
    ['apply_hash', 'deny'],
    ['bash', 'ask'],
    ['edit', 'deny'],
  ])
  const { agent } = given({ agent: { a: { permission: { '*': 'allow', edit: 'deny' } } } })
  assert.deepEqual(Object.keys(agent.a.permission), ['*', 'apply_hash', 'edit'])
})

test('what is said about apply_hash itself counts', () => {
  const { permission } = given({ permission: { edit: 'deny', apply_hash: 'ask' } })
  assert.deepEqual(permission, { apply_hash: 'ask', edit: 'deny' })
})
