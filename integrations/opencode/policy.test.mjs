// Which commands the policy of the plug-in allows.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { checkCommand } from '../../index.js'
import { policyFor } from './policy.js'

const PLACES = { root: '/project', readRoots: ['/home/opencode/tool-output'] }

/** @param {string} command @param {object} [given] */
const verdict = (command, given) =>
  checkCommand(command, { ...policyFor(PLACES, '/project', given), checkFiles: false }).verdict

test('regression: a command may write where the tools only read', () => {
  assert.equal(verdict('cat /home/opencode/tool-output/1'), 'read')
  assert.equal(verdict('echo a > /home/opencode/tool-output/1'), 'allow')
  assert.equal(verdict('sed -i s/a/b/ /home/opencode/tool-output/1'), 'allow')
  assert.equal(verdict('echo a > src/1'), 'write')
})

test('the policy of the user is added, and takes precedence', () => {
  assert.equal(verdict('echo a > out.txt', { writablePaths: ['out.txt'] }), 'allow')
  assert.equal(
    verdict('echo a > /home/opencode/tool-output/1', { writablePaths: ['out.txt'] }),
    'allow',
  )
  assert.equal(verdict('cat src/1', { reads: false }), 'allow')
  assert.deepEqual(policyFor(PLACES, '/project', { roots: ['/x'] }).roots, ['/x'])
})
