// Counts, in comments, strings and Markdown, the words for which the field has better ones.
//
//   node scripts/lint-words.mjs           fails where a word is used more often than lint-words.json
//                                         allows, and shows each use of it
//   node scripts/lint-words.mjs --write   lowers the counts in lint-words.json to today's
//   node scripts/lint-words.mjs PATH …    shows each use in these files and folders
//
// A line that contains `words-ok` is skipped.

import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './tools.mjs'

/** A word → its forms, and what to write instead. @type {Record<string, [RegExp, string]>} */
const WORDS = {
  tell: [/\b(tells?|told|telling)\b/gi, 'report, return, print, say'],
  stand: [/\b(stands?|stood)\b/gi, 'is, appears, is stored'],
  lie: [/\b(lies?)\b/gi, 'is'],
  look: [/\blook(s|ed|ing)?\b(?! like)(?!-)/gi, 'check, read, stat, inspect, search'],
  'left out': [/\b(left|leaves?|leaving) out\b/gi, 'omitted, skipped'],
  'is no': [
    /(?<!\b(?:there|here) )\b(is|are|was|were|be|been) no (?!longer\b|more\b)/gi,
    'is not; invalid',
  ],
  nobody: [/\b(nobody|somebody|whoever)\b/gi, 'passive voice; another process; the caller'],
  beside: [/\bbeside\b/gi, 'next to; besides; in addition to'],
  since: [/, since\b|\bSince\b/g, 'because'],
  behind: [/\bbehind\b/gi, 'after'],
  'so many': [/\bso many\b/gi, 'at most N; that number of'],
  'Of …': [/(?:^|[.:!?*] )Of (?!course)/g, 'Two of the files are …'],
  face: [/\bfaces?\b/gi, 'front end, binding'],
  'in order': [/\b(in|out of) order\b(?! to\b)/gi, 'valid; sorted; in sequence'],
  slip: [/\bslips?\b/gi, 'mistake, malformed input'],
  stretch: [/\bstretch(es)?\b/gi, 'range, run, span'],
  anew: [/\b(anew|once more)\b/gi, 'again'],
  'give back': [
    /\b(gives?|gave|given|giving) (?:\w+ )?back\b|\b(gives?|gave|given|giving) up\b/gi,
    'return, release, free',
  ],
  'take back': [/\b(takes?|took|taken|taking) (?:\w+ )?back\b/gi, 'roll back, undo'],
  'carry out': [/\b(carry|carries|carried|carrying) (?:\w+ )?out\b/gi, 'run, execute, apply'],
  'all the same': [/\ball the same\b/gi, 'anyway'],
  closer: [/\b(closers?|openers?)\b/gi, 'closing bracket, opening bracket'],
  'let go': [/\blet(s|ting)? (?:\w+ )?go\b/gi, 'release, free'],
  'there twice': [/\bthere twice\b/gi, 'is duplicated'],
  mend: [/\bmend(s|ed|ing)?\b/gi, 'fix, repair'],
  'work off': [/\bwork(s|ed|ing)? (?:\w+ )?off\b/gi, 'replay or roll back (a hot journal)'],
  deed: [
    /\b(deeds?|lent|loans?|company|manner|ground|lesson|trouble)\b/gi,
    'step; borrowed; the thing itself: mode, reason, neighbours, update, fault',
  ],
  ours: [/\bours\b/gi, 'internal, owned by the library'],
  mailbox: [/\b(mailbox|bell|flight)\b/gi, 'completion queue, wake-up, in-flight call'],
  'white space': [
    /\b(white space|line feeds?|half a character|now and then|as yet)\b/gi,
    'whitespace; newline; lone surrogate; periodically; so far',
  ],
}

/** @type {Record<string, string>} */
const LINE_COMMENT = { sh: '#', py: '#', yml: '#', toml: '#' }

/**
 * The comments and strings of a language.
 * @type {Record<string, RegExp>}
 */
const TOKENS = {
  rust: /\/\/.*|\/\*[\s\S]*?\*\/|r(#*)"[\s\S]*?"\1|"(?:\\[\s\S]|[^"\\])*"|'(?:\\[^\n]+?|[^'\\\n])'/g,
  c: /\/\/.*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])+'/g,
  js: /\/\/.*|\/\*[\s\S]*?\*\/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\[\s\S]|[^`\\])*`/g,
}

/** @type {Record<string, string>} */
const KINDS = { rs: 'rust', c: 'c', h: 'c', js: 'js', mjs: 'js', cjs: 'js', ts: 'js' }

/** The lines of a file, blank where they are not prose. @param {string} path @param {string} text */
function prose(path, text) {
  const extension = path.slice(path.lastIndexOf('.') + 1)
  if (extension === 'md') return text
  const mark = LINE_COMMENT[extension]
  if (mark !== undefined) {
    return text.replace(/^.*$/gm, (line) => line.slice(Math.max(line.indexOf(mark), 0)))
  }
  let result = ''
  let end = 0
  for (const token of text.matchAll(TOKENS[KINDS[extension]])) {
    result += text.slice(end, token.index).replace(/[^\n]/g, '') + token[0]
    end = token.index + token[0].length
  }
  return result
}

/** Each use of a word in a file. @param {string} path */
function uses(path) {
  const lines = prose(path, readFileSync(join(root, path), 'utf8'))
    .split('\n')
    .map((line) => (line.includes('words-ok') ? '' : line))
    .map((line) => line.trim().replace(/^(\/\/[/!]?|\*|#+|>|[-*]) ?/, ''))
  const starts = []
  let joined = ''
  for (const line of lines) {
    starts.push(joined.length)
    joined += `${line} `
  }
  const found = []
  for (const [word, [pattern]] of Object.entries(WORDS)) {
    for (const { index } of joined.matchAll(pattern)) {
      const at = starts.findLastIndex((start) => start <= index)
      found.push({ word, path, line: at + 1, text: lines[at] })
    }
  }
  return found.sort((one, other) => one.line - other.line)
}

const BASELINE = join(root, 'scripts', 'lint-words.json')
const SELF = 'scripts/lint-words.mjs'
const SKIPPED = /^(vectors|npm|docs\/charts)\/|fixtures\/|^CHANGELOG\.md$|^bench\/[a-z]+\.md$/

const args = process.argv.slice(2)
const paths = args.filter((arg) => arg !== '--write')
const files = execFileSync('git', ['ls-files', '--', ...paths], { cwd: root, encoding: 'utf8' })
  .split('\n')
  .filter((path) => /\.(rs|c|h|[mc]?js|ts|md|sh|py|yml|toml)$/.test(path))
  .filter((path) => path !== SELF && !SKIPPED.test(path))
const found = files.flatMap(uses)

if (paths.length > 0) {
  for (const { word, path, line, text } of found) console.log(`${path}:${line}: [${word}] ${text}`)
  console.log(`${found.length} in ${files.length} files`)
} else {
  const counts = Object.fromEntries(Object.keys(WORDS).map((word) => [word, 0]))
  for (const { word } of found) counts[word]++
  const allowed = JSON.parse(readFileSync(BASELINE, 'utf8'))
  const over = Object.keys(WORDS).filter((word) => counts[word] > (allowed[word] ?? 0))
  if (args.includes('--write')) {
    writeFileSync(BASELINE, `${JSON.stringify(counts, null, 2)}\n`)
    console.log(`${found.length} uses of ${Object.keys(WORDS).length} words`)
  } else {
    for (const word of over) {
      for (const use of found.filter((use) => use.word === word)) {
        console.error(`${use.path}:${use.line}: [${word}] ${use.text}`)
      }
      console.error(
        `"${word}" is used ${counts[word]} times, allowed are ${allowed[word] ?? 0}; instead: ${WORDS[word][1]}`,
      )
    }
    process.exitCode = over.length > 0 ? 1 : 0
  }
}
