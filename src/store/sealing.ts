/**
 * The one way into and out of what is sealed, in every store: columns of their own that hold parameters, state, results,
 * inputs and step outputs and nothing else. Whoever encrypts them does it here.
 */
export function seal(value: unknown): string {
  return JSON.stringify(value)
}

/**
 * What is left sealed of an operation that has ended, and of its steps, when what it was about is deleted. Words of the
 * databases' own functions, so they stay as they are.
 */
export const emptied = { operation: '{"input":{}}', step: '{}' } as const

export function unseal(text: string): unknown {
  return JSON.parse(text)
}
