import { describe, it } from 'vitest'
import { type StoreCase, type StoreSubject, storeContract } from '../../src/testing/store-contract.ts'

/** Runs every case of the suite on a subject of its own; what a subject cannot do is skipped with its reason. */
export function runStoreContract(
  name: string,
  create: () => StoreSubject | Promise<StoreSubject>,
  reason?: string,
  cases: readonly StoreCase[] = storeContract,
): void {
  describe(`store contract: ${name}`, () => {
    for (const { name, needsDurability, run } of cases) {
      const skipped = needsDurability && reason !== undefined
      it.skipIf(skipped)(skipped ? `${name} (skipped: ${reason})` : name, async () => {
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
