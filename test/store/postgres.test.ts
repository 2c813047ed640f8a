import { createSubject, describeSharedPostgres } from './postgres-subject.ts'
import { runStoreContract } from './run-contract.ts'

describeSharedPostgres('postgres', server => runStoreContract('postgres', () => createSubject(server)))
