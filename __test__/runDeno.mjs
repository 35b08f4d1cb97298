// `npm run test:deno`: runs the cases of vectors/bindings.jsonl under Deno, once through Node-API and
// once through the C interface by `Deno.dlopen`. Deno is installed from npm into target/tools;
// without network it is skipped with a message, or fails if CI is set.

import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { hostsOf } from '../scripts/hosts.mjs'
import { root } from '../scripts/tools.mjs'
import { expectedLine, loadCases } from './bindings/run.mjs'

/** Deno's program, as in `npm run stress -- smoke`. */
function program() {
  try {
    const [host] = hostsOf('linux-x64-gnu', ['deno'])
    return host.prepare().command('', '').command
  } catch (error) {
    if (process.env.CI) throw error
    const { message } = /** @type {Error} */ (error)
    console.log(`skipped: Deno is not available (${message.split('\n')[0]})`)
    process.exit()
  }
}

const deno = program()
const path = join(root, 'vectors', 'bindings.jsonl')
const expected = `${loadCases(path).map(expectedLine).join('\n')}\n`
for (const [binding, module] of [
  ['Node-API', 'index.js'],
  ['Deno.dlopen', '__test__/bindings/deno.mjs'],
]) {
  if (!existsSync(join(root, module))) throw new Error(`${module} is missing: npm run build`)
  const script = join(root, '__test__/bindings/print.mjs')
  const { status, stdout, stderr } = spawnSync(
    deno,
    ['run', '--allow-all', '--no-check', script, join(root, module), path],
    { encoding: 'utf8', maxBuffer: 1 << 26, env: { ...process.env, NO_COLOR: '1' } },
  )
  if (status !== 0) throw new Error(`${binding}: ${stderr}`)
  const [is, should] = [stdout.split('\n'), expected.split('\n')]
  const at = should.findIndex((line, index) => line !== is[index])
  if (at >= 0 || stdout !== expected) {
    throw new Error(`${binding} answers\n${is[at]}\ninstead of\n${should[at]}`)
  }
  console.log(`Deno, ${binding}: ${should.length - 1} cases as recorded`)
}
