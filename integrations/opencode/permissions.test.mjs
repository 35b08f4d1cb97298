// Edit permissions that follow from a configuration of opencode.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { giveEditPermission, mayReadAll } from './permissions.js'
import { isAboutPlans, plansDirectory, rulesOfPlan } from './plans.js'

const OF_PLAN = { '*': 'deny', '.opencode/plans/*.md': 'allow' }

/** @param {Record<string, any>} config */
function given(config) {
  giveEditPermission(config, 'apply_hash', OF_PLAN)
  return config
}

test('the agent plan edits only its plans', () => {
  const { agent, permission } = given({})
  assert.deepEqual(permission, { edit: 'deny' })
  assert.deepEqual(agent.plan.permission, { apply_hash: OF_PLAN, edit: 'deny' })
  const { agent: open } = given({ permission: { edit: 'allow' }, agent: { plan: { steps: 3 } } })
  assert.deepEqual(open.plan, { steps: 3, permission: { apply_hash: OF_PLAN, edit: 'deny' } })
})

test('the agent plan edits what its configuration allows', () => {
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

test('apply_hash takes the position of edit, because later rules win', () => {
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

test('a rule for apply_hash itself applies', () => {
  const { permission } = given({ permission: { edit: 'deny', apply_hash: 'ask' } })
  assert.deepEqual(permission, { apply_hash: 'ask', edit: 'deny' })
})

test('plans are in the worktree, or in the data directory without a repository', () => {
  const plans = plansDirectory({ XDG_DATA_HOME: '/data' })
  assert.equal(plans, '/data/opencode/plans')
  assert.match(plansDirectory({}), /\/\.local\/share\/opencode\/plans$/)
  assert.deepEqual(rulesOfPlan('/home/work', plans), {
    ...OF_PLAN,
    '../../data/opencode/plans/*.md': 'allow',
  })
  assert.ok('data/opencode/plans/*.md' in rulesOfPlan('/', plans))
})

test('a call about plans names only plans', () => {
  const plans = '/data/opencode/plans'
  const plan = `${plans}/1.md`
  assert.ok(isAboutPlans({ path: plan }, plans))
  assert.ok(isAboutPlans({ operations: [{ op: 'add_file', path: plan, content: '' }] }, plans))
  for (const args of [
    {},
    { path: '1.md' },
    { path: plans },
    { path: plan, more_paths: ['a.js'] },
    { operations: [{ op: 'move_file', path: plan, to: '/a.md' }] },
    { paths: [`${plans}/../secret`] },
    { operations: 'x' },
  ])
    assert.ok(!isAboutPlans(args, plans), JSON.stringify(args))
})

test('lines are appended to outputs only if no rule is about reading', () => {
  for (const config of [
    {},
    { permission: 'allow', agent: { plan: { permission: { edit: 'deny' } } } },
    { permission: { read: { '*': 'allow' }, bash: 'ask' } },
    { permission: { '*': 'ask', read: 'allow' } },
  ]) {
    assert.equal(mayReadAll(config), true, JSON.stringify(config))
  }
  for (const config of [
    { permission: 'ask' },
    { permission: { read: 'ask' } },
    { permission: { read: { '*': 'allow', 'secret/*': 'deny' } } },
    { permission: { read: 'allow', '*': 'ask' } },
    { agent: { scout: { permission: { read: { 'a.txt': 'deny' } } } } },
    { mode: { look: { tools: { read: false } } } },
  ]) {
    assert.equal(mayReadAll(config), false, JSON.stringify(config))
  }
})
