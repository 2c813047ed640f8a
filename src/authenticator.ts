/** Who sent a request: what every authentication scheme answers in the end. */
export interface Principal {
  readonly name: string
  /** The platform that these credentials stand for; rows remember it. */
  readonly platform: string
  readonly roles: readonly Role[]
}

/** `platform` may use the OSB API. The others are for the operators' API; each of them may do what those before it may. */
export type Role = 'platform' | 'viewer' | 'operator' | 'admin'

/** What a scheme may look at. The body is not read yet. */
export interface AuthenticationRequest {
  readonly method: string
  /** Without the query. */
  readonly path: string
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string | undefined>>
  /** The client's IP address, or that of the last proxy; absent where the host application does not tell. */
  readonly address?: string | undefined
  /** Absent where the connection is not encrypted, or the host application does not tell. */
  readonly tls?: TlsConnection | undefined
  /** The same object for all requests of a connection; absent where the host application does not tell. */
  readonly connection?: object | undefined
}

export interface TlsConnection {
  /** For example `TLSv1.3`. */
  readonly protocol: string
  /** Whether the client showed a certificate that a trusted CA has signed. */
  readonly authorized: boolean
  /** What the client showed, trusted or not. */
  readonly certificate?: PeerCertificate
}

export interface PeerCertificate {
  /** For example `CN=cf,O=platform`. */
  readonly subject: string
  readonly issuer: string
  /** The subject alternative names, for example `DNS:cf.example` or `URI:spiffe://example/cf`. */
  readonly names: readonly string[]
  /** SHA-256 in hexadecimal digits with colons. */
  readonly fingerprint: string
  /** The certificate itself, in DER. */
  raw(): Uint8Array
}

/** The request has credentials of this kind, and they are not good. */
export interface Refusal {
  /** Why, for operators. Holds no secret and nothing that a client sent; clients never see it. */
  readonly refused: string
  /** Instead of the scheme's own: for example `Bearer error="invalid_token"`. */
  readonly challenge?: string | readonly string[]
  /** Which scheme refused, where several are combined. */
  readonly scheme?: string
  /**
   * In whole seconds: the credentials were not looked at, because there were too many attempts. The answer is 429 with
   * `Retry-After` then, and not 401.
   */
  readonly retryAfter?: number
}

/** A principal, a refusal, or undefined: the request has no credentials of this kind. */
export type Authentication = Principal | Refusal | undefined

/** One way to find out who sent a request. */
export interface Authenticator {
  /** A short name for events and logs, for example `basic`. */
  readonly scheme: string
  /** What a 401 asks for (`WWW-Authenticate`). Absent where HTTP has no challenge, as for client certificates. */
  readonly challenge?: string | readonly string[]
  /** Decides before anything else is read. Never throws because of what a client sent. */
  authenticate(request: AuthenticationRequest): Authentication | Promise<Authentication>
  /** Keeps people signed in to the console. Without it, credentials come with every request. */
  readonly sessions?: Sessions
}

/** Who has shown credentials, as a token that every replica can check. Nothing is kept of it on the broker's side. */
export interface Sessions {
  /** A token for whom this authenticator has just let in; undefined for others, also of the same name. */
  begin(principal: Principal): Promise<IssuedSession | undefined>
  /** The same session for some more time; undefined where it has lasted long enough. */
  renew(session: Session): Promise<IssuedSession | undefined>
  /** Who it stands for, with what they may do now; undefined where it is not good, or not any more. */
  read(token: string): Promise<Session | undefined>
}

export interface Session {
  readonly principal: Principal
  readonly begunAt: number
  readonly expiresAt: number
}

export interface IssuedSession extends Session {
  readonly token: string
}

export function isRefusal(answer: Authentication): answer is Refusal {
  return answer !== undefined && 'refused' in answer
}

/**
 * What an authenticator answered, checked: its code may have no types, and only a principal lets a request in. `null` is
 * undefined.
 */
export function checkAnswer({ scheme }: Authenticator, answer: unknown): Authentication {
  if (answer === undefined || answer === null) return undefined
  const { refused, name, platform, roles } = Object(answer)
  if (typeof refused === 'string') return answer as Refusal
  if (typeof name === 'string' && typeof platform === 'string' && Array.isArray(roles)) return answer as Principal
  const found = typeof answer === 'object' ? 'another object' : typeof answer
  throw new TypeError(
    `the authenticator "${scheme}" must answer { name, platform, roles }, { refused: 'why' } or undefined, not ${found}`,
  )
}

/** Several schemes side by side: they are tried in order, the first principal wins, and a 401 asks for all of them. */
export function combineAuthenticators(authenticators: readonly Authenticator[]): Authenticator {
  const [first, ...others] = authenticators
  if (first === undefined) throw new Error('There must be at least one authenticator.')
  if (others.length === 0) return first
  return {
    scheme: authenticators.map(({ scheme }) => scheme).join(', '),
    challenge: authenticators.flatMap(({ challenge = [] }) => challenge),
    sessions: combineSessions(authenticators.flatMap(({ sessions = [] }) => sessions)),
    async authenticate(request) {
      const challenges: string[] = []
      let refusal: Refusal | undefined
      for (const authenticator of authenticators) {
        const answer = checkAnswer(authenticator, await authenticator.authenticate(request))
        if (answer !== undefined && !isRefusal(answer)) return answer
        // One that may be good later says more than one that is not.
        if (answer !== undefined && (refusal === undefined || (answer.retryAfter ?? 0) > (refusal.retryAfter ?? 0)))
          refusal = { scheme: authenticator.scheme, ...answer }
        challenges.push(...[answer?.challenge ?? authenticator.challenge ?? []].flat())
      }
      return refusal && { ...refusal, challenge: challenges }
    },
  }
}

/** A token is good where one of them says so; each signs with keys of its own. */
function combineSessions(all: readonly Sessions[]): Sessions | undefined {
  if (all.length < 2) return all[0]
  const first = async <Found>(ask: (sessions: Sessions) => Promise<Found | undefined>): Promise<Found | undefined> => {
    for (const sessions of all) {
      const found = await ask(sessions)
      if (found !== undefined) return found
    }
    return undefined
  }
  return {
    begin: principal => first(sessions => sessions.begin(principal)),
    renew: session => first(sessions => sessions.renew(session)),
    read: token => first(sessions => sessions.read(token)),
  }
}
