// What `hashline setup` writes for Claude Code and Codex, as these list it themselves.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { symlinkSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { withMess } from '../../__test__/support.mjs'
import { skipWithout } from '../../scripts/packages.mjs'
import { programDirectory } from '../../scripts/plugins.mjs'

const ROOT = dirname(dirname(fileURLToPath(import.meta.url)))
const MACHINE = `${process.platform}-${process.arch}`
const TRIPLES = {
  'darwin-arm64': 'aarch64-apple-darwin',
  'linux-arm64': 'aarch64-unknown-linux-musl',
  'linux-x64': 'x86_64-unknown-linux-musl',
}
const triple = TRIPLES[/** @type {keyof typeof TRIPLES} */ (MACHINE)]

/** The agents, with the folder of their packages, their programs, and what they print. */
const AGENTS = [
  {
    agent: 'claude',
    folder: join(ROOT, 'claude-code/agent'),
    program: `@anthropic-ai/claude-code-${MACHINE}/claude`,
    prints: /`claude mcp list` prints: hashline: \S+ mcp .* Connected\n/,
  },
  {
    agent: 'codex',
    folder: join(ROOT, 'codex/agent'),
    program: `@openai/codex-${MACHINE}/vendor/${triple}/bin/codex`,
    prints: /`codex mcp list` prints: hashline +\S+ +mcp .* enabled /,
  },
]

for (const { agent, folder, program, prints } of AGENTS) {
  const skip = skipWithout(folder)
  test(`${agent} lists the server that setup has written`, { skip }, () =>
    withMess({ 'bin/none': '' }, (dir, stateDir) => {
      symlinkSync(join(folder, 'node_modules', program), join(dir, 'bin', agent))
      const env = {
        PATH: [join(dir, 'bin'), process.env.PATH].join(delimiter),
        HOME: dir,
        CODEX_HOME: join(dir, 'codex'),
        CLAUDE_CONFIG_DIR: join(dir, 'claude'),
        XDG_STATE_HOME: stateDir,
      }
      const setUp = (/** @type {string[]} */ ...args) =>
        spawnSync(join(programDirectory(), 'hashline'), ['setup', agent, ...args], {
          cwd: dir,
          env,
          encoding: 'utf8',
        })
      for (const options of [[], ['--allow']]) {
        const { status, stderr } = setUp(...options)
        assert.equal(status, 0, stderr)
        assert.match(stderr, prints)
      }
      assert.equal(setUp('--remove').status, 0)
    }),
  )
}
