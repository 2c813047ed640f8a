import type { Rule } from '../shape/shape.ts'

/** A field that is given and wrong counts as given. */
export function exactlyOne(one: string, other: string, advice = ''): Rule<object> {
  return value => one in value === other in value && { error: `needs exactly one of ${one} and ${other}${advice}` }
}
