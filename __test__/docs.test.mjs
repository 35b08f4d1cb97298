// Checks the pages: what they mention exists, they mention what exists, and their code compiles.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import * as api from 'hashline-native'
import * as omp from 'hashline-native/omp'
import * as tools from 'hashline-native/tools'
import { compileAll } from './compile.mjs'
import { withMess } from './support.mjs'

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

test('the map is short, and every path in it exists', () => {
  assert.ok(map.trimEnd().split('\n').length <= 140)
  const crates = readdirSync(join(root, 'crates'), { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => `crates/${entry.name}/src/`)
  const bases = ['', 'crates/core/', ...crates]
  const isThere = (/** @type {string} */ path) =>
    bases.some(
      (base) => existsSync(join(root, base, path)) || existsSync(join(root, `${base + path}.rs`)),
    )
  const paths = quoted(map).filter((text) => /^[\w.-]+(\/[\w.-]*)+$/.test(text))
  assert.ok(paths.length > 60)
  // A JavaScript module has two files, and package names have two parts.
  const others = ['@biomejs/biome', 'js/omp', 'js/tools', 'js/addon', 'js/platform']
  assert.deepEqual(
    paths.filter((path) => !isThere(path) && !others.includes(path)),
    [],
  )
})

test('the map names every module', () => {
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
  const layers = ['view', 'json', 'edit']
  const there = [
    ...modules('crates/core/src', [...layers, 'lib']),
    ...layers.flatMap((layer) => modules(`crates/core/src/${layer}`, ['tests'])),
    ...['base', 'lines', 'disk', 'memory', 'omp'].flatMap((crate) =>
      modules(`crates/${crate}/src`, ['lib']),
    ),
    ...modules('src', ['lib']),
    ...modules('crates/cli/src', ['main']),
    ...modules('crates/capi/src', []),
    ...modules('crates/guard/src', ['lib']),
    ...modules('crates/tools/src', ['lib']),
  ]
  assert.deepEqual(
    there.filter((path) => !named.includes(path)),
    [],
  )
})

test('the tests that enforce an invariant exist', () => {
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
  const crates = filesBelow('crates').filter((file) => /^crates\/\w+\/Cargo\.toml$/.test(file))
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

test('the page for contributors has each command of package.json once', () => {
  const rows = read('CONTRIBUTING.md').matchAll(
    /^(?:\| `|npm )(?:run )?([\w:-]+)(?: -- [^`]*)?(?:` \|| +#)/gm,
  )
  const named = Array.from(rows, ([, name]) => name)
  assert.deepEqual(named.sort(), Object.keys(JSON.parse(read('package.json')).scripts).sort())
})

/** @param {string} dir */
const namesIn = (dir) => readdirSync(join(root, dir)).map((name) => join(dir, name))

/** The pages of the repository. */
const pages = ['.', 'bench', 'docs', 'examples', 'integrations']
  .flatMap((dir) => (['.', 'bench'].includes(dir) ? namesIn(dir) : filesBelow(dir)))
  .filter((file) => file.endsWith('.md') && !file.includes('node_modules'))

test('the commands in pages exist', () => {
  const { scripts } = JSON.parse(read('package.json'))
  // The page of the guard shows commands of other projects.
  for (const page of pages.filter((page) => page !== 'docs/guard.md')) {
    for (const [command, script, name] of read(page).matchAll(
      /npm run (?:--silent )?([\w:-]+)(?: -- ([a-z][\w:-]*))?/g,
    )) {
      assert.ok(Object.hasOwn(scripts, script), `${page}: ${command}`)
      if (!name || !['bench', 'stress'].includes(script)) continue
      const table = read(`${script}/run.mjs`)
      assert.match(table, new RegExp(`^ {2}'?${name}'?: `, 'm'), `${page}: ${command}`)
    }
  }
})

/** A link to a file of the repository: its path, and a heading. */
const LINK = /\]\((?!https?:|mailto:)([^)#\s]*)(?:#([^)\s]*))?\)/g

/** The anchors of the headings of a page. @param {string} page */
const headings = (page) =>
  Array.from(read(page).matchAll(/^#+ (.*)$/gm), ([, heading]) =>
    heading
      .toLowerCase()
      .replace(/[^\w -]/g, '')
      .replaceAll(' ', '-'),
  )

test('links in pages lead to existing files and headings', () => {
  for (const page of pages) {
    for (const [, target, at] of read(page).matchAll(LINK)) {
      const file = target === '' ? page : join(page, '..', target)
      assert.ok(existsSync(join(root, file)), `${page} links to ${target}`)
      if (at) assert.ok(headings(file).includes(at), `${page} links to ${target}#${at}`)
    }
  }
})

/** Pages about one kind of host or one task: most readers need none of them. */
const PAGES_FOR_TASKS = [
  'docs/lifecycle.md',
  'docs/documents.md',
  'docs/remote.md',
  'docs/find.md',
  'docs/python.md',
  'docs/rust.md',
]

test('no page is long, and neither are all together', () => {
  const written = filesBelow('docs').filter((file) => file.endsWith('.md'))
  let all = 0
  for (const page of ['README.md', 'CONTRIBUTING.md', ...written]) {
    const words = read(page).split(/[\s|]+/).length
    const limit = page === 'docs/protocol.md' ? 6000 : 2500
    assert.ok(words <= limit, `${page} has ${words} words`)
    if (!PAGES_FOR_TASKS.includes(page)) all += words
  }
  assert.ok(all <= 26_000, `all pages have ${all} words`)
})

test('no sentence of the README and the guide is long', () => {
  for (const page of ['README.md', 'docs/guide.md']) {
    const prose = read(page)
      .replace(/```[\s\S]*?```/g, '')
      .replace(/`[^`]*`/g, 'code')
      .replace(/\]\([^)]*\)/g, ']')
    for (const sentence of prose.split(/(?<=[.:?!;])\s|\n| \| /)) {
      assert.ok(sentence.split(/\s+/).length <= 34, `${page}: ${sentence}`)
    }
  }
})

test("the figures of the README's comparison are in the reports", () => {
  const reports = ['bench/misplacement.md', 'bench/tokens.md'].map(read).join('\n')
  const rows = read('README.md').matchAll(/^\| (?:right|tokens)\b.*$/gm)
  const figures = Array.from(rows, ([row]) => row.split('|').slice(2, -1)).flat()
  assert.equal(figures.length, 32)
  for (const figure of figures) {
    assert.match(reports, new RegExp(`[ ,(]${figure.trim().replace('.', '\\.')}[ ,]`))
  }
})

/** The declarations that snippets use. */
const SURROUNDINGS = `
import type * as api from 'hashline-native'

interface Message {
  tool_calls?: { id: string; function: { name: string; arguments: string } }[]
}

declare global {
  const cwd: string
  const model: string
  const messages: unknown[]
  const call: { name: string; arguments: string }
  const ask: (request: unknown) => Promise<Message>
  const session: api.HashSession
  const patch: api.Patch
  const textSoFar: string
  const buffer: {
    text: string
    version: number
    apply: (edits: api.TextEdit[] | undefined, version: number | undefined) => Promise<void>
  }
  const editor: {
    text: (path: string) => Promise<string | null>
    write: (path: string, content: string | Uint8Array) => Promise<void>
    remove: (path: string) => Promise<void>
  }
}
`

/**
 * The fenced blocks of a page in one of these languages.
 * @param {string} page
 * @param {string[]} languages
 */
const blocks = (page, ...languages) =>
  Array.from(read(page).matchAll(/^ *```(\w+)\n([\s\S]*?)^ *```$/gm), ([, language, code]) => ({
    language,
    code,
  })).filter(({ language }) => languages.includes(language))

/**
 * A snippet as a module, with declarations for omitted code, and with imports of the package's
 * names that it does not import itself.
 * @param {string} code
 */
function moduleOf(code) {
  const source = code.replaceAll('…', '')
  const known = Object.entries({
    'hashline-native': api,
    'hashline-native/tools': tools,
    'hashline-native/omp': omp,
  })
  const imports = known.flatMap(([from, exported]) => {
    const names = Object.keys(exported).filter(
      (name) => new RegExp(`(?<![.'\\w])${name}\\(`).test(source) && !bound(source).includes(name),
    )
    return names.length > 0 ? [`import { ${names.join(', ')} } from '${from}'`] : []
  })
  return `${[...imports, source].join('\n')}\nexport {}\n`
}

/** The names that a snippet destructures. @param {string} source */
const bound = (source) =>
  Array.from(source.matchAll(/(?:import|const) \{([^}]*)\}/g), ([, names]) => names)
    .join()
    .split(/[\s,]+/)

test('snippets of the pages compile', () =>
  withMess({}, (dir) => {
    /** @type {Record<string, string>} */
    const sources = { 'surroundings.d.mts': SURROUNDINGS }
    for (const page of pages) {
      blocks(page, 'js', 'ts').forEach(({ code }, index) => {
        const name = `${page.replace(/\W/g, '_')}_${index + 1}`
        // Only JavaScript has types for names that a CommonJS module requires.
        if (code.includes('require(')) sources[`${name}.cjs`] = code
        else sources[`${name}.mts`] = moduleOf(code)
      })
    }
    assert.ok(Object.keys(sources).length > 10)
    assert.equal(compileAll(dir, sources), '')
  }))

test('JSON in the pages is valid', () => {
  for (const page of pages) for (const { code } of blocks(page, 'json')) JSON.parse(code)
})

test('the page for agents has the limits of answers that the server uses', () => {
  const hosts = read('crates/cli/src/commands/mcp/hosts.rs')
  const line = read('docs/agents.md')
    .split('\n')
    .find((line) => line.startsWith('- **Answers** have'))
  const [answers, refusals] = line?.split('Refusals') ?? []
  /** @type {[string, string, number][]} */
  const parts = [
    ['answer_bytes', answers, 5],
    ['error_bytes', refusals, 3],
  ]
  for (const [field, text, count] of parts) {
    const limits = [...hosts.matchAll(new RegExp(`${field}: (\\d[\\d_]*)`, 'g'))]
    assert.equal(limits.length, count, field)
    for (const [, bytes] of limits) {
      const limit = `${Number(bytes.replaceAll('_', '')) / 1000} KB`
      assert.ok(text.includes(limit), `${field}: ${limit}`)
    }
  }
  assert.ok(answers.includes('opencode 1,900') && hosts.includes('lines: 1_900'))
})
