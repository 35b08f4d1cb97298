// What a configuration of opencode permits, and where its plans are.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { mayReadAll } from './permissions.js'
import { isAboutPlans, plansDirectory } from './plans.js'

test('without a repository plans are in the data directory', () => {
  const plans = plansDirectory({ XDG_DATA_HOME: '/data' })
  assert.equal(plans, '/data/opencode/plans')
  assert.match(plansDirectory({}), /\/\.local\/share\/opencode\/plans$/)
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
