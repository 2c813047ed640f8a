import { describe, it } from 'vitest'
import { type StoreCase, type StoreSubject, storeContract } from '../../src/testing/store-contract.ts'

export interface ContractOptions {
  readonly cases?: readonly StoreCase[]
  /** Why the subject cannot do what needs durability. */
  readonly reason?: string
  /** Several cases at once, where each subject is apart from the others and waits more than it computes. */
  readonly concurrent?: boolean
}

/** Runs every case of the suite on a subject of its own; what a subject cannot do is skipped with its reason. */
export function runStoreContract(
  name: string,
  create: () => StoreSubject | Promise<StoreSubject>,
  { cases = storeContract, reason, concurrent = false }: ContractOptions = {},
): void {
  describe(`store contract: ${name}`, { concurrent }, () => {
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
