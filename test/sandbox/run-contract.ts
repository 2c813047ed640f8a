import { describe, it } from 'vitest'
import { type SandboxSubject, sandboxContract } from '../../src/testing/sandbox-contract.ts'

export interface ContractOptions {
  readonly reason?: string | undefined
  readonly isolates: boolean
  /** Its cases wait for others more than they compute. */
  readonly concurrent?: boolean
}

/** Runs every case of the suite on a subject of its own; what cannot be run here is skipped with its reason. */
export function runSandboxContract(
  name: string,
  create: () => SandboxSubject | Promise<SandboxSubject>,
  { reason, isolates, concurrent = false }: ContractOptions,
): void {
  describe(`sandbox contract: ${name}`, { concurrent }, () => {
    for (const { name, needsIsolation, run } of sandboxContract) {
      const why = reason ?? (needsIsolation && !isolates ? 'it has no network of its own' : undefined)
      it.skipIf(why !== undefined)(why === undefined ? name : `${name} (skipped: ${why})`, async () => {
        const subject = await create()
        try {
          await run(subject)
        } finally {
          await subject.destroy()
        }
      })
    }
  })
}
