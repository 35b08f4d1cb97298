// Inserts mistakes into a text, each with an instruction to fix it. They only consider lines, so
// they work in any language, and are described accordingly: a deleted line, or two swapped blocks.

/** @import { Random } from '../history/random.mjs' */
/** @import { Edit } from '../history/text.mjs' */

/**
 * @typedef {object} Mutation
 * @property {string[]} before the lines with the mistake
 * @property {Edit[]} edits the edits that restore the right lines
 * @property {string} words the instruction, which follows the name of the file
 *
 * @typedef {(lines: string[], random: Random) => Mutation | undefined} Mutate
 */

const MAX_LINE_CHARS = 160
const COMMENT = /^\s*(?:\/\/|\/?\*|#|--|;|"""|''')/
const OPPOSITES = [
  [' === ', ' !== '],
  [' == ', ' != '],
  [' <= ', ' > '],
  [' >= ', ' < '],
  [' && ', ' || '],
  [' and ', ' or '],
]
const CONDITION = /\b(?:if|elif|while|until|unless|return|assert|guard|when|for)\b|\?/
/** A call with two simple arguments. */
const CALL =
  /(?<![\w.$])[A-Za-z_$][\w.$:]*\((?<one>[\w.$]+(?:\[[\w.$]+\])?), (?<two>[\w.$]+(?:\[[\w.$]+\])?)\)/
const DECLARATION =
  /\b(?:def|fn|func|function|fun|class|void|int|public|private|static|template)\b|\{\s*$/
const NAME = /(?<![\w$])[A-Za-z_]\w{5,}(?![\w$])/g
const MAX_USES = 8
const MIN_BLOCK = 3
const MAX_BLOCK = 25

/** A line, quoted for an instruction. @param {string} line */
export const quoted = (line) => `\`${line.trim()}\``

/** Lines in a code block, with whitespace. @param {string[]} lines */
export function fenced(lines) {
  const ticks = Math.max(
    2,
    ...(lines
      .join('\n')
      .match(/`+/g)
      ?.map(({ length }) => length) ?? []),
  )
  const fence = '`'.repeat(ticks + 1)
  return [fence, ...lines, fence].join('\n')
}

/**
 * The indices of lines that can be changed: no comments and no multi-line strings.
 * @param {string[]} lines
 * @param {(line: string, at: number) => boolean} isFit
 */
function fitting(lines, isFit) {
  const prose = proseOf(lines)
  return [...lines.keys()].filter(
    (at) => !prose.has(at) && isPlain(lines[at]) && isFit(lines[at], at),
  )
}

/** The marks of comments and multi-line strings. */
const MARKS = [
  ['/*', '*/'],
  ['"""', '"""'],
  ["'''", "'''"],
  ['<!--', '-->'],
]

/** The lines of comments and multi-line strings. @param {string[]} lines */
function proseOf(lines) {
  /** @type {Set<number>} */
  const prose = new Set()
  /** @type {string | undefined} */
  let end
  for (const [at, line] of lines.entries()) {
    if (end !== undefined) prose.add(at)
    let from = 0
    for (;;) {
      const mark = end ?? MARKS.map(([begin]) => begin).find((one) => line.includes(one, from))
      const found = mark === undefined ? -1 : line.indexOf(mark, from)
      if (mark === undefined || found < 0) break
      from = found + mark.length
      end = end === undefined ? MARKS.find(([begin]) => begin === mark)?.[1] : undefined
      prose.add(at)
    }
  }
  return prose
}

/**
 * Whether an offset in a line is neither in a comment nor in a string.
 * @param {string} line
 * @param {number} at
 */
function isCode(line, at) {
  const before = line.slice(0, at)
  const isQuoted = ['"', "'", '`'].some((quote) => before.split(quote).length % 2 === 0)
  return !isQuoted && !/(?:^|\s)(?:\/\/|\/\*|#|--)(?:\s|$)|\/\/\S/.test(before)
}

/** @param {string} line */
const isPlain = (line) =>
  line.length <= MAX_LINE_CHARS &&
  line.trim() !== '' &&
  line === line.trimEnd() &&
  !COMMENT.test(line)

/**
 * Replaces one line.
 * @param {string[]} lines
 * @param {number} at
 * @param {string} mistaken
 * @param {string} what
 * @returns {Mutation}
 */
function oneLine(lines, at, mistaken, what) {
  const number = at + 1
  return {
    before: lines.map((line, index) => (index === at ? mistaken : line)),
    edits: [{ first: number, last: number, lines: [lines[at]] }],
    words: `Line ${number} is ${quoted(mistaken)}. ${what}`,
  }
}

/** @type {Mutate} */
function flippedCondition(lines, random) {
  const flips = fitting(lines, (line) => CONDITION.test(line)).flatMap((at) =>
    OPPOSITES.flatMap((pair) => [pair, [...pair].reverse()])
      .filter(([right]) => lines[at].split(right).length === 2)
      .filter(([right]) => isCode(lines[at], lines[at].indexOf(right)))
      .map(([right, wrong]) => ({ at, right, wrong })),
  )
  if (flips.length === 0) return undefined
  const { at, right, wrong } = random.pick(flips)
  const mistaken = lines[at].replace(right, wrong)
  if (mistaken.split(wrong).length !== 2) return undefined
  const what = `Its condition is wrong: \`${wrong.trim()}\` must be \`${right.trim()}\` there.`
  return oneLine(lines, at, mistaken, what)
}

/** @type {Mutate} */
function swappedArguments(lines, random) {
  const calls = fitting(lines, (line) => {
    const found = CALL.exec(line)
    if (found?.groups === undefined || DECLARATION.test(line)) return false
    return found.groups.one !== found.groups.two && isCode(line, found.index)
  })
  if (calls.length === 0) return undefined
  const at = random.pick(calls)
  const found = /** @type {RegExpExecArray} */ (CALL.exec(lines[at]))
  const { one, two } = /** @type {Record<string, string>} */ (found.groups)
  const wrong = `${found[0].slice(0, found[0].indexOf('(') + 1)}${two}, ${one})`
  const mistaken = lines[at].replace(found[0], () => wrong)
  if (mistaken.split(wrong).length !== 2) return undefined
  const what = `The arguments of the call \`${wrong}\` are in the wrong order: it must be \`${found[0]}\`.`
  return oneLine(lines, at, mistaken, what)
}

/** @type {Mutate} */
function droppedLine(lines, random) {
  const depth = (/** @type {string} */ line) => line.length - line.trimStart().length
  const candidates = fitting(
    lines,
    (line, at) =>
      at > 0 &&
      at < lines.length - 1 &&
      line.trim().length >= 8 &&
      /[;)\w\]"']$/.test(line) &&
      isBalanced(line) &&
      isPlain(lines[at - 1]) &&
      depth(lines[at - 1]) === depth(line) &&
      lines[at - 1] !== line &&
      lines[at + 1] !== line,
  )
  if (candidates.length === 0) return undefined
  const at = random.pick(candidates)
  return {
    before: [...lines.slice(0, at), ...lines.slice(at + 1)],
    edits: [{ after: at, lines: [lines[at]] }],
    words: `A line is missing after line ${at}, which is ${quoted(lines[at - 1])}. Insert this line there, with its indentation:\n${fenced([lines[at]])}`,
  }
}

/** Whether brackets are balanced. @param {string} line */
function isBalanced(line) {
  const count = (/** @type {RegExp} */ mark) => line.match(mark)?.length ?? 0
  return (
    count(/\(/g) === count(/\)/g) && count(/\[/g) === count(/\]/g) && count(/\{/g) === count(/\}/g)
  )
}

/** @type {Mutate} */
function renamedWord(lines, random) {
  /** @type {Map<string, Set<number>>} */
  const uses = new Map()
  for (const [at, line] of lines.entries()) {
    for (const [name] of line.matchAll(NAME)) uses.set(name, (uses.get(name) ?? new Set()).add(at))
  }
  const text = lines.join('\n')
  const fit = [...uses].filter(
    ([name, places]) =>
      places.size >= 2 &&
      places.size <= MAX_USES &&
      [...places].every((at) => lines[at].length <= MAX_LINE_CHARS) &&
      !text.includes(renamed(name)),
  )
  if (fit.length === 0) return undefined
  const [name, places] = random.pick(fit)
  const wrong = renamed(name)
  const pattern = new RegExp(`(?<![\\w$])${name}(?![\\w$])`, 'g')
  const numbers = [...places].map((at) => at + 1)
  return {
    before: lines.map((line, at) => (places.has(at) ? line.replace(pattern, wrong) : line)),
    edits: numbers.map((number) => ({ first: number, last: number, lines: [lines[number - 1]] })),
    words: `Rename \`${wrong}\` to \`${name}\` wherever it stands as a whole word, also in comments and strings: on the lines ${numbers.join(', ')}.`,
  }
}

/** @param {string} name */
const renamed = (name) =>
  name.includes('_') ? `old_${name}` : `old${name[0].toUpperCase()}${name.slice(1)}`

/**
 * @typedef {{ from: number, to: number }} Block its first line and the line after its last, from 0
 */

/** @type {Mutate} */
function swappedBlocks(lines, random) {
  const blocks = blocksOf(lines)
  const pairs = blocks.slice(1).flatMap((second, at) => {
    const first = blocks[at]
    const isFit =
      second.from - first.to === 1 &&
      [first, second].every(({ from, to }) => isWhole(lines.slice(from, to))) &&
      lines[first.from] !== lines[second.from]
    return isFit ? [{ first, second }] : []
  })
  if (pairs.length === 0) return undefined
  const { first, second } = random.pick(pairs)
  const [one, two] = [lines.slice(first.from, first.to), lines.slice(second.from, second.to)]
  const before = [...lines.slice(0, first.from), ...two, '', ...one, ...lines.slice(second.to)]
  const swap = first.from + two.length
  return {
    before,
    edits: [{ first: first.from + 1, last: second.to, lines: [...one, '', ...two] }],
    words: [
      `Two blocks of lines are in the wrong order: lines ${first.from + 1} to ${swap}, from ${quoted(two[0])} to ${quoted(two[two.length - 1])}, and lines ${swap + 2} to ${second.to}, from ${quoted(one[0])} to ${quoted(one[one.length - 1])}.`,
      'Let them change places. The empty line between them stays between them.',
    ].join(' '),
  }
}

/** The blocks between empty lines. @param {string[]} lines */
function blocksOf(lines) {
  /** @type {Block[]} */
  const blocks = []
  let from = 0
  for (let at = 0; at <= lines.length; at++) {
    if (at < lines.length && lines[at] !== '') continue
    if (at > from) blocks.push({ from, to: at })
    from = at + 1
  }
  return blocks
}

/** Whether a block is complete. @param {string[]} block */
function isWhole(block) {
  const { length } = block
  return (
    length >= MIN_BLOCK &&
    length <= MAX_BLOCK &&
    isBalanced(block.join('\n')) &&
    block.every((line) => line === line.trimEnd() && line.length <= MAX_LINE_CHARS) &&
    /^\s*[A-Za-z_@#/]/.test(block[0])
  )
}

/** @type {Record<string, Mutate>} */
export const MUTATIONS = {
  'flipped condition': flippedCondition,
  'dropped line': droppedLine,
  'renamed word': renamedWord,
  'swapped blocks': swappedBlocks,
  'swapped arguments': swappedArguments,
}
