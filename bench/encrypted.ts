import { join } from 'node:path'
import { startPostgres, whyNoPostgres } from '../test/external/postgres.ts'
import { type Child, startChild } from './child.ts'
import { inNewFolder } from './new-folder.ts'
import { onLoadCore } from './pin.ts'
import { costOf, counts, makePolled } from './request-cost.ts'
import { atMost, notMeasured, type Result, type Round, toResult } from './result.ts'

const key = Buffer.alloc(32, 7).toString('base64')

/** With a key against without: the processor time of one request, in turns on the same machine. */
export function benchEncrypted(rounds: number): Promise<Result[]> {
  return onLoadCore(async () => [
    ...(await inNewFolder(folder => measure('SQLite', which => `sqlite:${join(folder, `${which}.db`)}`, rounds))),
    ...(await onPostgres(rounds)),
  ])
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

async function measure(store: string, urlOf: (which: string) => string, rounds: number): Promise<Result[]> {
  const start = (which: string, encryption: object) => {
    const settings = { encryption, ledger: { schema: which }, metrics: { serve: 'off' } }
    return startChild('broker.mjs', [urlOf(which), '3', JSON.stringify(settings)])
  }
  const [clear, encrypted] = [await start('clear', {}), await start('encrypted', { key })]
  const [polls, provisions]: [Round[], Round[]] = [[], []]
  let made = 1
  try {
    for (const child of [clear, encrypted]) await makePolled(child)
    for (let round = 0; round <= rounds; round += 1)
      for (const kind of ['provision', 'poll'] as const) {
        const costs = new Map<Child, number>()
        for (const child of round % 2 === 0 ? [clear, encrypted] : [encrypted, clear])
          costs.set(child, await costOf(child, kind, made))
        if (kind === 'provision') made += counts.provision
        const line = { ours: costs.get(encrypted) ?? Number.NaN, baseline: costs.get(clear) ?? Number.NaN }
        // The first round warms everything up.
        if (round > 0) (kind === 'poll' ? polls : provisions).push(line)
      }
    return [
      toResult(`last_operation on ${store}, encrypted against in clear`, 'µs of CPU', polls, atMost(1.1)),
      toResult(`provisions to their end on ${store}, encrypted against in clear`, 'µs of CPU', provisions, atMost(1.1)),
    ]
  } finally {
    await Promise.all([clear, encrypted].map(child => child.stop()))
  }
}
