import type { LedgerWatch } from '../../src/testing/ledger-watch.ts'
import type { Random } from './random.ts'
import type { Replica } from './replica.ts'

/** Something that an operator does by hand to an operation that the ledger has then. */
export interface Act {
  readonly at: number
  on(watch: LedgerWatch, replica: Replica, note: (line: string) => void, nameOf: (id: string) => string): void
}

/** In a third of the worlds there are operators. What they abandon would stay behind, so they abandon nothing. */
export function drawActs(random: Random, times: readonly number[]): readonly Act[] {
  if (!random.chance(0.33)) return []
  const end = Math.max(...times) + 20_000
  return Array.from({ length: random.between(2, 8) }, () => {
    const verb = random.weighted({ retry: 4, fail: 2, cancel: 1, 'run-now': 3 })
    const place = random.next()
    return {
      at: random.between(1_000, end),
      on(watch, replica, note, nameOf) {
        const wanted = [...watch.operations().values()].filter(({ state }) =>
          verb === 'retry' ? state === 'failed' : state === 'queued' || state === 'running',
        )
        const operation = wanted[Math.floor(place * wanted.length)]
        if (operation === undefined) return
        const body = verb === 'fail' ? { message: 'ended by hand', reason: 'a test' } : {}
        const url = `/admin/operations/${operation.id}/${verb}`
        const headers = { host: 'broker.test', 'content-type': 'application/json' }
        const request = {
          method: 'POST',
          url,
          headers,
          encrypted: false,
          body: async () => Buffer.from(JSON.stringify(body)),
        }
        replica.send(request, ({ status }) => note(`an operator: ${verb} ${nameOf(operation.id)}: ${status}`))
      },
    }
  })
}
