import { stat } from 'node:fs/promises'
import { type Clock, sleep } from '../clock.ts'

export interface WatchOptions {
  /** Asked each time: which they are may change as well. */
  files(): readonly string[]
  readonly every: number
  readonly clock: Clock
  /** Told of each change once. Must not throw. */
  onChange(files: readonly string[]): Promise<void>
}

/**
 * Looks at files now and then until the signal is aborted. It asks for their times, and waits for no news: news of a file system
 * do not come from every kind of mount, and Kubernetes changes the folder behind a link.
 */
export async function watchFiles(options: WatchOptions, stopping: AbortSignal): Promise<void> {
  const { files, every, clock, onChange } = options
  const seen = new Map<string, string>()
  const look = async () => {
    const changed: string[] = []
    for (const file of files()) {
      const now = await markOf(file)
      const before = seen.get(file)
      seen.set(file, now)
      if (before !== undefined && before !== now) changed.push(file)
    }
    return changed
  }
  await look()
  for (;;) {
    await sleep(clock, every, stopping)
    if (stopping.aborted) return
    const changed = await look()
    if (changed.length > 0) await onChange(changed)
  }
}

/** Another text where the file was written, or another one is in its place. */
async function markOf(file: string): Promise<string> {
  const found = await stat(file, { bigint: true }).catch(() => undefined)
  return found === undefined ? 'none' : `${found.ino}/${found.size}/${found.mtimeNs}/${found.ctimeNs}`
}
