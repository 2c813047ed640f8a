import { computed, signal } from '@preact/signals'
import { useEffect, useRef, useState } from 'preact/hooks'
import {
  ApiError,
  beginSession,
  call,
  mayPass,
  needsSignIn,
  pauseAfterFailure,
  send,
  signInElsewhere,
  signIns,
  toApiError,
} from './api/client.ts'
import { brokerRoot } from './router.tsx'

export interface Me {
  readonly name: string
  readonly platform: string
  readonly roles: readonly string[]
}

export const me = signal<Me | undefined>(undefined)
/** Why nobody knows who this is; undefined where a password is all that is missing. */
export const meProblem = signal<ApiError | undefined>(undefined)

const ranks = ['viewer', 'operator', 'admin']
/** Whether the broker would let this user do what needs the role. It checks by itself; this only greys out. */
export function may(role: string): boolean {
  const roles = me.value?.roles ?? []
  if (role === 'platform') return roles.includes('platform')
  return ranks.slice(ranks.indexOf(role)).some(rank => roles.includes(rank))
}

export const mayTry = computed(() => may('platform'))

let expiresAt: number | undefined

interface SessionBody extends Me {
  readonly expires_at?: string
}

function note({ expires_at }: SessionBody): void {
  expiresAt = expires_at === undefined ? undefined : Date.parse(expires_at)
}

/** Who this is; asks for a password where the broker wants one. A session goes on for as long as it would have. */
export async function loadMe(): Promise<void> {
  try {
    const { body } = await call<SessionBody>('admin/session', { method: 'POST' })
    note(body)
    me.value = body
    meProblem.value = undefined
  } catch (error) {
    const told = toApiError(error)
    if (told.status !== 401) meProblem.value = told
    if (mayPass(told)) setTimeout(() => void loadMe(), pauseAfterFailure)
  }
}

/** As text of RFC 7617: UTF-8, which btoa does not take as it is. */
function toBasic(name: string, password: string): string {
  const bytes = new TextEncoder().encode(`${name}:${password}`.normalize('NFC'))
  return `Basic ${btoa(String.fromCharCode(...bytes))}`
}

async function signIn(name: string, password: string): Promise<void> {
  const headers = { Authorization: toBasic(name, password) }
  const { body } = await call<SessionBody>('admin/session', { method: 'POST', headers })
  note(body)
  beginSession()
  await loadMe()
  if (needsSignIn.value)
    throw new ApiError(401, undefined, 'The broker took the password, but keeps no sessions for this kind of sign-in.')
  signIns.value += 1
}

export async function signOut(): Promise<void> {
  await send('admin/session', { method: 'DELETE' })
  // What this page has seen is for nobody who comes after.
  location.reload()
}

const sessionTime = 30 * 60_000

/** A page that nobody touches lets its session end: only what a person does makes it longer. */
function renewWhileUsed(): () => void {
  let asked = 0
  const touched = () => {
    const now = Date.now()
    const isDue = expiresAt === undefined ? now - asked > sessionTime / 2 : expiresAt - now < sessionTime / 2
    if (!isDue || now - asked < 60_000 || needsSignIn.value || me.value === undefined) return
    asked = now
    call<SessionBody>('admin/session', { method: 'POST' }).then(
      ({ body }) => note(body),
      () => {},
    )
  }
  for (const type of ['pointerdown', 'keydown']) addEventListener(type, touched, { passive: true })
  return () => {
    for (const type of ['pointerdown', 'keydown']) removeEventListener(type, touched)
  }
}

export function SignIn() {
  const dialog = useRef<HTMLDialogElement>(null)
  const [problem, setProblem] = useState<string | undefined>(cameBackWithout)
  const [busy, setBusy] = useState(false)
  const wanted = needsSignIn.value
  useEffect(renewWhileUsed, [])
  useEffect(() => {
    if (wanted && !dialog.current?.open) dialog.current?.showModal()
    if (!wanted && dialog.current?.open) dialog.current.close()
  }, [wanted])
  const submit = async (event: SubmitEvent) => {
    event.preventDefault()
    const form = event.currentTarget as HTMLFormElement
    const given = new FormData(form)
    setBusy(true)
    setProblem(undefined)
    try {
      await signIn(String(given.get('username')), String(given.get('password')))
      form.reset()
    } catch (error) {
      setProblem(wordsFor(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <dialog ref={dialog} class="sign-in" aria-labelledby="sign-in-title" onCancel={event => event.preventDefault()}>
      <form onSubmit={submit}>
        <p class="brand-line">
          <span class="mark" aria-hidden="true" /> Purser
        </p>
        <h2 id="sign-in-title">{me.value === undefined ? 'Sign in' : 'Sign in again'}</h2>
        <p class="muted">
          {me.value === undefined
            ? 'With the credentials of an operator.'
            : 'Your session is over. The page behind stays as it is.'}
        </p>
        <label>
          User
          <input name="username" autocomplete="username" required autofocus spellcheck={false} autocapitalize="off" />
        </label>
        <label>
          Password
          <input name="password" type="password" autocomplete="current-password" required />
        </label>
        {problem !== undefined && (
          <p class="problem" role="alert">
            {problem}
          </p>
        )}
        <button type="submit" class="primary wide" disabled={busy}>
          {busy ? 'Signing in …' : 'Sign in'}
        </button>
        {signInElsewhere.value !== undefined && (
          <a class="button wide" href={new URL('console/sign-in', brokerRoot).href}>
            {signInElsewhere.value}
          </a>
        )}
      </form>
    </dialog>
  )
}

/** What the broker says when somebody came back from the other page and was not let in. */
function cameBackWithout(): string | undefined {
  const outcome = new URLSearchParams(location.search).get('sign-in')
  if (outcome === 'refused') return 'The sign-in was refused. The log of the broker says why.'
  return outcome === 'unavailable' ? 'The sign-in cannot be used now. Try again later.' : undefined
}

function wordsFor(error: unknown): string {
  if (!(error instanceof ApiError)) return String(error)
  if (error.status === 401 && error.code === 'Unauthorized') return 'The user or the password is wrong.'
  return error.message
}
