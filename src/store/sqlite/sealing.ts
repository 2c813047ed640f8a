/**
 * The one way into and out of the `sealed` columns, which hold parameters, state, results, inputs and step outputs and
 * nothing else. Whoever encrypts them does it here.
 */
export function seal(value: unknown): string {
  return JSON.stringify(value)
}

export function unseal(text: string): unknown {
  return JSON.parse(text)
}
