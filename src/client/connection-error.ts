import { sayDuration } from '../shape/duration.ts'

/** No HTTP answer came. What went wrong, where, and what to do about it; never a credential. */
export class OsbConnectionError extends Error {
  override readonly name = 'OsbConnectionError'
  readonly what = 'the broker could not be reached'
  /** Method and URL of the request. */
  readonly where: string
  readonly why: string
  readonly next: string

  constructor(where: string, why: string, next: string, cause?: unknown) {
    super(`the broker could not be reached: ${why} (${where}). ${next}`, cause === undefined ? undefined : { cause })
    this.where = where
    this.why = why
    this.next = next
  }
}

/** The reason behind fetch's "fetch failed", in words, with the remedy. */
export function toConnectionError(where: string, origin: string, error: unknown): OsbConnectionError {
  const { code, message } = rootCause(error)
  const known = reasonsFor(origin)[code ?? message]
  if (known !== undefined) return new OsbConnectionError(where, ...known, error)
  if (code !== undefined && /CERT|SIGNED|SSL|TLS|EPROTO/.test(code)) {
    return new OsbConnectionError(where, `TLS with ${origin} failed: ${code}`, tlsAdvice, error)
  }
  const why = code === undefined ? message : `${code}: ${message}`
  return new OsbConnectionError(where, why, 'Check the address and the network, then try again.', error)
}

export function toTimeoutError(where: string, timeout: number): OsbConnectionError {
  return new OsbConnectionError(
    where,
    `no answer within ${sayDuration(timeout)}`,
    'The broker may still be working on the request: ask for its state before repeating it, or allow more time.',
  )
}

const tlsAdvice =
  'Check that the address wants https and that its certificate is trusted (NODE_EXTRA_CA_CERTS names a file of own authorities).'

const brokenOffAdvice = 'Check whether the address wants https, and the log of the broker; then try again.'

const reasonsFor = (origin: string): Readonly<Record<string, readonly [why: string, next: string]>> => ({
  ECONNREFUSED: [`nothing listens at ${origin}`, 'Start the broker, or give the address of a running one.'],
  ENOTFOUND: [`the host of ${origin} has no address`, 'Check the spelling of the host name.'],
  EAI_AGAIN: [
    `the host name of ${origin} could not be looked up just now`,
    'Check the network and its name server, then try again.',
  ],
  ECONNRESET: [`${origin} broke the connection off`, brokenOffAdvice],
  UND_ERR_SOCKET: [`${origin} broke the connection off`, brokenOffAdvice],
  'bad port': [`the port of ${origin} is one of those that fetch refuses`, 'Let the broker listen on another port.'],
  HPE_INVALID_CONSTANT: [`${origin} does not speak HTTP`, 'Check the port, and whether the address wants https.'],
})

function rootCause(error: unknown): { code: string | undefined; message: string } {
  let root = error
  while (root instanceof Error && root.cause !== undefined) root = root.cause
  const inner = root instanceof AggregateError ? root.errors[0] : root
  if (!(inner instanceof Error)) return { code: undefined, message: String(inner) }
  const code = 'code' in inner && typeof inner.code === 'string' ? inner.code : undefined
  return { code, message: inner.message }
}
