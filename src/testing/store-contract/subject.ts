import type { Store } from '../../store.ts'

/** A place that holds one ledger, empty at first. Each case gets one of its own. */
export interface StoreSubject {
  /** Opens the store on the subject's data; called again only after the store that it gave was closed. */
  open(): Promise<Store>
  /** The store's clock, in the suite's hand. `advance` also lets what is under way come to rest. */
  readonly clock: SubjectClock
  /** Whether data outlives `close`; where it doesn't, `reason` says why. */
  readonly durable: boolean
  readonly reason?: string
  /** Takes the data away. Called once, with every store closed. */
  destroy(): Promise<void>
}

export interface SubjectClock {
  now(): number
  advance(ms: number): Promise<void>
}

export interface StoreCase {
  readonly name: string
  readonly needsDurability: boolean
  run(subject: StoreSubject): Promise<void>
}

/** What a case works with. `reopen` closes the store and opens it again on the same data. */
export interface Bench {
  readonly store: Store
  readonly clock: SubjectClock
  reopen(): Promise<Store>
}

export function storeCase(name: string, body: (bench: Bench) => Promise<void>): StoreCase {
  return { name, needsDurability: false, run: subject => withBench(subject, body) }
}

export function durableStoreCase(name: string, body: (bench: Bench) => Promise<void>): StoreCase {
  return { name, needsDurability: true, run: subject => withBench(subject, body) }
}

async function withBench(subject: StoreSubject, body: (bench: Bench) => Promise<void>): Promise<void> {
  const { clock } = subject
  const store = await subject.open()
  let current = store
  const reopen = async () => {
    await current.close()
    current = await subject.open()
    return current
  }
  try {
    await body({ store, clock, reopen })
  } finally {
    await current.close()
  }
}
