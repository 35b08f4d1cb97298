import assert from 'node:assert/strict'
import { Readable } from 'node:stream'
import { test } from 'node:test'
import * as omp from 'hashline-native/omp'
import * as omp13 from 'hashline-native/omp13'
import {
  asynchronously,
  collect,
  Random,
  randomCuts,
  randomStreamOptions,
  randomText,
  readableOf,
} from '../stress/hashlineCases.mjs'
import { naiveChunks, naiveHash, naiveRows } from './naiveHashline.mjs'
import { runScript, untyped, vectors } from './support.mjs'

const encoder = new TextEncoder()
const MODULES = { omp, omp13 }

/**
 * @param {Uint8Array} bytes
 * @param {number[]} sizes
 */
function* pieces(bytes, sizes) {
  let at = 0
  for (const size of sizes) {
    yield bytes.slice(at, at + size)
    at += size
  }
  yield bytes.slice(at)
}

test('chunks are as recorded', async () => {
  const rows = vectors('omp.stream')
  assert.equal(rows.length, 50)
  for (const { text, cuts, options, fromUtf8, fromLines } of rows) {
    const bytes = () => pieces(encoder.encode(text), cuts)
    for (const source of [asynchronously(bytes()), readableOf(bytes())]) {
      assert.deepEqual(await collect(omp.streamHashLinesFromUtf8(source, options)), fromUtf8)
    }
    const lines = text.split('\n')
    for (const source of [lines, asynchronously(lines)]) {
      assert.deepEqual(await collect(omp.streamHashLinesFromLines(source, options)), fromLines)
    }
  }
})

for (const dialect of /** @type {const} */ (['omp', 'omp13'])) {
  test(`generated texts in generated pieces, ${dialect}`, async () => {
    const { streamHashLinesFromLines, streamHashLinesFromUtf8 } = MODULES[dialect]
    const random = new Random(1)
    for (let round = 0; round < 150; round++) {
      const bytes = encoder.encode(random.is(0.05) ? '' : randomText(random, 15))
      const cut = bytes.slice(0, random.is(0.2) ? random.whole(0, bytes.length) : undefined)
      const options = randomStreamOptions(random)
      const lines = new TextDecoder().decode(cut).split('\n')
      const rows = naiveRows(naiveHash[dialect], lines, options.startLine ?? 1)
      const expected = naiveChunks(rows, options)
      const wrap = random.pick([asynchronously, readableOf])
      const source = wrap([...randomCuts(random, cut)])
      assert.deepEqual(await collect(streamHashLinesFromUtf8(source, options)), expected)
      assert.deepEqual(await collect(streamHashLinesFromLines(lines, options)), expected)
    }
  })
}

test('a text cut at every byte', async () => {
  const text = 'é🎉\r\nこ\n\n“x”'
  const bytes = encoder.encode(text)
  for (let size = 1; size <= bytes.length; size++) {
    const sizes = Array(Math.ceil(bytes.length / size)).fill(size)
    const chunks = await collect(omp.streamHashLinesFromUtf8(readableOf(pieces(bytes, sizes))))
    assert.deepEqual(chunks, [omp.formatHashLines(text)])
  }
})

test('a byte order mark is removed, invalid bytes become U+FFFD', async () => {
  const stream = (/** @type {number[]} */ ...bytes) =>
    collect(
      omp.streamHashLinesFromUtf8(asynchronously(bytes.map((byte) => new Uint8Array([byte])))),
    )
  assert.deepEqual(await stream(), ['1#ZR:'])
  assert.deepEqual(await stream(0xef, 0xbb, 0xbf), ['1#ZR:'])
  assert.deepEqual(await stream(0xef, 0xbb, 0xbf, 0x78), [omp.formatHashLines('x')])
  assert.deepEqual(await stream(0x78, 0xff, 0x0a, 0xc3), [omp.formatHashLines('x\ufffd\n\ufffd')])
})

test('only the first byte order mark of all pieces is removed', async () => {
  const chunks = (/** @type {string[]} */ ...texts) =>
    collect(omp.streamHashLinesFromUtf8(asynchronously(texts.map((text) => encoder.encode(text)))))
  assert.deepEqual(await chunks('x', '\ufeffy'), [omp.formatHashLines('x\ufeffy')])
  assert.deepEqual(await chunks('', '\ufeff', '\ufeffy'), [omp.formatHashLines('\ufeffy')])
})

test('a chunk has at most 200 lines or 65,536 bytes', async () => {
  const short = await collect(omp.streamHashLinesFromLines(Array(450).fill('x')))
  assert.deepEqual(
    short.map((chunk) => chunk.split('\n').length),
    [200, 200, 50],
  )
  const long = await collect(omp.streamHashLinesFromLines(Array(100).fill('x'.repeat(1000))))
  assert.ok(long[0].length <= 65_536 && long[0].length > 64_000)
  const huge = await collect(omp.streamHashLinesFromLines(['a', 'x'.repeat(100_000), 'b']))
  assert.deepEqual(
    huge.map((chunk) => chunk.length),
    ['1#XX:a', '2#XX:', '3#XX:b'].map((row, at) => row.length + (at === 1 ? 100_000 : 0)),
  )
})

test('a line with a newline in it is one line', async () => {
  const chunks = await collect(omp13.streamHashLinesFromLines(['a\nb', 'c\ud800']))
  const rows = naiveRows(naiveHash.omp13, ['a\nb', 'c\ud800'], 1)
  assert.deepEqual(chunks, [rows.join('\n')])
})

test('a consumer that stops early releases the source', async () => {
  let released = 0
  async function* source() {
    try {
      for (;;) yield encoder.encode('line\n'.repeat(300))
    } finally {
      released++
    }
  }
  for await (const chunk of omp.streamHashLinesFromUtf8(source())) {
    assert.equal(chunk.split('\n').length, 200)
    break
  }
  assert.equal(released, 1)

  function* lines() {
    try {
      for (;;) yield 'line'
    } finally {
      released++
    }
  }
  for await (const _ of omp.streamHashLinesFromLines(lines())) break
  assert.equal(released, 2)

  const stream = readableOf([encoder.encode('line\n'.repeat(300)), encoder.encode('rest')])
  for await (const _ of omp.streamHashLinesFromUtf8(stream)) break
  assert.equal(stream.locked, false)
  assert.deepEqual(await stream.getReader().read(), { done: false, value: encoder.encode('rest') })
})

test('regression: an error thrown into a stream is thrown again, and the source is closed', async () => {
  const fault = new Error('boom')
  for (const module of Object.values(MODULES)) {
    let closed = 0
    function* lines() {
      try {
        for (;;) yield 'line'
      } finally {
        closed++
      }
    }
    async function* bytes() {
      try {
        for (;;) yield encoder.encode('line\n'.repeat(5))
      } finally {
        closed++
      }
    }
    const options = { maxChunkLines: 2 }
    for (const stream of [
      module.streamHashLinesFromLines(lines(), options),
      module.streamHashLinesFromUtf8(bytes(), options),
    ]) {
      await stream.next()
      await assert.rejects(stream.throw(fault), fault)
      assert.deepEqual(await stream.next(), { done: true, value: undefined })
    }
    assert.equal(closed, 2)
    // The rest at the end is yielded by separate code.
    for (const stream of [
      module.streamHashLinesFromLines([]),
      module.streamHashLinesFromLines(['x'], options),
      module.streamHashLinesFromUtf8(asynchronously([encoder.encode('x')])),
      module.streamHashLinesFromUtf8(asynchronously([encoder.encode('x')]), { maxChunkLines: 1 }),
    ]) {
      await stream.next()
      await assert.rejects(stream.throw(fault), fault)
    }
  }
})

test('regression: a destroyed Node stream has its error', async () => {
  const fault = new Error('boom')
  function* lines() {
    for (;;) yield 'line'
  }
  const stream = Readable.from(omp.streamHashLinesFromLines(lines(), { maxChunkLines: 1 }))
  const failed = new Promise((resolve) => stream.once('error', resolve))
  await new Promise((resolve) => stream.once('data', resolve))
  stream.destroy(fault)
  assert.equal(await failed, fault)
})

test('a source that fails rejects, after the earlier chunks', async () => {
  const error = new Error('the disk is gone')
  async function* failing() {
    yield encoder.encode('a\nb\n')
    throw error
  }
  const stream = new ReadableStream({
    start: (controller) => controller.enqueue(encoder.encode('a\nb\n')),
    pull: (controller) => controller.error(error),
  })
  for (const source of [failing(), stream]) {
    /** @type {string[]} */
    const chunks = []
    const consume = async () => {
      const options = { maxChunkLines: 1 }
      for await (const chunk of omp.streamHashLinesFromUtf8(source, options)) chunks.push(chunk)
    }
    await assert.rejects(consume, error)
    assert.deepEqual(chunks, omp.formatHashLines('a\nb').split('\n'))
  }
  assert.equal(stream.locked, false)
})

test('the source is read on demand', async () => {
  let given = 0
  function* lines() {
    for (;;) yield `line ${++given}`
  }
  const chunks = omp.streamHashLinesFromLines(lines(), { maxChunkLines: 10 })
  assert.equal(given, 0)
  await chunks.next()
  assert.equal(given, 10)
  await chunks.next()
  assert.equal(given, 20)
  await chunks.return(undefined)
})

test('Node streams are sources', async () => {
  const source = Readable.from([Buffer.from('a\n'), Buffer.from('b')])
  assert.deepEqual(await collect(omp.streamHashLinesFromUtf8(source)), [
    omp.formatHashLines('a\nb'),
  ])
})

test('an invalid source rejects', async () => {
  for (const source of [undefined, null, 5, {}, { getReader: 1 }, ['text'], asynchronously([5])]) {
    await assert.rejects(collect(omp.streamHashLinesFromUtf8(untyped(source))))
  }
  for (const lines of [undefined, null, 5, {}, [5, null]]) {
    await assert.rejects(collect(omp.streamHashLinesFromLines(untyped(lines))))
  }
})

test('memory stays flat over a long stream', async (t) => {
  // qemu-user reports 0.
  if (process.memoryUsage().rss === 0) return t.skip('the emulator does not report memory')
  assert.match(await runScript('stream-test.mjs', '--megabytes', '100'), /memory stayed flat/)
})
