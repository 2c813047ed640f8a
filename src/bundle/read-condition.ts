import { quoted } from '../shape/place.ts'
import { fitValue } from './fit-value.ts'
import type { Reading } from './reading.ts'
import type { Item } from './source.ts'
import type { BundleParameter, ParameterCondition, Scalar } from './spec.ts'

/**
 * `dependencies` of a parameter. The format has a list of which only the first entry counts: forms could never show more.
 * `find` knows the parameters of the same list.
 */
export function readCondition(
  item: Item,
  parameter: BundleParameter,
  find: (name: string) => BundleParameter | undefined,
  reading: Reading,
): ParameterCondition | undefined {
  const [first, second] = reading.list(item, '"dependencies"')
  if (first === undefined) return undefined
  const who = `the parameter ${quoted(parameter.name)}`
  if (second !== undefined) reading.warn(second, `only the first dependency of ${who} counts; remove the others`)
  const fields = reading.object(first, 'a dependency', ['key', 'value'])
  if (fields === undefined) return undefined
  const at = fields.get('key')
  const key = reading.text(at, 'the key of a dependency')
  if (at === undefined) return reading.error(first, `the dependency of ${who} has no "key"; name a parameter there`)
  if (key === undefined) return undefined
  const other = find(key)
  if (other === undefined || key === parameter.name)
    return reading.error(
      at,
      `${who} depends on ${quoted(key)}, which is not another parameter of this plan; correct it`,
    )
  const value = fields.get('value')
  const values = value === undefined ? undefined : readValues(value, other, who, reading)
  if (values !== undefined && parameter.default !== undefined)
    reading.warn(
      first,
      `the default of ${who} is shown, but not filled in: draft-04 cannot do so under a condition; let the bundle have it too`,
    )
  return { key, values }
}

function readValues(item: Item, other: BundleParameter, who: string, reading: Reading): readonly Scalar[] | undefined {
  const entries = Array.isArray(item.value) ? reading.list(item, 'the value of a dependency') : [item]
  const key = quoted(other.name)
  const values = new Set<Scalar>()
  for (const entry of entries) {
    const value = fitValue(entry, other.type)
    if (value === undefined || value === null || typeof value === 'object')
      reading.error(
        entry,
        `${who} depends on a value that ${key} cannot have: it is not of type ${other.type}; correct it`,
      )
    else if (other.enum !== undefined && !other.enum.includes(value))
      reading.warn(entry, `${who} depends on a value that is not in the enum of ${key}; remove it`)
    else values.add(value)
  }
  if (values.size > 0) return [...values]
  return reading.error(item, `${who} depends on no value that ${key} can have, and could never be given; correct it`)
}
