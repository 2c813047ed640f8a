import { useEffect, useRef, useState } from 'preact/hooks'
import { type ApiError, get, mayPass, pauseAfterFailure, signIns, toApiError } from './client.ts'

export interface Resource<Body> {
  readonly data: Body | undefined
  readonly error: ApiError | undefined
  readonly loading: boolean
  /** Asks now; while an answer is on its way, once more after it, since that may be of before. */
  reload(): void
}

/** What was seen last under a path: going back to a page shows it at once, and then asks again. */
const seen = new Map<string, unknown>()

/**
 * Asks for `path` now, after each sign-in, and every `every` milliseconds while the page can be seen. What failed and may pass is
 * asked again in any case.
 */
export function useResource<Body>(path: string | undefined, { every }: { every?: number } = {}): Resource<Body> {
  const [state, setState] = useState<{ path?: string; data?: Body; error?: ApiError }>({})
  const again = useRef(() => {})
  const generation = signIns.value
  useEffect(() => {
    if (path === undefined) return undefined
    const ending = new AbortController()
    let timer: ReturnType<typeof setTimeout> | undefined
    let busy = false
    let stale = false
    /** Answers how long to wait for the next time; undefined: nobody asks by itself. */
    const askOnce = async (): Promise<number | undefined> => {
      try {
        const data = await get<Body>(path, ending.signal)
        if (ending.signal.aborted) return undefined
        seen.set(path, data)
        setState({ path, data })
        return every
      } catch (error) {
        if (ending.signal.aborted) return undefined
        const told = toApiError(error)
        setState(before => ({ ...(before.path === path ? before : {}), path, error: told }))
        // A sign-in asks again by itself.
        if (told.status === 401) return undefined
        return mayPass(told) ? (every ?? pauseAfterFailure) : every
      }
    }
    const ask = async () => {
      stale = busy
      if (busy) return
      clearTimeout(timer)
      busy = true
      let pause = await askOnce()
      while (stale && !ending.signal.aborted) {
        stale = false
        pause = await askOnce()
      }
      busy = false
      if (pause !== undefined && !ending.signal.aborted) timer = setTimeout(whenVisible, pause)
    }
    const whenVisible = () => {
      if (document.visibilityState === 'visible') void ask()
      else document.addEventListener('visibilitychange', () => void ask(), { once: true, signal: ending.signal })
    }
    again.current = () => void ask()
    void ask()
    return () => {
      ending.abort()
      clearTimeout(timer)
      again.current = () => {}
    }
  }, [path, generation, every])
  const current = state.path === path ? state : {}
  const data = current.data ?? (path === undefined ? undefined : (seen.get(path) as Body | undefined))
  const loading = path !== undefined && data === undefined && current.error === undefined
  return { data, error: current.error, loading, reload: () => again.current() }
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
  /** Why the next page did not come; it is asked for again after a while. */
  readonly stuck: ApiError | undefined
  loadMore(): void
  reload(): void
  /** Only where no further page was asked for: else rows would jump. */
  refresh(): void
}

interface Further<Item> {
  readonly path: string
  /** From the first page on, as it was when the second was asked for. */
  readonly all: readonly Page<Item>[]
  readonly stuck?: ApiError
}

/** A list, page by page as it is scrolled. While only its first page was asked for, that is looked at every `every` ms. */
export function usePages<Item>(path: string, { every }: { every?: number } = {}): Pages<Item> {
  const [further, setFurther] = useState<Further<Item>>({ path, all: [] })
  const { all: own, stuck } = further.path === path ? further : { all: [] }
  const isFirst = own.length === 0
  const first = useResource<Page<Item>>(path, isFirst && every !== undefined ? { every } : {})
  const busy = useRef<string | undefined>(undefined)
  const all = !isFirst ? own : first.data === undefined ? [] : [first.data]
  const next = all.at(-1)?.next
  const items = all.flatMap(({ items: some = [] }) => some)
  const loadMore = () => {
    if (next === undefined || stuck !== undefined) return
    const wanted = nextPath(path, next)
    if (busy.current === wanted) return
    busy.current = wanted
    readOn<Item>(path, next)
      .then(
        page => setFurther({ path, all: [...all, page] }),
        error => {
          setFurther({ path, all: own, stuck: toApiError(error) })
          setTimeout(() => setFurther(now => (now.path === path ? { path, all: now.all } : now)), pauseAfterFailure)
        },
      )
      .finally(() => {
        busy.current = undefined
      })
  }
  // A page may be empty and have another one after it: the broker looks at some rows for each.
  const isEmpty = items.length === 0 && next !== undefined && stuck === undefined
  useEffect(() => {
    if (isEmpty) loadMore()
  }, [isEmpty, path])
  return {
    items,
    error: first.error,
    loading: first.loading || isEmpty,
    more: next !== undefined,
    stuck,
    reload() {
      setFurther({ path, all: [] })
      first.reload()
    },
    refresh() {
      if (isFirst) first.reload()
    },
    loadMore,
  }
}

/** The next page that has rows, or the last one. */
async function readOn<Item>(path: string, cursor: string): Promise<Page<Item>> {
  const page = await get<Page<Item>>(nextPath(path, cursor))
  return page.next === undefined || (page.items ?? []).length > 0 ? page : readOn(path, page.next)
}

export function nextPath(path: string, cursor: string): string {
  return `${path}${path.includes('?') ? '&' : '?'}cursor=${encodeURIComponent(cursor)}`
}
