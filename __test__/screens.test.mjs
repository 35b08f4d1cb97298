// The pictures of the README show what the program prints.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FOLDER, PROGRAM, screens } from '../scripts/screens.mjs'

const skip = !existsSync(PROGRAM) && 'the program is not built: npm run build'

test('the pictures are what scripts/screens.mjs draws', { skip }, () => {
  for (const [name, svg] of Object.entries(screens())) {
    assert.equal(svg, readFileSync(join(FOLDER, `${name}.svg`), 'utf8'), name)
  }
})
