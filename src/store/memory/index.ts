/** A store that forgets everything when the process ends: for trying things out and for tests. */

export { createKeyring, type LabelledKey } from '../keyring.ts'
export { createMemoryStore, type MemoryStoreOptions } from './store.ts'
