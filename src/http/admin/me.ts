import { json } from '../respond.ts'
import type { AdminEndpoint } from './admin-app.ts'
import { operatorRoles, refusalOf } from './roles.ts'

/** GET /admin/me: who asks, and what may be done with these credentials. A page shows no button that would be refused. */
export const showMeEndpoint: AdminEndpoint = async ({ routes }, { principal }) => {
  const { name, platform, roles } = principal
  const verbs = Object.entries(routes).filter(([, { method }]) => method !== 'GET')
  const judged = verbs.map(([path, { role }]) => {
    const reason = refusalOf(principal, role)
    return [nameOf(path), { allowed: reason === undefined, reason }] as const
  })
  return json(200, {
    name,
    platform,
    roles: [...roles],
    role: operatorRoles.findLast(role => roles.includes(role)),
    allowed_actions: Object.fromEntries(judged),
  })
}

/** `/admin/operations/:id/retry` is `operations/retry`. */
function nameOf(path: string): string {
  return path
    .split('/')
    .slice(2)
    .filter(part => !part.startsWith(':'))
    .join('/')
}
