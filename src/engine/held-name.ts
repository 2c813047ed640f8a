import { type Clock, sleep } from '../clock.ts'
import type { NameTaking } from '../domain/replica-name.ts'
import type { Ledger, NameAnswer } from '../ledger.ts'
import type { HolderOptions } from './held-lease.ts'
import type { Outage } from './outage.ts'

/** A holder says three times in this time that it lives. Who did not for so long is taken for dead. */
const silence = 3_000

/** The name that a replica is started under. What it takes from its former self is in the contract of `takeName`. */
export interface HeldName {
  /** Whether nobody else can have the name now. While it is not sure, a call begins only under a lease that was renewed. */
  isSure(): boolean
  /** Gives the name up, so that the next one need not wait. Does not throw. */
  release(): Promise<void>
}

export interface NameOptions extends Pick<HolderOptions, 'clock' | 'observer' | 'owner'> {
  readonly store: Ledger
  readonly name: string
  readonly outage: Outage
}

type Refusal = Extract<NameAnswer, { readonly taken: false }>

/** Takes the name, and keeps it. Answers who has it where that process lives. */
export async function holdName(options: NameOptions): Promise<HeldName | Refusal> {
  const { store, clock, observer, name, owner } = options
  const { answer, sentAt } = await take(store, { name, owner, silence }, clock)
  if (!answer.taken) return answer
  const { former } = answer
  if (former !== undefined) observer['name.takenOver']?.({ name, former })
  return keep(options, sentAt)
}

/** Where the holder may be dead, waits until it is taken for dead, or is seen again. */
async function take(store: Ledger, taking: NameTaking, clock: Clock) {
  let first: Refusal['holder'] | undefined
  for (;;) {
    const sentAt = clock.now()
    const answer = await store.takeName(taking)
    if (answer.taken) return { answer, sentAt }
    const { holder, now } = answer
    if (first !== undefined && (holder.owner !== first.owner || holder.seenAt !== first.seenAt))
      return { answer, sentAt }
    first = holder
    await sleep(clock, Math.max(1, (holder.seenAt ?? now) + silence - now))
  }
}

function keep({ store, clock, observer, outage, name, owner }: NameOptions, takenAt: number): HeldName {
  const stopping = new AbortController()
  // By our own clock, from before it was said: the store has seen us then or later.
  let seenAt = takenAt

  /** False: somebody else has the name. */
  async function renew(): Promise<boolean> {
    const sentAt = clock.now()
    try {
      const kept = await store.renewName(name, owner)
      outage.end('name')
      if (kept) seenAt = sentAt
      return kept
    } catch (error) {
      outage.begin('name', error, sentAt)
      return true
    }
  }

  async function renewUntilReleased(): Promise<void> {
    for (;;) {
      await sleep(clock, silence / 3, stopping.signal)
      if (stopping.signal.aborted) return
      if (await renew()) continue
      // What it ran is somebody else's now, and the ledger refuses its writes. It goes on as a replica without a name.
      observer['name.lost']?.({ name })
      return
    }
  }
  const renewing = renewUntilReleased()

  return {
    isSure: () => clock.now() - seenAt < silence * 0.9,
    async release() {
      stopping.abort()
      await renewing
      await store.releaseName(name, owner).catch(() => {})
    },
  }
}
