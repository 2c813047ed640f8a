import type { Document } from 'mongodb'
import type { Chain } from '../../chain.ts'
import { noteConflict } from '../notes.ts'
import { readEvent } from '../sealing.ts'
import { type Database, transact } from './database.ts'
import { keyOf } from './keys.ts'
import { putNotes } from './notes.ts'
import { toHistory } from './rows.ts'

/** An index has those without a link, too: as null. */
const unlinked = { 'link.no': null } as Document

export function createChain(ledger: Database): Chain {
  const { history } = ledger.collections
  const { sealer } = ledger
  return {
    async linked(after, max) {
      const found = history.find({ 'link.no': { $gt: after } }).sort({ 'link.no': 1, _id: 1 })
      const rows = await found.limit(max).toArray()
      return rows.map(({ link, instance, doc }) => ({
        no: Number(link?.no),
        hash: String(link?.hash),
        event: readEvent(
          sealer,
          () => instance,
          doc,
          id => keyOf(id),
        ),
      }))
    },
    async unlinked(max) {
      const rows = await history.find(unlinked).sort({ 'link.no': 1, _id: 1 }).limit(max).toArray()
      return rows.map(row => ({ key: row._id.toHexString(), event: toHistory(sealer, row) }))
    },
    countUnlinked: () => history.countDocuments(unlinked),
    countStray: ({ anchor, head }) =>
      history.countDocuments({ 'link.no': { $ne: null, $not: { $gt: anchor.no, $lte: head.no } } } as Document),
    link: (lines, note) =>
      transact(ledger, async tx => {
        await putNotes(tx, [note])
        const updates = lines.map(({ key, no, hash }) => {
          const filter = { ...unlinked, $expr: { $eq: ['$_id', { $toObjectId: key }] } }
          return { updateOne: { filter, update: { $set: { link: { no, hash } } } } }
        })
        const { session } = tx
        const changed = updates.length === 0 ? 0 : (await history.bulkWrite(updates, { session })).modifiedCount
        if (changed !== lines.length) throw noteConflict()
      }),
    drop: (upTo, note) =>
      transact(ledger, async tx => {
        await putNotes(tx, [note])
        await history.deleteMany({ 'link.no': { $lte: upTo } }, { session: tx.session })
      }),
  }
}
