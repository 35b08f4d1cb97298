// The pictures of the README show the output of the program.

import assert from 'node:assert/strict'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { FOLDER, PROGRAM, screens } from '../scripts/screens.mjs'
import { picture } from '../scripts/terminalPicture.mjs'

const skip = !existsSync(PROGRAM) && 'the program is not built: npm run build'

test('the pictures match the output of scripts/screens.mjs', { skip }, () => {
  for (const [name, svg] of Object.entries(screens())) {
    assert.equal(svg, readFileSync(join(FOLDER, `${name}.svg`), 'utf8'), name)
  }
})

test('a picture of a terminal has its texts, colours and columns, without blank rows', () => {
  const screen =
    '\n\n\x1b[1;31ma<b\x1b[0m  \x1b[38;5;16;48;2;1;2;255mé\x1b[39m c\n\n\n\x1b[7m\x1b[2mend\n\x1b[0m\n'
  const texts = Array.from(
    picture(screen, 'A "label"').matchAll(
      /(<rect [^>]*fill="([^"]+)"\/>)?<text x="([\d.]+)" y="(\d+)"[^>]* fill="([^"]+)"([^>]*)>([^<]*)</g,
    ),
    ([, , paper, ...rest]) => [paper, ...rest.slice(0, 3), rest[4]],
  )
  assert.deepEqual(texts, [
    [undefined, '12.0', '25', '#ff7b72', 'a&lt;b'],
    ['#0102ff', '51.0', '25', '#000000', 'é'],
    ['#0102ff', '66.6', '25', '#e6edf3', 'c'],
    ['#e6edf3', '12.0', '59', '#0102ff', 'end'],
  ])
  assert.match(picture(screen, 'A "label"'), /aria-label="A &quot;label&quot;"/)
  assert.match(picture(screen, ''), /height="75"/)
})
