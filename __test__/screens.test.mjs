// The pictures of the README show the output of the program.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FOLDER, PROGRAM, screens } from '../scripts/screens.mjs'

const skip = !existsSync(PROGRAM) && 'the program is not built: npm run build'

test('the pictures match the output of scripts/screens.mjs', { skip }, () => {
  for (const [name, svg] of Object.entries(screens())) {
    assert.equal(svg, readFileSync(join(FOLDER, `${name}.svg`), 'utf8'), name)
  }
})
