import { compareText } from '../../domain/catalog-state.ts'
import type { Bulletin, BulletinWriting } from '../../store.ts'
import { pair, type Tables } from './tables.ts'

export interface BulletinRow extends Bulletin {
  readonly until: number
}

export function putBulletin(tables: Tables, { kind, key, doc, keepFor }: BulletinWriting, now: number): void {
  tables.bulletins.put(pair(kind, key), { kind, key, doc, at: now, until: now + keepFor })
  for (const row of [...tables.bulletins.all()])
    if (row.kind === kind && row.until <= now) tables.bulletins.remove(pair(row.kind, row.key))
}

export function readBulletins(tables: Tables, kind: Bulletin['kind'], now: number): readonly Bulletin[] {
  return [...tables.bulletins.all()]
    .filter(row => row.kind === kind && row.until > now)
    .map(({ until: _until, ...bulletin }) => bulletin)
    .sort((one, other) => compareText(one.key, other.key))
}
