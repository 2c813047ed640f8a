import { countedActions, limitsOf, overQuota, type PlatformUse, type Within } from '../../domain/quota.ts'
import type { Tables } from './tables.ts'

export function readPlatforms(tables: Tables): readonly string[] {
  const live = [...tables.instances.all()].filter(({ phase }) => phase !== 'deleted')
  return [...new Set(live.map(({ platform }) => platform))]
}

export function readPlatformUse(tables: Tables, platform: string): PlatformUse {
  const instances = [...tables.instances.all()].filter(row => row.platform === platform && row.phase !== 'deleted')
  const bindings = instances.flatMap(({ id }) => tables.bindings.allOf(id)).filter(({ phase }) => phase !== 'deleted')
  const counted: readonly string[] = countedActions
  const operations = [...tables.queue.all()].filter(row => row.platform === platform && counted.includes(row.action))
  return { instances: instances.length, bindings: bindings.length, operations: operations.length }
}

export function requireQuota(tables: Tables, within: Within): void {
  const use = readPlatformUse(tables, within.platform)
  for (const [kind, limit] of limitsOf(within)) if (use[kind] >= limit) throw overQuota(kind, within)
}
