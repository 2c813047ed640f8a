import type { Principal, Role } from '../../authenticator.ts'
import type { RunningChores } from '../../broker/chores/by-hand.ts'
import type { BrokerContext } from '../../broker/context.ts'
import type { OperationChanges } from '../../broker/operation-changes.ts'
import type { Acting } from '../../domain/operator.ts'
import type { RefusedSignIn } from '../../domain/refused-sign-ins.ts'
import type { LogLevels } from '../../observer/levels.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpRequest, HttpResponse } from '../message.ts'
import { readJsonObject } from '../read-body.ts'
import { methodNotAllowed } from '../respond.ts'
import type { Sessions } from '../sessions.ts'
import { refuseCrossSite } from './cross-site.ts'
import { answerOnce, type Once } from './once.ts'
import { checkRole } from './roles.ts'
import { type AdminRoutes, adminRoutes } from './routes.ts'
import { handleSession, sessionPath } from './session.ts'
import type { Streams } from './streams.ts'

/** What the operators' endpoints work with. */
export interface AdminContext {
  readonly broker: BrokerContext
  readonly chores: RunningChores
  readonly publicUrl?: string
  readonly sessions: Sessions
  readonly countRefused: (refused: RefusedSignIn) => void
  /** Where the broker writes the log itself. */
  readonly log?: LogLevels
  /** The registries of the configuration, in its order. */
  readonly registries?: readonly { readonly name: string; readonly type: string }[]
  readonly bodyLimit: number
  readonly streams: Streams
  readonly changes: OperationChanges
  /** The process that answers. */
  readonly worker: OwnWorker
}

/** What this process says of itself. */
export interface OwnWorker {
  readonly owner: string
  describe(): JsonObject
}

/** A request of an operator who may send it. */
export interface AdminRequest {
  /** The segment that the path has for the part with a colon. */
  readonly id: string
  /** Not decoded. */
  readonly query: string
  /** Who asks, and what of the row is known to them; the reason stands in the body. */
  readonly acting: Omit<Acting, 'reason' | 'remember'>
  /** Refuses who lacks the role, where the body says that it is needed. */
  readonly needs: (role: Role) => void
  /** Where the answer has to be kept with what is changed. */
  readonly once?: Once
  /** Names in lower case. */
  readonly headers: HttpRequest['headers']
  readonly principal: Principal
  /** Empty where the request has none. */
  body(): Promise<JsonObject>
}

export type AdminEndpoint = (
  context: AdminContext & { readonly routes: AdminRoutes },
  request: AdminRequest,
) => Promise<HttpResponse>

const patterns = Object.entries(adminRoutes).map(([key, route]) => {
  const name = key.replace(/^\w+ /, '')
  return { name, route, parts: name.split('/') }
})

export function isAdminPath(path: string): boolean {
  return path === '/admin' || path.startsWith('/admin/')
}

export async function handleAdmin(
  context: AdminContext,
  exchange: Exchange,
  principal: Principal,
): Promise<HttpResponse> {
  refuseCrossSite(exchange, context.publicUrl)
  if (exchange.path === sessionPath) {
    const { observer, storeNow } = context.broker
    return handleSession({ ...context, observer, now: storeNow() }, exchange, principal)
  }
  const segments = exchange.path.split('/')
  const [first, ...others] = patterns.filter(({ parts }) => fits(parts, segments))
  if (first === undefined)
    throw new BrokerError(
      'NotFound',
      `There is nothing at this path. There are ${[...new Set(patterns.map(({ name }) => name)), sessionPath].join(', ')}.`,
    )
  exchange.route = first.name
  const pattern = [first, ...others].find(({ route }) => route.method === exchange.method)
  if (pattern === undefined) throw methodNotAllowed([first, ...others].map(({ route }) => route.method))
  const { route } = pattern
  checkRole(principal, route.role)
  const { request, queryText, address, requestId, traceparent } = exchange
  let reading: Promise<JsonObject> | undefined
  const body = () => {
    reading ??= readJsonObject(request, context.bodyLimit, {})
    return reading
  }
  const { broker } = context
  const keyed = {
    key: exchange.method === 'POST' ? exchange.headers['idempotency-key'] : undefined,
    principal: principal.name,
    path: `${exchange.path}?${queryText}`,
    body,
    now: broker.storeNow,
  }
  return answerOnce(broker.store, keyed, once =>
    route.endpoint(
      { ...context, routes: adminRoutes },
      {
        id: decode(segments[pattern.parts.findIndex(part => part.startsWith(':'))] ?? ''),
        query: queryText,
        headers: exchange.headers,
        principal,
        acting: {
          by: principal.name,
          address,
          requestId,
          traceparent,
          seen: readIfMatch(exchange.headers['if-match']),
        },
        needs: role => checkRole(principal, role),
        once,
        body,
      },
    ),
  )
}

/** The versions that are named; undefined where any will do. */
function readIfMatch(header: string | undefined): readonly string[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined
  return header.split(',').map(tag => tag.trim().replace(/^"(.*)"$/, '$1'))
}

/** A part with a colon stands for any segment that is not empty. */
function fits(parts: readonly string[], segments: readonly string[]): boolean {
  if (parts.length !== segments.length) return false
  return parts.every((part, index) => (part.startsWith(':') ? segments[index] !== '' : part === segments[index]))
}

/** A segment with a broken percent-escape is taken as it is: nothing has that name, so it is not found. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
