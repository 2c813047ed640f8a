import type { FoundBundle } from '../domain/revision.ts'
import type { RegistryAnswer } from '../registry.ts'
import { messageOf } from './registry-error.ts'

/** What reading one name gave. `undefined`: it is not a bundle, which is fine. `note`: an image that was named is not there. */
export type BundleReading = { readonly found: FoundBundle } | { readonly note: string } | undefined

/** A registry is shared by many: not more than this at once. */
const atOnce = 8

/** Reads each of the names, a few at once. One that cannot be read makes the answer partial. */
export async function readEach(
  names: readonly string[],
  read: (name: string) => Promise<BundleReading>,
  signal: AbortSignal,
): Promise<RegistryAnswer> {
  const results: (BundleReading | { readonly problem: string })[] = []
  const waiting = [...new Set(names)]
  const work = waiting.entries()
  await Promise.all(
    Array.from({ length: Math.min(atOnce, waiting.length) }, async () => {
      for (const [index, name] of work) {
        if (signal.aborted) return
        try {
          results[index] = await read(name)
        } catch (error) {
          results[index] = { problem: `${name}: ${messageOf(error)}` }
        }
      }
    }),
  )
  return signal.aborted ? stopped : toAnswer(results)
}

export function toAnswer(results: readonly (BundleReading | { readonly problem: string })[]): RegistryAnswer {
  const found: FoundBundle[] = []
  const problems: string[] = []
  for (const result of results) {
    if (result === undefined) continue
    if ('found' in result) found.push(result.found)
    else problems.push('note' in result ? result.note : result.problem)
  }
  const isPartial = results.some(result => result !== undefined && 'problem' in result)
  return { kind: isPartial ? 'partial' : 'complete', found, problems }
}

/** What `list` answers, or a failed answer where it throws or the signal is aborted. */
export async function answerOrFailure(
  signal: AbortSignal,
  list: () => Promise<RegistryAnswer>,
): Promise<RegistryAnswer> {
  if (signal.aborted) return stopped
  try {
    return await list()
  } catch (error) {
    return signal.aborted ? stopped : { kind: 'failed', problem: messageOf(error) }
  }
}

const stopped: RegistryAnswer = { kind: 'failed', problem: 'it was stopped before it had answered' }
