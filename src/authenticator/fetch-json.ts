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
    if (response.status !== 200) throw new Error(`${url} answered ${response.status}`)
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
