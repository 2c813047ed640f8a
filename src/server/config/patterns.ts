import type { Mistake } from '../../shape/mistake.ts'
import { placeOf, quoted, type Source } from '../../shape/place.ts'
import { textsOf } from './values.ts'

/** Reads every cron pattern that is given. Its library is loaded only where there is one. */
export async function checkPatterns(source: Source): Promise<readonly Mistake[]> {
  const given = textsOf(source.root, ['cron']).filter(({ text }) => text !== '-')
  if (given.length === 0) return []
  const { createSchedule } = await import('../../engine/schedule.ts')
  return given.flatMap(({ path, text }) => {
    try {
      createSchedule(text, 'UTC')
      return []
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error)
      const problem = `found ${quoted(text)}: ${reason}, or "-" for off`
      return [{ path, place: placeOf(source, path), problem }]
    }
  })
}
