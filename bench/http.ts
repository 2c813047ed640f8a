import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startChild } from './child.ts'
import { compareAnswers } from './compare-answers.ts'
import { drive } from './load.ts'
import { provisionRequest } from './requests.ts'
import { atLeast, type Result, toResult } from './result.ts'

/** Catalog and last_operation over HTTP against bare node:http that sends the same bytes. */
export async function benchHttp(rounds: number): Promise<Result[]> {
  const folder = await mkdtemp(join(tmpdir(), 'purser-bench-'))
  const broker = await startChild('broker.mjs', [`sqlite:${join(folder, 'ledger.db')}`])
  try {
    await drive({ port: broker.port, connections: 1, count: 1, status: 202, request: () => provisionRequest('polled') })
    const paths = { catalog: '/v2/catalog', last_operation: '/v2/service_instances/polled/last_operation' }
    const results: Result[] = []
    for (const [name, path] of Object.entries(paths)) {
      const measured = await compareAnswers(path, { port: broker.port, connections: 32, rounds })
      results.push(toResult(`${name} over HTTP, 32 connections`, 'req/s', measured, atLeast(0.8)))
    }
    return results
  } finally {
    await broker.stop()
    await rm(folder, { recursive: true })
  }
}
