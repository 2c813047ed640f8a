import type { Mistake } from './mistake.ts'
import { findOrigin, getIn, type Origins, type Tree, toPath } from './tree.ts'

/** Reads every cron pattern that is given. Its library is loaded only where there is one. */
export async function checkPatterns(tree: Tree, origins: Origins): Promise<readonly Mistake[]> {
  const given = patternSettings.filter(key => {
    const value = getIn(tree, key)
    return typeof value === 'string' && value !== '' && value !== '-'
  })
  if (given.length === 0) return []
  const { createSchedule } = await import('../../engine/schedule.ts')
  return given.flatMap(key => {
    const pattern = String(getIn(tree, key))
    try {
      createSchedule(pattern, 'UTC')
      return []
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      const problem = `found ${JSON.stringify(pattern)}: ${reason}, or "-" for off`
      return [{ where: findOrigin(origins, key)?.where, path: toPath(key), problem }]
    }
  })
}

const patternSettings: readonly (readonly string[])[] = [
  ['chores', 'observe'],
  ['chores', 'purge'],
  ['chores', 'sync'],
  ...['instances', 'bindings'].flatMap(of =>
    ['all', 'succeeded', 'failed'].map(kind => ['chores', 'cleanUp', of, kind]),
  ),
]
