// What commands may do, with the policy that the plug-in makes.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCommand } from '../../index.js'
import { policyFor } from './policy.js'

const PLACES = { root: '/project', readRoots: ['/home/opencode/tool-output'] }

/** @param {string} command @param {object} [given] */
const verdict = (command, given) =>
  checkCommand(command, { ...policyFor(PLACES, '/project', given), checkFiles: false }).verdict

test('regression: what a command writes where the tools only read is let through', () => {
  assert.equal(verdict('cat /home/opencode/tool-output/1'), 'read')
  assert.equal(verdict('echo a > /home/opencode/tool-output/1'), 'allow')
  assert.equal(verdict('sed -i s/a/b/ /home/opencode/tool-output/1'), 'allow')
  assert.equal(verdict('echo a > src/1'), 'write')
})

test('what the user says is added, and goes before', () => {
  assert.equal(verdict('echo a > out.txt', { writablePaths: ['out.txt'] }), 'allow')
  assert.equal(
    verdict('echo a > /home/opencode/tool-output/1', { writablePaths: ['out.txt'] }),
    'allow',
  )
  assert.equal(verdict('cat src/1', { reads: false }), 'allow')
  assert.deepEqual(policyFor(PLACES, '/project', { roots: ['/x'] }).roots, ['/x'])
})
