/** Which runtime runs a program, and which one has a sandbox. Both follow from what the runtimes say about themselves. */
import { programKindOf, type Revision } from '../../domain/revision.ts'
import { type ProgramKind, type Runtime, SandboxRefusedError } from '../../sandbox.ts'

/** The first runtime that runs this kind of program. Throws SandboxRefusedError where there is none. */
export function pickRuntime(runtimes: readonly Runtime[], revision: Pick<Revision, 'image' | 'fullName'>): Runtime {
  const kind = programKindOf(revision)
  const found = runtimes.find(({ runs }) => runs.includes(kind))
  if (found === undefined) throw new SandboxRefusedError(`${revision.fullName} ${refusals[kind]}`)
  return found
}

const refusals: Readonly<Record<ProgramKind, string>> = {
  folder: 'is a folder, which bundles.runtime does not run; set it to auto or process',
  image:
    'is an image, and no container engine was found or bundles.runtime is process; set bundles.socket, and bundles.runtime to auto or container',
}

/** Where a sandbox is, as the ledger keeps it. */
export interface SandboxPlace {
  /** The type of its runtime. */
  readonly runtime: string
  /** Absent where it can be reached from every host. */
  readonly host?: string
}

export function placeOn({ type, reach }: Runtime, host: string): SandboxPlace {
  return reach === 'anywhere' ? { runtime: type } : { runtime: type, host }
}

/** The runtime that has the sandbox; undefined where this process cannot reach it. */
export function runtimeAt(
  { runtimes, host }: { readonly runtimes: readonly Runtime[]; readonly host: string },
  place: SandboxPlace,
): Runtime | undefined {
  return runtimes.find(({ type, reach }) => type === place.runtime && (reach === 'anywhere' || place.host === host))
}
