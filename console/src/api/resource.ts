import { useEffect, useRef, useState } from 'preact/hooks'
import { ApiError, get, signIns } from './client.ts'

export interface Resource<Body> {
  readonly data: Body | undefined
  readonly error: ApiError | undefined
  readonly loading: boolean
  reload(): void
}

/** What was seen last under a path: going back to a page shows it at once, and then asks again. */
const seen = new Map<string, unknown>()

/** Asks for `path` now, after each sign-in, and every `every` milliseconds while the page can be seen. */
export function useResource<Body>(path: string | undefined, { every }: { every?: number } = {}): Resource<Body> {
  const [state, setState] = useState<{ path?: string; data?: Body; error?: ApiError }>({})
  const [turn, setTurn] = useState(0)
  const generation = signIns.value
  useEffect(() => {
    if (path === undefined) return undefined
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    const ask = async () => {
      try {
        const data = await get<Body>(path, ending.signal)
        seen.set(path, data)
        setState({ path, data })
      } catch (error) {
        if (ending.signal.aborted) return
        const told = error instanceof ApiError ? error : new ApiError(0, undefined, String(error))
        setState(before => ({ ...(before.path === path ? before : {}), path, error: told }))
      }
      const pause = every ?? (needsRetry() ? 3_000 : undefined)
      if (pause !== undefined && !ending.signal.aborted) timer = setTimeout(whenVisible, pause)
    }
    const needsRetry = () => latest.current?.status === 0
    const whenVisible = () => {
      if (document.visibilityState === 'visible') void ask()
      else document.addEventListener('visibilitychange', () => void ask(), { once: true, signal: ending.signal })
    }
    void ask()
    return () => {
      ending.abort()
      clearTimeout(timer)
    }
  }, [path, turn, generation, every])
  const latest = useRef<ApiError | undefined>(undefined)
  const current = state.path === path ? state : {}
  latest.current = current.error
  const data = current.data ?? (path === undefined ? undefined : (seen.get(path) as Body | undefined))
  const loading = path !== undefined && data === undefined && current.error === undefined
  return { data, error: current.error, loading, reload: () => setTurn(before => before + 1) }
}

interface Page<Item> {
  readonly items?: readonly Item[]
  readonly next?: string
}

export interface Pages<Item> {
  readonly items: readonly Item[]
  readonly error: ApiError | undefined
  readonly loading: boolean
  /** Whether there is more than `items`. */
  readonly more: boolean
  loadMore(): void
  reload(): void
  /** Only where no further page was asked for: else rows would jump. */
  refresh(): void
}

/** A list, page by page as it is scrolled. While only its first page was asked for, that is looked at every `every` ms. */
export function usePages<Item>(path: string, { every }: { every?: number } = {}): Pages<Item> {
  const [pages, setPages] = useState<{ path: string; all: readonly Page<Item>[] }>({ path, all: [] })
  const own = pages.path === path ? pages.all : []
  const rest = own.slice(1)
  const first = useResource<Page<Item>>(path, rest.length === 0 && every !== undefined ? { every } : {})
  const busy = useRef(false)
  const all = first.data === undefined ? [] : [first.data, ...rest]
  const next = all.at(-1)?.next
  return {
    items: all.flatMap(({ items = [] }) => items),
    error: first.error,
    loading: first.loading,
    more: next !== undefined,
    reload() {
      setPages({ path, all: [] })
      first.reload()
    },
    refresh() {
      if (rest.length === 0) first.reload()
    },
    loadMore() {
      if (next === undefined || busy.current) return
      busy.current = true
      get<Page<Item>>(`${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(next)}`)
        .then(page => setPages({ path, all: [...all, page] }))
        .catch(() => {})
        .finally(() => {
          busy.current = false
        })
    },
  }
}
