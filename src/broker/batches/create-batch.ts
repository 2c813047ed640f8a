import { type Batch, type BatchOrder, mostItems } from '../../domain/batch.ts'
import { batchBegun, batchStopped } from '../../domain/batch-lines.ts'
import type { HistoryEvent } from '../../domain/change.ts'
import { newId } from '../../domain/new-id.ts'
import type { Acting } from '../../domain/operator.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Page } from '../../reads.ts'
import { type NewNote, NoteConflictError } from '../../store.ts'
import type { BrokerContext } from '../context.ts'
import { writeAct } from '../write-act.ts'
import { judgeItem } from './batch-item.ts'
import { changedBatch, findBatch, type KnownBatch, newBatch } from './batch-notes.ts'

export interface Verdict {
  readonly id: string
  readonly allowed: boolean
  readonly reason?: string
}

/** All ids of a list, once each. Refuses where there are more than a batch can have. */
export async function readAllIds(
  list: (cursor: string | undefined) => Promise<Page<{ readonly id: string }>>,
): Promise<readonly string[]> {
  const ids = new Set<string>()
  let cursor: string | undefined
  do {
    const page = await list(cursor)
    for (const { id } of page.items) ids.add(id)
    cursor = page.next
    if (ids.size > mostItems)
      throw new BrokerError('TooManyItems', `More than ${mostItems.toLocaleString('en-US')} match: ask for fewer.`)
  } while (cursor !== undefined)
  return [...ids]
}

interface Wanted {
  readonly order: BatchOrder
  readonly ids: readonly string[]
}

/** Begins it. `noteOf`: what is written with it, so that a repeated request is answered the same. */
export async function createBatch(
  broker: BrokerContext,
  acting: Acting,
  wanted: Wanted,
  noteOf?: (batch: Batch) => NewNote,
): Promise<Batch> {
  const batch = toBatch(broker, acting, wanted, 'running')
  const noted = noteOf === undefined ? [] : [{ ...noteOf(batch), version: 0 }]
  const notes = [...newBatch(batch, wanted.ids), ...noted]
  await writeAct(broker.store, at => batchBegun(acting, batch, at), notes)
  return batch
}

/** A dry run: it changes nothing but that it can be begun, so it leaves no line in the history. */
export async function planBatch(
  broker: BrokerContext,
  acting: Acting,
  wanted: Wanted,
): Promise<{ readonly batch: Batch; readonly verdicts: readonly Verdict[] }> {
  const batch = toBatch(broker, acting, wanted, 'planned')
  const verdicts = await judgeItems(broker, batch, wanted.ids)
  const refused = new Set(verdicts.filter(({ allowed }) => !allowed).map(({ id }) => id))
  await broker.store.writeNotes(newBatch(batch, wanted.ids, refused))
  return { batch, verdicts }
}

function toBatch(
  { clock, storeNow }: BrokerContext,
  { by, requestId }: Acting,
  { order, ids }: Wanted,
  state: 'planned' | 'running',
): Batch {
  const createdAt = storeNow()
  const startedAt = state === 'running' ? createdAt : undefined
  return { ...order, id: newId(clock.now()), state, by, requestId, total: ids.length, createdAt, startedAt }
}

/** Applies what a dry run has planned, once. What becomes of its items is done by whoever applies it. */
export async function startBatch(
  broker: BrokerContext,
  acting: Acting,
  token: string,
  noteOf?: (batch: Batch) => NewNote,
): Promise<Batch> {
  const known = await findBatch(broker.store, token)
  const { by, requestId } = acting
  const startedAt = broker.storeNow()
  const begun = { state: 'running', by, requestId, plannedBy: known.batch.by, startedAt } as const
  return change(broker, known, {
    more: begun,
    from: 'planned',
    toLine: at => batchBegun(acting, known.batch, at),
    noteOf,
  })
}

export async function stopBatch(broker: BrokerContext, acting: Acting, id: string): Promise<Batch> {
  const { by, reason } = acting
  const known = await findBatch(broker.store, id)
  const why = `It was stopped by ${by}${reason === undefined ? '.' : `: ${reason}`}`
  const toLine = (at: number) => batchStopped(acting, known.batch, at)
  return change(broker, known, { more: { state: 'stopping', why }, from: 'running', toLine })
}

interface BatchChange {
  readonly more: Partial<Batch>
  readonly from: Batch['state']
  readonly toLine: (at: number) => HistoryEvent
  readonly noteOf?: (batch: Batch) => NewNote
}

async function change(
  { store }: BrokerContext,
  known: KnownBatch,
  { more, from, toLine, noteOf }: BatchChange,
): Promise<Batch> {
  const { state } = known.batch
  if (state !== from) throw new BrokerError('VerbRefused', `The batch is ${state}, and not ${from}.`)
  const after = { ...known.batch, ...more }
  const noted = noteOf === undefined ? [] : [{ ...noteOf(after), version: 0 }]
  try {
    await writeAct(store, toLine, [...changedBatch(known, more), ...noted])
    return after
  } catch (error) {
    if (!(error instanceof NoteConflictError)) throw error
    throw new BrokerError('ConcurrencyError', 'Somebody else has changed the batch at the same time. Look at it again.')
  }
}

const atOnce = 8

/** What each item would be answered with now. Decided again when it is acted on. */
export async function judgeItems(
  broker: BrokerContext,
  batch: Batch,
  ids: readonly string[],
): Promise<readonly Verdict[]> {
  const verdicts: Verdict[] = []
  for (let from = 0; from < ids.length; from += atOnce) {
    const some = ids.slice(from, from + atOnce).map(async id => {
      const reason = await judgeItem(broker, batch, id)
      return { id, allowed: reason === undefined, reason }
    })
    verdicts.push(...(await Promise.all(some)))
  }
  return verdicts
}
