// A program that answers one line of JSON with another.

import { spawn } from 'node:child_process'
import { createInterface } from 'node:readline'

/**
 * @param {string} command
 * @param {string[]} args
 */
export function childOf(command, args) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] })
  /** @type {{ resolve: (answer: any) => void, reject: (error: Error) => void }[]} */
  const waiting = []
  createInterface({ input: child.stdout }).on('line', (line) => {
    waiting.shift()?.resolve(JSON.parse(line))
  })
  const fail = () => {
    for (const { reject } of waiting.splice(0)) reject(new Error(`${args[0]} ended`))
  }
  child.on('error', fail).on('close', fail)
  return {
    /** @param {object} request @returns {Promise<any>} */
    ask: (request) =>
      new Promise((resolve, reject) => {
        waiting.push({ resolve, reject })
        child.stdin.write(`${JSON.stringify(request)}\n`)
      }),
    end: () => void child.stdin.end(),
  }
}
