import type { Principal, Role } from '../../authenticator.ts'
import type { RunningChores } from '../../broker/chores/by-hand.ts'
import { BrokerError } from '../../protocol/errors.ts'
import type { HttpResponse } from '../message.ts'
import { methodNotAllowed } from '../method-not-allowed.ts'
import { listChoresEndpoint } from './list-chores.ts'
import { runChoreEndpoint } from './run-chore.ts'

/** What the operators' endpoints work with. */
export interface AdminContext {
  readonly chores: RunningChores
}

/** `name` is the segment that the path has for `:name`. */
export type AdminEndpoint = (context: AdminContext, name: string) => Promise<HttpResponse>

interface AdminRoute {
  readonly method: string
  /** One of these is needed. */
  readonly roles: readonly Role[]
  readonly endpoint: AdminEndpoint
}

/** The whole operators' API. The command and the console use nothing else. */
const routes: Readonly<Record<string, readonly AdminRoute[]>> = {
  '/admin/chores': [{ method: 'GET', roles: ['viewer', 'operator'], endpoint: listChoresEndpoint }],
  '/admin/chores/:name/runs': [{ method: 'POST', roles: ['operator'], endpoint: runChoreEndpoint }],
}

/** `/admin/v2/…` is the OSB API of a platform that is called admin. */
export function isAdminPath(path: string): boolean {
  return path === '/admin' || (path.startsWith('/admin/') && !path.startsWith('/admin/v2/'))
}

export async function handleAdmin(
  context: AdminContext,
  principal: Principal,
  method: string,
  path: string,
): Promise<HttpResponse> {
  const [, admin, first, name = '', ...rest] = path.split('/')
  const pattern = name === '' ? path : ['', admin, first, ':name', ...rest].join('/')
  const found = Object.hasOwn(routes, pattern) ? routes[pattern] : undefined
  if (found === undefined)
    throw new BrokerError('NotFound', `There is nothing at this path. There are ${Object.keys(routes).join(', ')}.`)
  const route = found.find(candidate => candidate.method === method)
  if (route === undefined) throw methodNotAllowed(found.map(candidate => candidate.method))
  checkRoles(principal, route.roles)
  return route.endpoint(context, decode(name))
}

function checkRoles(principal: Principal, needed: readonly Role[]): void {
  if (needed.some(role => principal.roles.includes(role))) return
  throw new BrokerError(
    'Forbidden',
    `This needs the role ${needed.join(' or ')}; these credentials have ${principal.roles.join(', ') || 'none'}. Roles are set in auth.basic[].roles.`,
  )
}

/** A broken escape is nobody's name. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
