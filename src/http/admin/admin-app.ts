import type { Principal, Role } from '../../authenticator.ts'
import type { RunningChores } from '../../broker/chores/by-hand.ts'
import type { BrokerContext } from '../../broker/context.ts'
import type { Acting } from '../../domain/operator.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { JsonObject } from '../../protocol/json.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpResponse } from '../message.ts'
import { readJsonObject } from '../read-body.ts'
import { methodNotAllowed } from '../respond.ts'
import { refuseCrossSite } from './cross-site.ts'
import { adminRoutes } from './routes.ts'

/** What the operators' endpoints work with. */
export interface AdminContext {
  readonly broker: BrokerContext
  readonly chores: RunningChores
  readonly publicUrl?: string
  /** The registries of the configuration, in its order. */
  readonly registries?: readonly { readonly name: string; readonly type: string }[]
  readonly bodyLimit: number
}

/** A request of an operator who may send it. */
export interface AdminRequest {
  /** The segment that the path has for the part with a colon. */
  readonly id: string
  /** Not decoded. */
  readonly query: string
  /** Who asks; the reason stands in the body. */
  readonly acting: Omit<Acting, 'reason'>
  /** Empty where the request has none. */
  body(): Promise<JsonObject>
}

export type AdminEndpoint = (context: AdminContext, request: AdminRequest) => Promise<HttpResponse>

const patterns = Object.keys(adminRoutes).map(name => ({ name, parts: name.split('/') }))

export function isAdminPath(path: string): boolean {
  return path === '/admin' || path.startsWith('/admin/')
}

export async function handleAdmin(
  context: AdminContext,
  exchange: Exchange,
  principal: Principal,
): Promise<HttpResponse> {
  refuseCrossSite(exchange, context.publicUrl)
  const segments = exchange.path.split('/')
  const pattern = patterns.find(({ parts }) => fits(parts, segments))
  const route = pattern && adminRoutes[pattern.name]
  if (pattern === undefined || route === undefined)
    throw new BrokerError(
      'NotFound',
      `There is nothing at this path. There are ${Object.keys(adminRoutes).join(', ')}.`,
    )
  exchange.route = pattern.name
  if (route.method !== exchange.method) throw methodNotAllowed([route.method])
  checkRole(principal, route.role)
  const { request, queryText, requestId } = exchange
  return route.endpoint(context, {
    id: decode(segments[pattern.parts.findIndex(part => part.startsWith(':'))] ?? ''),
    query: queryText,
    acting: { by: principal.name, requestId },
    body: () => readJsonObject(request, context.bodyLimit, {}),
  })
}

/** A part with a colon stands for any segment that is not empty. */
function fits(parts: readonly string[], segments: readonly string[]): boolean {
  if (parts.length !== segments.length) return false
  return parts.every((part, index) => (part.startsWith(':') ? segments[index] !== '' : part === segments[index]))
}

/** Each may do what those before it may. */
const operatorRoles: readonly Role[] = ['viewer', 'operator', 'admin']

export function checkRole(principal: Principal, least: Role): void {
  const enough = operatorRoles.slice(operatorRoles.indexOf(least))
  if (enough.some(role => principal.roles.includes(role))) return
  throw new BrokerError(
    'Forbidden',
    `This needs the role ${enough.join(' or ')}; these credentials have ${principal.roles.join(', ') || 'none'}. Roles are set in auth.basic[].roles.`,
  )
}

/** A segment with a broken percent-escape is taken as it is: nothing has that name, so it is not found. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
