// How calls look in pi's terminal: one line each; opened (ctrl+o), the diff or the text below it.

import { truncateToWidth } from '@earendil-works/pi-tui'

/**
 * @import { Component } from '@earendil-works/pi-tui'
 * @import { AgentToolResult, Theme, ToolRenderResultOptions } from '@earendil-works/pi-coding-agent'
 * @import { HashTool } from 'hashline-native/tools'
 * @import { Details } from './index.js'
 *
 * @typedef {{ state: { details?: Details }, isPartial: boolean }} RowContext
 */

/**
 * The line of a call: what it is about, and what came of it once that is known.
 * @param {HashTool} tool
 * @param {unknown} args
 * @param {Theme} theme
 * @param {RowContext} context
 * @returns {Component}
 */
export function callRow(tool, args, theme, { state }) {
  const name = theme.fg('toolTitle', theme.bold(tool.name))
  const about = tool.callTitle(args)
  const title = theme.fg('accent', about || '…')
  return component(() => {
    const { details } = state
    if (details === undefined) return [` ${name} ${title}`]
    const colour = details.isError ? 'error' : 'muted'
    return [` ${name} ${title} ${theme.fg(colour, `· ${withoutName(details.summary, about)}`)}`]
  })
}

/** A summary behind a title that has named the file already. */
const withoutName = (/** @type {string} */ summary, /** @type {string} */ name) =>
  summary.startsWith(`${name}: `) || summary.startsWith(`${name} `)
    ? summary.slice(name.length).replace(/^:? /, '')
    : summary

/**
 * What is below the line.
 * @param {AgentToolResult<Details>} result
 * @param {ToolRenderResultOptions} options
 * @param {Theme} theme
 * @param {RowContext} context
 * @returns {Component}
 */
export function resultRows({ content, details }, { expanded, isPartial }, theme, { state }) {
  if (!isPartial && details) state.details = details
  if (!expanded) return component(() => [])
  const texts = content.map((part) => (part.type === 'text' ? part.text : ''))
  const text = details?.diff ?? texts.join('\n')
  const rows = text
    .trimEnd()
    .split('\n')
    .map((row) => ` ${coloured(row, details?.diff !== undefined, theme)}`)
  return component(() => rows)
}

/**
 * @param {string} row
 * @param {boolean} isDiff
 * @param {Theme} theme
 */
function coloured(row, isDiff, theme) {
  const plain = row.replaceAll('\t', '    ')
  if (!isDiff) return theme.fg('toolOutput', plain)
  if (plain.startsWith('+')) return theme.fg('toolDiffAdded', plain)
  return theme.fg(plain.startsWith('-') ? 'toolDiffRemoved' : 'toolDiffContext', plain)
}

/** @param {() => string[]} rows @returns {Component} */
const component = (rows) => ({
  render: (width) => rows().map((row) => truncateToWidth(row, width)),
  invalidate() {},
})
