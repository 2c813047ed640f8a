import type { Acting } from '../../domain/operator.ts'
import { acted, noInstance } from '../../domain/operator.ts'
import type { ChoreRun } from '../../engine/chore-run.ts'
import { BrokerError } from '../../protocol/errors.ts'
import { count } from '../../shape/count.ts'
import type { Keyring, KeyUse, Sealing } from '../../store.ts'
import { type RunningChores, runChoreByHand } from '../chores/by-hand.ts'
import type { BrokerContext } from '../context.ts'
import { proveChain } from '../history/link-history.ts'
import { writeAct } from '../write-act.ts'

export const rotateKeysChore = 'rotate-keys'

/** Rows at a time: few enough that their locks delay no request. */
const batchSize = 200
/** A row that somebody changes at that moment is left out: it is found by another pass. */
const mostPasses = 5

/** What is encrypted, and with which keys: also with those that are not configured any more. */
export interface KeyStatus {
  readonly current?: string
  readonly keys: readonly { readonly label: string; readonly configured: boolean; readonly values: number }[]
  /** How many values are not encrypted. */
  readonly plain: number
}

export async function readKeys({ store }: Pick<BrokerContext, 'store'>): Promise<KeyStatus> {
  const { keyring } = store.sealing ?? {}
  const uses = (await store.sealing?.uses()) ?? []
  const configured = keyring?.labels ?? []
  const others = uses.flatMap(({ label }) => (label === undefined || configured.includes(label) ? [] : [label]))
  const valuesOf = (label?: string) => uses.find(use => use.label === label)?.values ?? 0
  return {
    current: keyring?.current,
    keys: [...configured, ...others].map(label => ({
      label,
      configured: configured.includes(label),
      values: valuesOf(label),
    })),
    plain: valuesOf(),
  }
}

/** Begins to seal everything with the current key. Who has asked for it stands in the history, before anything is changed. */
export async function beginRotation(
  broker: BrokerContext,
  chores: RunningChores,
  acting: Acting,
): Promise<{ readonly dueAt: number; readonly key: string }> {
  const { keyring } = requireSealing(broker)
  const before = await readKeys(broker)
  const values = Object.fromEntries(before.keys.map(key => [key.label, key.values]))
  const about = { instanceId: noInstance, before: { values, plain: before.plain }, after: { key: keyring.current } }
  await writeAct(broker.store, at => acted(rotateKeysChore, acting, { at, ...about }))
  return { dueAt: await runChoreByHand(chores, rotateKeysChore), key: keyring.current }
}

/**
 * Seals every value with the current key, while others read and write. What is sealed already is passed over, so that it may be
 * cut off at any moment and begun again by another replica.
 */
export async function rotateKeys(broker: BrokerContext, { signal }: Pick<ChoreRun, 'signal'>): Promise<string> {
  const { sealing, keyring } = requireSealing(broker)
  let sealed = 0
  let left: readonly KeyUse[] = []
  for (let pass = 0; pass < mostPasses; pass += 1) {
    sealed += await sealAll(sealing, signal)
    left = (await sealing.uses()).filter(({ label }) => label !== keyring.current)
    if (left.length === 0) break
  }
  await proveChain(broker.store)
  const done = `sealed ${count(sealed, 'value')} with the key "${keyring.current}"`
  if (left.length === 0) return `${done}, which protects all there are`
  const others = left.map(
    ({ label, values }) => `${count(values, 'value')} by ${label ? `the key "${label}"` : 'none'}`,
  )
  throw new Error(
    `${done}, but still protected are ${others.join(' and ')}: a replica with other settings writes them. Start it with the current key, and rotate again`,
  )
}

async function sealAll(sealing: Sealing, signal: AbortSignal): Promise<number> {
  let sealed = 0
  let from: string | undefined
  do {
    signal.throwIfAborted()
    const some = await sealing.sealAgain(from, batchSize)
    sealed += some.sealed
    from = some.next
  } while (from !== undefined)
  return sealed
}

function requireSealing({ store }: BrokerContext): { readonly sealing: Sealing; readonly keyring: Keyring } {
  const { sealing } = store
  if (sealing?.keyring !== undefined) return { sealing, keyring: sealing.keyring }
  throw new BrokerError('VerbRefused', 'No encryption key is configured. Set encryption.key or encryption.keys first.')
}
