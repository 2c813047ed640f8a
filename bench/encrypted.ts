import { join } from 'node:path'
import { startPostgres, whyNoPostgres } from '../test/external/postgres.ts'
import { startChild } from './child.ts'
import { costNames } from './request-cost.ts'
import { atMost, notMeasured, type Result, toResult } from './result.ts'
import { compareVariants } from './variants.ts'

const key = Buffer.alloc(32, 7).toString('base64')
const variants = { clear: {}, encrypted: { key } }
type Which = keyof typeof variants

/** With a key against without: the processor time of one request. */
export async function benchEncrypted(rounds: number): Promise<Result[]> {
  return [
    ...(await measure('SQLite', (which, folder) => `sqlite:${join(folder, `${which}.db`)}`, rounds)),
    ...(await onPostgres(rounds)),
  ]
}

async function onPostgres(rounds: number): Promise<Result[]> {
  const reason = await whyNoPostgres()
  if (reason !== undefined) return [notMeasured('encryption on PostgreSQL', reason)]
  const server = await startPostgres()
  try {
    return await measure('PostgreSQL', () => server.url, rounds)
  } finally {
    await server.stop()
  }
}

async function measure(
  store: string,
  urlOf: (which: Which, folder: string) => string,
  rounds: number,
): Promise<Result[]> {
  const start = (which: Which, folder: string, number: number) => {
    const settings = {
      encryption: variants[which],
      ledger: { schema: `${which}_${number}` },
      metrics: { serve: 'off' },
    }
    return startChild('broker.mjs', [urlOf(which, folder), '3', JSON.stringify(settings)])
  }
  const lines = await compareVariants({ names: ['clear', 'encrypted'], baseline: 'clear', start }, rounds)
  return costNames.map(([kind, what]) =>
    toResult(`${what} on ${store}, encrypted against in clear`, 'µs of CPU', lines[kind].encrypted, atMost(1.1)),
  )
}
