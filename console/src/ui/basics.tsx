import type { ComponentChildren } from 'preact'
import { useEffect, useRef, useState } from 'preact/hooks'
import type { ApiError } from '../api/client.ts'
import { Link, toPath } from '../router.tsx'
import { copyText } from './copy.ts'
import { toast } from './toasts.tsx'

const tones: Readonly<Record<string, string>> = {
  queued: 'calm',
  running: 'busy',
  succeeded: 'good',
  failed: 'bad',
  superseded: 'faint',
  held: 'warn',
  creating: 'busy',
  updating: 'busy',
  deleting: 'busy',
  ready: 'good',
  deleted: 'faint',
  done: 'good',
  stopped: 'warn',
  draining: 'warn',
  stopping: 'warn',
}

/** A state in words, with a mark of its own shape: colour is not the only sign. */
export function State({ of: state }: { readonly of: string }) {
  return <span class={`state ${tones[state] ?? 'calm'}`}>{state}</span>
}

export function Tone({ tone, children }: { readonly tone: string; readonly children: ComponentChildren }) {
  return <span class={`state ${tone}`}>{children}</span>
}

/** The end of an id tells operations apart: their beginning is a time. */
export function ShortId({ id, tail = false }: { readonly id: string; readonly tail?: boolean }) {
  const short = id.length <= 20 ? id : tail ? `…${id.slice(-12)}` : `${id.slice(0, 17)}…`
  return (
    <code class="id" title={id}>
      {short}
    </code>
  )
}

export function OperationLink({ id }: { readonly id: string }) {
  return (
    <Link to={toPath('operations', id)}>
      <ShortId id={id} tail />
    </Link>
  )
}

export function InstanceLink({ id }: { readonly id: string }) {
  return (
    <Link to={toPath('instances', id)}>
      <ShortId id={id} />
    </Link>
  )
}

export function Copy({ text, what }: { readonly text: string; readonly what: string }) {
  const copy = async () => toast((await copyText(text)) ? `Copied ${what}.` : `Select ${what} and copy it by hand.`)
  return (
    <button type="button" class="icon" onClick={copy} aria-label={`Copy ${what}`} title={`Copy ${what}`}>
      <svg viewBox="0 0 16 16" aria-hidden="true">
        <rect x="5.5" y="5.5" width="8" height="8" rx="1.5" />
        <path d="M10.5 3.5v-1h-8v8h1" />
      </svg>
    </button>
  )
}

interface HeadProps {
  readonly title: ComponentChildren
  readonly about?: ComponentChildren
  readonly children?: ComponentChildren
  readonly name?: string
}

export function Head({ title, about, children, name }: HeadProps) {
  useEffect(() => {
    document.title = `${name ?? (typeof title === 'string' ? title : 'Purser')} · Purser`
  }, [name, title])
  return (
    <header class="head">
      <div>
        <h1 tabIndex={-1}>{title}</h1>
        {about !== undefined && <p class="about">{about}</p>}
      </div>
      {children !== undefined && <div class="actions">{children}</div>}
    </header>
  )
}

/** Says that there is nothing, and what one can do about it. */
export function Empty({ title, children }: { readonly title: string; readonly children?: ComponentChildren }) {
  return (
    <div class="empty">
      <p class="empty-title">{title}</p>
      {children !== undefined && <p class="muted">{children}</p>}
    </div>
  )
}

export function Problem({ error, retry }: { readonly error: ApiError; readonly retry?: () => void }) {
  return (
    <div class="problem-box" role="alert">
      <p>
        <strong>{titleOf(error)}</strong> {error.message}
      </p>
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Ask again
        </button>
      )}
    </div>
  )
}

function titleOf({ status, code }: ApiError): string {
  if (status === 0) return 'No answer.'
  if (status === 401) return 'Signed out.'
  if (status === 403) return 'Not allowed.'
  if (status === 404) return 'Not there.'
  return `${code ?? `Answer ${status}`}.`
}

interface LoadedProps<Body> {
  readonly from: { data: Body | undefined; error: ApiError | undefined; reload(): void }
  readonly children: (data: Body) => ComponentChildren
}

/** What was loaded; an error above it where it is not fresh any more. */
export function Loaded<Body>({ from: { data, error, reload }, children }: LoadedProps<Body>) {
  return (
    <>
      {error !== undefined && <Problem error={error} retry={reload} />}
      {data === undefined ? error === undefined && <Skeleton /> : children(data)}
    </>
  )
}

export function Skeleton() {
  return (
    <div class="skeleton" role="status" aria-label="Loading">
      <i />
      <i />
      <i />
    </div>
  )
}

export function Section({
  title,
  aside,
  children,
  id,
}: {
  readonly title: string
  readonly aside?: ComponentChildren
  readonly children: ComponentChildren
  readonly id?: string
}) {
  return (
    <section class="card" aria-label={title} id={id}>
      <header class="card-head">
        <h2>{title}</h2>
        {aside}
      </header>
      {children}
    </section>
  )
}

/** The first row of a table: what stands in each column. */
export function Columns({ of: names }: { readonly of: readonly string[] }) {
  return (
    <thead>
      <tr>
        {names.map(name => (
          <th key={name} scope="col">
            {name}
          </th>
        ))}
      </tr>
    </thead>
  )
}

interface WideTableProps {
  readonly label: string
  readonly columns: readonly string[]
  /** Its rows. */
  readonly children: ComponentChildren
}

/** It may be wider than the page: then it is scrolled by itself, also by keyboard. */
export function WideTable({ label, columns, children }: WideTableProps) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard
    <div class="scroll-x" role="region" aria-label={label} tabIndex={0}>
      <table class="plain">
        <Columns of={columns} />
        <tbody>{children}</tbody>
      </table>
    </div>
  )
}

/** Names and values, such as the facts of one instance. */
export function Facts({ of: facts }: { readonly of: readonly (readonly [string, ComponentChildren] | undefined)[] }) {
  return (
    <dl class="facts">
      {facts.map(
        fact =>
          fact !== undefined && (
            <div key={fact[0]}>
              <dt>{fact[0]}</dt>
              <dd>{fact[1]}</dd>
            </div>
          ),
      )}
    </dl>
  )
}

interface DialogProps {
  readonly title: string
  readonly open: boolean
  readonly onClose: () => void
  /** It holds a table. */
  readonly wide?: boolean
  readonly children: ComponentChildren
}

export function Dialog({ title, open, onClose, wide = false, children }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  const [id] = useState(() => `dialog-${Math.random().toString(36).slice(2)}`)
  useEffect(() => {
    if (open && !dialog.current?.open) dialog.current?.showModal()
    if (!open && dialog.current?.open) dialog.current.close()
  }, [open])
  return (
    <dialog ref={dialog} class={wide ? 'wide-dialog' : undefined} onClose={onClose} aria-labelledby={id}>
      <header class="dialog-head">
        <h2 id={id}>{title}</h2>
        <button type="button" class="icon" aria-label="Close" onClick={onClose}>
          <svg viewBox="0 0 16 16" aria-hidden="true">
            <path d="m4 4 8 8m0-8-8 8" />
          </svg>
        </button>
      </header>
      {open && children}
    </dialog>
  )
}
