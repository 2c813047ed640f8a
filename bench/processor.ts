import { readdirSync, readFileSync } from 'node:fs'

/**
 * The seconds of processor that a process has used, with all its threads. What else runs on the machine changes them far less
 * than the time that passes. NaN where the system does not tell.
 */
export function processorSeconds(pid: number | undefined): number {
  const tasks = `/proc/${pid}/task`
  try {
    return (
      readdirSync(tasks).reduce(
        (sum, task) => sum + Number(readFileSync(`${tasks}/${task}/schedstat`, 'utf8').split(' ')[0]),
        0,
      ) / 1e9
    )
  } catch {
    return Number.NaN
  }
}
