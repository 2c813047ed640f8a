import { withoutUndefined } from '../protocol/json.ts'
import { parseDuration } from '../shape/duration.ts'
import { quoted } from '../shape/place.ts'
import { type BundleAction, type BundleResources, bundleActions } from './actions.ts'
import { fitValue } from './fit-value.ts'
import { asText, type Reading } from './reading.ts'
import type { Item } from './source.ts'

const longestTimeout = 30 * 24 * 3_600_000

/** Milliseconds per action. */
export function readTimeouts(item: Item | undefined, reading: Reading): Partial<Record<BundleAction, number>> {
  const fields = item && reading.object(item, '"timeouts"', bundleActions)
  const timeouts: Partial<Record<BundleAction, number>> = {}
  for (const action of bundleActions) {
    const timeout = readDuration(fields?.get(action), action, reading)
    if (timeout !== undefined) timeouts[action] = timeout
  }
  return timeouts
}

/** What stands beside the actions counts for all of them, and for one of them unless that says something else. */
export function readResources(
  item: Item | undefined,
  reading: Reading,
): Partial<Record<BundleAction, BundleResources>> {
  const fields = item && reading.object(item, '"resources"', [...limits, ...bundleActions])
  if (fields === undefined) return {}
  const common = readLimits(fields, reading)
  const resources: Partial<Record<BundleAction, BundleResources>> = {}
  for (const action of bundleActions) {
    const entry = fields.get(action)
    const own = entry && reading.object(entry, `the resources of ${action}`, limits)
    const all = { ...common, ...(own && readLimits(own, reading)) }
    if (Object.keys(all).length > 0) resources[action] = all
  }
  return resources
}

const limits = ['memory', 'cpu', 'output']

function readLimits(fields: ReadonlyMap<string, Item>, reading: Reading): BundleResources {
  return withoutUndefined({
    memory: readBytes(fields.get('memory'), '"memory"', reading),
    cpu: readCores(fields.get('cpu'), reading),
    output: readBytes(fields.get('output'), '"output"', reading),
  })
}

function readDuration(item: Item | undefined, action: BundleAction, reading: Reading): number | undefined {
  if (item === undefined) return undefined
  const problem = (reason: string) =>
    reading.error(item, `the timeout of ${action} ${reason}; write a number and s, m, h or d, such as 90s or 2h`)
  if (typeof item.value !== 'string') return problem('has no unit')
  try {
    const timeout = parseDuration(item.value)
    if (timeout > 0 && timeout <= longestTimeout) return timeout
  } catch {
    return problem(`is ${quoted(item.value)}, which is not a length of time`)
  }
  return problem('must be above 0 and at most 30d')
}

const bytesOf: ReadonlyMap<string, number> = new Map([
  ['', 1],
  ['k', 1e3],
  ['M', 1e6],
  ['G', 1e9],
  ['T', 1e12],
  ['Ki', 2 ** 10],
  ['Mi', 2 ** 20],
  ['Gi', 2 ** 30],
  ['Ti', 2 ** 40],
])

function readBytes(item: Item | undefined, what: string, reading: Reading): number | undefined {
  if (item === undefined) return undefined
  const [, amount, unit = ''] = /^(\d{1,15}(?:\.\d{1,3})?)([A-Za-z]{0,2})$/.exec(asText(item)?.trim() ?? '') ?? []
  const bytes = Math.round(Number(amount) * (bytesOf.get(unit) ?? Number.NaN))
  if (Number.isSafeInteger(bytes) && bytes > 0) return bytes
  return reading.error(item, `${what} is not a size; write a number and Ki, Mi or Gi (or k, M, G), such as 256Mi`)
}

function readCores(item: Item | undefined, reading: Reading): number | undefined {
  if (item === undefined) return undefined
  const text = asText(item)?.trim() ?? ''
  const cores = /^\d{1,6}m$/.test(text) ? Number(text.slice(0, -1)) / 1000 : fitValue(item, 'number')
  if (typeof cores === 'number' && cores > 0 && cores <= 1024) return cores
  return reading.error(item, '"cpu" is not a number of cores; write one such as 0.5, or thousandths such as 500m')
}
