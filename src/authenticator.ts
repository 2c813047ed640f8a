/** Who sent a request: the outcome of every authentication scheme. */
export interface Principal {
  readonly name: string
  /** The platform that these credentials stand for; rows remember it. */
  readonly platform: string
  readonly roles: readonly Role[]
}

/** `platform` may use the OSB API; `viewer` and `operator` are for the operators' view. */
export type Role = 'platform' | 'viewer' | 'operator'

export interface Authenticator {
  /** The value of WWW-Authenticate when nobody could be recognised. */
  readonly challenge: string
  /** Decides from the request's headers alone, before anything else is read. Never throws on bad input. */
  authenticate(
    headers: Readonly<Record<string, string | undefined>>,
  ): Principal | undefined | Promise<Principal | undefined>
}
