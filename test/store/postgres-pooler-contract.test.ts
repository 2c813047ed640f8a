import { describePooled } from './pooler-subject.ts'
import { createSubject } from './postgres-subject.ts'
import { runStoreContract } from './run-contract.ts'

describePooled('postgres behind pgbouncer', place => {
  runStoreContract('postgres behind pgbouncer', () => createSubject(place().server, undefined, place().pooler.url))
})
