import type { Clock } from '../../clock.ts'
import type { Gate } from '../../domain/gate.ts'
import { gateChanged } from '../../domain/gate-lines.ts'
import type { Acting } from '../../domain/operator.ts'
import { hashRequest } from '../../domain/request-hash.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { NoteConflictError, type Store } from '../../store.ts'
import { writeAct } from '../write-act.ts'

type GatePlace = Pick<Gate, 'action' | 'serviceId' | 'planId'>

/** The gates of the ledger, as this process knows them. */
export interface Gates {
  /** Not older than `freshFor`, so that a gate is in force on every replica that soon. */
  current(): Promise<readonly Gate[]>
  list(): Promise<readonly Gate[]>
  put(gate: Gate, acting: Acting): Promise<void>
  /** UnknownGate where there is none of this action, service and plan. */
  remove(gate: GatePlace, acting: Acting): Promise<Gate>
}

/** Requests must not pay for gates: one small read a second is all. */
const freshFor = 1_000
const most = 1_000

export function createGates(store: Store, clock: Clock): Gates {
  let known: readonly Gate[] = []
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<readonly Gate[]> | undefined

  async function list(): Promise<readonly Gate[]> {
    const sentAt = clock.now()
    known = (await store.notes('gate', { limit: most })).map(({ doc }) => doc as unknown as Gate)
    readAt = sentAt
    return known
  }

  /** In one transaction with its line of the history: nobody closes or opens a gate unseen. */
  async function change(place: GatePlace, acting: Acting, after?: Gate): Promise<Gate | undefined> {
    const id = idOf(place)
    for (;;) {
      const note = await store.note('gate', id)
      const before = note?.doc as unknown as Gate | undefined
      if (after === undefined && before === undefined) return undefined
      const write = { kind: 'gate', id, version: note?.version ?? 0, doc: after && { ...after } }
      try {
        await writeAct(store, at => gateChanged(acting, { before, after }, at), [write])
        await list()
        return before
      } catch (error) {
        // Somebody else has changed it at the same time: the last one wins.
        if (!(error instanceof NoteConflictError)) throw error
      }
    }
  }

  return {
    list,
    async current() {
      if (clock.now() - readAt < freshFor) return known
      reading ??= list().finally(() => {
        reading = undefined
      })
      return reading
    },
    async put(gate, acting) {
      await change(gate, acting, gate)
    },
    async remove(place, acting) {
      const removed = await change(place, acting)
      if (removed === undefined)
        throw new BrokerError('UnknownGate', 'There is no such gate. GET /admin/gates lists those there are.')
      return removed
    },
  }
}

function idOf({ action, serviceId, planId }: GatePlace): string {
  return serviceId === undefined ? action : `${action}/${hashRequest({ serviceId, planId })}`
}
