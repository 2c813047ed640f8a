/** To the ground: whoever is given a value of JSON that others have, too, cannot change it. */
export function freeze<Value>(value: Value): Value {
  if (typeof value === 'object' && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value)
    for (const key in value) freeze(value[key])
  }
  return value
}
