import { malformed } from '../../protocol/request-fields.ts'
import { text } from '../../shape/fields.ts'
import { explain, isError } from '../../shape/mistake.ts'
import { fromCode, showPath } from '../../shape/place.ts'
import { type ReadOptions, read } from '../../shape/read.ts'
import type { Read, Shape } from '../../shape/shape.ts'

/** What an operator sent, as the shape has it. What it does not know is refused: a misspelt filter must not mean "all". */
export function readFields<S extends Shape>(shape: S, given: object, options: ReadOptions = {}): Read<S> {
  const reading = read(shape, fromCode(given), { ...options, lenient: true, unknown: () => 'error' })
  if (reading.ok) return reading.value
  const mistakes = reading.mistakes.filter(isError)
  throw malformed(mistakes.map(mistake => `${showPath(mistake.path) || 'it'}: ${explain(mistake)}`).join('; '))
}

/** Why an operator does something: it stays in the history. */
export const reason = text({
  rule: 'a text of at most 1,000 characters that says why',
  allows: words => /\S/.test(words) && words.length <= 1_000,
})
