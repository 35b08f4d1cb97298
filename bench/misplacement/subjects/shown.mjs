// The plain functions, with a patch that says what was shown: the snapshot of the file, or for each
// range the checksum of its lines. Both come from views of the old file; then the file is replaced
// by the current one.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { extname, join } from 'node:path'
import { applyHashSync, readHashedSync } from 'hashline-native'
import { operationsOf } from './plain.mjs'
import { refused } from './subject.mjs'

/** @import { Case } from '../cases.mjs' */
/** @import { Edit } from '../../edit/history/text.mjs' */
/** @import { Subject } from './subject.mjs' */

/**
 * The snapshots or checksums of the old file at a path.
 * @typedef {(root: string, path: string, one: Case) => { snapshots?: Record<string, string>, checksums?: (string | undefined)[] }} HintOf
 */

/** @type {HintOf} */
const snapshots = (root, path) => {
  const [view] = readHashedSync([{ path, maxLines: 1 }], { root })
  return { snapshots: { [path]: view.snapshot ?? '' } }
}

/** @type {HintOf} */
const checksums = (root, path, { operations }) => {
  const request = (/** @type {Edit} */ edit) => {
    if ('after' in edit) return undefined
    const lines = { startLine: edit.first, maxLines: edit.last - edit.first + 1 }
    return readHashedSync([{ path, checksum: true, ...lines }], { root })[0].checksum
  }
  return { checksums: operations.map(request) }
}

/**
 * @param {string} name
 * @param {HintOf} hintOf
 * @returns {Subject}
 */
function hinted(name, hintOf) {
  /** @type {string | undefined} */
  let scratch
  return {
    name: `plain, pi, ${name}`,
    pace: 'usual',
    apply(one) {
      scratch ??= mkdtempSync(join(tmpdir(), 'hashline-misplacement-'))
      const [root, stateDir] = [scratch, `${scratch}.state`]
      const path = `file${extname(one.path)}`
      writeFileSync(join(root, path), one.old)
      const { snapshots, checksums } = hintOf(root, path, one)
      writeFileSync(join(root, path), one.current)
      const operations = operationsOf(one).map((operation, at) => {
        const checksum = checksums?.[at]
        return { ...operation, path, ...(checksum && { checksum }) }
      })
      const patch = /** @type {import('hashline-native').OperationsPatch} */ ({
        operations,
        snapshots,
      })
      const outcome = applyHashSync(patch, { root, stateDir, durability: 'process' })
      if (outcome.status === 'rejected') return refused(outcome.code)
      const text = readFileSync(join(root, path), 'utf8')
      return { status: 'applied', text, repaired: outcome.repairs.length > 0 }
    },
    end() {
      if (!scratch) return
      rmSync(scratch, { recursive: true, force: true })
      rmSync(`${scratch}.state`, { recursive: true, force: true })
    },
  }
}

export const shownSubjects = [hinted('snapshots', snapshots), hinted('checksums', checksums)]
