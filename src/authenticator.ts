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
  /** Whose credentials were tried, where this scheme knows somebody of that name: never what nobody is called. */
  readonly principal?: string
  /**
   * In whole seconds: the credentials were not looked at, because there were too many attempts. The answer is 429 with
   * `Retry-After` then, and not 401.
   */
  readonly retryAfter?: number
  /** They could not be looked at, since what they are checked with does not answer: 503 with `retryAfter`, and not 429. */
  readonly unavailable?: boolean
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
  readonly memory?: Memory
  /** Where people sign in to the console on a page elsewhere. */
  readonly signIn?: SignIn
}

/** What a session keeps of somebody, and who that is later, on every replica. The broker keeps sessions in its ledger. */
export interface Memory {
  /** Of whom this authenticator has just let in; undefined for others, also of the same name. Holds no secret. */
  remember(principal: Principal): Promise<Remembered | undefined>
  /** Who that is now, with what they may do now; undefined where they may not go on. */
  recall(remembered: Remembered): Promise<Principal | undefined>
}

export interface Remembered {
  readonly scheme: string
  /** What the scheme knows them again by. */
  readonly facts: Readonly<Record<string, string | readonly string[]>>
  /** When the credentials themselves are over; no session goes on then. */
  readonly until?: number
}

export interface BegunSignIn {
  readonly location: string
  readonly kept: string
}

/** A sign-in that begins and ends here, and happens elsewhere, as with OpenID Connect. */
export interface SignIn {
  /** What its button says. */
  readonly label: string
  /** Where the browser goes, and what it keeps for `finish`; no two sign-ins share it. */
  begin(): Promise<BegunSignIn | Refusal>
  /** Who came back. `query` is what the other page has sent, `kept` what this browser had; nobody can know both but the one who began. */
  finish(query: string, kept: string): Promise<Principal | Refusal>
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
  if (typeof Object(answer).refused === 'string') return answer as Refusal
  if (isPrincipal(answer)) return answer
  const found = typeof answer === 'object' ? 'another object' : typeof answer
  throw new TypeError(
    `the authenticator "${scheme}" must answer { name, platform, roles }, { refused: 'why' } or undefined, not ${found}`,
  )
}

function isPrincipal(answer: unknown): answer is Principal {
  const { refused, name, platform, roles } = Object(answer)
  return refused === undefined && typeof name === 'string' && typeof platform === 'string' && Array.isArray(roles)
}

/** Several schemes side by side: they are tried in order, the first principal wins, and a 401 asks for all of them. */
export function combineAuthenticators(authenticators: readonly Authenticator[]): Authenticator {
  const [first, ...others] = authenticators
  if (first === undefined) throw new Error('There must be at least one authenticator.')
  if (others.length === 0) return first

  async function ask(request: AuthenticationRequest, answered: unknown): Promise<Authentication> {
    const challenges: string[] = []
    let refusal: Refusal | undefined
    for (const authenticator of authenticators) {
      const given = authenticator === first ? await answered : await authenticator.authenticate(request)
      const answer = checkAnswer(authenticator, given)
      if (answer !== undefined && !isRefusal(answer)) return answer
      // One that may be good later says more than one that is not.
      if (answer !== undefined && (refusal === undefined || (answer.retryAfter ?? 0) > (refusal.retryAfter ?? 0)))
        refusal = { scheme: authenticator.scheme, ...answer }
      challenges.push(...[answer?.challenge ?? authenticator.challenge ?? []].flat())
    }
    return refusal && { ...refusal, challenge: challenges }
  }

  return {
    scheme: authenticators.map(({ scheme }) => scheme).join(', '),
    challenge: authenticators.flatMap(({ challenge = [] }) => challenge),
    memory: combineMemories(authenticators.flatMap(({ memory = [] }) => memory)),
    signIn: authenticators.find(({ signIn }) => signIn !== undefined)?.signIn,
    // Whom the first one knows at once, as it does a platform that polls, waits for nothing.
    authenticate(request) {
      const answered = first.authenticate(request)
      const isKnown = typeof Object(answered).then !== 'function' && isPrincipal(answered)
      return isKnown ? (answered as Principal) : ask(request, answered)
    },
  }
}

/** Each knows what it has remembered itself, and nothing of the others. */
function combineMemories(all: readonly Memory[]): Memory | undefined {
  if (all.length < 2) return all[0]
  const first = async <Found>(ask: (memory: Memory) => Promise<Found | undefined>): Promise<Found | undefined> => {
    for (const memory of all) {
      const found = await ask(memory)
      if (found !== undefined) return found
    }
    return undefined
  }
  return {
    remember: principal => first(memory => memory.remember(principal)),
    recall: remembered => first(memory => memory.recall(remembered)),
  }
}
