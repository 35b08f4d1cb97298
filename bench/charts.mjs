// Charts of the measurements, as SVG for the README and bench/benchmarks.md.

import { mkdirSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { GOALS } from './goals.mjs'

/** @import { Row } from './run.mjs' */

const OWN = '#0b7285'
const PEERS = '#adb5bd'

/** @type {Record<string, { title: string, ids: string[] }>} */
const CHARTS = {
  peers: {
    title: 'Times faster than JavaScript',
    ids: ['read-page-peer', 'format-page-peer', 'batch-wasm', 'batch-peer', 'omp-apply-large'],
  },
  limits: {
    title: 'Time, as a multiple of what the plain work takes',
    ids: ['read-page', 'read-large', 'search-rare', 'search-frequent', 'apply-one'],
  },
}

/**
 * Draws each chart whose rows were measured.
 * @param {Row[]} rows
 * @param {string} dir
 */
export async function drawCharts(rows, dir) {
  mkdirSync(dir, { recursive: true })
  const echarts = createRequire(new URL('packages/', import.meta.url))('echarts')
  for (const [name, { title, ids }] of Object.entries(CHARTS)) {
    const shown = ids
      .map((id) => rows.find((row) => row.id === id))
      .filter((row) => row !== undefined)
    const height = 90 + 60 * shown.length
    const chart = echarts.init(null, null, { renderer: 'svg', ssr: true, width: 760, height })
    chart.setOption(option(title, shown, name === 'peers'))
    writeFileSync(join(dir, `${name}.svg`), `${chart.renderToSVGString()}\n`)
    chart.dispose()
  }
}

/**
 * @param {string} title
 * @param {Row[]} rows
 * @param {boolean} isFaster whether to show the speedup, or the ratio of times
 */
function option(title, rows, isFaster) {
  const ratio = (/** @type {Row} */ { samples }) => {
    const [own, peer] = [samples?.own.median ?? 1, samples?.peer.median ?? 1]
    return Number((isFaster ? peer / own : own / peer).toFixed(2))
  }
  const label = (/** @type {Row} */ row) => `${GOALS[row.id].work}\nbeside ${row.peer}`
  return {
    animation: false,
    backgroundColor: '#ffffff',
    title: { text: title, left: 12, top: 10, textStyle: { fontSize: 15 } },
    grid: { left: 270, right: 70, top: 50, bottom: 30 },
    xAxis: { type: 'value', axisLabel: { formatter: '{value} ×' } },
    yAxis: {
      type: 'category',
      inverse: true,
      data: rows.map(label),
      axisLabel: { width: 250, overflow: 'break' },
    },
    series: [
      {
        type: 'bar',
        name: 'hashline-native',
        data: rows.map(ratio),
        itemStyle: { color: OWN },
        label: { show: true, position: 'right', formatter: '{c} ×' },
        markLine: {
          silent: true,
          symbol: 'none',
          lineStyle: { color: PEERS },
          label: { formatter: 'peer' },
          data: [{ xAxis: 1 }],
        },
      },
    ],
  }
}
