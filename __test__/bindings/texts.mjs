// The texts of the cases, and their anchors.

import { hashLines } from 'hashline-native'

/** @import { Case, Content } from './run.mjs' */
/** @typedef {Omit<Case, 'expected'>} Given */

/** The dialects whose lines have anchors. */
export const DIALECTS = /** @type {const} */ (['pi', 'pi26', 'cli', 'omp', 'omp13', 'lean'])

export const ALL_DIALECTS = /** @type {const} */ ([...DIALECTS, 'omp18'])

const base64 = (/** @type {Buffer} */ bytes) => ({ base64: bytes.toString('base64') })
const utf16 = (/** @type {string} */ text) => Buffer.from(`\ufeff${text}`, 'utf16le')

/** @type {Record<string, Content>} */
export const CONTENTS = {
  'lf.txt': 'one\ntwo\n\n  three {\n}\n',
  'crlf.txt': 'one\r\ntwo\r\n\r\n  three {\r\n}\r\n',
  'mixed.txt': 'one\r\ntwo\nthree\r\n',
  'open.txt': 'one\ntwo',
  'empty.txt': '',
  'newline.txt': '\n',
  'bom.txt': '\ufeffone\ntwo\n',
  'unicode.txt': 'größe = “7”\n日本語 \u{1f600} e\u0301\n\u00a0\u2028inside\n',
  'utf16.txt': base64(utf16('größe\r\n日本語 \u{1f600}\r\n')),
  'utf16be.txt': base64(utf16('one\ntwo\n').swap16()),
  'latin.txt': base64(Buffer.from('gr\xf6\xdfe\nna\xefve\n', 'latin1')),
  'blank.txt': '\n  \n\t\n\n',
  'carriage.txt': 'one\rtwo\nthree\r\r\n',
  'control.txt': 'a\u0001b\n\u001b[31mred\u001b[0m\n',
  'binary.bin': base64(Buffer.from([0, 1, 2, 255, 254, 0, 0, 10, 13, 0])),
  'image.png': base64(Buffer.from('89504e470d0a1a0a0000000d49484452', 'hex')),
}

/**
 * The anchors of a text.
 * @param {string} text
 * @param {import('hashline-native').Dialect} [dialect]
 */
export function anchors(text, dialect = 'pi') {
  const marks = { pi: ':', pi26: ':', cli: ':', omp: '#', omp13: '#', omp18: '', lean: '' }
  const mark = marks[dialect]
  const number = (/** @type {string} */ hash, /** @type {number} */ at) => `${at + 1}${mark}${hash}`
  return hashLines(text, { dialect }).map(number)
}
