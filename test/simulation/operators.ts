import type { Operation } from '../../src/store.ts'
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
  // Somebody looks at what is held in the end.
  const looks = random.between(2, 10)
  return Array.from({ length: looks }, (_, index) => {
    const drawn = random.weighted({ retry: 4, fail: 2, cancel: 1, 'run-now': 3, hold: 5, release: 3, sweep: 4 })
    const isLast = index >= looks - 2
    const verb = isLast ? 'release' : drawn
    const place = random.next()
    return {
      at: random.between(isLast ? end - 10_000 : 1_000, end),
      on(watch, replica, note, nameOf) {
        const wanted = [...watch.operations().values()].filter(operation => isWanted(verb, operation))
        const held = verb === 'release' || verb === 'retry' ? wanted.filter(({ hold }) => hold !== undefined) : []
        const from = held.length > 0 ? held : wanted
        const operation = from[Math.floor(place * from.length)]
        if (operation === undefined) return
        send(replica, operation, verb, status => note(`an operator: ${verb} ${nameOf(operation.id)}: ${status}`))
      },
    }
  })
}

/** Somebody comes and lets go on what is held: an operator's hold lasts until the deadline, which may be a day away. */
export function releaseHeld(watch: LedgerWatch, replica: Replica, note: (line: string) => void): void {
  for (const operation of watch.active())
    if (operation.hold !== undefined)
      send(replica, operation, 'release', status => note(`an operator lets go on: ${status}`))
}

function isWanted(verb: string, { action, state, hold }: Operation): boolean {
  if (verb === 'sweep') return state === 'succeeded' && (action === 'deprovision' || action === 'unbind')
  return verb === 'retry' ? state === 'failed' || hold !== undefined : state === 'queued' || state === 'running'
}

/** What a deletion was about is swept; the other verbs act on the operation. */
function send(
  replica: Replica,
  { id, instanceId, bindingId: binding_id }: Operation,
  verb: string,
  answered: (status: number) => void,
): void {
  const bodies: Readonly<Record<string, object>> = {
    fail: { message: 'ended by hand', reason: 'a test' },
    sweep: { binding_id, reason: 'a test' },
  }
  const request = {
    method: 'POST',
    url: verb === 'sweep' ? `/admin/instances/${instanceId}/sweep` : `/admin/operations/${id}/${verb}`,
    headers: { host: 'broker.test', 'content-type': 'application/json' },
    encrypted: false,
    body: async () => Buffer.from(JSON.stringify(bodies[verb] ?? {})),
  }
  replica.send(request, ({ status }) => answered(status))
}
