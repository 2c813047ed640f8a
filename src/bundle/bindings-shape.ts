import { parseDuration } from '../shape/duration.ts'
import { flag, toMilliseconds } from '../shape/fields.ts'
import { field, object, optional } from '../shape/shape.ts'

const longest = parseDuration('3650d')

const length = (noun: string) =>
  field<string, number>(
    {
      kind: 'text',
      rule: 'a length of time with its unit, above 0 and at most 3650d',
      remedy: 'write a number and s, m, h or d, such as 12h or 90d',
      noun,
    },
    value => {
      const time = typeof value === 'string' && toMilliseconds(value)
      return time && time <= longest ? time : undefined
    },
  )

/** How long bindings last, in milliseconds, and what becomes of them then. */
export const bindings = object(
  {
    lifetime: optional(length('the lifetime of bindings')),
    renewBefore: optional(length('"renew_before"')),
    unbindExpired: optional(flag()),
  },
  {
    rules: [
      ({ lifetime = Number.POSITIVE_INFINITY, renewBefore = 0 }) =>
        renewBefore > lifetime && {
          path: ['renewBefore'],
          error: '"renew_before" is longer than "lifetime"; make it shorter',
        },
    ],
  },
)
