import { execFileSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Asked once: a process that was pinned, and each of its children, only sees the cores that it has left. */
const count = availableParallelism()

/** Where servers run, and where their load comes from. */
export const cores = { server: '0', load: '1', all: `0-${count - 1}` }

/** Keeps a process on some cores, as far as the machine has more than one, and taskset. */
export function pin(pid: number | undefined, which: string): void {
  if (pid === undefined || count < 2) return
  try {
    execFileSync('taskset', ['-a', '-c', '-p', which, String(pid)], { stdio: 'ignore' })
  } catch {
    // Without it the figures only vary more.
  }
}

/** Runs what drives servers that were pinned to theirs. */
export async function onLoadCore<T>(work: () => Promise<T>): Promise<T> {
  pin(process.pid, cores.load)
  try {
    return await work()
  } finally {
    pin(process.pid, cores.all)
  }
}
