/** A connection to a Kubernetes cluster: its API, as JSON, with the retries that everybody needs. */
import type { IncomingMessage } from 'node:http'
import { json, text } from 'node:stream/consumers'
import type { KubeConfig } from '@kubernetes/client-node'
import { type Clock, sleep } from '../clock.ts'
import { isJsonObject } from '../protocol/json.ts'
import type { ClusterSettings } from './cluster-settings.ts'
import { homeNamespace, readCredentials } from './credentials.ts'
import { ClusterUnavailableError, isStatus, KubernetesError } from './errors.ts'
import type { KubernetesObject } from './objects.ts'
import { createSend } from './send.ts'

export interface CallOptions {
  readonly query?: Readonly<Record<string, string | number | boolean | undefined>> | undefined
  readonly body?: unknown
  readonly contentType?: string
  /** The form of the answer, which is JSON. */
  readonly accept?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export interface Cluster {
  /** The namespace of the context, or of the pod that this runs in. */
  readonly namespace: string
  readonly config: KubeConfig
  readonly clock: Clock
  /**
   * The answer as JSON. Throws KubernetesError for a no, and ClusterUnavailableError where the cluster was silent, busy (429)
   * or at fault (5xx) for as long as was tried. A POST is repeated too: what a lost one has made answers AlreadyExists.
   */
  call<Answer>(method: Method, path: string, options?: CallOptions): Promise<Answer>
  /** The same, undefined for 404. */
  find<Answer>(path: string, options?: CallOptions): Promise<Answer | undefined>
  /** Reads, changes and writes, again where somebody else was faster (409). Undefined from `change` leaves it as it is. */
  update<Object extends KubernetesObject>(path: string, change: (found: Object) => Object | undefined): Promise<Object>
  /** Deletes what is there; with `uid`, only that one. Says whether it was there. */
  remove(path: string, options?: { readonly uid?: string; readonly body?: object }): Promise<boolean>
  /** The answer as it comes, once, without retries. `patience` is how long it may be silent. */
  stream(path: string, options: CallOptions & { readonly patience: number }): Promise<IncomingMessage>
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

export interface ClusterOptions {
  readonly clock: Clock
  readonly env: Readonly<Record<string, string | undefined>>
  /** How long one call is tried, in milliseconds; less than the timeout of a step that makes it. */
  readonly tryFor?: number
  readonly random?: () => number
}

/** How long the server may be silent before its answer begins. */
const patience = 10_000
const firstPause = 250
const longestPause = 5_000

/** Throws ClusterSettingsError where the settings cannot be used. Asks the cluster nothing yet. */
export async function connectCluster(settings: ClusterSettings, options: ClusterOptions): Promise<Cluster> {
  const config = await readCredentials(settings, options.env)
  return createCluster(config, options)
}

function createCluster(config: KubeConfig, options: ClusterOptions): Cluster {
  const { clock, tryFor = 20_000, random = Math.random } = options
  const send = createSend(config, clock.now)

  /** One try: the answer, or the error and how long the server asks to be left alone. */
  async function attempt(method: Method, path: string, { query, body, contentType, accept, signal }: CallOptions) {
    const sent = body === undefined ? undefined : JSON.stringify(body)
    const answer = await send({
      method,
      path: path + toQuery(query),
      body: sent,
      contentType,
      accept,
      signal,
      patience,
    })
    const status = answer.statusCode ?? 0
    if (status < 300) return { value: await readJson(answer) }
    const error = await toError(method, path, answer)
    return { error, retryAfter: Number(answer.headers['retry-after'] ?? 0) * 1000 || 0 }
  }

  async function call<Answer>(method: Method, path: string, callOptions: CallOptions = {}): Promise<Answer> {
    const { signal } = callOptions
    const end = clock.now() + tryFor
    for (let failures = 1, isUnknown = false; ; failures += 1) {
      let failed: Error
      let asked = 0
      try {
        const { value, error, retryAfter } = await attempt(method, path, callOptions)
        if (error === undefined) return value as Answer
        // A token may have changed since it was read; the next try reads it anew.
        const retryable = isPassing(error.status) || (error.status === 401 && !isUnknown)
        isUnknown ||= error.status === 401
        if (!retryable) throw error
        failed = error
        asked = retryAfter
      } catch (error) {
        if (signal?.aborted || !(error instanceof ClusterUnavailableError)) throw error
        failed = error
      }
      const pause = Math.max(asked, random() * Math.min(longestPause, firstPause * 2 ** failures))
      if (clock.now() + pause > end) throw unavailable(failed)
      await sleep(clock, pause, signal)
      signal?.throwIfAborted()
    }
  }

  const cluster: Cluster = {
    namespace: homeNamespace(config),
    config,
    clock,
    call,
    async find(path, callOptions) {
      try {
        return await call('GET', path, callOptions)
      } catch (error) {
        if (isStatus(error, 404)) return undefined
        throw error
      }
    },
    async update<Object extends KubernetesObject>(path: string, change: (found: Object) => Object | undefined) {
      for (;;) {
        const found = await call<Object>('GET', path)
        const changed = change(found)
        if (changed === undefined) return found
        try {
          // It carries the version that was read: whoever comes second is refused.
          return await call<Object>('PUT', path, { body: changed })
        } catch (error) {
          if (!isStatus(error, 409)) throw error
          await sleep(clock, random() * firstPause)
        }
      }
    },
    async remove(path, { uid, body = {} } = {}) {
      try {
        await call('DELETE', path, { body: { ...body, ...(uid === undefined ? {} : { preconditions: { uid } }) } })
        return true
      } catch (error) {
        // Gone, or another one in its place.
        if (isStatus(error, 404) || (uid !== undefined && isStatus(error, 409))) return false
        throw error
      }
    },
    async stream(path, { query, signal, patience: idle }) {
      const answer = await send({ method: 'GET', path: path + toQuery(query), signal, patience: idle })
      if ((answer.statusCode ?? 0) < 300) {
        // It may last for long, and nobody who wants to end has to wait for it.
        answer.socket.unref()
        return answer
      }
      const error = await toError('GET', path, answer)
      throw isPassing(error.status) ? unavailable(error) : error
    },
  }
  return cluster
}

/** A fault of the server, or of what stands before it. */
function isPassing(status: number): boolean {
  return status === 429 || (status >= 500 && status !== 501)
}

function unavailable(error: Error): ClusterUnavailableError {
  if (error instanceof ClusterUnavailableError) return error
  return new ClusterUnavailableError(`the Kubernetes API server cannot do it now: ${error.message}`, { cause: error })
}

async function readJson(answer: IncomingMessage): Promise<unknown> {
  try {
    return await json(answer)
  } catch (error) {
    throw new ClusterUnavailableError("the Kubernetes API server's answer broke off; try again", { cause: error })
  }
}

/** Of the body only what the server says for people: an object in it may be a Secret. */
async function toError(method: Method, path: string, answer: IncomingMessage): Promise<KubernetesError> {
  const status = answer.statusCode ?? 0
  const said = await text(answer).catch(() => '')
  const body = parse(said)
  const reason = typeof body.reason === 'string' ? body.reason : ''
  const message = typeof body.message === 'string' ? body.message.slice(0, 500) : `it answered ${status}`
  return new KubernetesError(status, reason, `${method} ${path}: ${message}`)
}

function parse(said: string): Readonly<Record<string, unknown>> {
  try {
    const value: unknown = JSON.parse(said)
    return isJsonObject(value) ? value : {}
  } catch {
    return {}
  }
}

function toQuery(query: CallOptions['query'] = {}): string {
  const given = Object.entries(query).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as const],
  )
  return given.length === 0 ? '' : `?${new URLSearchParams(Object.fromEntries(given))}`
}
