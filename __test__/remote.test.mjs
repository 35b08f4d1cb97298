// The two ways of docs/remote.md: the server where the files are, and functions over an API.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { HashSession } from 'hashline-native'
import { hashTools } from 'hashline-native/tools'
import { withMess } from './support.mjs'

const program = fileURLToPath(new URL('../npm/linux-x64-gnu/hashline', import.meta.url))

/** The row of a text with this end. */
const row = (/** @type {string} */ text, /** @type {string} */ end) => {
  const found = text.split('\n').find((one) => one.endsWith(`|${end}`))
  assert.ok(found, `${end} in ${text}`)
  return found
}

/** Whether a process can have mounts of its own, as in a container. */
const canUnshare =
  process.platform === 'linux' &&
  spawnSync('unshare', ['--mount', '--map-root-user', 'mount', '-t', 'tmpfs', 'none', '/mnt'])
    .status === 0

/**
 * A client of a server that a command starts.
 * @param {string} command
 * @param {string[]} args
 */
function connect(command, args) {
  const server = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: server.stdout })[Symbol.asyncIterator]()
  let last = 0
  const send = (/** @type {object} */ message) =>
    server.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`)
  const request = async (/** @type {string} */ method, /** @type {object} */ params) => {
    last += 1
    send({ id: last, method, params })
    for (;;) {
      const { value, done } = await lines.next()
      assert.ok(!done, 'the server ended')
      const answer = JSON.parse(value)
      if (answer.id === last && ('result' in answer || 'error' in answer)) return answer.result
    }
  }
  const call = async (/** @type {string} */ name, /** @type {object} */ args) => {
    const result = await request('tools/call', { name, arguments: args })
    return {
      text: /** @type {string} */ (result.content[0].text),
      isError: result.isError === true,
    }
  }
  const start = async () => {
    const capabilities = { roots: {} }
    await request('initialize', {
      protocolVersion: '2025-06-18',
      capabilities,
      clientInfo: { name: 'test', version: '1' },
    })
    send({ method: 'notifications/initialized' })
  }
  const end = async () => {
    server.stdin.end()
    await once(server, 'exit')
  }
  return { start, call, end }
}

test('a server with its own file system edits files there', { skip: !canUnshare }, () =>
  withMess({}, async (dir) => {
    const workspace = join(dir, 'workspace')
    mkdirSync(workspace)
    // As `docker exec -i`: the mount exists only for the server.
    const script = `mount -t tmpfs none "$1" && printf 'one\\ntwo\\n' > "$1/a.txt" && "$0" mcp "$1"`
    const container = ['--mount', '--map-root-user', 'sh', '-ec', script, program, workspace]
    const { start, call, end } = connect('unshare', container)
    await start()
    const { text } = await call('read', { path: 'a.txt' })
    const edit = { op: 'set_line', path: 'a.txt', anchor: row(text, 'two'), text: '2' }
    const applied = await call('apply', { operations: [edit] })
    assert.equal(applied.isError, false, applied.text)
    assert.match((await call('read', { path: 'a.txt' })).text, /\|2$/)
    await end()
    assert.deepEqual(readdirSync(workspace), [])
  }),
)

test('the example with an API reads and writes through it', async () => {
  /** @type {Map<string, string>} */
  const files = new Map([['/workspace/a.txt', 'one\ntwo\n']])
  const server = createServer(async (request, response) => {
    const path = decodeURIComponent(request.url ?? '').replace(/^\/files/, '')
    if (request.method === 'PUT') {
      let body = ''
      for await (const part of request.setEncoding('utf8')) body += part
      if (path.endsWith('full.txt')) response.statusCode = 507
      else files.set(path, body)
    } else if (files.has(path)) {
      response.write(files.get(path))
    } else {
      response.statusCode = 404
    }
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    const { port } = /** @type {import('node:net').AddressInfo} */ (server.address())
    const page = readFileSync(new URL('../docs/remote.md', import.meta.url), 'utf8')
    const code = page.split('```js\n')[1].split('```')[0].replace('8080', String(port))
    const body = `${code}\nreturn tools`
    const { read, apply } = /** @type {ReturnType<typeof hashTools>} */ (
      new Function('HashSession', 'hashTools', body)(HashSession, hashTools)
    )
    const { text } = await read.execute({ path: 'a.txt' })
    const edit = { op: 'set_line', path: 'a.txt', anchor: row(text, 'two'), text: '2' }
    const more = (/** @type {string} */ path) => ({ op: 'add_file', path, content: 'new\n' })
    const refused = await apply.execute({ operations: [edit, more('full.txt')] })
    assert.match(refused.text, /full\.txt: the host cannot write it: 507 .*Written back: .*a\.txt/)
    assert.deepEqual(Object.fromEntries(files), { '/workspace/a.txt': 'one\ntwo\n' })
    assert.equal((await apply.execute({ operations: [edit, more('b.txt')] })).isError, false)
    assert.deepEqual(Object.fromEntries(files), {
      '/workspace/a.txt': 'one\n2\n',
      '/workspace/b.txt': 'new\n',
    })
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
