import { limitsOf, overQuota, type PlatformUse, type QuotaKind, type Within } from '../../domain/quota.ts'
import { text } from '../columns.ts'
import { keyOf } from '../keys.ts'
import type { Statements } from './statements.ts'

/** Whoever writes comes one after the other, so what is counted in a transaction is true until its end. */
export function requireQuota(statements: Statements, within: Within): void {
  for (const [kind, limit] of limitsOf(within))
    if (count(statements, kind, within.platform, limit) >= limit) throw overQuota(kind, within)
}

export function readPlatformUse(statements: Statements, platform: string): PlatformUse {
  const all = (kind: QuotaKind) => count(statements, kind, platform, -1)
  return { instances: all('instances'), bindings: all('bindings'), operations: all('operations') }
}

export function readPlatforms(statements: Statements): readonly string[] {
  return statements.platforms.all().map(({ doc }) => text(JSON.parse(text(doc)).platform))
}

/** Counts to `most`; -1 is no end. */
function count(statements: Statements, kind: QuotaKind, platform: string, most: number): number {
  const { instancesOf, bindingsOf, operationsOf } = statements
  const [statement, key] = {
    instances: [instancesOf, keyOf(platform)] as const,
    bindings: [bindingsOf, keyOf(platform)] as const,
    operations: [operationsOf, platform] as const,
  }[kind]
  return Number(statement.get(key, most)?.count)
}
