import { constants } from 'node:fs'
import { access, realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve } from 'node:path'
import { type SandboxProgram, SandboxRefusedError, type SandboxSpec } from '../../sandbox.ts'
import type { Containment } from './containment.ts'

export interface Program {
  readonly folder: string
  readonly file: string
}

/** The file that is to be run, by its real path. Throws where there is none that may be run. */
export async function findProgram(program: SandboxProgram): Promise<Program> {
  if (program.kind !== 'folder')
    throw new SandboxRefusedError(
      'the process runtime runs bundles in folders, and this is an image; use the container runtime',
    )
  const { entrypoint = 'entrypoint.sh' } = program
  const folder = await realpath(program.folder).catch(() => {
    throw new SandboxRefusedError(`the bundle's folder ${program.folder} cannot be found; correct the registry's path`)
  })
  const file = await realpath(resolve(folder, entrypoint)).catch(() => {
    throw new SandboxRefusedError(`${folder} has no ${entrypoint}; add it, or name another "entrypoint" in the spec`)
  })
  const inside = relative(folder, file)
  if (isAbsolute(entrypoint) || inside.startsWith('..') || isAbsolute(inside))
    throw new SandboxRefusedError(`the entrypoint ${entrypoint} is outside of ${folder}; move it into the bundle`)
  await access(file, constants.X_OK).catch(() => {
    throw new SandboxRefusedError(`${file} is not executable; run chmod +x on it`)
  })
  return { folder, file }
}

/** Throws where the machine cannot keep what the spec asks for: a limit that is not kept would be a lie. */
export function checkKept({ network, limits }: SandboxSpec, { network: isolated, counts }: Containment): void {
  if (network === 'none' && !isolated)
    throw new SandboxRefusedError(
      'this machine lets no process be cut off from the network; allow it the network, or use the container runtime',
    )
  if ((limits.memory !== undefined || limits.processes !== undefined) && !counts)
    throw new SandboxRefusedError(
      'memory and processes cannot be limited on this machine; take the limits out, or use the container runtime',
    )
}
