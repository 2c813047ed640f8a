import type { Authenticator, Principal } from '../authenticator.ts'

/** Lets everybody in, with every role. For a broker without credentials, which listens on this machine only. */
export function createOpenAuthenticator(): Authenticator {
  const roles = ['platform', 'admin'] as const
  const everybody: Principal = Object.freeze({ name: 'anonymous', platform: 'default', roles })
  return { scheme: 'none', authenticate: () => everybody }
}
