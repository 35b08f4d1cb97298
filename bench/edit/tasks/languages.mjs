// The language of a file, by its extension.

/** @type {Record<string, string>} */
const LANGUAGES = {
  c: 'C',
  cc: 'C++',
  cpp: 'C++',
  cs: 'C#',
  cxx: 'C++',
  cjs: 'JavaScript',
  cts: 'TypeScript',
  go: 'Go',
  java: 'Java',
  js: 'JavaScript',
  jsx: 'JavaScript',
  kt: 'Kotlin',
  lua: 'Lua',
  mjs: 'JavaScript',
  mts: 'TypeScript',
  php: 'PHP',
  py: 'Python',
  rb: 'Ruby',
  rs: 'Rust',
  scala: 'Scala',
  sh: 'Shell',
  swift: 'Swift',
  ts: 'TypeScript',
  tsx: 'TypeScript',
  vue: 'Vue',
  zig: 'Zig',
}

/** @param {string} path @returns {string | undefined} */
export function languageOf(path) {
  const end = /\.(\w+)$/.exec(path)?.[1].toLowerCase()
  return end !== undefined && Object.hasOwn(LANGUAGES, end) ? LANGUAGES[end] : undefined
}

/**
 * The languages that a user names, in this spelling.
 * @param {string | undefined} names separated by commas
 * @returns {((language: string) => boolean)} whether a language is included
 */
export function amongLanguages(names) {
  if (names === undefined) return () => true
  const all = [...new Set(Object.values(LANGUAGES))]
  const wanted = names.split(',').map((name) => {
    const found = all.find((one) => one.toLowerCase() === name.trim().toLowerCase())
    if (found !== undefined) return found
    throw new Error(
      `there is no language ${JSON.stringify(name)}: expected some of ${all.join(', ')}`,
    )
  })
  return (language) => wanted.includes(language)
}
