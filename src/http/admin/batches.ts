import { findBatch, readBatches, readItems, readOutcomes } from '../../broker/batches/batch-notes.ts'
import {
  createBatch,
  judgeItems,
  planBatch,
  readAllIds,
  startBatch,
  stopBatch,
  type Verdict,
} from '../../broker/batches/create-batch.ts'
import { type Batch, type BatchOutcome, batchActions, isOfInstances, mostItems } from '../../domain/batch.ts'
import { malformed } from '../../protocol/request-fields.ts'
import { flag, oneOf, text, wholeNumber } from '../../shape/fields.ts'
import { list, object, optional, type Read } from '../../shape/shape.ts'
import type { HttpResponse } from '../message.ts'
import { json } from '../respond.ts'
import type { AdminContext, AdminEndpoint, AdminRequest } from './admin-app.ts'
import { instanceFilters } from './instances.ts'
import { pageFields, readQuery } from './lists.ts'
import { messageField, verbBody } from './operation-verbs.ts'
import { findOperations, operationFilters } from './operations.ts'
import { readFields, reason } from './read-fields.ts'
import { toBody } from './to-body.ts'

export const orderBody = object({
  action: oneOf(batchActions),
  reason,
  ids: optional(list(text())),
  operations: optional(object(operationFilters)),
  instances: optional(object(instanceFilters)),
  message: optional(messageField),
  revision: optional(text()),
  bindings: optional(flag()),
  dryRun: optional(flag()),
  concurrency: optional(wholeNumber(1, 32)),
  canary: optional(wholeNumber(0, mostItems)),
  stopAfterFailures: optional(wholeNumber(1, mostItems)),
})
const tokenBody = object({ token: text() })

/** How many of the items a dry run answers; the others are listed at /items. */
const shown = 200

/** POST /admin/batches: a dry run is 200, with a verdict for each item and a token to apply it; else 202. */
export const createBatchEndpoint: AdminEndpoint = async (context, request) => {
  const { broker } = context
  const { acting, once } = request
  const given = await request.body()
  const noteOf = once && ((batch: Batch) => once.note(202, toBody(batch)))
  if ('token' in given) {
    const { token } = readFields(tokenBody, given)
    needsRole(request, (await findBatch(broker.store, token)).batch)
    return started(context, await startBatch(broker, acting, token, noteOf))
  }
  const body = readFields(orderBody, given)
  const { ids: _ids, operations: _operations, instances: _instances, dryRun = false, ...order } = body
  needsRole(request, order)
  const ids = await idsOf(context, body)
  const { concurrency = 4, canary = 0 } = order
  const wanted = { order: { ...order, concurrency, canary }, ids }
  if (!dryRun) return started(context, await createBatch(broker, acting, wanted, noteOf))
  const { batch, verdicts } = await planBatch(broker, acting, wanted)
  const allowed = verdicts.filter(verdict => verdict.allowed).length
  const items = verdicts.slice(0, shown).map(toBody)
  return json(200, { ...toBody(batch), token: batch.id, allowed, refused: verdicts.length - allowed, items })
}

/** What cannot be taken back, or changes who acts on an instance, is for admins, also many times over. */
function needsRole({ needs }: AdminRequest, { action }: Pick<Batch, 'action'>): void {
  if (action === 'move' || action === 'abandon') needs('admin')
}

async function idsOf({ broker }: AdminContext, body: Read<typeof orderBody>): Promise<readonly string[]> {
  const { action, ids, operations, instances, message } = body
  if (action === 'fail' && message === undefined) throw malformed('fail needs a message, which platforms show')
  const filter = isOfInstances(action) ? 'instances' : 'operations'
  const given = { ids, operations, instances }
  const named = Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : [name]))
  const [first = '', ...others] = named
  if (others.length > 0 || !['ids', filter].includes(first))
    throw malformed(`${action} needs either ids or the filter ${filter}`)
  if (ids !== undefined && ids.length > mostItems)
    throw malformed(`a batch has at most ${mostItems.toLocaleString('en-US')} items`)
  if (ids !== undefined) return [...new Set(ids)]
  const page = { limit: 200, order: 'oldest' } as const
  return readAllIds(cursor =>
    operations === undefined
      ? broker.store.listInstances({ ...instances, ...page, cursor })
      : findOperations(broker.store, { ...operations, ...page, cursor }),
  )
}

/** It begins here, unless another replica is at work on batches and finds it. */
async function started({ chores }: AdminContext, batch: Batch): Promise<HttpResponse> {
  await chores.run('batches')
  return json(202, toBody(batch))
}

export const listQuery = object({ limit: pageFields.limit, cursor: pageFields.cursor })

/** GET /admin/batches: the newest first. */
export const listBatchesEndpoint: AdminEndpoint = async ({ broker }, { query }) => {
  const { limit = 50, cursor } = readQuery(listQuery, query)
  const all = (await readBatches(broker.store)).map(({ batch }) => batch).reverse()
  const rest = cursor === undefined ? all : all.filter(({ id }) => id < cursor)
  const items = rest.slice(0, limit)
  return json(200, { items: items.map(toBody), next: rest.length > limit ? items.at(-1)?.id : undefined })
}

/** GET /admin/batches/:id: with how many items have ended, and how. */
export const showBatchEndpoint: AdminEndpoint = async ({ broker }, { id }) => {
  const { batch } = await findBatch(broker.store, id)
  const ended = [...(await readOutcomes(broker.store, id)).values()]
  const done = ended.filter(({ outcome }) => outcome === 'done').length
  return json(200, { ...toBody(batch), done, refused: ended.length - done, left: batch.total - ended.length })
}

const outcomes = ['done', 'refused', 'pending'] as const
export const itemsQuery = object({
  limit: pageFields.limit,
  cursor: pageFields.cursor,
  outcome: optional(oneOf(outcomes)),
})

/** GET /admin/batches/:id/items: in their order; those of a dry run with a verdict, else with their outcome. */
export const listBatchItemsEndpoint: AdminEndpoint = async ({ broker }, { id, query }) => {
  const { limit = 50, cursor = '0', outcome } = readQuery(itemsQuery, query)
  const from = Number(cursor)
  if (!Number.isSafeInteger(from) || from < 0) throw malformed('the cursor is not one of this list')
  const { batch } = await findBatch(broker.store, id)
  // A cursor is a place, which no item ever changes.
  const items = (await readItems(broker.store, id)).slice(from, outcome === undefined ? from + limit : undefined)
  const ids = items.map(item => item.id)
  const rows =
    batch.state === 'planned' ? await judgeItems(broker, batch, ids) : await outcomesOf(broker, id, ids, from)
  const fits = (row: Item) => outcome === undefined || outcomeOf(row) === outcome
  const found = rows.flatMap((row, index) => (fits(row) ? [{ row, place: from + index }] : []))
  const next = outcome === undefined ? from + limit : (found[limit]?.place ?? batch.total)
  return json(200, {
    items: found.slice(0, limit).map(({ row }) => toBody(row)),
    next: next < batch.total ? String(next) : undefined,
  })
}

type Item = Verdict | BatchOutcome | { readonly id: string; readonly outcome: 'pending' }

async function outcomesOf(
  { store }: AdminContext['broker'],
  id: string,
  ids: readonly string[],
  from: number,
): Promise<readonly Item[]> {
  const known = await readOutcomes(store, id)
  return ids.map((item, index) => known.get(from + index) ?? { id: item, outcome: 'pending' as const })
}

/** A dry run has only those that would be refused, and others. */
function outcomeOf(row: Item): (typeof outcomes)[number] {
  if ('outcome' in row) return row.outcome
  return row.allowed ? 'pending' : 'refused'
}

/** POST /admin/batches/:id/stop -> 202: no other item is begun. */
export const stopBatchEndpoint: AdminEndpoint = async (context, { id, acting, body }) => {
  const { reason: why } = readFields(verbBody, await body())
  return started(context, await stopBatch(context.broker, { ...acting, reason: why }, id))
}
