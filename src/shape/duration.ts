import { count } from './count.ts'

/** A length of time as people write it; a bare number is milliseconds. */
export type Duration = number | `${number}${'ms' | 's' | 'm' | 'h' | 'd'}`

/** Milliseconds of a duration such as `'90s'`, `'2h'`, `500` or ISO 8601's `PT1H`. Throws where the text is not one. */
export function parseDuration(duration: number | string): number {
  if (typeof duration === 'number') {
    if (Number.isFinite(duration) && duration >= 0) return Math.round(duration)
    throw new RangeError(`${duration} is not a duration: milliseconds must be a finite number from 0 on`)
  }
  const [, amount, unit] = pattern.exec(duration.trim()) ?? []
  const factor = unit === undefined ? undefined : units[unit]
  if (amount === undefined || factor === undefined) {
    const ms = parseIsoDuration(duration)
    if (ms !== undefined) return ms
    throw new RangeError(`"${duration}" is not a duration: write a number and ms, s, m, h or d, such as 90s or 2h`)
  }
  return Math.round(Number(amount) * factor)
}

const pattern = /^(\d{1,12}(?:\.\d{1,6})?)(ms|s|m|h|d)$/
const units: Readonly<Record<string, number>> = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }

/** ISO 8601 from days to seconds, as Spring's files may have it: `P3D`, `PT1H30M`. */
function parseIsoDuration(text: string): number | undefined {
  const match = /^P(?=.)(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9})S)?)?$/.exec(text)
  if (match === null) return undefined
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map(part => Number(part ?? 0))
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
}

const [second, minute, hour, day] = [1000, 60_000, 3_600_000, 86_400_000]

/** A length of time for people, in the one or two units that fit: `6 seconds`, `5 minutes`, `1 hour 30 minutes`. */
export function sayDuration(ms: number): string {
  if (Math.round(ms) < second) return count(Math.round(ms), 'millisecond')
  if (ms < minute - 50) return count(Math.round(ms / 100) / 10, 'second')
  const finest = ms < hour ? second : ms < day ? minute : hour
  let rest = Math.round(ms / finest) * finest
  const said: string[] = []
  for (const [noun, unit] of [
    ['day', day],
    ['hour', hour],
    ['minute', minute],
    ['second', second],
  ] as const) {
    const amount = Math.floor(rest / unit)
    rest -= amount * unit
    if (amount > 0) said.push(count(amount, noun))
  }
  return said.join(' ')
}
