import { malformed } from '../../protocol/request-fields.ts'
import { snakeCase } from '../../shape/describe.ts'
import { text } from '../../shape/fields.ts'
import { explain, type FieldMistake, isError } from '../../shape/mistake.ts'
import { fromCode, type Path, showPath } from '../../shape/place.ts'
import { type ReadOptions, read } from '../../shape/read.ts'
import type { Read, Shape } from '../../shape/shape.ts'

/** What an operator sent, as the shape has it. What it does not know is refused: a misspelt filter must not mean "all". */
export function readFields<S extends Shape>(shape: S, given: object, options: ReadOptions = {}): Read<S> {
  const reading = read(shape, fromCode(given), {
    ...options,
    lenient: true,
    shownAs: snakeCase,
    unknown: () => 'error',
  })
  if (reading.ok) return reading.value
  const mistakes = reading.mistakes.filter(isError)
  throw malformed(mistakes.map(mistake => `${showPath(toWire(mistake)) || 'it'}: ${explain(mistake)}`).join('; '))
}

/** With the names of the wire; one that nobody knows stays as it was sent. */
function toWire({ path, kind }: FieldMistake): Path {
  const [last] = kind === 'unknown' ? path.slice(-1) : []
  const known = last === undefined ? path : path.slice(0, -1)
  const shown = known.map(part => (typeof part === 'string' ? snakeCase(part) : part))
  return last === undefined ? shown : [...shown, last]
}

/** Why an operator does something: it stays in the history. */
export const reason = text({
  rule: 'a text of at most 1,000 characters that says why',
  allows: words => /\S/.test(words) && words.length <= 1_000,
})
