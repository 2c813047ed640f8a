import { Cron } from 'croner'
import { count } from '../shape/count.ts'

/** When a chore is to be run. Times are those of the store's clock. */
export interface Schedule {
  readonly pattern: string
  readonly timeZone: string
  /** The latest time at or before `now`, if there ever was one. */
  latest(now: number): number | undefined
  /** The first time after `now`. */
  next(now: number): number | undefined
}

/** What a pattern may be, for messages. */
const allowedPatterns =
  'a cron pattern of 5 fields (minute, hour, day of month, month, day of week) or 6 (with the second before them), such as "30 3 * * *", or a name such as @daily'

/**
 * The times that a cron pattern means in a time zone. A time that a clock change skips is moved to the end of the gap; one
 * that comes twice counts once, unless the pattern fires in every hour. Throws a RangeError that says what is wrong.
 */
export function createSchedule(pattern: string, timeZone: string): Schedule {
  const cron = parse(pattern.trim(), timeZone)
  const fires = cron.nextRuns(1, new Date(0)).length > 0
  if (!fires) throw new RangeError(`there is no such time; write ${allowedPatterns}`)
  return {
    pattern,
    timeZone,
    // The library looks for what lies before the second of its reference.
    latest: now => cron.previousRuns(1, new Date(Math.floor(now / 1000) * 1000 + 1000))[0]?.getTime(),
    next: now => cron.nextRuns(1, new Date(now))[0]?.getTime(),
  }
}

function parse(pattern: string, timezone: string): Cron {
  const fields = pattern.split(/\s+/)
  // The library would also take a date, which never comes again.
  if (fields.length !== 5 && fields.length !== 6 && !pattern.startsWith('@'))
    throw new RangeError(`it has ${count(fields.length, 'field')}; write ${allowedPatterns}`)
  try {
    // Node loads its tables of time zones, 8 MB, with the first zone that is asked for: UTC needs none.
    const zone = timezone === 'UTC' ? { utcOffset: 0 } : { timezone }
    return new Cron(pattern, { ...zone, mode: '5-or-6-parts', paused: true })
  } catch (error) {
    const reason = error instanceof Error ? error.message.replace(/^CronPattern: /, '') : String(error)
    throw new RangeError(`it cannot be read (${reason}); write ${allowedPatterns}`)
  }
}
