// One POST request with node:http: `fetch` times out after five minutes, which is too short for a
// long answer of a model on a small machine. Redirections are not followed, so the key is not sent
// elsewhere.

import { request as requestByHttp } from 'node:http'
import { request as requestByHttps } from 'node:https'

/** A longer answer cannot come from a model. */
const MAX_BYTES = 1 << 26

/**
 * @typedef {{ status: number, headers: import('node:http').IncomingHttpHeaders, text: string }} Response
 */

/**
 * @param {URL} url
 * @param {{ headers: Record<string, string>, body: string, signal: AbortSignal }} what
 * @returns {Promise<Response>}
 */
export function post(url, { headers, body, signal }) {
  const request = url.protocol === 'https:' ? requestByHttps : requestByHttp
  const length = { 'content-length': `${Buffer.byteLength(body)}` }
  return new Promise((resolve, reject) => {
    const sent = request(url, { method: 'POST', headers: { ...headers, ...length }, signal })
    sent.on('error', reject)
    sent.on('response', (response) => {
      const { statusCode: status = 0, headers } = response
      wholeOf(response).then((text) => resolve({ status, headers, text }), reject)
    })
    sent.end(body)
  })
}

/** @param {import('node:http').IncomingMessage} response */
async function wholeOf(response) {
  /** @type {Buffer[]} */
  const chunks = []
  let bytes = 0
  for await (const chunk of response) {
    chunks.push(chunk)
    bytes += chunk.length
    if (bytes > MAX_BYTES) throw new Error(`the answer is longer than ${MAX_BYTES} bytes`)
  }
  return Buffer.concat(chunks).toString('utf8')
}
