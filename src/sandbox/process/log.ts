import { appendFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { type FileEnd, readFileEnd } from '../read-output-file.ts'
import { tailBytes } from '../redact.ts'
import { logFiles } from './job.ts'

/** Keeps at least the last 64 KiB, in two files that take turns, so that they are there whenever anybody is killed. */
export function createLog(folder: string): { write(chunk: Buffer): void } {
  const current = join(folder, logFiles.current)
  let size = 0
  return {
    write(chunk) {
      try {
        if (size >= tailBytes) {
          renameSync(current, join(folder, logFiles.before))
          size = 0
        }
        appendFileSync(current, chunk, { mode: 0o600 })
        size += chunk.length
      } catch {
        // On a full disk the log is lost, and the sandbox is still watched.
      }
    },
  }
}

export async function readLog(folder: string): Promise<FileEnd> {
  const before = await readFileEnd(folder, logFiles.before, 3 * tailBytes)
  const current = await readFileEnd(folder, logFiles.current, 3 * tailBytes)
  return { text: `${before?.text ?? ''}${current?.text ?? ''}`, cut: before !== undefined || current?.cut === true }
}
