// Compiles code that uses the declarations of this package with the TypeScript compiler.

import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** The modules of the package and of its recipes, and their declarations. */
const DECLARATIONS = {
  'hashline-native': 'index.d.ts',
  'hashline-native/bun': 'js/bun.d.mts',
  'hashline-native/omp': 'js/omp.d.mts',
  'hashline-native/omp13': 'js/omp13.d.mts',
  'hashline-native/tools': 'js/tools.d.mts',
  prettier: 'node_modules/prettier/index.d.ts',
}

/**
 * Compiles a module of these lines, in which `api` is `index.d.ts`, and returns the errors.
 * @param {string} dir
 * @param {string[]} lines
 */
export function compile(dir, lines) {
  const source = `import type * as api from 'hashline-native'\n${lines.join('\n')}\n`
  return compileAll(dir, { 'lines.mts': source })
}

/**
 * Compiles files, by name, in one run, and returns the errors.
 * @param {string} dir an empty directory
 * @param {Record<string, string>} sources
 */
export function compileAll(dir, sources) {
  for (const [name, source] of Object.entries(sources)) writeFileSync(join(dir, name), source)
  const declared = Object.entries(DECLARATIONS).map(([name, file]) => [name, [join(root, file)]])
  const configuration = {
    compilerOptions: {
      allowJs: true,
      checkJs: true,
      module: 'nodenext',
      noEmit: true,
      paths: Object.fromEntries(declared),
      strict: true,
      target: 'es2022',
      typeRoots: [join(root, 'node_modules/@types')],
      types: ['node'],
    },
    files: Object.keys(sources),
  }
  writeFileSync(join(dir, 'tsconfig.json'), JSON.stringify(configuration))
  const compiler = join(root, 'node_modules/typescript/bin/tsc')
  const { stdout, stderr, error } = spawnSync(process.execPath, [compiler, '-p', dir], {
    encoding: 'utf8',
  })
  if (error) throw error
  return stdout + stderr
}
