import { createMemoryStore } from '../../src/store/memory/index.ts'
import type { StoreSubject } from '../../src/testing/store-contract.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import { runStoreContract } from './run-contract.ts'

const reason = 'memory ends with the process'

runStoreContract('memory', createSubject, { reason })

function createSubject(): StoreSubject {
  const clock = createVirtualClock()
  const store = createMemoryStore({ clock })
  return { clock, durable: false, reason, open: async () => store, destroy: async () => {} }
}
