import type { Authenticator } from '../authenticator.ts'

/** The first one that recognises a request decides; a request that none of them does is asked by all. */
export function createSeveralAuthenticator(authenticators: readonly Authenticator[]): Authenticator {
  const [only] = authenticators
  if (authenticators.length === 1 && only !== undefined) return only
  return {
    challenge: authenticators.map(({ challenge }) => challenge).join(', '),
    async authenticate(headers) {
      for (const authenticator of authenticators) {
        const principal = await authenticator.authenticate(headers)
        if (principal !== undefined) return principal
      }
      return undefined
    },
  }
}
