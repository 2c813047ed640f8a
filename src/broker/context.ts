import type { BindingInfo, InstanceInfo } from '../author/context.ts'
import type { Clock } from '../clock.ts'
import type { Binding } from '../domain/binding.ts'
import type { Queue } from '../engine/queue.ts'
import type { Place } from '../engine/worker.ts'
import type { Observer } from '../observer.ts'
import type { JsonObject } from '../protocol/json.ts'
import type { ReadSettings } from '../settings/settings.ts'
import type { Store } from '../store.ts'
import type { Tracer } from '../tracer.ts'
import type { Gates } from './gates/gates.ts'
import type { RegisteredCatalog } from './registries/registered-catalog.ts'
import type { ServiceIndex } from './resolve-services.ts'

/** What the use cases work with. */
export interface BrokerContext {
  readonly services: ServiceIndex
  /** Where registries are configured: what came from them. */
  readonly registered?: RegisteredCatalog
  readonly store: Store
  readonly clock: Clock
  /** The store's clock, as well as it is known here: what the ledger's times are compared with. */
  readonly storeNow: () => number
  readonly observer: Observer
  /** Refuses new work that could not begin in time. */
  readonly queue: Pick<Queue, 'enter'>
  /** What operators refuse for a while. */
  readonly gates: Gates
  /** Where the worker has a place for what is accepted here, it need not look for it in the ledger. */
  readonly offerPlace: () => Place | undefined
  /** Where traces are on. */
  readonly tracer?: Tracer
  readonly settings: ReadSettings
  /** Aborted when the process stops: requests that wait for an operation are answered. */
  readonly stopping: AbortSignal
}

/** What a platform asks for. */
export interface Asked<Request> {
  readonly instanceId: string
  readonly request: Request
  /** The platform takes a 202 and polls. */
  readonly acceptsIncomplete: boolean
}

export interface AskedOfBinding<Request> extends Asked<Request> {
  readonly bindingId: string
}

/** Who asks, and how. */
export interface Caller {
  readonly platform: string
  /** The originating identity, as far as it could be read. */
  readonly identity: JsonObject | undefined
  readonly requestId: string | undefined
  /** Who has signed in, and from where. */
  readonly principal?: { readonly name: string } | undefined
  readonly address?: string | undefined
  /** The W3C trace context, where the client sent it. */
  readonly traceparent?: string | undefined
  /** Told which operation the request has started or repeats. */
  readonly onOperation?: ((operationId: string) => void) | undefined
  /** Where this broker is reached, for URLs in answers. No slash at its end. */
  readonly baseUrl: () => string
}

/** What authors see of an instance, and nothing else that its row has. */
export function toInstanceInfo(instance: InstanceInfo): InstanceInfo {
  const { id, serviceId, planId, platform, context, parameters, maintenanceVersion } = instance
  return { id, serviceId, planId, platform, context, parameters, maintenanceVersion }
}

export function toBindingInfo({ id, appGuid, bindResource, context, predecessorId }: Binding): BindingInfo {
  return { id, appGuid, bindResource, context, predecessorId }
}
