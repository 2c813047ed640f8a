import type { Binding } from '../domain/binding.ts'
import type { Instance } from '../domain/instance.ts'
import type { Action } from '../protocol/actions.ts'
import type { Offering } from '../protocol/offering.ts'
import type { ActionContext } from './context.ts'
import type { Service } from './define-service.ts'

type Awaitable<T> = T | Promise<T>

/**
 * Runs around actions, in the order of the list. `before` and `after` are steps of the operation: each succeeds once,
 * however often the operation runs, and a TerminalError in them fails it.
 */
export interface Hook {
  /** Unique: it names the checkpoints. */
  readonly name: string
  /** The actions it is for; all of the platform's actions where absent. */
  readonly actions?: readonly Action[]
  before?(ctx: ActionContext): Awaitable<void>
  after?(ctx: ActionContext): Awaitable<void>
  /** The action has failed for good. What it throws is logged and changes nothing. */
  error?(ctx: ActionContext, error: unknown): Awaitable<void>
}

export interface LedgerView {
  instance(id: string): Promise<Instance | undefined>
  binding(instanceId: string, id: string): Promise<Binding | undefined>
}

/** A route of the author's own, outside the OSB API. It authenticates its callers itself. */
export interface Route {
  readonly method: string
  /** A path, or a prefix that ends in `/*`. */
  readonly path: string
  /** Bytes: a longer body is answered 413. `server.bodyLimit` unless it is given. The body is read as `handle` reads it. */
  readonly bodyLimit?: number
  handle(request: Request, ledger: LedgerView): Awaitable<Response>
}

export interface BrokerDefinition {
  readonly services: readonly Service[]
  /** A YAML file with the catalog, or the offerings themselves, for services that have only actions in code. */
  readonly catalog?: string | readonly Offering[]
  readonly hooks?: readonly Hook[]
  readonly routes?: readonly Route[]
  /** Takes over GET of the catalog: gets what would be shown to this platform and returns what is. */
  presentCatalog?(offerings: readonly Offering[], platform: string): Awaitable<readonly Offering[]>
}

/** A broker is its services; everything around them is ours. What comes back is data: `createBroker` runs it. */
export function defineBroker(definition: BrokerDefinition): BrokerDefinition {
  return definition
}
