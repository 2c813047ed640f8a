/** What a sandbox's folder holds beside its inputs and outputs. */
import { join } from 'node:path'
import type { SandboxLimits, Stop } from '../../sandbox.ts'
import type { SandboxJob, User } from '../folders.ts'
import { readOwn } from '../owner.ts'

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
export const logFiles = { current: 'log', before: 'log.old' }

export async function readExit(folder: string): Promise<Exit | undefined> {
  const text = await readOwn(exitFileOf(folder))
  return text && JSON.parse(text)
}

export function exitFileOf(folder: string): string {
  return join(folder, 'exit.json')
}
