// Detects PowerShell commands that read or write files without the tools. The guard of
// hashline-native parses POSIX shells; this one knows words, quotes and redirections, and finds a
// few cmdlets by name where a command may start. Anything else runs.

/**
 * @import { GuardOptions, guard } from 'hashline-native/tools'
 *
 * @typedef {{ names: { read: string, search: string, apply: string }, guard: typeof guard, policy?: GuardOptions['policy'] }} How
 * the names of the tools, and the guard for programs of all shells, with its policy
 */

/**
 * A simple command.
 * @typedef {{ words: string[], writesTo: string[] }} Command
 * @typedef {{ does: 'reads' | 'searches' | 'writes', parameters: string[] }} Cmdlet
 * `parameters`: those that name the file
 */

const PATHS = ['-path', '-literalpath', '-filepath', '-pspath']
/** @type {Cmdlet} */
const READER = { does: 'reads', parameters: PATHS }
/** @type {Cmdlet} */
const WRITER = { does: 'writes', parameters: PATHS }
/** @type {Map<string, Cmdlet>} */
const CMDLETS = new Map([
  ['get-content', READER],
  ['gc', READER],
  ['cat', READER],
  ['type', READER],
  ['select-string', { does: 'searches', parameters: PATHS }],
  ['sls', { does: 'searches', parameters: PATHS }],
  ['set-content', WRITER],
  ['sc', WRITER],
  ['add-content', WRITER],
  ['ac', WRITER],
  ['out-file', WRITER],
  ['tee-object', WRITER],
  ['tee', WRITER],
])

const MAX_CHARS = 65_536
const MAX_REASONS = 100

/**
 * Why a command must be blocked, for the model; undefined for one that may run.
 * @param {string} text
 * @param {How} how
 */
export function powershellGuard(text, how) {
  if (text.length > MAX_CHARS) return undefined
  const reasons = commandsIn(text).flatMap((command) => reasonsAgainst(command, how))
  if (reasons.length === 0) return undefined
  const lines = [...new Set(reasons)].slice(0, MAX_REASONS)
  return ['Blocked: the command was not run.', ...lines].join('\n')
}

/**
 * @param {Command} command
 * @param {How} how
 * @returns {string[]}
 */
function reasonsAgainst({ words, writesTo }, how) {
  const [name = '', ...rest] = words
  // The output of a program may be stored in a file; text that is written here is an edit.
  const isOwn = name === '' || /^(?:echo|write-output|write|write-host|get-content|gc)$/i.test(name)
  const redirected = (isOwn ? writesTo : [])
    .filter(
      (target) => !/^(?:\$null|nul|\/dev\/\w+|.*\.(?:log|tmp)|\$env:te?mp\b.*)$/i.test(target),
    )
    .map(
      (target) =>
        `The output of \`${name}\` is written to \`${target}\`: use the tool \`${how.names.apply}\` to write files.`,
    )
  return [...redirected, ...reasonAgainstWords(name, rest, how)]
}

/**
 * @param {string} name
 * @param {string[]} rest
 * @param {How} how
 * @returns {string[]}
 */
function reasonAgainstWords(name, rest, how) {
  // An assignment, or a key of a hash table.
  if (name === '' || name.startsWith('$') || rest[0] === '=') return []
  const key = name.toLowerCase().replace(/^[\w.]+\\(?=\w+-?\w+$)/, '')
  const cmdlet = CMDLETS.get(key)
  if (cmdlet === undefined) return otherProgram([name, ...rest], how)
  const target = targetOf(key, cmdlet, rest)
  if (target === undefined) return []
  const file = target === '' ? 'a file' : `\`${target}\``
  const { names } = how
  switch (cmdlet.does) {
    case 'reads':
      return [
        `\`${name}\` reads ${file}: use the tool \`${names.read}\` instead, which shows lines with anchors.`,
      ]
    case 'searches':
      return [
        `\`${name}\` searches ${file}: use the tool \`${names.search}\` instead, whose matches have anchors.`,
      ]
    default:
      return [`\`${name}\` writes ${file}: use the tool \`${names.apply}\` instead.`]
  }
}

/**
 * The file that a cmdlet accesses; empty if it is not named, undefined if there is none.
 * @param {string} key
 * @param {Cmdlet} cmdlet
 * @param {string[]} rest
 */
function targetOf(key, { does, parameters }, rest) {
  const at = rest.findIndex((word) => parameters.includes(word.toLowerCase()))
  const operands = rest.filter((word, place) => !word.startsWith('-') && !isValue(rest[place - 1]))
  const named = at === -1 ? operands[does === 'searches' ? 1 : 0] : rest[at + 1]
  // A drive with a longer name has variables and functions, not files.
  if (named !== undefined && /^[a-z]{2,}:/i.test(named)) return undefined
  if (named !== undefined) {
    // In later versions `sc` is a program that manages services.
    const isProgram = key === 'sc' && at === -1 && /^(?:[a-z]+$|\\\\)/i.test(named)
    return isProgram ? undefined : named
  }
  if (rest.some((word) => /^-var/i.test(word))) return undefined
  // Input from a pipe: file names for these cmdlets, text for all others.
  return ['get-content', 'gc', 'set-content', 'add-content', 'out-file'].includes(key)
    ? ''
    : undefined
}

/**
 * Whether the argument after a word is its value, not an operand.
 * @param {string | undefined} word
 */
const isValue = (word) =>
  word !== undefined &&
  /^-(?:enc|tail|total|first|last|head|wid|var|val|pat|context|inp)/i.test(word)

/**
 * Checks programs of all shells with the POSIX guard.
 * @param {string[]} words
 * @param {How} how
 */
function otherProgram(words, { names, guard, policy }) {
  const quoted = words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(' ')
  return (
    guard(quoted, { names, ...(policy && { policy }) })
      ?.split('\n')
      .slice(1) ?? []
  )
}

/** The next token of a text: whitespace, a comment, a string, an operator or a word. */
const PARTS =
  /(?<space>[ \t\r\f]+|`\r?\n|#[^\n]*|<#[\s\S]*?(?:#>|$))|@'\r?\n(?<hereSingle>[\s\S]*?)(?:\r?\n'@|$)|@"\r?\n(?<hereDouble>[\s\S]*?)(?:\r?\n"@|$)|(?<merge>[\d*]?>&\d)|(?<redirection>[\d*]?>>?)|(?<end>\|\||&&|[\n;|&{}()])|(?<word>(?:'(?:[^']|'')*(?:'|$)|"(?:[^"`]|""|`[\s\S])*(?:"|$)|`[\s\S]|[^\s'"`;|&{}()<>])+)|[\s\S]/gy

/**
 * The commands of a text, at every position where one may start.
 * @param {string} text
 */
function commandsIn(text) {
  /** @type {Command[]} */
  const commands = []
  let [isCalled, isTarget] = [false, false]
  /** @type {Command | undefined} */
  let open
  const finish = () => {
    if (open) commands.push(open)
    open = undefined
  }
  for (const { groups = {}, 0: part } of text.matchAll(PARTS)) {
    if (groups.space !== undefined) continue
    if (groups.end !== undefined) {
      finish()
      isCalled = part === '&'
      isTarget = false
      continue
    }
    if (groups.merge !== undefined) continue
    if (groups.redirection !== undefined) {
      open ??= { words: [], writesTo: [] }
      isTarget = true
      continue
    }
    const word = groups.word ?? groups.hereSingle ?? groups.hereDouble
    if (word === undefined) continue
    const plain = groups.word === undefined ? word : unquoted(word)
    if (isTarget) {
      open?.writesTo.push(plain)
      isTarget = false
      continue
    }
    const isQuoted = groups.word === undefined || /^['"]/.test(word)
    if (open === undefined) {
      // A string is a command only if it is called.
      open = { words: [isQuoted && !isCalled ? '' : plain], writesTo: [] }
    } else open.words.push(plain)
    isCalled = plain === '.' && open.words.length === 1
    if (isCalled) open = undefined
    // The right side of an assignment may be a command.
    if (plain === '=' && /^[$[]/.test(open?.words[0] ?? '')) finish()
  }
  finish()
  return commands
}

/** Removes quotes and escapes from a word. @param {string} word */
function unquoted(word) {
  return word.replace(
    /'((?:[^']|'')*)(?:'|$)|"((?:[^"`]|""|`[\s\S])*)(?:"|$)|`([\s\S])/g,
    (_, a, b, c) =>
      a?.replaceAll("''", "'") ?? b?.replaceAll('""', '"').replace(/`([\s\S])/g, '$1') ?? c,
  )
}
