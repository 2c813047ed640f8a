import { withoutUndefined } from '../protocol/json.ts'
import { parseDuration } from '../shape/duration.ts'
import { toMilliseconds } from '../shape/fields.ts'
import { convert, field, object, optional } from '../shape/shape.ts'
import { type BundleAction, bundleActions, forEachAction } from './actions.ts'
import { fitNumber } from './fit-value.ts'

const longestTimeout = parseDuration('30d')

/** Milliseconds per action. */
export const timeouts = object(
  forEachAction(action => {
    const rule = 'a length of time with its unit, above 0 and at most 30d'
    const remedy = 'write a number and s, m, h or d, such as 90s or 2h'
    const info = { kind: 'text', rule, remedy, noun: `the timeout of ${action}` } as const
    return optional(
      field<string, number>(info, value => {
        const timeout = typeof value === 'string' && toMilliseconds(value)
        return timeout && timeout <= longestTimeout ? timeout : undefined
      }),
    )
  }),
)

const bytes = field<string | number, number>(
  { kind: 'text', rule: 'a size', remedy: 'write a number and Ki, Mi or Gi (or k, M, G), such as 256Mi' },
  toBytes,
)

const powersOf2 = { Ki: 2 ** 10, Mi: 2 ** 20, Gi: 2 ** 30, Ti: 2 ** 40 }
const factors = new Map(Object.entries({ '': 1, k: 1e3, M: 1e6, G: 1e9, T: 1e12, ...powersOf2 }))

function toBytes(value: unknown): number | undefined {
  const [, amount, unit = ''] = /^(\d{1,15}(?:\.\d{1,3})?)([A-Za-z]{0,2})$/.exec(String(value).trim()) ?? []
  const size = Math.round(Number(amount) * (factors.get(unit) ?? Number.NaN))
  return Number.isSafeInteger(size) && size > 0 ? size : undefined
}

const cores = field<string | number, number>(
  { kind: 'other', rule: 'a number of cores', remedy: 'write one such as 0.5, or thousandths such as 500m' },
  value => {
    const [, thousandths] = /^(\d{1,6})m$/.exec(String(value).trim()) ?? []
    const count = thousandths === undefined ? fitNumber(value) : Number(thousandths) / 1000
    return count !== undefined && count > 0 && count <= 1024 ? count : undefined
  },
)

/** What one action may use, and print; what is absent is for the operator to say. */
const limits = { memory: optional(bytes), cpu: optional(cores), output: optional(bytes) }
type Limits = Partial<Record<keyof typeof limits, number>>

/** What stands beside the actions counts for all of them, and for one of them unless that says something else. */
export const resources = convert(
  object({
    ...limits,
    ...forEachAction(action => optional(object(limits, { noun: `the resources of ${action}` }))),
  }),
  ({ memory, cpu, output, ...own }) => {
    const common = withoutUndefined({ memory, cpu, output })
    const all = bundleActions.map((action): [BundleAction, Limits] => [action, { ...common, ...own[action] }])
    const said = all.filter(([, { memory, cpu, output }]) => (memory ?? cpu ?? output) !== undefined)
    return Object.fromEntries(said) as Partial<Record<BundleAction, Limits>>
  },
)
