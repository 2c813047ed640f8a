import { openWith } from '../../src/store/mongodb/open.ts'
import type { StoreSubject } from '../../src/testing/store-contract.ts'
import { createVirtualClock } from '../../src/testing/virtual-clock.ts'
import type { MongoServer } from '../external/mongodb.ts'
import { borrowDatabase, describeSharedMongo } from './mongodb-subject.ts'
import { runStoreContract } from './run-contract.ts'

/** However slow the machine is: no case depends on how long a database takes. */
const patience = 60_000

describeSharedMongo('mongodb', server =>
  runStoreContract('mongodb', () => createSubject(server()), { concurrent: true }),
)

function createSubject(server: Pick<MongoServer, 'url'>): StoreSubject {
  const clock = createVirtualClock()
  const { database, giveBack } = borrowDatabase(server)
  return {
    clock,
    durable: true,
    open: () => openWith({ url: server.url, database, statementTimeout: patience }, () => ({ $literal: clock.now() })),
    destroy: giveBack,
  }
}
