import { maskable } from '../domain/mask-history.ts'
import { duration, oneOf } from '../shape/fields.ts'
import { fallback, list, section } from '../shape/shape.ts'

export const history = section({
  keep: fallback(
    duration('1d', '36500d', 'how long lines of the history are kept, also those about what was deleted long ago'),
    '400d',
  ),
  mask: fallback(
    list(oneOf(maskable), {
      rule: `a list of ${maskable.join(', ')}`,
      doc: 'personal data that is not written into the history: `identity` (the originating identity), `principal` (who has signed in), `address` (the IP address) and `by` (which operator it was). `masked` stands in its place',
    }),
    [],
  ),
})
