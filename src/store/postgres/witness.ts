import type { Lease } from '../../store.ts'
import type { PooledConnection } from './driver.ts'

interface WitnessParts {
  /** Quoted. */
  readonly schema: string
  readonly patienceMs: number
  /** `lost` of the last transactions that this replica knows of are not there. */
  readonly onLoss: (lost: number) => void
}

export type Witness = ReturnType<typeof createWitness>

/**
 * Remembers what this replica was told is written, and by which start of which server. A ledger without it went back in
 * time: a standby that was behind has taken over, or a backup was put back. What follows then is in server-schema.ts.
 */
export function createWitness({ schema, patienceMs, onLoss }: WitnessParts) {
  const startOf = new WeakMap<PooledConnection, unknown>()
  let start: unknown
  let written: string[] = []
  let firstFence = 0
  let losses = 0

  return {
    /** How often the ledger went back. What was begun before the last time must not go on. */
    losses: () => losses,
    /** Leases from before the ledger went back count as lost: it may lack what their holders have written. */
    stands: ({ fence }: Lease) => fence > firstFence,

    /** Before a new connection is used. */
    async meet(connection: PooledConnection): Promise<void> {
      const text = `select * from ${schema}.meet_server($1)`
      const { rows } = await connection.query({ text, values: [[...written]], query_timeout: patienceMs })
      const { started, first_fence: fence, lost } = rows[0] ?? {}
      startOf.set(connection, started)
      // Met before, by another connection: what is known was written there.
      if (started === start) return
      start = started
      written = []
      if (Number(lost) === 0) return
      losses += 1
      firstFence = Number(fence)
      onLoss(Number(lost))
    },

    /** The answer of a statement that has committed says as which transaction, if it wrote anything. */
    learn(connection: PooledConnection, transaction: unknown): void {
      if (typeof transaction !== 'string' || startOf.get(connection) !== start) return
      written.push(transaction)
      if (written.length > most) written = written.slice(-most / 2)
    },
  }
}

/** Of what is lost, all came after what is not. So the last ones are enough, and a few more than there are connections. */
const most = 200
