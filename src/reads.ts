/** Reads: what requests, operators and lists look at. None of them waits for a lock or changes anything. */
import type { Binding } from './domain/binding.ts'
import type { HistoryEvent } from './domain/change.ts'
import type { Instance } from './domain/instance.ts'
import type { Operation, Step } from './domain/operation.ts'

export interface Reads {
  instance(id: string): Promise<Instance | undefined>
  binding(instanceId: string, id: string): Promise<Binding | undefined>
  /** Every binding of the instance that is not deleted. */
  bindings(instanceId: string): Promise<readonly Binding[]>
  operation(id: string): Promise<Operation | undefined>
  /** The steps of an operation, in the order in which they were first written. */
  steps(operationId: string): Promise<readonly Step[]>
  /** The history of one instance, oldest first. */
  history(instanceId: string): Promise<readonly HistoryEvent[]>
}
