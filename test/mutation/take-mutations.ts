import type { Mutation } from './mutation.ts'

const firstLease = { file: 'src/domain/first-lease.ts', suite: ['test/store/memory.test.ts'], only: 'take:' }
const worker = { file: 'src/engine/worker.ts', suite: ['test/engine/places.test.ts'] }
const postgres = { needs: 'postgres', suite: ['test/store/postgres.test.ts'], only: 'take:' } as const

/** What is leased to a worker by its accept, and ended without a look. */
export const takeMutations: readonly Mutation[] = [
  {
    ...firstLease,
    name: 'what waits for its time is leased as it is accepted',
    find: ' && notBefore <= now',
    replace: '',
  },
  {
    ...firstLease,
    name: 'what has run before is leased as it is written',
    find: ' && attempt === 0',
    replace: '',
  },
  {
    ...firstLease,
    name: 'what is not new is leased as it is written',
    find: ' && acceptedAt === now',
    replace: '',
  },
  {
    ...worker,
    name: 'what is accepted overtakes what waits',
    find: ' || this.#mayBeMore || this.#free() <= 0',
    replace: '',
  },
  {
    ...worker,
    name: 'a worker that has stopped begins what was accepted',
    find: 'if (!this.#stopping.signal.aborted) this.#begin(',
    replace: 'if (storeNow > 0) this.#begin(',
  },
  {
    ...worker,
    name: 'the ledger is asked for more after every end',
    find: 'this.#mayBeMore = false',
    replace: '',
  },
  {
    ...worker,
    name: 'a ledger that is slow to write fills the process',
    find: 'Math.min(this.#leaving, concurrency)',
    replace: 'this.#leaving',
  },
  {
    ...postgres,
    file: 'src/store/postgres/functions.ts',
    name: 'postgres leases without a fence',
    find: `then nextval('\${schema}.fence')`,
    replace: 'then 0',
  },
  {
    ...postgres,
    file: 'src/store/postgres/functions.ts',
    name: 'postgres ends a first lease by the clock of nobody',
    find: `then \${now} + \${from}.lease_until`,
    replace: `then \${from}.lease_until`,
  },
  {
    ...postgres,
    file: 'src/store/postgres/batch-functions.ts',
    suite: ['test/store/postgres-gathering.test.ts'],
    only: 'ends an operation',
    name: 'postgres believes any clock at the end of an operation',
    find: `coalesce(r.now between v_now - \${staleAfterMs} and v_now, true)`,
    replace: 'true',
  },
  {
    needs: 'postgres',
    file: 'src/store/postgres/listener.ts',
    suite: ['test/store/postgres-statements.test.ts'],
    only: 'nobody is notified',
    name: 'postgres notifies where nobody listens',
    find: ' || !hasOthers',
    replace: '',
  },
]
