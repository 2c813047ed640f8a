import type { Operation } from '../domain/operation.ts'
import { BrokerError } from '../protocol/errors.ts'
import type { Reads } from '../reads.ts'

export async function findOperation(store: Pick<Reads, 'operation'>, id: string): Promise<Operation> {
  const operation = await store.operation(id)
  if (operation !== undefined) return operation
  throw new BrokerError('UnknownOperation', `There is no operation "${id}". It may have been cleaned up.`)
}
