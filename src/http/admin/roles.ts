import type { Principal, Role } from '../../authenticator.ts'
import { BrokerError } from '../../protocol/errors.ts'

/** Each may do what those before it may. */
export const operatorRoles: readonly Role[] = ['viewer', 'operator', 'admin']

export function checkRole(principal: Principal, least: Role): void {
  const refusal = refusalOf(principal, least)
  if (refusal !== undefined) throw new BrokerError('Forbidden', refusal)
}

/** Why these credentials are not enough; undefined where they are. */
export function refusalOf({ roles }: Principal, least: Role): string | undefined {
  const enough = operatorRoles.slice(operatorRoles.indexOf(least))
  if (enough.some(role => roles.includes(role))) return undefined
  return `This needs the role ${enough.join(' or ')}; these credentials have ${roles.join(', ') || 'none'}. Roles are set in auth.`
}
