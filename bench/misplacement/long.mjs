// Long sessions: a session reads a file again and again and edits it, while others shift and change
// it. Edits use the anchors of any earlier answer. Every line has an identity, so the lines that an
// anchor means are known: those of the newest answer that showed this anchor.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import native, { hashLines } from 'hashline-native'
import { changed, copied } from './edits.mjs'
import { lineEdit, resultOf as linesAfter, placesOf } from './identities.mjs'
import { count } from './measure.mjs'
import { resultOf } from './subjects/session.mjs'
import { CHANGES } from './synthetic.mjs'

/** @import { TextFile } from './corpus.mjs' */
/** @import { Line, LineEdit } from './identities.mjs' */
/** @import { Tallies } from './measure.mjs' */
/** @import { Random } from '../edit/history/random.mjs' */

const { HashSession } = /** @type {Record<string, any>} */ (native)

const ROUNDS = 24
const EDITS_OF_A_ROUND = 6
const LEAST_LINES = 30
const MOST_LINES = 1500
const MOST_BLOCK = 8
const LEAST_PAGE = 20
/** Changes that make no copies: a copy may be equal to the line that is gone. */
const SHIFTS = ['insert new', 'change some', 'delete', 'rename', 'indent']
const COPIES = [...SHIFTS, 'insert', 'replace', 'move', 'swap', 'duplicate']

/** A row of an answer; those of lines as they were begin with `- `. */
const ROW = /^((\d+):\w+(?:@\w+)?)\|(.*)$/gm

/** @typedef {{ anchor: string, text: string, id?: number }} Row a shown line with its identity */
/** @typedef {Map<number, Row>} View by line numbers */

/**
 * What led to a wrong result.
 * @typedef {object} History
 * @property {string} path
 * @property {object[]} steps reads with the text that was read, own edits with their results
 */

/** A file, what a session was shown of it, and where its lines are now. */
class Story {
  /** @type {View[]} */
  views = []
  /** @type {object[]} */
  steps = []
  /** The lines that own edits removed or added, by identity. @type {Set<number>} */
  own = new Set()
  /** The next identity. */
  fresh

  /** @param {TextFile} file @param {string} dir @param {Random} random */
  constructor({ path, text }, dir, random) {
    this.path = `file${extname(path)}`
    this.file = join(dir, 'files', this.path)
    this.random = random
    this.eol = text.eol
    /** @type {Line[]} */
    this.lines = text.lines.map((line, id) => ({ text: line, id }))
    this.fresh = text.lines.length
    const stateDir = join(dir, 'state')
    const options = { cwd: join(dir, 'files'), stateDir, dialect: 'pi', durability: 'process' }
    const limits = { maxLines: 1_000_000, maxBytes: 64 << 20, maxLineChars: 1_000_000 }
    this.session = new HashSession({ ...options, limits })
    this.write()
  }

  get text() {
    return this.lines.map(({ text }) => text + this.eol).join('')
  }

  write() {
    writeFileSync(this.file, this.text)
  }

  /** Gives new lines identities. */
  identify() {
    for (const line of this.lines) line.id ??= this.fresh++
  }

  /** @param {string[]} names */
  changeByOthers(names) {
    const { lines, random } = this
    for (let left = 1 + random.below(3); left > 0; left--) {
      const name = random.pick(names)
      const most = Math.min(MOST_BLOCK, lines.length - 1)
      const block = 1 + random.below(most)
      const at = random.below(lines.length - block + 1)
      if (name === 'insert new') {
        const texts = copied(
          lines.map(({ text }) => text),
          random,
        )
        lines.splice(at, 0, ...texts.map((text) => ({ text: changed(text, random) })))
      } else if (name === 'change some') {
        for (let place = at; place < at + block; place++) {
          if (random.below(2) === 0) lines[place] = { text: changed(lines[place].text, random) }
        }
      } else if (name !== 'delete' || lines.length > LEAST_LINES / 2) {
        CHANGES[name](lines, at, block, random)
      }
    }
    this.identify()
    this.write()
  }

  /** Reads the file, or a page of it. */
  read() {
    const { lines, random } = this
    const isWhole = random.below(3) > 0
    const from = isWhole ? 1 : 1 + random.below(lines.length)
    const page = isWhole ? lines.length : LEAST_PAGE + random.below(lines.length)
    this.session.readSync([{ path: this.path, startLine: from, maxLines: page }])
    this.steps.push({ read: this.text, startLine: from, maxLines: page })
    const hashes = hashLines(this.text, { dialect: 'pi' })
    const rows = lines.slice(from - 1, from - 1 + page).map(({ text, id }, at) => {
      const number = from + at
      return /** @type {[number, Row]} */ ([
        number,
        { anchor: `${number}:${hashes[number - 1]}`, text, id },
      ])
    })
    this.views.push(new Map(rows))
  }

  /** Adds the lines that an answer shows, as they are now. @param {string} answer */
  learn(answer) {
    /** @type {View} */
    const view = new Map()
    for (const [, anchor, number, text] of answer.matchAll(ROW)) {
      const line = this.lines[Number(number) - 1]
      if (line?.text === text) view.set(Number(number), { anchor, text, id: line.id })
    }
    if (view.size > 0) this.views.push(view)
  }

  /** A random edit of lines in a view: with texts and identities as the newest answer has them. */
  edit() {
    const { views, random } = this
    const view = random.pick(views)
    const numbers = [...view.keys()]
    const [from, to] = [Math.min(...numbers), Math.max(...numbers)]
    const shown = Array.from({ length: to }, (_, at) => view.get(at + 1)?.text ?? '')
    const made = lineEdit(shown, random, from, to)
    if (!made) return undefined
    const { edit } = made
    const ends = 'after' in edit ? [edit.after] : [edit.first, edit.last]
    const anchors = ends.map((number) => view.get(number)?.anchor ?? '')
    const shows = (/** @type {View} */ other, /** @type {number} */ at) =>
      other.get(ends[at])?.anchor === anchors[at]
    const newest = views.findLast((other) => ends.every((_, at) => shows(other, at)))
    // One end alone may mean another line since.
    const isSame = ends.every((number, at) => {
      const alone = views.findLast((other) => shows(other, at))
      return alone?.get(number)?.id === newest?.get(number)?.id
    })
    if (!isSame) return undefined
    const rows = Array.from({ length: ends[ends.length - 1] - ends[0] + 1 }, (_, at) =>
      newest?.get(ends[0] + at),
    )
    if (rows.some((row) => row === undefined)) return undefined
    const meant = /** @type {Row[]} */ (rows)
    // The model copies what it sees, and the newest answer may have other lines here.
    if (meant.some(({ text }, at) => text !== shown[ends[0] - 1 + at])) return undefined
    if (this.isOwnInside(meant)) return undefined
    return { ...made, anchors, meant }
  }

  /**
   * Whether the session itself removed or added lines in a range that it saw earlier: it may mean
   * the range with or without them.
   * @param {Row[]} meant
   */
  isOwnInside(meant) {
    const ids = new Set(meant.map(({ id }) => id))
    const places = this.lines.flatMap(({ id }, place) => (ids.has(id) ? [place] : []))
    const inside = this.lines.slice(Math.min(...places), Math.max(...places) + 1)
    return (
      inside.some(({ id = -1 }) => this.own.has(id) && !ids.has(id)) ||
      meant.slice(1, -1).some(({ id = -1 }) => this.own.has(id))
    )
  }

  /**
   * The text after an edit of these lines, if they still exist.
   * @param {LineEdit} made
   * @param {Row[]} meant
   */
  after({ edit, like }, meant) {
    const first = 'after' in edit ? edit.after : edit.first
    const last = 'after' in edit ? edit.after : edit.last
    const places = placesOf(this.lines)
    // Their identities become the numbers of the view.
    const at = (/** @type {number} */ index) => places.get(meant[index - first + 1].id ?? -1)
    /** @type {Map<number, number>} */
    const found = new Map()
    for (let index = first - 1; index < last; index++) {
      const place = at(index)
      if (place !== undefined) found.set(index, place)
    }
    const ids = new Map([...found].map(([index, place]) => [place, index]))
    const lines = this.lines.map(({ text }, place) => ({ text, id: ids.get(place) }))
    /** @type {string[]} */
    const shown = []
    for (const [index, { text }] of meant.entries()) shown[first - 1 + index] = text
    const texts = linesAfter(lines, shown, { edit, like }, found)
    const now = [...found.values()].filter(
      (place) => this.lines[place].text.trim() === shown[ids.get(place) ?? 0].trim(),
    )
    return { texts, now: now.map((place) => place + 1) }
  }
}

/** @param {LineEdit['edit']} edit @param {string[]} anchors @param {string} path */
function operationOf(edit, [first, last], path) {
  if ('after' in edit) return { op: 'insert_after', path, anchor: first, text: edit.lines }
  const ends = { path, start_anchor: first, end_anchor: last }
  if (edit.lines.length === 0) return { op: 'delete', ...ends }
  return { op: 'replace_range', ...ends, text: edit.lines }
}

/**
 * Runs sessions on texts until there are enough edits.
 * @param {Iterable<TextFile>} files
 * @param {Random} random
 * @param {Tallies} tallies
 * @param {object} options
 * @param {number} options.most edits of each kind of session
 * @param {(result: object) => void} [options.onWrong]
 * @param {(result: object) => void} [options.onRefused]
 */
export function measureLong(files, random, tallies, { most, onWrong, onRefused }) {
  if (!HashSession) return
  const kinds = [
    { scenario: 'long session: shifted and changed', names: SHIFTS, left: most },
    { scenario: 'long session: also copied and moved', names: COPIES, left: most },
  ]
  const dir = mkdtempSync(join(tmpdir(), 'hashline-misplacement-'))
  mkdirSync(join(dir, 'files'))
  try {
    for (const file of files) {
      const { length } = file.text.lines
      if (!file.text.final || length < LEAST_LINES || length > MOST_LINES) continue
      for (const kind of kinds) {
        if (kind.left <= 0) continue
        const tally = tallies.of(kind.scenario, 'session, pi')
        const on = { onWrong, onRefused, names: { source: file.source, scenario: kind.scenario } }
        const story = new Story(file, dir, random)
        kind.left -= run(story, kind.names, tally, on)
        story.session.close()
      }
      if (kinds.every(({ left }) => left <= 0)) break
    }
  } finally {
    rmSync(dir, { recursive: true, force: true })
  }
}

/**
 * One session. It ends at a wrong result, as the identities are unknown then.
 * @param {Story} story
 * @param {string[]} names of the changes by others
 * @param {import('./tally.mjs').Tally} tally
 * @param {{ names: object, onWrong?: (result: object) => void, onRefused?: (result: object) => void }} on
 */
function run(story, names, tally, { names: about, onWrong, onRefused }) {
  const { random, path, file } = story
  let edits = 0
  story.read()
  for (let round = 0; round < ROUNDS; round++) {
    story.changeByOthers(names)
    if (random.below(3) > 0) story.read()
    const before = story.text
    // The last edit of a round is the session's own; the others are tried in forks.
    for (let left = EDITS_OF_A_ROUND; left > 0; left--) {
      const made = story.edit()
      if (!made) continue
      edits++
      const { texts, now } = story.after(made, made.meant)
      const truth = texts?.map((text) => text + story.eol).join('')
      const operations = [operationOf(made.edit, made.anchors, path)]
      const editor = left > 1 ? story.session.fork() : story.session
      const outcome = editor.applySync({ operations })
      const result = resultOf(outcome, () => readFileSync(file, 'utf8'))
      const one = /** @type {any} */ ({ truth, now, isIndented: true, operations: [made.edit] })
      const verdict = count(tally, one, result)
      if (left > 1) editor.close()
      const report = () => ({
        ...about,
        path,
        steps: story.steps,
        before,
        ids: story.lines.map(({ id }) => id),
        operations,
        meant: made.meant,
        truth,
      })
      if (verdict === 'wrong' && result.status === 'applied') {
        onWrong?.({ ...report(), got: result.text, answer: outcome.text })
        return edits
      }
      if (verdict === 'refused') onRefused?.({ ...report(), now, answer: outcome.text })
      if (left > 1) story.write()
      else {
        if (result.status === 'applied') adopt(story, made, before, result.text, operations)
        story.learn(outcome.text)
      }
    }
  }
  return edits
}

/**
 * Takes over the text of an own edit: new lines get new identities, unless they equal a replaced
 * one.
 * @param {Story} story
 * @param {NonNullable<ReturnType<Story['edit']>>} made
 * @param {string} before
 * @param {string} text
 * @param {object[]} operations
 */
function adopt(story, { edit, meant }, before, text, operations) {
  const places = placesOf(story.lines)
  const start = /** @type {number} */ (places.get(/** @type {number} */ (meant[0].id)))
  const texts = text.split(story.eol)
  const from = 'after' in edit ? start + 1 : start
  const wanted = texts.slice(from, from + edit.lines.length)
  const removed = story.lines.splice(from, 'after' in edit ? 0 : meant.length)
  const left = [...removed]
  const lines = wanted.map((line) => {
    const same = left.findIndex((other) => other.text === line)
    return left.splice(0, same + 1).at(-1) ?? { text: line }
  })
  const kept = new Set(lines.map(({ id }) => id))
  story.lines.splice(from, 0, ...lines)
  story.identify()
  for (const { id = -1 } of [...removed, ...lines]) if (!kept.has(id)) story.own.add(id)
  story.steps.push({ own: operations, before, text })
}
