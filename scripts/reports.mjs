// Parses the output of test programs: how many tests passed, which did not, and why.

import { basename } from 'node:path'

/** @typedef {{ name: string, reason: string }} Remark */
/** @typedef {{ passed: number, failed: Remark[], skipped: Remark[] }} Result */

/**
 * The output of Node and Deno.
 * @param {string} text
 * @returns {Result}
 */
export function fromTap(text) {
  /** @type {Result} */
  const result = { passed: 0, failed: [], skipped: [] }
  const points = text.split(/^(?=(?:not )?ok \d)/m)
  for (const point of points) {
    const found = /^(not )?ok \d+(?: - )?(.*?)(?: # (SKIP|TODO) ?(.*))?$/m.exec(point)
    if (!found || !point.startsWith(found[0])) continue
    const [all, not, name, directive, reason] = found
    // Node 18 reports each file as a test of its own.
    if (basename(name).endsWith('.test.mjs')) continue
    if (directive !== undefined) result.skipped.push({ name, reason: reason || 'no reason given' })
    else if (not) result.failed.push({ name, reason: point.slice(all.length).trim() })
    else result.passed++
  }
  return result
}

/**
 * The report of Bun.
 * @param {string} text
 * @returns {Result}
 */
export function fromJunit(text) {
  /** @type {Result} */
  const result = { passed: 0, failed: [], skipped: [] }
  for (const [, attributes, body = ''] of text.matchAll(
    /<testcase ([^>]*?)(?:\/>|>([\s\S]*?)<\/testcase>)/g,
  )) {
    const name = /name="([^"]*)"/.exec(attributes)?.[1] ?? ''
    if (body.includes('<failure')) result.failed.push({ name, reason: body.trim() })
    else if (body.includes('<skipped')) {
      const reason = /message="([^"]*)"/.exec(body)?.[1] ?? 'see the file'
      result.skipped.push({ name, reason })
    } else result.passed++
  }
  return result
}

/**
 * The output of a Rust test program.
 * @param {string} text
 * @returns {Result}
 */
export function fromLibtest(text) {
  /** @type {Result} */
  const result = { passed: 0, failed: [], skipped: [] }
  for (const [, name, verdict, reason] of text.matchAll(
    /^test (.+?) \.\.\. (ok|FAILED|ignored)(?:, (.*))?\r?$/gm,
  )) {
    if (verdict === 'ok') result.passed++
    else if (verdict === 'ignored') result.skipped.push({ name, reason: reason ?? 'ignored' })
    else result.failed.push({ name, reason: outputOf(name, text) })
  }
  return result
}

/**
 * The output of a failed test.
 * @param {string} name
 * @param {string} text
 */
function outputOf(name, text) {
  const [, section = ''] = text.split(`---- ${name} stdout ----`)
  return section.split(/^(?:---- |failures:)/m)[0].trim()
}
