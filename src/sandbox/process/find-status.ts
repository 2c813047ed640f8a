import { join } from 'node:path'
import type { SandboxStatus } from '../../sandbox.ts'
import { readOwner, removed } from '../owner.ts'
import { callSupervisor, type Line } from './control.ts'
import { readExit } from './job.ts'

export interface FoundStatus {
  readonly status: SandboxStatus
  /** Open while the sandbox runs; whoever looked has to close it. */
  readonly line?: Extract<Line, { readonly kind: 'open' }>
}

/** What a sandbox's folder and its supervisor say. */
export async function findStatus(folder: string): Promise<FoundStatus> {
  // The name of the socket at which the supervisor listens as long as it lives.
  const owner = await readOwner(folder)
  if (owner === undefined || owner === removed) return { status: { kind: 'absent' } }
  const early = await readExit(folder)
  if (early !== undefined) return { status: { kind: 'exited', ...early } }
  const line = await callSupervisor(join(folder, owner))
  if (line.kind === 'open') return { status: { kind: 'running' }, line }
  if (line.kind === 'failed') return { status: { kind: 'unknown', reason: line.reason } }
  // It may have ended, or have been removed, since the look before.
  const late = await readExit(folder)
  if (late !== undefined) return { status: { kind: 'exited', ...late } }
  if ((await readOwner(folder)) !== owner) return { status: { kind: 'absent' } }
  return { status: { kind: 'lost', reason: 'what watched it was killed, or the machine was restarted' } }
}
