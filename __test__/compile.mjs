// What the TypeScript compiler has to say about lines that use the declarations of this package.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/**
 * Compiles a module of these lines, in which `api` is `index.d.ts`, and returns the complaints.
 * @param {string} dir
 * @param {string[]} lines
 */
export function compile(dir, lines) {
  const declarations = JSON.stringify(join(root, 'index.d.ts'))
  const file = join(dir, 'lines.mts')
  writeFileSync(file, `import type * as api from ${declarations}\n${lines.join('\n')}\n`)
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const flags = ['--ignoreConfig', '--noEmit', '--strict']
  const language = ['--module', 'nodenext', '--target', 'es2022']
  const types = ['--types', 'node', '--typeRoots', join(root, 'node_modules/@types')]
  const { stdout, stderr, error } = spawnSync(
    process.execPath,
    [compiler, ...flags, ...language, ...types, file],
    { encoding: 'utf8' },
  )
  if (error) throw error
  return stdout + stderr
}
