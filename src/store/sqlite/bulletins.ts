import type { Bulletin, BulletinWriting } from '../../store.ts'
import { toBulletin } from '../columns.ts'
import type { Statements } from './statements.ts'

export function putBulletin(statements: Statements, { kind, key, doc, keepFor }: BulletinWriting, now: number): void {
  statements.putBulletin.run(kind, key, now, now + keepFor, JSON.stringify(doc))
  statements.forgetBulletins.run(kind, now)
}

export function readBulletins(statements: Statements, kind: Bulletin['kind'], now: number) {
  return { now, bulletins: statements.bulletins.all(kind, now).map(toBulletin) }
}
