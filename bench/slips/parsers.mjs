// Whether the own parser of a language accepts a text: what passed in silence may be valid.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

/** Commands that only parse, by language; the first one that is installed. @type {Record<string, string[][]>} */
const PARSERS = {
  Lua: [
    ['luac', '-p'],
    ['luac5.4', '-p'],
  ],
  PHP: [['php', '-l']],
  Ruby: [['ruby', '-c']],
  Shell: [['bash', '-n']],
}

/**
 * `undefined` if no parser of the language is installed.
 * @param {string} language
 * @param {string} text
 * @param {string} scratchDir
 */
export function parses(language, text, scratchDir) {
  const file = join(scratchDir, 'parsed')
  writeFileSync(file, text)
  for (const [program, ...options] of PARSERS[language] ?? []) {
    const { error, status } = spawnSync(program, [...options, file], { stdio: 'ignore' })
    if (!error) return status === 0
  }
  return undefined
}
