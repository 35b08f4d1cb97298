// Programs that apply differences: `patch` and `git apply` receive the edit as a unified diff of
// the old file; `git merge-file` receives the old file, the edited old file, and the current one.

import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { edited, withLines } from '../../edit/history/text.mjs'
import { unifiedDiff } from '../diff.mjs'
import { refused } from './subject.mjs'

/** @import { Case } from '../cases.mjs' */
/** @import { Result, Subject } from './subject.mjs' */

const MAX_OUTPUT = 1 << 28

/**
 * The terminators of a case.
 * @param {Case} one
 * @returns {{ eol: '\n' | '\r\n', final: boolean }}
 */
const endingsOf = ({ old }) => ({
  eol: old.includes('\r\n') ? '\r\n' : '\n',
  final: old.endsWith('\n'),
})

/**
 * A program that runs in a directory of its own and determines the result of a case.
 * @param {string} name
 * @param {(dir: string, one: Case) => Result} work
 * @returns {Subject}
 */
function program(name, work) {
  /** @type {string | undefined} */
  let dir
  return {
    name,
    pace: 'slow',
    apply(one) {
      dir ??= mkdtempSync(join(tmpdir(), 'hashline-misplacement-'))
      return work(dir, one)
    },
    end() {
      if (dir) rmSync(dir, { recursive: true, force: true })
    },
  }
}

/**
 * @param {string} dir
 * @param {Record<string, string>} files
 */
function write(dir, files) {
  for (const [name, content] of Object.entries(files)) writeFileSync(join(dir, name), content)
}

/**
 * @param {string} dir
 * @param {string} command
 * @param {...string} args
 */
function run(dir, command, ...args) {
  const { status, stdout, error } = spawnSync(command, args, {
    cwd: dir,
    encoding: 'utf8',
    maxBuffer: MAX_OUTPUT,
    env: { ...process.env, LC_ALL: 'C', GIT_CEILING_DIRECTORIES: dir },
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  if (error) throw error
  return { status, stdout }
}

/** @param {Case} one */
const diffOf = (one) =>
  unifiedDiff(one.oldLines, one.operations, { ...endingsOf(one), path: 'file' })

/** @type {Subject[]} */
export const programSubjects = [
  program('git merge-file', (dir, one) => {
    const mine = withLines({ lines: [], ...endingsOf(one) }, edited(one.oldLines, one.operations))
    write(dir, { old: one.old, mine, current: one.current })
    const { status, stdout } = run(dir, 'git', 'merge-file', '-p', '-q', 'current', 'old', 'mine')
    return status === 0 ? { status: 'applied', text: stdout } : refused('conflict')
  }),
  program('git apply', (dir, one) => {
    write(dir, { file: one.current, diff: diffOf(one) })
    const { status } = run(dir, 'git', 'apply', '--whitespace=nowarn', 'diff')
    if (status !== 0) return refused('does not apply')
    return { status: 'applied', text: readFileSync(join(dir, 'file'), 'utf8') }
  }),
  program('patch', (dir, one) => {
    write(dir, { file: one.current, diff: diffOf(one) })
    // biome-ignore format: one option a line says less
    const { status, stdout } = run(dir, 'patch', '--force', '--silent', '--binary', '-r', '-',
      '-o', '-', 'file', 'diff')
    return status === 0 ? { status: 'applied', text: stdout } : refused('rejected')
  }),
]
