import type { Principal, Role } from '../../authenticator.ts'
import type { RunningChores } from '../../broker/chores/by-hand.ts'
import type { BrokerContext } from '../../broker/context.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { Exchange } from '../exchange.ts'
import type { HttpResponse } from '../message.ts'
import { methodNotAllowed } from '../respond.ts'
import { listChoresEndpoint, runChoreEndpoint } from './chores.ts'
import { refuseCrossSite } from './cross-site.ts'
import { readLogEndpoint } from './read-log.ts'
import { listRegistriesEndpoint, syncRegistriesEndpoint } from './registries.ts'

/** What the operators' endpoints work with. */
export interface AdminContext {
  readonly broker: BrokerContext
  readonly chores: RunningChores
  readonly publicUrl?: string
  /** The registries of the configuration, in its order. */
  readonly registries?: readonly { readonly name: string; readonly type: string }[]
  readonly bodyLimit: number
}

/** `name` is the segment that the path has for the part with a colon. */
export type AdminEndpoint = (context: AdminContext, name: string) => Promise<HttpResponse>

interface AdminRoute {
  readonly method: string
  /** One of these is needed. */
  readonly roles: readonly Role[]
  readonly endpoint: AdminEndpoint
}

/** The whole operators' API. The command and the console use nothing else. */
const routes: Readonly<Record<string, AdminRoute>> = {
  '/admin/chores': { method: 'GET', roles: ['viewer', 'operator'], endpoint: listChoresEndpoint },
  '/admin/chores/:name/runs': { method: 'POST', roles: ['operator'], endpoint: runChoreEndpoint },
  '/admin/registries': { method: 'GET', roles: ['viewer', 'operator'], endpoint: listRegistriesEndpoint },
  '/admin/registries/sync': { method: 'POST', roles: ['operator'], endpoint: syncRegistriesEndpoint },
  '/admin/operations/:id/log': { method: 'GET', roles: ['viewer', 'operator'], endpoint: readLogEndpoint },
}

const patterns = Object.keys(routes).map(name => ({ name, parts: name.split('/') }))

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
  const route = pattern && routes[pattern.name]
  if (pattern === undefined || route === undefined)
    throw new BrokerError('NotFound', `There is nothing at this path. There are ${Object.keys(routes).join(', ')}.`)
  exchange.route = pattern.name
  if (route.method !== exchange.method) throw methodNotAllowed([route.method])
  checkRoles(principal, route.roles)
  return route.endpoint(context, decode(segments[pattern.parts.findIndex(part => part.startsWith(':'))] ?? ''))
}

/** A part with a colon stands for any segment that is not empty. */
function fits(parts: readonly string[], segments: readonly string[]): boolean {
  if (parts.length !== segments.length) return false
  return parts.every((part, index) => (part.startsWith(':') ? segments[index] !== '' : part === segments[index]))
}

export function checkRoles(principal: Principal, needed: readonly Role[]): void {
  if (needed.some(role => principal.roles.includes(role))) return
  throw new BrokerError(
    'Forbidden',
    `This needs the role ${needed.join(' or ')}; these credentials have ${principal.roles.join(', ') || 'none'}. Roles are set in auth.basic[].roles.`,
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
