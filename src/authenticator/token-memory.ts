import type { Memory, Principal, Remembered, Role } from '../authenticator.ts'

export interface TokenMemory extends Memory {
  /** From now on `remember` knows whom this issuer has vouched for. */
  note(principal: Principal, issuer: string, until?: number): void
}

/** Sessions of people whom a token stood for go on with what it said, for as long as its issuer is trusted. */
export function createTokenMemory(scheme: string, isTrusted: (issuer: string) => boolean): TokenMemory {
  const known = new WeakMap<Principal, Remembered>()
  return {
    note(principal, issuer, until) {
      const { name, platform, roles } = principal
      known.set(principal, { scheme, facts: { issuer, name, platform, roles }, until })
    },
    remember: async principal => known.get(principal),
    async recall({ scheme: of, facts: { issuer, name, platform, roles } }) {
      if (of !== scheme || !isTrusted(String(issuer))) return undefined
      return { name: String(name), platform: String(platform), roles: roles as readonly Role[] }
    },
  }
}
