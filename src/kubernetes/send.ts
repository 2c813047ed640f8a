/** One request to the API server. */
import { Agent as HttpAgent, request as httpRequest, type IncomingMessage } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest, type RequestOptions } from 'node:https'
import type { KubeConfig } from '@kubernetes/client-node'
import { sayDuration } from '../shape/duration.ts'
import { messageOf } from '../shape/thrown.ts'
import { ClusterUnavailableError } from './errors.ts'

export interface Sent {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly body?: string | undefined
  readonly contentType?: string | undefined
  readonly accept?: string | undefined
  readonly signal?: AbortSignal | undefined
  /** How long the server may be silent, in milliseconds. */
  readonly patience: number
}

export type Send = (sent: Sent) => Promise<IncomingMessage>

/** Tokens and certificates change while we run, and reading them takes files: what was read is good for so long. */
const readEvery = 30_000

/** Throws ClusterUnavailableError where there is no answer. Connections are kept open, and do not keep the process alive. */
export function createSend(config: KubeConfig, now: () => number): Send {
  const server = config.getCurrentCluster()?.server ?? ''
  const { href, protocol } = new URL(server)
  const request = protocol === 'http:' ? httpRequest : httpsRequest
  let read: { readonly options: RequestOptions; readonly at: number } | undefined

  async function optionsOf(): Promise<RequestOptions> {
    if (read !== undefined && now() - read.at < readEvery) return read.options
    const options: RequestOptions = {}
    try {
      await config.applyToHTTPSOptions(options)
    } catch (error) {
      throw new ClusterUnavailableError(
        `the credentials for the Kubernetes cluster cannot be read: ${messageOf(error)}`,
      )
    }
    const unchanged = read !== undefined && isSameTls(read.options, options)
    options.agent = unchanged ? read?.options.agent : keptAlive(protocol, options)
    read = { options, at: now() }
    return options
  }

  return async ({ method, path, body, contentType, accept = 'application/json', signal, patience }) => {
    const options = await optionsOf()
    const headers = {
      ...options.headers,
      accept,
      ...(body === undefined
        ? {}
        : { 'content-type': contentType ?? 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      const sent = request(`${href.replace(/\/$/, '')}${path}`, { ...options, method, headers, timeout: patience })
      // As an option, the signal would end the connection too, and with it whatever uses that later.
      const abort = () => sent.destroy()
      signal?.addEventListener('abort', abort)
      sent.once('close', () => signal?.removeEventListener('abort', abort))
      sent.on('timeout', () => sent.destroy(new Error(`it was silent for ${sayDuration(patience)}`)))
      sent.once('response', answer => {
        // Whoever reads it hears of it; after that nobody needs to.
        answer.on('error', () => undefined)
        // Who is nobody any more may have a new token already.
        if (answer.statusCode === 401) read = undefined
        resolve(answer)
      })
      sent.on('error', error => {
        const problem = `the Kubernetes API server at ${server} does not answer (${messageOf(error)})`
        reject(signal?.aborted ? signal.reason : new ClusterUnavailableError(problem, { cause: error }))
      })
      sent.end(body)
    })
  }
}

function keptAlive(protocol: string, options: RequestOptions): RequestOptions['agent'] {
  // One that goes through a proxy stays as it is.
  if (typeof options.agent === 'object' && ![HttpAgent, HttpsAgent].some(type => options.agent?.constructor === type))
    return options.agent
  if (protocol === 'http:') return new HttpAgent({ keepAlive: true })
  const { ca, cert, key, pfx, passphrase, rejectUnauthorized, servername } = options
  return new HttpsAgent({ keepAlive: true, ca, cert, key, pfx, passphrase, rejectUnauthorized, servername })
}

function isSameTls(one: RequestOptions, other: RequestOptions): boolean {
  return (
    String(one.ca) === String(other.ca) &&
    String(one.cert) === String(other.cert) &&
    String(one.key) === String(other.key)
  )
}
