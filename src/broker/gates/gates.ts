import type { Clock } from '../../clock.ts'
import type { Gate } from '../../domain/gate.ts'
import { hashRequest } from '../../domain/request-hash.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { type Note, NoteConflictError, type Notes } from '../../store.ts'

/** The gates of the ledger, as this process knows them. */
export interface Gates {
  /** Not older than `freshFor`, so that a gate is in force on every replica that soon. */
  current(): Promise<readonly Gate[]>
  list(): Promise<readonly Gate[]>
  put(gate: Gate): Promise<void>
  /** UnknownGate where there is none of this action, service and plan. */
  remove(gate: Pick<Gate, 'action' | 'serviceId' | 'planId'>): Promise<Gate>
}

/** Requests must not pay for gates: one small read a second is all. */
const freshFor = 1_000
const most = 1_000

export function createGates(store: Notes, clock: Clock): Gates {
  let known: readonly Gate[] = []
  let readAt = Number.NEGATIVE_INFINITY
  let reading: Promise<readonly Gate[]> | undefined

  async function list(): Promise<readonly Gate[]> {
    const sentAt = clock.now()
    known = (await store.notes('gate', { limit: most })).map(({ doc }) => doc as unknown as Gate)
    readAt = sentAt
    return known
  }

  async function change(gate: Pick<Gate, 'action' | 'serviceId' | 'planId'>, doc?: Gate): Promise<Note | undefined> {
    const id = idOf(gate)
    for (;;) {
      const before = await store.note('gate', id)
      if (doc === undefined && before === undefined) return undefined
      try {
        await store.writeNotes([{ kind: 'gate', id, version: before?.version ?? 0, doc: doc && { ...doc } }])
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
    async put(gate) {
      await change(gate, gate)
    },
    async remove(gate) {
      const removed = await change(gate)
      if (removed === undefined)
        throw new BrokerError('UnknownGate', 'There is no such gate. GET /admin/gates lists those there are.')
      return removed.doc as unknown as Gate
    },
  }
}

function idOf({ action, serviceId, planId }: Pick<Gate, 'action' | 'serviceId' | 'planId'>): string {
  return serviceId === undefined ? action : `${action}/${hashRequest({ serviceId, planId })}`
}
