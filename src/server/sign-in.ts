import { readFile } from 'node:fs/promises'
import { type BasicAuthenticator, createBasicAuthenticator, type PasswordRule } from '../authenticator/basic.ts'
import type { KeySet } from '../authenticator/key-set.ts'
import { type Authenticator, combineAuthenticators } from '../authenticator.ts'
import { systemClock, wallClock } from '../clock.ts'
import { type Observer, toError } from '../observer.ts'
import type { Config } from './config.ts'

type SignInConfig = Pick<Config, 'auth' | 'server'>

export interface SignIn {
  /** The same object whatever is changed behind it. */
  readonly authenticator: Authenticator
  /** Rejects where this cannot be used. It counts when what it answers is called; requests on their way end as they began. */
  prepare(config: SignInConfig): Promise<() => void>
}

/** All schemes that are configured, side by side. Each library is loaded only where its scheme is. */
export async function openSignIn(
  config: SignInConfig,
  observer: Observer,
  passwordRule: PasswordRule,
): Promise<SignIn> {
  let basic: BasicAuthenticator | undefined
  /** By URL: they are not asked for anew because something else has changed. */
  const keySets = new Map<string, KeySet>()
  let current: Authenticator | undefined

  async function prepare({ auth, server }: SignInConfig): Promise<() => void> {
    const others = [
      ...(await openTokens(auth)),
      ...(await openCertificates({ auth, server })),
      ...(await openOpenId({ auth, server })),
    ]
    return () => {
      current = combineAuthenticators([...setBasic(auth), ...others])
    }
  }

  /** What is remembered of passwords goes on. */
  function setBasic({ basic: users }: Config['auth']): readonly Authenticator[] {
    if (users.length === 0) basic = undefined
    else if (basic === undefined) basic = createBasicAuthenticator(users, systemClock, passwordRule)
    else basic.setUsers(users)
    return basic === undefined ? [] : [basic]
  }

  async function openTokens({ jwt }: Config['auth']): Promise<readonly Authenticator[]> {
    if (jwt.length === 0) return []
    const { createJwtAuthenticator } = await import('../authenticator/jwt.ts')
    const issuers = await Promise.all(jwt.map(async issuer => ({ ...issuer, keys: await openKeys(issuer) })))
    return [createJwtAuthenticator(issuers)]
  }

  /** Those of a file have to be there; those of a URL are asked for with the first token. */
  async function openKeys({ issuer, keysUrl, keysFile }: Config['auth']['jwt'][number]): Promise<KeySet> {
    const { createKeySet } = await import('../authenticator/key-set.ts')
    const { fetchJson } = await import('../authenticator/fetch-json.ts')
    const onFailure = (error: unknown) =>
      observer['authentication.keysUnavailable']?.({ issuer, error: toError(error) })
    if (keysUrl !== undefined) {
      const keys = keySets.get(keysUrl) ?? createKeySet({ load: () => fetchJson(keysUrl), clock: wallClock, onFailure })
      keySets.set(keysUrl, keys)
      return keys
    }
    const file = keysFile ?? ''
    const keys = createKeySet({
      load: async () => JSON.parse(await readFile(file, 'utf8')),
      clock: wallClock,
      onFailure,
    })
    await keys.refresh().catch(cause => {
      throw new Error(`the keys of ${issuer} in ${file} cannot be used: it must be a JWKS`, { cause })
    })
    return keys
  }

  async function openCertificates({ auth, server: { tls } }: SignInConfig): Promise<readonly Authenticator[]> {
    if (auth.certificates.length === 0) return []
    const { createCertificateAuthenticator } = await import('../authenticator/certificates.ts')
    const { readRevoked } = await import('../authenticator/revoked.ts')
    const { readTrusted } = await import('../authenticator/trusted.ts')
    const trusted = tls?.ca === undefined ? undefined : readTrusted(await readFile(tls.ca, 'utf8'))
    const revoked = tls?.crl === undefined ? undefined : readRevoked(await readFile(tls.crl, 'utf8'))
    return [createCertificateAuthenticator(auth.certificates, { revoked, trusted })]
  }

  async function openOpenId({ auth: { oidc }, server }: SignInConfig): Promise<readonly Authenticator[]> {
    if (oidc === undefined) return []
    const { createOpenIdAuthenticator } = await import('../authenticator/openid.ts')
    const { issuer } = oidc
    const onFailure = (error: unknown) => observer['authentication.providerFailed']?.({ issuer, error: toError(error) })
    return [createOpenIdAuthenticator({ ...oidc, redirectUri: `${server.publicUrl}/console/signed-in`, onFailure })]
  }

  const use = await prepare(config)
  use()
  const now = () => current as Authenticator
  return {
    prepare,
    authenticator: {
      get scheme() {
        return now().scheme
      },
      get challenge() {
        return now().challenge ?? []
      },
      get memory() {
        return now().memory
      },
      get signIn() {
        return now().signIn
      },
      authenticate: request => now().authenticate(request),
    },
  }
}
