/**
 * `purser/testing`: what this project tests itself with. Suites are data, so that any test runner can run them; a store of
 * your own is a store when it passes `storeContract`, a registry with `registryContract`, a runtime with `sandboxContract`.
 */
export { createOsbClient, type OsbClient, pollUntilDone } from '../client/index.ts'
export {
  type CrashableStore,
  type CrashPoint,
  type CrashPoints,
  createCrashableStore,
  createCrashPoints,
} from './crash-points.ts'
export { createLedgerWatch, type LedgerWatch } from './ledger-watch.ts'
export { type RegistryCase, type RegistrySubject, registryContract } from './registry-contract.ts'
export { type SandboxCase, type SandboxSubject, sandboxContract } from './sandbox-contract.ts'
export type { SubjectClock } from './store-contract/subject.ts'
export {
  chainContract,
  ledgerContract,
  marketplaceContract,
  notesContract,
  readsContract,
  type StoreCase,
  type StoreSubject,
  storeContract,
  upkeepContract,
} from './store-contract.ts'
export { startTestBroker, type TestBroker, type TestBrokerOptions, type Transport } from './test-broker.ts'
export { createVirtualClock, type VirtualClock } from './virtual-clock.ts'
