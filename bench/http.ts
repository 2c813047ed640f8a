import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from './child.ts'
import { drive } from './load.ts'
import { osbRequest, provisionRequest } from './requests.ts'
import { atLeast, type Result, type Round, toResult } from './result.ts'

/** Catalog and last_operation over HTTP against bare node:http that sends the same bytes. */
export async function benchHttp(rounds: number): Promise<Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'purser-bench-'))
  const broker = await startChild('broker.mjs', [`sqlite:${join(folder, 'ledger.db')}`])
  try {
    await drive({ port: broker.port, connections: 1, count: 1, status: 202, request: () => provisionRequest('polled') })
    const paths = { catalog: '/v2/catalog', last_operation: '/v2/service_instances/polled/last_operation' }
    const results: Result[] = []
    for (const [name, path] of Object.entries(paths)) results.push(await compare(name, path, broker.port, rounds))
    return results
  } finally {
    await broker.stop()
    await rm(folder, { recursive: true })
  }
}

async function compare(name: string, path: string, port: number, rounds: number): Promise<Result> {
  const request = osbRequest('GET', path)
  const answer = await fetch(`http://127.0.0.1:${port}${path}`, {
    headers: {
      authorization: `Basic ${Buffer.from('bench:bench').toString('base64')}`,
      'x-broker-api-version': '2.17',
    },
  })
  const body = await answer.text()
  const etag = answer.headers.get('etag')
  const headers = {
    'content-type': 'application/json',
    ...(etag === null ? {} : { etag }),
    'content-length': Buffer.byteLength(body),
  }
  const bare = await startChild('bare.mjs', [JSON.stringify([answer.status, headers, body])])
  try {
    const measured: Round[] = []
    for (let round = 0; round <= rounds; round++) {
      const load = { connections: 32, status: 200, ms: 2_000, request: () => request }
      const baseline = (await drive({ ...load, port: bare.port })).perSecond
      const ours = (await drive({ ...load, port })).perSecond
      // The first round warms both up.
      if (round > 0) measured.push({ ours, baseline })
    }
    return toResult(`${name} over HTTP, 32 connections`, 'req/s', measured, atLeast(0.8))
  } finally {
    await bare.stop()
  }
}
