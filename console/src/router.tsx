import { computed, signal } from '@preact/signals'
import type { ComponentChildren } from 'preact'

/** Where the console is: everything it names is relative to it, so that it works behind any prefix. */
const base = new URL(document.baseURI)

/** Where the broker is. */
export const brokerRoot = new URL('..', base)

const here = signal(new URL(location.href))

addEventListener('popstate', () => {
  here.value = new URL(location.href)
})

/** The page's path, such as `operations/123`, in decoded segments. */
export const segments = computed(() =>
  here.value.pathname
    .slice(base.pathname.length)
    .split('/')
    .filter(segment => segment !== '')
    .map(decode),
)

/** A segment with a broken percent-escape is taken as it is, as the broker does: nothing has that name. */
function decode(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}

export const query = computed(() => here.value.searchParams)

export function href(path: string): string {
  return new URL(path, base).href
}

export function toPath(...parts: readonly string[]): string {
  return parts.map(encodeURIComponent).join('/')
}

export function navigate(path: string, { replace = false }: { replace?: boolean } = {}): void {
  const target = new URL(path, base)
  if (target.href === here.value.href) return
  const isNewPage = target.pathname !== here.value.pathname
  if (replace) history.replaceState(null, '', target)
  else history.pushState(null, '', target)
  here.value = target
  if (isNewPage) {
    scrollTo(0, 0)
    document.querySelector<HTMLElement>('main h1')?.focus({ preventScroll: true })
  }
}

/** The same page with other filters: they are the URL, so that a view can be kept and sent. */
export function setQuery(changes: Readonly<Record<string, string | undefined>>): void {
  const target = new URL(here.value)
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined || value === '') target.searchParams.delete(name)
    else target.searchParams.set(name, value)
  }
  navigate(target.href, { replace: true })
}

interface LinkProps {
  readonly class?: string
  readonly title?: string
  readonly 'aria-current'?: 'page' | 'true' | undefined
  readonly to: string
  readonly children: ComponentChildren
}

export function Link({ to, children, ...rest }: LinkProps) {
  const follow = (event: MouseEvent) => {
    if (
      event.defaultPrevented ||
      event.button !== 0 ||
      event.metaKey ||
      event.ctrlKey ||
      event.shiftKey ||
      event.altKey
    )
      return
    event.preventDefault()
    navigate(to)
  }
  return (
    <a {...rest} href={href(to)} onClick={follow}>
      {children}
    </a>
  )
}
