import type { BrokerContext, Caller } from '../../broker/context.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { Query } from '../../protocol/query.ts'
import type { HttpResponse } from '../message.ts'

/** A request to the OSB API after everything that is the same for all endpoints: authenticated, versioned, routed. */
export interface OsbRequest {
  readonly caller: Caller
  /** The announced minor version; answers are trimmed to it. */
  readonly minor: number
  readonly instanceId: string
  readonly bindingId: string
  readonly query: Query
  /** Whether the platform takes a 202. */
  readonly acceptsIncomplete: boolean
  readonly ifNoneMatch: string | undefined
  body(): Promise<JsonObject>
}

/** An answer that is known at once needs no promise. */
export type Endpoint = (broker: BrokerContext, request: OsbRequest) => HttpResponse | Promise<HttpResponse>
