/** A store that forgets everything when the process ends: for trying things out and for tests. */
export { createMemoryStore } from './store.ts'
