export const switches = ['CAS', 'DRAIN', 'LATE', 'SWEEP', 'FENCED'] as const
export type Switch = (typeof switches)[number]

export interface Row {
  readonly on: readonly Switch[]
  readonly holds: boolean
  /** What happens, or why nothing can. */
  readonly because: string
}

/** Which guards are needed, and which are enough. docs/designs/0004-preemption.md holds the same table. */
export const expected: readonly Row[] = [
  { on: [], holds: false, because: 'a stale worker creates after the deletion, and overwrites its result' },
  { on: ['CAS'], holds: false, because: 'the ledger is right, and the backend holds what a stale worker created' },
  { on: ['CAS', 'SWEEP'], holds: false, because: 'a worker without a lease may call later than any sweep' },
  { on: ['CAS', 'DRAIN'], holds: true, because: 'calls end with their lease, and the deletion starts after it' },
  { on: ['CAS', 'DRAIN', 'LATE'], holds: false, because: 'a call that was sent in time lands after the deletion' },
  { on: ['CAS', 'DRAIN', 'LATE', 'SWEEP'], holds: true, because: 'what lands late is swept' },
  { on: ['CAS', 'LATE', 'FENCED'], holds: true, because: 'the backend itself refuses what comes too late' },
  {
    on: ['DRAIN', 'LATE', 'SWEEP'],
    holds: false,
    because: 'a stale worker turns the superseded provision into a success',
  },
]

interface Further {
  readonly on: readonly string[]
  readonly holds: boolean
  readonly because: string
}

/** The same with an instance that is deprovisioned after its binding. docs/designs/0010-deletions-wait.md tells of it. */
export const withOwner: readonly Further[] = [
  {
    on: ['CAS', 'DRAIN', 'LATE', 'SWEEP', 'OWNER'],
    holds: false,
    because: 'a call of the bind lands when the instance is gone and the binding not yet swept',
  },
  {
    on: ['CAS', 'DRAIN', 'LATE', 'SWEEP', 'OWNER', 'WAIT'],
    holds: true,
    because: 'the instance goes when its binding is swept, and nothing lands after that',
  },
]

/** And with an id that is used again while what was deleted under it is swept. docs/designs/0010-deletions-wait.md, too. */
export const withReuse: readonly Further[] = [
  {
    on: ['CAS', 'DRAIN', 'LATE', 'SWEEP', 'REUSE'],
    holds: false,
    because: 'the sweep deletes what is created beside it',
  },
  {
    on: ['CAS', 'DRAIN', 'LATE', 'SWEEP', 'REUSE', 'FIRST'],
    holds: false,
    because: 'a lost call of the sweep lands when its id is used again',
  },
  {
    on: ['CAS', 'DRAIN', 'LATE', 'SWEEP', 'REUSE', 'FIRST', 'AGAIN'],
    holds: true,
    because: 'what is created comes after the last call that deletes',
  },
]
