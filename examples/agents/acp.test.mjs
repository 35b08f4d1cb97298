// Runs the agent for editors with the client side of the SDK and a scripted model.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { existsSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname, join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { withMess } from '../../__test__/support.mjs'
import { call } from '../../scripts/modelServer.mjs'
import { skipWithout } from '../../scripts/packages.mjs'
import { anchorOf, apply, setLine } from './steps.mjs'

/** @import { Step } from '../../scripts/modelServer.mjs' */

const FOLDER = dirname(fileURLToPath(import.meta.url))
const skip = skipWithout(FOLDER)

/** The modules that need the packages. @type {Promise<typeof import('./editor.mjs')>} */
const editorModule = skip ? new Promise(() => {}) : import('./editor.mjs')

/** @type {typeof import('./editor.mjs').withEditor} */
const withEditor = async (options, body) => (await editorModule).withEditor(options, body)

const READ_ONLY = { readTextFile: true, writeTextFile: false }

const done = () => ({ text: 'Done.' })

const read = (/** @type {string} */ path) => call('read', { path })

/**
 * A model that reads a file and replaces a line.
 * @param {string} path
 * @param {string} from
 * @param {string} to
 * @returns {Step[]}
 */
const replacing = (path, from, to) => [
  () => read(path),
  ({ results: [shown] }) => setLine(path, anchorOf(shown, from), to),
]

/** @param {string} cwd @param {string} name */
const onDisk = (cwd, name) => readFileSync(join(cwd, name), 'utf8')

test('unsaved text is read, and edits go through the editor', { skip }, () =>
  withEditor(
    {
      files: { 'a.txt': 'saved\n' },
      buffers: { 'a.txt': 'zero\nunsaved\n' },
      steps: [
        ({ prompt, system }) => {
          assert.equal(prompt, 'Change it.')
          assert.notEqual(system, '')
          return read('a.txt')
        },
        ({ results: [shown] }) => setLine('a.txt', anchorOf(shown, 'unsaved'), 'changed'),
        ({ results: [report] }) => {
          assert.match(report, /^1 edit, \+1 -1\n/)
          return { text: 'Done.' }
        },
      ],
    },
    async ({ editor, cwd, prompt }) => {
      assert.deepEqual(await prompt('Change it.'), { stopReason: 'end_turn' })
      assert.equal(editor.said, 'Done.')
      assert.deepEqual(editor.writes, [{ name: 'a.txt', content: 'zero\nchanged\n' }])
      const path = join(cwd, 'a.txt')
      const [reading, editing] = editor.calls
      assert.equal(editor.calls.length, 2)
      assert.equal(reading.title, 'Read a.txt')
      assert.deepEqual(
        [reading.kind, reading.status, reading.locations],
        ['read', 'completed', [{ path, line: 1 }]],
      )
      assert.deepEqual(
        [editing.kind, editing.status, editing.locations],
        ['edit', 'completed', [{ path, line: 1 }]],
      )
      const [oldText, newText] = ['zero\nunsaved\n', 'zero\nchanged\n']
      assert.deepEqual(editing.content, [{ type: 'diff', path, oldText, newText }])
      assert.deepEqual(editor.questions, [])
    },
  ),
)

test('regression: an anchor that is stale because the user typed is refused', { skip }, () =>
  withEditor(
    {
      files: { 'a.txt': 'one\ntwo\nthree\n' },
      steps: (editor) => [
        () => read('a.txt'),
        ({ results: [shown] }) => {
          editor.buffers.set('a.txt', 'zero\none\ntwo, by the user\nthree\n')
          const edits = ['two', 'three'].map((line) => setLine('a.txt', anchorOf(shown, line), 'x'))
          return { calls: edits.flatMap(({ calls }) => calls) }
        },
        ({ results: [refused, moved] }) => {
          assert.match(refused, /^Nothing was written\.\n/)
          assert.match(moved, /was found 1 line further down/)
          return setLine('a.txt', anchorOf(refused, 'two, by the user'), 'TWO')
        },
        done,
      ],
    },
    async ({ editor, prompt }) => {
      await prompt()
      const states = editor.calls.map(({ status }) => status)
      assert.deepEqual(states, ['completed', 'failed', 'completed', 'completed'])
      const texts = editor.writes.map(({ content }) => content)
      assert.deepEqual(texts, ['zero\none\ntwo, by the user\nx\n', 'zero\none\nTWO\nx\n'])
    },
  ),
)

test('the user is asked before an edit, and sees it', { skip }, () =>
  withEditor(
    {
      mode: 'ask',
      files: { 'a.txt': 'one\n', 'b.txt': 'first\nsecond\n' },
      steps: (editor) => [
        ...replacing('a.txt', 'one', 'two'),
        ({ results: [report] }) => {
          assert.match(report, /^Nothing was written\.\nThe user did not approve this edit/)
          assert.equal(onDisk(editor.cwd, 'a.txt'), 'one\n')
          editor.answer = 'always'
          return apply({ op: 'insert_after', path: 'a.txt', anchor: 'EOF', text: 'two' })
        },
        ({ results: [report] }) => {
          assert.match(report, /^1 edit/)
          return apply({ op: 'insert_after', path: 'a.txt', anchor: 'EOF', text: 'three' })
        },
        done,
        // What would be refused is not asked for. The lines of the refusal can be edited.
        () => setLine('b.txt', '2zz', 'x'),
        ({ results: [refused] }) => setLine('b.txt', anchorOf(refused, 'second'), 'third'),
        done,
      ],
    },
    async ({ editor, agent, cwd, sessionId, prompt }) => {
      editor.answer = 'never'
      assert.deepEqual(await prompt(), { stopReason: 'end_turn' })
      assert.equal(onDisk(cwd, 'a.txt'), 'one\ntwo\nthree\n')
      const path = join(cwd, 'a.txt')
      const asked = editor.questions.map(({ toolCall }) => toolCall.content)
      assert.deepEqual(asked, [
        [{ type: 'diff', path, oldText: 'one\n', newText: 'two\n' }],
        [{ type: 'diff', path, oldText: 'one\n', newText: 'one\ntwo\n' }],
      ])
      const modes = editor.updates.flatMap((update) =>
        update.sessionUpdate === 'current_mode_update' ? [update.currentModeId] : [],
      )
      assert.deepEqual(modes, ['edit'])
      const { methods } = await import('@agentclientprotocol/sdk')
      await agent.request(methods.agent.session.setMode, { sessionId, modeId: 'ask' })
      editor.answer = 'once'
      await prompt()
      assert.equal(onDisk(cwd, 'b.txt'), 'first\nthird\n')
      assert.equal(editor.questions.length, 3)
    },
  ),
)

test('what the user types during the question is not overwritten', { skip }, () =>
  withEditor(
    {
      mode: 'ask',
      files: { 'a.txt': 'one\ntwo\n' },
      steps: [
        ...replacing('a.txt', 'two', 'TWO'),
        ({ results: [refused] }) => {
          assert.match(refused, /a\.txt: was changed since the patch was planned/)
          return read('a.txt')
        },
        ({ results: [shown] }) => setLine('a.txt', anchorOf(shown, 'two'), 'TWO'),
        done,
      ],
    },
    async ({ editor, cwd, prompt }) => {
      const { decide } = editor
      editor.decide = (signal) => {
        if (editor.questions.length === 1) editor.buffers.set('a.txt', 'typed\none\ntwo\n')
        return decide.call(editor, signal)
      }
      await prompt()
      assert.equal(onDisk(cwd, 'a.txt'), 'typed\none\nTWO\n')
      assert.equal(editor.questions.length, 2)
    },
  ),
)

test('an editor that cannot ask the user', { skip }, () =>
  withEditor(
    {
      mode: 'ask',
      files: { 'a.txt': 'one\n' },
      steps: [
        ...replacing('a.txt', 'one', 'two'),
        ({ results: [refused] }) => {
          assert.match(refused, /The user did not approve this edit: .*/)
          return { text: 'Done.' }
        },
      ],
    },
    async ({ editor, prompt }) => {
      editor.decide = () => {
        throw new Error('not implemented')
      }
      assert.deepEqual(await prompt(), { stopReason: 'end_turn' })
      assert.deepEqual(editor.writes, [])
    },
  ),
)

test('a cancelled question ends the turn, and writes nothing', { skip }, () =>
  withEditor(
    {
      mode: 'ask',
      files: { 'a.txt': 'one\n' },
      steps: [
        ...replacing('a.txt', 'one', 'two'),
        ({ results, prompt }) => {
          assert.deepEqual(results, ['The user cancelled this call.'])
          assert.equal(prompt, 'And now?')
          return { text: 'Done.' }
        },
      ],
    },
    async ({ editor, cwd, prompt, server }) => {
      editor.answer = 'cancelled'
      assert.deepEqual(await prompt(), { stopReason: 'cancelled' })
      assert.equal(onDisk(cwd, 'a.txt'), 'one\n')
      assert.deepEqual(await prompt('And now?'), { stopReason: 'end_turn' })
      // Each call of the conversation has a result.
      const roles = server.turns.at(-1)?.body.messages.map((/** @type {any} */ { role }) => role)
      assert.deepEqual(roles.slice(1), ['user', 'assistant', 'tool', 'assistant', 'tool', 'user'])
    },
  ),
)

test('an editor that only reads: the disk is written where the texts are equal', { skip }, () =>
  withEditor(
    {
      fs: READ_ONLY,
      files: { 'a.txt': 'one\r\ntwo\r\n' },
      // Editors show other line ends than the disk has.
      buffers: { 'a.txt': 'one\ntwo\n' },
      steps: [
        ...replacing('a.txt', 'one', 'ONE'),
        // The editor has not noticed the change of the disk.
        ({ results: [report] }) => {
          assert.doesNotMatch(report, /formatter/)
          return read('a.txt')
        },
        ({ results: [shown] }) => setLine('a.txt', anchorOf(shown, 'ONE'), '1'),
        () => apply({ op: 'add_file', path: 'new/b.txt', content: 'new\n' }),
        done,
      ],
    },
    async ({ editor, cwd, prompt }) => {
      await prompt()
      assert.equal(onDisk(cwd, 'a.txt'), '1\r\ntwo\r\n')
      assert.equal(onDisk(cwd, 'new/b.txt'), 'new\n')
      assert.deepEqual(editor.writes, [])
      assert.ok(editor.calls.every(({ status }) => status === 'completed'))
    },
  ),
)

test('an editor that only reads: unsaved text is shown and not overwritten', { skip }, () =>
  withEditor(
    {
      fs: READ_ONLY,
      files: { 'a.txt': 'saved\n', 'b.txt': 'b\n' },
      buffers: { 'a.txt': 'unsaved\n', 'only.txt': 'in the editor\n' },
      steps: (editor) => [
        () => ({ calls: ['a.txt', 'b.txt', 'only.txt'].flatMap((name) => read(name).calls) }),
        ({ results: [a, b, only] }) => {
          const edits = [
            { op: 'set_line', path: 'b.txt', anchor: anchorOf(b, 'b'), text: 'B' },
            { op: 'set_line', path: 'a.txt', anchor: anchorOf(a, 'unsaved'), text: 'x' },
            { op: 'set_line', path: 'only.txt', anchor: anchorOf(only, 'in the'), text: 'x' },
          ]
          const [one, other, third] = edits
          const remove = { op: 'delete_file', path: 'a.txt' }
          const calls = [apply(one, other), apply(third), apply(remove)]
          return { calls: calls.flatMap(({ calls }) => calls) }
        },
        ({ results }) => {
          for (const refused of results) assert.match(refused, /Ask the user to save the file/)
          assert.match(results[0], /Written back: .*b\.txt/)
          assert.doesNotMatch(results[0], /NOT written back/)
          editor.write('a.txt', 'unsaved\n')
          return read('a.txt')
        },
        ({ results: [shown] }) => setLine('a.txt', anchorOf(shown, 'unsaved'), 'saved now'),
        done,
      ],
    },
    async ({ editor, cwd, prompt }) => {
      await prompt()
      assert.equal(onDisk(cwd, 'a.txt'), 'saved now\n')
      assert.equal(onDisk(cwd, 'b.txt'), 'b\n')
      assert.ok(!existsSync(join(cwd, 'only.txt')))
      const states = editor.calls.map(({ status }) => status === 'completed')
      assert.deepEqual(states, [true, true, true, false, false, false, true, true])
    },
  ),
)

for (const fs of [{}, { writeTextFile: true }]) {
  test(`an editor with ${JSON.stringify(fs)} is not asked for files`, { skip }, () =>
    withEditor(
      {
        fs,
        mode: 'ask',
        files: { 'a.txt': 'one\n' },
        buffers: { 'a.txt': 'unsaved\n' },
        steps: [...replacing('a.txt', 'one', 'two'), done],
      },
      async ({ editor, cwd, prompt }) => {
        await prompt()
        assert.equal(onDisk(cwd, 'a.txt'), 'two\n')
        assert.equal(editor.questions.length, 1)
        assert.deepEqual([editor.reads, editor.writes], [[], []])
        const [, { content, locations }] = editor.calls
        const path = join(cwd, 'a.txt')
        assert.deepEqual(content, [{ type: 'diff', path, oldText: 'one\n', newText: 'two\n' }])
        assert.deepEqual(locations, [{ path, line: 1 }])
      },
    ),
  )
}

/** A server whose model never answers. */
async function startSilentModel() {
  /** @type {(request: unknown) => void} */
  let receive
  const asked = new Promise((resolve) => {
    receive = resolve
  })
  const server = createServer((request) => receive(request))
  await new Promise((resolve) => server.listen(0, '127.0.0.1', () => resolve(undefined)))
  const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
  return { url: `http://127.0.0.1:${port}`, asked, server }
}

test('cancelling while the model answers', { skip }, async () => {
  const { acpAgent, chatCompletions } = await import('./acp.mjs')
  const { Editor, open } = await editorModule
  const { methods } = await import('@agentclientprotocol/sdk')
  const { url, asked, server } = await startSilentModel()
  const model = chatCompletions({ baseURL: url, model: 'silent' })
  await withMess({}, (cwd) =>
    new Editor(cwd).app.connectWith(acpAgent(model), async (agent) => {
      const sessionId = await open(agent, cwd)
      const prompt = [{ type: /** @type {const} */ ('text'), text: 'Go on.' }]
      const turn = agent.request(methods.agent.session.prompt, { sessionId, prompt })
      const request = /** @type {import('node:http').IncomingMessage} */ (await asked)
      const closed = new Promise((resolve) => request.on('close', resolve))
      // A second prompt would mix two conversations.
      await assert.rejects(
        agent.request(methods.agent.session.prompt, { sessionId, prompt }),
        /a prompt is being answered/,
      )
      await agent.notify(methods.agent.session.cancel, { sessionId })
      assert.deepEqual(await turn, { stopReason: 'cancelled' })
      // The request of the model is cancelled, too.
      await closed
    }),
  )
  server.close()
})

for (const what of /** @type {const} */ (['read', 'decide'])) {
  test(`cancelling while the editor does not answer: ${what}`, { skip }, async () => {
    const { methods } = await import('@agentclientprotocol/sdk')
    await withEditor(
      {
        mode: 'ask',
        steps: [
          () => {
            const { calls } = apply({ op: 'add_file', path: 'b.txt', content: 'x\n' })
            return { calls: [...calls, ...read('b.txt').calls] }
          },
          ({ results }) => {
            // Each call has a result, or servers would refuse the conversation.
            assert.deepEqual(results, Array(2).fill('The user cancelled this call.'))
            return { text: 'Done.' }
          },
        ],
      },
      async ({ editor, agent, cwd, sessionId, prompt }) => {
        /** @type {Promise<unknown>} */
        const asked = new Promise((resolve) => {
          editor[what] = (/** @type {unknown} */ given) => {
            resolve(given)
            return new Promise(() => {})
          }
        })
        const turn = prompt()
        const given = await asked
        await agent.notify(methods.agent.session.cancel, { sessionId })
        assert.deepEqual(await turn, { stopReason: 'cancelled' })
        // The editor learns that the question needs no answer.
        if (given instanceof AbortSignal && !given.aborted) {
          await new Promise((resolve) => given.addEventListener('abort', resolve))
        }
        assert.ok(!existsSync(join(cwd, 'b.txt')))
        assert.deepEqual(await prompt(), { stopReason: 'end_turn' })
        assert.deepEqual(editor.writes, [])
      },
    )
  })
}

test('cancelling during a write: the text is written back', { skip }, async () => {
  const { methods } = await import('@agentclientprotocol/sdk')
  await withEditor(
    {
      files: { 'a.txt': 'one\n' },
      steps: [
        ...replacing('a.txt', 'one', 'two'),
        ({ results }) => {
          assert.deepEqual(results, ['The user cancelled this call.'])
          return read('a.txt')
        },
        ({ results: [shown] }) => {
          assert.match(shown, /\|one$/m)
          return { text: 'Done.' }
        },
      ],
    },
    async ({ editor, agent, cwd, sessionId, prompt }) => {
      const { write } = editor
      editor.write = async (name, text) => {
        if (text === 'two\n') await agent.notify(methods.agent.session.cancel, { sessionId })
        write.call(editor, name, text)
      }
      assert.deepEqual(await prompt(), { stopReason: 'cancelled' })
      assert.deepEqual(await prompt(), { stopReason: 'end_turn' })
      assert.equal(onDisk(cwd, 'a.txt'), 'one\n')
    },
  )
})

test('an editor whose read fails', { skip }, () =>
  withEditor(
    {
      files: { 'a.txt': 'one\n', 'b.txt': 'one\n' },
      steps: (editor) => [
        () => {
          editor.read = (name) => {
            if (name === 'a.txt') throw new Error('the file is locked')
            return 'one\n'
          }
          return { calls: [...read('a.txt').calls, ...call('search', { pattern: 'one' }).calls] }
        },
        ({ results: [failed, found] }) => {
          assert.match(failed, /a\.txt: the host cannot read it: the file is locked/)
          assert.match(found, /^--- b\.txt ---$/m)
          return apply({ op: 'add_file', path: 'a.txt', content: 'x\n' })
        },
        ({ results: [failed] }) => {
          assert.match(failed, /the file is locked/)
          editor.read = missing
          return read('a.txt')
        },
        ({ results: [failed] }) => {
          assert.match(failed, /the editor does not open it/)
          editor.read = () => /** @type {any} */ (null)
          return apply({ op: 'add_file', path: 'a.txt', content: 'x\n' })
        },
        ({ results: [failed] }) => {
          assert.match(failed, /it answered without a text/)
          return { text: 'Done.' }
        },
      ],
    },
    async ({ editor, cwd, prompt }) => {
      await prompt()
      assert.equal(onDisk(cwd, 'a.txt'), 'one\n')
      assert.deepEqual(editor.writes, [])
    },
  ),
)

test('an editor that formats what is written', { skip }, () =>
  withEditor(
    {
      files: { 'a.js': 'let a=1\nlet b=2\n' },
      steps: (editor) => [
        () => {
          const { write } = editor
          editor.write = (name, text) => write.call(editor, name, text.replace(/ *= */g, ' = '))
          return read('a.js')
        },
        ({ results: [shown] }) => setLine('a.js', anchorOf(shown, 'a=1'), 'let a=3'),
        ({ results: [report] }) => {
          assert.match(report, /The host changed .*a\.js further, such as by a formatter/)
          return read('a.js')
        },
        ({ results: [shown] }) => setLine('a.js', anchorOf(shown, 'b = 2'), 'let b = 4'),
        done,
      ],
    },
    async ({ editor, cwd, prompt }) => {
      await prompt()
      assert.equal(onDisk(cwd, 'a.js'), 'let a = 3\nlet b = 4\n')
      assert.ok(editor.calls.every(({ status }) => status === 'completed'))
    },
  ),
)

/** Answers as the protocol defines for a file that does not exist. @param {string} name */
const missing = async (name) => (await editorModule).missing(name)

/** @type {Record<string, (name: string) => string | Promise<string>>} */
const MISSING = {
  'resource not found': missing,
  'an empty text': () => '',
  ENOENT: () => {
    throw new Error("ENOENT: no such file or directory, open 'x'")
  },
}
for (const [name, answer] of Object.entries(MISSING)) {
  test(`a file is created in an editor that answers with ${name}`, { skip }, () =>
    withEditor(
      {
        steps: (editor) => [
          () => {
            editor.read = (file) => (file === 'a.txt' ? answer(file) : 'exists\n')
            const path = join(editor.cwd, 'a.txt')
            return {
              calls: [
                ...read('a.txt').calls,
                ...apply({ op: 'add_file', path, content: 'new\n' }).calls,
              ],
            }
          },
          ({ results: [missing, created] }) => {
            assert.match(missing, /^FILE_NOT_FOUND: a\.txt/)
            assert.match(created, /created, \+1/)
            return apply({ op: 'add_file', path: 'buffer.txt', content: 'new\n' })
          },
          ({ results: [refused] }) => {
            assert.match(refused, /exists/)
            return { text: 'Done.' }
          },
        ],
      },
      async ({ editor, cwd, prompt }) => {
        await prompt()
        assert.deepEqual(editor.writes, [{ name: 'a.txt', content: 'new\n' }])
        const [, { content, locations, kind }] = editor.calls
        const path = join(cwd, 'a.txt')
        assert.deepEqual(content, [{ type: 'diff', path, oldText: null, newText: 'new\n' }])
        assert.deepEqual([locations, kind], [[{ path, line: 1 }], 'edit'])
      },
    ),
  )
}

test('if the second of two writes fails, the first is written back', { skip }, () =>
  withEditor(
    {
      files: { 'a.txt': 'a\n', 'b.txt': 'b\n' },
      steps: (editor) => [
        () => ({ calls: ['a.txt', 'b.txt'].flatMap((name) => read(name).calls) }),
        ({ results: [a, b] }) => {
          const { write } = editor
          editor.write = (name, text) => {
            if (text === 'B\n') throw new Error('the file is locked')
            write.call(editor, name, text)
          }
          const edits = [
            { op: 'set_line', path: 'a.txt', anchor: anchorOf(a, 'a'), text: 'A' },
            { op: 'add_file', path: 'aa.txt', content: 'new\n' },
            { op: 'set_line', path: 'b.txt', anchor: anchorOf(b, 'b'), text: 'B' },
          ]
          return apply(...edits)
        },
        ({ results: [report] }) => {
          assert.match(report, /b\.txt: the host cannot write it: the file is locked/)
          assert.match(report, /Written back: .*a\.txt/)
          assert.doesNotMatch(report, /NOT written back/)
          return read('a.txt')
        },
        // The session remembers the file as it was.
        ({ results: [shown] }) => setLine('a.txt', anchorOf(shown, 'a'), 'again'),
        done,
      ],
    },
    async ({ editor, cwd, prompt }) => {
      await prompt()
      assert.deepEqual(
        ['a.txt', 'b.txt'].map((name) => onDisk(cwd, name)),
        ['again\n', 'b\n'],
      )
      assert.ok(!existsSync(join(cwd, 'aa.txt')))
      const failed = editor.calls[2]
      assert.equal(failed.status, 'failed')
      assert.match(JSON.stringify(failed.content), /Written back/)
    },
  ),
)

test('paths outside the directory of the session are not asked for', { skip }, () =>
  withMess({ 'secret.txt': 'secret\n' }, (outside) =>
    withEditor(
      {
        files: { 'a.txt': 'one\n' },
        steps: (editor) => [
          () => {
            symlinkSync(outside, join(editor.cwd, 'link'))
            symlinkSync(join(outside, 'new.txt'), join(editor.cwd, 'dangling'))
            const paths = [
              join(outside, 'secret.txt'),
              '../x.txt',
              'link/secret.txt',
              'link/new.txt',
              'dangling',
            ]
            const reads = paths.map(read)
            const writes = paths.map((path) => apply({ op: 'add_file', path, content: 'x\n' }))
            return { calls: [...reads, ...writes].flatMap(({ calls }) => calls) }
          },
          ({ results }) => {
            assert.equal(results.length, 10)
            for (const refused of results) {
              assert.match(refused, /outside the root|no such file/)
              assert.doesNotMatch(refused, /\|secret/)
            }
            return read(join(editor.cwd, 'a.txt'))
          },
          ({ results: [shown] }) => setLine(`${editor.cwd}/./a.txt`, anchorOf(shown, 'one'), 'two'),
          done,
        ],
      },
      async ({ editor, cwd, prompt }) => {
        await prompt()
        assert.equal(onDisk(cwd, 'a.txt'), 'two\n')
        assert.deepEqual([...new Set(editor.reads)], ['a.txt'])
        assert.deepEqual(readdirSync(outside), ['secret.txt'])
      },
    ),
  ),
)

test('the directory of a session may be a link', { skip }, async () => {
  const { open } = await editorModule
  await withEditor(
    {
      files: { 'a.txt': 'one\n' },
      steps: [...replacing('a.txt', 'one', 'two'), () => call('search', { pattern: 'two' }), done],
    },
    async ({ editor, agent, cwd }) => {
      const { methods } = await import('@agentclientprotocol/sdk')
      const link = `${cwd}-link`
      symlinkSync(cwd, link)
      try {
        editor.cwd = link
        const sessionId = await open(agent, link)
        const prompt = [{ type: /** @type {const} */ ('text'), text: 'Go on.' }]
        await agent.request(methods.agent.session.prompt, { sessionId, prompt })
        assert.deepEqual(editor.writes, [{ name: 'a.txt', content: 'two\n' }])
        assert.ok(editor.calls.every(({ status }) => status === 'completed'))
        assert.deepEqual(editor.calls.at(-1)?.locations, [{ path: join(link, 'a.txt'), line: 1 }])
      } finally {
        rmSync(link)
      }
    },
  )
})

test('texts stay as they are: line ends, no text, marks', { skip }, () =>
  withEditor(
    {
      files: {
        'crlf.txt': 'one\r\ntwo\r\n',
        'mark.txt': '\ufeffone\n',
        'bare.txt': 'one',
        'empty.txt': '',
      },
      steps: (editor) => [
        () => ({
          calls: readdirSync(editor.cwd)
            .sort()
            .flatMap((path) => read(path).calls),
        }),
        ({ results }) => {
          const [bare, crlf, empty, mark] = results
          assert.match(empty, /empty file/)
          return apply(
            { op: 'set_line', path: 'crlf.txt', anchor: anchorOf(crlf, 'two'), text: 'TWO' },
            { op: 'set_line', path: 'mark.txt', anchor: anchorOf(mark, 'one'), text: 'ONE' },
            { op: 'set_line', path: 'bare.txt', anchor: anchorOf(bare, 'one'), text: 'ONE' },
            { op: 'insert_after', path: 'empty.txt', anchor: 'EOF', text: 'first' },
          )
        },
        done,
      ],
    },
    async ({ editor, cwd, prompt }) => {
      await prompt()
      const after = ['one\r\nTWO\r\n', '\ufeffONE\n', 'ONE', 'first\n']
      const names = ['crlf.txt', 'mark.txt', 'bare.txt', 'empty.txt']
      assert.deepEqual(
        names.map((name) => onDisk(cwd, name)),
        after,
      )
      const content = editor.calls.at(-1)?.content ?? []
      const texts = content.map((one) => (one.type === 'diff' ? [one.oldText, one.newText] : []))
      assert.deepEqual(texts, [
        ['one\r\ntwo\r\n', 'one\r\nTWO\r\n'],
        ['one\n', 'ONE\n'],
        ['one', 'ONE'],
        ['', 'first\n'],
      ])
    },
  ),
)

test('images and very large files are read from the disk', { skip }, () =>
  withEditor(
    {
      files: {
        'a.png': Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex'),
        'large.txt': `first\n${'x'.repeat(99)}\n`.repeat(50_000),
      },
      steps: [
        () => ({ calls: ['a.png', 'large.txt'].flatMap((path) => read(path).calls) }),
        ({ results: [image, large] }) => {
          assert.match(image, /\(image, image\/png/)
          const move = { op: 'move_file', from: 'a.png', to: 'images/a.png' }
          const calls = [setLine('large.txt', anchorOf(large, 'first'), 'x'), apply(move)]
          return { calls: calls.flatMap(({ calls }) => calls) }
        },
        ({ results: [refused, moved] }) => {
          assert.match(refused, /large\.txt: the host cannot write it: it is too large/)
          assert.match(moved, /moved from a\.png/)
          return { text: 'Done.' }
        },
      ],
    },
    async ({ editor, cwd, prompt }) => {
      await prompt()
      assert.deepEqual([new Set(editor.reads), editor.writes], [new Set(['images/a.png']), []])
      assert.ok(onDisk(cwd, 'large.txt').startsWith('first\n'))
      assert.ok(existsSync(join(cwd, 'images/a.png')) && !existsSync(join(cwd, 'a.png')))
    },
  ),
)

test('files are moved and deleted, unless their text is unsaved', { skip }, () =>
  withEditor(
    {
      files: { 'a.txt': 'a\n', 'b.txt': 'b\n', 'c.txt': 'c\n', 'e.txt': 'e\n' },
      buffers: { 'c.txt': 'unsaved\n', 'e.txt': 'unsaved\n' },
      steps: [
        () => ({ calls: ['a.txt', 'b.txt', 'c.txt'].flatMap((path) => read(path).calls) }),
        () => apply({ op: 'move_file', from: 'a.txt', to: 'new/a.txt' }),
        () => apply({ op: 'delete_file', path: 'b.txt' }),
        () => apply({ op: 'delete_file', path: 'c.txt' }),
        ({ results: [refused] }) => {
          assert.match(refused, /c\.txt: the host cannot remove it: the editor has other text/)
          return apply({ op: 'move_file', from: 'e.txt', to: 'd.txt' })
        },
        ({ results: [refused] }) => {
          assert.match(refused, /Ask the user to save the file/)
          return { text: 'Done.' }
        },
      ],
    },
    async ({ editor, cwd, prompt }) => {
      await prompt()
      assert.equal(onDisk(cwd, 'new/a.txt'), 'a\n')
      const gone = ['a.txt', 'b.txt', 'd.txt'].filter((name) => existsSync(join(cwd, name)))
      assert.deepEqual(gone, [])
      assert.equal(editor.read('c.txt'), 'unsaved\n')
      const [, , , moved, removed] = editor.calls
      assert.deepEqual(moved.locations, [{ path: join(cwd, 'new/a.txt'), line: 1 }])
      const path = join(cwd, 'b.txt')
      assert.deepEqual(removed.content, [{ type: 'diff', path, oldText: 'b\n', newText: '' }])
      assert.deepEqual([moved.kind, removed.kind], ['move', 'delete'])
    },
  ),
)

test('a search shows unsaved text, and asks only for files that match', { skip }, () =>
  withEditor(
    {
      files: { 'a.txt': 'needle\n', 'b.txt': 'needle\n', 'c.txt': 'hay\n', '.gitignore': 'x\n' },
      buffers: { 'a.txt': 'zero\nneedle, unsaved\n', 'b.txt': 'hay\n', 'new.txt': 'needle\n' },
      steps: (editor) => [
        () => call('search', { pattern: 'needle' }),
        ({ results: [found] }) => {
          assert.match(found, /^2\w\w\|needle, unsaved$/m)
          assert.doesNotMatch(found, /b\.txt|new\.txt/)
          return read('new.txt')
        },
        () => {
          editor.buffers.set('new.txt', 'zero\nneedle\n')
          return call('search', { pattern: 'needle', paths: ['new.txt', 'c.txt'] })
        },
        ({ results: [found] }) => {
          assert.match(found, /^2\w\w\|needle$/m)
          return call('search', { pattern: '(' })
        },
        ({ results: [refused] }) => {
          assert.match(refused, /INVALID_PATTERN/)
          return { text: 'Done.' }
        },
      ],
    },
    async ({ editor, cwd, prompt }) => {
      await prompt()
      assert.deepEqual(new Set(editor.reads), new Set(['a.txt', 'b.txt', 'new.txt']))
      const [{ kind, locations }] = editor.calls
      assert.deepEqual([kind, locations], ['search', [{ path: join(cwd, 'a.txt'), line: 2 }]])
    },
  ),
)

test('a search that is cut says so', { skip }, () =>
  withEditor(
    {
      files: Object.fromEntries(
        Array.from({ length: 60 }, (_, at) => [`${at}.txt`, 'needle\n'.repeat(100)]),
      ),
      steps: [
        () => call('search', { pattern: 'needle' }),
        ({ results: [found] }) => {
          assert.match(found, /There may be more matches|there are more/)
          return { text: 'Done.' }
        },
      ],
    },
    async ({ editor, prompt }) => {
      await prompt()
      assert.ok(editor.reads.length < 60, `${editor.reads.length}`)
    },
  ),
)

test('two sessions have their own texts and memories', { skip }, async () => {
  const { open } = await editorModule
  await withMess({ 'a.txt': 'one\n' }, (other) =>
    withEditor(
      {
        files: { 'a.txt': 'one\n' },
        steps: [
          ...replacing('a.txt', 'one', 'two'),
          done,
          // The second session has not shown the line.
          () => setLine('a.txt', '1aa', 'x'),
          ({ results: [refused] }) => {
            assert.match(refused, /^Nothing was written\.\n/)
            return setLine('a.txt', anchorOf(refused, 'one'), 'three')
          },
          done,
        ],
      },
      async ({ editor, agent, cwd, prompt, sessionId }) => {
        const second = await open(agent, other)
        assert.notEqual(second, sessionId)
        await prompt()
        editor.nameOf = (path) => path
        editor.read = (path) => readFileSync(path, 'utf8')
        editor.write = (path, text) => writeFileSync(path, text)
        const { methods } = await import('@agentclientprotocol/sdk')
        await agent.request(methods.agent.session.prompt, {
          sessionId: second,
          prompt: [{ type: 'text', text: 'And here?' }],
        })
        assert.deepEqual([onDisk(cwd, 'a.txt'), onDisk(other, 'a.txt')], ['two\n', 'three\n'])
      },
    ),
  )
})

test('what is wrong is answered with an error', { skip }, async () => {
  const { methods } = await import('@agentclientprotocol/sdk')
  const { setMode, prompt: asking } = methods.agent.session
  await withEditor(
    {
      steps: [
        () => ({ status: 500, message: 'overloaded' }),
        ({ prompt }) => {
          assert.equal(prompt, 'file:///a.txt\nb.txt:\nb\n(image: not supported)')
          return call('bash', { command: 'ls' })
        },
        ({ results: [refused] }) => {
          assert.equal(refused, 'No such tool.')
          return { calls: [{ name: 'read', args: undefined, raw: '{"path":' }], isCut: true }
        },
        ({ results: [refused] }) => {
          assert.match(refused, /JSON/)
          return { text: 'Cut', isCut: true }
        },
      ],
    },
    async ({ agent, cwd, prompt, sessionId }) => {
      await assert.rejects(prompt(), (/** @type {any} */ { data }) =>
        /500.*overloaded/.test(data.details),
      )
      const parts = /** @type {import('@agentclientprotocol/sdk').ContentBlock[]} */ ([
        { type: 'resource_link', name: 'a.txt', uri: 'file:///a.txt' },
        { type: 'resource', resource: { uri: 'b.txt', text: 'b' } },
        { type: 'image', mimeType: 'image/png', data: '' },
      ])
      const answer = await agent.request(asking, { sessionId, prompt: parts })
      assert.deepEqual(answer, { stopReason: 'max_tokens' })
      const unknown = { sessionId: 'session_9', prompt: [] }
      await assert.rejects(agent.request(asking, unknown), { code: -32002 })
      const wrongMode = { sessionId, modeId: 'yolo' }
      await assert.rejects(agent.request(setMode, wrongMode), { code: -32602 })
      for (const wrong of ['relative', join(cwd, 'missing')]) {
        const params = { cwd: wrong, mcpServers: [] }
        await assert.rejects(agent.request(methods.agent.session.new, params), { code: -32602 })
      }
    },
  )
})

test('the program speaks the protocol over standard input and output', { skip }, () =>
  withEditor(
    { files: { 'a.txt': 'one\n' }, steps: [...replacing('a.txt', 'one', 'two'), done] },
    async ({ editor, cwd, server }) => {
      const { methods, ndJsonStream } = await import('@agentclientprotocol/sdk')
      const { open } = await editorModule
      const env = { ...process.env, OPENAI_BASE_URL: `${server.url}/v1`, OPENAI_MODEL: 'scripted' }
      const child = spawn(process.execPath, [join(FOLDER, 'acp.mjs')], {
        env,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      const output = /** @type {ReadableStream<Uint8Array>} */ (Readable.toWeb(child.stdout))
      const closed = new Promise((resolve) => child.on('close', resolve))
      const stream = ndJsonStream(Writable.toWeb(child.stdin), output)
      await editor.app.connectWith(stream, async (agent) => {
        const sessionId = await open(agent, cwd)
        const prompt = [{ type: /** @type {const} */ ('text'), text: 'Go on.' }]
        const answer = await agent.request(methods.agent.session.prompt, { sessionId, prompt })
        assert.deepEqual(answer, { stopReason: 'end_turn' })
      })
      assert.equal(onDisk(cwd, 'a.txt'), 'two\n')
      child.stdin.end()
      // It ends with its input.
      assert.equal(await closed, 0)
    },
  ),
)
