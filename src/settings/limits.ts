import { text, wholeNumber } from '../shape/fields.ts'
import { fallback, list, object, optional, section, unique } from '../shape/shape.ts'

/** How fast each principal may send requests. */
export const limits = section({
  requestsPerSecond: optional(
    wholeNumber(
      1,
      1_000_000,
      'requests that each principal may send to a replica, polls too; beyond it 429. Without it they are not counted',
    ),
  ),
  burst: fallback(
    wholeNumber(1, 1_000_000, 'requests that it may send at once, after a pause; then `limits.requestsPerSecond`'),
    100,
  ),
})

const quotaFields = {
  instances: optional(
    wholeNumber(
      0,
      1_000_000_000,
      'instances that a platform may have; one more is refused with 422. It counts until it is deleted, also if it failed',
    ),
  ),
  bindings: optional(wholeNumber(0, 1_000_000_000, 'the same for bindings')),
  operations: optional(
    wholeNumber(
      1,
      1_000_000_000,
      'operations of a platform in progress at a time; a provision, update or bind beyond it is refused with 422 `ConcurrencyError`, a deletion never',
    ),
  ),
}

/** What platforms may have. */
export const quotas = section({
  ...quotaFields,
  platforms: fallback(
    list(
      object({
        platform: text({ rule: 'the name of a platform', doc: 'its name, such as `cf`, or `cf/east` with a prefix' }),
        ...quotaFields,
      }),
      {
        rules: [unique(({ platform }) => platform, 'platform', 'it is named above; give each platform one entry')],
        doc: 'other quotas for some platforms, in place of those above',
      },
    ),
    [],
  ),
})
