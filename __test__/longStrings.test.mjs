// Long views in large answers, and very long texts, are external strings in Node: their characters
// are not copied.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { formatHashed, readHashed, readHashedSync } from 'hashline-native'
import { withDir } from './support.mjs'

/** A line of each kind of string: ASCII, Latin-1, two bytes per unit, surrogate pairs. */
const KINDS = ['const value = compute(12)', 'const größe = 1', '请选择一个文件', 'a🎉b']
/** Enough views to make their long texts external. */
const FILES = 40

/** The kinds with one byte per unit, which Node 26 assumes for all external strings. */
const NARROW_KINDS = KINDS.slice(0, 2)

/** @param {number} file @param {number} lines */
function content(file, lines, kinds = KINDS) {
  const line = kinds[file % kinds.length]
  return Array.from({ length: lines }, (_, at) => `${line} ${at} of ${file}`)
}

/**
 * @param {(root: string, files: string[], texts: string[][]) => void | Promise<void>} body
 */
function withFiles(body, kinds = KINDS) {
  const texts = Array.from({ length: FILES }, (_, file) => content(file, 1000, kinds))
  const named = texts.map((lines, file) => [`${file}.txt`, `${lines.join('\n')}\n`])
  const files = named.map(([name]) => name)
  return withDir(Object.fromEntries(named), (root) => body(root, files, texts))
}

/** @returns {() => void} */
function collector() {
  const { Bun } = /** @type {{ Bun?: { gc(force: boolean): void } }} */ (globalThis)
  if (Bun) return () => Bun.gc(true)
  setFlagsFromString('--expose-gc')
  return runInNewContext('gc')
}

/** Why this host has no external strings, if so. */
function whyNotExternal() {
  if (process.versions.bun || process.versions.deno) return 'only Node has external strings'
  if (process.platform !== 'linux') return 'only Linux has external strings'
  return false
}

const skip = whyNotExternal()

/** @param {string} text @param {string[]} lines */
function assertShows(text, lines) {
  const shown = text.split('\n').map((line) => line.slice(line.indexOf('|') + 1))
  assert.deepEqual(shown, lines)
}

test('long views of every kind show their lines, also after collections', () =>
  withFiles(async (root, files, texts) => {
    const collect = collector()
    const kept = []
    for (let round = 0; round < 4; round++) {
      kept.push(readHashedSync(files, { root }), await readHashed(files, { root }))
      // The first views are released while the others stay.
      if (round > 0) kept.splice(0, 1)
      collect()
    }
    for (const [file, { text }] of kept.flatMap((views) => [...views.entries()])) {
      assertShows(text, texts[file])
    }
  }))

test('long views are ordinary strings', () =>
  withFiles((root, files) => {
    for (const { text } of readHashedSync(files, { root })) {
      const copy = Buffer.from(text).toString()
      assert.equal(text, copy)
      assert.equal(JSON.parse(JSON.stringify(text)), copy)
      assert.equal(structuredClone(text), copy)
      assert.deepEqual(Object.keys({ [text]: 1 }), [copy])
      assert.equal(`${text}${text}`.indexOf(copy, 1), text.length)
      assert.equal(text.toUpperCase(), copy.toUpperCase())
    }
  }))

test('many texts of more than a megabyte', () =>
  withFiles(async (root, files, texts) => {
    for (let file = 0; file < KINDS.length; file++) {
      texts[file] = content(file, 60_000)
      writeFileSync(join(root, files[file]), texts[file].join('\n'))
    }
    const views = [readHashedSync(files, { root }), await readHashed(files, { root })].flat()
    for (const [at, { text }] of views.entries()) assertShows(text, texts[at % FILES])
  }))

/** The external memory that the engine counts. */
const external = () => process.memoryUsage().external

/** Collects garbage, and reports the memory to the engine. */
async function settle() {
  // Awaited values are referenced until the next turn.
  await setImmediate()
  const collect = collector()
  collect()
  // Node 18 subtracts the garbage of one collection only in the next one.
  collect()
  formatHashed('')
}

test(
  'long texts of many views are external, those of few are not, and all are freed',
  { skip },
  () =>
    withFiles(async (root, files) => {
      await settle()
      const before = external()
      const few = readHashedSync(files.slice(0, 31), { root })
      assert.ok(
        external() - before < 10_000,
        `${external() - before} bytes for ${few.length} views`,
      )
      let many = readHashedSync(files, { root })
      const size = many.reduce((sum, { text }) => sum + text.length, 0)
      assert.ok(external() - before >= size, `${external() - before} bytes for texts of ${size}`)
      many = []
      await settle()
      assert.ok(
        external() - before < 10_000,
        `${external() - before} bytes and ${many.length} views`,
      )
    }),
)

/**
 * The external memory of a text while it is referenced, and afterwards.
 * @param {() => string | Promise<string>} way
 * @param {(text: string) => void} check
 */
async function weigh(way, check) {
  await settle()
  const before = external()
  const whileThere = await held(way, check)
  await settle()
  return { whileThere: whileThere - before, afterwards: external() - before }
}

/** @param {() => string | Promise<string>} way @param {(text: string) => void} check */
async function held(way, check) {
  const text = await way()
  const after = external()
  check(text)
  return after
}

/** The UTF-8 length from which a single text is external. */
const EXTERNAL_ALONE_MIN_BYTES = 64 << 20

test('texts of 64 MiB and more are always external, and are freed', { skip }, () =>
  withDir({}, async (root) => {
    // Lines whose characters take one byte or two in a string.
    for (const line of KINDS.slice(0, 3)) {
      const lines = Math.ceil(EXTERNAL_ALONE_MIN_BYTES / (Buffer.byteLength(line) + 1))
      const content = Buffer.from(`${line}\n`.repeat(lines))
      writeFileSync(join(root, 'large'), content)
      const ways = {
        read: async () => (await readHashed('large', { root }))[0].text,
        readSync: () => readHashedSync('large', { root })[0].text,
        format: () => formatHashed(content),
      }
      // The buffer of the previous kind is not a string, but counts until it is collected.
      await weigh(ways.readSync, () => {})
      for (const [name, way] of Object.entries(ways)) {
        let length = 0
        const { whileThere, afterwards } = await weigh(way, (text) => {
          length = text.length
          assert.ok(text.startsWith('1:') && text.endsWith(`|${line}`), name)
          assert.equal(text.lastIndexOf('\n'), text.lastIndexOf(`\n${lines}:`), name)
        })
        // Node 26 counts one byte for characters of two bytes. It would not count a copy.
        assert.ok(whileThere >= length, `${name}: ${whileThere} bytes for ${length} characters`)
        assert.ok(afterwards < 10_000, `${name}: ${afterwards} bytes stay`)
      }
    }
  }),
)

test('shorter single texts are copied', { skip }, async () => {
  const anchorBytes = '1:00|'.length
  for (const [missing, character] of /** @type {const} */ ([
    [0, 'x'],
    [1, 'x'],
    [2, 'é'],
  ])) {
    const size = EXTERNAL_ALONE_MIN_BYTES - anchorBytes - missing
    const content = Buffer.from(character.repeat(size / Buffer.byteLength(character)))
    let length = 0
    const { whileThere } = await weigh(
      () => formatHashed(content),
      (text) => {
        length = text.length
      },
    )
    assert.ok(length > 2 ** 24)
    const isExternal = whileThere >= length
    assert.equal(
      isExternal,
      missing === 0,
      `${missing} bytes too few: ${whileThere} bytes are external`,
    )
  }
})

/** The most bytes in external strings of a process. */
const LIMIT_BYTES = 128 << 20

/**
 * Reads many long views repeatedly, and prints the maximum and the final external memory. If the
 * last argument is `keep`, all views are kept.
 */
const READER = `
  const { readHashedSync } = require(process.argv[2])
  const [files, root, keep] = [JSON.parse(process.argv[3]), process.argv[4], process.argv[5]]
  const external = () => process.memoryUsage().external
  const before = external()
  const kept = []
  let most = 0
  for (let read = 0; read < 2 * ${LIMIT_BYTES}; ) {
    const views = readHashedSync(files, { root })
    if (keep === 'keep') kept.push(views)
    for (const { text } of views) read += text.length
    most = Math.max(most, external() - before)
  }
  console.log(JSON.stringify({ most, atEnd: external() - before }))`

/**
 * @param {string[]} flags flags of the host
 * @param {string} root @param {string[]} files
 * @param {'keep' | 'drop'} mode
 * @returns {{ most: number, atEnd: number }}
 */
function runReader(flags, root, files, mode) {
  const script = join(root, 'reader.cjs')
  writeFileSync(script, READER)
  const module = fileURLToPath(new URL('../index.js', import.meta.url))
  const args = [...flags, script, module, JSON.stringify(files), root, mode]
  const ended = spawnSync(process.execPath, args, { encoding: 'utf8' })
  assert.equal(ended.status, 0, ended.stderr)
  return JSON.parse(ended.stdout)
}

/** The external memory that the host may use otherwise, such as its own buffers. */
const OTHER_BYTES = 1 << 20

// The limit is enforced by the addon, so it applies whenever the collector runs: also if nothing
// can be collected, and if one thread collects in small steps.
for (const flags of [[], ['--single-threaded-gc']]) {
  const where = flags.length === 0 ? '' : ` under ${flags}`
  test(
    `external strings stay within the limit without collections and without pauses${where}`,
    { skip },
    () =>
      withFiles((root, files) => {
        const dropped = runReader(flags, root, files, 'drop')
        const bound = LIMIT_BYTES + OTHER_BYTES
        assert.ok(dropped.most <= bound, `${dropped.most} bytes of dropped views`)
        const kept = runReader(flags, root, files, 'keep')
        assert.ok(kept.most <= bound, `${kept.most} bytes of kept views`)
        assert.ok(kept.atEnd > 0.9 * LIMIT_BYTES, `external strings stopped at ${kept.atEnd} bytes`)
      }, NARROW_KINDS),
  )
}

test('freed bytes can be used again', { skip }, () =>
  withFiles(async (root, files) => {
    await settle()
    const before = external()
    for (let round = 0; round < 3; round++) {
      await fill(root, files)
      await settle()
      assert.ok(external() - before < 10_000, `${external() - before} bytes in round ${round}`)
    }
  }),
)

/**
 * Uses half of the limit, and releases it.
 * @param {string} root @param {string[]} files
 */
async function fill(root, files) {
  const before = external()
  const kept = []
  const isFull = () => external() - before > LIMIT_BYTES / 2
  for (let call = 0; call < 200 && !isFull(); call++) kept.push(readHashedSync(files, { root }))
  assert.ok(isFull(), `${external() - before} bytes are external after ${kept.length} calls`)
}

test('a text that alone exceeds the limit is copied', { skip }, async () => {
  const content = Buffer.alloc(LIMIT_BYTES, 'x')
  const { whileThere } = await weigh(
    () => formatHashed(content),
    (text) => assert.equal(text.length, LIMIT_BYTES + '1:00|'.length),
  )
  assert.ok(whileThere < 10_000, `${whileThere} bytes are external`)
})

test('the only worker that loaded the addon ends while it holds views', () =>
  withFiles((root, files) => {
    const worker = `
      const { readHashedSync } = require(process.argv[2])
      globalThis.views = readHashedSync(JSON.parse(process.argv[3]), { root: process.argv[4] })
      if (globalThis.views.some(({ error }) => error)) process.exit(3)`
    const main = `
      const { Worker } = require('node:worker_threads')
      const start = (left) => {
        if (left === 0) return console.log('ended')
        const worker = new Worker(${JSON.stringify(worker)}, { eval: true, argv: process.argv.slice(2) })
        worker.on('exit', (code) => code === 0 ? start(left - 1) : process.exit(code))
      }
      start(3)`
    const script = join(root, 'main.cjs')
    writeFileSync(script, main)
    const module = fileURLToPath(new URL('../index.js', import.meta.url))
    const args = [script, module, JSON.stringify(files), root]
    const ended = spawnSync(process.execPath, args, { encoding: 'utf8' })
    assert.deepEqual([ended.status, ended.stdout.trim()], [0, 'ended'], ended.stderr)
  }))
