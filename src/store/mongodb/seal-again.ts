import type { AnyBulkWriteOperation, Collection, Document } from 'mongodb'
import type { KeyUse, Sealing } from '../../sealing.ts'
import { readPlace, toPlace, toUses, useOf } from '../seal-again.ts'
import { eventAgain, nothingSealed, type Sealer } from '../sealing.ts'
import type { Database } from './database.ts'
import type { OperationDocument } from './documents.ts'
import { placeOfBinding, placeOfInstance, placeOfOperation, placeOfStep } from './rows.ts'

/** Whatever the document is: only its sealed fields are looked at. */
type Row = Document

interface Table {
  readonly collection: Collection<Document>
  readonly fields: readonly string[]
  /** Its key, from the text that tells where to go on. */
  key(text: string): Document
  /** Each changes one field, if it is still what it was. */
  updates(sealer: Sealer, row: Row): readonly AnyBulkWriteOperation<Document>[]
}

function plain(rows: unknown): Collection<Document> {
  return rows as Collection<Document>
}

function literal(text: string): Document {
  return { $literal: text }
}

/** Documents in the order of their keys, some at a time; what others have changed meanwhile is left to them. */
export function createSealing({ collections, sealer, timeoutMs: maxTimeMS }: Database): Sealing {
  const { instance, binding, operation, history } = collections
  const tables: readonly Table[] = [
    {
      collection: plain(instance),
      key: literal,
      fields: ['sealed', 'sealedState'],
      updates: (of, row) =>
        (['sealed', 'sealedState'] as const).flatMap(field =>
          row[field] === undefined
            ? []
            : replace(row, field, of.again(row[field], placeOfInstance(field, String(row._id)))),
        ),
    },
    {
      collection: plain(binding),
      key: literal,
      fields: ['sealed', 'sealedState'],
      updates: (of, row) =>
        (['sealed', 'sealedState'] as const).flatMap(field =>
          replace(row, field, of.again(row[field], placeOfBinding(field, String(row._id)))),
        ),
    },
    {
      collection: plain(operation),
      key: literal,
      fields: ['resource', 'sealed', 'steps'],
      updates: (of, row) => ofOperation(of, row as unknown as OperationDocument),
    },
    {
      collection: plain(history),
      key: text => ({ $toObjectId: text }),
      fields: ['instance', 'doc'],
      updates: (of, row) => replace(row, 'doc', eventAgain(of, row.instance, row.doc)),
    },
  ]

  async function page({ collection, fields, key, updates }: Table, after: string | undefined, max: number) {
    const filter = after === undefined ? {} : { $expr: { $gt: ['$_id', key(after)] } }
    const projection = Object.fromEntries(fields.map(field => [field, 1]))
    const rows = await collection.find(filter, { projection, sort: { _id: 1 }, limit: max }).toArray()
    const changes = rows.flatMap(row => updates(sealer, row))
    const sealed =
      changes.length === 0 ? 0 : (await collection.bulkWrite([...changes], { ordered: false, maxTimeMS })).modifiedCount
    return { sealed, last: rows.length < max ? undefined : rows.at(-1)?._id }
  }

  return {
    keyring: sealer.keyring,
    async uses() {
      const texts: readonly (readonly [Collection<Document>, readonly Document[]])[] = [
        ...[instance, binding].map(
          rows => [plain(rows), [{ $project: { text: ['$sealed', '$sealedState'] } }]] as const,
        ),
        [
          plain(operation),
          [{ $project: { text: { $concatArrays: [['$sealed'], { $ifNull: ['$steps.sealed', []] }] } } }],
        ],
        [plain(history), [{ $project: { text: [identityIn] } }]],
      ]
      const counted: KeyUse[] = []
      for (const [rows, project] of texts) {
        const pipeline = [...project, { $unwind: '$text' }, { $group: { _id: labelIn, values: { $sum: 1 } } }]
        for (const { _id, values } of await rows.aggregate(pipeline).toArray()) counted.push(...useOf(_id, values))
      }
      return toUses(counted)
    },
    async sealAgain(from, max) {
      const { index, after } = readPlace(from)
      const table = tables[index]
      if (table === undefined) return { sealed: 0 }
      const { sealed, last } = await page(table, after, max)
      return { sealed, next: toPlace(tables.length, index, last === undefined ? undefined : String(last)) }
    },
  }
}

function replace(row: Row, field: string, value: string | undefined): readonly AnyBulkWriteOperation<Document>[] {
  if (value === undefined) return []
  return [{ updateOne: { filter: { _id: row._id, [field]: row[field] }, update: { $set: { [field]: value } } } }]
}

function ofOperation(sealer: Sealer, row: OperationDocument): readonly AnyBulkWriteOperation<Document>[] {
  const { _id, resource, steps = [] } = row
  return [
    ...replace(row, 'sealed', sealer.again(row.sealed, placeOfOperation(resource, _id))),
    ...steps.flatMap(({ key, sealed }) => {
      const value = sealer.again(sealed, placeOfStep(_id, key))
      if (value === undefined) return []
      const filter = { _id, steps: { $elemMatch: { key, sealed } } } as Document
      return [{ updateOne: { filter, update: { $set: { 'steps.$.sealed': value } } } }]
    }),
  ]
}

/** Who asked, as it stands in the text of an event: sealed, or not. */
const identityIn: Document = {
  $let: {
    vars: { found: { $regexFind: { input: '$doc', regex: '"identity":("e1:[^:"]+:|\\{)' } } },
    in: { $trim: { input: { $arrayElemAt: ['$$found.captures', 0] }, chars: '"' } },
  },
}

/** Null where nothing is sealed, empty where it is not encrypted. */
const labelIn: Document = {
  $cond: [
    { $in: [{ $ifNull: ['$text', '{}'] }, nothingSealed] },
    null,
    {
      $cond: [
        { $eq: [{ $substrBytes: ['$text', 0, 3] }, 'e1:'] },
        { $arrayElemAt: [{ $split: ['$text', ':'] }, 1] },
        '',
      ],
    },
  ],
}
