import type { Principal, Refusal, Role } from '../authenticator.ts'
import { hasControls } from './password.ts'

/** How the claims of a token become somebody. */
export interface ClaimRules {
  /** Of the issuer: stands before who it says somebody is, so that no two issuers, and no user, share a name. */
  readonly name: string
  readonly nameClaim: string
  readonly platform: string
  readonly platformClaim?: string | undefined
  /** What everybody may. */
  readonly roles: readonly Role[]
  readonly rolesClaim?: string | undefined
  /** Without any, the values of the claim are the roles themselves. */
  readonly roleNames: readonly { readonly value: string; readonly role: Role }[]
}

const allRoles: readonly Role[] = ['platform', 'viewer', 'operator', 'admin']

/** Somebody whom the issuer vouches for, or why these claims are nobody. */
export function toPrincipal(claims: Readonly<Record<string, unknown>>, rules: ClaimRules): Principal | Refusal {
  const name = claimAt(claims, rules.nameClaim)
  if (typeof name !== 'string' || name === '' || name.length > 255 || hasControls(name))
    return { refused: `the token has no claim ${rules.nameClaim} with a name` }
  const platform = rules.platformClaim === undefined ? rules.platform : claimAt(claims, rules.platformClaim)
  // A slash would lead into the part of a platform that has a prefix.
  if (typeof platform !== 'string' || !/^[\w.-]{1,255}$/.test(platform))
    return { refused: `the token has no claim ${rules.platformClaim} with the name of a platform` }
  const roles = allRoles.filter(role => rules.roles.includes(role) || claimedRoles(claims, rules).includes(role))
  if (roles.length === 0) return { refused: 'the token gives no role here' }
  return Object.freeze({ name: `${rules.name}:${name}`, platform, roles })
}

function claimedRoles(
  claims: Readonly<Record<string, unknown>>,
  { rolesClaim, roleNames }: ClaimRules,
): readonly Role[] {
  if (rolesClaim === undefined) return []
  const given = claimAt(claims, rolesClaim)
  const values: readonly unknown[] = typeof given === 'string' ? given.split(' ') : Array.isArray(given) ? given : []
  if (roleNames.length === 0) return allRoles.filter(role => values.includes(role))
  return roleNames.filter(({ value }) => values.includes(value)).map(({ role }) => role)
}

/** `realm_access.roles` leads into an object; a name with a dot in it, such as a URL, is looked for as it is first. */
function claimAt(claims: Readonly<Record<string, unknown>>, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name]
  return name
    .split('.')
    .reduce<unknown>((value, key) => (Object.hasOwn(Object(value), key) ? Object(value)[key] : undefined), claims)
}
