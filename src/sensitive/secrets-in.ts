/** Every text in a value, and every number that is long enough to be recognised: what to cut out where a value is a secret. */
export function secretsIn(value: unknown): readonly string[] {
  if (typeof value === 'string') return [value]
  if (typeof value === 'number') return Math.abs(value) >= 1000 ? [String(value)] : []
  if (typeof value !== 'object' || value === null) return []
  return Object.values(value).flatMap(secretsIn)
}
