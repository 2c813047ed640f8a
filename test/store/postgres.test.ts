import { createSubject, describePostgres } from './postgres-subject.ts'
import { runStoreContract } from './run-contract.ts'

describePostgres('postgres', server => runStoreContract('postgres', () => createSubject(server)))
