import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'

import { checkCommand } from '../index.js'

const vectors = new URL('../vectors/commands.jsonl', import.meta.url)
const rows = readFileSync(vectors, 'utf8')
  .trimEnd()
  .split('\n')
  .map((line) => JSON.parse(line))

test('verdicts are as recorded', () => {
  assert.ok(rows.length >= 1500)
  for (const { command, policy, verdict } of rows) {
    assert.equal(checkCommand(command, policy).verdict, verdict, JSON.stringify(command))
  }
})

test('a finding has everything that a caller needs', () => {
  assert.deepEqual(checkCommand('ls; sudo cat src/a.ts'), {
    verdict: 'read',
    findings: [
      {
        kind: 'read',
        rule: 'reader',
        command: 'cat',
        target: 'src/a.ts',
        span: { start: 9, end: 21 },
        message:
          '`cat` reads `src/a.ts`: use the tool `read` instead, which shows lines with anchors: `read {"path":"src/a.ts"}`.',
      },
    ],
  })
  assert.deepEqual(checkCommand('npm test'), { verdict: 'allow', findings: [] })
})

test('spans count as slice does', () => {
  const command = 'echo "🎉 é"; cat f; echo > "🎉"'
  const places = checkCommand(command).findings.map(({ span }) =>
    command.slice(span.start, span.end),
  )
  assert.deepEqual(places, ['cat f', '> "🎉"'])
})

test('messages name the tools of the policy', () => {
  const tools = { read: 'Show', search: 'Find', edit: 'Patch' }
  for (const [command, tool] of Object.entries({
    'cat f': 'Show',
    'rg x': 'Find',
    'echo > f': 'Patch',
  })) {
    assert.match(checkCommand(command, { tools }).findings[0].message, new RegExp(`\`${tool}\``))
  }
})

test('misuse is refused with the reason', () => {
  const refused = (/** @type {any[]} */ args, /** @type {RegExp} */ message) =>
    // @ts-expect-error: on purpose
    assert.throws(() => checkCommand(...args), { code: 'INVALID_ARGUMENT', message })
  refused([], /command/)
  refused([['cat', 'f']], /command .*expected a string/)
  refused(['ls', { read: true }], /policy.*read/)
  refused(['ls', { reads: 1 }], /policy.*reads.*true or false/)
  refused(['ls', { unparsed: 'block' }], /unparsed/)
  refused(['ls', { tools: { look: 'x' } }], /policy\.tools/)
  assert.equal(checkCommand('ls', undefined).verdict, 'allow')
})
