/** The API of Docker, which Podman speaks too, over its unix socket. */
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { RuntimeUnavailableError } from '../../sandbox.ts'
import { sayDuration } from '../../shape/duration.ts'

/** The API of Docker 29, which knows none before 1.44. Earlier engines, and Podman, have all that is asked of it here. */
const known = '1.52'

/** The version of the API to speak with an engine whose latest is this one. */
export function chooseVersion(latest: string): string {
  return latest.localeCompare(known, 'en', { numeric: true }) < 0 ? latest : known
}

export interface Engine {
  /** An answer of any status. Throws `RuntimeUnavailableError` where there is none. */
  call(method: 'GET' | 'POST' | 'DELETE', path: string, options?: CallOptions): Promise<Answer>
}

export interface CallOptions {
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
  /** How long the engine was asked to wait before it answers, in milliseconds. It is added to the timeout. */
  readonly delay?: number
}

export interface Answer {
  readonly status: number
  /** The body as JSON; undefined where it has none. */
  json(): Promise<unknown>
  /** What the engine says about a failure. */
  problem(): Promise<string>
  readonly stream: IncomingMessage
}

/** `patience` is how long the engine may take to begin its answer. */
export function createEngine(socketPath: string, patience = 60_000): Engine {
  let version: string | undefined

  /** Engines answer it without one. What is chosen holds until the engine is gone: another may come in its place. */
  async function findVersion(signal: AbortSignal | undefined): Promise<string> {
    const answer = await send('GET', '/_ping', { signal })
    if (answer.status !== 200) throw await unavailable('asking for the version of its API', answer)
    answer.stream.resume()
    return chooseVersion(String(answer.stream.headers['api-version']))
  }

  function send(method: string, path: string, { body, headers = {}, signal, delay = 0 }: CallOptions): Promise<Answer> {
    const text = body === undefined ? undefined : JSON.stringify(body)
    return new Promise((resolve, reject) => {
      const sent = request({ socketPath, method, path, headers, timeout: patience + delay, signal })
      if (text !== undefined) sent.setHeader('content-type', 'application/json')
      const giveUp = () => sent.destroy(new Error(`no answer within ${sayDuration(patience + delay)}`))
      sent.once('timeout', giveUp)
      sent.once('response', stream => {
        // From here on silence may mean that there is nothing to tell.
        sent.off('timeout', giveUp)
        resolve(toAnswer(stream))
      })
      sent.once('error', error => {
        version = undefined
        const problem = `the container engine at ${socketPath} does not answer (${error.message})`
        reject(new RuntimeUnavailableError(`${problem}; start it, or correct the path`, { cause: error }))
      })
      sent.end(text)
    })
  }

  return {
    async call(method, path, options = {}) {
      version ??= await findVersion(options.signal)
      return send(method, `/v${version}${path}`, options)
    },
  }
}

/** The engine's own fault, or one that says nothing about the sandbox. */
export async function unavailable(what: string, answer: Answer): Promise<RuntimeUnavailableError> {
  return new RuntimeUnavailableError(
    `${what}: the container engine answered ${answer.status}: ${await answer.problem()}`,
  )
}

/** For an answer that broke off. */
export function brokenOff(what: string, cause: unknown): RuntimeUnavailableError {
  return new RuntimeUnavailableError(`${what}: the container engine's answer broke off; try again`, { cause })
}

function toAnswer(stream: IncomingMessage): Answer {
  const read = () => json(stream).catch(() => undefined)
  return {
    status: stream.statusCode ?? 0,
    stream,
    json: read,
    async problem() {
      const body = await read()
      const message = typeof body === 'object' && body !== null && 'message' in body ? body.message : undefined
      return typeof message === 'string' ? message : 'no reason given'
    },
  }
}
