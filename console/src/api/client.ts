import { signal } from '@preact/signals'
import { brokerRoot } from '../router.tsx'

/** What the broker refused, in its own words. */
export class ApiError extends Error {
  readonly status: number
  readonly code: string | undefined

  constructor(status: number, code: string | undefined, message: string) {
    super(message)
    this.status = status
    this.code = code
  }
}

export function toApiError(error: unknown): ApiError {
  return error instanceof ApiError ? error : new ApiError(0, undefined, String(error))
}

/** Whether the same may be answered better a while later, without anybody doing anything. */
export function mayPass({ status }: ApiError): boolean {
  return status === 0 || status === 429 || status >= 500
}

/** How long to wait before that is asked again. */
export const pauseAfterFailure = 3_000

/** The session is over, or there was none: the dialog comes up, and the page stays as it is. */
export const needsSignIn = signal(false)
/** What the button for a sign-in on another page says, where the broker has one. */
export const signInElsewhere = signal<string | undefined>(undefined)
/** Rises with each sign-in, so that what was refused before is asked for again. */
export const signIns = signal(0)

/** What was asked under an earlier session tells nothing about the one after it. */
let session = 0

export function beginSession(): void {
  session += 1
  needsSignIn.value = false
}

interface Sent {
  readonly method?: string
  readonly body?: unknown
  readonly headers?: Readonly<Record<string, string>>
  readonly signal?: AbortSignal | undefined
}

export interface Answer<Body> {
  readonly status: number
  readonly body: Body
  readonly headers: Headers
}

/** Throws ApiError for every answer but 2xx; a 401 also asks for the password. */
export async function call<Body>(path: string, sent: Sent = {}): Promise<Answer<Body>> {
  const response = await send(path, sent)
  const body = await readBody(response)
  if (response.ok) return { status: response.status, body: body as Body, headers: response.headers }
  const { detail, description, error } = Object(body)
  const said = detail ?? description ?? `The broker answered ${response.status} ${response.statusText}`.trim()
  throw new ApiError(response.status, typeof error === 'string' ? error : undefined, said)
}

/** The same, before the body is read. */
export async function send(
  path: string,
  { method = 'GET', body, headers, signal: ending }: Sent = {},
): Promise<Response> {
  const asked = session
  let response: Response
  try {
    response = await fetch(new URL(path, brokerRoot), {
      method,
      headers: {
        // The broker then asks for no password by the browser's own dialog.
        'Purser-Client': 'console',
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? null : JSON.stringify(body),
      credentials: 'same-origin',
      cache: 'no-store',
      signal: ending ?? null,
    })
  } catch (error) {
    if (ending?.aborted) throw error
    throw new ApiError(0, 'Unreachable', 'The broker does not answer. This page asks again by itself.')
  }
  if (response.status === 401 && headers?.Authorization === undefined && asked === session) {
    signInElsewhere.value = labelIn(response.headers.get('WWW-Authenticate'))
    needsSignIn.value = true
  }
  return response
}

function labelIn(challenge: string | null): string | undefined {
  const label = /sign-in="([^"]+)"/.exec(challenge ?? '')?.[1]
  return label && decodeURIComponent(label)
}

async function readBody(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return text === '' ? {} : JSON.parse(text)
  } catch {
    return { detail: text.slice(0, 500) }
  }
}

export function get<Body>(path: string, ending?: AbortSignal): Promise<Body> {
  return call<Body>(path, { signal: ending }).then(({ body }) => body)
}

export function post<Body>(path: string, body: object = {}): Promise<Body> {
  return call<Body>(path, { method: 'POST', body }).then(answer => answer.body)
}
