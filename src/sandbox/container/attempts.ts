/**
 * Who may start a container. Engines start one again that has ended, so "look, then start" could run a bundle twice. Here
 * the right to start is the name of the output folder: whoever takes it over renames the folder, and a container whose
 * folder is gone cannot be started any more, by anybody, however late.
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { moved, readOwner, removed, unless } from '../owner.ts'

const first = 'output'
const ended = 'removed-output'

export interface Attempt {
  readonly number: number
  readonly output: string
}

/** Undefined where the sandbox has no folder; `removed` where nobody may start it any more. */
export async function currentAttempt(folder: string): Promise<Attempt | 'removed' | undefined> {
  // A folder that is renamed at this moment may be listed under neither of its names: then it is looked for again.
  for (let round = 0; round < 1000; round++) {
    const entries = await unless(['ENOENT'], readdir(folder))
    if (entries === undefined) return undefined
    for (const entry of entries) {
      const [, number] = /^output-(\d+)$/.exec(entry) ?? []
      if (number !== undefined || entry === first) return { number: Number(number ?? 0), output: join(folder, entry) }
    }
    if (entries.includes(ended) || (await readOwner(folder)) === removed) return 'removed'
  }
  // Somebody took its outputs away by hand.
  return 'removed'
}

/** Undefined where somebody else was faster. */
export async function takeAttempt(folder: string, { number, output }: Attempt): Promise<Attempt | undefined> {
  const next = { number: number + 1, output: join(folder, `${first}-${number + 1}`) }
  return (await moved(output, next.output)) ? next : undefined
}

/** From here on nobody can start the sandbox. */
export async function endAttempts(folder: string): Promise<void> {
  for (;;) {
    const attempt = await currentAttempt(folder)
    if (attempt === undefined || attempt === 'removed') return
    if (await moved(attempt.output, join(folder, ended))) return
  }
}
