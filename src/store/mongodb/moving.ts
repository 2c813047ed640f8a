import type { ClientSession, Document, FindCursor } from 'mongodb'
import {
  byKind,
  exportedAtOnce,
  type LedgerRow,
  type LedgerRows,
  localNotes,
  type Moving,
  rowsOf,
} from '../../moving.ts'
import { withoutUndefined } from '../../protocol/json.ts'
import { toChore } from './chores.ts'
import { type Database, type Transaction, transact } from './database.ts'
import { keyOf } from './keys.ts'
import { fromNote, toNote } from './notes.ts'
import {
  fromBinding,
  fromHistory,
  fromInstance,
  fromOperation,
  fromStep,
  toBinding,
  toHistory,
  toInstance,
  toOperation,
  toStep,
} from './rows.ts'

type Take = Parameters<Moving['exportRows']>[0]

/** One session that reads what was there when it began, whatever others write meanwhile. */
export function createMoving(ledger: Database): Moving {
  const { collections } = ledger
  return {
    async exportRows(take) {
      const session = ledger.snapshotSession()
      try {
        await exportAll(ledger, session, take)
      } finally {
        await session.endSession()
      }
    },
    async importState() {
      const { instance, history, revision, shared, note } = collections
      const found = await Promise.all([
        instance.findOne({}, { projection: { _id: 1 } }),
        history.findOne({}, { projection: { _id: 1 } }),
        revision.findOne({}, { projection: { _id: 1 } }),
        shared.findOne({}, { projection: { _id: 1 } }),
        note.findOne({ _id: { $not: localNote } }, { projection: { _id: 1 } }),
      ])
      const progress = (await collections.meta.findOne({ _id: 'ledger' }))?.import
      return { empty: found.every(row => row === null), progress }
    },
    importRows: (rows, progress) =>
      transact(ledger, async tx => {
        await write(tx, rows)
        const noted = progress === undefined ? { $unset: { import: '' as const } } : { $set: { import: progress } }
        await collections.meta.updateOne({ _id: 'ledger' }, noted, { session: tx.session })
      }),
  }
}

/** Their ids begin with their kind. */
const localNote = new RegExp(`^(?:${localNotes.join('|')}) `)

async function exportAll({ collections, sealer }: Database, session: ClientSession, take: Take): Promise<void> {
  // Said for each: what the database is told, a majority, would win over the session.
  const then = { session, readConcern: { level: 'snapshot' } } as const
  const counted = ['instance', 'binding', 'operation', 'history', 'claim', 'revision', 'note'] as const
  const counts = await Promise.all(counted.map(name => collections[name].estimatedDocumentCount()))
  const total = counts.reduce((sum, count) => sum + count, 0)
  const each = async <Row extends Document, Kind extends keyof LedgerRows>(
    kind: Kind,
    cursor: FindCursor<Row>,
    convert: (rows: readonly Row[]) => readonly LedgerRows[Kind][] | Promise<readonly LedgerRows[Kind][]>,
  ) => {
    let some: Row[] = []
    const give = async () => {
      const rows = await convert(some)
      some = []
      for (let first = 0; first < rows.length; first += exportedAtOnce)
        await take(rowsOf(kind, rows.slice(first, first + exportedAtOnce)), total)
    }
    for await (const row of cursor.batchSize(exportedAtOnce)) {
      some.push(row)
      if (some.length === exportedAtOnce) await give()
    }
    await give()
  }
  const { meta, catalog, revision, revisionText, service, registry, instance, binding, operation } = collections
  const { shared, claim, chore, history, note } = collections
  const byId = { ...then, sort: { _id: 1 } } as const
  const { fence = 0 } = (await meta.findOne({ _id: 'ledger' }, then)) ?? {}
  const { version = 0, changedAt: at, report } = (await catalog.findOne({ _id: 'catalog' }, then)) ?? {}
  const lastChange = at === undefined || report === undefined ? undefined : { at, report: JSON.parse(report) }
  await take(rowsOf('ledger', [withoutUndefined({ fence, catalogVersion: version, lastChange })]), total)
  await each('revision', revision.find({}, byId), async rows => {
    const texts = await revisionText.find({ _id: { $in: rows.map(({ text }) => text) } }, then).toArray()
    return texts.map(({ doc }) => JSON.parse(doc))
  })
  await each('service', service.find({}, byId), rows => rows.map(({ doc }) => JSON.parse(doc)))
  await each('registry', registry.find({}, byId), rows => rows.map(({ doc }) => JSON.parse(doc)))
  await each('instance', instance.find({}, byId), rows => rows.flatMap(row => toInstance(sealer, row) ?? []))
  await each('binding', binding.find({}, byId), rows => rows.map(row => toBinding(sealer, row)))
  await each('operation', operation.find({}, { ...byId, projection: { steps: 0 } }), rows =>
    rows.map(row => toOperation(sealer, row)),
  )
  await each('step', operation.find({ 'steps.0': { $exists: true } }, byId), rows =>
    rows.flatMap(row =>
      row.steps.map(step => ({ ...toStep(sealer, row._id, step), operationId: JSON.parse(row.doc).id as string })),
    ),
  )
  await each('shared', shared.find({}, byId), rows =>
    rows.map(({ key, phase, holder }) => withoutUndefined({ key: known(key), phase, holder })),
  )
  await each('claim', claim.find({}, byId), async rows => {
    const resources = await shared.find({ _id: { $in: rows.map(({ resource }) => resource) } }, then).toArray()
    const owners = await instance
      .find({ _id: { $in: rows.map(row => row.instance) } }, { ...then, projection: { id: 1 } })
      .toArray()
    const keys = new Map(resources.map(({ _id, key }) => [_id, key]))
    const ids = new Map(owners.map(({ _id, id }) => [_id, id]))
    return rows.map(row => ({ key: known(keys.get(row.resource)), instanceId: ids.get(row.instance) ?? '' }))
  })
  await each('chore', chore.find({}, byId), rows => rows.map(toChore))
  await each('history', history.find({}, { ...then, sort: { instance: 1, lock: 1, place: 1 } }), rows =>
    rows.map(row => ({ ...toHistory(sealer, row), ...(row.link && { link: row.link }) })),
  )
  await each('note', note.find({}, byId), rows => rows.map(toNote))
}

/** Releases before this one have kept only a hash of it; it is noted when the resource is next claimed or released. */
function known(key: string | undefined): string {
  if (key !== undefined) return key
  throw new Error(
    'a shared resource cannot be exported: an earlier release wrote it without its key. Provision and deprovision an instance that uses it, then export again',
  )
}

async function write(tx: Transaction, rows: readonly LedgerRow[]): Promise<void> {
  const of = byKind(rows)
  const { collections, sealer, session, nextSeq } = tx
  const { meta, catalog, revision, revisionText, service, registry, shared, claim, chore, history, note } = collections
  for (const { fence, catalogVersion: version, lastChange } of of.ledger) {
    await meta.updateOne({ _id: 'ledger' }, { $max: { fence } }, { session })
    const { at: changedAt, report } = lastChange ?? {}
    const replacement = { version, changedAt, report: report && JSON.stringify(report) }
    await catalog.replaceOne({ _id: 'catalog' }, replacement, { session, upsert: true })
  }
  const insert = async <Row extends Document>(
    into: { insertMany(rows: Row[], options: object): unknown },
    some: Row[],
  ) => {
    if (some.length > 0) await into.insertMany(some, { session })
  }
  // Version 0: no change of the catalog was decided from it and wrote a text, since this one is later.
  const texts = of.revision.map(row => ({ _id: nextSeq(), version: 0, doc: JSON.stringify(row) }))
  await insert(revisionText, texts)
  await insert(
    revision,
    of.revision.flatMap(({ id: _id, serviceId }, index) => {
      const text = texts[index]?._id
      return text === undefined ? [] : [{ _id, service: serviceId, text }]
    }),
  )
  await insert(
    service,
    of.service.map(row => {
      const { serviceId: _id, revisionId, retiredAt } = row
      return { _id, revision: revisionId, retired: retiredAt !== undefined, doc: JSON.stringify(row) }
    }),
  )
  for (const row of of.registry)
    await registry.replaceOne({ _id: row.name }, { doc: JSON.stringify(row) }, { session, upsert: true })
  await insert(
    collections.instance,
    of.instance.map(row => ({
      _id: keyOf(row.id),
      seq: nextSeq(),
      lock: 0,
      ...withoutUndefined(fromInstance(sealer, row)),
    })),
  )
  await insert(
    collections.binding,
    of.binding.map(row => ({
      _id: keyOf(row.instanceId, row.id),
      seq: nextSeq(),
      ...withoutUndefined(fromBinding(sealer, row)),
    })),
  )
  await insert(collections.operation, await toOperations(tx, of.operation))
  for (const [operationId, steps] of stepsByOperation(of.step)) {
    const _id = keyOf(operationId)
    const rows = steps.map(({ operationId: _of, ...step }) => fromStep(sealer, _id, step))
    await collections.operation.updateOne({ _id }, { $push: { steps: { $each: rows } } } as Document, { session })
  }
  await insert(
    shared,
    of.shared.map(({ key, phase, holder }) => withoutUndefined({ _id: keyOf(key), key, lock: 1, phase, holder })),
  )
  await insert(
    claim,
    of.claim.map(({ key, instanceId }) => {
      const owner = keyOf(instanceId)
      return { _id: keyOf(key, owner), resource: keyOf(key), instance: owner }
    }),
  )
  for (const { name, result, ...times } of of.chore)
    await chore.replaceOne({ _id: name }, withoutUndefined({ ...times, result: result && JSON.stringify(result) }), {
      session,
      upsert: true,
    })
  // Before all that is written later, whose lock is higher; after the lines that are there.
  const { line: place = 0 } = (await meta.findOne({ _id: 'ledger' }, { session }))?.import ?? {}
  await insert(
    history,
    of.history.map(({ link, ...event }, index) => ({
      _id: nextSeq(),
      ...fromHistory(sealer, event),
      ...(link && { link }),
      lock: 0,
      place: place + index,
    })),
  )
  await insert(note, of.note.map(fromNote))
}

/** With what a clean-up goes by: whether it is still the latest of what lives. */
async function toOperations(tx: Transaction, rows: readonly LedgerRows['operation'][]) {
  const { collections, sealer, session, nextSeq } = tx
  const documents = rows.map(row => ({ _id: keyOf(row.id), ...withoutUndefined(fromOperation(sealer, row)) }))
  const resources = [...new Set(documents.map(({ resource }) => resource))]
  const find = { _id: { $in: resources }, phase: { $ne: 'deleted' as const } }
  const options = { session, projection: { last: 1 } }
  const live = [
    ...(resources.length === 0 ? [] : await collections.instance.find(find, options).toArray()),
    ...(resources.length === 0 ? [] : await collections.binding.find(find, options).toArray()),
  ]
  const last = new Map(live.map(({ _id, last: id }) => [_id, id]))
  return documents.map(document => {
    const { _id, resource, finishedAt } = document
    const isSpent = finishedAt !== undefined && last.get(resource) !== _id
    return { ...document, seq: nextSeq(), steps: [], ...(isSpent && { spentAt: finishedAt }) }
  })
}

function stepsByOperation(steps: readonly LedgerRows['step'][]): Map<string, LedgerRows['step'][]> {
  const groups = new Map<string, LedgerRows['step'][]>()
  for (const step of steps) groups.set(step.operationId, [...(groups.get(step.operationId) ?? []), step])
  return groups
}
