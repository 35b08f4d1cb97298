// The option `afterWrite`: the host works on written files before the edit is answered.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import fc from 'fast-check'
import { HashSession } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'
import { isEmulated, untyped, withDir } from './support.mjs'

/** @import { AfterWrite, HashToolsOptions, HostFiles, ToolResult, WrittenFile } from 'hashline-native/tools' */

/** The row of a text with this line. @param {string} text @param {string} line */
const row = (text, line) => {
  const found = text.split('\n').find((one) => /^\d+[a-z]+/.test(one) && one.endsWith(`|${line}`))
  assert.ok(found, `${line} in ${text}`)
  return found
}

/** @param {string} path @param {string} anchor @param {string} text */
const setLine = (path, anchor, text) => ({
  operations: [{ op: /** @type {const} */ ('set_line'), path, anchor, text }],
})

/**
 * The tools over a directory with the file `a.js`.
 * @param {string} cwd
 * @param {string} stateDir
 * @param {AfterWrite} afterWrite
 * @param {HashToolsOptions} [options]
 */
function toolsOver(cwd, stateDir, afterWrite, options = {}) {
  const session = new HashSession({ cwd, stateDir, durability: 'process' })
  const file = join(cwd, 'a.js')
  const rewrite = (/** @type {(text: string) => string} */ change) =>
    writeFileSync(file, change(readFileSync(file, 'utf8')))
  return { session, file, rewrite, ...hashTools(session, { afterWrite, ...options }) }
}

const TEN = Array.from({ length: 10 }, (_, at) => `const v${at + 1} = ${at + 1}\n`).join('')

/** The first changed file of a result. @param {ToolResult<any>} result */
const change = ({ structured }) => structured.files[0]

test('the answer has the anchors, counts and diff of the final text', () =>
  withDir({ 'a.js': TEN }, async (cwd, stateDir) => {
    /** @type {WrittenFile[][]} */
    const seen = []
    const { read, apply, rewrite, file } = toolsOver(cwd, stateDir, async (files, { signal }) => {
      seen.push(files)
      assert.equal(signal.aborted, false)
      rewrite((text) => `// formatted\n${text.replace('[1, 2]', '[\n  1,\n  2,\n]')}`)
    })
    const page = await read.execute({ path: 'a.js' })
    const edit = setLine('a.js', row(page.text, 'const v3 = 3'), 'const v3 = [1, 2]')
    const result = await apply.execute(edit)
    assert.deepEqual(seen, [[{ path: file, change: 'edited' }]])
    const rows = [
      '1 edit, +5 -1',
      /^4\w+\|const v3 = \[$/,
      /^5\w+\| {2}1,$/,
      /^6\w+\| {2}2,$/,
      /^7\w+\|\]$/,
      'Lines after 3 moved by +4.',
      'formatted: line 1',
    ]
    const lines = result.text.split('\n')
    rows.forEach((expected, at) => {
      assert.match(
        lines[at],
        expected instanceof RegExp
          ? expected
          : new RegExp(`^${expected.replace(/[.+]/g, '\\$&')}$`),
      )
    })
    assert.equal(lines.length, rows.length, result.text)
    const { added, removed, lineCount, diff } = change(result)
    assert.deepEqual([added, removed, lineCount], [5, 1, 14])
    assert.match(diff, /^\+\/\/ formatted\n const v1/m)
    assert.match(result.summary, /^a\.js \+5 -1$/)
    // Earlier anchors are carried, and those of the answer are accepted.
    for (const [from, line, text] of [
      [page.text, 'const v9 = 9', 'const v9 = 99'],
      [result.text, '  2,', '  3,'],
    ]) {
      const next = await apply.execute(setLine('a.js', row(from, line), text))
      assert.equal(next.isError, false, next.text)
    }
    assert.match(readFileSync(file, 'utf8'), /\n {2}3,\n(.*\n)*const v9 = 99\n/)
  }))

test('an answer after a function that changes nothing is the usual one', () =>
  withDir({ 'a.js': TEN, 'b.js': 'b\n' }, async (cwd, stateDir) => {
    for (const answer of /** @type {const} */ (['brief', 'region'])) {
      const { session, file } = toolsOver(cwd, stateDir, () => {}, { answer })
      const { text } = session.readSync('a.js')
      const anchors = [2, 5].map((line) => row(text, `const v${line} = ${line}`))
      const operations = [
        { op: 'delete', path: 'a.js', anchor: anchors[0] },
        { op: 'insert_after', path: 'a.js', anchor: anchors[1], text: 'if (x) {\n  y\n}' },
        { op: 'add_file', path: 'c.js', content: `${TEN}${TEN}` },
        { op: 'move_file', path: 'b.js', to: 'd.js' },
      ]
      const results = []
      for (const hook of [{}, { afterWrite: () => undefined }]) {
        const { apply } = hashTools(session.fork(), { answer, ...hook })
        results.push(await apply.execute({ operations }))
        writeFileSync(file, TEN)
        writeFileSync(join(cwd, 'b.js'), 'b\n')
        for (const name of ['c.js', 'd.js']) rmSync(join(cwd, name))
      }
      assert.equal(results[0].isError, false, results[0].text)
      assert.deepEqual(results[1], results[0])
    }
  }))

test('it is called for an edit that is approved and written, and for no other', () =>
  withDir({ 'a.js': TEN }, async (cwd, stateDir) => {
    /** @type {string[]} */
    const steps = []
    let answer = false
    const approve = () => {
      steps.push('approve')
      return answer
    }
    const hook = (/** @type {WrittenFile[]} */ files) => {
      steps.push(`after ${files.map((one) => one.change)}`)
    }
    const { read, apply, file } = toolsOver(cwd, stateDir, hook, { approve })
    const { text } = await read.execute({ path: 'a.js' })
    const edit = setLine('a.js', row(text, 'const v2 = 2'), 'const v2 = 0')
    await apply.execute(edit)
    await apply.execute(edit, { dryRun: true })
    await apply.execute(setLine('a.js', '3zz', 'x'))
    await apply.execute(setLine('a.js', row(text, 'const v2 = 2'), 'const v2 = 2'))
    await apply.execute({ operations: 'nonsense' })
    assert.deepEqual(steps, ['approve'])
    answer = true
    await apply.execute(edit)
    assert.deepEqual(steps, ['approve', 'approve', 'after edited'])
    assert.match(readFileSync(file, 'utf8'), /v2 = 0/)
    const moved = { op: 'move_file', path: 'a.js', to: 'b.js' }
    await apply.execute({ operations: [moved] })
    await apply.execute({ operations: [{ op: 'delete_file', path: 'b.js' }] })
    assert.deepEqual(steps.slice(3), ['approve', 'after moved', 'approve', 'after deleted'])
  }))

test('a function that fails loses nothing', () =>
  withDir({ 'a.js': TEN }, async (cwd, stateDir) => {
    /** @type {any} */
    let fail = () => {}
    /** @type {AbortSignal | undefined} */
    let seen
    let count = 0
    const { read, apply, rewrite } = toolsOver(
      cwd,
      stateDir,
      (_, { signal }) => {
        seen = signal
        count += 1
        rewrite((text) => `// ${count}\n${text}`)
        return fail()
      },
      { afterWriteTimeoutMs: 20 },
    )
    const cyclic = /** @type {any[]} */ ([])
    cyclic.push(cyclic)
    const failures = /** @type {[any, RegExp][]} */ ([
      [() => Promise.reject(new Error('no\n\u001b[31mprettier.')), /failed: no \[31mprettier\.\)$/],
      [() => Promise.reject(undefined), /failed: undefined\.\)$/],
      [() => 'fine', /\(afterWrite returned neither diagnostics nor nothing\.\)$/],
      [() => ({ diagnostics: [1, { line: 'x' }] }), /\(afterWrite returned 2 malformed diag/],
      [() => cyclic, /failed: .*(circular|cyclic)/i],
      [() => new Promise(() => {}), /failed: it took longer than 20 ms\.\)$/],
    ])
    for (const [at, [failure, text]] of failures.entries()) {
      fail = failure
      const line = `const v${at + 1} = ${at + 1}`
      const page = await read.execute({ path: 'a.js' })
      const result = await apply.execute(setLine('a.js', row(page.text, line), `${line} // new`))
      assert.equal(result.isError, false)
      assert.match(result.text, text)
      assert.match(result.text, /^formatted: line 1$/m)
      const anchor = /** @type {string} */ (result.text.split('\n')[1].match(/^\d+\w+/)?.[0])
      assert.match(page.text, /v1/)
      fail = () => {}
      const next = await apply.execute(setLine('a.js', anchor, line))
      assert.equal(next.isError, false, next.text)
    }
    assert.equal(seen?.aborted, false)
  }))

test('the signal of the function fires at the limit, and when the call is cancelled', () =>
  withDir({ 'a.js': TEN }, async (cwd, stateDir) => {
    /** @type {any[]} */
    const reasons = []
    const controller = new AbortController()
    let isCancelled = false
    const { read, apply, file } = toolsOver(
      cwd,
      stateDir,
      (_, { signal }) =>
        new Promise(() => {
          signal.addEventListener('abort', () => reasons.push(signal.reason))
          if (isCancelled) controller.abort(new Error('stop'))
        }),
      { afterWriteTimeoutMs: 30 },
    )
    const { text } = await read.execute({ path: 'a.js' })
    await apply.execute(setLine('a.js', row(text, 'const v1 = 1'), 'one'))
    assert.match(reasons[0].message, /took longer/)
    isCancelled = true
    const { signal } = controller
    const result = await apply.execute(setLine('a.js', row(text, 'const v2 = 2'), 'two'), {
      signal,
    })
    // The edit is written, so the call answers.
    assert.equal(result.isError, false)
    assert.match(result.text, /failed: the call was cancelled\.\)$/)
    assert.equal(reasons[1].message, 'stop')
    assert.match(readFileSync(file, 'utf8'), /^one\ntwo\n/)
  }))

test('diagnostics are shown with the anchors of their lines', () =>
  withDir({ 'a.js': TEN, 'b.js': 'let b\n' }, async (cwd, stateDir) => {
    /** @type {any} */
    let returned
    const { read, apply } = toolsOver(cwd, stateDir, () => returned)
    const { text } = await read.execute({ path: 'a.js', max_lines: 2 })
    returned = {
      diagnostics: [
        { path: 'a.js', line: 8, severity: 'hint', message: 'late' },
        {
          path: join(cwd, 'a.js'),
          line: 7,
          column: 7,
          message: `is\n\u001b[1m not ${'x'.repeat(999)}`,
        },
        { path: 'b.js', line: 1, severity: 'warning', message: 'unused' },
        { path: 'b.js', line: 99, severity: 'information', message: 'beyond' },
        { path: '/etc/passwd', line: 1, message: 'secret' },
        { path: 'missing.js', line: 1, message: 'no file' },
      ],
    }
    const result = await apply.execute(setLine('a.js', row(text, 'const v1 = 1'), 'const v1 = 0'))
    const lines = result.text.split('\n').slice(2)
    assert.match(lines[0], /^--- a\.js --- 1 error, 1 hint$/)
    assert.match(lines[1], /^7\w+\|const v7 = 7$/)
    assert.match(lines[2], /^ {2}\^ error, column 7: is \[1m not x{100,}…$/)
    assert.match(lines[3], /^8\w+\|const v8 = 8$/)
    assert.equal(lines[4], '  ^ hint: late')
    assert.match(lines[5], /^--- b\.js --- 1 warning, 1 note$/)
    assert.match(lines[6], /^1\w+\|let b$/)
    assert.deepEqual(lines.slice(7), ['  ^ warning: unused', '  ^ information, line 99: beyond'])
    // These lines count as shown. A session refuses a line that was not.
    returned = []
    const next = await apply.execute(setLine('a.js', lines[1], 'const v7 = 77'))
    assert.equal(next.isError, false, next.text)
    returned = Array.from({ length: 50 }, (_, at) => ({
      path: 'b.js',
      line: 1,
      severity: at < 30 ? 'warning' : 'error',
      message: `m${at}`,
    }))
    const many = await apply.execute(setLine('b.js', lines[6], 'let bb'))
    assert.match(many.text, /^--- b\.js --- 20 errors$/m)
    assert.match(many.text, /\(30 more diagnostics are not shown\.\)$/)
  }))

test('a formatter that rewrites the whole file', () =>
  withDir({ 'a.js': `import b\nimport d\n\n${TEN}` }, async (cwd, stateDir) => {
    const { read, apply, rewrite, file } = toolsOver(cwd, stateDir, () => {
      rewrite((text) => {
        const [imports, body] = text.split('\n\n')
        const sorted = imports.split('\n').sort()
        const lines = body.split('\n').filter(Boolean)
        return [...sorted, '', ...lines.map((line) => `\t${line};`), ''].join('\r\n')
      })
    })
    const page = await read.execute({ path: 'a.js' })
    const result = await apply.execute({
      path: 'a.js',
      operations: [
        { op: 'insert_after', anchor: row(page.text, 'import d'), text: 'import alpha' },
        { op: 'set_line', anchor: row(page.text, 'const v5 = 5'), text: 'const v5 = "five"' },
      ],
    })
    assert.match(result.text, /^1\w+\|import alpha$/m)
    assert.match(result.text, /^9\w+\|\tconst v5 = "five";$/m)
    assert.match(result.text, /^formatted: lines 5-8, 10-14, line ends$/m)
    const { added, removed, diff, hunks } = change(result)
    assert.deepEqual([added, removed, hunks.length], [14, 13, 1])
    assert.match(diff, /^\+import alpha\r$/m)
    const next = await apply.execute(
      setLine('a.js', row(result.text, '\tconst v5 = "five";'), '\tlet v5'),
    )
    assert.equal(next.isError, false, next.text)
    assert.match(readFileSync(file, 'utf8'), /^\tlet v5;?\r$/m)
  }))

test('what a formatter changed elsewhere is not known', () =>
  withDir({ 'a.js': TEN }, async (cwd, stateDir) => {
    const { read, apply, rewrite } = toolsOver(cwd, stateDir, () => {
      rewrite((text) => text.replace('v9 = 9', 'v9 = compute(9)'))
    })
    const { text } = await read.execute({ path: 'a.js' })
    const result = await apply.execute(setLine('a.js', row(text, 'const v1 = 1'), 'const v1 = 0'))
    assert.match(result.text, /^formatted: line 9$/m)
    const refused = await apply.execute(setLine('a.js', row(text, 'const v9 = 9'), 'x'))
    assert.equal(refused.isError, true)
    assert.match(refused.text, /v9 = compute\(9\)/)
  }))

test('a file that is gone, binary, too large, or a link after the write', () =>
  withDir({ 'a.js': TEN, 'b.js': 'b\n' }, async (cwd, stateDir) => {
    const file = join(cwd, 'a.js')
    const hostile = /** @type {[() => void, RegExp][]} */ ([
      [() => {}, /^deleted\nAfter the write, a\.js does not exist\.$/],
      [
        () => writeFileSync(file, Buffer.alloc(9)),
        /^1 edit.*\nAfter the write, a\.js is a binary file\.$/,
      ],
      [() => mkdirSync(file), /^1 edit.*\nAfter the write, a\.js: .*directory/],
      [
        () => symlinkSync('b.js', file),
        /^1 edit.*\nAfter the write, a\.js is a link to another file\.$/,
      ],
      [() => symlinkSync('/etc/passwd', file), /^1 edit.*\nAfter the write, .*/],
    ])
    for (const [replace, text] of hostile) {
      writeFileSync(file, TEN)
      const { read, apply } = toolsOver(cwd, stateDir, () => {
        rmSync(file)
        replace()
      })
      const page = await read.execute({ path: 'a.js' })
      const result = await apply.execute(setLine('a.js', row(page.text, 'const v1 = 1'), 'one'))
      assert.equal(result.isError, false)
      assert.match(result.text, text)
      assert.doesNotMatch(result.text, /root:/)
      const { lineCount, snapshot, diff } = change(result)
      assert.deepEqual([lineCount, snapshot], [undefined, undefined])
      assert.ok(diff.length > 0)
      rmSync(file, { recursive: true, force: true })
    }
  }))

test('a file that grows beyond what is compared is not shown', () =>
  withDir({ 'a.js': TEN }, async (cwd, stateDir) => {
    const session = new HashSession({ cwd, stateDir, maxFileBytes: 1_000 })
    const { read, apply } = hashTools(session, {
      afterWrite: () => writeFileSync(join(cwd, 'a.js'), 'x\n'.repeat(1_000)),
    })
    const { text } = await read.execute({ path: 'a.js' })
    const result = await apply.execute(setLine('a.js', row(text, 'const v1 = 1'), 'one'))
    assert.match(result.text, /^1 edit.*\nAfter the write, a\.js: .*2000 bytes|too large/)
  }))

test('other files that it changes count as changed by others', () =>
  withDir({ 'a.js': TEN, 'b.js': 'b\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOver(cwd, stateDir, () =>
      writeFileSync(join(cwd, 'b.js'), 'bbb\n'),
    )
    const { text } = await read.execute({ paths: ['a.js', 'b.js'] })
    const result = await apply.execute(setLine('a.js', row(text, 'const v1 = 1'), 'one'))
    assert.match(result.text, /\(b\.js changed since you read it\.\)$/)
    assert.doesNotMatch(result.text, /a\.js changed/)
    const quiet = await read.execute({ path: 'a.js' })
    assert.doesNotMatch(quiet.text, /changed since/)
  }))

test('edits by the function itself, and edits in parallel', () =>
  withDir({ 'a.js': TEN }, async (cwd, stateDir) => {
    let running = 0
    /** @type {string[]} */
    const inner = []
    const tools = toolsOver(cwd, stateDir, async () => {
      running += 1
      assert.equal(running, 1)
      const text = readFileSync(tools.file, 'utf8')
      const page = await tools.read.execute({ path: 'a.js' })
      const result = await tools.apply.execute(
        setLine('a.js', row(page.text, 'const v10 = 10'), 'const v10 = 10'),
      )
      inner.push(result.text)
      await new Promise((resolve) => setTimeout(resolve, 5))
      // A formatter writes the whole file that it has read.
      writeFileSync(tools.file, `// x\n${text}`)
      running -= 1
    })
    const { text } = await tools.read.execute({ path: 'a.js' })
    const edits = [1, 2, 3].map((at) =>
      tools.apply.execute(setLine('a.js', row(text, `const v${at} = ${at}`), `new${at}`)),
    )
    const during = tools.read.execute({ path: 'a.js' })
    for (const result of await Promise.all(edits)) assert.equal(result.isError, false, result.text)
    assert.equal(
      readFileSync(tools.file, 'utf8'),
      `${'// x\n'.repeat(3)}new1\nnew2\nnew3\n${TEN.split('\n').slice(3).join('\n')}`,
    )
    assert.equal(inner.length, 3)
    assert.match(inner[0], /changes nothing/)
    assert.match((await during).text, /new3/)
  }))

test('functions of two sessions that call tools of each other', () =>
  withDir({ 'a.js': TEN, 'b.js': 'b\n' }, async (cwd, stateDir) => {
    const sessions = [1, 2].map(() => new HashSession({ cwd, stateDir, durability: 'process' }))
    /** @type {string[]} */
    const steps = []
    const second = hashTools(sessions[1], {
      afterWrite: async () => {
        const { text } = await first.read.execute({ path: 'a.js' })
        steps.push(`second read ${text.split('|')[1].split('\n')[0]}`)
      },
    })
    const first = hashTools(sessions[0], {
      afterWrite: async () => {
        const { text } = await second.read.execute({ path: 'b.js' })
        await second.apply.execute(setLine('b.js', row(text, 'b'), 'bb'))
        steps.push('first')
      },
    })
    const { text } = await first.read.execute({ path: 'a.js' })
    const result = await first.apply.execute(setLine('a.js', row(text, 'const v1 = 1'), 'one'))
    assert.equal(result.isError, false, result.text)
    assert.deepEqual(steps, ['second read one', 'first'])
  }))

test('a syntax error is that of the final text', () =>
  withDir({ 'a.js': 'f(1)\ng(2)\n' }, async (cwd, stateDir) => {
    let text = 'f(1)\ng(\n'
    const { read, apply } = toolsOver(cwd, stateDir, () => writeFileSync(join(cwd, 'a.js'), text))
    const page = await read.execute({ path: 'a.js' })
    const broken = await apply.execute(setLine('a.js', row(page.text, 'f(1)'), 'f(3)'))
    assert.match(broken.text, /a\.js parsed before and does not now: line 2/)
    assert.equal(change(broken).syntax, 'broken')
    text = 'f(4)\ng(2)\n'
    const again = await read.execute({ path: 'a.js' })
    const fixed = await apply.execute(setLine('a.js', row(again.text, 'f(1)'), 'f(4'))
    assert.doesNotMatch(fixed.text, /parsed before/)
    assert.equal(change(fixed).syntax, 'ok')
  }))

test('created and moved files are formatted, too', () =>
  withDir({ 'b.js': 'let b\nlet c\n' }, async (cwd, stateDir) => {
    const { read, apply } = toolsOver(cwd, stateDir, (files) => {
      for (const { path } of files) {
        writeFileSync(path, readFileSync(path, 'utf8').replace(/(let \w)$/gm, '$1;'))
      }
    })
    const { text } = await read.execute({ path: 'b.js' })
    const result = await apply.execute({
      operations: [
        { op: 'add_file', path: 'new.js', content: 'let x\nlet y\n' },
        { op: 'move_file', path: 'b.js', to: 'c.js' },
      ],
    })
    assert.match(result.text, /^--- new\.js --- created, \+2\n1\w+\|let x;\n2\w+\|let y;$/m)
    assert.match(result.text, /^--- c\.js --- .*\+2 -2, moved from b\.js\nformatted: lines 1-2$/m)
    const { hunks, from } = result.structured.files?.[1] ?? {}
    assert.deepEqual([from, hunks?.length], ['b.js', 1])
    const next = await apply.execute(setLine('c.js', row(text, 'let b'), 'let bb'))
    assert.match(next.text, /let b;/)
  }))

test('documents of a session without host functions', async () => {
  const session = new HashSession({ root: '/nowhere', disk: false })
  session.setDocument('/nowhere/a.js', TEN)
  const { read, apply } = hashTools(session, {
    afterWrite: ([{ path }]) =>
      session.setDocument(path, `// x\n${TEN.replace('= 1\n', '= one;\n')}`),
  })
  const { text } = await read.execute({ path: 'a.js' })
  const result = await apply.execute(setLine('a.js', row(text, 'const v1 = 1'), 'const v1 = one'))
  assert.match(result.text, /^2\w+\|const v1 = one;$/m)
  assert.match(result.text, /^formatted: line 1$/m)
  const { content, textEdits } = change(result)
  assert.match(content, /^\/\/ x\nconst v1 = one;\n/)
  assert.equal(textEdits.length, 1)
})

test('edits of a document with a byte order mark make its final text', async () => {
  const session = new HashSession({ root: '/nowhere', disk: false })
  const before = '\ufeffone\ntwo\n'
  session.setDocument('/nowhere/a.txt', before)
  const { read, apply } = hashTools(session, {
    afterWrite: ([{ path }]) => session.setDocument(path, '\ufeff1;\ntwo;\n'),
  })
  const { text } = await read.execute({ path: 'a.txt' })
  const result = await apply.execute(setLine('a.txt', row(text, 'one'), '1'))
  const [{ range, newText }] = change(result).textEdits
  assert.deepEqual(range, { start: { line: 0, character: 1 }, end: { line: 2, character: 0 } })
  assert.equal(before.slice(0, 1) + newText, '\ufeff1;\ntwo;\n')
  assert.equal(change(result).content, '\ufeff1;\ntwo;\n')
})

test('a host that cannot read a file after its function', async () => {
  const session = new HashSession({ root: '/nowhere', disk: false })
  let isBroken = false
  const tools = hashTools(session, {
    files: {
      read: () => {
        if (isBroken) throw new Error('no connection')
        return 'one\n'
      },
      write: () => {},
    },
    afterWrite: () => {
      isBroken = true
    },
  })
  const { text } = await tools.read.execute({ path: 'a.txt' })
  const result = await tools.apply.execute(setLine('a.txt', row(text, 'one'), '1'))
  assert.equal(result.isError, false)
  assert.match(result.text, /\(Not read: .*no connection\.\)$/)
})

test('files of the host are read again through the host', async () => {
  const stored = new Map([['/nowhere/a.js', TEN]])
  /** @type {string[]} */
  const steps = []
  /** @type {HostFiles} */
  const files = {
    read: (path) => stored.get(path) ?? null,
    write: (path, content) => {
      steps.push('write')
      stored.set(path, String(content))
    },
  }
  const session = new HashSession({ root: '/nowhere', disk: false })
  /** @type {string | undefined} */
  let nested
  const tools = hashTools(session, {
    files,
    afterWrite: async ([{ path }]) => {
      steps.push('after')
      nested = (await tools.read.execute({ path: 'a.js' })).text
      stored.set(path, `// x\n${stored.get(path)}`)
    },
  })
  const { text } = await tools.read.execute({ path: 'a.js' })
  const result = await tools.apply.execute(setLine('a.js', row(text, 'const v2 = 2'), 'two'))
  assert.deepEqual(steps, ['write', 'after'])
  assert.match(nested ?? '', /waits for this function/)
  assert.match(result.text, /^formatted: line 1$/m)
  assert.match(change(result).content, /^\/\/ x\nconst v1 = 1\ntwo\n/)
  const anchor = /** @type {string} */ (result.text.match(/3\w+/)?.[0])
  const next = await tools.apply.execute(setLine('a.js', anchor, 'three'))
  assert.equal(next.isError, false, next.text)
  assert.match(stored.get('/nowhere/a.js') ?? '', /^\/\/ x\n\/\/ x\nconst v1 = 1\nthree\n/)
})

test('misuse of the options is refused', () => {
  const session = new HashSession({ root: '/nowhere', disk: false })
  const create = untyped(hashTools)
  assert.throws(() => create(session, { afterWrite: 'x' }), /options\.afterWrite is not a function/)
  for (const afterWriteTimeoutMs of [0, -1, Number.NaN, '5', 2 ** 31, null]) {
    assert.throws(
      () => create(session, { afterWrite: () => {}, afterWriteTimeoutMs }),
      /options\.afterWriteTimeoutMs is .*: expected a number/,
    )
  }
})

/** What formatters do to lines. @type {((line: string, random: number) => string[])[]} */
const REWRITES = [
  (line) => [line],
  (line) => [`  ${line}`],
  (line) => [`${line};`],
  (line) => [line.replace('(', '(\n  ').replace(')', '\n)')].flatMap((one) => one.split('\n')),
  (line) => ['', line],
  () => [],
  (line, random) => [line, `added ${random}`],
]

test('anchors of the answer name their lines after any rewrite', async () => {
  let checked = 0
  const word = fc.constantFrom('alpha(1)', 'beta(2, 3)', '}', '{', '', 'return x', 'gamma(alpha)')
  const scenario = fc.record({
    lines: fc.array(word, { minLength: 1, maxLength: 12 }),
    edit: fc.record({ at: fc.nat(), text: fc.array(word, { maxLength: 4 }) }),
    rewrites: fc.array(fc.record({ kind: fc.nat(REWRITES.length - 1), random: fc.nat(9) }), {
      minLength: 1,
      maxLength: 20,
    }),
    returns: fc.boolean(),
    answer: fc.constantFrom(/** @type {const} */ ('brief'), /** @type {const} */ ('region')),
  })
  const property = fc.asyncProperty(
    scenario,
    async ({ lines, edit, rewrites, returns, answer }) => {
      const file = '/nowhere/a.txt'
      const end = returns ? '\r\n' : '\n'
      const session = new HashSession({ root: '/nowhere', disk: false })
      const { files, stored } = hostOf({ [file]: `${lines.join('\n')}\n` })
      let isCalled = false
      const { read, apply } = hashTools(session, {
        answer,
        files,
        afterWrite: () => {
          const written = stored.get(file)?.split('\n').slice(0, -1) ?? []
          const made = written.flatMap((line, at) => {
            const { kind, random } = rewrites[at % rewrites.length]
            return REWRITES[kind](line, random)
          })
          stored.set(file, made.map((line) => `${line}${end}`).join(''))
          isCalled = true
        },
      })
      const page = await read.execute({ path: 'a.txt' })
      const [anchor] = page.text.split('\n')[edit.at % lines.length].split('|')
      const operations = [{ op: 'set_line', anchor, text: edit.text.join('\n'), verbatim: true }]
      const result = await apply.execute({ path: 'a.txt', operations })
      assert.equal(result.isError, false, result.text)
      if (!isCalled) return
      const final = stored.get(file) ?? ''
      const finals = final.split(end)
      assert.equal(change(result).lineCount, finals.length - 1)
      for (const name of anchorsIn(result.text)) {
        checked += 1
        const number = Number.parseInt(name, 10)
        const [, shown] = name.split('|')
        if (shown !== undefined) assert.equal(shown, finals[number - 1], result.text)
        const next = hostOf({ [file]: final })
        const again = hashTools(session.fork(), { files: next.files })
        const operations = [{ op: 'set_line', anchor: name, text: 'NEXT', verbatim: true }]
        const edited = await again.apply.execute({ path: 'a.txt', operations })
        assert.equal(
          edited.isError,
          false,
          `${name}: ${edited.text}\nafter\n${result.text}\n${final}`,
        )
        const expected = finals.map((line, at) => (at === number - 1 ? 'NEXT' : line))
        assert.equal(next.stored.get(file), expected.join(end))
      }
    },
  )
  await fc.assert(property, { includeErrorInReport: true, numRuns: isEmulated ? 20 : 200 })
  assert.ok(checked > 100, `only ${checked} anchors`)
})

test('earlier anchors mean their own lines after several formatted edits, or are refused', async () => {
  const file = '/nowhere/a.txt'
  let accepted = 0
  const scenario = fc.record({
    count: fc.integer({ min: 3, max: 14 }),
    edits: fc.array(fc.record({ at: fc.nat(), kinds: fc.array(fc.nat(6), { minLength: 1 }) }), {
      minLength: 1,
      maxLength: 4,
    }),
  })
  const property = fc.asyncProperty(scenario, async ({ count, edits }) => {
    // Each line has an identity, and most have repeated texts.
    const lines = Array.from({ length: count }, (_, at) => (at % 3 === 2 ? '}' : `call(${at})`))
    const session = new HashSession({ root: '/nowhere', disk: false })
    const { files, stored } = hostOf({ [file]: `${lines.join('\n')}\n` })
    /** @type {number[]} */
    let kinds = []
    const afterWrite = () => {
      const written = stored.get(file)?.split('\n').slice(0, -1) ?? []
      const made = written.flatMap((line, at) => REWRITES[kinds[at % kinds.length]](line, at))
      stored.set(file, made.map((line) => `${line}\n`).join(''))
    }
    const { read, apply } = hashTools(session, { files, afterWrite })
    const rows = (await read.execute({ path: 'a.txt' })).text.split('\n')
    for (const edit of edits) {
      kinds = edit.kinds
      const anchor = rows[edit.at % rows.length].split('|')[0]
      const operations = [{ op: 'insert_after', anchor, text: `new(${edit.at})`, verbatim: true }]
      await apply.execute({ path: 'a.txt', operations })
    }
    const now = stored.get(file) ?? ''
    for (const row of rows.filter((row) => row.includes('call'))) {
      const next = hostOf({ [file]: now })
      const tools = hashTools(session.fork(), { files: next.files })
      const operations = [{ op: 'delete', anchor: row }]
      const result = await tools.apply.execute({ path: 'a.txt', operations })
      if (result.isError) continue
      accepted += 1
      const name = /** @type {string} */ (row.split('|')[1].match(/\d+/)?.[0])
      const gone = [...(result.diff ?? '').matchAll(/^-(?!-)(.*)$/gm)].map(([, line]) => line)
      assert.equal(gone.length, 1, result.diff)
      assert.match(gone[0], new RegExp(`call\\(${name}`), `${row}\n${result.diff}\n${now}`)
    }
  })
  await fc.assert(property, { numRuns: isEmulated ? 10 : 100, includeErrorInReport: true })
  assert.ok(accepted > 50, `only ${accepted} anchors`)
})

/** A host with files in memory. @param {Record<string, string>} texts */
function hostOf(texts) {
  const stored = new Map(Object.entries(texts))
  /** @type {HostFiles} */
  const files = {
    read: (path) => stored.get(path) ?? null,
    write: (path, content) => stored.set(path, String(content)),
  }
  return { files, stored }
}

/** The anchors in an answer. @param {string} text */
function anchorsIn(text) {
  const rows = text.split('\n').filter((line) => /^\d/.test(line) && !/^\d+ edit/.test(line))
  return rows.flatMap((line) => {
    if (line.includes('|')) return [line]
    return line
      .replace(/^\d+-\d+:/, '')
      .replace(/\(.*\)/, '')
      .split(/\s+/)
      .filter((one) => /^\d+[a-z]/.test(one))
  })
}
