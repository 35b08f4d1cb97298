// What the notes for developers claim to be there is there, and what there is they name.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))

/** @param {string} path */
const read = (path) => readFileSync(join(root, path), 'utf8')

const map = read('docs/architecture.md')

/** @param {string} heading */
function section(heading) {
  const start = map.indexOf(`## ${heading}\n`)
  assert.ok(start >= 0, heading)
  const end = map.indexOf('\n## ', start)
  return map.slice(start, end < 0 ? undefined : end)
}

/** @param {string} text */
const quoted = (text) => Array.from(text.matchAll(/`([^`\n]+)`/g), ([, inside]) => inside)

/** The files of a directory and those below it. @param {string} dir @returns {string[]} */
const filesBelow = (dir) =>
  readdirSync(join(root, dir), { withFileTypes: true }).flatMap((entry) => {
    const path = `${dir}/${entry.name}`
    return entry.isDirectory() ? filesBelow(path) : [path]
  })

test('the map is short, and every path in it is there', () => {
  assert.ok(map.trimEnd().split('\n').length <= 120)
  const bases = ['', 'crates/core/', 'crates/core/src/', 'crates/cli/src/', 'crates/guard/src/']
  const isThere = (/** @type {string} */ path) =>
    bases.some(
      (base) => existsSync(join(root, base, path)) || existsSync(join(root, `${base + path}.rs`)),
    )
  const paths = quoted(map).filter((text) => /^[\w.-]+(\/[\w.-]*)+$/.test(text))
  assert.ok(paths.length > 60)
  // A module of JavaScript has two forms, and packages have names of two parts.
  const others = ['@biomejs/biome', 'js/omp', 'js/tools', 'js/addon', 'js/platform']
  assert.deepEqual(
    paths.filter((path) => !isThere(path) && !others.includes(path)),
    [],
  )
})

test('the map names every module of the layers and of the faces', () => {
  const rows = section('Modules')
    .split('\n')
    .filter((line) => line.startsWith('| '))
  const named = rows.flatMap((row) => {
    const first = row.split(' | ')[0]
    const folder = /`([\w/]+\/)`: /.exec(first)?.[1] ?? 'crates/core/src/'
    const names = quoted(first).filter((name) => !name.endsWith('/'))
    return names.map((name) => folder + name)
  })
  for (const name of named) {
    assert.ok(existsSync(join(root, `${name}.rs`)), `there is no module ${name}`)
  }
  const modules = (/** @type {string} */ dir, /** @type {string[]} */ except) =>
    readdirSync(join(root, dir))
      .filter((file) => file.endsWith('.rs'))
      .map((file) => `${dir}/${file.slice(0, -'.rs'.length)}`)
      .filter((path) => !except.includes(path.split('/').at(-1) ?? ''))
  const layers = ['text', 'disk', 'view', 'edit']
  const there = [
    ...modules('crates/core/src', [...layers, 'lib']),
    ...layers.flatMap((layer) => modules(`crates/core/src/${layer}`, [])),
    ...modules('src', ['lib']),
    ...modules('crates/cli/src', ['main']),
    ...modules('crates/capi/src', []),
    ...modules('crates/guard/src', ['lib']),
  ]
  assert.deepEqual(
    there.filter((path) => !named.includes(path)),
    [],
  )
})

test('the tests that keep an invariant are there', () => {
  const invariants = section('What must stay true')
  const names = quoted(invariants).filter((text) => /^[a-z]+(_[a-z0-9]+){2,}$/.test(text))
  assert.ok(names.length >= 6)
  const sources = filesBelow('crates/core')
    .filter((file) => file.endsWith('.rs'))
    .map(read)
    .join('\n')
  const lints = read('Cargo.toml')
  assert.deepEqual(
    names.filter((name) => !sources.includes(`fn ${name}(`) && !lints.includes(`${name} = "deny"`)),
    [],
  )
})

test('the map names the dependencies of all crates, and no others', () => {
  const crates = readdirSync(join(root, 'crates')).map((crate) => `crates/${crate}/Cargo.toml`)
  const manifests = ['Cargo.toml', 'fuzz/Cargo.toml', ...crates].map(read)
  const used = manifests.flatMap((manifest) => {
    const parts = manifest.split(/^\[/m).filter((part) => /^[^\n]*dependencies\]/.test(part))
    return parts.flatMap((part) => Array.from(part.matchAll(/^([\w-]+) = /gm), ([, name]) => name))
  })
  const rows = section('Dependencies')
    .split('\n')
    .filter((line) => line.startsWith('| '))
  const named = rows
    .flatMap((row) => quoted(row.split(' | ')[0]))
    .filter((name) => !name.includes('/'))
  const own = (/** @type {string} */ name) => name.startsWith('hashline-')
  const sorted = (/** @type {string[]} */ names) => [...new Set(names)].sort()
  assert.deepEqual(sorted(named), sorted(used.filter((name) => !own(name))))
})

test('the table of commands has those of package.json', () => {
  const rows = read('CONTRIBUTING.md').matchAll(/^\| `(?:run )?([\w:-]+)(?: -- [^`]*)?` \|/gm)
  const named = Array.from(rows, ([, name]) => name)
  assert.deepEqual(named.sort(), Object.keys(JSON.parse(read('package.json')).scripts).sort())
})

test('links in notes lead to files', () => {
  const notes = [
    'README.md',
    'CONTRIBUTING.md',
    ...readdirSync(join(root, 'docs')).map((file) => `docs/${file}`),
  ]
  for (const note of notes.filter(
    (file) => file.endsWith('.md') && statSync(join(root, file)).isFile(),
  )) {
    for (const [, target] of read(note).matchAll(/\]\((?!https?:|#|mailto:)([^)#\s]+)/g)) {
      assert.ok(existsSync(join(root, note, '..', target)), `${note} links to ${target}`)
    }
  }
})
