/** What a sandbox's folder holds beside its inputs and outputs. */
import { appendFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { SandboxLimits, Stop } from '../../sandbox.ts'
import { type SandboxJob, syncFolder, type User } from '../folders.ts'
import { readOwn } from '../owner.ts'
import { type FileEnd, inFolder, readFileEnd } from '../read-output-file.ts'
import { tailBytes } from '../redact.ts'

export interface Job extends SandboxJob {
  readonly command: readonly string[]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly limits: SandboxLimits
  /** Whether the command is one in namespaces of its own: then all that it started ends with it. */
  readonly contained: boolean
  /** Who runs it, where the command does not see to that itself. */
  readonly user?: User
}

export interface Exit {
  readonly code: number
  readonly stopped?: Stop
}

/** A variable of every process of a sandbox, with the sandbox's folder in it: processes that got away are found by it. */
export const marker = 'PURSER_SANDBOX'
const exitFile = 'exit.json'
const logFiles = { current: 'log', before: 'log.old' }

export async function readExit(folder: string): Promise<Exit | undefined> {
  const text = await readOwn(join(folder, exitFile))
  return text && JSON.parse(text)
}

/** The file appears complete, or not at all. */
export async function writeExit(folder: string, exit: Exit): Promise<void> {
  const file = join(folder, exitFile)
  writeFileSync(`${file}.new`, JSON.stringify(exit), { mode: 0o600, flush: true })
  renameSync(`${file}.new`, file)
  await syncFolder(folder)
}

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
  const before = await readFileEnd(inFolder(folder), logFiles.before, 3 * tailBytes)
  const current = await readFileEnd(inFolder(folder), logFiles.current, 3 * tailBytes)
  return { text: `${before?.text ?? ''}${current?.text ?? ''}`, cut: before !== undefined || current?.cut === true }
}
