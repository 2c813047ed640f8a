import type { Bulletin, BulletinWriting } from '../../store.ts'
import { type Database, lookup, readWithTime } from './database.ts'
import type { BulletinDocument } from './documents.ts'
import { keyOf } from './keys.ts'

export async function putBulletin(
  { collections, now, timeoutMs: maxTimeMS }: Database,
  { kind, key, doc, keepFor }: BulletinWriting,
): Promise<void> {
  const bulletin = {
    kind,
    key: { $literal: key },
    at: now(),
    until: { $add: [now(), keepFor] },
    doc: { $literal: JSON.stringify(doc) },
  }
  await collections.bulletin.updateOne({ _id: keyOf(kind, key) }, [{ $set: bulletin }], { upsert: true, maxTimeMS })
  await collections.bulletin.deleteMany({ kind, $expr: { $lte: ['$until', now()] } }, { maxTimeMS })
}

export async function readBulletins(ledger: Database, kind: Bulletin['kind']) {
  const standing = { $match: { kind, $expr: { $gt: ['$until', ledger.now()] } } }
  const all = lookup('bulletins', ledger.collections.bulletin, standing, { $sort: { kind: 1, key: 1 } })
  const { now, bulletins } = await readWithTime<{ readonly bulletins: readonly BulletinDocument[] }>(ledger, [all])
  return { now, bulletins: bulletins.map(({ key, at, doc }): Bulletin => ({ kind, key, at, doc: JSON.parse(doc) })) }
}
