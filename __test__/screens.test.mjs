// The pictures of the README show what the program prints.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { builtProgram, FOLDER, screens } from '../scripts/screens.mjs'

const program = builtProgram()
const skip = program === undefined && 'the program is not built: cargo build -p hashline-cli'

test('the pictures are what `npm run screens` draws', { skip }, () => {
  assert.ok(program)
  for (const [name, svg] of Object.entries(screens(program))) {
    assert.equal(svg, readFileSync(join(FOLDER, `${name}.svg`), 'utf8'), name)
  }
})
