import { ConfigError } from '../../src/server/config.ts'

/** The lines of the ConfigError that loading ends with. */
export async function mistakesIn(loading: Promise<unknown>): Promise<string[]> {
  const error = await loading.then(
    () => undefined,
    (reason: unknown) => reason,
  )
  if (!(error instanceof ConfigError)) throw error ?? new Error('no mistake was found')
  return error.message
    .split('\n')
    .slice(1)
    .map(line => line.trim())
}
