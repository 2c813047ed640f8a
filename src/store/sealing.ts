/**
 * The one way into and out of what is sealed, in every store: columns of their own that hold parameters, state, results,
 * inputs and step outputs and nothing else. Whoever encrypts them does it here.
 */
export function seal(value: unknown): string {
  return JSON.stringify(value)
}

export function unseal(text: string): unknown {
  return JSON.parse(text)
}
