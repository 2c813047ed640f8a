import { parseDuration } from '../../shape/duration.ts'
import { setting } from './section.ts'

export function text(allowed: string, isAllowed: (value: string) => boolean = value => value !== '') {
  return setting(allowed, value => (typeof value === 'string' && isAllowed(value) ? value : undefined))
}

export const path = () => text('the path of a file')

export function oneOf<const Choice extends string | number>(...choices: readonly Choice[]) {
  return setting(choices.join(' or '), value => choices.find(choice => String(choice) === String(value)))
}

/** Only looked at here: `config/patterns.ts` reads it, since that needs a library. */
export const cronPattern = () => text('a cron pattern in quotes, such as "30 3 * * *", or "-" for off')

export const flag = () =>
  setting('true or false', value => {
    const written = String(value)
    return written === 'true' ? true : written === 'false' ? false : undefined
  })

export function wholeNumber(least: number, most: number) {
  return setting(`a whole number from ${least} to ${most}`, value => {
    const number = toNumber(value)
    return Number.isInteger(number) && number >= least && number <= most ? number : undefined
  })
}

export function decimal(least: number, most: number) {
  return setting(`a number from ${least} to ${most}`, value => {
    const number = toNumber(value)
    return number >= least && number <= most ? number : undefined
  })
}

/** Becomes milliseconds. */
export function duration(least: string, most: string) {
  return setting(`a duration from ${least} to ${most}, such as 500ms, 90s, 5m, 2h or 10d`, value => {
    const ms = toDuration(value)
    return ms !== undefined && ms >= parseDuration(least) && ms <= parseDuration(most) ? ms : undefined
  })
}

/** Becomes bytes. */
export function size(least: string, most: string) {
  return setting(`a size from ${least} to ${most}, such as 16KB, 1MB or 2GB`, value => {
    const bytes = toSize(value)
    return bytes !== undefined && bytes >= (toSize(least) ?? 0) && bytes <= (toSize(most) ?? 0) ? bytes : undefined
  })
}

/** Placeholders and the environment give texts where a file gives numbers. */
function toNumber(value: unknown): number {
  if (typeof value === 'number') return value
  return typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : Number.NaN
}

function toDuration(value: unknown): number | undefined {
  if (typeof value !== 'string' && typeof value !== 'number') return undefined
  try {
    return typeof value === 'string' && value.startsWith('P') ? parseIsoDuration(value) : parseDuration(value)
  } catch {
    return undefined
  }
}

/** ISO 8601 from days to seconds, as Spring's files may have it: `P3D`, `PT1H30M`. */
function parseIsoDuration(text: string): number | undefined {
  const match = /^P(?=.)(?:(\d{1,6})D)?(?:T(?=.)(?:(\d{1,6})H)?(?:(\d{1,6})M)?(?:(\d{1,9})S)?)?$/.exec(text)
  if (match === null) return undefined
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map(part => Number(part ?? 0))
  return (((days * 24 + hours) * 60 + minutes) * 60 + seconds) * 1000
}

function toSize(value: unknown): number | undefined {
  if (typeof value === 'number') return Number.isInteger(value) ? value : undefined
  const [, amount, unit = 'B'] = /^(\d{1,9})\s*(B|KB|MB|GB)?$/i.exec(String(value)) ?? []
  return amount === undefined ? undefined : Number(amount) * (factors[unit.toUpperCase()] ?? 1)
}

const factors: Readonly<Record<string, number>> = { B: 1, KB: 1024, MB: 1024 ** 2, GB: 1024 ** 3 }
