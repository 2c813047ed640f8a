/** What one answer may take: a server that hangs or sends without end must not hold up whoever signs in. */
const longestAnswer = 512 * 1024
const longestWait = 5_000

export interface FetchJsonOptions {
  /** In milliseconds, for the whole answer. */
  readonly timeout?: number
  readonly method?: 'GET' | 'POST'
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
}

/** The server has answered, and not with 200. */
export class AnswerError extends Error {
  override readonly name = 'AnswerError'
  readonly status: number
  /** What the server calls the mistake of a client (RFC 6749, 5.2), such as `invalid_grant`. */
  readonly code: string | undefined

  constructor(url: string, status: number, code: string | undefined) {
    super(`${url} answered ${status}${code === undefined ? '' : ` (${code})`}`)
    this.status = status
    this.code = code
  }
}

/** A JSON object from a server that is named in the configuration. Follows no redirect; the reason of an error holds nothing secret. */
export async function fetchJson(url: string, options: FetchJsonOptions = {}): Promise<Record<string, unknown>> {
  const { timeout = longestWait, ...init } = options
  const signal = AbortSignal.timeout(timeout)
  let response: Response
  try {
    response = await fetch(url, {
      ...init,
      headers: { accept: 'application/json', ...init.headers },
      signal,
      redirect: 'manual',
    })
  } catch (cause) {
    const reason = signal.aborted ? `did not answer within ${timeout} ms` : 'could not be reached'
    throw new Error(`${url} ${reason}`, { cause })
  }
  try {
    if (response.status !== 200) throw new AnswerError(url, response.status, await readCode(response, url))
    const text = await readText(response, url)
    const found: unknown = JSON.parse(text)
    if (typeof found === 'object' && found !== null && !Array.isArray(found)) return found as Record<string, unknown>
    throw new Error(`${url} answered something else than a JSON object`)
  } catch (cause) {
    if (signal.aborted) throw new Error(`${url} did not answer within ${timeout} ms`, { cause })
    if (cause instanceof SyntaxError) throw new Error(`${url} answered something else than JSON`)
    throw cause
  } finally {
    // What was not read is not wanted.
    await response.body?.cancel().catch(() => {})
  }
}

async function readCode(response: Response, url: string): Promise<string | undefined> {
  if (response.status < 400 || response.status >= 500) return undefined
  try {
    const { error } = Object(JSON.parse(await readText(response, url)))
    return typeof error === 'string' && /^[a-z_]{1,40}$/.test(error) ? error : undefined
  } catch {
    return undefined
  }
}

async function readText({ body }: Response, url: string): Promise<string> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body ?? []) {
    size += piece.byteLength
    if (size > longestAnswer) throw new Error(`${url} answered more than ${longestAnswer} bytes`)
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString('utf8')
}
